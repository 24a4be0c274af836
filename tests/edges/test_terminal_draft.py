"""Draft: which keys begin a line that somebody is writing, and which end it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tocsin.edges.terminal.draft import Draft


def open_after(*reads: bytes, **how: bool) -> bool:
    draft = Draft()
    for keys in reads:
        draft.feed(keys, **how)
    return draft.open


NO_KEYS = {
    "arrows": b"\x1b[B\x1b[C\x1b[D\x1bOB\x1bOD\x1b[1;5C",
    "function keys": b"\x1bOP\x1b[15~\x1b[24~\x1b[3~\x1b[H\x1b[F",
    "mouse": b"\x1b[<0;10;20M\x1b[<0;10;20m\x1b[M !!\x1b[M#\xff\xfe",
    "focus": b"\x1b[I\x1b[O",
    "cursor position": b"\x1b[24;80R",
    "device attributes": b"\x1b[?62;1;4c\x1b[>41;354;0c",
    "modes": b"\x1b[?2026;2$y\x1b[?1u",
    "colours": b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b]10;rgb:ffff/ffff/ffff\x07",
    "version": b"\x1bP>|xterm(370)\x1b\\",
    "graphics": b"\x1b_Gi=1;OK\x1b\\",
    "control keys": b"\x0c\x0e\x0f\x1b\x1b",
    "empty lines": b"\r\r\x03\x15\x7f\x08\x0b",
    "releases": b"\x1b[97;1:3u",
    "alt with a letter": b"\x1bb\x1bf",
}


@pytest.mark.parametrize("keys", NO_KEYS.values(), ids=NO_KEYS)
def test_reports_and_moves_are_no_draft(keys: bytes) -> None:
    assert not open_after(keys)
    assert not open_after(*(bytes([byte]) for byte in keys if keys[:2] not in (b"\x1bb",)))


@given(st.lists(st.sampled_from([*NO_KEYS.values()][:10]), max_size=8).map(b"".join), st.data())
def test_reports_cut_anywhere_are_no_draft(keys: bytes, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(keys)), max_size=10).map(sorted))
    parts = [keys[a:b] for a, b in zip([0, *cuts], [*cuts, len(keys)], strict=True)]
    assert not open_after(*[part for part in parts if part])


@pytest.mark.parametrize(
    "keys",
    [b"m", "é".encode(), b"merge only af", b"ab\x7f", b"\x1b[200~pasted", b"\x1b[200~a\nb\x1b[201~", b"\x19", b"\x1b[97u",
     b"\x1b[27;2;65~", b"a\x1b[D\x7f\x7f", b"two\\\r", b"line\x1b\r", b"line\x1b[13;2u", b"one\nt\x15", b"two words\x17"],
)  # fmt: skip
def test_a_line_that_is_written_is_a_draft(keys: bytes) -> None:
    assert open_after(keys)


@pytest.mark.parametrize(
    "end",
    [b"\r", b"\x03", b"\x15", b"\x7f" * 5, b"\x08" * 5, b"\x17", b"\x01\x0b", b"\x1b[13u", b"\x1b[99;5u", b"\x1b[117;5u",
     b"\x1b[27;5;99~", b"\x1b[127u" * 5, b"\x1b[57414u"],
)  # fmt: skip
def test_sent_or_cleared_is_no_draft_any_more(end: bytes) -> None:
    assert open_after(b"draft")
    assert not open_after(b"draft" + end)
    assert not open_after(b"draft", end)


def test_once_the_cursor_moved_rubbing_out_is_no_proof() -> None:
    assert open_after(b"ab\x1b[D" + b"\x7f" * 10)
    assert not open_after(b"ab\x1b[D" + b"\x7f" * 10 + b"\r")


def test_a_newline_sends_only_where_lines_are_read() -> None:
    assert open_after(b"text\n")
    assert not open_after(b"text\n", newline_sends=True)


def test_keys_for_a_menu_are_no_draft_and_change_none() -> None:
    assert not open_after(b"y", counts=False)
    draft = Draft()
    draft.feed(b"half a line")
    draft.feed(b"\r1\x03", counts=False)
    assert draft.open


@pytest.mark.parametrize("keys", [b"\x1b[A", b"\x1bOA", b"\x1b[1;5A", b"\x10", b"\x12", b"\x1b.", b"\x1bp", b"\x1b<"])
def test_a_line_out_of_the_history_is_a_draft_until_it_is_sent_or_cleared(keys: bytes) -> None:
    assert open_after(keys)
    assert open_after(keys, b"\x7f" * 40)  # how long it was is not known
    assert not open_after(keys, b"\r")
    assert not open_after(keys, b"\x03")
    assert not open_after(keys, b"\x15")


def test_an_escape_alone_does_not_eat_the_next_key() -> None:
    assert open_after(b"\x1b", b"h")
    draft = Draft()
    draft.feed(b"\x1b")
    assert draft.unfinished == 1
    draft.feed(b"[B")
    assert (draft.open, draft.unfinished) == (False, 0)


def test_alt_with_a_bracket_does_not_hide_the_draft_behind_it() -> None:
    draft = Draft()
    draft.feed(b"\x1b]", at=1.0)
    draft.feed(b"h", at=1.3)
    assert draft.unfinished == 3
    draft.feed(b"i", at=1.6)
    assert (draft.open, draft.unfinished) == (True, 0)
    draft.feed(b"\x7f\x7f", at=1.7)
    assert not draft.open


def test_a_paste_in_the_middle_is_a_draft_until_it_is_sent() -> None:
    draft = Draft()
    draft.feed(b"\x1b[200~")
    assert draft.open
    draft.feed(b"one\r\ntwo\x1b[20")
    draft.feed(b"1~")
    assert draft.open
    draft.feed(b"\r")
    assert not draft.open


def test_what_was_left_unsent_is_a_draft() -> None:
    draft = Draft()
    draft.assume("typed by nobody")
    draft.feed(b"\x7f" * 40)
    assert draft.open
    draft.feed(b"\x03")
    assert not draft.open


@pytest.mark.parametrize("begun", [b"\x1bO", b"\x1b[", b"\x1b[1;5", b"\x1b]11;rgb:00", b"\x1bP1$r"])
def test_a_sequence_that_breaks_off_swallows_no_key_after_it(begun: bytes) -> None:
    draft = Draft()
    draft.feed(b"\x10" + begun)
    draft.feed(b"\x1b[A")
    assert draft.open
    assert draft.unfinished == 0
    draft.feed(b"\r")
    assert not draft.open


@example([b"\x10\x1bO"])
@given(st.lists(st.binary(max_size=12) | st.sampled_from([*NO_KEYS.values(), b"\x1b[200~", b"\x1b[201~"]), max_size=20))
def test_any_keys_are_taken_and_enter_ends_them(reads: list[bytes]) -> None:
    draft = Draft()
    for keys in reads:
        draft.feed(keys)
    # Whatever was begun is ended first: a sequence, a string, a paste, a line that goes on.
    draft.feed(b"\x1b\\\x1b[201~\x1b\\\x1b[201~x\r")
    assert not draft.open

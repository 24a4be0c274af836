"""Text: nothing but text reaches a program's input."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from tocsin.edges.terminal.text import clean, cut_line, one_line, pasted

ANY = st.text(st.characters(exclude_categories=()), max_size=200)
NASTY = st.lists(
    st.sampled_from(
        ["\x1b[201~", "\x1b[20", "1~", "\x9b201~", "\x1b", "[", "]0;x\x07", "\r", "\n", "\t", "\x00", "\x03", "a", "\ud83d"]
    )
).map("".join)


@given(ANY | NASTY)
@example("\x1b\x1b[201~[201~")
def test_clean_text_holds_no_control_but_newline_and_tab(text: str) -> None:
    cleaned = clean(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", cleaned)
    cleaned.encode()
    assert clean(cleaned) == cleaned


@given(ANY | NASTY)
def test_a_paste_can_not_be_ended_from_within(text: str) -> None:
    body = pasted(clean(text))
    assert body.startswith(b"\x1b[200~")
    assert body.endswith(b"\x1b[201~")
    assert body.count(b"\x1b") == 2


@given(ANY | NASTY, st.integers(60, 150), st.sampled_from(["", "/tmp/é.txt"]))
def test_one_line_is_one_and_fits(text: str, limit: int, whole_in: str) -> None:
    line = cut_line(one_line(clean(text)), limit, whole_in)
    assert not set(line) & set(b"\n\r\t")
    assert len(line) <= limit
    line.decode()


def test_whole_sequences_vanish() -> None:
    assert clean("a\x1b[31;1mred\x1b[0m b\x1b]0;title\x07c\x1bPdata\x1b\\d\x9b2Ke") == "ared bcde"


def test_ends_of_line_become_newlines() -> None:
    assert clean("one\r\ntwo\rthree\n") == "one\ntwo\nthree\n"


def test_halves_of_characters_become_one_or_none() -> None:
    assert clean("\ud83d\ude00 \ud83d! \udc81") == "\U0001f600 \ufffd! \ufffd"


def test_newlines_and_tabs_become_one_space() -> None:
    assert one_line("tocsin: 2\n\n  - one\ttwo  \n\tthree") == b"tocsin: 2 - one two three"


def test_a_cut_is_shown_and_splits_no_character() -> None:
    assert cut_line(b"x" * 50, 50, "") == b"x" * 50
    assert cut_line(b"x" * 51, 50, "") == b"x" * 44 + b" [...]"
    assert cut_line("é".encode() * 51, 50, "") == "é".encode() * 22 + b" [...]"


def test_a_cut_names_the_file_with_the_whole_text() -> None:
    assert cut_line(b"x" * 90, 90, "/a/b.txt") == b"x" * 90
    assert cut_line(b"x" * 91, 90, "/a/b.txt") == b"x" * 49 + b" [... cut; the whole text is in /a/b.txt]"

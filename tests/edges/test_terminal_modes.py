"""Modes: what a program has switched on is known however its output is cut into reads."""

from hypothesis import given
from hypothesis import strategies as st

from tocsin.edges.terminal.modes import KEPT, Modes

SEQUENCES = [
    b"\x1b[?2004h",
    b"\x1b[?2004l",
    b"\x1b[?1049;2004h",
    b"\x1b[?1049l",
    b"\x1b[?47h",
    b"\x1b[?1047l",
    b"\x1b[?25l",
    b"\x1b[?25;1000h",
    b"\x1b[>1u",
    b"\x1b[<u",
    b"\x1b[>4;2m",
    b"\x1b[>4;0m",
    b"\x1b[>4m",
    b"\x1b[!p",
    b"\x1bc",
    b"\x1b[31m",
    b"\x1b[?u",
    b"\x1b=",
    b"\x1b>",
    b"\x1b",
    b"\x1b[",
    b"\x1b[?20",
    b"text \xc3\xa9\n",
    b"\x1b]0;title\x07",
]


def state(modes: Modes) -> tuple[object, ...]:
    return modes.on, modes.cursor_shown, modes.paste, modes.alternate, modes.undo(), modes.redo(), modes.half


@given(st.lists(st.sampled_from(SEQUENCES), max_size=12), st.data())
def test_cuts_change_nothing(parts: list[bytes], data: st.DataObject) -> None:
    output = b"".join(parts)
    whole, cut = Modes(), Modes()
    whole.feed(output)
    at = 0
    while at < len(output):
        size = data.draw(st.integers(1, len(output) - at))
        cut.feed(output[at : at + size])
        at += size
    assert state(cut) == state(whole)


def test_a_byte_at_a_time_is_enough() -> None:
    modes = Modes()
    changes = [modes.feed(bytes([byte])) for byte in b"\x1b[?1049;2004h"]
    assert changes == [False] * 12 + [True]
    assert (modes.paste, modes.alternate) == (True, True)


def test_the_last_word_counts() -> None:
    modes = Modes()
    modes.feed(b"\x1b[?2004h..\x1b[?2004l..\x1b[?2004h\x1b[?1049h")
    assert (modes.paste, modes.alternate) == (True, True)
    modes.feed(b"\x1b[?47l\x1b[?2004l")
    assert (modes.paste, modes.alternate, modes.undo()) == (False, False, b"")


def test_undo_leaves_a_usual_terminal() -> None:
    modes = Modes()
    modes.feed(b"\x1b[?1;25;1000;1006;2004;1049l\x1b[?1049;1000;1006;2004h\x1b[?25l\x1b[>1u\x1b[>5u\x1b[<u")
    # A screen of its own has reports of keys of its own.
    assert modes.undo() == b"\x1b[<1u\x1b[?2004l\x1b[?1049l\x1b[?1006l\x1b[?1000l\x1b[?25h"
    modes.feed(modes.undo())
    assert modes.undo() == b""


@given(st.lists(st.sampled_from(SEQUENCES), max_size=12))
def test_redo_after_undo_is_as_if_nothing_had_been(parts: list[bytes]) -> None:
    modes, terminal = Modes(), Modes()
    modes.feed(b"".join(parts) + b"\x18")
    terminal.feed(modes.redo())
    kept = {mode for mode in modes.on if mode in KEPT}
    assert (terminal.on, terminal.cursor_shown, terminal.undo()) == (kept, modes.cursor_shown, modes.undo())
    terminal.feed(modes.again())
    assert terminal.undo() == modes.undo()
    terminal.feed(modes.undo())
    assert state(terminal) == state(Modes())


def test_the_screens_are_left_and_entered_within_their_own_reports_of_keys() -> None:
    modes = Modes()
    modes.feed(b"\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[=5u")
    assert modes.redo() == b"\x1b[>1u\x1b[?1049h\x1b[>5u"
    assert modes.undo() == b"\x1b[<1u\x1b[?1049l\x1b[<1u"
    assert modes.again() == b""


def test_the_keypad_is_given_back_by_its_usual_name() -> None:
    modes = Modes()
    modes.feed(b"\x1b[?1h\x1b=")
    assert modes.undo() == b"\x1b>\x1b[?1l"
    modes.feed(b"\x1b>")
    assert modes.undo() == b"\x1b[?1l"


def test_what_was_lent_is_left_alone() -> None:
    modes = Modes()
    modes.feed(b"\x1b[?1049h")
    lent = frozenset(modes.on)
    modes.feed(b"\x1b[?1000h")
    assert modes.undo(but=lent) == b"\x1b[?1000l"


def test_reported_modifiers_are_taken_back_too() -> None:
    modes = Modes()
    modes.feed(b"\x1b[>4;2m\x1b[>0q\x1b[4m")
    assert modes.undo() == b"\x1b[>4m"
    modes.feed(b"\x1b[>4;0m")
    assert modes.undo() == b""


def test_a_hard_reset_ends_all_modes() -> None:
    modes = Modes()
    modes.feed(b"\x1b[?1049;2004h\x1b[?25l\x1b[>1u\x1b[>4;1m\x1bc")
    assert state(modes) == (set(), True, False, False, b"", b"", False)


def test_ordinary_output_keeps_nothing() -> None:
    modes = Modes()
    assert modes.feed(b"plain text\n" * 100) is False
    assert modes.half is False
    assert modes.feed(b"\x1b[?" + b"1" * 500) is False
    assert modes.half is False

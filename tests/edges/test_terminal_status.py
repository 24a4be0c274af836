"""Status row: one row at the bottom that the program's output leaves alone, and that is given back."""

import pyte
from hypothesis import example, given
from hypothesis import strategies as st

from tocsin.edges.terminal.status import StatusRow


class Shown:
    def __init__(self, rows: int = 6, columns: int = 20) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)

    def write(self, data: bytes) -> None:
        self._stream.feed(data)

    @property
    def rows(self) -> list[str]:
        return [row.rstrip() for row in self.screen.display]


def test_the_row_stays_while_lines_scroll_above_it() -> None:
    shown, status = Shown(), StatusRow(lambda: "2 pending")
    shown.write(b"a\r\nb")
    shown.write(status.claim(6, 20))
    shown.write(b"\r\nc\r\nd\r\ne\r\nf\r\ng")
    assert shown.rows == ["c", "d", "e", "f", "g", "2 pending"]


def test_claiming_at_the_very_bottom_covers_nothing() -> None:
    shown, status = Shown(), StatusRow(lambda: "2 pending")
    shown.write(b"1\r\n2\r\n3\r\n4\r\n5\r\n6")
    shown.write(status.claim(6, 20))
    shown.write(b"!")
    assert shown.rows == ["2", "3", "4", "5", "6!", "2 pending"]


def test_painting_leaves_the_cursor_and_only_paints_news() -> None:
    texts = iter(["one", "two", "two", "two"])
    shown, status = Shown(), StatusRow(lambda: next(texts))
    shown.write(status.claim(6, 20) + b"abc")
    shown.write(status.paint())
    shown.write(b"def")
    assert shown.rows == ["abcdef", "", "", "", "", "two"]
    assert status.paint() == b""
    assert status.paint(again=True) != b""


def test_the_row_comes_back_after_a_program_cleared_all() -> None:
    shown, status = Shown(), StatusRow(lambda: "2 pending")
    shown.write(status.claim(6, 20) + b"\x1b[2J\x1b[Hx\x1b[r\x1b[1;2H")
    assert shown.rows[-1] == ""
    shown.write(status.paint(again=True) + b"y")
    assert shown.rows == ["xy", "", "", "", "", "2 pending"]
    shown.write(b"\r\n1\r\n2\r\n3\r\n4\r\n5")
    assert shown.rows == ["1", "2", "3", "4", "5", "2 pending"]


def test_given_back_it_is_empty_and_lines_use_it_again() -> None:
    shown, status = Shown(), StatusRow(lambda: "2 pending")
    shown.write(b"a" + status.claim(6, 20))
    assert status.shown
    shown.write(status.release())
    assert not status.shown
    assert status.release() == status.paint(again=True) == b""
    shown.write(b"\r\n1\r\n2\r\n3\r\n4\r\n5")
    assert shown.rows == ["a", "1", "2", "3", "4", "5"]


def test_a_small_screen_has_none_to_spare() -> None:
    status = StatusRow(lambda: "2 pending")
    assert status.claim(3, 20) == b""
    assert not status.shown
    assert status.stands(3, 20)
    status.claim(6, 20)
    assert (status.stands(6, 20), status.stands(7, 20), status.stands(3, 20)) == (True, False, False)
    assert status.claim(3, 20) != b""
    assert not status.shown


@given(st.text(max_size=60))
@example("\u0301")
@example("\u08cb")
@example("日" * 11)
def test_any_text_stays_within_its_row(text: str) -> None:
    shown, status = Shown(), StatusRow(lambda: text)
    shown.write(b"a\r\nb" + status.claim(6, 20) + b"!")
    assert shown.rows[:5] == ["a", "b!", "", "", ""]


def test_the_question_that_had_to_wait_for_the_programs_own_is_asked_later() -> None:
    status = StatusRow(lambda: "2 pending")
    status.claim(6, 20)
    status.hear(b"\x1b[6n")
    assert status.ask() == b""
    assert status.whereabouts.take(b"\x1b[3;1R") == b"\x1b[3;1R"
    assert status.ask() == b"\x1b[6n"
    assert status.ask() == b"", "nothing has happened since"

"""Screen: it shows what a real terminal emulator shows."""

import pyte
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tocsin.edges.terminal.screen import Screen

ROWS, COLUMNS = 6, 12
NUMBER = st.sampled_from(["", "0", "1", "2", "3", "5", "40"])
# Terminals differ on what follows right after the last column was filled, so a step back comes first.
MOVES = st.builds(lambda n, final: f"\b\x1b[{n}{final}", NUMBER, st.sampled_from("ABCDEFGd"))
PLACES = st.builds(lambda r, c: f"\x1b[{r};{c}H", NUMBER, NUMBER)
ERASES = st.builds(
    lambda move, n, final: f"{move}\x1b[{n}{final}",
    st.one_of(PLACES, st.just("\x1b[D")),
    st.sampled_from(["", "0", "1", "2"]),
    st.sampled_from("JK"),
)
CELLS = st.builds(
    lambda move, n, final: f"{move}\x1b[{n}{final}",
    st.one_of(PLACES, st.just("\x1b[D")),
    st.sampled_from(["", "1", "2", "3"]),
    st.sampled_from("PX"),
)
WORDS = st.text("abcdefgh 0123456789.", min_size=1, max_size=9)
WIDE = st.sampled_from(["é", "日本", "❯ ", "⠋"])
OTHER = st.sampled_from(["\r\n", "\r", "\n", "\b", "\t", "\x1b7", "\x1b8", "\x1bM", "\x1bD", "\x1b[31;1m", "\x1b[0m",
                         "\x1b]0;a title\x07", "\x1b[?25l", "\x1b[?2004h", "\x1b(B", "\x07"])  # fmt: skip
OUTPUT = st.lists(st.one_of(WORDS, MOVES, PLACES, ERASES, CELLS, OTHER, WORDS), max_size=40).map("".join)


def reference(output: str) -> list[str]:
    screen = pyte.Screen(COLUMNS, ROWS)
    pyte.Stream(screen).feed(output)
    return [row.rstrip() for row in screen.display]


def shown(*output: bytes) -> list[str]:
    screen = Screen(ROWS, COLUMNS)
    for chunk in output:
        screen.feed(chunk)
    return screen.text()


@settings(max_examples=400, deadline=None)
@given(OUTPUT)
@example("abcdefghijkl\bX")
@example("abcdefghijkl\x1b[DX")
@example("abcdefghijkl\x1b7\r\n\x1b8X")
def test_same_rows_as_a_terminal_emulator(output: str) -> None:
    assert shown(output.encode()) == reference(output)


@given(st.lists(st.one_of(WORDS, WIDE, PLACES, ERASES, OTHER), max_size=12).map("".join), st.data())
def test_cuts_change_nothing(output: str, data: st.DataObject) -> None:
    raw = output.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=12)))
    assert shown(*(raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True))) == shown(raw)


@given(st.lists(st.binary(max_size=20), max_size=10))
def test_any_bytes_are_taken(chunks: list[bytes]) -> None:
    rows = shown(*chunks)
    assert len(rows) == ROWS


def test_wide_characters_fill_two_cells() -> None:
    assert shown("日本語日本語X".encode())[:2] == ["日本語日本語", "X"]
    assert shown("a日\x1b[1;4HX".encode())[0] == "a日X"


def test_the_alternate_screen_leaves_the_main_one_as_it_was() -> None:
    screen = Screen(ROWS, COLUMNS)
    screen.feed(b"one\r\ntwo\x1b[?1049h\x1b[2J\x1b[Hmenu")
    assert screen.text() == ["menu", "", "", "", "", ""]
    screen.feed(b"\x1b[?1049l!")
    assert screen.text() == ["one", "two!", "", "", "", ""]


def test_lines_that_leave_at_the_top_are_counted() -> None:
    screen = Screen(ROWS, COLUMNS)
    screen.feed(b"\n" * 5)
    assert screen.scrolled == 0
    screen.feed(b"\n" * 3)
    assert screen.scrolled == 3


def test_a_scroll_region_keeps_the_rest() -> None:
    assert shown(b"top\x1b[6;1Hlow\x1b[2;4r\x1b[4;1Ha\r\nb\r\nc\r\nd") == ["top", "b", "c", "d", "", "low"]
    assert shown(b"\x1b[2;4r\x1b[3;1H\x1b[9Aa\x1b[9Bb") == ["", "a", "", " b", "", ""]
    assert shown(b"\x1b[1;1Ha\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2;1H\x1bMx") == ["a", "x", "b", "d", "", ""]
    assert shown(b"a\r\nb\r\nc\r\nd\x1b[2;1H\x1b[L") == ["a", "", "b", "c", "d", ""]
    assert shown(b"a\r\nb\r\nc\r\nd\x1b[2;1H\x1b[2M") == ["a", "d", "", "", "", ""]


def test_inserted_cells_push_the_rest_out() -> None:
    assert shown(b"abcdefghijkl\x1b[1;4H\x1b[2@XY\x1b[1;1H\x1b[P") == ["bcXYdefghij", "", "", "", "", ""]


def test_long_strings_draw_nothing_and_are_not_kept() -> None:
    screen = Screen(ROWS, COLUMNS)
    screen.feed(b"a\x1bP")
    for _ in range(100):
        screen.feed(b"q" * 1000)
    screen.feed(b"\x1b\\b")
    assert screen.text()[0] == "ab"


def test_a_new_size_keeps_the_row_with_the_cursor() -> None:
    screen = Screen(ROWS, COLUMNS)
    screen.feed(b"1\r\n2\r\n3 long")
    screen.resize(4, 3)
    assert screen.text() == ["1", "2", "3 l", ""]
    screen.resize(2, 20)
    screen.feed(b"!")
    assert screen.text() == ["2", "3 !"]
    screen.resize(3, 20)
    assert screen.text() == ["2", "3 !", ""]

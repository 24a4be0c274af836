"""Lines: the same lines whatever the cuts, clean of what only a terminal wants, in bounded memory."""

import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tocsin.edges.sources.lines import LIMIT, Lines

PIECES = [
    b"ERROR x", b"a", b" ", b"\t", b"\n", b"\r\n", b"\r", b"\r\r\n", b"\b", b"\x00", b"\x0e", b"\x7f",
    "≤".encode(), "😀".encode(), "é".encode(), "\u009b31m".encode(), b"\xe2\x89", b"\xf0\x9f", b"\xff", b"\x9c", b"\xc2",
    b"\x1b", b"\x1b[31m", b"\x1b[0m", b"\x1b[2K", b"\x1b[1G", b"\x1b[G", b"\x1b[H", b"\x1b[2J", b"\x1bc", b"\x1b(B", b"\x1b[",
    b"\x1b[?25l", b"\x1b]0;title\x07", b"\x1b]8;;https://e.test/\x1b\\", b"\x1b]8;;u\x9c", b"\x1b]0;open", b"\x1bP", b"\x1b\\",
    b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[5C", b"x" * 40,
]  # fmt: skip
streams = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)


def lines_of(data: bytes, cuts: list[int], limit: int = LIMIT) -> list[str]:
    lines = Lines(limit)
    found: list[str] = []
    place = 0
    for cut in cuts:
        found += lines.feed(data[place : place + cut])
        place += cut
    return found + lines.feed(data[place:]) + lines.close()


@given(streams, st.lists(st.integers(0, 12), max_size=40))
@example(b"\x1b[?1049h" + b"x" * 40 + b"\x1b[?1049l\nback\n", [3] * 20)
@settings(max_examples=400)
def test_the_lines_are_the_same_whatever_the_cuts(data: bytes, cuts: list[int]) -> None:
    assert lines_of(data, cuts) == lines_of(data, [])


@given(
    st.lists(st.sampled_from([b"x" * 9, b"ab", b"\r", b"\n", b"\x1b[2K", "é".encode()]), max_size=40).map(b"".join),
    st.lists(st.integers(0, 12), max_size=60),
)
@settings(max_examples=400)
def test_the_bound_of_a_line_does_not_depend_on_the_cuts(data: bytes, cuts: list[int]) -> None:
    assert lines_of(data, cuts, limit=32) == lines_of(data, [], limit=32)


@given(streams)
@settings(max_examples=300)
def test_no_control_character_but_tab_is_left(data: bytes) -> None:
    for line in lines_of(data, []):
        assert not [character for character in line if ord(character) < 32 and character != "\t"]
        assert not [character for character in line if 0x7F <= ord(character) < 0xA0]
        line.encode("utf-8")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"plain\n", ["plain"]),
        (b"no end", ["no end"]),
        (b"", []),
        (b"\n", [""]),
        (b"a\r\nb\r\r\nc\n", ["a", "b", "c"]),
        (b"\r 1%\r 2%\r done\n", [" done"]),
        (b"10%\x1b[2K\x1b[1Gdone\n", ["done"]),
        (b"10%\x1b[Gdone\n", ["done"]),
        (b"wiped\x1b[2K\r\n", [""]),
        (b"\x1b[2J\x1b[3J\x1b[Hfresh\n", ["fresh"]),
        (b"\x1bcfresh\n", ["fresh"]),
        (b"red \x1b[31mERROR\x1b[0m db \x1b[1;38;5;196mdown\x1b[m\n", ["red ERROR db down"]),
        (b"\x1b[01m\x1b[Ka.c:\x1b[m\x1b[K x\n", ["a.c: x"]),
        (b"one\x1b[3Ctwo\n", ["one two"]),
        (b"w\bx-\b\\\b|\n", ["x|"]),
        (b"n\x00u\x00l\n", ["nul"]),
        ("caf\u00e9 \u2264\n".encode(), ["café ≤"]),
        (b"\xff\xfe bad\n", ["\ufffd\ufffd bad"]),
        ("\u009b31mred\u009b0m\n".encode(), ["red"]),
        ("\u009d0;title\u009cshown\n".encode(), ["shown"]),
        (b"\x1bP1$r0m\x1b\\shown\n", ["shown"]),
        (b"tab\tstays\n", ["tab\tstays"]),
        (b"\x1b[\nnext\n", ["", "next"]),
    ],
)  # fmt: skip
def test_what_a_reader_sees(data: bytes, lines: list[str]) -> None:
    assert lines_of(data, []) == lines


def test_redraws_of_a_full_screen_program_are_no_lines() -> None:
    data = b"before\n\x1b[?1049hrow 1\nrow 2 ERROR\n\x1b[10;1Hmore\n\x1b[?1049lafter\n"
    assert lines_of(data, []) == ["before", "after"]


def test_a_long_line_is_cut_at_the_bound_and_the_marker_counts_what_is_missing() -> None:
    data = b"x" * (LIMIT + 1_234) + b"\nnext\n"
    assert lines_of(data, []) == ["x" * LIMIT + " … [1234 more bytes]", "next"]


def test_a_line_of_exactly_the_bound_is_whole() -> None:
    assert lines_of(b"x" * LIMIT + b"\n", []) == ["x" * LIMIT]


def test_the_final_state_of_a_bar_counts_however_long_the_bar_was() -> None:
    bar = b"".join(b"\r%3d%% |%s|" % (step, b"#" * 60) for step in range(5_000))
    assert lines_of(bar + b"\rdone\n", [4_096] * 200) == ["done"]


def test_a_bar_drawn_with_erase_sequences_is_bounded_too() -> None:
    bar = b"".join(b"\x1b[2K\x1b[1G%d of 5000" % step for step in range(5_000))
    assert lines_of(bar + b"\n", [999] * 200) == ["4999 of 5000"]


def test_memory_stays_bounded_without_a_line_feed() -> None:
    lines = Lines()
    tracemalloc.start()
    try:
        for _ in range(640):
            lines.feed(b"y" * 65_536)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * LIMIT
    assert lines.feed(b"\nafter\n") == ["y" * LIMIT + f" … [{640 * 65_536 - LIMIT} more bytes]", "after"]


def test_two_streams_never_share_half_a_character() -> None:
    out, err = Lines(), Lines()
    out.feed(b"\xe2\x89")
    assert err.feed(b"\xa4\n") == ["\ufffd"]
    assert out.feed(b"\xa4\n") == ["≤"]

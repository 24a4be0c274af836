"""Inert: what programs wrote can be shown: no control character, no whole or half escape sequence, no hidden mark."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.pipeline.inert import inert

WHOLE = ["\x1b[31m", "\x1b[0m", "\x1b[2J", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1bP1$r\x1b\\", "\x1b(B", "\x1b="]
HALF = ["\x1b", "\x1b[", "\x1b]", "\x9b", "\x9d", "\x90", "\x00", "\x03", "\x08", "\r", "\r\n", "\u202e", "\ud800"]
OUTSIDE = st.lists(st.one_of(st.text(max_size=6), st.sampled_from(WHOLE + HALF)), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;2;1;2;3mtrue colour\x1b[m", "true colour"),
        ("\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        ("\x9b31mred by one code\x9b0m", "red by one code"),
        ("\x1b]0;a title\x07text", "text"),
        ("\x1b]0;a title\x1b\\text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP+q544e\x1b\\text", "text"),
        ("\x1b(Bcharset", "charset"),
        ("\x1b7saved\x1b8", "saved"),
        ("bell\x07null\x00etx\x03", "bellnulletx"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("back\x08\x7fspace", "backspace"),
        ("admin\u202egnp.exe", "admingnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("naïve 日本語 👩\u200d💻", "naïve 日本語 👩\u200d💻"),
        ("", ""),
    ],
)
def test_only_what_a_reader_sees_is_left(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_an_unfinished_sequence_leaves_no_tail() -> None:
    assert inert("text\x1b[31") == "text"
    assert inert("text\x1b[") == "text"
    assert inert("text\x1b") == "text"
    assert inert("text\x1b]0;no end") == "text"


def test_a_title_without_an_end_takes_no_more_than_its_line() -> None:
    assert inert("\x1b]0;no end\nerror: boom") == "\nerror: boom"


@given(OUTSIDE)
def test_no_control_character_is_left_but_line_feed_and_tab(text: str) -> None:
    left = {char for char in inert(text) if unicodedata.category(char) in ("Cc", "Cs")}
    assert left <= {"\n", "\t"}


@given(OUTSIDE)
def test_it_can_always_be_written_as_utf_8(text: str) -> None:
    inert(text).encode()


@given(OUTSIDE)
def test_doing_it_twice_changes_nothing(text: str) -> None:
    assert inert(inert(text)) == inert(text)


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_harmless_text_is_unchanged(text: str) -> None:
    assert inert(text) == text


def test_a_megabyte_of_escapes_is_gone_in_one_go() -> None:
    assert inert("\x1b[31m" * 200_000 + "end") == "end"
    assert inert("\x1b]" * 300_000 + "\nend") == "\nend"

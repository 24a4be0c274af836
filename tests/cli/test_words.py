"""Words: columns that line up, moments that programs can read, and text from outside that does nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from tocsin.cli import words
from tocsin.contracts.base import Instant
from tocsin.contracts.verdicts import Decision, Stage, Verdict

AT = Instant(1_764_504_063_120)


def test_a_moment_is_iso_8601_in_utc_for_programs() -> None:
    assert words.iso(AT) == "2025-11-30T12:01:03.120Z"
    decision = Decision(at=AT, lane="dev", id="x", fingerprint="", stage=Stage.HOLD, verdict=Verdict.HOLD, reason="r", until=AT)
    plain = words.for_programs(decision)
    assert (plain["at"], plain["until"], plain["stage"]) == ("2025-11-30T12:01:03.120Z", "2025-11-30T12:01:03.120Z", "hold")


@pytest.mark.parametrize(
    ("until", "said"), [(None, ""), (AT - 5, "0.0 s"), (AT + 1_449, "1.4 s"), (AT + 59_900, "59.9 s"), (AT + 120_000, "2 min")]
)
def test_a_wait_is_said_as_what_is_left_of_it(until: Instant | None, said: str) -> None:
    assert words.wait_until(until, AT) == said


def test_columns_line_up_however_wide_their_letters_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = words.table(("A", "B"), [("日本", "x"), ("ab", "y"), ("\x1b[31mred\x1b[0m", "z\nz")]).split("\n")
    assert lines == ["A     B", "日本  x", "ab    y", "red   z z"]


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=5))
def test_a_table_is_always_one_line_a_row_and_harmless(rows: list[tuple[str, str]]) -> None:
    shown = words.table(("A", "B"), rows)
    assert shown.count("\n") == len(rows)
    assert wcswidth(shown.replace("\n", "")) >= 0


def test_colours_are_for_terminals_and_never_against_the_persons_will() -> None:
    assert not words.colours({"NO_COLOR": "1", "FORCE_COLOR": "1"}.get)
    assert words.colours({"FORCE_COLOR": "1"}.get)
    assert not words.colours({}.get)


def test_json_is_one_line_with_its_schema_version(capsys: pytest.CaptureFixture[str]) -> None:
    words.print_json({"text": "a\nb\u202e", "at": AT})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"schema_version": 1, "text": "a\nb\u202e", "at": "2025-11-30T12:01:03.120Z"}


def test_a_complaint_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    words.complain("a\nb\x1b[2J")
    assert capsys.readouterr() == ("", "tocsin: a b\n")

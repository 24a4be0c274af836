"""Outputs of real tools: each failing one gives exactly the findings that stand beside it, each healthy one gives none.

``python tests/edges/test_source_outputs.py`` writes the findings anew; read the difference before you keep it.
"""

from functools import cache
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.edges.sources.lines import Lines
from tocsin.edges.sources.prefix import parse
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue

OUTPUTS = Path(__file__).parent / "sources_outputs"
FAILING = sorted([*(OUTPUTS / "failing").glob("*.txt"), *(OUTPUTS / "written").glob("*.txt")])
"""``failing`` holds what tools printed here, ``written`` what is known of tools that are not."""
HEALTHY = sorted((OUTPUTS / "healthy").glob("*.txt"))
NOW = Instant(1_000)


@cache
def catalogue() -> Catalogue:
    return Catalogue.load()


def findings(data: bytes, cuts: list[int] | None = None) -> list[object]:
    """What a reader makes of the bytes, read in pieces of the given lengths, again and again."""
    reader = Reader(catalogue(), scope="app", to=None)
    found: list[object] = []
    place, turn = 0, 0
    lengths = cuts or [max(1, len(data))]
    while place < len(data):
        step = lengths[turn % len(lengths)]
        found += reader.read("stdout", data[place : place + step], NOW)
        place, turn = place + step, turn + 1
    return found + reader.close(NOW)


def in_words(found: list[object]) -> str:
    return "".join(f"{_words(finding)}\n" for finding in found)


def _words(finding: object) -> str:
    if not isinstance(finding, Event):
        return f"signal {type(finding).__name__}" + (f" ok={finding.ok}" if hasattr(finding, "ok") else "")
    told = f"{finding.severity} {finding.category} | {finding.text}"
    told += f" | in {finding.frame}" if finding.frame else ""
    told += f" | key {finding.key}" if finding.key else ""
    detail = finding.detail.split("\n") if finding.detail else []
    return told + (f"\n    {len(detail)} lines: {detail[0].strip()[:80]} … {detail[-1].strip()[:80]}" if detail else "")


@pytest.mark.parametrize("output", FAILING, ids=lambda path: path.stem)
def test_a_failing_tool_gives_the_findings_beside_its_output(output: Path) -> None:
    assert in_words(findings(output.read_bytes())) == output.with_suffix(".told").read_text()


@pytest.mark.parametrize("output", HEALTHY, ids=lambda path: path.stem)
def test_a_healthy_tool_gives_no_event(output: Path) -> None:
    found = findings(output.read_bytes())
    assert [finding for finding in found if isinstance(finding, Event)] == []
    assert {type(finding).__name__ for finding in found} <= {
        "ProcessStarted",
        "RestartRequested",
        "RebuildStarted",
        "RebuildFinished",
    }
    assert all(getattr(finding, "ok", True) for finding in found)


@given(st.sampled_from(FAILING), st.lists(st.integers(1, 400), min_size=1, max_size=6))
@settings(deadline=None, max_examples=60)
def test_findings_do_not_depend_on_the_cuts_between_reads(output: Path, cuts: list[int]) -> None:
    data = output.read_bytes()
    assert findings(data, cuts) == findings(data)


ANY_LINE = sorted({line for output in (*FAILING, *HEALTHY) for line in output.read_bytes().split(b"\n")})


@given(st.lists(st.sampled_from(ANY_LINE) | st.binary(max_size=60), max_size=60), st.integers(1, 500))
@settings(deadline=None, max_examples=80)
def test_a_reader_survives_any_mixture_of_lines_and_what_it_tells_is_an_event(lines: list[bytes], cut: int) -> None:
    for finding in findings(b"\n".join(lines), [cut]):
        if isinstance(finding, Event):
            assert finding.text.strip()
            assert msgspec.json.decode(msgspec.json.encode(finding), type=Event) == finding


@pytest.mark.parametrize("output", FAILING, ids=lambda path: path.stem)
def test_a_terminal_in_between_changes_nothing(output: Path) -> None:
    """It ends lines with CR LF."""
    data = output.read_bytes()
    assert findings(data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")) == findings(data)


@pytest.mark.parametrize("output", FAILING, ids=lambda path: path.stem)
def test_the_same_output_behind_a_service_name_gives_the_same_findings(output: Path) -> None:
    """As ``docker compose up`` shows it: the service goes before the text, everything else stays."""
    data = output.read_bytes().replace(b"\r\n", b"\n")
    if b"\r" in data or b"\x1b[2J" in data or any(parse(line).service for line in Lines().feed(data)):
        pytest.skip("this output redraws its lines or names a service of its own")
    shown = b"".join(b"web-1  | " + line + b"\n" for line in data.rstrip(b"\n").split(b"\n"))
    expected = [_behind(finding) for finding in findings(data)]
    assert [_behind(finding) for finding in findings(shown)] == expected


def _behind(finding: object) -> object:
    if not isinstance(finding, Event):
        return finding
    return finding.text.removeprefix("web-1: "), finding.frame, finding.key.removeprefix("web-1: "), finding.severity


if __name__ == "__main__":
    for each in FAILING:
        each.with_suffix(".told").write_text(in_words(findings(each.read_bytes())))

"""Figures: what a benchmark answers with — a value, its goal, whether it was reached — as a table, or as JSON for the runner.

Every benchmark can be run alone and prints its table; with ``--json`` it prints ``{"rows": [{"name", "figure", "goal",
"reached"}, …]}`` instead, and whatever else a row has.
"""

import argparse
import os
import statistics
from collections.abc import Iterable, Sequence

import msgspec


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table."""

    name: str
    figure: str
    """What was measured, with its unit, or why it could not be."""
    goal: str = ""
    """In words a reader can check: ``≥ 4 ×``. Empty for a figure that only explains another."""
    reached: bool | None = None
    """None if there is no goal, or nothing was measured."""
    method: str = ""
    value: float | None = None
    """The figure as a number."""
    unit: str = ""
    bound: float | None = None
    """The goal as a number."""
    more_is_better: bool = True


class Rows(msgspec.Struct, frozen=True):
    """What a benchmark prints."""

    rows: list[Row]


def at_least(name: str, value: float, goal: float, unit: str, method: str) -> Row:
    """A figure that should be the goal or more."""
    row = told(name, value, unit, method)
    return msgspec.structs.replace(row, goal=f"≥ {goal:,g} {unit}", reached=value >= goal, bound=goal)


def below(name: str, value: float, goal: float, unit: str, method: str) -> Row:
    """A figure that should stay under the goal."""
    row = told(name, value, unit, method)
    return msgspec.structs.replace(row, goal=f"< {goal:,g} {unit}", reached=value < goal, bound=goal, more_is_better=False)


def told(name: str, value: float, unit: str, method: str) -> Row:
    """A figure without a goal of its own, which explains another."""
    return Row(name=name, figure=f"{number(value)} {unit}", method=method, value=value, unit=unit)


def missing(name: str, goal: str, why: str) -> Row:
    """A figure that can't be taken here, and why."""
    return Row(name=name, figure="not measured", goal=goal, method=why)


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which ``percent`` of the values lie; the highest of few."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def median(values: Iterable[float]) -> float:
    """The middle one."""
    return statistics.median(values)


def number(value: float) -> str:
    """Three digits that mean something, thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def as_installed() -> dict[str, str]:
    """The environment for a command that is measured: it may keep its byte code, as an installed program does."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def parser(about: str | None) -> argparse.ArgumentParser:
    """A benchmark's command line; its method is its help."""
    made = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--json", action="store_true", help="print the rows as JSON")
    return made


def report(rows: Sequence[Row], *, as_json: bool) -> None:
    """Print what was measured."""
    print(msgspec.json.encode(Rows(list(rows))).decode() if as_json else table(rows))


def from_json(content: bytes) -> list[Row]:
    """The rows that a benchmark printed. ``msgspec.MsgspecError`` if they are none."""
    return msgspec.json.decode(content, type=Rows).rows


def table(rows: Sequence[Row]) -> str:
    """Figure, goal, reached, method, one row a line."""
    words = {True: "yes", False: "NO", None: ""}
    cells = [("what", "figure", "goal", "reached", "method")]
    cells += [(row.name, row.figure, row.goal, words[row.reached], row.method) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(4)]
    lines = ["  ".join((*(text.ljust(width) for text, width in zip(line, widths, strict=False)), line[4])) for line in cells]
    return "\n".join(line.rstrip() for line in (lines[0], "  ".join("─" * width for width in widths), *lines[1:]))

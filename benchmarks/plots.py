"""Plots: how far each goal was reached, and what an event costs in each benchmark."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
from figures import Row
from matplotlib.figure import Figure

_REACHED: Final = "#1d6f8f"
_MISSED: Final = "#c2571a"
_PLAIN: Final = "#8fbcd4"
# Without this an SVG differs from run to run although nothing in it does.
mpl.rcParams["svg.hashsalt"] = "tocsin"


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write the plots; the files."""
    return [_goals(rows, folder / "goals.svg"), _costs(rows, folder / "costs.svg")]


def _share(row: Row) -> float:
    """1 is the goal; more is better, whichever way the figure runs."""
    value, bound = row.value or 0.0, row.bound or 0.0
    high, low = (value, bound) if row.more_is_better else (bound, value)
    return high / low if low else float("inf")


def _goals(rows: Sequence[Row], path: Path) -> Path:
    shown = [row for row in reversed(rows) if row.value is not None and row.bound]
    colours = [_REACHED if row.reached else _MISSED for row in shown]
    figure = _bars(
        [row.name for row in shown], [_share(row) for row in shown], colours, "times the goal (right of the line: reached)"
    )
    figure.axes[0].axvline(1, color="black", linewidth=1)
    return _save(figure, path)


def _costs(rows: Sequence[Row], path: Path) -> Path:
    shown = [row for row in reversed(rows) if row.value is not None and row.unit == "µs/event"]
    return _save(
        _bars([row.name for row in shown], [row.value or 0 for row in shown], [_PLAIN] * len(shown), "µs an event"), path
    )


def _bars(names: Sequence[str], values: Sequence[float], colours: Sequence[str], label: str) -> Figure:
    figure = Figure(figsize=(9, 0.3 * len(names) + 1.2), layout="constrained")
    axes = figure.subplots()
    axes.barh(names, values, color=colours)
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.margins(y=0.01)
    return figure


def _save(figure: Figure, path: Path) -> Path:
    figure.savefig(path, metadata={"Date": None})
    return path

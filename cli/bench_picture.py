"""Picture: a trial as PNG or SVG. matplotlib is an extra, and only imported when a picture is asked for."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from ..contracts.errors import BadInput, TocsinError
from .bench_report import headline, span, suppressed, wait
from .bench_trial import Outcome

_KINDS: Final = (".png", ".svg")
_TOLD: Final = "#1d6f8f"
_FOLDED: Final = "#8fbcd4"
_SUPPRESSED: Final = "#d9dee3"
_OTHER: Final = "#b9a3c9"
_PENDING: Final = "#c2571a"
_INK: Final = "#33414d"


class NoPictures(TocsinError):
    """The package that draws is not installed."""

    code = "busy"
    fault = "caller"


def checked(path: Path | None) -> Callable[[Sequence[tuple[str, Outcome]], Path], None]:
    """``draw``, if it can draw into this file. Raises ``BadInput`` for another kind of file, or ``NoPictures``."""
    if path is not None and path.suffix.lower() not in _KINDS:
        raise BadInput(f"{path}: a picture is a .png or an .svg file")
    if path is not None and find_spec("matplotlib") is None:
        raise NoPictures("pictures need matplotlib: pip install 'tocsin[plot]'")
    return draw


def draw(outcomes: Sequence[tuple[str, Outcome]], path: Path) -> None:
    """Write the picture of one trial, or of several side by side."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    look: dict[Any, Any] = {
        "svg.hashsalt": "tocsin",
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.edgecolor": _INK,
        "text.color": _INK,
    }
    with mpl.rc_context({**look, "xtick.color": _INK, "ytick.color": _INK, "axes.labelcolor": _INK}):
        figure = Figure(figsize=(7.5 if len(outcomes) == 1 else 4.2 * len(outcomes), 5), layout="constrained")
        panels: Any = figure.subplots(2, len(outcomes), sharex="col", squeeze=False, height_ratios=(3, 2))
        for column, (value, outcome) in enumerate(outcomes):
            _where_they_went(panels[0][column], outcome)
            _what_it_told(panels[1][column], outcome)
            panels[0][column].set_title(value, fontsize=9, loc="left")
        told = [_words(outcome) for _, outcome in outcomes] if len(outcomes) == 1 else []
        figure.suptitle("\n".join((headline(outcomes[0][1]), *told)), fontsize=9, x=0.01, ha="left")
        # Without a date the same trial gives the same file.
        figure.savefig(path, dpi=160, metadata={"Date": None} if path.suffix.lower() == ".svg" else {"Software": None})


def _words(outcome: Outcome) -> str:
    total = outcome.total
    blocks = f"{total.blocks:,} block{'' if total.blocks == 1 else 's'}"
    waited = f"; half of them waited at most {span(wait(outcome, 50))}" if outcome.waits else ""
    return f"{total.offered:,} events became {blocks} with {total.told:,} notices{waited}"


def _where_they_went(axes: Any, outcome: Outcome) -> None:
    """Events a second by what became of them, stacked."""
    edges = _edges(outcome)
    lengths = [(end - begin) or 1e-3 for begin, end in pairwise(edges)]
    steps = [step for _, step in outcome.steps()]
    parts = {
        "told": (_TOLD, [step.told for step in steps]),
        "folded": (_FOLDED, [step.folded for step in steps]),
        "suppressed": (_SUPPRESSED, [suppressed(step) for step in steps]),
        "dropped": (_OTHER, [step.dropped for step in steps]),
    }
    below = [0.0] * len(steps)
    for name, (colour, values) in parts.items():
        if any(values):
            heights = [value / length for value, length in zip(values, lengths, strict=True)]
            axes.bar(edges[:-1], heights, lengths, bottom=below, align="edge", color=colour, label=name)
            below = [a + b for a, b in zip(below, heights, strict=True)]
    _finish(axes, "events a second")


def _what_it_told(axes: Any, outcome: Outcome) -> None:
    """What was pending, and every block where it came."""
    axes.plot(
        _edges(outcome), [0, *(sample.pending for sample in outcome.samples)], color=_PENDING, label="pending", linewidth=1.5
    )
    if outcome.blocks:
        sizes = [notices for _, notices in outcome.blocks]
        came = [after / 1000 for after, _ in outcome.blocks]
        axes.vlines(came, 0, sizes, color=_TOLD, linewidth=2)
        axes.plot(came, sizes, "o", color=_TOLD, markersize=5, label="a block")
    for began, ended in outcome.plan.outages:
        axes.axvspan(began / 1000, ended / 1000, color=_OTHER, alpha=0.3, label="outage")
    axes.set_xlabel("seconds")
    _finish(axes, "notices")


def _edges(outcome: Outcome) -> list[float]:
    return [0.0, *(sample.after / 1000 for sample in outcome.samples)]


def _finish(axes: Any, label: str) -> None:
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0)

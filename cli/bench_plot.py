"""Plot: a trial in the terminal — where each step's events went, and what was pending; several trials as lines."""

import shutil
from collections.abc import Sequence
from itertools import accumulate, cycle
from typing import Any, Final

from .bench_report import span, suppressed
from .bench_trial import Outcome

_WIDEST: Final = 110
_NARROWEST: Final = 40
_HEIGHT: Final = 14
_TICKS: Final = 5
_MARKS: Final = "•+x*o#"


def drawn(outcomes: Sequence[tuple[str, Outcome]]) -> str:
    """One trial: stacked bars over what was pending. Several: what was told so far and what was pending, a line each."""
    import plotext  # type: ignore[import-untyped]

    figure = plotext.figure
    figure.clear()
    figure.subplots(2, 1)
    upper, lower = figure.subplot(1, 1), figure.subplot(2, 1)
    width = max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))
    for part, height in ((upper, _HEIGHT), (lower, _HEIGHT // 2 + 2)):
        part.theme("simple")
        part.plot_size(width, height)
    if len(outcomes) == 1:
        _stacked(upper, outcomes[0][1])
        _lines(lower, [("█", [float(sample.pending) for sample in outcomes[0][1].samples])], "pending")
    else:
        _compared(upper, lower, outcomes)
    for part in (upper, lower):
        _ticks(part, max((outcome for _, outcome in outcomes), key=lambda outcome: len(outcome.samples)))
    text: str = figure.build().string()
    figure.clear()
    return text


def _stacked(part: Any, outcome: Outcome) -> None:
    """Each bar is drawn over the higher one behind it, so what shows of it is its own share."""
    steps = [step for _, step in outcome.steps()]
    shares = [
        ("█ told", [step.told for step in steps]),
        ("▒ folded", [step.folded for step in steps]),
        ("░ suppressed", [suppressed(step) for step in steps]),
    ]
    heights = list(
        accumulate((values for _, values in shares), lambda below, own: [a + b for a, b in zip(below, own, strict=True)])
    )
    places = list(range(1, len(steps) + 1))
    for (name, _), height in reversed(list(zip(shares, heights, strict=True))):
        part.draw(part.bar(places, height, width=1, marker=name[0]))
    part.title("   ".join(name for name, _ in shares) + f"   (events in {span(outcome.plan.step())})")


def _compared(upper: Any, lower: Any, outcomes: Sequence[tuple[str, Outcome]]) -> None:
    marked = list(zip(cycle(_MARKS), outcomes, strict=False))
    legend = "   ".join(f"{mark} {value}" for mark, (value, _) in marked)
    _lines(upper, [(mark, [float(s.so_far.told) for s in o.samples]) for mark, (_, o) in marked], f"told so far:  {legend}")
    _lines(lower, [(mark, [float(s.pending) for s in o.samples]) for mark, (_, o) in marked], "pending")


def _lines(part: Any, lines: Sequence[tuple[str, list[float]]], title: str) -> None:
    for mark, values in lines:
        signal = part.signal(list(range(1, len(values) + 1)), values, marker=mark)
        signal.lines()
        part.draw(signal)
    part.title(title)


def _ticks(part: Any, longest: Outcome) -> None:
    """Moments below, a few of them."""
    last = len(longest.samples)
    places = sorted({1 + (last - 1) * nth // (_TICKS - 1) for nth in range(_TICKS)})
    part.ruler("x").ticks(places, [span(longest.samples[place - 1].after) for place in places])

"""``tocsin bench``: try settings on a burst, and see what a recipient would have been told."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ..contracts.base import Millis
from ..contracts.errors import BadInput
from ..contracts.severity import NAMES
from .bench_recipients import KINDS
from .bench_values import DURATION, SHARES, SPAN, Compared, compared, flags_of
from .settings_option import set_option
from .words import colours, json_option, print_json

if TYPE_CHECKING:
    from .bench_trial import ClockKind, Outcome, Plan

_LONG: Final = 20_000
"""From so many events on progress is shown."""
_TAILS: Final = {"simulated": Millis(86_400_000), "real": Millis(15_000)}
_OUT_OF_BALANCE: Final = 7


@click.group()
def bench() -> None:
    """Measure this machine, and try settings."""


@bench.command()
@click.option("--rate", type=click.IntRange(min=1), default=2_000, show_default=True, metavar="N", help="Events a second.")
@click.option("--length", type=DURATION, default="10s", show_default=True, help="How long it lasts: 500ms, 10s, 5m, 24h, 1d.")
@click.option(
    "--duplicates", type=click.FloatRange(0, 1), default=0.95, show_default=True, metavar="SHARE",
    help="The share of events whose text comes again and again.",
)  # fmt: skip
@click.option("--texts", type=click.IntRange(min=1), default=1_000, show_default=True, metavar="N", help="So many texts do.")
@click.option(
    "--severities", type=SHARES, default="warning=0.9,error=0.1", show_default=True,
    help=f"How the texts are shared out among {', '.join(NAMES)}.",
)  # fmt: skip
@click.option(
    "--recipient", type=click.Choice(KINDS), default="idle", show_default=True,
    help="idle; active: writes without a pause; turns: tells of its turns; chatty: writes in spells.",
)  # fmt: skip
@click.option("--lanes", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="So many recipients.")
@click.option(
    "--outage", "outages", type=SPAN, multiple=True, help="The burst's scope can't be reached meanwhile, as in 2s-4s."
)
@click.option(
    "--clock", type=click.Choice(tuple(_TAILS)), default="simulated", show_default=True,
    help="simulated: a day in seconds, nothing is too fast; real: threads and real time.",
)  # fmt: skip
@click.option("--seed", type=int, default=1, show_default=True, help="Another seed, other texts and times.")
@click.option(
    "--tail", type=DURATION, default=None, help="Go on so long while something is pending.  [simulated: 1d, real: 15s]"
)
@set_option
@click.option(
    "--config", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Settings from a TOML file, on top of those that hold here.",
)  # fmt: skip
@click.option("--compare", metavar="KEY=A,B,C", help="The same burst with each value of one setting, side by side.")
@json_option
@click.option("--plot/--no-plot", default=None, help="Draw in the terminal.  [default: if stdout is one]")
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), help="Draw into a PNG or SVG file.")
def burst(
    compare: str | None,
    flags: dict[str, str],
    config: Path | None,
    as_json: bool,
    plot: bool | None,
    picture: Path | None,
    **burst_options: Any,
) -> None:
    """Send a burst through the line and show what became of it.

    Every event is accounted for: offered = told + folded + evicted + shed + dropped + pending; else exit code 7.
    """
    draw = _draws(picture)
    flags = {**flags_of(config), **flags}
    tried = compared(compare) if compare else None
    trials = [(value, _trial(burst_options, {**flags, **extra})) for value, extra in _variants(tried)]
    outcomes = [(value, _run(plan, burst_options["clock"])) for value, plan in trials]
    _show(tried, outcomes, as_json=as_json, plot=not as_json and (sys.stdout.isatty() if plot is None else plot))
    if picture:
        draw(outcomes, picture)
        click.echo(f"wrote {picture}", err=True)
    if any(outcome.faults for _, outcome in outcomes):
        click.get_current_context().exit(_OUT_OF_BALANCE)


def _draws(picture: Path | None) -> Callable[[Sequence[tuple[str, "Outcome"]], Path], None]:
    """What draws pictures; asked for before the burst runs, so that nobody waits for a picture that can't be drawn."""
    from .bench_picture import checked

    return checked(picture)


def _variants(tried: Compared | None) -> Iterator[tuple[str, dict[str, str]]]:
    if tried is None:
        yield "", {}
    else:
        yield from ((value, {tried.key: value}) for value in tried.values)


def _trial(options: dict[str, Any], flags: dict[str, str]) -> "Plan":
    from ..edges.settings import load
    from ..pipeline.simulate import Burst
    from .bench_trial import Plan

    asked = {name: options[name] for name in ("rate", "length", "duplicates", "texts", "severities")}
    try:
        made = Burst(**asked)
    except ValueError as error:
        raise BadInput(str(error)) from error
    return Plan(
        burst=made,
        settings=load(flags=flags).settings,
        tail=_TAILS[options["clock"]] if options["tail"] is None else options["tail"],
        **{name: options[name] for name in ("recipient", "lanes", "outages", "seed")},
    )


def _run(plan: "Plan", clock: "ClockKind") -> "Outcome":
    from .bench_clocks import real, simulated

    with _progress(plan, clock) as progress:
        return simulated(plan, progress) if clock == "simulated" else real(plan, progress)


@contextmanager
def _progress(plan: "Plan", clock: "ClockKind") -> Iterator[Callable[[int], object]]:
    """A bar on a terminal, if it takes long enough to ask oneself."""
    count = plan.burst.count()
    if not sys.stderr.isatty() or (count < _LONG and clock == "simulated"):
        yield lambda _: None
        return
    with click.progressbar(length=count, label="events", file=sys.stderr) as bar:
        yield bar.update


def _show(tried: Compared | None, outcomes: list[tuple[str, "Outcome"]], *, as_json: bool, plot: bool) -> None:
    from .bench_report import for_json, side_by_side, story

    if as_json and tried is None:
        print_json(for_json(outcomes[0][1]))
    elif as_json and tried is not None:
        print_json({"compared": tried.key, "runs": [{"value": value, **for_json(outcome)} for value, outcome in outcomes]})
    else:
        click.echo(story(outcomes[0][1]) if tried is None else side_by_side(tried.key, outcomes), color=colours())
    if plot:
        from .bench_plot import drawn

        click.echo("\n" + drawn(outcomes), color=colours())

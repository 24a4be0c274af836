"""Report: a trial as a table of its steps, as one line each for what counts, side by side with others, and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from .bench_trial import Counts, Outcome
from .words import strong

_COLUMNS: Final = ("offered", "told", "blocks", "folded", "evicted", "shed", "dropped", "held", "deferred", "over_budget")
_ALWAYS: Final = ("offered", "told", "blocks", "folded")
_ENDS: Final = ("told", "folded", "evicted", "shed", "dropped")
_PERCENTS: Final = (50, 99, 100)
_QUIET: Final = 2
"""So many rows in which nothing happened are shown; more become one."""


def story(outcome: Outcome) -> str:
    """What was tried, step by step what happened, and what it came to."""
    return "\n\n".join((headline(outcome), "\n".join(_steps(outcome)), "\n".join(_sums(outcome))))


def headline(outcome: Outcome) -> str:
    """What was tried, in one line."""
    plan, burst = outcome.plan, outcome.plan.burst
    lanes = "1 recipient" if plan.lanes == 1 else f"{plan.lanes:,} recipients"
    outages = "".join(f", outage {span(began)}-{span(ended)}" for began, ended in plan.outages)
    return (
        f"{burst.count():,} events in {span(burst.length)} ({burst.rate:,}/s), {burst.duplicates:.0%} of {burst.texts:,} texts,"
        f" for {lanes} ({plan.recipient}){outages}; {outcome.clock} clock, seed {plan.seed}"
    )


def span(millis: float) -> str:
    """A length of time as people say it: ``400 ms``, ``2.5 s``, ``3 min``, ``1.5 h``."""
    for unit, size in (("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if millis >= size * (2 if unit == "min" else 1):
            return f"{millis / size:.4g} {unit}"
    return f"{millis:.0f} ms"


def balance(outcome: Outcome) -> str:
    """Every event accounted for, or what is wrong."""
    if outcome.faults:
        return f"DOES NOT BALANCE: {'; '.join(outcome.faults)}"
    total = outcome.total
    ends = [f"{getattr(total, name):,} {name}" for name in _ENDS if getattr(total, name) or name in _ALWAYS]
    came = f"{total.offered:,} offered" + (f" + {outcome.own:,} of the line's own" if outcome.own else "")
    return f"{came} = {' + '.join(ends)} + {outcome.pending:,} pending, exactly"


def side_by_side(key: str, outcomes: Sequence[tuple[str, Outcome]]) -> str:
    """One column for each value of a setting."""
    rows = [[key, *(value for value, _ in outcomes)]]
    for name in _COLUMNS:
        cells = [getattr(outcome.total, name) for _, outcome in outcomes]
        if any(cells) or name in _ALWAYS:
            rows.append([name.replace("_", " "), *map(_number, cells)])
    rows.append(["pending", *(_number(outcome.pending) for _, outcome in outcomes)])
    for percent in _PERCENTS:
        rows.append([_WAITED[percent], *(span(wait(outcome, percent)) if outcome.waits else "–" for _, outcome in outcomes)])
    balances = dict.fromkeys(balance(outcome) for _, outcome in outcomes)
    return "\n\n".join((headline(outcomes[0][1]), "\n".join(_aligned(rows)), "\n".join(balances)))


_WAITED: Final = {50: "waited, median", 99: "waited, 99 %", 100: "waited, longest"}


def wait(outcome: Outcome, percent: int) -> int:
    """Milliseconds from an event to its block, which so many percent of the notices did not exceed; 0 if none was told."""
    waits = outcome.waits
    return waits[min(len(waits) - 1, len(waits) * percent // 100)] if waits else 0


def for_json(outcome: Outcome) -> dict[str, Any]:
    """All of it, for programs; lengths of time in milliseconds."""
    plan = outcome.plan
    return {
        "burst": {**msgspec.to_builtins(plan.burst), "events": plan.burst.count()},
        "recipient": plan.recipient,
        "lanes": plan.lanes,
        "outages": [list(outage) for outage in plan.outages],
        "clock": outcome.clock,
        "seed": plan.seed,
        "settings": msgspec.to_builtins(plan.settings),
        "total": {**_as_dict(outcome.total), "suppressed": suppressed(outcome.total), "pending": outcome.pending},
        "waited": {f"p{percent}": wait(outcome, percent) for percent in _PERCENTS} if outcome.waits else None,
        "balanced": not outcome.faults,
        "faults": list(outcome.faults),
        "seconds": round(outcome.seconds, 3),
        "blocks": [{"after": after, "notices": notices} for after, notices in outcome.blocks],
        "series": [
            {"after": sample.after, **_as_dict(step), "suppressed": suppressed(step), "pending": sample.pending}
            for sample, step in outcome.steps()
        ],
    }


def suppressed(counts: Counts) -> int:
    """What will not be told because there was too much."""
    return counts.evicted + counts.shed


def _as_dict(counts: Counts) -> dict[str, int]:
    fields: dict[str, int] = msgspec.structs.asdict(counts)
    return fields


def _steps(outcome: Outcome) -> Iterator[str]:
    shown = [name for name in _COLUMNS if name in _ALWAYS or getattr(outcome.total, name)]
    rows = [["after", *(name.replace("_", " ") for name in shown), "pending"]]
    quiet, pending = 0, 0
    for sample, step in outcome.steps():
        still = not any(_as_dict(step).values()) and sample.pending == pending
        quiet, pending = quiet + 1 if still else 0, sample.pending
        if quiet > _QUIET:
            rows = [*rows[:-1], ["…"]] if quiet == _QUIET + 1 else rows
            continue
        rows.append([span(sample.after), *(_number(getattr(step, name)) for name in shown), _number(sample.pending)])
    return _aligned(rows)


def _sums(outcome: Outcome) -> Iterator[str]:
    total = outcome.total
    blocks = f"{total.blocks:,} block{'' if total.blocks == 1 else 's'}"
    yield f"told      {total.told:,} of {total.offered:,} events, in {blocks}; {total.folded:,} more were counted into notices"
    if suppressed(total):
        parts = [f"{number:,} {word}" for number, word in ((total.evicted, "evicted"), (total.shed, "shed")) if number]
        yield f"not told  {suppressed(total):,} suppressed ({', '.join(parts)})"
    if outcome.waits:
        yield f"waited    {', '.join(f'{span(wait(outcome, p))} {_SHORT[p]}' for p in _PERCENTS)}"
    yield f"balance   {balance(outcome)}"
    yield f"took      {span(outcome.seconds * 1000)}"


_SHORT: Final = {50: "median", 99: "for 99 % at most", 100: "the longest"}


def _number(value: int) -> str:
    return f"{value:,}" if value else "·"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns with their digits below each other; the first row is the head."""
    widths = [max(len(row[nth]) for row in rows if nth < len(row)) for nth in range(len(rows[0]))]
    for nth, row in enumerate(rows):
        line = "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=False))
        yield strong(line) if nth == 0 else line

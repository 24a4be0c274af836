"""``tocsin attention queue``, ``show``, ``history`` and ``doctor``: looking, which claims nothing and changes nothing."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import msgspec

from ...contracts.attention_items import PAGE, PAGE_MOST, Happening, Phase, State
from ...contracts.attention_pages import Counts, Listed
from ...contracts.attention_time import instant
from ...contracts.base import Instant
from ...contracts.errors import NotFound
from ...edges.attention.health import Health
from ...edges.attention.keys import Key
from ...pipeline.attention_brief import ago, whole
from ...pipeline.attention_lines import wrapped
from ..stored import store_option
from ..words import json_option, one_line, print_json, say, spoken, table
from .answers import TURN_ON, nothing, page_note
from .moments import locally
from .opening import item_argument, must_be_there, queue_at, queue_options

OPEN: Final = (State.ACTIVE, State.QUEUED, State.DEFERRED)
COLUMNS: Final = 80
limit_option = click.option(
    "--limit", type=click.IntRange(1, PAGE_MOST), default=PAGE, show_default=True, help="So many at most."
)


@click.command()
@click.option(
    "--state", "states", type=click.Choice([str(state) for state in State]), multiple=True, help="Only these. Repeatable."
)
@click.option("--after", metavar="PLACE", help="Where the page before ended.")
@limit_option
@queue_options
def queue(states: tuple[str, ...], after: str | None, limit: int, human: str | None, store: Path | None, as_json: bool) -> None:
    """List what is active, queued and deferred, and how the answers stand. Nothing is taken by looking."""
    must_be_there(store)
    with queue_at(store, human) as found:
        page = found.desk.queue(human_id=found.human, states=tuple(map(State, states)) or OPEN, after=after, limit=limit)
        counts = found.desk.counts(found.human)
    if as_json:
        print_json({**msgspec.to_builtins(page), "counts": counts})
        return
    if page.items:
        say(table(("ID", "STATE", "ASKED", "MIN", "PROJECT", "TITLE"), list(_rows(page.items, instant(page.as_of)))))
    else:
        nothing("items")
    say("\n".join(_summary(counts)))
    page_note(page.after, "tocsin attention queue")


def _rows(items: tuple[Listed, ...], now: Instant) -> Iterator[tuple[str, ...]]:
    cells = [
        (f"ATN-{one.item_id}", _state(one), ago(instant(one.created_at), now), str(one.estimate_minutes or ""), one.project_id)
        for one in items
    ]
    used = sum(max(len(cell[nth]) for cell in [*cells, _HEAD]) + 2 for nth in range(len(_HEAD)))
    screen = shutil.get_terminal_size().columns if sys.stdout.isatty() else COLUMNS
    room = max(24, screen - used)
    for one, cell in zip(items, cells, strict=True):
        first, *more = wrapped(one_line(one.title), room - 2)
        yield (*cell, f"{first} …" if more else first)


_HEAD: Final = ("ID", "STATE", "ASKED", "MIN", "PROJECT")


def _state(one: Listed) -> str:
    if one.state is State.DEFERRED:
        return f"deferred, {locally(one.deferred_until)[:-6]}" if one.deferred_until else "deferred"
    return str(one.state)


def _summary(counts: Counts) -> Iterator[str]:
    parts = [f"{counts.queued} queued", f"{counts.deferred} deferred"]
    if counts.due:
        parts.append(f"{counts.due} of them due")
    elif counts.next_deferred_at:
        parts.append(f"the next one due {locally(counts.next_deferred_at)}")
    active = f"ATN-{counts.active_item_id} is active" if counts.active_item_id else "nothing is active"
    yield f"{active}; {', '.join(parts)}"
    under_way = {phase: counts.returns.get(phase, 0) for phase in (Phase.PENDING, Phase.MINTED, Phase.BLOCKED, Phase.FAILED)}
    if any(under_way.values()):
        yield f"answers: {', '.join(f'{number} {phase}' for phase, number in under_way.items() if number)}"


@click.command()
@item_argument(required=True)
@queue_options
def show(item_id: int, human: str | None, store: Path | None, as_json: bool) -> None:
    """Show one item whole, with what became of it: `tocsin attention show 42`. Nothing is taken by looking."""
    must_be_there(store)
    with queue_at(store, human) as found:
        shown = found.desk.item(item_id)
        if shown is None:
            raise NotFound(f"there is no item {item_id}")
        if as_json:
            print_json(shown)
        else:
            say(whole(shown.item, as_of=instant(shown.as_of), position=shown.position))
        found.note_shown(shown.item)


@click.command()
@item_argument(required=True)
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="EVENT", help="Only what came after this one.")
@limit_option
@store_option
@json_option
def history(item_id: int, after: int, limit: int, store: Path | None, as_json: bool) -> None:
    """Show what happened to an item, oldest first, and who did it. Nothing of it is ever deleted."""
    must_be_there(store)
    with queue_at(store) as found:
        page = found.desk.history(item_id, after=after, limit=limit)
        if not page.events and found.desk.item(item_id) is None:
            raise NotFound(f"there is no item {item_id}")
    if as_json:
        print_json(page)
        return
    if page.events:
        say(table(("EVENT", "AT", "WHAT", "BY", "MORE"), [_cells(one) for one in page.events]))
    else:
        nothing("events")
    page_note(page.after, f"tocsin attention history {item_id}")


def _cells(one: Happening) -> tuple[str, ...]:
    return str(one.event_id), locally(one.at), spoken(str(one.kind)), one.principal, _more(one)


def _more(one: Happening) -> str:
    """What its payload says in short: words as they are, the rest by its name."""
    parts = [f"{name} {value}" for name, value in one.payload.items() if isinstance(value, str | int) and value != ""]
    return ", ".join(parts)[:120]


@click.command()
@queue_options
def doctor(human: str | None, store: Path | None, as_json: bool) -> None:
    """Show whether all is well: the database, who is here, who may ask, and answers that do not get through."""
    must_be_there(store)
    with queue_at(store, human) as found:
        health = found.desk.doctor()
        counts = found.desk.counts(found.human)
        origin = found.origin
    if as_json:
        print_json({**msgspec.to_builtins(health), "counts": counts})
    else:
        say("\n".join(_health(health, counts, origin)))


def _health(health: Health, counts: Counts, origin: str) -> Iterator[str]:
    yield f"database: {health.path}, {health.broker_uuid or 'no queue was ever used in it'}"
    yield f"queue of {counts.human_id} on {health.edge}: {'on' if health.enabled else 'off'}"
    if not health.enabled:
        yield TURN_ON.format(origin=f", by {origin}" if origin else "")
    yield f"your key: {_of_key(health)}"
    yield from _summary(counts)
    if counts.oldest_ready_at:
        yield f"the head of the line waits since {locally(counts.oldest_ready_at)}"
    for one in health.here:
        yield f"here: {one.actor} (pid {one.pid}{f', session {one.session}' if one.session else ''})"
    for source in health.sources:
        state = "good" if source.valid else spoken(source.reason)
        work = f"{source.project_id} · {source.work_id}"
        yield f"source {source.source_id}: {source.actor}, {work}, {source.return_mode}: {state}"
    if health.more_sources:
        yield "more sources: `tocsin attention source list`"


_KEYS: Final[dict[Key, str]] = {
    "yours": "the one of this queue",
    "none": "none yet; your first command makes it",
    "not_trusted": "not trusted: others may read or write it",
    "another": "another than this queue knows, so you may only look",
}


def _of_key(health: Health) -> str:
    if health.operator_key == "none" and health.operator_recorded:
        return "none, and this queue belongs to somebody who has one"
    return _KEYS[health.operator_key]

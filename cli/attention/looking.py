"""``tocsin attention queue``, ``show`` and ``history``: looking, which claims nothing and changes nothing."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import msgspec

from ...contracts.attention_items import PAGE, PAGE_MOST, Happening, Phase, State
from ...contracts.attention_pages import Counts, Listed, Shown, Stuck
from ...contracts.attention_time import instant
from ...contracts.base import Instant
from ...contracts.errors import UnknownItem
from ...pipeline.attention_brief import ago, whole
from ...pipeline.attention_lines import wrapped
from ...pipeline.attention_ways import in_words
from ..stored import store_option
from ..words import json_option, one_line, print_json, say, spoken, table
from .answers import STANDARD, nothing, page_note
from .moments import locally, shortly
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
        held_up = found.desk.held_up(found.human) if counts.returns.get(Phase.MINTED) else ()
    if as_json:
        print_json({**msgspec.to_builtins(page), "counts": counts, "held_up": held_up})
        return
    if page.items:
        say(table(("ID", "STATE", "ASKED", "MIN", "PROJECT", "TITLE"), list(_rows(page.items, instant(page.as_of)))))
    say("\n".join([*summary(counts), *map(of_held_up, held_up)]))
    if held_up or _not_through(counts):
        say("`tocsin attention doctor` says which answers do not get through, and what to do")
    listed = [("state", state) for state in states]
    page_note(page.after, "tocsin attention queue", *listed, *paged(limit, store, human))


def paged(limit: int, store: Path | None, human: str | None = None) -> Iterator[tuple[str, object]]:
    """The options of a list, as its next page needs them again."""
    yield "limit", limit if limit != PAGE else None
    yield "human", human
    yield "store", store


def _rows(items: tuple[Listed, ...], now: Instant) -> Iterator[tuple[str, ...]]:
    cells = [
        (
            f"ATN-{one.item_id}",
            _state(one, now),
            ago(instant(one.created_at), now),
            str(one.estimate_minutes or ""),
            one.project_id,
        )
        for one in items
    ]
    used = sum(max(len(cell[nth]) for cell in [*cells, _HEAD]) + 2 for nth in range(len(_HEAD)))
    screen = shutil.get_terminal_size().columns if sys.stdout.isatty() else COLUMNS
    room = max(16, screen - used)
    for one, cell in zip(items, cells, strict=True):
        first, *more = wrapped(one_line(one.title), room - 2)
        yield (*cell, f"{first} …" if more else first)


_HEAD: Final = ("ID", "STATE", "ASKED", "MIN", "PROJECT")


def _state(one: Listed, now: Instant) -> str:
    if one.state is not State.DEFERRED:
        return str(one.state)
    if one.deferred_until is None:
        return "deferred indefinitely"
    return "deferred, now due" if instant(one.deferred_until) <= now else f"until {shortly(one.deferred_until, now)}"


def summary(counts: Counts) -> Iterator[str]:
    parts = [f"{counts.queued} queued", f"{counts.deferred} deferred"]
    if counts.due:
        parts.append(f"{counts.due} of them due, in the line at the next `next`")
    elif counts.next_deferred_at:
        parts.append(f"the next one due {locally(counts.next_deferred_at)}")
    whose = "" if counts.human_id == STANDARD else f"{counts.human_id}: "
    active = f"ATN-{counts.active_item_id} is active" if counts.active_item_id else "nothing is active"
    yield f"{whose}{active}; {', '.join(parts)}"
    under_way = {phase: counts.returns.get(phase, 0) for phase in (Phase.PENDING, Phase.MINTED, Phase.BLOCKED, Phase.FAILED)}
    if any(under_way.values()):
        yield f"answers: {', '.join(f'{number} {phase}' for phase, number in under_way.items() if number)}"


def of_held_up(one: Stuck) -> str:
    """That an answer is on its way to nobody, as far as can be seen now."""
    return f"ATN-{one.item_id} {one.phase}: {in_words(one.reason, one_line(one.route.actor))}"


def _not_through(counts: Counts) -> bool:
    return any(counts.returns.get(phase) for phase in (Phase.BLOCKED, Phase.FAILED))


@click.command()
@item_argument(required=True)
@queue_options
def show(item_id: int, human: str | None, store: Path | None, as_json: bool) -> None:
    """Show one item whole, with what became of it: `tocsin attention show 42`. Nothing is taken by looking."""
    must_be_there(store)
    with queue_at(store, human) as found:
        shown = found.desk.item(item_id)
        if shown is None or (human is not None and shown.item.packet.human_id != found.human):
            raise UnknownItem(f"there is no item {item_id}")
        if as_json:
            print_json(shown)
        else:
            say(_whole(shown))
        found.note_shown(shown.item)


def _whole(shown: Shown) -> str:
    return whole(
        shown.item,
        as_of=instant(shown.as_of),
        position=shown.position,
        obstacle=shown.obstacle,
        proof=shown.proof,
        moment=locally,
    )


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
            raise UnknownItem(f"there is no item {item_id}")
    if as_json:
        print_json(page)
        return
    if page.events:
        say(table(("EVENT", "AT", "WHAT", "BY", "MORE"), [_cells(one) for one in page.events]))
    else:
        nothing("events")
    page_note(page.after, f"tocsin attention history {item_id}", *paged(limit, store))


def _cells(one: Happening) -> tuple[str, ...]:
    return str(one.event_id), locally(one.at), spoken(str(one.kind)), one.principal, _more(one)


def _more(one: Happening) -> str:
    """What its payload says in short: words as they are, the rest by its name."""
    parts = [f"{name} {value}" for name, value in one.payload.items() if isinstance(value, str | int) and value != ""]
    return ", ".join(parts)[:120]

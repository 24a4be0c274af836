"""``tocsin status``: what is pending for each recipient, what it waits for, and what is kept for those who are not here."""

from collections.abc import Iterator
from pathlib import Path

import click

from ..contracts import wire
from ..contracts.base import Record
from ..contracts.errors import NoRecipient, StoreUnusable
from ..contracts.status import LaneStatus, Status
from ..edges.records import Records
from .asking import ask_all, timeout_option, to_option
from .stored import if_stored, store_option
from .words import for_programs, json_option, plural, print_json, say, spoken, table, wait_until


class Kept(Record, frozen=True, kw_only=True):
    """Messages for a recipient that no process delivers to."""

    recipient: str
    waiting: int


@click.command()
@to_option
@timeout_option
@store_option
@json_option
def status(to: str | None, patience: float, store: Path | None, as_json: bool) -> None:
    """Show each recipient's queue: how much is pending, why it waits, and until when; and what is kept for the absent."""
    kept, trouble = _kept(to, store)
    try:
        found = [answer for answer in ask_all(to, patience, wire.AskStatus()) if isinstance(answer, wire.StatusIs)]
    except NoRecipient:
        if not kept and not trouble:
            raise
        found = []
    kept = [one for one in kept if one.recipient not in {answer.recipient for answer in found}]
    if as_json:
        here = [{"recipient": one.recipient, **for_programs(one.status)} for one in found]
        print_json({"recipients": here, "kept": [for_programs(one) for one in kept], "store_trouble": trouble})
    else:
        absent = [f"{one.recipient} is not here; {plural(one.waiting, 'message')} kept for it" for one in kept]
        rest = [*absent, *([f"store: {trouble}"] if trouble else [])]
        say("\n\n".join([*(_shown(one) for one in found), *(["\n".join(rest)] if rest else [])]))


def _kept(to: str | None, store: Path | None) -> tuple[list[Kept], str]:
    """What the store holds for those who are not here, and what is wrong with it."""
    try:
        with if_stored(store) as records:
            return _waiting(records, to) if records else [], ""
    except StoreUnusable as error:
        return [], str(error)


def _waiting(records: Records, to: str | None) -> list[Kept]:
    names = [one.name for one in records.recipients() if one.life == "live" and to in (None, one.name)]
    counts = {name: records.waiting(name) for name in names if records.living_owner(name) is None}
    return [Kept(recipient=name, waiting=number) for name, number in counts.items() if number]


def _shown(answer: wire.StatusIs) -> str:
    status = answer.status
    lines = [table(("RECIPIENT", "PENDING", "WAITS FOR", "UNTIL", "NOW", "DELIVERED", "DROPPED"), _lanes(status))]
    lines += list(_notes(status))
    return "\n".join(lines)


def _lanes(status: Status) -> Iterator[tuple[str, ...]]:
    for lane in status.lanes:
        yield (
            lane.name,
            str(lane.depth),
            _waits_for(lane),
            wait_until(lane.until, status.at) if lane.depth else "",
            lane.recipient,
            str(lane.delivered),
            str(lane.dropped),
        )


def _waits_for(lane: LaneStatus) -> str:
    if lane.under_way:
        return f"the sink, which writes {lane.under_way}"
    return spoken(lane.waits_for) if lane.depth else ""


def _notes(status: Status) -> Iterator[str]:
    """What the table has no column for."""
    parts = [f"fed {status.fed}", f"delivered {status.delivered}", f"folded {status.folded}"]
    parts += [f"{spoken(verdict)} {number}" for verdict, number in sorted(status.dropped.items())]
    yield " · ".join([*parts, f"pending {status.pending}"])
    for lane in status.lanes:
        if suppressed := ", ".join(f"{number} {name}" for name, number in lane.suppressed.items()):
            yield f"{lane.name}: suppressed since the last block: {suppressed}"
    if scopes := ", ".join(f"{scope} {spoken(mode)}" for scope, mode in sorted(status.scopes.items()) if mode != "healthy"):
        yield f"scopes: {scopes}"
    if status.dead_letters:
        yield f"dead letters: {status.dead_letters}, see `tocsin letters`"
    if status.broken:
        yield f"the line gave up: {status.broken.splitlines()[0]}"

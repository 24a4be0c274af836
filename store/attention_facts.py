"""Attention facts: what is on record about one command, read through indexes alone, however long the queue and its history."""

from typing import Any, Final

from ..contracts.attention import Addition
from ..contracts.attention_commands import (
    Add,
    Amend,
    Cancel,
    Command,
    Defer,
    Next,
    Requeue,
    RerouteReturn,
    Resolve,
    RetryReturn,
    SourceBind,
    SourceRevoke,
    Start,
    Summon,
    Withdraw,
)
from ..contracts.attention_facts import Earlier, Enrolment, Facts, Known, Policy, Principal, Request, Seat, owner_of
from ..contracts.attention_items import Source
from ..contracts.base import Instant
from . import attention_rows as rows
from .engine import View
from .rows import decode

HEAD: Final = (
    "SELECT ready_sequence, item_id FROM attention_items WHERE human_id = ? AND state = 'queued' AND item_id != ? "
    "ORDER BY ready_sequence, item_id LIMIT 1"
)
DUE: Final = (
    "SELECT item_id FROM attention_items WHERE human_id = ? AND state = 'deferred' AND deferred_until <= ? AND item_id != ? "
    "ORDER BY deferred_until, item_id"
)
NEXT_DEFERRED: Final = (
    "SELECT deferred_until FROM attention_items WHERE human_id = ? AND state = 'deferred' AND deferred_until > ? "
    "ORDER BY deferred_until LIMIT 1"
)
DEFERRED: Final = "SELECT count(*) FROM attention_items WHERE human_id = ? AND state = 'deferred'"
LAST_EVENT: Final = "SELECT coalesce(max(event_id), 0) FROM attention_events"
EARLIER: Final = "SELECT issuer, digest FROM attention_commands WHERE command_id = ?"
_NO_ITEM: Final = 0


def gather(
    view: View,
    request: Request,
    *,
    principal: Principal,
    policy: Policy,
    broker_uuid: str,
    enrolment: Enrolment | None,
    now: Instant,
) -> Facts:
    """What matters for this command and this principal. Of one that was carried out before, nothing else is looked at."""
    seat = rows.source(view, principal.source_id) if isinstance(principal, Seat) else None
    found: dict[str, Any] = {"policy": policy, "broker_uuid": broker_uuid, "seat": seat}
    for issuer, digest in view.rows(EARLIER, (request.command.command_id,)):
        return Facts(**found, earlier=Earlier(issuer=issuer, digest=digest))
    found.update(_of_command(view, request.command, seat, policy, enrolment, now))
    return Facts(**found)


def _of_command(
    view: View, command: Command, seat: Source | None, policy: Policy, enrolment: Enrolment | None, now: Instant
) -> dict[str, Any]:
    match command:
        case Summon() | Add() | Start():
            found = _of_entry(view, command, seat)
        case Next(payload=payload):
            found = _of_line(view, policy.human_id, rows.known(view, payload.item_id or _NO_ITEM), now)
        case Resolve() | Defer() | Cancel():
            found = _of_end(view, command, now)
        case RetryReturn() | RerouteReturn():
            found = _of_return(view, command)
        case Amend() | Withdraw() | Requeue():
            found = {"item": rows.known(view, command.payload.item_id)}
        case SourceBind():
            taken = enrolment is not None and rows.source(view, enrolment.source_id) is not None
            found = {"enrolment": enrolment, "enrolled_before": taken}
        case SourceRevoke(payload=payload):
            found = {"source": rows.source(view, payload.source_id)}
    return found


def _of_entry(view: View, command: Summon | Add | Start, seat: Source | None) -> dict[str, Any]:
    packet = command.payload
    source = rows.source(view, packet.source_id) if isinstance(packet, Addition) and packet.source_id else seat
    before = packet.predecessor_item_id
    return {
        "source": source,
        "twin": rows.known_by_key(view, owner_of(command, source), packet),
        "predecessor": before is None or bool(view.rows("SELECT 1 FROM attention_items WHERE item_id = ?", (before,))),
        "active": rows.active(view, packet.human_id) if isinstance(command, Start) else None,
    }


def _of_end(view: View, command: Resolve | Defer | Cancel, now: Instant) -> dict[str, Any]:
    item = rows.known(view, command.payload.item_id)
    if item is None:
        return {}
    origin = rows.source(view, item.item.source_id) if isinstance(command, Resolve) else None
    found = {"item": item, "origin": origin}
    if command.payload.select_next:
        # It leaves the line or the slot by this very command, so the next one is another.
        found |= _of_line(view, item.item.packet.human_id, item, now, aside=item.item.item_id)
    return found


def _of_line(view: View, human_id: str, named: Known | None, now: Instant, aside: int = _NO_ITEM) -> dict[str, Any]:
    return {
        "item": named,
        "active": rows.active(view, human_id),
        "head": next(iter(view.rows(HEAD, (human_id, aside))), None),
        "due": tuple(item_id for (item_id,) in view.rows(DUE, (human_id, now, aside))),
        "last_event": view.rows(LAST_EVENT)[0][0],
    }


def _of_return(view: View, command: RetryReturn | RerouteReturn) -> dict[str, Any]:
    item = rows.known(view, command.payload.item_id)
    last = item.item.returned if item else None
    found: dict[str, Any] = {"item": item, "returned": last}
    if last is not None:
        found["route"] = decode(Source, view.rows(rows.ROUTE, (last.return_id,))[0][0])
    if isinstance(command, RerouteReturn):
        found["source"] = rows.source(view, command.payload.source_id)
    return found

"""Attention rows: how items, sources, returns and history stand in their columns, and how they are read back."""

from typing import Any, Final

from ..contracts.attention import Packet
from ..contracts.attention_facts import Known
from ..contracts.attention_items import EventKind, Happening, Item, Phase, Return, Route, Source, State
from ..contracts.attention_pages import Listed
from ..contracts.attention_time import iso, iso_or_none
from .engine import View
from .rows import decode, word

Row = tuple[Any, ...]

ITEM: Final = (
    "item_id, owner_principal, source_id, state, revision, packet, ready_sequence, deferred_until, created_at, updated_at, "
    "claimed_at, resolved_at, outcome, response, reason, submitted, standing"
)
SOURCE: Final = (
    "source_id, edge, actor, provider, project_id, work_id, session_id, cwd, profile, delivery, return_mode, provenance, "
    "created_at, revoked_at, revoked_reason"
)
RETURN: Final = (
    "return_id, item_id, resolution_command_id, generation, mode, source_id, phase, reason, delivery_id, retry_at, outcome, "
    "created_at, updated_at"
)
ROUTE: Final = "SELECT route FROM attention_returns WHERE return_id = ?"
EVENT: Final = "event_id, item_id, source_id, command_id, principal, kind, at, payload"


def known(view: View, item_id: int) -> Known | None:
    """The item of this id."""
    return _known(view, f"SELECT {ITEM} FROM attention_items WHERE item_id = ?", (item_id,))


def known_by_key(view: View, owner: str, packet: Packet) -> Known | None:
    """The item that this owner has for this round."""
    sql = (
        f"SELECT {ITEM} FROM attention_items WHERE human_id = ? AND owner_principal = ? AND project_id = ? AND work_id = ? "
        "AND intervention_key = ?"
    )
    return _known(view, sql, (packet.human_id, owner, packet.project_id, packet.work_id, packet.intervention_key))


def active(view: View, human_id: str) -> Item | None:
    """What this person works on."""
    found = _known(view, f"SELECT {ITEM} FROM attention_items WHERE human_id = ? AND state = 'active'", (human_id,))
    return found.item if found else None


def _known(view: View, sql: str, values: tuple[Any, ...]) -> Known | None:
    for row in view.rows(sql, values):
        *columns, submitted, standing = row
        return Known(item=_item(view, columns), submitted=submitted, standing=standing)
    return None


def _item(view: View, row: list[Any]) -> Item:
    item_id, owner, source_id, state, revision, packet, sequence, until, created, updated, claimed, resolved, *ends = row
    returned = last_return(view, item_id)
    return Item(
        item_id=item_id,
        owner=owner,
        source_id=source_id,
        route=route_of(view, source_id) if returned is None else sent_to(view, returned.return_id),
        state=word(State, state),
        revision=revision,
        packet=packet_of(packet),
        ready_sequence=sequence,
        deferred_until=iso_or_none(until),
        created_at=iso(created),
        updated_at=iso(updated),
        claimed_at=iso_or_none(claimed),
        resolved_at=iso_or_none(resolved),
        outcome=ends[0],
        response=ends[1],
        reason=ends[2],
        returned=returned,
    )


def route_of(view: View, source_id: str | None) -> Route | None:
    """Where answers to this source go."""
    sql = "SELECT actor, edge, return_mode, session_id FROM attention_sources WHERE source_id = ?"
    for actor, edge, mode, session_id in view.rows(sql, (source_id,)) if source_id else ():
        return Route(actor=actor, edge=edge, return_mode=mode, session_id=session_id)
    return None


def sent_to(view: View, return_id: int) -> Route:
    """Where this answer goes, as it was recorded for it."""
    return decode(Route, view.rows(ROUTE, (return_id,))[0][0])


def packet_of(data: bytes) -> Packet:
    """A stored packet. Raises ``StoreCorrupt`` if it is none."""
    return decode(Packet, data)


def source(view: View, source_id: str | None) -> Source | None:
    """The source of this id."""
    for row in view.rows(f"SELECT {SOURCE} FROM attention_sources WHERE source_id = ?", (source_id,)):
        return source_of(row)
    return None


def source_of(row: Row) -> Source:
    """A stored source."""
    *columns, created_at, revoked_at, revoked_reason = row
    names = SOURCE.split(", ")
    said = dict(zip(names, columns, strict=False))
    return Source(**said, created_at=iso(created_at), revoked_at=iso_or_none(revoked_at), revoked_reason=revoked_reason)


def last_return(view: View, item_id: int) -> Return | None:
    """The last generation of an item's return."""
    sql = f"SELECT {RETURN} FROM attention_returns WHERE item_id = ? ORDER BY generation DESC LIMIT 1"
    for row in view.rows(sql, (item_id,)):
        return return_of(row)
    return None


def return_of(row: Row) -> Return:
    """A stored return."""
    return_id, item_id, command_id, generation, mode, source_id, phase, reason, delivery, retry_at, outcome, made, moved = row
    return Return(
        return_id=return_id,
        item_id=item_id,
        resolution_command_id=command_id,
        generation=generation,
        mode=mode,
        source_id=source_id,
        phase=word(Phase, phase),
        reason=reason,
        delivery_id=delivery,
        retry_at=iso_or_none(retry_at or None),  # pending ones are looked at in the next pass
        outcome=decode(dict[str, Any], outcome),
        created_at=iso(made),
        updated_at=iso(moved),
    )


def happening_of(row: Row) -> Happening:
    """A stored line of history."""
    event_id, item_id, source_id, command_id, principal, kind, at, payload = row
    return Happening(
        event_id=event_id,
        item_id=item_id,
        source_id=source_id,
        command_id=command_id,
        principal=principal,
        kind=word(EventKind, kind),
        at=iso(at),
        payload=decode(dict[str, Any], payload),
    )


def listed_of(row: Row) -> Listed:
    """A stored item as it stands in a list. ``row``: item_id, state, revision, owner, packet, sequence, until, created."""
    item_id, state, revision, owner, data, sequence, until, created = row
    packet = packet_of(data)
    return Listed(
        item_id=item_id,
        state=word(State, state),
        revision=revision,
        owner=owner,
        project_id=packet.project_id,
        work_id=packet.work_id,
        kind=packet.kind,
        title=packet.title,
        estimate_minutes=packet.estimate_minutes,
        deadline_at=packet.deadline_at,
        ready_sequence=sequence,
        deferred_until=iso_or_none(until),
        created_at=iso(created),
    )

"""Attention steps: each thing that a decision says, written with its line of history. Writes the tables of the queue."""

from typing import Any, Final

from msgspec.structs import asdict

from ..contracts.attention_facts import Bind, Create, Move, OpenReturn, Revoke, Rewrite, Step, Supersede
from ..contracts.attention_items import READY, TERMINAL, EventKind, State
from ..contracts.attention_time import instant, iso_or_none
from ..contracts.base import Instant, Record
from .attention_facts import LAST_EVENT
from .attention_rows import SOURCE
from .engine import Transaction
from .rows import encode

_ITEM: Final = (
    "INSERT INTO attention_items (human_id, owner_principal, project_id, work_id, intervention_key, source_id, state, "
    "revision, packet, submitted, standing, ready_sequence, created_at, updated_at, claimed_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)"
)
_EVENT: Final = (
    "INSERT INTO attention_events (event_id, item_id, source_id, command_id, principal, kind, at, payload) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class Deed(Record, frozen=True, kw_only=True):
    """By which command, of whom, and when."""

    command_id: str | None
    issuer: str
    at: Instant


def carry_out(tx: Transaction, steps: tuple[Step, ...], deed: Deed) -> int | None:
    """Write them in their order; the id of the item that one of them made."""
    made = None
    for step in steps:
        match step:
            case Create():
                made = _create(tx, step, deed)
            case Move():
                _move(tx, step, deed)
            case Rewrite():
                _rewrite(tx, step, deed)
            case OpenReturn():
                _open_return(tx, step, deed)
            case Supersede():
                _supersede(tx, step, deed)
            case Bind():
                _bind(tx, step, deed)
            case Revoke():
                _revoke(tx, step, deed)
    return made


def record(
    tx: Transaction,
    kind: EventKind,
    deed: Deed,
    payload: dict[str, Any],
    *,
    item_id: int | None = None,
    source_id: str | None = None,
    event_id: int | None = None,
) -> int:
    """Write one line of history; its id, which is above all before it."""
    said = {name: value for name, value in payload.items() if value is not None}
    values = (event_id, item_id, source_id, deed.command_id, deed.issuer, kind, deed.at, encode(said))
    return tx.execute(_EVENT, values).lastrowid


def _create(tx: Transaction, step: Create, deed: Deed) -> int:
    packet, at = step.packet, deed.at
    sequence = tx.rows(LAST_EVENT)[0][0] + 1  # of the event below; nobody else writes while the lock is held
    started = step.state is State.ACTIVE
    key = (packet.human_id, step.owner, packet.project_id, packet.work_id, packet.intervention_key)
    hashes = (step.content, step.content)
    times = (at, at, at if started else None)
    item_id = tx.execute(_ITEM, (*key, step.source_id, step.state, encode(packet), *hashes, sequence, *times)).lastrowid
    kind = EventKind.STARTED if started else EventKind.ADDED
    payload = {"packet": packet, "owner": step.owner}
    record(tx, kind, deed, payload, item_id=item_id, source_id=step.source_id, event_id=sequence)
    return item_id


def _move(tx: Transaction, step: Move, deed: Deed) -> None:
    said = {"outcome": step.outcome, "response": step.response, "reason": step.reason}
    said = {name: value for name, value in said.items() if value is not None}
    event_id = record(tx, step.event, deed, {**said, "until": iso_or_none(step.until)}, item_id=step.item_id)
    changes: dict[str, Any] = {"state": step.to, "updated_at": deed.at, "deferred_until": step.until, **said}
    if step.event in READY:
        changes["ready_sequence"] = event_id
    if step.to is State.ACTIVE:
        changes["claimed_at"] = deed.at
    if step.to in TERMINAL:
        changes["resolved_at"] = deed.at
    _change(tx, step.item_id, changes)


def _rewrite(tx: Transaction, step: Rewrite, deed: Deed) -> None:
    record(tx, EventKind.AMENDED, deed, {"packet": step.packet}, item_id=step.item_id)
    _change(tx, step.item_id, {"packet": encode(step.packet), "standing": step.content, "updated_at": deed.at})


def _change(tx: Transaction, item_id: int, changes: dict[str, Any]) -> None:
    columns = ", ".join(f"{name} = ?" for name in changes)
    sql = f"UPDATE attention_items SET revision = revision + 1, {columns} WHERE item_id = ?"
    tx.execute(sql, (*changes.values(), item_id))


def _open_return(tx: Transaction, step: OpenReturn, deed: Deed) -> None:
    sql = (
        "INSERT INTO attention_returns (item_id, resolution_command_id, generation, mode, source_id, route, phase, retry_at, "
        "created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?)"
    )
    identity = (step.item_id, step.resolution_command_id, step.generation, step.mode, step.route.source_id)
    tx.execute(sql, (*identity, encode(step.route), deed.at, deed.at))
    payload = {"generation": step.generation, "mode": step.mode, "route": step.route}
    record(tx, EventKind.RETURN_RECORDED, deed, payload, item_id=step.item_id, source_id=step.route.source_id)


def _supersede(tx: Transaction, step: Supersede, deed: Deed) -> None:
    sql = (
        "UPDATE attention_returns SET phase = 'superseded', reason = ?, retry_at = NULL, updated_at = ? WHERE return_id = ? "
        "RETURNING item_id, source_id, generation"
    )
    for item_id, source_id, generation in tx.rows(sql, (step.reason, deed.at, step.return_id)):
        payload = {"generation": generation, "reason": step.reason}
        record(tx, EventKind.RETURN_SUPERSEDED, deed, payload, item_id=item_id, source_id=source_id)


def _bind(tx: Transaction, step: Bind, deed: Deed) -> None:
    source = asdict(step.source)
    stored = {**source, "created_at": instant(source["created_at"])}
    names = SOURCE.split(", ")
    sql = f"INSERT INTO attention_sources ({SOURCE}) VALUES ({', '.join('?' * len(names))})"
    tx.execute(sql, [stored[name] for name in names])
    tx.execute(
        "INSERT INTO attention_source_handles (handle_hash, broker_uuid, source_id, provenance, created_at) "
        "SELECT ?, broker_uuid, ?, ?, ? FROM attention_schema",
        (step.handle_hash, step.source.source_id, step.source.provenance, deed.at),
    )
    record(tx, EventKind.SOURCE_BOUND, deed, {"source": step.source}, source_id=step.source.source_id)


def _revoke(tx: Transaction, step: Revoke, deed: Deed) -> None:
    sql = "UPDATE attention_sources SET revoked_at = ?, revoked_reason = ? WHERE source_id = ?"
    tx.execute(sql, (deed.at, step.reason, step.source_id))
    record(tx, EventKind.SOURCE_REVOKED, deed, {"reason": step.reason}, source_id=step.source_id)

"""Attention returns: how far answers are on their way back: one open generation for each resolution, each step on record."""

from typing import Any, Final

from ..contracts.attention_items import BLOCKED_PERIOD, RETURNS_A_PASS, EventKind, Phase, Planned, Return, Source
from ..contracts.base import Instant
from . import attention_rows as rows
from .attention_steps import Deed, record
from .engine import Transaction, View
from .rows import decode, encode

PUBLISHER: Final = "returns"
"""As whom the publisher is named in the history."""

_WAITING: Final = f"SELECT {rows.RETURN}, route FROM attention_returns WHERE retry_at"
DUE: Final = f"{_WAITING} <= ? ORDER BY retry_at, return_id LIMIT ?"
AHEAD: Final = f"{_WAITING} > ? ORDER BY retry_at, return_id LIMIT ?"
_OPEN: Final = "phase IN ('pending', 'blocked')"


def due(view: View, now: Instant, *, limit: int = RETURNS_A_PASS) -> list[Planned]:
    """Answers that may be sent now: pending ones, and blocked ones whose next look has come. At most 25."""
    most = min(limit, RETURNS_A_PASS)
    found = view.rows(DUE, (now, most))
    # A look that lies further ahead than any is ever planned was planned before the clock went back: it is due.
    found += view.rows(AHEAD, (now + BLOCKED_PERIOD, most - len(found)))
    return [_planned(view, row) for row in found]


def minted(view: View, *, after: int = 0, limit: int = RETURNS_A_PASS) -> list[Return]:
    """Answers whose delivery was under way at the last look, behind the return ``after``."""
    sql = f"SELECT {rows.RETURN} FROM attention_returns WHERE phase = 'minted' AND return_id > ? ORDER BY return_id LIMIT ?"
    return [rows.return_of(row) for row in view.rows(sql, (after, min(limit, RETURNS_A_PASS)))]


def of_resolution(view: View, resolution_command_id: str, generation: int) -> Planned | None:
    """One generation, for whoever holds its coordinate and asks whether it still counts."""
    sql = f"SELECT {rows.RETURN}, route FROM attention_returns WHERE resolution_command_id = ? AND generation = ?"
    for row in view.rows(sql, (resolution_command_id, generation)):
        return _planned(view, row)
    return None


def of_item(view: View, item_id: int) -> list[Return]:
    """All generations of an item's return, the first one first."""
    sql = f"SELECT {rows.RETURN} FROM attention_returns WHERE item_id = ? ORDER BY generation"
    return [rows.return_of(row) for row in view.rows(sql, (item_id,))]


def _planned(view: View, row: rows.Row) -> Planned:
    *columns, route = row
    found = rows.return_of(tuple(columns))
    known = rows.known(view, found.item_id)
    assert known is not None  # the database keeps it: a return refers to its item
    return Planned(row=found, route=decode(Source, route), item=known.item)


def mint(tx: Transaction, return_id: int, *, delivery_id: str, at: Instant) -> bool:
    """Note that a delivery carries it. The caller puts that delivery's notice into the store in this same transaction.

    False if it is not waiting any more: then nothing may be put there.
    """
    sql = f"phase = 'minted', delivery_id = ?, retry_at = NULL, reason = '' WHERE {_OPEN}"
    payload = {"delivery_id": delivery_id}
    return _step(tx, return_id, sql, (delivery_id,), EventKind.RETURN_MINTED, payload, at)


def block(tx: Transaction, return_id: int, reason: str, at: Instant) -> bool:
    """Note that its way can't be used now; it is looked at again after a minute. False if it is not waiting."""
    return _block(tx, return_id, reason, at, Instant(at + BLOCKED_PERIOD))


def block_for_person(tx: Transaction, return_id: int, reason: str, at: Instant) -> bool:
    """Note that its way is lost until the person sends it another way. False if it is not waiting."""
    return _block(tx, return_id, reason, at, None)


def _block(tx: Transaction, return_id: int, reason: str, at: Instant, look_again: Instant | None) -> bool:
    known = tx.rows("SELECT phase, reason FROM attention_returns WHERE return_id = ?", (return_id,))
    if known == [(Phase.BLOCKED, reason)]:  # history gets a line when the reason is new, not at every look
        again = "UPDATE attention_returns SET retry_at = ?, updated_at = ? WHERE return_id = ?"
        return tx.execute(again, (look_again, at, return_id)).rowcount > 0
    sql = f"phase = 'blocked', reason = ?, retry_at = ? WHERE {_OPEN}"
    return _step(tx, return_id, sql, (reason, look_again), EventKind.RETURN_BLOCKED, {"reason": reason}, at)


def process(tx: Transaction, return_id: int, outcome: dict[str, Any], at: Instant) -> bool:
    """Note that its delivery came to its ordinary end, and keep what is known of it. False if none was under way."""
    sql = "phase = 'processed', outcome = ? WHERE phase = 'minted'"
    return _step(tx, return_id, sql, (encode(outcome),), EventKind.RETURN_PROCESSED, {"outcome": outcome}, at)


def fail(tx: Transaction, return_id: int, reason: str, outcome: dict[str, Any], at: Instant) -> bool:
    """Note that it will not arrive: its delivery failed, or there is no way. False if it was neither waiting nor sent."""
    sql = "phase = 'failed', reason = ?, outcome = ?, retry_at = NULL WHERE phase IN ('pending', 'blocked', 'minted')"
    payload = {"reason": reason, "outcome": outcome}
    return _step(tx, return_id, sql, (reason, encode(outcome)), EventKind.RETURN_FAILED, payload, at)


def _step(
    tx: Transaction,
    return_id: int,
    change: str,
    values: tuple[Any, ...],
    kind: EventKind,
    payload: dict[str, Any],
    at: Instant,
) -> bool:
    sql = f"UPDATE attention_returns SET updated_at = ?, {change} AND return_id = ? RETURNING item_id, source_id, generation"
    changed = tx.rows(sql, (at, *values, return_id))
    deed = Deed(command_id=None, issuer=PUBLISHER, at=at)
    for item_id, source_id, generation in changed:
        record(tx, kind, deed, {"generation": generation, **payload}, item_id=item_id, source_id=source_id)
    return bool(changed)

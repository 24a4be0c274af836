"""Inbox: a mailbox that outlives its reader and is drained by a cursor. Writes the tables ``inbox`` and ``inbox_acks``."""

from typing import Final

from ..contracts.base import Instant
from ..contracts.deliveries import Delivery, Proof
from ..contracts.errors import BadInput
from . import deliveries
from .engine import Transaction, View
from .rows import decode, encode

_PUT: Final = """
    INSERT INTO inbox (recipient, delivery, attempt, body, put_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (recipient, delivery) DO UPDATE SET attempt = excluded.attempt, body = excluded.body
    WHERE excluded.attempt > attempt
"""


def put(tx: Transaction, delivery: Delivery, at: Instant) -> int:
    """Lay a block in its recipient's box; its cursor. The same block again keeps its cursor, and its newer attempt is kept."""
    tx.execute(_PUT, (delivery.lane, delivery.id, delivery.attempt, encode(delivery), at))
    found = tx.rows("SELECT cursor FROM inbox WHERE recipient = ? AND delivery = ?", (delivery.lane, delivery.id))
    return int(found[0][0])


def pull(view: View, recipient: str, *, after: int, limit: int) -> list[tuple[int, Delivery]]:
    """Blocks behind the cursor ``after``, oldest first. Reading takes nothing away."""
    sql = "SELECT cursor, body FROM inbox WHERE recipient = ? AND cursor > ? ORDER BY cursor LIMIT ?"
    return [(cursor, decode(Delivery, body)) for cursor, body in view.rows(sql, (recipient, after, limit))]


def cursor(view: View, recipient: str) -> int:
    """How far this recipient has acknowledged; 0 at first."""
    found = view.rows("SELECT upto FROM inbox_acks WHERE recipient = ?", (recipient,))
    return int(found[0][0]) if found else 0


def ack(tx: Transaction, recipient: str, upto: int, at: Instant) -> int:
    """Note that everything up to this cursor was read; how many blocks became so. They are proved ``seen``.

    Going back is harmless and 0. Raises ``BadInput`` for a cursor that was never given out: what it would skip was never read.
    """
    last = max(cursor(tx, recipient), _last(tx, recipient))
    if upto > last:
        raise BadInput(f"the inbox of {recipient} ends at cursor {last}: {upto} can't have been read")
    unread_before = "FROM inbox WHERE recipient = ? AND cursor <= ? AND read_at IS NULL"
    read = tx.rows(f"SELECT delivery {unread_before} ORDER BY cursor", (recipient, upto))
    tx.execute(
        "UPDATE inbox SET read_at = ? WHERE recipient = ? AND cursor <= ? AND read_at IS NULL",
        (at, recipient, upto),
    )
    for (delivery,) in read:
        deliveries.prove(tx, delivery, Proof.SEEN, at)
    _move_cursor(tx, recipient, upto, at)
    return len(read)


def _last(view: View, recipient: str) -> int:
    return int(view.rows("SELECT coalesce(max(cursor), 0) FROM inbox WHERE recipient = ?", (recipient,))[0][0])


def _move_cursor(tx: Transaction, recipient: str, upto: int, at: Instant) -> None:
    sql = (
        "INSERT INTO inbox_acks (recipient, upto, changed_at) VALUES (?, ?, ?) ON CONFLICT (recipient) "
        "DO UPDATE SET upto = excluded.upto, changed_at = excluded.changed_at WHERE excluded.upto > upto"
    )
    if upto > 0:
        tx.execute(sql, (recipient, upto, at))


def unread(view: View, recipient: str) -> list[tuple[int, Delivery]]:
    """Blocks that are not acknowledged, oldest first."""
    sql = "SELECT cursor, body FROM inbox WHERE recipient = ? AND read_at IS NULL ORDER BY cursor"
    return [(cursor, decode(Delivery, body)) for cursor, body in view.rows(sql, (recipient,))]


def unread_ids(view: View, recipient: str) -> set[str]:
    """The ids of all messages in blocks that are not acknowledged."""
    return {entry.id for _, delivery in unread(view, recipient) for entry in delivery.entries}


def prune(tx: Transaction, before: Instant) -> int:
    """Take away blocks that were acknowledged before that moment; how many. What is unread stays, whatever its age."""
    return tx.execute("DELETE FROM inbox WHERE read_at < ?", (before,)).rowcount

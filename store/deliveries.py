"""Deliveries: blocks as they were handed over, their ends and proofs. Writes the tables ``deliveries`` and ``proofs``."""

from collections.abc import Sequence
from typing import Any, Final

from ..contracts.base import Instant
from ..contracts.deliveries import Delivery, Proof
from ..contracts.durable import Block, Outcome, State
from ..contracts.verdicts import DROPS, Verdict
from . import decisions, intake, owners
from .engine import Transaction, View
from .rows import encode, names_of, word

LADDER: Final = {proof: rank for rank, proof in enumerate(Proof)}
"""How much a proof says: ``recorded`` < ``offered`` < ``submitted`` < ``seen``."""

ENDED: Final[dict[Verdict, State]] = {
    **dict.fromkeys(DROPS, State.UNDELIVERABLE),
    Verdict.DEAD_LETTER: State.FAILED,
    Verdict.DELIVER: State.PROCESSED,
    Verdict.FOLD: State.PROCESSED,
}
"""What a verdict makes of a message; one that is not here ends nothing."""

_COLUMNS: Final = "id, recipient, at, text, notices, state, attempt, proof, proved_at, note"

# A block that was told, or dropped by a rule, stays so; a dead letter that is tried again is under way again.
_UPSERT: Final = """
    INSERT INTO deliveries (id, recipient, at, text, notices, state, attempt, changed_at)
    VALUES (?, ?, ?, ?, ?, 'dispatched', ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        at = excluded.at, text = excluded.text, notices = excluded.notices,
        attempt = max(attempt, excluded.attempt), changed_at = excluded.changed_at, state = 'dispatched'
    WHERE recipient = excluded.recipient AND state NOT IN ('processed', 'undeliverable')
"""


def dispatch(tx: Transaction, delivery: Delivery, notices: Sequence[str], *, token: str, at: Instant) -> None:
    """Note, before the sink gets it, that this block is handed over and which durable messages it holds.

    Raises ``NotOwner``: then the sink must not get it.
    """
    owners.check(tx, token, delivery.lane)
    held = encode(tuple(notices))
    tx.execute(_UPSERT, (delivery.id, delivery.lane, delivery.at, delivery.text, held, delivery.attempt, at))
    intake.dispatched(tx, delivery.lane, notices, delivery.id, at)


def settle(tx: Transaction, outcomes: Sequence[Outcome], at: Instant) -> None:
    """Note what became of messages, and end the blocks that have nothing left. The same outcomes again change nothing."""
    ended = [outcome for outcome in outcomes if outcome.verdict in ENDED]
    intake.end(
        tx,
        ((ENDED[end.verdict], end.verdict, end.reason, end.id, end.recipient) for end in ended),
        at,
    )
    decisions.add(tx, outcomes)
    places = {(end.recipient, end.id): intake.in_block(tx, end.recipient, end.id) for end in ended}
    blocks = dict.fromkeys((recipient, place[0]) for (recipient, _), place in places.items() if place and place[0])
    for recipient, delivery in blocks:
        _end_if_nothing_is_left(tx, recipient, delivery, places, at)


_Places = dict[tuple[str, str], tuple[str, State] | None]
"""(recipient, message) → (the block it is in, how far it is), as far as it was looked up."""


def _end_if_nothing_is_left(tx: Transaction, recipient: str, delivery: str, places: _Places, at: Instant) -> None:
    rows = tx.rows(
        "SELECT notices FROM deliveries WHERE id = ? AND recipient = ? AND state = 'dispatched'", (delivery, recipient)
    )
    held = [(recipient, id) for (data,) in rows for id in names_of(data)]
    found = [places[key] if key in places else intake.in_block(tx, *key) for key in held]
    states = {place[1] for place in found if place and place[0] == delivery}
    if any(intake.is_open(state) for state in states):
        return
    for best in (State.PROCESSED, State.FAILED, State.UNDELIVERABLE):
        if best in states:
            finish(tx, delivery, best, at)
            return


def finish(tx: Transaction, delivery_id: str, state: State, at: Instant) -> None:
    """Note how far a block is. One that has ended stays as it is."""
    sql = "UPDATE deliveries SET state = ?, changed_at = ? WHERE id = ? AND state IN ('pending', 'claimed', 'dispatched')"
    tx.execute(sql, (state, at, delivery_id))


def prove(tx: Transaction, delivery_id: str, proof: Proof, at: Instant, note: str = "") -> bool:
    """Note a proof of a block; False, and nothing is changed, if as much was proved before or the block is not on record."""
    for (before,) in tx.rows("SELECT proof FROM deliveries WHERE id = ?", (delivery_id,)):
        if before is None or LADDER[word(Proof, before)] < LADDER[proof]:
            tx.execute("INSERT INTO proofs (delivery, proof, at, note) VALUES (?, ?, ?, ?)", (delivery_id, proof, at, note))
            sql = "UPDATE deliveries SET proof = ?, proved_at = ?, note = ?, changed_at = ? WHERE id = ?"
            tx.execute(sql, (proof, at, note, at, delivery_id))
            return True
    return False


def proofs(view: View, delivery_id: str) -> list[tuple[Proof, Instant, str]]:
    """What was proved of a block, when, and what was said besides, in order."""
    rows = view.rows("SELECT proof, at, note FROM proofs WHERE delivery = ? ORDER BY rowid", (delivery_id,))
    return [(word(Proof, proof), at, note) for proof, at, note in rows]


def blocks(view: View, *, recipient: str | None = None, limit: int = 50) -> list[Block]:
    """Blocks on record, the newest first."""
    where, values = ("WHERE recipient = ?", [recipient]) if recipient is not None else ("", [])
    return [
        _block(row)
        for row in view.rows(f"SELECT {_COLUMNS} FROM deliveries {where} ORDER BY serial DESC LIMIT ?", (*values, limit))
    ]


def block(view: View, id: str) -> Block | None:
    """One block; None if it is not on record."""
    for row in view.rows(f"SELECT {_COLUMNS} FROM deliveries WHERE id = ?", (id,)):
        return _block(row)
    return None


def unresolved(view: View, recipient: str) -> list[Block]:
    """Blocks that were handed over and of whose messages some have no outcome, in the order in which they were made.

    A message that has meanwhile gone into another block does not count for the first.
    """
    under_way = (
        "SELECT delivery FROM notices WHERE recipient = ? "
        "AND state IN ('pending', 'claimed', 'dispatched') AND state = 'dispatched'"
    )
    sql = f"SELECT {_COLUMNS} FROM deliveries WHERE state = 'dispatched' AND id IN ({under_way}) ORDER BY serial"
    return [_block(row) for row in view.rows(sql, (recipient,))]


def prune(tx: Transaction, before: Instant) -> int:
    """Forget blocks that nothing has happened to since, except those with messages that have no end; how many that were."""
    still_open = "SELECT delivery FROM notices WHERE state IN ('pending', 'claimed', 'dispatched')"
    gone = tx.execute(f"DELETE FROM deliveries WHERE changed_at < ? AND id NOT IN ({still_open})", (before,)).rowcount
    if gone:
        tx.execute("DELETE FROM proofs WHERE delivery NOT IN (SELECT id FROM deliveries)")
    return gone


def _block(row: tuple[Any, ...]) -> Block:
    id, recipient, at, text, notices, state, attempt, proof, proved_at, note = row
    return Block(
        id=id,
        recipient=recipient,
        at=at,
        text=text,
        notices=names_of(notices),
        state=word(State, state),
        attempt=attempt,
        proof=None if proof is None else word(Proof, proof),
        proved_at=proved_at,
        note=note,
    )

"""Intake: what was accepted stays accepted, once, in the order of its commits. Writes the table ``notices``."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ..contracts.base import Instant, Traffic
from ..contracts.durable import DURABLE, OPEN, Acceptance, State, Stored
from ..contracts.errors import BadInput, SameId
from ..contracts.events import Event
from . import owners
from .engine import Transaction, View
from .rows import encode, event_of, word

_COLUMNS: Final = "seq, id, recipient, traffic, state, event, accepted_at, changed_at, delivery, attempts, verdict, reason"
_OPEN: Final = "state IN ('pending', 'claimed', 'dispatched')"  # to the letter as in the index, which is found by it
_REPEATABLE: Final = frozenset({"mail", "return"})
"""Classes whose id says that it is the same message, whatever its text."""

_INSERT: Final = (
    "INSERT INTO notices (id, recipient, traffic, coordinate, state, event, accepted_at, changed_at) "
    "VALUES (?, ?, ?, ?, 'pending', ?, ?, ?) ON CONFLICT DO NOTHING"
)


def accept(tx: Transaction, event: Event, *, recipient: str, id: str, at: Instant) -> Acceptance:
    """Take in one message; the same one again is answered as the first time, with ``replayed``.

    The producer's id (``event.id``) wins over ``id``. Raises ``SameId`` if that id was accepted with another message, and
    ``BadInput`` for a class that is not durable.
    """
    if event.traffic not in DURABLE:
        raise BadInput(f"{event.traffic} is not stored: only {', '.join(sorted(DURABLE))} are")
    name = event.id or id
    if not name or not recipient:
        raise BadInput("a stored message needs an id and a recipient")
    filled = replace(event, id=name, to=recipient, at=at if event.at is None else event.at)
    coordinate = (event.key or None) if event.traffic == "return" else None
    added = tx.execute(_INSERT, (name, recipient, event.traffic, coordinate, encode(filled), at, at))
    if added.rowcount:
        return Acceptance(id=name, seq=added.lastrowid)
    return _again(tx, event, filled, coordinate)


def accept_new(tx: Transaction, messages: Sequence[tuple[Event, str, str]], at: Instant) -> list[Acceptance]:
    """Take in many that nobody can have sent before: (event, recipient, id) with an id made just now and none of its own.

    The same as ``accept`` for each, in one statement.
    """
    rows = [
        (
            id,
            recipient,
            event.traffic,
            None,
            encode(replace(event, id=id, to=recipient, at=at if event.at is None else event.at)),
            at,
            at,
        )
        for event, recipient, id in messages
    ]
    added = tx.many(_INSERT, rows)
    if added != len(rows):  # chance has made an id twice: what else is in this transaction can't be told apart any more
        raise RuntimeError("an id that was made just now is taken already")
    (last,) = tx.rows("SELECT seq FROM sqlite_sequence WHERE name = 'notices'")[0]
    return [Acceptance(id=id, seq=last - len(rows) + nth) for nth, (_, _, id) in enumerate(messages, start=1)]


def _again(tx: Transaction, event: Event, filled: Event, coordinate: str | None) -> Acceptance:
    first = _first(tx, filled.id, filled.to or "", coordinate)
    told = first.event
    if event.traffic in _REPEATABLE and first.traffic == event.traffic:
        same = event.traffic != "return" or not event.key or told.key in ("", event.key)
    else:
        # An event that said no time was given the one of its first acceptance.
        same = told == (filled if event.at is not None else replace(filled, at=told.at))
    if not same:
        raise SameId(f"{filled.id}: that id was accepted for {filled.to} with another message. Send it under a new id.")
    return Acceptance(id=first.id, seq=first.seq, replayed=True)


def _first(view: View, id: str, recipient: str, coordinate: str | None) -> Stored:
    by_id = f"SELECT {_COLUMNS} FROM notices WHERE id = ? AND recipient = ?"
    by_coordinate = f"SELECT {_COLUMNS} FROM notices WHERE recipient = ? AND coordinate = ?"
    found = view.rows(by_id, (id, recipient)) or view.rows(by_coordinate, (recipient, coordinate))
    return _stored(found[0])


def waiting(view: View, recipient: str, *, after: int, limit: int) -> list[Stored]:
    """What has not ended for this recipient, behind the place ``after``, in order."""
    sql = f"SELECT {_COLUMNS} FROM notices WHERE recipient = ? AND seq > ? AND {_OPEN} ORDER BY seq LIMIT ?"
    return _all(view, sql, (recipient, after, limit))


def claim(tx: Transaction, token: str, seqs: Iterable[int], at: Instant) -> int:
    """Note that these are in their owner's line now; how many were pending. Raises ``NotOwner``."""
    places = list(seqs)
    sql = "SELECT recipient FROM notices WHERE seq = ?"
    for recipient in {row[0] for place in places for row in tx.rows(sql, (place,))}:
        owners.check(tx, token, recipient)
    update = "UPDATE notices SET state = 'claimed', changed_at = ? WHERE seq = ? AND state = 'pending'"
    return tx.many(update, ((at, place) for place in places))


def find(view: View, id: str) -> list[Stored]:
    """The message of this id, for each recipient that it was accepted for."""
    return _all(view, f"SELECT {_COLUMNS} FROM notices WHERE id = ? ORDER BY seq", (id,))


def listing(
    view: View,
    *,
    recipient: str | None = None,
    states: Iterable[State] | None = None,
    traffic: Traffic | None = None,
    limit: int = 100,
    after: int = 0,
) -> list[Stored]:
    """What fits all that is given, in order, behind the place ``after``."""
    wanted = None if states is None else list(states)
    where, values = ["seq > ?"], list[Any]([after])
    for column, value in (("recipient", recipient), ("traffic", traffic)):
        if value is not None:
            where.append(f"{column} = ?")
            values.append(value)
    if wanted is not None:
        where.append(f"state IN ({', '.join('?' * len(wanted))})")
        values.extend(wanted)
    sql = f"SELECT {_COLUMNS} FROM notices WHERE {' AND '.join(where)} ORDER BY seq LIMIT ?"
    return _all(view, sql, (*values, limit))


def retry(tx: Transaction, id: str, recipient: str, at: Instant) -> bool:
    """Let a dead letter wait again, at its old place; False if it is none."""
    sql = (
        "UPDATE notices SET state = 'pending', delivery = '', verdict = '', reason = '', changed_at = ? "
        "WHERE id = ? AND recipient = ? AND state = 'failed'"
    )
    return tx.execute(sql, (at, id, recipient)).rowcount > 0


def pending_count(view: View, recipient: str) -> int:
    """How many have been accepted for this recipient and have not ended."""
    count: int = view.rows(f"SELECT count(*) FROM notices WHERE recipient = ? AND {_OPEN}", (recipient,))[0][0]
    return count


def prune(tx: Transaction, before: Instant) -> int:
    """Forget what ended before that moment; how many that were."""
    return tx.execute(f"DELETE FROM notices WHERE changed_at < ? AND NOT {_OPEN}", (before,)).rowcount


def dispatched(tx: Transaction, recipient: str, ids: Sequence[str], delivery: str, at: Instant) -> None:
    """Note that these are handed to the sink in this block, once more. What has ended stays as it is."""
    sql = (
        "UPDATE notices SET state = 'dispatched', delivery = ?, attempts = attempts + 1, changed_at = ? "
        f"WHERE id = ? AND recipient = ? AND {_OPEN}"
    )
    tx.many(sql, ((delivery, at, id, recipient) for id in ids))


def withdrawn(tx: Transaction, recipient: str, ids: Iterable[str], at: Instant) -> None:
    """Note that the sink wrote nothing of these: the recipient can't have read them, so this was no attempt."""
    sql = (
        "UPDATE notices SET state = 'claimed', attempts = max(0, attempts - 1), changed_at = ? "
        "WHERE id = ? AND recipient = ? AND state = 'dispatched'"
    )
    tx.many(sql, ((at, id, recipient) for id in ids))


def end(tx: Transaction, ends: Iterable[tuple[State, str, str, str, str]], at: Instant) -> None:
    """Note how these ended: (state, verdict, reason, id, recipient). An end is never taken back."""
    sql = f"UPDATE notices SET state = ?, verdict = ?, reason = ?, changed_at = ? WHERE id = ? AND recipient = ? AND {_OPEN}"
    tx.many(sql, ((state, verdict, reason, at, id, recipient) for state, verdict, reason, id, recipient in ends))


def in_block(view: View, recipient: str, id: str) -> tuple[str, State] | None:
    """The block that this message was last handed over in ("" for none), and how far it is."""
    for delivery, state in view.rows("SELECT delivery, state FROM notices WHERE id = ? AND recipient = ?", (id, recipient)):
        return delivery, word(State, state)
    return None


def _all(view: View, sql: str, values: Sequence[Any]) -> list[Stored]:
    return [_stored(row) for row in view.rows(sql, values)]


def _stored(row: tuple[Any, ...]) -> Stored:
    seq, id, recipient, traffic, state, event, accepted_at, changed_at, delivery, attempts, verdict, reason = row
    return Stored(
        seq=seq,
        id=id,
        recipient=recipient,
        traffic=traffic,
        state=word(State, state),
        event=event_of(event),
        accepted_at=accepted_at,
        changed_at=changed_at,
        delivery=delivery,
        attempts=attempts,
        verdict=verdict,
        reason=reason,
    )


def is_open(state: State) -> bool:
    """True until it has ended."""
    return state in OPEN

"""Returns: one pass of the publisher within one transaction: answers become messages, and what became of those is noted."""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from ..contracts.attention_items import RETURNS_A_PASS, Obstacle, Planned, Return, Route, Source
from ..contracts.base import Instant, Millis
from ..contracts.durable import OPEN, State, Stored
from ..contracts.events import Event
from ..contracts.verdicts import Verdict
from ..pipeline.attention_continuation import continuation, coordinate
from ..store import attention_returns, deliveries, intake, owners, recipients
from ..store.attention_schema import broker_of
from ..store.engine import Transaction, View
from .tables import Alive
from .untold import end

OTHER_SESSION: Final = "for_another_session"
"""The line's own word for it, when it refuses such a message."""
TAKEN: Final = "coordinate_is_taken"
MISSING: Final = "transport_record_missing"
FORSAKEN_AFTER: Final = Millis(60_000)
"""A message for one session whose process died waits so long for that session to come back, and then it never is told."""


class Look(NamedTuple):
    """What a look without a lock has found."""

    due: bool
    """True if there is something to send."""
    ended: tuple[Return, ...]
    """Of what is under way: what has ended, and is to be noted."""
    after: int
    """Where the next look at what is under way begins: each takes so many, and no one is passed over."""


class Ended(NamedTuple):
    """How a message ended that carried an answer."""

    reason: str
    """Empty if it was told."""
    outcome: dict[str, Any]
    forsaken: Stored | None = None
    """The message, if it has no end yet and gets one by this."""


def look(view: View, alive: Alive, now: Instant, after: int) -> Look:
    """Is there anything to do? It costs a few questions that an index answers."""
    rows = attention_returns.minted(view, after=after)
    following = rows[-1].return_id if len(rows) == RETURNS_A_PASS else 0
    ended = tuple(row for row in rows if _end_of(view, row, alive, now))
    return Look(bool(attention_returns.due(view, now, limit=1)), ended, following)


def publish(
    tx: Transaction, *, ended: Iterable[Return] = (), new_id: Callable[[], str], alive: Alive, now: Instant
) -> frozenset[str]:
    """Put what is due on its way, 25 at most, and note what has ``ended``. Who has got a message by it.

    Only for a database in which the queue was used.
    """
    broker = broker_of(tx) or ""
    told: set[str] = set()
    for planned in attention_returns.due(tx, now):
        if reason := obstacle(tx, planned.route, alive):
            note = attention_returns.block_for_person if reason == Obstacle.ARCHIVED else attention_returns.block
            note(tx, planned.row.return_id, reason, now)
        elif _mint(tx, planned, broker, new_id(), now):
            told.add(planned.route.actor)
    for row in ended:
        _note_end(tx, row, alive, now)
    return frozenset(told)


def obstacle(view: View, route: Source | Route, alive: Alive) -> str:
    """Why nothing can be sent that way now; empty if it can. No session takes the place of another."""
    if recipients.is_dead(view, route.actor):
        return Obstacle.ARCHIVED
    if route.return_mode != "pinned_session":
        return ""
    over = session_over(view, route.actor, route.session_id or "")
    return over or ("" if runs(view, route.actor, alive) else Obstacle.NOT_RUNNING)


def session_over(view: View, actor: str, session: str) -> str:
    """Why this session of that recipient is not the present one; empty if it is."""
    newest = recipients.sessions(view, actor, limit=1)
    if not newest or newest[0].id != session:
        return Obstacle.OTHER_RUNS
    return Obstacle.SESSION_ENDED if newest[0].ended_at is not None else ""


def runs(view: View, actor: str, alive: Alive) -> bool:
    """True if a process that lives delivers to it."""
    found = owners.owner_of(view, actor)
    return found is not None and alive(*found)


def _mint(tx: Transaction, planned: Planned, broker: str, notice_id: str, now: Instant) -> bool:
    row, route = planned.row, planned.route
    if not attention_returns.mint(tx, row.return_id, delivery_id=notice_id, at=now):
        return False
    event = Event(
        text=continuation(planned, broker),
        source="attention_return",
        traffic="return",
        severity="info",
        key=coordinate(row.resolution_command_id, row.generation),
        session=(route.session_id or "") if route.return_mode == "pinned_session" else "",
    )
    answer = intake.accept(tx, event, recipient=route.actor, id=notice_id, at=now)
    if answer.id != notice_id:  # somebody else has sent a message under our coordinate: ours was not taken
        attention_returns.fail(tx, row.return_id, TAKEN, {"notice": answer.id}, now)
        return False
    return True


def _note_end(tx: Transaction, row: Return, alive: Alive, now: Instant) -> None:
    ended = _end_of(tx, row, alive, now)
    if ended is None:
        return
    if ended.forsaken is not None:
        verdict = Verdict.DROP_DEAD if ended.reason == Obstacle.ARCHIVED else Verdict.REFUSE
        end(tx, ended.forsaken, verdict, ended.reason, now)
    if ended.reason:
        attention_returns.fail(tx, row.return_id, ended.reason, ended.outcome, now)
    else:
        attention_returns.process(tx, row.return_id, ended.outcome, now)


def _end_of(view: View, row: Return, alive: Alive, now: Instant) -> Ended | None:
    """How its message ended; none while it is under way."""
    found = [stored for stored in intake.find(view, row.delivery_id) if stored.traffic == "return"]
    if not found:
        return Ended(MISSING, {"notice": row.delivery_id})
    stored = found[0]
    if stored.state in OPEN:
        reason = _forsaken(view, stored, alive, now)
        return Ended(reason, _outcome(view, stored, now), stored) if reason else None
    reason = "" if stored.state is State.PROCESSED else stored.reason or stored.verdict or str(stored.state)
    return Ended(reason, _outcome(view, stored, now))


def _forsaken(view: View, stored: Stored, alive: Alive, now: Instant) -> str:
    """Why nobody will ever be told, if that is so. Whoever delivers to the recipient now decides that itself."""
    if runs(view, stored.recipient, alive):
        return ""
    if recipients.is_dead(view, stored.recipient):
        return Obstacle.ARCHIVED
    session = stored.event.session
    if not session:
        return ""  # it waits for the recipient's return, in whatever session
    if session_over(view, stored.recipient, session):
        return OTHER_SESSION
    return Obstacle.NOT_RUNNING if now - stored.changed_at >= FORSAKEN_AFTER else ""


def _outcome(view: View, stored: Stored, now: Instant) -> dict[str, Any]:
    """What is kept of a delivery, whose own record may be forgotten one day."""
    block = deliveries.block(view, stored.delivery) if stored.delivery else None
    return {
        "notice": stored.id,
        "recipient": stored.recipient,
        "state": stored.state,
        "verdict": stored.verdict,
        "reason": stored.reason,
        "delivery": stored.delivery,
        "attempts": stored.attempts,
        "proof": block.proof if block else None,
        "maybe_read": stored.attempts > 0,
        "seen_at": now,
    }

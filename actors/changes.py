"""Changes: what each message does to the store within one transaction, and what this process knows of its lanes after it."""

from collections.abc import Callable, Sequence, Set
from functools import partial
from itertools import groupby
from typing import Any, Final

import msgspec

from ..contracts.base import Instant
from ..contracts.deliveries import Delivery
from ..contracts.durable import DURABLE, Acceptance, Announced, Outcome, State, Stored
from ..contracts.errors import BadInput, NoRecipient, RecipientDead, SinkGone, TocsinError
from ..contracts.events import Event
from ..contracts.moves import Announce, Disarm
from ..contracts.recipients import Owner
from ..contracts.verdicts import ENDS, Stage, Verdict
from ..pipeline.classify import Reason as ClassifyReason
from ..pipeline.defer import Reason as DeferReason
from ..pipeline.fanout import Reason as FanOutReason
from ..pipeline.throttle import Reason as ThrottleReason
from ..store import decisions, deliveries, intake, ledger, owners, recipients, waits
from ..store.engine import Transaction
from ..store.evidence import Evidence
from .absent import end
from .durable import (
    Accept,
    Accepted,
    Again,
    Begin,
    Change,
    Dispatch,
    GiveBack,
    HoldBack,
    Offered,
    Proved,
    Query,
    Settle,
    Take,
    Taken,
)
from .lanes import Lanes
from .messages import Moves, Over

OTHER_SESSION: Final = "for_another_session"
"""Why a message was refused that only one session may read, and another is here."""
OF_THIS_PROCESS: Final = frozenset(
    map(str, (ClassifyReason.UNKNOWN, ThrottleReason.CLOSED, DeferReason.DEAD, FanOutReason.GONE))
)
"""Reasons that tell of the end of a program or of a lane, and not of the message: it stays for whoever delivers next."""


def apply(
    tx: Transaction, lanes: Lanes, message: Any, owner: Owner, alive: Callable[[Owner, Instant], bool], now: Instant
) -> Any:
    """Carry out one message; its answer. Raises ``TocsinError`` before anything is written."""
    match message:
        case Accept():
            dead = {name for name in {one.recipient for one in message.items} if recipients.is_dead(tx, name)}
            answers = [
                answer
                for plain, run in groupby(message.items, key=lambda one: _is_new(one, dead))
                for answer in (_accept_new if plain else _accept_each)(tx, lanes, list(run), now)
            ]
            return Accepted(answers, _bells(tx, lanes, answers))
        case Dispatch():
            return dispatch(tx, lanes, message.delivery, owner.token, now), None
        case Settle():
            settle(tx, lanes, message, now)
        case Proved():
            deliveries.prove(tx, message.delivery, message.receipt.proof, now, message.receipt.note)
            deliveries.finish(tx, message.delivery, State.PROCESSED, now)
        case Take():
            return _take(tx, lanes, message, owner, alive, now)
        case Begin():
            lanes.later(lambda: lanes.begin(message.recipient))
            lanes.to_look_at.add(message.recipient)
            lanes.begun.add(message.recipient)
        case GiveBack():
            owners.give_back(tx, owner.token, message.recipient)
            lanes.begun.discard(message.recipient)  # nothing is fetched for it any more, from this transaction on
            lanes.later(lambda: lanes.close(message.recipient))
        case HoldBack():
            lanes.begun.clear()
        case Again():
            return _again(tx, lanes, message, now)
        case Moves():
            _keep_ledger(tx, lanes, message.items)
        case Change() | Query():
            return message.call(tx)
    return None


def fetch(tx: Transaction, lanes: Lanes, token: str, now: Instant) -> list[Event]:
    """What waits for our lanes, in its order, as far as there is room; it is ours from the commit on."""
    events: list[Event] = []
    for name in [one for one in sorted(lanes.resting) if not recipients.is_dead(tx, one)]:
        lanes.returned(name)
    for name in sorted(lanes.to_look_at & lanes.begun):
        if recipients.is_dead(tx, name):
            lanes.died(name)
            continue
        if (room := lanes.room(name)) <= 0:
            continue
        rows = intake.waiting(tx, name, after=lanes.cursor(name), limit=room)
        mine = _to_be_told(tx, lanes, name, [stored for stored in rows if not lanes.is_in_line(stored)], now)
        intake.claim(tx, token, [stored.seq for stored in mine], now)
        upto = rows[-1].seq if rows else 0
        lanes.later(partial(lanes.brought, name, upto, mine, all_of_them=len(rows) < room))
        events += [stored.event for stored in mine]
    return events


def _to_be_told(tx: Transaction, lanes: Lanes, name: str, waiting: Sequence[Stored], now: Instant) -> list[Stored]:
    """Without what is for another session, and what has become stale while nobody brought it in: those end here."""
    foreign = [stored for stored in waiting if not lanes.may_read(name, stored.event)]
    end(tx, foreign, Verdict.REFUSE, OTHER_SESSION, now)
    seen = Evidence(tx, name)
    stale = [stored for stored in waiting if stored not in foreign and seen.is_stale(stored)]
    end(tx, stale, Verdict.CLEAR, ThrottleReason.CLEARED, now)
    ended = {stored.seq for stored in (*foreign, *stale)}
    return [stored for stored in waiting if stored.seq not in ended]


def touched(messages: Sequence[Any], fetched: Sequence[Event]) -> set[str]:
    """Recipients for whom it has to be looked at whether conditions are gone: of what was told, or is about to be judged."""
    names = {event.to or "" for event in fetched if event.traffic == "notice"}
    for message in messages:
        if isinstance(message, Settle):
            names |= {outcome.recipient for outcome in message.outcomes}
        elif isinstance(message, Moves):
            names |= {move.lane for move in message.items}
    return names


def evidence(tx: Transaction, lanes: Lanes, names: Set[str]) -> list[Over]:
    """Whose conditions the store sees to be gone. What was told of them may be told again from this transaction on."""
    found: list[Over] = []
    for name in sorted(lanes.depend_on_evidence(names)):
        seen = Evidence(tx, name)
        told = seen.over(ledger.declared(tx, name))
        stale = [stored.id for stored in lanes.declared(name) if seen.is_stale(stored)]
        ledger.forget(tx, name, told)
        if told or stale:
            found.append(Over(name, frozenset(told), frozenset(stale)))
    return found


def expire(tx: Transaction, lanes: Lanes, now: Instant) -> list[Over]:
    """What has been held too long in all, in this line and before it, ends; the line does not know when it was accepted."""
    ttl = ledger.NOTICE_LEDGER_TTL
    ended = {name: ledger.expire(tx, name, now, ttl) for name in lanes.have_waited_since(Instant(now - ttl))}
    return [Over(name, frozenset(), frozenset(ids)) for name, ids in ended.items() if ids]


def stand_again(
    tx: Transaction, lanes: Lanes, owner: Owner, alive: Callable[[Owner, Instant], bool], now: Instant
) -> list[tuple[str, Owner]]:
    """The file is another one than before: our lanes stand in it before anything is fetched and anybody is judged dead.

    The answer is whose lane another process has taken meanwhile. One that is archived in the new file stays so.
    """
    lost: list[tuple[str, Owner]] = []
    for name in sorted(lanes.names):
        other = owners.take(tx, name, owner, now, alive=alive)
        if other is not None:
            lost.append((name, other))
            lanes.begun.discard(name)
            lanes.later(partial(lanes.close, name))
        elif recipients.find(tx, name) is None:
            recipients.register(tx, msgspec.structs.replace(lanes.recipient(name), registered_at=now, changed_at=now))
    lanes.start_over()
    return lost


def settle(tx: Transaction, lanes: Lanes, message: Settle, now: Instant) -> None:
    """Decisions go on record; what ended, ends; what a recipient was told of is on the ledger in the same transaction."""
    here = [outcome for outcome in message.outcomes if _of_this_process(tx, outcome)]
    outcomes = [outcome for outcome in message.outcomes if outcome not in here] if here else message.outcomes
    decisions.add(tx, here)
    deliveries.settle(tx, outcomes, now)
    for announced in message.announced:
        _announce(tx, lanes, announced)
    for held in message.held:
        ledger.hold(tx, held)
        lanes.later(partial(lanes.kept, held))
    for outcome in outcomes:
        if outcome.verdict is Verdict.DEFER and outcome.reason == FanOutReason.NOT_NOW:
            intake.withdrawn(tx, outcome.recipient, [outcome.id], now)
    ended = [outcome for outcome in message.outcomes if outcome.verdict in ENDS]
    for outcome in ended:
        ledger.release(tx, outcome.recipient, [outcome.id])
        if outcome.verdict is Verdict.DEAD_LETTER:
            _fail_block(tx, outcome, now)
    lanes.later(lambda: lanes.ended(ended))


def _announce(tx: Transaction, lanes: Lanes, announced: Announced) -> None:
    ledger.announce(tx, announced)
    if announced.cleared_when:
        lanes.watch(announced.recipient)


def _keep_ledger(tx: Transaction, lanes: Lanes, moves: Sequence[Announce | Disarm]) -> None:
    for move in moves:
        if isinstance(move, Announce):
            _announce(tx, lanes, move.announced)
        else:
            ledger.forget(tx, move.lane, move.signatures)


def complete(offered: Offered, now: Instant) -> Event:
    """The event as it goes on: with its id, its recipient and the moment it was fed."""
    event = offered.event
    at = now if event.at is None else event.at
    return msgspec.structs.replace(event, id=event.id or offered.id, to=offered.recipient, at=at)


def dispatch(tx: Transaction, lanes: Lanes, delivery: Delivery, token: str, now: Instant) -> Delivery:
    """Note the dispatch; the block with the number of its attempts, those of earlier processes included.

    Raises ``SinkGone`` for what another session is to read: this one must not, whatever it was when that was claimed.
    """
    ids = [entry.id for entry in delivery.entries if entry.traffic in DURABLE]
    mine = [stored for id in ids for stored in intake.find(tx, id) if stored.recipient == delivery.lane]
    if not all(lanes.may_read(delivery.lane, stored.event) for stored in mine):
        raise SinkGone(f"{delivery.lane!r} has another session now than the one that this is for")
    deliveries.dispatch(tx, delivery, ids, token=token, at=now)
    mine = [stored for id in ids for stored in intake.find(tx, id) if stored.recipient == delivery.lane]
    attempts = max((stored.attempts for stored in mine), default=delivery.attempt)
    return msgspec.structs.replace(delivery, attempt=max(attempts, delivery.attempt))


def _is_new(offered: Offered, dead: Set[str]) -> bool:
    """True for what is simply taken in: its recipient lives, and nobody can have sent it before."""
    event = offered.event
    return not event.id and event.traffic in DURABLE and event.traffic != "return" and offered.recipient not in dead


def _accept_new(tx: Transaction, lanes: Lanes, run: Sequence[Offered], now: Instant) -> list[Acceptance]:
    answers = intake.accept_new(tx, [(one.event, one.recipient, one.id) for one in run], now)
    for name in {one.recipient for one in run}:
        lanes.arrived(name)
    both = zip(answers, run, strict=True)
    return [msgspec.structs.replace(answer, recipient=one.recipient) for answer, one in both]


def _accept_each(tx: Transaction, lanes: Lanes, run: Sequence[Offered], now: Instant) -> list[Acceptance | TocsinError]:
    return [(_accept_for_the_dead if recipients.is_dead(tx, one.recipient) else _accept)(tx, lanes, one, now) for one in run]


def _accept(tx: Transaction, lanes: Lanes, offered: Offered, now: Instant) -> Acceptance | TocsinError:
    """An expected no is an answer, and the others of its group are taken all the same."""
    try:
        answer = intake.accept(tx, offered.event, recipient=offered.recipient, id=offered.id, at=now)
    except BadInput as error:
        return error
    if not answer.replayed:
        lanes.arrived(offered.recipient)
    return msgspec.structs.replace(answer, recipient=offered.recipient)


def _bells(tx: Transaction, lanes: Lanes, answers: Sequence[Acceptance | TocsinError]) -> frozenset[str]:
    fresh = {one.recipient for one in answers if isinstance(one, Acceptance) and not one.replayed and not one.verdict}
    found = [owners.owner_of(tx, name) for name in fresh - lanes.names]
    return frozenset(one[0].socket for one in found if one is not None and one[0].socket)


def _accept_for_the_dead(tx: Transaction, lanes: Lanes, offered: Offered, now: Instant) -> Acceptance | TocsinError:
    """Refused loudly, dropped on record, bounced or kept for all to see, as the class of the message has it."""
    match offered.event.traffic:
        case "notice":
            return _end_at_once(tx, offered, Verdict.DROP_DEAD, now)
        case "mail":
            bounced = msgspec.structs.replace(offered, recipient=recipients.coordinator(tx), id=offered.event.id or offered.id)
            _end_at_once(tx, offered, Verdict.REFUSE, now, note=f"bounced to {bounced.recipient}")
            return _accept(tx, lanes, bounced, now)
        case "return":
            return intake.accept(tx, offered.event, recipient=offered.recipient, id=offered.id, at=now)
        case _:
            return _refusal(tx, offered.recipient)


def _end_at_once(tx: Transaction, offered: Offered, verdict: Verdict, now: Instant, note: str = "") -> Acceptance:
    answer = intake.accept(tx, offered.event, recipient=offered.recipient, id=offered.id, at=now)
    outcome = Outcome(
        id=answer.id,
        recipient=offered.recipient,
        at=now,
        stage=Stage.INTAKE,
        verdict=verdict,
        reason=DeferReason.DEAD.value,
        note=note,
    )
    deliveries.settle(tx, [outcome], now)
    return msgspec.structs.replace(answer, verdict=str(verdict))


def _refusal(tx: Transaction, name: str) -> TocsinError:
    known = recipients.find(tx, name)
    here = ", ".join(sorted(one.name for one in recipients.every(tx) if one.life == "live"))
    there_are = f"recipients: {here}" if here else "no recipient is registered: start one with `tocsin run --as NAME -- CMD`"
    if known is None:
        return NoRecipient(f"nobody is called {name!r}; {there_are}")
    return RecipientDead(f"{name!r} is archived and will not read this; {there_are}")


def _take(
    tx: Transaction, lanes: Lanes, message: Take, owner: Owner, alive: Callable[[Owner, Instant], bool], now: Instant
) -> Taken | Owner:
    """The lane is ours, and the recipient lives; or who has it."""
    name = message.recipient.name
    other = owners.take(tx, name, owner, now, alive=alive)
    if other is not None:
        return other
    recipients.register(tx, msgspec.structs.replace(message.recipient, registered_at=now, changed_at=now))
    lanes.later(lambda: lanes.open(message.recipient, message.session))
    ledger.expire(tx, name, now, ledger.NOTICE_LEDGER_TTL)
    declared = ledger.declared(tx, name)
    ledger.forget(tx, name, Evidence(tx, name).over(declared))  # conditions that went away while nobody delivered
    if declared:
        lanes.later(lambda: lanes.watch(name))
    return Taken(ledger.announced(tx, name), waits.load(tx, name))


def _again(tx: Transaction, lanes: Lanes, message: Again, now: Instant) -> Event | None:
    """A dead letter of ours waits again, at its old place; of a recipient that is not named, the first there is."""
    for stored in intake.find(tx, message.id):
        ours = stored.recipient == (message.recipient or stored.recipient) and stored.recipient in lanes.names
        if ours and intake.retry(tx, stored.id, stored.recipient, now):
            return stored.event
    return None


def _of_this_process(tx: Transaction, outcome: Outcome) -> bool:
    """True if it ended here only because the program or the lane did, and its recipient is not dead."""
    ended_here = outcome.verdict in ENDS and outcome.reason in OF_THIS_PROCESS
    return ended_here and not recipients.is_dead(tx, outcome.recipient)


def _fail_block(tx: Transaction, outcome: Outcome, now: Instant) -> None:
    for stored in intake.find(tx, outcome.id):
        if stored.recipient == outcome.recipient and stored.delivery:
            deliveries.finish(tx, stored.delivery, State.FAILED, now)

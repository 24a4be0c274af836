"""Line: the seven stage actors, in order, and what each does with its stage's answers."""

from collections.abc import Sequence
from typing import Any

from ..contracts.base import Instant
from ..contracts.durable import DURABLE, Announced, Rearmed
from ..contracts.events import Event
from ..contracts.moves import (
    Announce,
    ClearScope,
    Disarm,
    Dropped,
    Kept,
    Lost,
    Missed,
    NoticesLost,
    NoticesTold,
    Rearm,
    Settled,
    Told,
    WakeLane,
    WakeScope,
)
from ..contracts.notices import Admission, Proposal
from ..contracts.signals import Cleared, RecipientDied, RecipientRevived
from ..contracts.verdicts import Stage
from ..pipeline.classify import Classify
from ..pipeline.dedup import Dedup
from ..pipeline.defer import Defer
from ..pipeline.fanout import Delivered, FanOut, Send
from ..pipeline.fingerprint import Fingerprint
from ..pipeline.hold import Hold
from ..pipeline.step import Step
from ..pipeline.throttle import Throttle
from .durable import Accept, Offered
from .intake import Door
from .messages import (
    Answer,
    Batch,
    CloseLane,
    Drain,
    Facts,
    Flush,
    Look,
    Moves,
    OpenLane,
    Over,
    Rearmer,
    Restate,
    ScopeFacts,
    Seed,
)
from .stage import Ref, StageActor


class ClassifyActor(StageActor[Classify]):
    """Events → notices."""

    name = Stage.CLASSIFY
    next: Ref

    def send(self, out: Sequence[Any], now: Instant) -> None:
        self.next.tell(Batch(out))

    def on_message(self, message: Any, now: Instant) -> Any:
        match message:
            case OpenLane():
                self.stage.open(message.spec)
            case CloseLane():
                self.stage.close(message.name)
                self.next.tell(message)
            case Facts(fact=RecipientDied() | RecipientRevived() as fact):
                self.call(lambda _: self.stage.observe(fact))
            case _:
                self.next.tell(message)


class FingerprintActor(StageActor[Fingerprint]):
    """Notices → notices with prints."""

    name = Stage.FINGERPRINT
    next: Ref

    def send(self, out: Sequence[Any], now: Instant) -> None:
        self.next.tell(Batch(out))

    def on_message(self, message: Any, now: Instant) -> Any:
        if isinstance(message, Facts) and isinstance(message.fact, Cleared):
            fact = message.fact
            message = Moves([Rearm(fact.lane, self.stage.print_of(fact.source, fact.scope, fact.key), fact.key)])
        self.next.tell(message)


class DedupActor(StageActor[Dedup]):
    """Notices → admissions; learns from the table what was told and what was lost."""

    name = Stage.DEDUP
    next: Ref
    journal: Ref | None = None
    """Where it is kept what was told, if anywhere."""

    def send(self, out: Sequence[Any], now: Instant) -> None:
        admissions = [move for move in out if isinstance(move, Admission)]
        if admissions:
            self.next.tell(Batch(admissions))
        if len(admissions) < len(out):
            self._send_moves(out)

    def _send_moves(self, out: Sequence[Any]) -> None:
        on = [move for move in out if isinstance(move, Rearm)]
        if on:
            self.next.tell(Moves(on))
        kept = [move for move in out if isinstance(move, Announce | Disarm)]
        if kept and self.journal is not None:
            self.journal.tell(Moves(kept))

    def on_message(self, message: Any, now: Instant) -> Any:
        match message:
            case Moves():
                for move in message.items:
                    self.call(lambda step, move=move: self._move(move, now, step))  # type: ignore[misc]
            case Rearmer():
                return self._rearm(message)
            case Seed():
                self.stage.seed(message.lane, message.told, now)
            case Over():
                self.call(lambda step: self.stage.over(message.lane, message.told, message.waiting, step))
            case Restate():
                self._send_moves([Announce(message.lane, one) for one in self.stage.told_of(message.lane)])
            case CloseLane():
                self.stage.close(message.name)
                self.next.tell(message)
            case _:
                self.next.tell(message)
        return None

    def look(self, look: Look) -> list[Announced]:
        """What the recipient of the lane in ``what`` was told by the harness, and what is not re-armed."""
        return self.stage.told_of(look.what)

    def _rearm(self, message: Rearmer) -> Rearmed:
        found: list[Rearmed] = []
        self.call(lambda step: found.append(self.stage.rearm_cleared(message.lane, message.kind, message.cleared, step)))
        return found[-1]

    def amend(self, amends: Dropped | Lost, now: Instant) -> None:
        """A poisoned notice was never admitted, so no table knows of it."""

    def _move(self, move: Told | Missed | Lost | NoticesTold | NoticesLost | Rearm, now: Instant, step: Step[Any]) -> None:
        match move:
            case Told():
                self.stage.told(move.lane, move.told, now)
            case Missed():
                self.stage.missed(move.lane, move.missed)
            case Lost():
                self.stage.lost(move.lane, move.fingerprints)
            case NoticesTold():
                self.stage.notices_told(move.lane, move.serials, now, step)
            case NoticesLost():
                self.stage.notices_lost(move.lane, move.serials)
            case Rearm():
                self.stage.rearm(move.lane, move.fingerprint, move.signature, step)


class ThrottleActor(StageActor[Throttle]):
    """Admissions → proposals; the gates' and the sink's answers come back here."""

    name = Stage.THROTTLE
    next: Ref
    dedup: Ref

    def send(self, out: Sequence[Any], now: Instant) -> None:
        back = [move for move in out if not isinstance(move, Proposal)]
        if back:
            self.dedup.tell(Moves(back))
        proposals = [move for move in out if isinstance(move, Proposal)]
        if proposals:
            self.next.tell(Batch(proposals))

    def tick(self, now: Instant, step: Step[Any]) -> None:
        self.stage.tick(now, step)

    def on_message(self, message: Any, now: Instant) -> Any:
        match message:
            case Moves():
                for move in message.items:
                    self.call(lambda step, move=move: self._move(move, now, step))  # type: ignore[misc]
            case ScopeFacts():
                self.next.tell(ScopeFacts(message.fact, self.stage.taken))
            case CloseLane():
                self.call(lambda step: self.stage.close(message.name, now, step))
            case Flush():
                self.call(lambda step: self.stage.flush(now, step))

    def _move(self, move: Any, now: Instant, step: Step[Any]) -> None:
        match move:
            case Kept():
                self.stage.kept(move, now, step)
            case Dropped():
                self.stage.dropped(move, now, step)
            case Settled():
                self.stage.settled(move, now, step)
            case WakeLane():
                self.stage.wake_lane(move.lane, now, step)
            case WakeScope():
                self.stage.wake_scope(move.scope, now, step)
            case ClearScope():
                self.stage.clear(move, now, step)
            case Rearm():
                self.stage.rearm(move, now, step)

    def look(self, look: Look) -> Any:
        return self.stage.view()


class _Gate(StageActor[Any]):
    """Hold and defer: proposals go on, answers go back to the table, and what they feed goes in at the door."""

    next: Ref
    throttle: Ref
    intake: Ref
    door: Door
    journal: Ref | None = None
    """The store's actor, if there is a store."""

    def send(self, out: Sequence[Any], now: Instant) -> None:
        fed = [item for item in out if isinstance(item, Event)]
        on = [item for item in out if isinstance(item, Proposal)]
        back = [item for item in out if not isinstance(item, Event | Proposal)]
        if back:
            self.throttle.tell(Moves(back))
        if on:
            self.next.tell(Batch(on))
        if fed:
            self._feed(fed)

    def _feed(self, events: list[Event]) -> None:
        """A finding of ours goes in at the door; mail that goes back is committed first, for whoever the coordinator is."""
        lasting = [event for event in events if event.traffic in DURABLE] if self.journal is not None else []
        if self.journal is not None and lasting:
            self.journal.tell(Accept([Offered(event, event.to or "", event.id) for event in lasting]))
        if passing := [event for event in events if event not in lasting]:
            self.door.put_from_within(passing)
            self.intake.tell(Drain())

    def tick(self, now: Instant, step: Step[Any]) -> None:
        self.stage.tick(now, step)


class HoldActor(_Gate):
    """Proposals wait for outages to end."""

    name = Stage.HOLD
    stage: Hold

    def on_message(self, message: Any, now: Instant) -> Any:
        if isinstance(message, ScopeFacts):
            self.call(lambda step: self.stage.observe(message.fact, message.upto, now, step))

    def look(self, look: Look) -> Any:
        return {scope: str(state) for scope, state in self.stage.states().items()}


class DeferActor(_Gate):
    """Proposals wait for their recipient to be free."""

    name = Stage.DEFER
    stage: Defer

    def on_message(self, message: Any, now: Instant) -> Any:
        match message:
            case Facts(fact=fact) if not isinstance(fact, Cleared):
                self.call(lambda step: self.stage.observe(fact, now, step))
            case OpenLane():
                self.stage.open(message.spec)
            case CloseLane():
                self.stage.close(message.name)

    def look(self, look: Look) -> Any:
        return self.stage.view(self.now())


class FanOutActor(StageActor[FanOut]):
    """Proposals → deliveries; the sinks' answers settle them."""

    name = Stage.FANOUT
    throttle: Ref
    sinks: Ref

    def send(self, out: Sequence[Any], now: Instant) -> None:
        for move in out:
            if isinstance(move, Send | Delivered):
                self.sinks.tell(move)
            else:
                self.throttle.tell(Moves([move]))

    def tick(self, now: Instant, step: Step[Any]) -> None:
        self.stage.tick(now, step)

    def on_message(self, message: Any, now: Instant) -> Any:
        if isinstance(message, Answer):
            self.call(lambda step: self._answered(message, now, step))

    def _answered(self, answer: Answer, now: Instant, step: Step[Any]) -> None:
        outcome = answer.outcome
        if isinstance(outcome, Exception):
            self.stage.failed(answer.lane, answer.delivery_id, outcome, now, step)
        else:
            self.stage.accepted(answer.lane, answer.delivery_id, outcome, now, step)

    def look(self, look: Look) -> Any:
        return {lane: delivery.id for lane, delivery in self.stage.flying().items()}

"""Tree: builds the line's actors and wires them, once. The same tree runs on a thread or is stepped by hand."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pykka

from ..contracts.durable import Announced, Rearmed
from ..contracts.errors import BadInput, NotRunning
from ..contracts.events import Event
from ..contracts.lanes import LaneSpec
from ..contracts.ports import Clock, Shelf, Sink
from ..contracts.status import Status
from ..contracts.verdicts import Decision
from ..pipeline.classify import Classify
from ..pipeline.dedup import Dedup
from ..pipeline.defer import Defer
from ..pipeline.fanout import FanOut
from ..pipeline.fingerprint import Fingerprint
from ..pipeline.hold import Hold
from ..pipeline.record import DeadLetter, Record
from ..pipeline.roster import Settings
from ..pipeline.throttle import Throttle
from .base import LineActor
from .dispatcher import Dispatcher
from .intake import Door, Fed, IntakeActor
from .line import (
    ClassifyActor,
    DedupActor,
    DeferActor,
    FanOutActor,
    FingerprintActor,
    HoldActor,
    ThrottleActor,
)
from .messages import CloseLane, Courier, Drain, Flush, Look, Observe, OpenLane, Rearmer, Seed
from .overview import OverviewActor
from .recorder import RecorderActor
from .sink import SinkActor
from .supervisor import Supervisor

PATIENCE = 10.0
"""Seconds that a question from outside may take."""


class Journal(Protocol):
    """The store's actor, as far as the line knows it."""

    @property
    def actor_ref(self) -> pykka.ActorRef[Any]: ...

    door: Door | None
    intake: pykka.ActorRef[Any] | None
    dedup: pykka.ActorRef[Any] | None


class Tree:
    """The actors of one line, and the few ways in which the world may touch them."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        courier: Courier,
        *,
        run: str = "t",
        spill: Sink | None = None,
        spill_dir: str = "",
    ) -> None:
        """``run`` names this run in every id; ``spill`` writes what was cut into ``spill_dir``."""
        self.patience = PATIENCE
        self.dispatcher = Dispatcher(clock)
        self.door = Door(settings.intake.limit)
        self.supervisor = Supervisor(self.door.close)
        on = (self.dispatcher, self.supervisor)
        self._recorder = RecorderActor.launch(*on, Record(settings.record, run))
        self._intake = IntakeActor.launch(*on, self.door)
        self._classify = ClassifyActor.launch(*on, Classify(settings.classify))
        self._fingerprint = FingerprintActor.launch(*on, Fingerprint(settings.fingerprint))
        self._dedup = DedupActor.launch(*on, Dedup(settings.dedup))
        self._throttle = ThrottleActor.launch(*on, Throttle(settings.throttle))
        self._hold = HoldActor.launch(*on, Hold(settings.hold))
        self._defer = DeferActor.launch(*on, Defer(settings.defer))
        self._fanout = FanOutActor.launch(*on, FanOut(settings.fanout, run, spill_dir))
        self._sinks = SinkActor.launch(*on, courier, spill)
        self._overview = OverviewActor.launch(*on)
        self._actors: tuple[LineActor, ...] = (
            self._intake, self._classify, self._fingerprint, self._dedup, self._throttle, self._hold, self._defer,
            self._fanout, self._sinks, self._recorder, self._overview,
        )  # fmt: skip
        self._wire()

    def _wire(self) -> None:
        """Each actor is told its neighbours before the first message; nobody looks one up later."""
        throttle, intake = self._throttle.actor_ref, self._intake.actor_ref
        self._intake.classify, self._intake.defer = self._classify.actor_ref, self._defer.actor_ref
        self._classify.next = self._fingerprint.actor_ref
        self._fingerprint.next = self._dedup.actor_ref
        self._dedup.next = throttle
        self._throttle.next, self._throttle.dedup = self._hold.actor_ref, self._dedup.actor_ref
        self._hold.next, self._defer.next = self._defer.actor_ref, self._fanout.actor_ref
        for gate in (self._hold, self._defer):
            gate.throttle, gate.intake, gate.door = throttle, intake, self.door
        self._fanout.throttle, self._fanout.sinks = throttle, self._sinks.actor_ref
        self._sinks.fanout = self._fanout.actor_ref
        self._overview.door, self._overview.records = self.door, self._recorder
        self._overview.throttle, self._overview.hold = self._throttle, self._hold
        self._overview.defer, self._overview.fanout = self._defer, self._fanout
        for actor in self._actors:
            actor.recorder = self._recorder.actor_ref

    def remember(self, journal: Journal) -> None:
        """Tell the store's actor every decision over durable messages, and let it bring in what waits."""
        ref = journal.actor_ref
        self._recorder.journal = self._dedup.journal = self._sinks.journal = ref
        for gate in (self._hold, self._defer):
            gate.journal = ref
        journal.door, journal.intake, journal.dedup = self.door, self._intake.actor_ref, self._dedup.actor_ref

    def bring(self, event: Event) -> None:
        """Let in what the store holds already."""
        self.door.put_from_within([event])
        self._intake.actor_ref.tell(Drain())

    def seed(self, name: str, announced: Sequence[Announced]) -> None:
        """What its recipient was told before, by whatever process, and what is not re-armed."""
        self.ask(self._dedup, Seed(name, announced))

    def rearm(self, name: str, kind: str, cleared: Callable[[str, tuple[str, ...]], bool]) -> Rearmed:
        """The conditions for which ``cleared`` (signature, ctx) is true are gone."""
        found: Rearmed = self.ask(self._dedup, Rearmer(name, kind, cleared))
        return found

    def feed(self, items: Sequence[Fed], *, wait: bool = True, timeout: float | None = None) -> None:
        """In at the door; the only way in. Raises ``Backpressure``, or ``NotRunning`` if the line was stopped or gave up."""
        if items and self.door.put(items, wait=wait and not self.dispatcher.here(), timeout=timeout):
            self._intake.actor_ref.tell(Drain())

    def open_lane(self, spec: LaneSpec, sink: Sink | Shelf) -> None:
        """A recipient is here, before this returns."""
        message = OpenLane(spec, sink)
        for actor in (self._sinks, self._defer, self._classify):
            self.ask(actor, message)

    def close_lane(self, name: str) -> None:
        """It is no more: what is pending for it is dropped, on record."""
        for actor in (self._classify, self._defer, self._sinks):
            self.ask(actor, CloseLane(name))

    def observe(self, name: str, sink: Sink | Shelf) -> None:
        """One more sees what is delivered."""
        self.ask(self._sinks, Observe(name, sink))

    def flush(self) -> None:
        """Propose everything now that only waits for its batch."""
        self.ask(self._throttle, Flush())

    def arriving(self) -> int:
        """What still waits at the door, once the stages have nothing else to do."""
        return int(self.ask(self._intake, Look()))

    def quiesce(self) -> None:
        """Return when everything that was fed before has been decided, as far as it can be at this moment."""
        while self.arriving() and not self.supervisor.broken:
            pass

    def busy(self) -> bool:
        """True while something is at the door, between the stages, or on its way to a sink or an observer.

        A sink's answer may just have come and the next proposal not be there yet: so only two looks with quiet stages and
        no decision in between tell that nothing moves any more.
        """
        before = self._decided()
        if self.ask(self._fanout, Look()) or self.ask(self._sinks, Look("busy")):
            return True
        return bool(self.arriving()) or self._decided() != before

    def explain(self, what: str) -> list[Decision]:
        """The story of a notice (by id) or of an episode (by fingerprint)."""
        found: list[Decision] = self.ask(self._recorder, Look(what))
        return found

    def decisions(self, after: int = 0) -> tuple[list[Decision], int]:
        """The decisions since ``after``, and what to ask after next."""
        found: tuple[list[Decision], int] = self.ask(self._recorder, Look("decisions", after))
        return found

    def dead_letters(self) -> list[DeadLetter]:
        """What could not be told."""
        found: list[DeadLetter] = self.ask(self._recorder, Look("dead_letters"))
        return found

    def _decided(self) -> int:
        return self.decisions(after=1 << 62)[1]

    def status(self) -> Status:
        """The whole line at one instant: no notice is seen in two places, or in none."""
        found: Status = self.ask(self._overview, Look())
        return found

    def ask(self, actor: LineActor, message: object) -> Any:
        """Ask from outside. On a line that is stepped by hand, the asker does the stepping; one that ended only answers."""
        if self.dispatcher.here():
            raise BadInput("a shelf runs on the stage thread, so it can't ask the line: nobody would be there to answer")
        if self.dispatcher.ended:
            return actor.on_receive(message)
        future = actor.actor_ref.ask(message, block=False)
        if not self.dispatcher.threaded:
            self.dispatcher.run_until_idle()
        try:
            return future.get(timeout=self.patience)
        except pykka.Timeout as error:
            raise NotRunning(f"the stages have not answered for {self.patience:g} s; a shelf must never block") from error

    def close_door(self) -> None:
        """Nothing more is let in; what is in goes its way."""
        self.door.close("the line has been stopped")

    def stop(self, grace: float) -> bool:
        """End the stages, for good. True if they ended within ``grace`` seconds."""
        self.close_door()
        ended = self.dispatcher.stop(grace)
        for actor in self._actors:
            pykka.ActorRegistry.unregister(actor.actor_ref)
        return ended

"""Intake: the bounded door of the line. Events may be shed, and are counted; a person's or an agent's words never are."""

import threading
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import pykka

from ..contracts.base import Instant
from ..contracts.errors import Backpressure
from ..contracts.events import Event
from ..contracts.notices import Notice
from ..contracts.severity import LEVELS, Severity
from ..contracts.signals import Cleared, LaneFact, RecipientDied, RecipientRevived, ScopeSignal, Signal
from ..contracts.verdicts import Ruling, Stage, Verdict
from .base import LineActor
from .dispatcher import Dispatcher
from .messages import Batch, Drain, Facts, Look, ScopeFacts
from .supervisor import Supervisor

CHUNK = 256
"""Events that go down the line together: small enough that a person's word passes a burst in a few milliseconds."""

_traffic = attrgetter("traffic")
_severity = attrgetter("severity")

Fed = Event | Signal


class Door:
    """The two queues, filled from any thread and emptied by the intake actor. The protected one goes first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._room = threading.Condition(self._lock)
        self._events: deque[Fed] = deque()
        self._words: deque[Fed] = deque()
        self._shed: list[Event] = []
        self._skip = [0] * len(Severity)
        """So many of the oldest events of each severity will be passed over: shedding costs nothing while it floods."""
        self.high_water = 0

    def put(self, items: Sequence[Fed], *, wait: bool, timeout: float | None = None) -> bool:
        """Take events and signals in. True if the door was empty, so that the intake has to be told."""
        events, words = _apart(items)
        with self._room:
            while words and len(self._words) + len(words) > self._limit:
                if not wait or not self._room.wait(timeout):
                    raise Backpressure(f"{len(self._words)} messages wait already; try again, or feed with wait=True")
            was_empty = not (self._events or self._words or self._shed)
            self._words.extend(words)
            self._take_events(events)
            self.high_water = max(self.high_water, self.depth())
        return was_empty

    def take(self, most: int) -> tuple[list[Fed], list[Event]]:
        """The next chunk, protected ones first, and what was shed since the last one."""
        with self._room:
            chunk = [self._words.popleft() for _ in range(min(most, len(self._words)))]
            shed, self._shed = self._shed, []
            events = self._events
            skip = self._skip if any(self._skip) else None
            while events and len(chunk) < most:
                item = events.popleft()
                if skip and isinstance(item, Event) and skip[LEVELS[item.severity]]:
                    skip[LEVELS[item.severity]] -= 1
                    shed.append(item)
                else:
                    chunk.append(item)
            self._room.notify_all()
        return chunk, shed

    def depth(self) -> int:
        """What waits here, without what will be passed over."""
        return len(self._events) + len(self._words) - sum(self._skip)

    def empty(self) -> bool:
        """True if nothing is left to take."""
        return not (self._events or self._words or self._shed)

    def _take_events(self, events: Sequence[Fed]) -> None:
        over = len(self._events) - sum(self._skip) + len(events) - self._limit
        if over <= 0:
            self._events.extend(events)
            return
        self._events.extend(events)
        standing = Counter(map(_severity, (item for item in self._events if isinstance(item, Event))))
        for name, level in LEVELS.items():  # lowest severity first
            turned_away = min(over, standing[name] - self._skip[level])
            self._skip[level] += max(0, turned_away)
            over -= max(0, turned_away)
        if sum(self._skip) > self._limit:  # twice the bound in memory is enough: pass over now what is to be passed over
            self._sweep()

    def _sweep(self) -> None:
        kept: deque[Fed] = deque()
        for item in self._events:
            if isinstance(item, Event) and self._skip[LEVELS[item.severity]]:
                self._skip[LEVELS[item.severity]] -= 1
                self._shed.append(item)
            else:
                kept.append(item)
        self._events = kept


def _apart(items: Sequence[Fed]) -> tuple[Sequence[Fed], Sequence[Fed]]:
    """Events and scope signals keep their order among themselves; everything else goes by the protected queue."""
    if set(map(type, items)) == {Event} and set(map(_traffic, items)) == {"event"}:
        return items, ()
    events = [i for i in items if isinstance(i, ScopeSignal) or (isinstance(i, Event) and i.traffic == "event")]
    return events, [i for i in items if not (isinstance(i, ScopeSignal) or (isinstance(i, Event) and i.traffic == "event"))]


class IntakeActor(LineActor):
    """Empties the door chunk by chunk, whenever nobody else on the line has anything to do."""

    lazy = True
    classify: pykka.ActorRef[Any]
    defer: pykka.ActorRef[Any]

    def __init__(self, dispatcher: Dispatcher, supervisor: Supervisor, door: Door) -> None:
        super().__init__(dispatcher, supervisor)
        self.door = door

    def on_receive(self, message: object) -> int | None:
        """Told to drain, or asked what still waits here: a question that is only answered when the stages are quiet."""
        if isinstance(message, Look):
            return self.door.depth()
        self._drain()
        return None

    def _drain(self) -> None:
        chunk, shed = self.door.take(CHUNK)
        self._record_shed(shed)
        self._send(chunk)
        if not self.door.empty():
            self.actor_ref.tell(Drain())

    def _send(self, chunk: Iterable[Fed]) -> None:
        """Runs of events go together; a signal stands where it stood among them."""
        run: list[Event] = []
        for item in chunk:
            if isinstance(item, Event):
                run.append(item)
                continue
            self._send_events(run)
            run = []
            self._send_signal(item)
        self._send_events(run)

    def _send_events(self, run: list[Event]) -> None:
        if run:
            self.classify.tell(Batch(run))

    def _send_signal(self, signal: Signal) -> None:
        if isinstance(signal, ScopeSignal):
            self.classify.tell(ScopeFacts(signal))
            return
        fact: LaneFact = signal
        if isinstance(fact, Cleared | RecipientDied | RecipientRevived):
            self.classify.tell(Facts(fact))
        if not isinstance(fact, Cleared):
            self.defer.tell(Facts(fact))

    def _record_shed(self, shed: list[Event]) -> None:
        if shed:
            now: Instant = self.now()
            notices = [Notice(0, event, event.to or "", LEVELS[event.severity], now) for event in shed]
            self.record([Ruling(now, Stage.INTAKE, Verdict.SHED, "door_full", notices)])

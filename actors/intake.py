"""Intake: the bounded door of the line. Events may be shed, and are counted; a person's or an agent's words never are."""

import threading
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import pykka

from ..contracts.base import Instant
from ..contracts.errors import Backpressure, NotRunning
from ..contracts.events import Event
from ..contracts.notices import Notice
from ..contracts.severity import LEVELS, Severity
from ..contracts.signals import Cleared, LaneFact, RecipientDied, RecipientRevived, ScopeFact, ScopeSignal, Signal
from ..contracts.verdicts import Ruling, Stage, Verdict
from .base import LineActor
from .dispatcher import Dispatcher
from .messages import Batch, Drain, Facts, Look, ScopeFacts
from .supervisor import Supervisor

CHUNK = 512
"""Events that go down the line together: small enough that a person's word passes a burst in a few milliseconds."""

_traffic = attrgetter("traffic")
_severity = attrgetter("severity")

Fed = Event | Signal
Run = list[Event]
"""Events of class ``event`` that were fed one after the other."""


class Door:
    """The two queues, filled from any thread and emptied by the intake actor. The protected one goes first.

    Events stand in runs, because what is done once per run is not done once per event.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._room = threading.Condition()
        self._runs: deque[Run | ScopeFact] = deque()
        self._waiting = 0
        """Events in the runs."""
        self._words: deque[Fed] = deque()
        self._shed: Run = []
        self._closed = ""
        self.high_water = 0

    def put(self, items: Sequence[Fed], *, wait: bool, timeout: float | None = None) -> bool:
        """Take events and signals in. True if the door was empty, so that the intake has to be told.

        More words than the door holds are let in when no others wait. Raises ``Backpressure``, or ``NotRunning`` once it is
        closed, also to those who wait at that moment; then none of ``items`` is in.
        """
        runs, words = _apart(items)
        with self._room:
            if words and not self._room.wait_for(lambda: self._has_room(len(words)), timeout if wait else 0):
                raise Backpressure(f"{len(self._words)} messages wait already; try again, or feed with wait=True")
            if self._closed:
                raise NotRunning(self._closed)
            return self._let_in(runs, words)

    def put_from_within(self, items: Sequence[Fed]) -> None:
        """Take in what the line itself made of something that it had taken before: it never waits, and is never refused."""
        runs, words = _apart(items)
        with self._room:
            self._let_in(runs, words)

    def close(self, why: str) -> None:
        """From now on nothing is taken in from outside; what is in can still be taken out."""
        with self._room:
            self._closed = why
            self._room.notify_all()

    def take(self, most: int) -> tuple[list[Run | Fed], Run]:
        """The next chunk, protected ones first, and what was shed since the last one."""
        with self._room:
            chunk: list[Run | Fed] = [self._words.popleft() for _ in range(min(most, len(self._words)))]
            room = most - len(chunk)
            while self._runs and room > 0:
                run = self._runs.popleft()
                if isinstance(run, list) and len(run) > room:
                    self._runs.appendleft(run[room:])
                    run = run[:room]
                chunk.append(run)
                taken = len(run) if isinstance(run, list) else 0
                self._waiting -= taken
                room -= max(1, taken)
            shed, self._shed = self._shed, []
            self._room.notify_all()
        return chunk, shed

    def depth(self) -> int:
        """What waits here."""
        return self._waiting + len(self._words)

    def empty(self) -> bool:
        """True if nothing is left to take."""
        return not (self._runs or self._words or self._shed)

    def _has_room(self, more: int) -> bool:
        return not self._words or len(self._words) + more <= self._limit or bool(self._closed)

    def _let_in(self, runs: Sequence[Run | ScopeFact], words: Sequence[Fed]) -> bool:
        was_empty = self.empty()
        self._words.extend(words)
        self._runs.extend(runs)
        self._waiting += sum(len(run) for run in runs if isinstance(run, list))
        if self._waiting > self._limit:
            self._turn_away(self._waiting - self._limit)
        self.high_water = max(self.high_water, self.depth())
        return was_empty

    def _turn_away(self, over: int) -> None:
        """Shed so many: the oldest of the lowest severity; of that one some more, so that a flood pays for this rarely."""
        standing = Counter(severity for run in self._runs if isinstance(run, list) for severity in map(_severity, run))
        spare = self._limit // 16
        quota: dict[str, int] = {}
        for name in sorted(standing, key=_rank):
            quota[name] = min(over + spare, standing[name])
            over, spare = max(0, over - quota[name]), 0
        self._runs = deque(kept for run in self._runs if (kept := self._sift(run, quota)))
        self._waiting = sum(len(run) for run in self._runs if isinstance(run, list))

    def _sift(self, run: Run | ScopeFact, quota: dict[str, int]) -> Run | ScopeFact:
        if not isinstance(run, list):
            return run
        kept: Run = []
        for event in run:
            if quota[event.severity]:
                quota[event.severity] -= 1
                self._shed.append(event)
            else:
                kept.append(event)
        return kept


def _rank(severity: str) -> Severity:
    """A word that is no severity counts least here; its event is put aside at the first stage."""
    return LEVELS.get(severity, Severity.INFO)


def _apart(items: Sequence[Fed]) -> tuple[list[Run | ScopeFact], list[Fed]]:
    """Events and scope signals keep their order among themselves; everything else goes by the protected queue."""
    if set(map(type, items)) == {Event} and set(map(_traffic, items)) == {"event"}:
        return [list(items)], []  # type: ignore[arg-type]
    runs: list[Run | ScopeFact] = []
    words: list[Fed] = []
    for item in items:
        if isinstance(item, ScopeSignal):
            runs.append(item)
        elif not (isinstance(item, Event) and item.traffic == "event"):
            words.append(item)
        elif runs and isinstance(runs[-1], list):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs, words


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

    def recover(self) -> None:
        """What is still at the door is to be fetched all the same, or nobody would ever be told to."""
        if not (self.door.empty() or self.supervisor.broken):
            self.actor_ref.tell(Drain())

    def _drain(self) -> None:
        chunk, shed = self.door.take(CHUNK)
        self._record_shed(shed)
        self._send(chunk)
        if not self.door.empty():
            self.actor_ref.tell(Drain())

    def _send(self, chunk: Iterable[Run | Fed]) -> None:
        """All runs go together, and all words, but for the signals among them, which stand where they stood."""
        words: Run = []
        run: Run = []
        for item in chunk:
            if isinstance(item, list):
                run += item
            elif isinstance(item, Event):
                words.append(item)
            else:
                self._send_events(words)
                self._send_events(run)
                words, run = [], []
                self._send_signal(item)
        self._send_events(words)
        self._send_events(run)

    def _send_events(self, run: Run) -> None:
        if run:
            self.classify.tell(Batch(run))

    def _send_signal(self, signal: Signal) -> None:
        if isinstance(signal, ScopeSignal):
            self.classify.tell(ScopeFacts(signal))
            return
        fact: LaneFact | Cleared = signal
        if isinstance(fact, Cleared | RecipientDied | RecipientRevived):
            self.classify.tell(Facts(fact))
        if not isinstance(fact, Cleared):
            self.defer.tell(Facts(fact))

    def _record_shed(self, shed: list[Event]) -> None:
        if shed:
            now: Instant = self.now()
            notices = [Notice(0, event, event.to or "", _rank(event.severity), now) for event in shed]
            self.record([Ruling(now, Stage.INTAKE, Verdict.SHED, "door_full", notices)])

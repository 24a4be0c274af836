"""Stage actors: each moves its stage's answers to who needs them. They decide nothing."""

from collections.abc import Callable, Sequence
from operator import length_hint
from typing import Any, Generic, Protocol, TypeVar

import pykka

from ..contracts.base import Instant
from ..contracts.moves import Dropped, Lost
from ..contracts.notices import Notice
from ..contracts.verdicts import Ruling, Stage, Verdict
from ..pipeline.step import Step
from . import isolate
from .base import LineActor, trace_of
from .dispatcher import Dispatcher
from .messages import Batch, Look, Tick
from .supervisor import Supervisor


class Layer(Protocol):
    """What every stage can do, as far as its actor is concerned."""

    def offer(self, batch: Any, now: Instant, step: Step[Any], /) -> None: ...
    def decided(self, consumed: int, step: Step[Any]) -> int: ...
    def due(self) -> Instant | None: ...
    def snapshot(self) -> bytes: ...
    @classmethod
    def restore(cls, snapshot: bytes) -> Any: ...


S = TypeVar("S", bound=Layer)
Ref = pykka.ActorRef[Any]


class StageActor(LineActor, Generic[S]):
    """Drives one stage: batches in, its Step out; a poisoned input is taken out, put aside, and the rest goes on."""

    name: Stage

    def __init__(self, dispatcher: Dispatcher, supervisor: Supervisor, stage: S) -> None:
        super().__init__(dispatcher, supervisor)
        self.stage = stage
        self._due: Instant | None = None

    def due(self) -> Instant | None:
        """When the stage wants to be woken; never again once the line gave up, or a tick that raises would raise for ever."""
        return None if self.supervisor.broken else self._due

    def on_receive(self, message: Any) -> Any:
        """Batches are offered, ticks passed on, everything else is the concrete actor's."""
        answer = None
        match message:
            case Batch():
                self._offer(message.items, self.now())
            case Tick():
                now = self.now()
                self.call(lambda step: self.tick(now, step))
            case Look():
                return self.look(message)
            case _:
                answer = self.on_message(message, self.now())
        self._due = self.stage.due()
        return answer

    def tick(self, now: Instant, step: Step[Any]) -> None:
        """Time passed; stages that never ask for it are never told."""

    def on_message(self, message: Any, now: Instant) -> Any:
        """What only this actor understands."""
        raise TypeError(f"{type(self).__name__} does not understand {message!r}")

    def look(self, look: Look) -> Any:
        """What may be seen from outside."""
        return None

    def send(self, out: Sequence[Any], now: Instant) -> None:
        """Move what the stage put out."""
        raise TypeError(f"{type(self).__name__} sends nothing on")

    def call(self, what: Callable[[Step[Any]], None]) -> None:
        """Let the stage do something that is no offer; what it decided before a fault still counts.

        After a fault it is restarted with its state and does it once more, so that a passing fault loses no answer.
        """
        error = self._step(what)
        if error is None:
            return
        self.caught(self.recover)
        again = self._step(what)
        if again is not None:
            raise again
        self.supervisor.fault(type(self).__name__, trace_of(error), self.now())

    def _step(self, what: Callable[[Step[Any]], None]) -> Exception | None:
        step: Step[Any] = Step()
        error = self.caught(lambda: what(step))
        self._hand_over(step)
        return error

    def recover(self) -> None:
        """Restart the stage with its state, rebuilt from a snapshot of itself."""
        self.stage = type(self.stage).restore(self.stage.snapshot())
        self._due = self.stage.due()

    def _hand_over(self, step: Step[Any]) -> None:
        self.record(step.rulings)
        if step.out:
            self.send(step.out, self.now())

    def _offer(self, items: Sequence[Any], now: Instant) -> None:
        error, done = self._try(items, now)
        while error is not None:
            items = items[done:]
            alone, _ = self._try(items[:1], now)
            if alone is not None:
                self._take_out(items[0], alone, now)
            items = items[1:]
            error, done = self._try(items, now) if items else (None, 0)

    def _try(self, items: Sequence[Any], now: Instant) -> tuple[Exception | None, int]:
        """Offer them; on a fault, how many were decided before it. A list's iterator knows how far it was read."""
        step: Step[Any] = Step()
        rest = iter(list(items))
        error = self.caught(lambda: self.stage.offer(rest, now, step))
        done = len(items)
        if error is not None:
            done = min(self.stage.decided(len(items) - length_hint(rest), step), max(0, len(items) - 1))
        self._hand_over(step)
        return error, done

    def _take_out(self, item: isolate.Input, error: Exception, now: Instant) -> None:
        """Find the notice to blame on a copy of the stage, put it aside with the traceback, offer what is left."""
        copy = self.stage.snapshot()

        def raises(part: Any) -> bool:
            probe = type(self.stage).restore(copy)
            return self.caught(lambda: probe.offer(iter([part]), now, Step())) is not None

        bad = isolate.culprits(item, raises, now)
        if not bad:  # repeats counted onto an entry: they are on record as folded, so only the fault is to be told
            self.restart(error)
            return
        self._put_aside(item, bad, error, now)
        left = isolate.without(item, bad)
        if left is not None:
            again, _ = self._try([left], now)
            if again is not None:
                self._put_aside(left, isolate.notices(left, now), again, now)

    def _put_aside(self, item: isolate.Input, bad: list[Notice], error: Exception, now: Instant) -> None:
        reason = f"{type(error).__name__}"
        self.record([Ruling(now, self.name, Verdict.DEAD_LETTER, reason, bad, None, trace_of(error))])
        amends = isolate.amends(item, bad)
        if amends is not None:
            self.amend(amends, now)

    def amend(self, amends: Dropped | Lost, now: Instant) -> None:
        """Tell the stage that keeps the table of what was put aside here."""
        self.send([amends], now)

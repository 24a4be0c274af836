"""Line under test: the whole line with its seven actors on their thread, a recipient that takes everything, no waiting."""

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

from tocsin.actors.tree import Tree
from tocsin.contracts.base import Instant, Record
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.contracts.status import Status
from tocsin.edges.clock import SteadyClock
from tocsin.pipeline.roster import Settings

W = TypeVar("W")

_ACCEPTED = Receipt(proof=Proof.RECORDED)
SLICE = 50_000
"""Events that are made, outside the measured time, and then go through at once: half of what the door holds."""


class SkippingClock(SteadyClock):
    """Real time, plus what was skipped: waiting for a window to end is not work."""

    def __init__(self) -> None:
        super().__init__()
        self._skipped = 0
        self._stopped_at: Instant | None = None

    def now(self) -> Instant:
        return self._stopped_at or Instant(super().now() + self._skipped)

    def stand_still(self) -> None:
        """No window ends until ``go_on``."""
        self._stopped_at = self.now()

    def go_on(self) -> None:
        """Time passes again."""
        self._stopped_at = None

    def skip_to(self, at: Instant) -> None:
        """Be there now. Never back."""
        self._skipped += max(0, at - self.now())


class Box:
    """The recipient: takes every block at once and only counts."""

    def __init__(self) -> None:
        self.blocks = self.entries = 0

    def put(self, delivery: Delivery) -> Receipt:
        self.blocks += 1
        self.entries += len(delivery.entries)
        return _ACCEPTED


class _NoCourier:
    """Every sink here answers at once, so nothing is ever carried."""

    def carry(self, *_: object) -> NoReturn:
        raise RuntimeError("a benchmark's sink is a shelf; nothing is to be carried")


class LineUnderTest:
    """One line, on its own thread unless it is to be stepped by hand. Use it in a ``with`` statement."""

    def __init__(self, settings: Settings | None = None, lanes: Sequence[str] = ("dev",), *, threaded: bool = True) -> None:
        self.clock, self.box = SkippingClock(), Box()
        self.tree = Tree(settings or Settings(), self.clock, _NoCourier())
        if threaded:
            self.tree.dispatcher.start()
        for lane in lanes:
            self.tree.open_lane(LaneSpec(name=lane), self.box)

    def __enter__(self) -> "LineUnderTest":
        return self

    def __exit__(self, *_: object) -> None:
        self.tree.stop(5)

    def decide(self, parts: Sequence[Sequence[Event]]) -> None:
        """Feed the lists one after the other; return when all of it is decided."""
        for part in parts:
            self.tree.feed(part)
        self.tree.quiesce()

    def finish(self) -> Status:
        """Skip from window to window until nothing is pending: the last delivery has been made."""
        while (status := self.tree.status()).pending:
            if (due := self.tree.dispatcher.next_due()) is not None:
                self.clock.skip_to(due)
                self.tree.dispatcher.nudge()
        return status


class Spent(Record, frozen=True, kw_only=True):
    """Seconds by the clock, and of processor time in all threads of this process."""

    seconds: float = 0.0
    cpu: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(seconds=self.seconds + other.seconds, cpu=self.cpu + other.cpu)


class Race(Record, frozen=True, kw_only=True):
    """What both took for the same work, and what the line did with it."""

    events: int
    line: "Spent"
    bare: "Spent"
    blocks: int
    status: Status

    @property
    def ratio(self) -> float:
        """How many times as fast as the bare loop the line was."""
        return self.bare.seconds / self.line.seconds

    @property
    def cpu_ratio(self) -> float:
        """The same in processor time, which other programs on the machine disturb less."""
        return self.bare.cpu / self.line.cpu


class Side(NamedTuple, Generic[W]):
    """One competitor: ``make(count, first)`` makes its part of the work, outside the measured time; ``go`` is measured."""

    make: Callable[[int, int], W]
    go: Callable[[W], object]


def race(count: int, line: LineUnderTest, through: Side[Any], bare: Side[Any]) -> Race:
    """Send ``count`` events through both, slice by slice in turn, so that what disturbs the machine disturbs both alike."""
    spent = {through: Spent(), bare: Spent()}
    for nth, first in enumerate(range(0, count, SLICE)):
        for side in (through, bare) if nth % 2 else (bare, through):
            work = side.make(min(SLICE, count - first), first)
            spent[side] += timed(lambda side=side, work=work: side.go(work))  # type: ignore[misc]
    spent[through] += timed(line.finish)
    status = line.tree.status()
    balance(status, count)
    return Race(events=count, line=spent[through], bare=spent[bare], blocks=line.box.blocks, status=status)


def timed(work: Callable[[], object]) -> Spent:
    """What it takes. Garbage that others left is collected before."""
    gc.collect()
    began, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(seconds=time.perf_counter() - began, cpu=time.process_time() - cpu)


def balance(status: Status, fed: int) -> None:
    """Nothing lost, nothing invented: ``fed = delivered + folded + dropped + pending``, exactly. Ends the benchmark if not."""
    told = status.delivered + status.folded + sum(status.dropped.values()) + status.pending
    if not fed == status.fed == told or status.restarts or status.dead_letters or status.dropped.get("shed"):
        raise SystemExit(f"the counts do not balance: fed {fed}, taken {status.fed}, accounted for {told}; {status}")

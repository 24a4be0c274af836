"""Clocks: a trial on a line that is stepped by hand, where a day takes seconds, or on threads in real time."""

import threading
import time
from collections.abc import Callable
from typing import NoReturn

from ..actors.tree import Tree
from ..contracts.base import Instant, Millis
from ..contracts.events import Event
from ..contracts.lanes import LaneSpec
from ..contracts.ports import Clock
from ..contracts.signals import Signal
from ..edges.clock import SteadyClock
from .bench_trial import Box, ClockKind, Outcome, Plan, Sample, counts, depth, faults

Progress = Callable[[int], object]
"""Told how many events were offered since the last call."""

_START = Instant(1_900_000_000_000)
"""When simulated trials begin: a fixed moment, so that the same seed gives the same times in every block."""
_PULSE = 0.005
"""Seconds between two looks of a producer in real time: what is due by then is fed together."""


class _NoCourier:
    """A trial's only sink answers at once, so nothing is ever carried."""

    def carry(self, *_: object) -> NoReturn:
        raise RuntimeError("a trial's sink is a shelf; nothing is to be carried")


class _Trial:
    """The line, its recipients, and the samples so far."""

    def __init__(self, plan: Plan, clock: Clock) -> None:
        self.plan, self.clock, self.box = plan, clock, Box()
        self.tree = Tree(plan.settings, clock, _NoCourier())
        self.samples: list[Sample] = []
        self.offered = 0
        self._began = time.perf_counter()

    def open_lanes(self) -> None:
        for name in self.plan.lane_names():
            self.tree.open_lane(LaneSpec(name=name), self.box)

    def feed(self, items: list[Event | Signal], progress: Progress) -> None:
        offered = sum(isinstance(item, Event) for item in items)
        self.offered += offered
        self.tree.feed(items)
        progress(offered)

    def sample(self, after: int) -> None:
        """How things stand; what was seen at the same moment before does not count any more."""
        status = self.tree.status()
        if self.samples and self.samples[-1].after == after:
            self.samples.pop()
        so_far = counts(status, self.offered, len(self.box.blocks))
        self.samples.append(Sample(after=Millis(after), so_far=so_far, pending=depth(status)))

    def outcome(self, clock: ClockKind, began: Instant) -> Outcome:
        status = self.tree.status()
        return Outcome(
            plan=self.plan,
            clock=clock,
            samples=tuple(self.samples),
            blocks=tuple((Millis(at - began), entries) for at, entries in self.box.blocks),
            waits=tuple(sorted(self.box.waits)),
            own=status.fed + status.at_the_door - self.offered,
            seconds=time.perf_counter() - self._began,
            faults=faults(status, self.samples[-1].so_far, self.box, self.plan.lane_names()),
        )


class _StepClock:
    def __init__(self) -> None:
        self.at = _START

    def now(self) -> Instant:
        return self.at


def simulated(plan: Plan, progress: Progress) -> Outcome:
    """Send the burst through a line for which time passes only between its steps: nothing is ever too fast for it."""
    clock = _StepClock()
    trial = _Trial(plan, clock)
    trial.open_lanes()
    stepper = _Stepper(trial, clock)
    now, items = 0, list[Event | Signal]()
    for at, item in plan.items():
        if at != now and items:
            stepper.feed(now, items, progress)
            items = []
        now = at
        items.append(item)
    stepper.feed(now, items, progress)
    stepper.advance(plan.burst.length)
    stepper.drain()
    trial.tree.stop(0)
    return trial.outcome("simulated", _START)


class _Stepper:
    """Moves the clock from one moment at which something happens to the next, and takes the samples on the way."""

    def __init__(self, trial: _Trial, clock: _StepClock) -> None:
        self._trial, self._clock = trial, clock
        self._dispatcher = trial.tree.dispatcher
        self._step = self._edge = trial.plan.step()

    def feed(self, at: int, items: list[Event | Signal], progress: Progress) -> None:
        self.advance(at)
        if items:
            self._trial.feed(items, progress)
        self._dispatcher.run_until_idle()

    def advance(self, to: int) -> None:
        """Run everything that is due until then."""
        while (due := self._dispatcher.next_due()) is not None and due <= _START + to:
            self._move(due - _START)
            self._dispatcher.run_until_idle()
        self._move(to)

    def drain(self) -> None:
        """Go on until nothing is pending, or nobody will ever be due, or the tail is over."""
        last = self._trial.plan.burst.length + self._trial.plan.tail
        while depth(self._trial.tree.status()):
            due = self._dispatcher.next_due()
            if due is None or due > _START + last:
                break
            self.advance(due - _START)
        self._trial.sample(self._clock.at - _START)

    def _move(self, to: int) -> None:
        """Between two moments nothing changes, so the sample at an edge may be taken late: it is before what happens there."""
        while self._edge <= to:
            self._trial.sample(self._edge)
            self._edge = Millis(self._edge + self._step)
        self._clock.at = Instant(max(self._clock.at, _START + to))


def real(plan: Plan, progress: Progress) -> Outcome:
    """Send the burst through a line on its own thread, in real time: what is too fast for it is shed."""
    clock = SteadyClock()
    trial = _Trial(plan, clock)
    trial.tree.dispatcher.start()
    try:
        trial.open_lanes()
        began = clock.now()
        _feed_in_time(trial, clock, began, progress)
        _wait_for_the_rest(trial, clock, began)
        return trial.outcome("real", began)
    finally:
        trial.tree.stop(1)


def _feed_in_time(trial: _Trial, clock: SteadyClock, began: Instant, progress: Progress) -> None:
    pause, waiting = threading.Event(), list[Event | Signal]()
    for at, item in trial.plan.items():
        while at > clock.now() - began:
            if waiting:
                trial.feed(waiting, progress)
                waiting = []
            _sample_if_due(trial, clock.now() - began)
            pause.wait(_PULSE)
        waiting.append(item)
    trial.feed(waiting, progress)


def _wait_for_the_rest(trial: _Trial, clock: SteadyClock, began: Instant) -> None:
    pause = threading.Event()
    last = clock.now() + trial.plan.tail
    trial.tree.quiesce()
    while clock.now() < last and depth(trial.tree.status()):
        _sample_if_due(trial, clock.now() - began)
        pause.wait(_PULSE)
    trial.sample(clock.now() - began)


def _sample_if_due(trial: _Trial, after: int) -> None:
    step = trial.plan.step()
    taken = trial.samples[-1].after if trial.samples else 0
    if after // step > taken // step:
        trial.sample(after)

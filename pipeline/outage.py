"""Outage: from the signals of one scope to what may be told of it now. A small state machine, told the time."""

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from ..contracts.base import Inbound, Instant, Length, Millis
from ..contracts.signals import (
    GoodResponse,
    ProcessExited,
    ProcessStarted,
    RebuildFinished,
    RebuildStarted,
    RestartRequested,
    ScopeFact,
    TransportFailed,
)


class Timing(Inbound, frozen=True, kw_only=True):
    """How long what counts as what."""

    long_after: Length = Millis(15_000)
    """A rebuild this long lets diagnostics pass."""
    expired_after: Length = Millis(30_000)
    """A rebuild, or a transport outage without news, this long is over: everything is shown."""
    evidence: Length = Millis(5_000)
    """A restart or rebuild that began this long before an exit explains it; an older one does not."""
    debounce: Length = Millis(500)
    """A good response ends a transport outage only if no failure followed for so long."""
    lead: Length = Millis(1_000)
    """What came this shortly before an outage was noticed belongs to it: the failure itself is its first sign."""
    loop_window: Length = Millis(60_000)
    loop_outages: int = 5
    """More outages than this within the window are a crash loop: everything is shown."""


_ENDING_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL")
"""Somebody ended it; a fault of its own ends a program by others."""


class Mode(StrEnum):
    """What is held of a scope."""

    OFF = "off"
    FULL = "full"
    """Everything."""
    ERRORS = "errors"
    """Everything but diagnostics: a long rebuild."""


class State(StrEnum):
    """What the scope goes through."""

    HEALTHY = "healthy"
    REBUILD = "rebuild"
    LONG = "long_rebuild"
    EXPIRED = "expired"
    CRASHED = "crashed"
    ENDED = "ended"
    """It ended well, or was ended by somebody, and nobody said that it would be back."""
    TRANSPORT = "transport_outage"


MODES = {
    State.HEALTHY: Mode.OFF,
    State.REBUILD: Mode.FULL,
    State.LONG: Mode.ERRORS,
    State.EXPIRED: Mode.OFF,
    State.CRASHED: Mode.OFF,
    State.ENDED: Mode.OFF,
    State.TRANSPORT: Mode.FULL,
}


class Span(msgspec.Struct, frozen=True):
    """An outage that is over; after a recovery its cascade is noise, after anything else it is news."""

    began_at: Instant
    ended_at: Instant
    recovered: bool


class Outage(msgspec.Struct):
    """One scope. ``observe`` and ``tick`` answer True when the state changed."""

    timing: Timing
    state: State = State.HEALTHY
    began_at: Instant = Instant(0)
    rebuild_at: Instant = Instant(0)
    """When the rebuild began; later than ``began_at`` if a connection had failed before."""
    last: Span | None = None
    evidence_at: Instant | None = None
    """When the latest rebuild began, if it has not ended."""
    restart_at: Instant | None = None
    """When a restart was asked for that has not happened yet."""
    failed_at: Instant = Instant(0)
    good_at: Instant | None = None
    """A good response that waits out the debounce."""
    outages: tuple[Instant, ...] = ()

    @property
    def mode(self) -> Mode:
        """What is held now."""
        return MODES[self.state]

    def observe(self, fact: ScopeFact, now: Instant) -> bool:
        """Take in one signal."""
        before = self.state
        match fact:
            case ProcessStarted():
                self._started(now)
            case ProcessExited():
                self._exited(fact, now)
            case RestartRequested():
                self.restart_at = now
            case RebuildStarted():
                self.evidence_at = now
                if self.state in (State.HEALTHY, State.TRANSPORT):
                    self._begin(State.REBUILD, now)
            case RebuildFinished():
                self._rebuilt(fact, now)
            case TransportFailed():
                self.failed_at, self.good_at = now, None
                if self.state is State.HEALTHY:
                    self._begin(State.TRANSPORT, now)
            case GoodResponse():
                if self.state is State.TRANSPORT and self.good_at is None:
                    self.good_at = now
        return self.state is not before

    def tick(self, now: Instant) -> bool:
        """Let time do what it does: rebuilds grow long and expire, transport outages end."""
        before = self.state
        for at, state in self._timers():
            if at > now:
                break
            if state is State.HEALTHY:
                self._end(at, recovered=self.good_at is not None)
            else:
                self.state = state
        return self.state is not before

    def due(self) -> Instant | None:
        """When ``tick`` next has something to do."""
        return next((at for at, _ in self._timers()), None)

    def _timers(self) -> Iterator[tuple[Instant, State]]:
        timing = self.timing
        match self.state:
            case State.REBUILD:
                yield Instant(self.rebuild_at + timing.long_after), State.LONG
                yield Instant(self.rebuild_at + timing.expired_after), State.EXPIRED
            case State.LONG:
                yield Instant(self.rebuild_at + timing.expired_after), State.EXPIRED
            case State.TRANSPORT if self.good_at is not None:
                yield Instant(self.good_at + timing.debounce), State.HEALTHY
            case State.TRANSPORT:
                yield Instant(self.failed_at + timing.expired_after), State.HEALTHY
            case _:
                return

    def _started(self, now: Instant) -> None:
        if self.state in (State.REBUILD, State.LONG, State.TRANSPORT):
            self._end(now, recovered=True)
        else:
            self.state = State.HEALTHY  # after a crash, or at first sight: nothing is cleared by that
        self.restart_at = None

    def _exited(self, exit_: ProcessExited, now: Instant) -> None:
        """An exit is a rebuild if a restart was asked for, or a rebuild began and it did not fail by itself; else a crash."""
        ended = exit_.died_of in _ENDING_SIGNALS or exit_.code in (0, 129, 130, 143)
        expected = self._is_fresh(self.restart_at, now) or (ended and self._is_fresh(self.evidence_at, now))
        if expected and self.state is not State.CRASHED:
            if self.state not in (State.REBUILD, State.LONG):
                self._begin(State.REBUILD, now)
        else:
            self._end(now, recovered=False)
            self.state = State.ENDED if ended else State.CRASHED

    def _is_fresh(self, evidence_at: Instant | None, now: Instant) -> bool:
        return evidence_at is not None and now - evidence_at <= self.timing.evidence

    def _rebuilt(self, fact: RebuildFinished, now: Instant) -> None:
        self.evidence_at = None
        works_again = self.state is State.CRASHED and fact.ok
        if works_again or self.state in (State.REBUILD, State.LONG, State.EXPIRED):
            self._end(now, recovered=fact.ok)

    def _begin(self, state: State, now: Instant) -> None:
        if self.state is State.HEALTHY:
            recent = (at for at in self.outages if now - at < self.timing.loop_window)
            self.outages = (*recent, now)
            self.began_at = now
        self.rebuild_at = now
        self.state = State.CRASHED if len(self.outages) > self.timing.loop_outages else state
        self.good_at = None

    def _end(self, now: Instant, *, recovered: bool) -> None:
        if MODES[self.state] is not Mode.OFF:
            self.last = Span(self.began_at, now, recovered)
        self.state, self.good_at = State.HEALTHY, None

"""Bucket: a token bucket that is told the time."""

import msgspec

from ..contracts.base import Instant, Millis


class Bucket(msgspec.Struct):
    """Holds at most ``burst`` tokens; one more comes every ``period``. Counts in milliseconds, so nothing is rounded away."""

    burst: int
    period: Millis
    filled_at: Instant = Instant(0)
    """When it was, or will be, full. Each token taken moves it one period on."""

    def next_at(self, now: Instant) -> Instant:
        """When a token is there: ``now``, if one is there already."""
        return Instant(max(now, self.filled_at - (self.burst - 1) * self.period))

    def take(self, now: Instant) -> None:
        """Take one; the caller has seen ``next_at(now) == now``, or spends beyond its means."""
        self.filled_at = Instant(max(self.filled_at, now) + self.period)

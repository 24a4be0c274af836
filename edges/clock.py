"""Clock: the one reader of the wall clock. It is read once; from then on a clock that can't go back counts."""

import sys
import time

from ..contracts.base import Instant


def _steady_ns() -> int:
    """Nanoseconds that never go back and go on while the machine sleeps."""
    if sys.platform == "linux":
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class SteadyClock:
    """The time of day at its making, and steady milliseconds from there: a clock set back moves no window."""

    def __init__(self) -> None:
        self._offset = time.time_ns() - _steady_ns()

    def now(self) -> Instant:
        """The present moment."""
        return Instant((self._offset + _steady_ns()) // 1_000_000)


def utc_offset(at: Instant) -> int:
    """Minutes by which this machine's time of day is ahead of UTC at that moment."""
    return time.localtime(at / 1000).tm_gmtoff // 60

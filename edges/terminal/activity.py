"""Activity: reports output that means work, at once when it begins and at most ten times a second while it flows."""

import re
from collections.abc import Callable
from typing import Final

PERIOD: Final = 0.1
"""Seconds between two reports, at least."""


_BARE_RETURN: Final = re.compile(rb"\r(?!\n)")


def plain(chunk: bytes) -> bool:
    """True if ``chunk`` is text that runs on, with nothing painted over."""
    return b"\x1b" not in chunk and b"\b" not in chunk and not _BARE_RETURN.search(chunk)


class Activity:
    """Counts bytes and reports them by ``report(size)``; it is told the time in seconds."""

    def __init__(self, report: Callable[[int], None]) -> None:
        self._report = report
        self._size = 0
        self._counts = False
        self._quiet_until = 0.0

    def output(self, chunk: bytes, now: float) -> None:
        """``chunk`` was printed. Text that runs on is certainly work; whether a repaint is, a look will say."""
        self._size += len(chunk)
        if not self._counts:
            self._counts = plain(chunk)
        if self._counts and now >= self._quiet_until:
            self.settle(now)

    def looked(self, changed: bool, now: float) -> None:
        """The screen was looked at. What came since the last report is work if it changed, else nothing at all."""
        self._counts = self._counts or changed
        if not self._counts:
            self._size = 0
        self.settle(now)

    def settle(self, now: float) -> None:
        """Report what was kept back, if its time has come."""
        if self._counts and self._size and now >= self._quiet_until:
            size, self._size, self._counts = self._size, 0, False
            self._quiet_until = now + PERIOD
            self._report(size)

"""Supervisor: a fault that no input explains restarts its actor; too many of them within a while, and the line says so."""

from collections import deque

from ..contracts.base import Instant, Millis
from .messages import Broken

INTENSITY = 5
"""So many unexplained faults within ``PERIOD`` are borne."""
PERIOD = Millis(10_000)


class Supervisor:
    """One for one: a fault in one actor restarts that actor. It gives up loudly: feeding is refused with the reason."""

    def __init__(self) -> None:
        self._faults: deque[Instant] = deque()
        self.restarts = 0
        self.last_trace = ""
        self.broken: Broken | None = None

    def fault(self, actor: str, trace: str, now: Instant) -> None:
        """An actor raised, and has been restarted."""
        self.restarts += 1
        self.last_trace = trace
        self._faults.append(now)
        while self._faults and now - self._faults[0] > PERIOD:
            self._faults.popleft()
        if len(self._faults) > INTENSITY:
            self.broken = Broken(actor, now, trace)

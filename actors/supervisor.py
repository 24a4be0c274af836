"""Supervisor: a fault that no input explains restarts its actor; too many of them within a while, and the line says so."""

from collections import deque
from collections.abc import Callable

from ..contracts.base import Instant, Millis
from .messages import Broken

INTENSITY = 5
"""So many unexplained faults within ``PERIOD`` are borne."""
PERIOD = Millis(10_000)


class Supervisor:
    """One for one: a fault in one actor restarts that actor. It gives up loudly: feeding is refused with the reason."""

    def __init__(self, give_up: Callable[[str], None]) -> None:
        """``give_up`` is called with the reason when there were too many faults."""
        self._give_up = give_up
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
        if len(self._faults) > INTENSITY and self.broken is None:
            self.broken = Broken(actor, now, trace)
            self._give_up(f"the line gave up, {actor} kept failing: {trace}")

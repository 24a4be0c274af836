"""Feeding: findings wait in a bounded queue for whoever takes them; a slow or failing taker is counted, never waited for."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import anyio

from ...contracts.base import Millis
from ...contracts.events import Event
from .kept import Kept
from .telling import Finding

__all__ = ["DRAINED_WITHIN", "WAITING", "Emit", "Feeding", "Finding"]

Emit = Callable[[list[Finding]], Awaitable[None]]
"""Takes findings in order; whatever it raises is counted and told at the end."""

WAITING: Final = 10_000
"""Findings that may wait for the taker."""
DRAINED_WITHIN: Final = Millis(5_000)
"""How long the end of a process waits for the taker."""


class Feeding:
    """The queue between a process and the line. What no longer fits is left out, newest first, and counted."""

    def __init__(self, emit: Emit, *, scope: str, to: str | None, limit: int = WAITING) -> None:
        self._emit = emit
        self._scope = scope
        self._to = to
        self._limit = limit
        self._waiting: deque[Finding] = deque()
        self._came = anyio.Event()
        self._untold = 0
        self._ended = False
        self._drained = anyio.Event()
        self.left_out = 0
        """Findings that were not handed over, whatever the reason."""
        self.failure = ""
        """Why the first of them were not."""

    def put(self, found: Sequence[Finding], *, last: bool = False) -> None:
        """Queue findings without waiting. ``last`` ones, told when the process ends, always fit."""
        room = len(found) if last else max(0, self._limit - len(self._waiting))
        self._waiting.extend(found[:room])
        self._untold += max(0, len(found) - room)
        self._came.set()

    def end(self) -> None:
        """Nothing more comes: ``run`` returns when all is handed over."""
        self._ended = True
        self._came.set()

    async def drained(self) -> None:
        """Wait until all is handed over."""
        await self._drained.wait()

    async def run(self) -> None:
        """Hand over what waits until the end."""
        while not (self._ended and not self._waiting):
            await self._came.wait()
            self._came = anyio.Event()
            if batch := self._batch():
                with Kept() as kept:
                    await self._emit(batch)
                if kept.error is not None:
                    self._lost(len(batch), kept.words)
        self._drained.set()

    def fault(self, why: str) -> None:
        """Count a finding that could not even be read."""
        self._lost(1, f"this is a fault of tocsin ({why})")

    def abandon(self) -> None:
        """Count what still waits as left out: the taker did not come back in time."""
        if self._waiting or self._untold:
            self._lost(len(self._waiting) + self._untold, "the taker was too slow")
        self._waiting.clear()

    def _batch(self) -> list[Finding]:
        batch: list[Finding] = list(self._waiting)
        self._waiting.clear()
        if self._untold:
            self._lost(self._untold, "more findings at once than the queue holds")
            batch.append(self._note(self._untold))
            self._untold = 0
        return batch

    def _note(self, count: int) -> Event:
        text = f"{count} findings left out: more came at once than could be taken"
        return Event(
            text=text, key="findings left out", to=self._to, source="process_alert", scope=self._scope, category="runtime"
        )

    def _lost(self, count: int, why: str) -> None:
        self.left_out += count
        self.failure = self.failure or why

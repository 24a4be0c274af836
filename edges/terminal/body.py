"""Body: a text on its way into a program's terminal, written as fast as it is read; what is not read can be taken back."""

import os
import sys
from collections.abc import Callable
from typing import Final

import anyio

from .child import Child, waiting_bytes

STALL: Final = 5.0
"""Seconds without a byte read by the program, after which it counts as one that does not read."""
TICK: Final = 0.01
CALM: Final = 3
"""Looks in a row that find nothing waiting: the kernel may take a moment to show what was written."""
_IN_SIGHT: Final = 4_000
"""So many bytes the kernel counts as waiting; of what lies behind them nobody can tell whether it was read."""
_REFILLED: Final = 0.004
"""Seconds within which the kernel moves up what lies behind bytes that were taken."""


class Unread(Exception):
    """The program has read nothing for ``STALL`` seconds."""


class Body:
    """Writes into one program's terminal; ``terminal`` is its own side of that, if it could be opened.

    Nobody else may write meanwhile, and nothing may have been waiting to be read before.
    """

    def __init__(self, child: Child, terminal: int | None) -> None:
        self._child = child
        self._terminal = terminal
        self.written = 0
        """Bytes that the terminal took, less those that were taken back."""
        self.cut_short = False
        """True if the program got a part, and the rest was not written or was taken back."""

    async def write(self, data: bytes) -> None:
        """Write ``data`` and wait until the program has read it. Raises ``Unread``, or ``OSError`` if it is gone."""
        await self._child.write(b"")
        rest, left, calm, stalled = memoryview(data), sys.maxsize, 0, 0.0
        self.cut_short = True
        while calm < CALM:
            size = self._child.put(rest[: max(0, _IN_SIGHT - self.waiting)]) if rest else 0
            self.written, rest = self.written + size, rest[size:]
            await anyio.sleep(TICK)
            waiting = self.waiting
            calm = 0 if rest or waiting else calm + 1
            stalled = 0.0 if size or calm or waiting < left else stalled + TICK
            left = waiting
            if stalled >= STALL:
                raise Unread
        self.cut_short = False

    @property
    def waiting(self) -> int:
        """How many bytes the program could read at once."""
        return 0 if self._terminal is None else waiting_bytes(self._terminal)

    async def take_back(self) -> None:
        """Take out of the terminal what the program has not read.

        By reading it: every byte goes to one reader, so that what came to us is certainly not read by the program as well, and
        what did not certainly was.
        """
        empty = 0
        while self.written and self._terminal is not None and empty < CALM:
            try:
                size = len(os.read(self._terminal, _IN_SIGHT))
            except OSError:
                size = 0
            self.written = max(0, self.written - size)
            empty = 0 if size else empty + 1
            if not size:
                await anyio.sleep(_REFILLED)
            else:
                self.cut_short = True


async def until_read(terminal: int, seconds: float, *, unless: Callable[[], bool] = lambda: False) -> bool:
    """Wait until nothing waits to be read; false if that did not come within so many seconds, or as soon as ``unless()``."""
    calm = 0
    with anyio.move_on_after(seconds):
        while calm < CALM and not unless():
            await anyio.sleep(TICK)
            calm = 0 if waiting_bytes(terminal) else calm + 1
    return calm == CALM

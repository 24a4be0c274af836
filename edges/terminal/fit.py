"""Fit: how much of our terminal the program has, when one row of it may be the status row."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from .child import Child
from .outer import Outer
from .status import PERIOD, StatusRow
from .watch import Watch

_REST: Final = 0.05
"""Seconds of silence after which the row may be drawn without coming between two pieces of a drawing."""

_SETTLED: Final = 0.4
"""Seconds after the last change of the size until the row is drawn in its new place.

tmux tells of a size a quarter of a second late, while it changes again and again: what was the lowest row in the size that it
told may now hold a line of the program's.
"""


class Fit:
    """Keeps the program's size and the status row right. ``say`` writes to our terminal, between two outputs of the program.

    ``rests(seconds)`` tells whether the program has printed nothing for so long.
    """

    def __init__(
        self,
        outer: Outer,
        child: Child,
        watch: Watch,
        status: StatusRow | None,
        say: Callable[[bytes], Awaitable[None]],
        rests: Callable[[float], bool],
    ) -> None:
        self._outer = outer
        self._child = child
        self._watch = watch
        self._status = status
        self._say = say
        self._rests = rests
        self._due = anyio.Event()
        self._painted_over = 0
        self.changed: Callable[[], None] = lambda: None
        """Called when the row was taken or given back, or the size has changed."""

    def now(self) -> None:
        """Give the program the present size, less the status row."""
        size = self._outer.size()
        if self._status:
            self._status.resized(size.rows, size.columns)
            if self._status.taken:
                size = size._replace(rows=size.rows - 1)
        self._child.resize(size)
        self._watch.resize(size)
        self.changed()
        self._due.set()

    async def keep_row(self, status: StatusRow) -> None:
        """Keep the row where it belongs and its text fresh, for as long as the program runs."""
        while True:
            self._due = anyio.Event()
            size = self._outer.size()
            if not (status.alternate or status.half or status.stands(size.rows, size.columns)):
                status.resized(size.rows, size.columns)
                await self._say(status.wipe())
                if status.taken and not await self._settled():
                    continue
                await self._take_row(status)
            elif self._rests(_REST):
                printed = self._watch.flow.printed
                await self._say(status.paint(again=printed != self._painted_over))
                self._painted_over = printed
                if self._outer.answers:
                    await self._say(status.ask())
            with anyio.move_on_after(PERIOD):
                await self._due.wait()

    async def follow_screen(self, status: StatusRow) -> None:
        """Give the row to a program that now owns the whole screen, take it again from one that no longer does, and protect
        it again from one that undid that."""
        if status.half:
            return
        if status.alternate:
            await self.give_row()
            self.now()
        elif status.taken:
            await self._say(status.mend())
        else:
            await self._take_row(status)

    async def come_back(self) -> None:
        """Take the row again, if there is to be one, and give the program the size that there is now."""
        if self._status:
            self._status.moved()
        if self._status and not self._status.alternate:
            await self._take_row(self._status)
        else:
            self.now()

    async def give_row(self) -> None:
        """Take the row off the screen."""
        if self._status:
            await self._say(self._status.release())
            self.changed()

    def undo(self) -> bytes:
        """What to write so that there is no row; it stays as it is."""
        return self._status.undo() if self._status else b""

    async def _settled(self) -> bool:
        """False if the size changes again very soon: a window that is drawn larger passes through many."""
        with anyio.move_on_after(_SETTLED):
            await self._due.wait()
            return False
        return True

    async def heard_out(self) -> None:
        """Wait a moment for what our terminal was asked: nobody after us is to find the answer among the keys."""
        if self._status and self._status.whereabouts.awaited:
            await self._status.whereabouts.heard_out()

    async def _take_row(self, status: StatusRow) -> None:
        size = self._outer.size()
        claim = status.claim(size.rows, size.columns)
        self.changed()
        await self._say(claim)
        self.now()

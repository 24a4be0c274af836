"""Halt: stops us with the program, gives our terminal back for that time, and takes it again for the program to go on."""

import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import anyio

from .child import Child
from .fit import Fit
from .outer import STDOUT, Outer, shows, stop_ourselves
from .watch import Watch

_LAST_WORDS: Final = 0.25
"""Seconds that what the program said before it stopped has to get out."""
_LAST_WORDS_AT_MOST: Final = 1.0
_HEARD: Final = 0.02
"""Seconds after which a signal that was there before is certainly heeded."""


class Halt:
    """Lends our terminal to the shell above us. ``say`` and ``rests`` are those of the session.

    ``ending`` is to be set once the program is being ended: then nothing more is stopped or taken again.
    """

    def __init__(
        self,
        outer: Outer,
        child: Child,
        watch: Watch,
        fit: Fit,
        say: Callable[[bytes], Awaitable[None]],
        rests: Callable[[float, float], bool],
    ) -> None:
        self._outer = outer
        self._child = child
        self._watch = watch
        self._fit = fit
        self._say = say
        self._rests = rests
        self._lent: frozenset[int] = frozenset()
        self._lends = False
        self._here = anyio.Event()
        self._here.set()
        self.ending = False
        watch.modes.changed = fit.changed = self._bequeath

    async def over(self) -> None:
        """Wait until the program goes on, if it is stopped: a key such as Ctrl-Z would be lost on one that is stopped."""
        # A wait for what has come already would still cost a turn of the event loop, for each key.
        if not self._here.is_set():
            await self._here.wait()

    async def stop(self) -> None:
        """Stop the program, because somebody asks us to stop; once it goes on, if it is just being brought back."""
        await self.over()
        await self._child.stop()

    async def keep_company(self) -> None:
        """The program stopped: stop with it, and bring it back when somebody brings us back, or at once if nobody could."""
        self._here = anyio.Event()
        await self._hear_out()
        await self._fit.heard_out()
        await self._lend()
        stop_ourselves(signal.SIGTSTP)
        await self._await_front()
        if not self.ending:
            self._outer.make_raw()
            self._lends = False
            self._bequeath()
            await self._put(self._watch.modes.redo())
            await self._fit.come_back()
            self._lent = frozenset()
        self._watch.brought_back()
        self._child.resume()
        if self._watch.modes.alternate:
            # It comes back empty, and a program that was stopped without being asked does not know.
            self._child.redraw()
        # Its keeper needs a moment.
        await anyio.sleep(_HEARD)
        self._here.set()

    async def take_again(self) -> None:
        """We were brought back. If we had not been asked to stop, the terminal is as others left it."""
        if not self._here.is_set():
            return
        await self._await_front()
        if not self.ending:
            self._outer.make_raw()
            self._fit.now()
            await self._put(self._watch.modes.again())

    async def tidy(self) -> None:
        """Leave our terminal as the next program expects it."""
        with anyio.move_on_after(_LAST_WORDS_AT_MOST), suppress(OSError):
            await self._fit.give_row()
            # What was lent is in order but for what the program has done since.
            await self._put(self._watch.modes.undo(but=self._lent))
        self._lends = True
        self._bequeath()

    async def _hear_out(self) -> None:
        stopped_at = time.monotonic()
        with anyio.move_on_after(_LAST_WORDS):
            while not self._rests(_LAST_WORDS / 10, stopped_at):
                await anyio.sleep(_LAST_WORDS / 50)

    async def _lend(self) -> None:
        # A reader that takes nothing sees nothing either.
        with anyio.move_on_after(_LAST_WORDS), suppress(OSError):
            await self._fit.give_row()
            await self._put(self._watch.modes.undo())
        self._lent = frozenset(self._watch.modes.on)
        self._lends = True
        self._bequeath()
        self._outer.restore()

    def _bequeath(self) -> None:
        """Should we be killed, our terminal is to be put right as we would do it now."""
        self._outer.will.bequeath(b"" if self._lends else self._fit.undo() + self._watch.modes.undo())

    async def _await_front(self) -> None:
        """Stay stopped for as long as somebody else has our terminal, as after ``bg``."""
        # What came together with the going on, such as a signal to end, is heeded first.
        await anyio.sleep(_HEARD)
        while not (self.ending or self._outer.in_front):
            if not stop_ourselves(signal.SIGTTOU):
                return
            await anyio.sleep(_HEARD)

    async def _put(self, sequences: bytes) -> None:
        """Change the modes of our terminal. One that nobody reads any more needs no change."""
        if shows(STDOUT):
            with suppress(OSError):
                await self._say(sequences)

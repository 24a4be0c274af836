"""Keyboard: a person's keys come in order and rhythm, before or after a text of ours, never inside; Ctrl-C never waits."""

import os
import re
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

import anyio

from .body import until_read
from .child import Child, waiting_bytes

T = TypeVar("T")

_INTERRUPTS: Final = re.compile(rb"[\x03\x1a\x1c]|\x1b\[(?:99|122|92);5(?::1)?u|\x1b\[27;5;(?:99|122|92)~")
"""Ctrl-C, Ctrl-Z, Ctrl-backslash, also as newer terminals report them: agents read these as keys, and take them as meant."""
_APART: Final = re.compile(rb"[\r\n]|\x1b\[200~")
"""Programs that guess a paste by the size of a read would miss an Enter that comes together with what was typed before it."""
_WAITING_MOST: Final = 65_536
"""Bytes of keys that may wait; then no more are read until they are gone."""
_READ_WITHIN: Final = 1.0
"""Seconds in which the program reads what stands before an Enter. One that does not gets the rest all the same."""
_CLOSED_WITHIN: Final = 0.05
"""Seconds in which it reads the end of a paste that a signal would throw away."""


class Keyboard:
    """One writer at a time to one child. Keys that come while a text is typed wait, and are then passed on as they came."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._writing = anyio.Lock(fast_acquire=True)
        self._ours: anyio.CancelScope | None = None
        self._over = anyio.Event()
        self._waiting: deque[bytes] = deque()
        self._fresh = anyio.Event()
        self._gone = anyio.Event()
        self._urgent = False
        self.thrown_away = 0
        """How often a key had the kernel throw away what the program had not read."""

    async def alone(self, act: Callable[[], Awaitable[T]]) -> T | None:
        """Run ``act`` with nobody else writing. None if a key that interrupts has ended it."""
        done = None
        async with self._writing:
            self._over = anyio.Event()
            try:
                with anyio.CancelScope() as self._ours:
                    done = await act()
            finally:
                self._ours = None
                self._over.set()
            await self._set_apart()
        return done

    async def make_way(self, keys: bytes) -> None:
        """If ``keys`` interrupt, end what is being typed by us; call it before anything is made of the keys."""
        if self._writing.locked() and self._interrupts(keys):
            self._urgent = True
            if self._ours:
                self._ours.cancel()
                await self._over.wait()

    async def pass_on(self, keys: bytes) -> None:
        """Write ``keys``, now or as soon as what comes before them is written."""
        if not (self._waiting or self._writing.locked()):
            async with self._writing:
                await self._write(keys)
            return
        self._waiting.append(keys)
        self._fresh.set()
        while sum(map(len, self._waiting)) > _WAITING_MOST and not self._urgent:
            self._gone = anyio.Event()
            await self._gone.wait()

    async def hand_on(self) -> None:
        """Write what waited, for as long as the program runs."""
        while True:
            await self._fresh.wait()
            self._fresh = anyio.Event()
            async with self._writing:
                await self._hand_on_all()

    async def close(self) -> None:
        """Close the child's terminal, once nobody writes any more."""
        async with self._writing:
            self._child.close()

    async def _hand_on_all(self) -> None:
        try:
            patient = True
            while self._waiting:
                keys = self._next()
                # An Enter stands apart from what was before it, and what follows from it.
                patient = patient and await self._set_apart()
                await self._write(keys)
        finally:
            self._urgent = False
            self._gone.set()

    def _next(self) -> bytes:
        keys = self._waiting.popleft()
        while self._waiting and not (_APART.search(keys) or _APART.search(self._waiting[0])):
            keys += self._waiting.popleft()
        return keys

    async def _set_apart(self) -> bool:
        """Wait until the program has read what is there; false if there is no sense in waiting again."""
        if self._child.reads_lines():
            # The kernel hands it line by line.
            return True
        terminal = self._child.open_terminal()
        if terminal is None:
            return False
        try:
            return await until_read(terminal, _READ_WITHIN, unless=lambda: self._urgent)
        finally:
            os.close(terminal)

    async def _write(self, keys: bytes) -> None:
        if b"\r" in keys or b"\n" in keys:
            self._child.entered()
        # A program that is gone reads no keys; its end is noticed elsewhere.
        with suppress(OSError):
            if any(key in keys for key in self._child.signal_keys()) and self._child.flushes():
                await self._write_with_signal(keys)
            else:
                await self._child.write(keys)

    async def _write_with_signal(self, keys: bytes) -> None:
        """The kernel throws away what is not read: the end of a paste must not be lost so, or all keys are taken as pasted."""
        owed = await self._child.pay()
        terminal = self._child.open_terminal()
        if terminal is None:
            await self._child.write(keys)
            return
        try:
            lost = bool(owed) and not await until_read(terminal, _CLOSED_WITHIN)
            self.thrown_away += waiting_bytes(terminal) > 0
        finally:
            os.close(terminal)
        await self._child.write(keys)
        if lost:
            self._child.owe(owed)

    def _interrupts(self, keys: bytes) -> bool:
        return bool(_INTERRUPTS.search(keys)) or any(key in keys for key in self._child.signal_keys())

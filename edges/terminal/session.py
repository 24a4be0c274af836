"""Session: one run of a program in its terminal, from the first byte to the last, and everything put back after it."""

import math
import os
import signal
import threading
import time
from typing import Final

import anyio
import anyio.abc
import anyio.lowlevel

from .child import Child
from .fit import Fit
from .halt import Halt
from .keyboard import Keyboard
from .outer import STDIN, STDOUT, Outer, shows
from .status import StatusRow
from .streams import GONE, PAGE, Inlet, Outlet, is_given
from .watch import Watch
from .whereabouts import WHOLE_WITHIN

_LOOK_AFTER: Final = 0.02
"""Seconds between output and the look at it, so that a repaint is seen whole."""
_LOOK_PERIOD: Final = 0.1
_DRAFT_PERIOD: Final = 1.0
_FLOOD: Final = 262_144
"""Bytes within a period with which looking is put off."""
_LAST_WORDS: Final = 0.25
"""Seconds of silence after the program's end that end the run although something in the background keeps the terminal."""
_LAST_WORDS_AT_MOST: Final = 1.0
_KERNEL_HOLDS: Final = 131_072
"""More bytes than a pseudo-terminal keeps for its reader."""
_PAGES_A_TURN: Final = 32
"""Pages of output after which the other tasks have their turn, while output floods."""
_REATTACH: Final = 0.05
_ASK_SIZE: Final = 0.2
_END_PATIENCE: Final = 3.0
"""Seconds that a program has to end by itself after a signal to us was passed on to it."""
_ENDING: Final = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")


class Session:
    """Carries bytes both ways until the child has ended and its last words are out."""

    def __init__(self, outer: Outer, child: Child, watch: Watch, keyboard: Keyboard, status: StatusRow | None) -> None:
        self._outer = outer
        self._child = child
        self._watch = watch
        self._keyboard = keyboard
        self._status = status if shows(STDOUT) else None
        self._outlet = Outlet(STDOUT if is_given(STDOUT) else None)
        self._writing = anyio.Lock(fast_acquire=True)
        self._fresh = anyio.Event()
        self._ended = anyio.Event()
        self._resting = False
        self._stirred = False
        self._rested_at = 0.0
        self._fit = Fit(outer, child, watch, self._status, self._say, self._rests)
        self._halt = Halt(outer, child, watch, self._fit, self._say, self._rests)

    async def carry(self) -> None:
        """Run to the end. Cancelled, it puts the child down first."""
        try:
            async with anyio.create_task_group() as tasks:
                if threading.current_thread() is threading.main_thread():
                    await tasks.start(self._obey_signals, tasks)
                else:
                    tasks.start_soon(self._ask_for_size)
                self._outer.make_raw()
                self._fit.now()
                tasks.start_soon(self._carry_keys)
                tasks.start_soon(self._keyboard.hand_on)
                tasks.start_soon(self._look_now_and_then)
                if self._status:
                    tasks.start_soon(self._fit.keep_row, self._status)
                await self._carry_output_to_the_end()
                await self._fit.heard_out()
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._child.put_down()
                await self._halt.tidy()
            self._outlet.close()

    async def _carry_output_to_the_end(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._await_end, tasks.cancel_scope)
            await self._carry_output()
            if not self._ended.is_set():
                await self._ended.wait()
            tasks.cancel_scope.cancel()

    async def _carry_output(self) -> None:
        # The data path: what is done here is done for every page of output, so it is little and looks up nothing twice.
        master, read, printed, put = self._child.master, os.read, self._watch.printed, self._outlet.put
        pages, ended = 0, False
        while True:
            try:
                chunk = read(master, PAGE)
            except BlockingIOError:
                pages = 0
                await self._rest()
                continue
            except OSError as error:
                if error.errno not in GONE:
                    raise
                chunk = b""
            if not chunk:
                if ended:
                    return
                # What it printed in its last moment is still to be read.
                ended = await self._closed_for_good()
                continue
            printed(chunk)
            if not self._stirred:
                self._stir()
            try:
                written = put(chunk) if self._status is None else 0
                if written < len(chunk):
                    await self._show(chunk[written:])
            except OSError as error:
                if error.errno not in GONE:
                    raise
                # Nobody sees us any more: for the program the line is cut.
                await self._child.put_down()
                return
            pages += 1
            if pages == _PAGES_A_TURN:
                pages = 0
                await anyio.lowlevel.checkpoint()

    async def _rest(self) -> None:
        self._rested_at = time.monotonic()
        self._resting = True
        await anyio.wait_readable(self._child.master)
        self._resting = False

    async def _closed_for_good(self) -> bool:
        # A program that closed its terminal and goes on may open it again.
        with anyio.move_on_after(_REATTACH):
            await self._ended.wait()
        return self._ended.is_set()

    def _stir(self) -> None:
        self._stirred = True
        self._fresh.set()

    async def _show(self, chunk: bytes) -> None:
        if self._status is None:
            await self._write(chunk)
            return
        for piece in self._status.pieces(chunk):
            self._status.hear(piece)
            await self._write(piece)
            if not self._status.fits_screen:
                await self._fit.follow_screen(self._status)

    async def _carry_keys(self) -> None:
        if not is_given(STDIN):
            return
        inlet = Inlet(STDIN)
        last = b"\n"
        try:
            while keys := await self._typed(inlet):
                await self._keyboard.make_way(keys)
                newline_sends = b"\n" in keys and self._child.reads_lines()
                self._watch.keyed(keys, newline_sends=newline_sends)
                await self._pass_on(keys)
                last = keys[-1:]
        finally:
            inlet.close()
        if self._outer.typed:
            # A raw terminal ends only when it is hung up.
            await self._child.put_down()
        else:
            await self._pass_on(self._child.end_of_input(last))

    async def _typed(self, inlet: Inlet) -> bytes:
        """The next keys; empty at the end. What our terminal was asked by us is not among them."""
        if self._status is None:
            return await inlet.read()
        whereabouts = self._status.whereabouts
        while True:
            with anyio.move_on_after(WHOLE_WITHIN if whereabouts.begun else math.inf):
                read = await inlet.read()
                if keys := whereabouts.take(read) if read else whereabouts.rest():
                    return keys
                if not read:
                    return b""
                continue
            return whereabouts.rest()

    async def _pass_on(self, keys: bytes) -> None:
        await self._halt.over()
        await self._keyboard.pass_on(keys)

    async def _look_now_and_then(self) -> None:
        before = 0
        while True:
            if not await self._stirs():
                continue
            self._fresh, self._stirred = anyio.Event(), False
            await anyio.sleep(_LOOK_AFTER)
            printed = self._watch.flow.printed
            if printed - before < _FLOOD:
                self._watch.look()
            else:
                # Nobody can read this either; what it leaves on the screen is looked at when it is over.
                self._stir()
            before = printed
            await anyio.sleep(_LOOK_PERIOD - _LOOK_AFTER)
            self._watch.settle()

    async def _stirs(self) -> bool:
        """Wait for output. A draft is looked at now and then in the meantime: false after that."""
        with anyio.move_on_after(_DRAFT_PERIOD if self._watch.draft.open else math.inf):
            await self._fresh.wait()
            return True
        if self._watch.was_answered() and self._child.has_read_all():
            self._watch.give_up_draft()
        return False

    async def _await_end(self, output: anyio.CancelScope) -> None:
        while await self._child.changed():
            await self._halt.keep_company()
        self._ended.set()
        # As a rule the terminal now ends by itself, after its last bytes, however long our reader takes for them. It does
        # not while something that the program left in the background keeps it open.
        ended_at, printed = time.monotonic(), self._watch.flow.printed
        while not self._said_all(ended_at, printed):
            await anyio.sleep(_LAST_WORDS / 10)
        output.cancel()

    def _said_all(self, ended_at: float, printed: int) -> bool:
        """True if what the program itself had printed is certainly out."""
        if time.monotonic() - ended_at < _LAST_WORDS_AT_MOST:
            return self._rests(_LAST_WORDS, ended_at)
        # Either nothing more was there to be read, or more was read than can have been waiting.
        return self._resting or self._watch.flow.printed - printed > _KERNEL_HOLDS

    async def _obey_signals(
        self, tasks: anyio.abc.TaskGroup, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        numbers = [signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT, *(signal.Signals[name] for name in _ENDING)]
        # What our parent had us ignore (nohup) stays ignored.
        heeded = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        with anyio.open_signal_receiver(*heeded) as arrivals:
            task_status.started()
            async for number in arrivals:
                self._obey(number, tasks)

    def _obey(self, number: signal.Signals, tasks: anyio.abc.TaskGroup) -> None:
        if number == signal.SIGTSTP:
            tasks.start_soon(self._halt.stop)
        elif number == signal.SIGCONT:
            tasks.start_soon(self._halt.take_again)
        elif number == signal.SIGWINCH:
            self._fit.now()
        elif not self._halt.ending:
            self._halt.ending = True
            tasks.start_soon(self._child.put_down, number, _END_PATIENCE)

    async def _ask_for_size(self) -> None:
        # Signals reach only the main thread; elsewhere the size has to be asked for.
        while True:
            await anyio.sleep(_ASK_SIZE)
            self._fit.now()

    def _rests(self, seconds: float, since: float = 0.0) -> bool:
        """True if the program has printed nothing for so many seconds, and did not stop in the middle of a sequence."""
        silent = self._resting and not self._watch.modes.half
        return silent and time.monotonic() - max(self._rested_at, since) > seconds

    async def _say(self, text: bytes) -> None:
        """Write something of our own between two pieces of the program's output."""
        if text:
            await self._write(text)

    async def _write(self, data: bytes) -> None:
        async with self._writing:
            await self._outlet.write(data)

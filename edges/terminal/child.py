"""Child: one program in a session of its own behind a pseudo-terminal, with its keeper; neither is left behind."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import anyio
import anyio.to_thread

from ...contracts.base import Record
from ..liveness import is_stopped
from .blank import Reader
from .spawn import Attributes, Size, Started
from .streams import has_input, has_room

if sys.platform != "win32":
    import fcntl
    import termios

HANG_UP_PATIENCE: Final = 1.0
"""Seconds between the hang-up and the kill."""
_GROUP_PATIENCE: Final = 0.1
"""Seconds that the others of its process groups have once it is gone itself."""
_ROOM_PERIOD: Final = 0.05
CATCH_UP: Final = 0.2
"""Seconds in which anything but a flood is read."""
_STOP_PATIENCE: Final = 0.25
"""Seconds that a program has to put its terminal in order before it is stopped without being asked."""


class Exit(Record, frozen=True, kw_only=True):
    """How a program ended: ``code`` as a shell says it (128 + n for a signal), ``died_of`` the signal's name, if one."""

    code: int
    died_of: str = ""


class Child:
    """A started program. ``pid`` is its own, and its process group's; ``master`` is our end of its terminal, non-blocking."""

    def __init__(self, started: Started) -> None:
        self.pid = started.program
        self.master = started.master
        self.stopped = False
        """True from when it stopped until ``resume``."""
        self.asked_to_end = False
        """True once ``put_down`` was called on the living program."""
        self._keeper = started.keeper
        self._edits = False
        self._terminal = started.terminal
        self._echoed = started.echoes
        self.exit: Exit | None = None
        self._reaped = False
        self._owed = b""

    @property
    def alive(self) -> bool:
        """True until the program has ended."""
        return not self._reaped

    async def changed(self) -> bool:
        """Wait until it stops (true) or ends (false; ``exit`` then says how)."""
        status = await anyio.to_thread.run_sync(self._wait, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1))
        return os.WIFSTOPPED(status)

    async def write(self, data: bytes) -> None:
        """Write all of ``data`` to its terminal, as fast as it takes it. Raises ``OSError`` if nobody reads any more."""
        await self._write(self._owed)
        self._owed = b""
        await self._write(data)

    def owe(self, data: bytes) -> None:
        """Have ``data`` written before anything else: it ends what was begun and could not be finished."""
        self._owed = data

    async def pay(self) -> bytes:
        """Write what is owed, and tell what that was."""
        owed = self._owed
        await self.write(b"")
        return owed

    def put(self, data: bytes | memoryview) -> int:
        """Write what its terminal takes at once; how many bytes that were. Raises ``OSError`` if nobody reads any more."""
        try:
            return os.write(self.master, data)
        except BlockingIOError:
            return 0

    async def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self.put(rest) :]
            if rest:
                # Linux does not always say that room was made by its own moving of the bytes: look again soon.
                with anyio.move_on_after(_ROOM_PERIOD):
                    await anyio.wait_writable(self.master)

    def resize(self, size: Size) -> None:
        """Tell it a new size; the kernel sends it SIGWINCH if that is a change."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size.packed())

    async def stop(self) -> None:
        """Stop it as Ctrl-Z does, or by force if it does not heed that; ``changed`` tells when it has stopped.

        A shell that is about another program is stopped together with that, by force: asked, it would only take note that
        its job has stopped.
        """
        groups = self._groups()
        if groups == [self.pid] and not self.stopped:
            _signal_all(groups, signal.SIGTSTP)
            await _while(lambda: self.alive and not self.stopped, _STOP_PATIENCE)
        if self.alive and not self.stopped:
            _signal_all(groups[:1], signal.SIGSTOP)
            # Only once it stands still may its job stop, or it wakes in time to take note of that.
            await _while(lambda: self.alive and not (self.stopped or is_stopped(self.pid)), _STOP_PATIENCE)
            _signal_all(groups[1:], signal.SIGSTOP)

    def resume(self) -> None:
        """Have a program that stopped go on."""
        self.stopped = False
        self._to_keeper(signal.SIGCONT)

    def redraw(self) -> None:
        """Ask who is in front of the terminal to draw it anew, as after a change of size."""
        _signal_all(self._groups()[-1:], signal.SIGWINCH)

    def entered(self) -> None:
        """To be called before an Enter: the program takes the line now, from the kernel or from an editor of its own."""
        self._edits = not self.reads_lines()

    def reads_lines(self) -> bool:
        """True if the kernel edits the line for it, and Enter hands the line over whole."""
        return bool(self._local_modes() & termios.ICANON)

    def reader(self) -> Reader:
        """Who takes the keys now."""
        groups = self._groups()
        return Reader(groups[-1], self.reads_lines(), foreign=groups != [self.pid])

    def signal_keys(self) -> list[bytes]:
        """The keys for which the kernel sends it a signal: interrupt, quit, suspend. None if it reads those itself."""
        attributes = self._attributes()
        if not attributes or not attributes[3] & termios.ISIG:
            return []
        keys = [attributes[6][at] for at in (termios.VINTR, termios.VQUIT, termios.VSUSP)]
        return [key for key in keys if key != b"\0"]

    def flushes(self) -> bool:
        """True if such a key also throws away what is not yet read."""
        return not self._local_modes() & termios.NOFLSH

    def refusal(self) -> str:
        """Why its terminal takes no line now; empty if it does."""
        if self.reads_lines() and self._echoed and not self._local_modes() & termios.ECHO:
            return "a line is being read unseen, as a password is"
        if self.stopped:
            return "the program is stopped"
        if self.reads_lines() and self._groups() != [self.pid]:
            return "a command is running in the shell"
        if self.reads_lines() and self._edits:
            # An interpreter gives up its line editor for the time in which it runs what was entered.
            return "what was entered last is still running"
        return "" if has_room(self.master) else "the program does not read its input"

    def end_of_input(self, last: bytes) -> bytes:
        """The keys that end its input; ``last`` is the last byte it was given."""
        attributes = self._attributes()
        key: bytes = attributes[6][termios.VEOF] if attributes else b""
        # Within a line the first only hands over what there is of it.
        return key * 2 if self.reads_lines() and last != b"\n" else key

    async def caught_up(self) -> None:
        """Wait until all that it has printed so far was read, if it ever rests."""
        with anyio.move_on_after(CATCH_UP):
            while self.has_said_more:
                await anyio.sleep(0)

    @property
    def has_said_more(self) -> bool:
        """True if something that it has printed is still to be read."""
        return has_input(self.master)

    def has_read_all(self) -> bool:
        """True if nothing waits in its terminal to be read."""
        terminal = self.open_terminal()
        if terminal is None:
            return True
        try:
            return not waiting_bytes(terminal)
        finally:
            os.close(terminal)

    def open_terminal(self) -> int | None:
        """Its own side of the terminal, to ask what waits there to be read; the caller closes it."""
        try:
            return os.open(self._terminal, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None

    async def put_down(self, first: int | None = None, patience: float = HANG_UP_PATIENCE) -> None:
        """End it if it still runs: ``first`` if given, ``patience`` seconds, SIGHUP, SIGKILL. Safe under cancellation.

        The job in the foreground of its terminal goes with it. What it put in the background itself does not.
        """
        if not self.alive:
            return
        self.asked_to_end = True
        groups = self._groups()
        steps = [(signal.SIGHUP, HANG_UP_PATIENCE), (signal.SIGKILL, HANG_UP_PATIENCE)]
        with anyio.CancelScope(shield=True):
            for number, seconds in steps if first in (None, signal.SIGHUP) else [(first, patience), *steps]:
                if self.alive:
                    _signal_all(groups, number)
                    # A stopped one must go on to hear it.
                    _signal_all(groups, signal.SIGCONT)
                    self._to_keeper(signal.SIGCONT)
                    await _while(lambda: self.alive, seconds)
            await _while(lambda: _signal_all(groups, 0), _GROUP_PATIENCE)
            _signal_all(groups, signal.SIGKILL)
            self._to_keeper(signal.SIGKILL)

    def close(self) -> None:
        """Close our end of the terminal; what is still attached to it is hung up by the kernel."""
        if self.alive:
            _signal_all(self._groups(), signal.SIGKILL)
            self._to_keeper(signal.SIGKILL)
        os.close(self.master)

    def _attributes(self) -> Attributes | None:
        try:
            return list(termios.tcgetattr(self.master))
        except (OSError, termios.error):
            return None

    def _local_modes(self) -> int:
        attributes = self._attributes()
        return int(attributes[3]) if attributes else 0

    def _groups(self) -> list[int]:
        """Its process group, and the one in front of its terminal if that is another."""
        groups = [self.pid]
        with suppress(OSError):
            front = os.tcgetpgrp(self.master)
            groups += [front] if front not in (0, self.pid, self._keeper) else []
        return groups

    def _to_keeper(self, number: int) -> None:
        if self.alive:
            with suppress(ProcessLookupError):
                os.kill(self._keeper, number)

    def _wait(self) -> int:
        """In a thread: block until the next change of state, and take note of it at once."""
        _, status = os.waitpid(self._keeper, os.WUNTRACED)
        self.stopped = os.WIFSTOPPED(status)
        if not self.stopped:
            self._reaped = True
            self.exit = _exit_of(os.waitstatus_to_exitcode(status))
        return status


async def _while(condition: Callable[[], bool], seconds: float) -> None:
    with anyio.move_on_after(seconds):
        while condition():
            await anyio.sleep(0.01)


def _signal_all(groups: Sequence[int], number: int) -> bool:
    """Send to each group; false if there is nobody left in any."""
    heard = False
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            if group > 0:
                os.killpg(group, number)
                heard = True
    return heard


def waiting_bytes(fd: int) -> int:
    """How many bytes a reader of the terminal ``fd`` could read at once (whole lines only, where it reads lines)."""
    try:
        return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), sys.byteorder)
    except OSError:
        return 0


def _exit_of(code: int) -> Exit:
    if code >= 0:
        return Exit(code=code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"SIG{-code}"
    return Exit(code=128 - code, died_of=name)

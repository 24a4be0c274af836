"""Child: one program in a session of its own behind a pseudo-terminal; it is never left behind."""

import os
import select
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import anyio
import anyio.to_thread

from ...contracts.base import Record
from ...contracts.errors import BadInput

if sys.platform != "win32":
    import fcntl
    import termios

Attributes = list[Any]
"""What ``termios.tcgetattr`` gives and ``tcsetattr`` takes."""

HANG_UP_PATIENCE: Final = 1.0
"""Seconds between the hang-up and the kill."""
_GROUP_PATIENCE: Final = 0.1
"""Seconds that the others of its process groups have once it is gone itself."""
_ROOM_PERIOD: Final = 0.05
_RESET_SIGNALS: Final = ("SIGPIPE", "SIGXFSZ", "SIGXFZ")
"""Python ignores these for itself; a child must find them as they usually are."""

_SESSION_COMES_FIRST = sys.platform == "linux"
"""Whether posix_spawn makes the session before it opens files: then the terminal it opens controls the session."""
_TAKE_TERMINAL: Final = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
try:
    os.execv(sys.argv[1], sys.argv[2:])
except OSError as error:
    sys.exit(f"{sys.argv[2]}: {error.strerror}")
"""
"""Elsewhere (macOS) nothing but the new process itself can take the terminal, so a few lines of Python run first."""


class Size(NamedTuple):
    """A terminal's size: characters, then pixels (0 where unknown)."""

    rows: int = 24
    columns: int = 80
    width: int = 0
    height: int = 0

    def packed(self) -> bytes:
        """As the kernel's ``struct winsize``."""
        return b"".join(min(number, 65_535).to_bytes(2, sys.byteorder) for number in self)

    @classmethod
    def of(cls, fd: int) -> "Size | None":
        """The size of the terminal behind ``fd``; none if it is no terminal or does not know."""
        try:
            raw = fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8))
        except OSError:
            return None
        size = cls(*(int.from_bytes(raw[at : at + 2], sys.byteorder) for at in (0, 2, 4, 6)))
        return size if size.rows and size.columns else None


class Exit(Record, frozen=True, kw_only=True):
    """How a program ended: ``code`` as a shell says it (128 + n for a signal), ``died_of`` the signal's name, if one."""

    code: int
    died_of: str = ""


class Child:
    """A started program. ``master`` is our end of its terminal, non-blocking."""

    def __init__(self, pid: int, master: int, terminal: str) -> None:
        self.pid = pid
        self.master = master
        self._terminal = terminal
        self._echoed = self._local_modes() & termios.ECHO
        self.exit: Exit | None = None
        self._reaped = False

    @classmethod
    def spawn(cls, argv: Sequence[str], env: Mapping[str, str], size: Size, attributes: Attributes | None) -> "Child":
        """Start ``argv`` with exactly ``env``. Raises ``BadInput`` if there is no such program.

        ``attributes`` are those its terminal begins with; without them it does not echo and changes no line ends, as
        befits input that no person types.
        """
        program = _found(argv, env)
        master, slave = os.openpty()
        try:
            os.set_blocking(master, False)
            fcntl.ioctl(master, termios.TIOCSWINSZ, size.packed())
            termios.tcsetattr(slave, termios.TCSANOW, attributes or _quiet(termios.tcgetattr(slave)))
            terminal = os.ttyname(slave)
            return cls(_start(program, argv, env, terminal), master, terminal)
        except BaseException as error:
            os.close(master)
            if isinstance(error, OSError):
                raise BadInput(f"{argv[0]}: can't be run: {error.strerror}") from error
            raise
        finally:
            os.close(slave)

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
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self.master, rest) :]
            except BlockingIOError:
                # Linux does not always say that room was made by its own moving of the bytes: look again soon.
                with anyio.move_on_after(_ROOM_PERIOD):
                    await anyio.wait_writable(self.master)

    def resize(self, size: Size) -> None:
        """Tell it a new size; the kernel sends it SIGWINCH if that is a change."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size.packed())

    def send(self, number: int) -> None:
        """Send a signal to its process group and to the group in the foreground of its terminal."""
        if self.alive:
            _signal_all(self._groups(), number)

    def reads_lines(self) -> bool:
        """True if the kernel edits the line for it, and Enter hands the line over whole."""
        return bool(self._local_modes() & termios.ICANON)

    def refusal(self) -> str:
        """Why its terminal takes no line now; empty if it does."""
        if self.reads_lines() and self._echoed and not self._local_modes() & termios.ECHO:
            return "a line is being read unseen, as a password is"
        poll = select.poll()
        poll.register(self.master, select.POLLOUT)
        writable = any(events & select.POLLOUT for _, events in poll.poll(0))
        return "" if writable else "the program does not read its input"

    def end_of_input(self, last: bytes) -> bytes:
        """The keys that end its input; ``last`` is the last byte it was given."""
        attributes = self._attributes()
        key: bytes = attributes[6][termios.VEOF] if attributes else b""
        # Within a line the first only hands over what there is of it.
        return key * 2 if self.reads_lines() and last != b"\n" else key

    def open_terminal(self) -> int | None:
        """Its own side of the terminal, to ask what waits there to be read; the caller closes it."""
        try:
            return os.open(self._terminal, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None

    async def put_down(self, first: int = signal.SIGHUP, patience: float = HANG_UP_PATIENCE) -> None:
        """End it if it still runs: ``first``, ``patience`` seconds, then SIGHUP, then SIGKILL. Safe under cancellation.

        The job in the foreground of its terminal goes with it. What it put in the background itself does not.
        """
        if not self.alive:
            return
        groups = self._groups()
        steps = [(signal.SIGHUP, HANG_UP_PATIENCE), (signal.SIGKILL, HANG_UP_PATIENCE)]
        with anyio.CancelScope(shield=True):
            for number, seconds in steps if first == signal.SIGHUP else [(first, patience), *steps]:
                if self.alive:
                    _signal_all(groups, number)
                    # A stopped one must go on to hear it.
                    _signal_all(groups, signal.SIGCONT)
                    await _while(lambda: self.alive, seconds)
            await _while(lambda: _signal_all(groups, 0), _GROUP_PATIENCE)
            _signal_all(groups, signal.SIGKILL)

    def close(self) -> None:
        """Close our end of the terminal; what is still attached to it is hung up by the kernel."""
        if self.alive:
            self.send(signal.SIGKILL)
        os.close(self.master)

    def _attributes(self) -> Attributes | None:
        try:
            return list(termios.tcgetattr(self.master))
        except (OSError, termios.error):
            return None

    def _local_modes(self) -> int:
        attributes = self._attributes()
        return int(attributes[3]) if attributes else 0

    def _groups(self) -> set[int]:
        groups = {self.pid}
        with suppress(OSError):
            groups.add(os.tcgetpgrp(self.master))
        return groups

    def _wait(self) -> int:
        """In a thread: block until the next change of state, and take note of an end at once."""
        _, status = os.waitpid(self.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self._reaped = True
            self.exit = _exit_of(os.waitstatus_to_exitcode(status))
        return status


async def _while(condition: Callable[[], bool], seconds: float) -> None:
    with anyio.move_on_after(seconds):
        while condition():
            await anyio.sleep(0.01)


def _signal_all(groups: set[int], number: int) -> bool:
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


def _found(argv: Sequence[str], env: Mapping[str, str]) -> str:
    if not argv or not argv[0]:
        raise BadInput("no program to run was given")
    found = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=env.get("PATH", os.defpath))
    if not found:
        raise BadInput(f"{argv[0]}: no such program in its PATH")
    return found


def _start(program: str, argv: Sequence[str], env: Mapping[str, str], terminal: str) -> int:
    """Start it as leader of a new session that ``terminal`` controls. Unlike a fork this is safe beside threads."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, terminal, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
    ]
    reset = [getattr(signal, name) for name in _RESET_SIGNALS if hasattr(signal, name)]
    words = list(argv)
    if not _SESSION_COMES_FIRST:
        program, words = sys.executable, [sys.executable, "-I", "-S", "-c", _TAKE_TERMINAL, program, *argv]
    return os.posix_spawn(program, words, dict(env), file_actions=actions, setsid=True, setsigmask=[], setsigdef=reset)


def _quiet(attributes: Attributes) -> Attributes:
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    return attributes

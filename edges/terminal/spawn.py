"""Spawn: starts a program in a session of its own, in front of a pseudo-terminal that controls it, with a keeper beside it."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...contracts.errors import BadInput

if sys.platform != "win32":
    import fcntl
    import termios

Attributes = list[Any]
"""What ``termios.tcgetattr`` gives and ``tcsetattr`` takes."""

_KEEPER: Final = Path(__file__).with_name("keeper.py")
_STREAMS: Final = 3
"""Descriptors below this are the program's standard streams."""


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


class Started(NamedTuple):
    """A started program: our end of its terminal (non-blocking), the terminal's name, and whether it began with echo.

    ``program`` leads a process group of that number. ``keeper``, our child, stops, goes on and ends as the program does.
    """

    program: int
    keeper: int
    master: int
    terminal: str
    echoes: bool


def spawn(
    argv: Sequence[str], env: Mapping[str, str], size: Size, attributes: Attributes | None, will: Sequence[int] = ()
) -> Started:
    """Start ``argv`` with exactly ``env``. Raises ``BadInput`` if there is no such program.

    ``attributes`` are those its terminal begins with; without them it does not echo and changes no line ends, as befits
    input that no person types. ``will`` are the descriptors of a ``Will``, which its keeper carries out should we be killed.
    """
    program = _found(argv, env)
    master, slave = os.openpty()
    try:
        os.set_blocking(master, False)
        fcntl.ioctl(master, termios.TIOCSWINSZ, size.packed())
        chosen = attributes or _quiet(termios.tcgetattr(slave))
        termios.tcsetattr(slave, termios.TCSANOW, chosen)
        terminal = os.ttyname(slave)
        return Started(*_start(program, argv, env, terminal, will), master, terminal, bool(chosen[3] & termios.ECHO))
    except BaseException as error:
        os.close(master)
        if isinstance(error, OSError):
            raise BadInput(f"{argv[0]}: can't be run: {error.strerror}") from error
        raise
    finally:
        os.close(slave)


def _found(argv: Sequence[str], env: Mapping[str, str]) -> str:
    if not argv or not argv[0]:
        raise BadInput("no program to run was given")
    found = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=env.get("PATH", os.defpath))
    if not found:
        raise BadInput(f"{argv[0]}: no such program in its PATH")
    return found


def _start(program: str, argv: Sequence[str], env: Mapping[str, str], terminal: str, will: Sequence[int]) -> tuple[int, int]:
    """Start its keeper as leader of a new session; the program's number, and the keeper's.

    Unlike a fork this is safe beside threads.
    """
    # What the keeper alone is to have gets a number that no file handed down has: one that was free here until now.
    numbers = {fd: _duplicate(fd) for fd in will if fd >= 0}
    told, tell = (_above_streams(fd) for fd in os.pipe())
    actions = [
        # First of all, while our own streams are still what they are.
        *((os.POSIX_SPAWN_DUP2, fd, number) for fd, number in numbers.items()),
        (os.POSIX_SPAWN_OPEN, 0, terminal, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
        (os.POSIX_SPAWN_DUP2, tell, told),
    ]
    locale = f"={env['LC_CTYPE']}" if "LC_CTYPE" in env else ""
    left = ",".join(str(numbers.get(fd, -1)) for fd in will)
    words = [sys.executable, "-I", "-S", str(_KEEPER), str(told), left, locale, program, *argv]
    with open(told, "rb") as report:  # noqa: PTH123 - a descriptor
        try:
            keeper = os.posix_spawn(sys.executable, words, dict(env), file_actions=actions, setsid=True, setsigmask=[])
        finally:
            for fd in (tell, *numbers.values()):
                os.close(fd)
        # It ends when the program has begun, or can't.
        said = [int(word) for word in report.read().split()]
    if len(said) != 1:
        os.waitpid(keeper, 0)
        raise OSError(said[-1], os.strerror(said[-1])) if said else OSError(0, "its keeper ended at once")
    return said[0], keeper


def _above_streams(fd: int) -> int:
    """The same file under a number that is not that of a standard stream, should one of those have been free."""
    if fd >= _STREAMS:
        return fd
    other = _duplicate(fd)
    os.close(fd)
    return other


def _duplicate(fd: int) -> int:
    return int(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _STREAMS))


def _quiet(attributes: Attributes) -> Attributes:
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    return attributes

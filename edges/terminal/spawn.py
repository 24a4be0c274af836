"""Spawn: starts a program as the leader of a session of its own, with a pseudo-terminal that controls it."""

import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...contracts.errors import BadInput

if sys.platform != "win32":
    import fcntl
    import termios

Attributes = list[Any]
"""What ``termios.tcgetattr`` gives and ``tcsetattr`` takes."""

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
locale, program, *words = sys.argv[1:]
os.environ.pop("LC_CTYPE", None)
if locale:
    os.environ["LC_CTYPE"] = locale[1:]
try:
    os.execve(program, words, os.environ)
except OSError as error:
    sys.exit(f"{words[0]}: {error.strerror}")
"""
"""Elsewhere (macOS) nothing but the new process itself can take the terminal, so a few lines of Python run first.

Python may set ``LC_CTYPE`` for itself when it starts, so what was given is handed on apart.
"""


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
    """A started program: our end of its terminal (non-blocking), the terminal's name, and whether it began with echo."""

    pid: int
    master: int
    terminal: str
    echoes: bool


def spawn(argv: Sequence[str], env: Mapping[str, str], size: Size, attributes: Attributes | None) -> Started:
    """Start ``argv`` with exactly ``env``. Raises ``BadInput`` if there is no such program.

    ``attributes`` are those its terminal begins with; without them it does not echo and changes no line ends, as befits
    input that no person types.
    """
    program = _found(argv, env)
    master, slave = os.openpty()
    try:
        os.set_blocking(master, False)
        fcntl.ioctl(master, termios.TIOCSWINSZ, size.packed())
        chosen = attributes or _quiet(termios.tcgetattr(slave))
        termios.tcsetattr(slave, termios.TCSANOW, chosen)
        terminal = os.ttyname(slave)
        return Started(_start(program, argv, env, terminal), master, terminal, bool(chosen[3] & termios.ECHO))
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
        locale = f"={env['LC_CTYPE']}" if "LC_CTYPE" in env else ""
        words = [sys.executable, "-I", "-S", "-c", _TAKE_TERMINAL, locale, program, *argv]
        program = sys.executable
    return os.posix_spawn(program, words, dict(env), file_actions=actions, setsid=True, setsigmask=[], setsigdef=reset)


def _quiet(attributes: Attributes) -> Attributes:
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    return attributes

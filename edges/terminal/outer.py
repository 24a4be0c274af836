"""Outer: our own terminal, made raw for the time of the run and given back exactly as it was."""

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Final

from .spawn import Attributes, Size
from .streams import is_given

if sys.platform != "win32":
    import termios

STDIN: Final = 0
STDOUT: Final = 1


class Outer:
    """The terminal behind our stdin, if there is one: raw for a time, then restored.

    Nothing can restore it when the process itself is killed with SIGKILL; ``reset`` in the shell does.
    """

    def __init__(self) -> None:
        self.attributes = _attributes_of(STDIN)
        """As found; none if stdin is no terminal."""
        self._raw = False

    @property
    def typed(self) -> bool:
        """True if a person types: stdin is a terminal."""
        return self.attributes is not None

    def size(self) -> Size:
        """The size of the first terminal among stdout, stdin and stderr; 80×24 without one."""
        return next((size for fd in (STDOUT, STDIN, 2) if is_given(fd) and (size := Size.of(fd))), Size())

    def make_raw(self) -> None:
        """Pass every key on as it is; keys that were typed ahead are kept."""
        if self.attributes is not None:
            self._raw = True
            _apply(_raw(self.attributes))

    def restore(self) -> None:
        """The attributes as they were found, byte for byte."""
        if self.attributes is not None and self._raw:
            self._raw = False
            # In the background a change of the terminal would stop us, but what was ours to set is ours to set back.
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
            try:
                _apply(self.attributes)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def shows(fd: int) -> bool:
    """True if what is written to ``fd`` is shown on a terminal."""
    return is_given(fd) and os.isatty(fd)


def stop_ourselves() -> None:
    """Stop as Ctrl-Z stops a program; returns when somebody has brought us back.

    The kernel ignores it where nobody could bring us back (no shell with job control above us).
    """
    if threading.current_thread() is not threading.main_thread():
        os.kill(os.getpid(), signal.SIGTSTP)
        return
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    try:
        os.kill(os.getpid(), signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, before)


def _attributes_of(fd: int) -> Attributes | None:
    if not is_given(fd):
        return None
    try:
        return list(termios.tcgetattr(fd))
    except (OSError, termios.error):
        return None


def _raw(attributes: Attributes) -> Attributes:
    iflag, oflag, cflag, lflag, *speeds, characters = attributes
    iflag &= ~(
        termios.IGNBRK
        | termios.BRKINT
        | termios.PARMRK
        | termios.ISTRIP
        | termios.INLCR
        | termios.IGNCR
        | termios.ICRNL
        | termios.IXON
    )
    oflag &= ~termios.OPOST
    cflag = (cflag & ~(termios.CSIZE | termios.PARENB)) | termios.CS8
    lflag &= ~(termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN)
    characters = list(characters)
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    return [iflag, oflag, cflag, lflag, *speeds, characters]


def _apply(attributes: Attributes) -> None:
    # A terminal that was hung up can't be set, and need not be.
    with suppress(OSError, termios.error):
        termios.tcsetattr(STDIN, termios.TCSANOW, attributes)

"""Outer: our own terminal, made raw for the time of the run and given back exactly as it was."""

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Final

from .spawn import Attributes, Size
from .streams import is_given
from .will import Will

if sys.platform != "win32":
    import termios

STDIN: Final = 0
STDOUT: Final = 1


class Outer:
    """The terminal behind our stdin, if there is one: raw for a time, then restored.

    When the process itself is killed, what ``will`` says restores it.
    """

    def __init__(self) -> None:
        """Started in the background, we wait until we are in front: whoever is there has set it up for itself."""
        _await_front()
        self.attributes = _attributes_of(STDIN)
        """As found; none if stdin is no terminal."""
        self._raw = False
        self.will = Will(None if self.attributes is None else STDIN, STDOUT if shows(STDOUT) else None)

    @property
    def in_front(self) -> bool:
        """False while somebody else has our terminal, as after ``bg``: then changing it would stop us."""
        return self.attributes is None or _is_in_front()

    @property
    def answers(self) -> bool:
        """True if what the terminal answers to what is written to it is read by us."""
        return self.typed and self.in_front and _is_one(STDIN, STDOUT)

    @property
    def attributes_within(self) -> Attributes | None:
        """Those for the program's own terminal. Where its output goes elsewhere, line ends stay as it writes them."""
        if self.attributes is None or shows(STDOUT):
            return self.attributes
        iflag, oflag, *rest = self.attributes
        return [iflag, oflag & ~termios.OPOST, *rest]

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
            # As it really is now: a kernel may keep some flag as it was.
            self.will.made(_attributes_of(STDIN), self.attributes)

    def restore(self) -> None:
        """The attributes as they were found, byte for byte. Where somebody else has the terminal now, it is theirs to set."""
        if self.attributes is not None and self._raw:
            self._raw = False
            if self.in_front:
                _apply(self.attributes)
            self.will.given_back()

    def close(self) -> None:
        """Restore it for good."""
        self.restore()
        self.will.close()


def _is_one(*streams: int) -> bool:
    """True if all of them are the same terminal."""
    return all(is_given(fd) for fd in streams) and len({os.fstat(fd).st_rdev for fd in streams}) == 1


def shows(fd: int) -> bool:
    """True if what is written to ``fd`` is shown on a terminal."""
    return is_given(fd) and os.isatty(fd)


def stop_ourselves(number: int) -> bool:
    """Stop by ``number`` as the terminal would stop us: with our whole process group, if that is in front of it.

    Returns when somebody has brought us back; false if the kernel ignored it, as it does where nobody could bring us back (no
    shell with job control above us).
    """
    if threading.current_thread() is not threading.main_thread():
        # Sent to the process, another thread might take it, and this one run on for a moment.
        signal.pthread_kill(threading.get_ident(), number)
        return True
    came_back = False

    def note(*_: object) -> None:
        nonlocal came_back
        came_back = True

    before = {one: signal.signal(one, action) for one, action in ((number, signal.SIG_DFL), (signal.SIGCONT, note))}
    try:
        if _stands_in_front():
            os.killpg(0, number)
        else:
            os.kill(os.getpid(), number)
    finally:
        for one, action in before.items():
            signal.signal(one, action)
    return came_back


def _await_front() -> None:
    """Be stopped, with our whole job, for as long as somebody else has our terminal."""
    while is_given(STDIN) and not _is_in_front():
        try:
            # Nothing is to be changed: it is what the kernel stops a job in the background for.
            termios.tcdrain(STDIN)
        except (OSError, termios.error):
            # Nobody could bring us back.
            return


def _is_in_front() -> bool:
    try:
        return os.tcgetpgrp(STDIN) == os.getpgrp()
    except OSError:
        # It does not control us, or was hung up: nobody stops us for it.
        return True


def _stands_in_front() -> bool:
    """True if our process group is the one that keys such as Ctrl-Z go to."""
    for fd in (STDIN, STDOUT, 2):
        with suppress(OSError):
            return os.tcgetpgrp(fd) == os.getpgrp()
    return False


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

"""Outlet: one output stream of a command, from its own pipe or pseudo-terminal to where we write it, unchanged."""

import errno
import fcntl
import os
import pty
import select
import struct
import termios
from collections.abc import AsyncIterator
from typing import BinaryIO, Final

import anyio

_CHUNK: Final = 65_536
# A descriptor that is said to be writable takes this much without blocking (PIPE_BUF of POSIX is at least 512).
_SURE: Final = 512 if not hasattr(select, "PIPE_BUF") else select.PIPE_BUF
_SIZE: Final = struct.Struct("HHHH")


class Outlet:
    """A stream of the command: ``child`` is the end to hand over, ``chunks`` what it writes, ``write`` passes it on.

    With ``terminal`` the command sees a terminal of the same size as the target, so that it keeps its colours and its line
    buffering; output post-processing is off there, so the bytes stay as written.
    """

    def __init__(self, name: str, target: BinaryIO, *, terminal: bool) -> None:
        self.name: Final = name
        self._target = target
        self._target_fd = _descriptor(target)
        self._writable = select.poll()
        if self._target_fd is not None:
            target.flush()
            self._writable.register(self._target_fd, select.POLLOUT)
        self._terminal = terminal
        self._reading, self.child = pty.openpty() if terminal else os.pipe()
        self._open = True
        os.set_blocking(self._reading, False)
        if terminal:
            _pass_unchanged(self.child)
            self.resize()

    def handed_over(self) -> None:
        """Close our copy of the command's end, once the command has it."""
        os.close(self.child)

    def resize(self) -> None:
        """Give the command's terminal the size that the target has now."""
        if self._terminal and self._open and self._target_fd is not None and os.isatty(self._target_fd):
            size = fcntl.ioctl(self._target_fd, termios.TIOCGWINSZ, _SIZE.pack(0, 0, 0, 0))
            fcntl.ioctl(self._reading, termios.TIOCSWINSZ, size)

    async def chunks(self) -> AsyncIterator[bytes]:
        """What the command writes, as it comes, to its end."""
        while self._open:
            try:
                data = os.read(self._reading, _CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(self._reading)
                continue
            except OSError as error:
                # Linux says so when the last holder of a pseudo-terminal closed it.
                if error.errno != errno.EIO:
                    raise
                return
            if not data:
                return
            yield data

    async def write(self, data: bytes) -> None:
        """Pass bytes on, all of them, without blocking the other stream while the target is not ready."""
        if self._target_fd is None:
            self._target.write(data)
            self._target.flush()
            return
        rest = memoryview(data)
        while rest:
            if not self._writable.poll(0):
                await anyio.wait_writable(self._target_fd)
            try:
                rest = rest[os.write(self._target_fd, rest[:_SURE]) :]
            except BlockingIOError:
                # Whoever shares the target with us may have made it non-blocking, and may have filled it meanwhile.
                continue

    def close(self) -> None:
        """Close our end: what the command writes from here on fails, as it would in a shell."""
        if self._open:
            self._open = False
            os.close(self._reading)


def _descriptor(target: BinaryIO) -> int | None:
    try:
        return target.fileno()
    except (OSError, AttributeError):
        return None


def _pass_unchanged(child: int) -> None:
    attributes = termios.tcgetattr(child)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(child, termios.TCSANOW, attributes)

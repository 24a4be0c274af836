"""Streams: bytes from and to any kind of file descriptor, whole and in order, without ever blocking the event loop."""

import errno
import os
import select
import socket
import stat
import sys
from collections.abc import Callable
from functools import partial
from typing import Final

import anyio
import anyio.lowlevel

CHUNK: Final = 65_536
PAGE: Final = 4_096
"""What the kernel gives of a pseudo-terminal at once."""
_MOMENT: Final = 1
"""Milliseconds."""
_TRIES: Final = 4
_PIECE: Final = 512
"""A write of so many bytes to a pipe or terminal that says it is writable does not block, on any system."""
GONE: Final = frozenset({errno.EIO, errno.EPIPE, errno.ENXIO, errno.EBADF, errno.ECONNRESET, errno.ENOTCONN})
"""What says that the other end is no longer there."""
_NOT_POLLED: Final = frozenset({errno.EPERM, errno.EINVAL, errno.ENODEV})
"""What says of a file that nobody can or need wait for it."""


def is_given(stream: int) -> bool:
    """True if this process was started with ``stream``: 0, 1 or 2.

    If not, the number was soon taken by something that the process opened for itself, which must not be touched.
    """
    return (sys.__stdin__, sys.__stdout__, sys.__stderr__)[stream] is not None


def has_room(fd: int, millis: int = 0) -> bool:
    """True if something can be written to ``fd`` within so many milliseconds (or if trying will show that it is gone)."""
    if sys.platform == "linux":
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        return bool(poll.poll(millis))
    # poll knows no terminals on macOS.
    return bool(select.select([], [fd], [], millis / 1000)[1])


def has_input(fd: int) -> bool:
    """True if something can be read from ``fd`` at once (or if trying will show that it is at its end)."""
    if sys.platform == "linux":
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([fd], [], [], 0)[0])


class Inlet:
    """Reads what somebody types or pipes into ``fd``; the descriptor itself keeps its blocking mode for its other users."""

    def __init__(self, fd: int) -> None:
        self._own = _reopened(fd, os.O_RDONLY) if os.isatty(fd) else None
        self._fd = fd if self._own is None else self._own
        # A plain file gives at once what it has, and its end too; some systems would wait for more of it.
        self._plain = stat.S_ISREG(os.fstat(fd).st_mode)

    async def read(self) -> bytes:
        """The next bytes; empty at the end, or when the terminal is gone."""
        while True:
            await self._readable()
            try:
                return os.read(self._fd, CHUNK)
            except BlockingIOError:
                continue
            except OSError as error:
                if error.errno not in GONE:
                    raise
                return b""

    async def _readable(self) -> None:
        if not self._plain:
            try:
                await anyio.wait_readable(self._fd)
            except OSError as error:
                if error.errno not in _NOT_POLLED:
                    raise
                # So is /dev/null.
                self._plain = True
        if self._plain:
            await anyio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close what was opened here; the descriptor given stays open."""
        if self._own is not None:
            os.close(self._own)
            self._own = None


class Outlet:
    """Writes to ``fd`` all that is given, however little it takes at a time; without ``fd`` it writes to nowhere."""

    def __init__(self, fd: int | None) -> None:
        self._fd = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC) if fd is None else fd
        self._own = self._fd if fd is None else None
        self._socket: socket.socket | None = None
        self._put = self._way_to_write(self._fd)
        self.blocked = False
        """True while the reader at the other end takes nothing."""

    def put(self, chunk: bytes | memoryview) -> int:
        """Write what can be written now or within a moment; how many bytes that were.

        A reader that is only a little slower takes more very soon: waiting for that here, for a few thousandths of a second
        at most, is many times cheaper than a round of the event loop. Raises ``OSError`` when the reader is gone.
        """
        written = self._attempt(chunk)
        tries = 0
        while written < len(chunk) and tries < _TRIES and has_room(self._target, _MOMENT):
            written += self._attempt(chunk[written:])
            tries += 1
        return written

    async def write(self, chunk: bytes | memoryview) -> None:
        """Write all of ``chunk``. Raises ``OSError`` when the reader is gone."""
        rest = memoryview(chunk)
        while rest := rest[self.put(rest) :]:
            self.blocked = True
            await anyio.wait_writable(self._target)
            self.blocked = False

    def _attempt(self, chunk: bytes | memoryview) -> int:
        try:
            return self._put(chunk)
        except BlockingIOError:
            return 0

    def close(self) -> None:
        """Close what was opened here; the descriptor given stays open."""
        if self._own is not None:
            os.close(self._own)
            self._own = None
        if self._socket is not None:
            self._socket.close()

    @property
    def _target(self) -> int:
        return self._fd if self._own is None else self._own

    def _way_to_write(self, fd: int) -> Callable[[bytes | memoryview], int]:
        kind = os.fstat(fd).st_mode
        if stat.S_ISSOCK(kind):
            self._socket = socket.socket(fileno=os.dup(fd))
            return self._put_socket
        if not (stat.S_ISFIFO(kind) or os.isatty(fd)):
            return partial(os.write, fd)
        self._own = _reopened(fd, os.O_WRONLY)
        return self._put_careful if self._own is None else partial(os.write, self._own)

    def _put_careful(self, data: bytes | memoryview) -> int:
        # The descriptor may be shared and blocking: ask first, and write no more than surely fits.
        if not has_room(self._fd):
            raise BlockingIOError
        return os.write(self._fd, data[:_PIECE])

    def _put_socket(self, data: bytes | memoryview) -> int:
        assert self._socket is not None
        return self._socket.send(data, socket.MSG_DONTWAIT)


def _reopened(fd: int, access: int) -> int | None:
    """The same terminal or pipe, opened once more without blocking.

    ``O_NONBLOCK`` set on an inherited descriptor would also hit the shell and everybody else who shares it.
    """
    try:
        if os.isatty(fd):
            path = os.ttyname(fd)
        elif sys.platform == "linux":
            path = f"/proc/self/fd/{fd}"
        else:
            return None
        return os.open(path, access | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None

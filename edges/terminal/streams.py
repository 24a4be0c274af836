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


def is_open(fd: int) -> bool:
    """True if ``fd`` is an open file descriptor."""
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


async def readable(fd: int) -> None:
    """Wait until a read of ``fd`` gives something; files that always do are not waited for."""
    try:
        await anyio.wait_readable(fd)
    except PermissionError:
        # A plain file or /dev/null can't be polled, and need not be.
        await anyio.lowlevel.checkpoint()


class Inlet:
    """Reads what somebody types or pipes into ``fd``; the descriptor itself keeps its blocking mode for its other users."""

    def __init__(self, fd: int) -> None:
        self._own = _reopened(fd, os.O_RDONLY) if is_open(fd) and os.isatty(fd) else None
        self._fd = fd if self._own is None else self._own

    async def read(self) -> bytes:
        """The next bytes; empty at the end, or when the terminal is gone."""
        while True:
            await readable(self._fd)
            try:
                return os.read(self._fd, CHUNK)
            except BlockingIOError:
                continue
            except OSError as error:
                if error.errno not in GONE:
                    raise
                return b""

    def close(self) -> None:
        """Close what was opened here; the descriptor given stays open."""
        if self._own is not None:
            os.close(self._own)
            self._own = None


class Outlet:
    """Writes to ``fd`` all that is given, however little it takes at a time."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._own: int | None = None
        self._socket: socket.socket | None = None
        self._put = self._way_to_write(fd)
        self._poll = select.poll()
        if is_open(fd):
            self._poll.register(self._target, select.POLLOUT)
        self.blocked = False
        """True while the reader at the other end takes nothing."""

    def put(self, chunk: bytes | memoryview) -> int:
        """Write what can be written now or within a moment; how many bytes that were.

        A reader that is only a little slower takes more very soon: waiting for that here, for a few thousandths of a second
        at most, is many times cheaper than a round of the event loop. Raises ``OSError`` when the reader is gone.
        """
        written = self._attempt(chunk)
        tries = 0
        while written < len(chunk) and tries < _TRIES and self._poll.poll(_MOMENT):
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
        kind = os.fstat(fd).st_mode if is_open(fd) else 0
        if stat.S_ISSOCK(kind):
            self._socket = socket.socket(fileno=os.dup(fd))
            return self._put_socket
        if not (stat.S_ISFIFO(kind) or os.isatty(fd)):
            return partial(os.write, fd)
        self._own = _reopened(fd, os.O_WRONLY)
        return self._put_careful if self._own is None else partial(os.write, self._own)

    def _put_careful(self, data: bytes | memoryview) -> int:
        # The descriptor may be shared and blocking: ask first, and write no more than surely fits.
        if not self._poll.poll(0):
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

"""Stream: what is not started here is read as well: a pipe, a file that grows, and JSON lines of events."""

import os
import stat
from collections.abc import AsyncIterable, AsyncIterator, Callable
from pathlib import Path
from typing import BinaryIO, Final

import anyio
import anyio.lowlevel
import msgspec

from ...contracts.base import Millis, Record
from ...contracts.events import Event
from ...contracts.ports import Clock
from .feeding import Emit
from .reader import Reader
from .telling import Finding

POLLED_EVERY: Final = Millis(250)
"""How often a followed file is looked at."""
LONGEST_LINE: Final = 1_048_576
"""Bytes of one JSON line; a longer one is bad, and the next one is read again."""
_CHUNK: Final = 65_536
_REMEMBERED: Final = 64


class BadLine(Record, frozen=True, kw_only=True):
    """A line that is no event. The lines around it are not affected."""

    number: int
    """Counted from 1."""
    problem: str


async def read_pipe(source: BinaryIO, reader: Reader, emit: Emit, clock: Clock, *, name: str = "stdin") -> None:
    """Read a pipe, a terminal or a file to its end and hand over what it means; a slow taker slows the reading down."""
    async for data in chunks(source, wake_at=reader.due, clock=clock):
        now = clock.now()
        if found := reader.read(name, data, now) if data else reader.tick(now):
            await emit(found)
    if found := reader.close(clock.now()):
        await emit(found)


async def chunks(source: BinaryIO, *, wake_at: Callable[[], int | None], clock: Clock) -> AsyncIterator[bytes]:
    """The bytes of a source as they come; an empty piece each time the moment of ``wake_at`` has come before more bytes."""
    descriptor = source.fileno()
    waits = not stat.S_ISREG(os.fstat(descriptor).st_mode)
    while True:
        if waits and not await _is_readable(descriptor, wake_at(), clock):
            yield b""
            continue
        data = os.read(descriptor, _CHUNK)
        if not data:
            return
        yield data
        await anyio.lowlevel.checkpoint()


async def _is_readable(descriptor: int, until: int | None, clock: Clock) -> bool:
    if until is None:
        await anyio.wait_readable(descriptor)
        return True
    with anyio.move_on_after(max(0, until - clock.now()) / 1000):
        await anyio.wait_readable(descriptor)
        return True
    return False


async def follow_file(
    path: Path, reader: Reader, emit: Emit, clock: Clock, *, from_start: bool = False, period: Millis = POLLED_EVERY
) -> None:
    """Read what is added to a file, until cancelled; a file that is not there yet is waited for.

    A file that was renamed away is read to its end before the new one of that name; one that was cut or rewritten in place
    is read from its start.

    :param from_start: also read what is in it already
    :param period: how often the file is looked at, in milliseconds
    """
    followed = Followed(path, from_start=from_start)
    try:
        while True:
            while data := followed.read():
                await _hand_over(emit, reader.read(str(path), data, clock.now()))
            await _hand_over(emit, reader.tick(clock.now()))
            await anyio.sleep(period / 1000)
    finally:
        followed.close()


class Followed:
    """A file by its name, whichever file has that name at the moment."""

    def __init__(self, path: Path, *, from_start: bool) -> None:
        self._path = path
        self._from_start = from_start
        self._file: BinaryIO | None = None
        self._last = b""
        self._open()
        # A file that appears later is new from its first byte on.
        self._from_start = True

    def read(self) -> bytes:
        """More bytes, or none if there are none now."""
        if self._file is None and not self._open():
            return b""
        data = self._more()
        if not data and self._is_another():
            self.close()
            self._open()
            data = self._more()
        return data

    def close(self) -> None:
        """Close the file; the next read opens whatever has the name then."""
        if self._file is not None:
            self._file.close()
        self._file, self._last = None, b""

    def _open(self) -> bool:
        try:
            self._file = self._path.open("rb", buffering=0)
        except FileNotFoundError:
            return False
        if not self._from_start:
            self._file.seek(0, os.SEEK_END)
        return True

    def _more(self) -> bytes:
        if self._file is None:
            return b""
        if self._was_rewritten(self._file):
            self._file.seek(0)
            self._last = b""
        data = self._file.read(_CHUNK)
        self._last = (self._last + data)[-_REMEMBERED:]
        return data

    def _was_rewritten(self, file: BinaryIO) -> bool:
        """True if it is shorter than what was read, or holds something else where the last bytes were read."""
        place = file.tell()
        if os.fstat(file.fileno()).st_size < place:
            return True
        return bool(self._last) and os.pread(file.fileno(), len(self._last), place - len(self._last)) != self._last

    def _is_another(self) -> bool:
        if self._file is None:
            return False
        try:
            named = self._path.stat()
        except FileNotFoundError:
            return False
        held = os.fstat(self._file.fileno())
        return (named.st_dev, named.st_ino) != (held.st_dev, held.st_ino)


class EventLines:
    """JSON lines become events; a bad line becomes a ``BadLine`` and harms no other."""

    def __init__(self) -> None:
        self._decoder = msgspec.json.Decoder(Event)
        self._pending = b""
        self._number = 0
        self._too_long = False

    def feed(self, data: bytes) -> list[Event | BadLine]:
        """What the bytes complete, in order. Empty lines are passed over."""
        *lines, self._pending = (self._pending + data).split(b"\n")
        found = [item for line in lines if (item := self._line(line)) is not None]
        if len(self._pending) > LONGEST_LINE:
            self._pending, self._too_long = b"", True
        return found

    def close(self) -> list[Event | BadLine]:
        """The last line, if it has no line feed."""
        return self.feed(b"\n") if self._pending or self._too_long else []

    def _line(self, line: bytes) -> Event | BadLine | None:
        self._number += 1
        if self._too_long or len(line) > LONGEST_LINE:
            self._too_long = False
            return BadLine(number=self._number, problem=f"longer than {LONGEST_LINE} bytes")
        if not line.strip():
            return None
        try:
            event = self._decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            return BadLine(number=self._number, problem=str(error))
        if not event.text.strip():
            return BadLine(number=self._number, problem="text is empty - at `$.text`")
        return event


async def read_events(stream: AsyncIterable[bytes]) -> AsyncIterator[Event | BadLine]:
    """The events of a stream of JSON lines; a bad line gives a ``BadLine`` with its number and its problem."""
    lines = EventLines()
    async for data in stream:
        for item in lines.feed(data):
            yield item
    for item in lines.close():
        yield item


async def _hand_over(emit: Emit, found: list[Finding]) -> None:
    if found:
        await emit(found)

"""Piped: what comes on standard input, or is added to a file, as items: findings, lines or JSON, each by its own reader."""

from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Protocol

import anyio
import msgspec

from ..contracts.base import Instant
from ..contracts.errors import BadInput
from ..contracts.events import Event
from ..contracts.ports import Clock
from ..contracts.wire import LONGEST_LINE, Item, read_item
from ..edges.sources.followed import POLLED_EVERY, Followed
from ..edges.sources.lines import Lines
from ..edges.terminal.streams import Inlet


class Kind(Protocol):
    """Turns bytes into items. A ``Reader`` is one: it lets through only what matters, as the rules say."""

    def read(self, stream: str, data: bytes, now: Instant) -> Sequence[Item]:
        """What the bytes complete."""
        ...

    def due(self) -> Instant | None:
        """When ``tick`` has something to do."""
        ...

    def tick(self, now: Instant) -> Sequence[Item]:
        """What time alone completes."""
        ...

    def close(self, now: Instant) -> Sequence[Item]:
        """What the end completes."""
        ...


class _Untimed:
    def due(self) -> Instant | None:
        """Never."""
        return None

    def tick(self, now: Instant) -> list[Item]:
        """Nothing comes by time alone."""
        return []


class EveryLine(_Untimed):
    """Each line that is not blank is an event like ``pattern``."""

    def __init__(self, pattern: Event) -> None:
        self._pattern = pattern
        self._lines = Lines()

    def read(self, stream: str, data: bytes, now: Instant) -> list[Item]:
        """The lines that the bytes complete."""
        del stream
        return self._events(self._lines.feed(data), now)

    def close(self, now: Instant) -> list[Item]:
        """A last line without its line feed."""
        return self._events(self._lines.close(), now)

    def _events(self, lines: list[str], now: Instant) -> list[Item]:
        return [msgspec.structs.replace(self._pattern, text=line, at=now) for line in lines if line.strip()]


class JsonLines(_Untimed):
    """Each line is an event or a signal as JSON. A bad one is told by its number, and the others go on."""

    def __init__(self, to: str, complain: Callable[[str], None]) -> None:
        self._to = to
        self._complain = complain
        self._rest = b""
        self._too_long = False
        self._number = 0
        self.bad = 0
        """Lines that were neither."""

    def read(self, stream: str, data: bytes, now: Instant) -> list[Item]:
        """The lines that the bytes complete."""
        del stream, now
        *lines, rest = (self._rest + data).split(b"\n")
        items = [item for line in lines if (item := self._item(line)) is not None]
        self._too_long = self._too_long or len(rest) > LONGEST_LINE
        self._rest = b"" if self._too_long else rest
        return items

    def close(self, now: Instant) -> list[Item]:
        """A last line without its line feed."""
        return self.read("", b"\n", now) if self._rest or self._too_long else []

    def _item(self, line: bytes) -> Item | None:
        self._number += 1
        long, self._too_long = self._too_long or len(line) > LONGEST_LINE, False
        if not line.strip():
            return None
        try:
            item = _read(line, too_long=long)
        except BadInput as error:
            self.bad += 1
            self._complain(f"line {self._number}: {error}")
            return None
        return msgspec.structs.replace(item, to=self._to) if isinstance(item, Event) and item.to is None else item


async def piped(fd: int, kind: Kind, clock: Clock) -> AsyncGenerator[Sequence[Item], None]:
    """What comes on ``fd``, to its end."""
    inlet = Inlet(fd)
    try:
        while True:
            data = None
            with anyio.move_on_after(_until(kind.due(), clock)):
                data = await inlet.read()
            if data == b"":
                break
            yield kind.tick(clock.now()) if data is None else kind.read("stdin", data, clock.now())
        yield kind.close(clock.now())
    finally:
        inlet.close()


async def followed(path: Path, kind: Kind, clock: Clock) -> AsyncGenerator[Sequence[Item], None]:
    """What is added to a file from now on, whichever file has that name at the moment, until cancelled."""
    file = Followed(path, from_start=False)
    try:
        while True:
            while data := file.read():
                yield kind.read(str(path), data, clock.now())
            yield kind.tick(clock.now())
            await anyio.sleep(POLLED_EVERY / 1000)
    finally:
        file.close()


def _read(line: bytes, *, too_long: bool) -> Item:
    if too_long:
        raise BadInput(f"it has more than {LONGEST_LINE} bytes")
    return read_item(msgspec.Raw(line))


def _until(due: Instant | None, clock: Clock) -> float | None:
    return None if due is None else max(0.0, (due - clock.now()) / 1000)

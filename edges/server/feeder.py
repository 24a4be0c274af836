"""Feeder: a steady way to a recipient that may be late, busy or gone for a while; what can't wait any longer is counted."""

from collections import Counter, deque
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Final

import anyio
import anyio.abc

from ...contracts import wire
from ...contracts.base import Record
from ...contracts.errors import TocsinError
from ...contracts.events import Event
from ...contracts.severity import LEVELS, Severity
from ..clock import SteadyClock
from ..ids import RandomIds
from .batches import Packed, batches, packed, protected
from .lines import Lines, write

LIMIT: Final = 10_000
"""Items that may wait."""
_AT_ONCE: Final = 2_000
_FIRST_WAIT: Final = 0.1
_LONGEST_WAIT: Final = 2.0
_ANSWER_WITHIN: Final = 30.0
_WRITE_WITHIN: Final = 10.0


class Sent(Record, frozen=True, kw_only=True):
    """What became of everything that was put in: events, and beside them facts."""

    accepted: int = 0
    facts: int = 0
    """Signals that were accepted."""
    refused: int = 0
    """Of both."""
    shed: int = 0
    """Events left out because too much waited."""
    waiting: int = 0
    """Events not sent, or not answered."""
    refusal: str = ""
    """Why the first of them was refused."""


class Feeder:
    """Sends what is put in, in order, as soon as the recipient is there. ``run`` it as a task of the loop that uses it."""

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self._path = path
        self._limit = limit
        self._waiting: deque[wire.Item] = deque()
        self._under_way: list[Packed] = []
        self._batch = ""
        self._ids = RandomIds(SteadyClock())
        self._news = anyio.Event()
        self._progress = anyio.Event()
        self._counts: Counter[str] = Counter()
        self._refusal = ""
        self._stream: anyio.abc.ByteStream | None = None
        self._lines: Lines | None = None

    @property
    def connected(self) -> bool:
        """True while the recipient answers."""
        return self._stream is not None

    @property
    def idle(self) -> bool:
        """True if nothing waits, and everything was answered."""
        return not (self._waiting or self._under_way)

    @property
    def sent(self) -> Sent:
        """The counts so far."""
        return Sent(
            accepted=self._counts["accepted"],
            facts=self._counts["facts"],
            refused=self._counts["refused"],
            shed=self._counts["shed"],
            waiting=sum(isinstance(item, Event) for item in (*self._waiting, *(one.item for one in self._under_way))),
            refusal=self._refusal,
        )

    def put(self, items: Iterable[wire.Item]) -> None:
        """Take items in without waiting. Over the limit, events are left out: lowest severity first, of those the oldest.

        Words of people and agents, and facts, are never left out.
        """
        self._waiting.extend(items)
        if len(self._waiting) > self._limit:
            # Somewhat more than must be, so that a flood to nobody does not look through everything for each item.
            self._shed(len(self._waiting) - self._limit + self._limit // 16)
        self._news.set()

    async def send(self, items: Iterable[wire.Item]) -> None:
        """Take items in, waiting for room: nothing is left out."""
        for item in items:
            while len(self._waiting) >= self._limit:
                await self._next_progress()
            self._waiting.append(item)
            self._news.set()

    async def drained(self) -> None:
        """Wait until everything was answered."""
        while not self.idle:
            await self._next_progress()

    async def run(self) -> None:
        """Send, and connect again when it breaks, until cancelled."""
        wait = _FIRST_WAIT
        try:
            while True:
                await self._something_to_send()
                try:
                    await self._send_next()
                    wait = _FIRST_WAIT
                except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError, TocsinError):
                    # Gone, or too busy: the same batch goes again, with the same id, so that it is not taken twice.
                    await self._disconnect()
                    await anyio.sleep(wait)
                    wait = min(2 * wait, _LONGEST_WAIT)
        finally:
            with anyio.CancelScope(shield=True):
                await self._disconnect()

    async def _something_to_send(self) -> None:
        while self.idle:
            self._news = anyio.Event()
            await self._news.wait()

    async def _send_next(self) -> None:
        if self._stream is None:
            self._stream = await anyio.connect_unix(self._path)
            self._lines = Lines(self._stream, wire.LONGEST_ANSWER)
        if not self._under_way:
            self._take()
        if self._under_way:
            self._settle(await self._ask(wire.Feed(items=tuple(one.raw for one in self._under_way), batch=self._batch)))
        self._tell_progress()

    def _take(self) -> None:
        """The next batch; what no line can hold is refused here."""
        refused: list[wire.Unfit] = []
        first = list(islice(self._waiting, _AT_ONCE))
        self._under_way = next(batches(packed(first, refused)), [])
        upto = self._under_way[-1].place + 1 if self._under_way else len(first)
        for _ in range(upto):
            self._waiting.popleft()
        self._batch = self._ids.new()
        self._refuse([unfit for unfit in refused if unfit.index < upto])

    async def _ask(self, request: wire.Feed) -> wire.Answer:
        assert self._stream is not None
        assert self._lines is not None
        await write(self._stream, wire.line_of(request), within=_WRITE_WITHIN)
        line = await self._lines.next(idle=_ANSWER_WITHIN, whole_within=_ANSWER_WITHIN)
        if not line:
            raise anyio.ClosedResourceError
        return wire.read_answer(line)

    def _settle(self, answer: wire.Answer) -> None:
        match answer:
            case wire.Accepted():
                out = {unfit.index for unfit in answer.refused}
                for nth, one in enumerate(self._under_way):
                    if nth not in out:
                        self._counts["accepted" if isinstance(one.item, Event) else "facts"] += 1
                self._refuse(answer.refused)
            case wire.Failed(retryable=True):
                raise TocsinError(answer.text)
            case wire.Failed():
                self._refuse([wire.Unfit(index=0, text=answer.text)] * len(self._under_way))
            case _:
                raise TocsinError("the recipient answered something else than what was asked")
        self._under_way = []

    def _refuse(self, unfit: Iterable[wire.Unfit]) -> None:
        for one in unfit:
            self._counts["refused"] += 1
            self._refusal = self._refusal or one.text

    def _shed(self, number: int) -> None:
        standing = Counter(_level(item) for item in self._waiting if not protected(item))
        leave: dict[int, int] = {}
        for severity in Severity:
            leave[severity] = min(number, standing[severity])
            number -= leave[severity]
        kept: deque[wire.Item] = deque()
        for item in self._waiting:
            level = -1 if protected(item) else _level(item)
            if leave.get(level):
                leave[level] -= 1
                self._counts["shed"] += 1
            else:
                kept.append(item)
        self._waiting = kept

    async def _next_progress(self) -> None:
        await self._progress.wait()

    def _tell_progress(self) -> None:
        self._progress.set()
        self._progress = anyio.Event()

    async def _disconnect(self) -> None:
        stream, self._stream, self._lines = self._stream, None, None
        if stream is not None:
            await anyio.aclose_forcefully(stream)


def _level(item: wire.Item) -> int:
    return LEVELS[item.severity] if isinstance(item, Event) else -1

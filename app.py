"""App: the one composition root — settings → clock, tree, edges — and the line as a program embeds it."""

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio.to_thread
import msgspec
from platformdirs import user_state_path

from .actors.intake import Fed
from .actors.tree import Tree
from .contracts.base import Instant, Record
from .contracts.deliveries import Delivery
from .contracts.errors import BadInput, NameTaken, NoRecipient, NotRunning, RecipientDead
from .contracts.events import Event
from .contracts.lanes import LaneSpec
from .contracts.ports import Clock, Shelf, Sink
from .contracts.severity import LEVELS
from .contracts.signals import RecipientDied, RecipientRevived, Signal
from .contracts.status import LaneStatus, Status
from .contracts.verdicts import Decision
from .edges.clock import SteadyClock, utc_offset
from .edges.ids import RandomIds
from .edges.portal import Portal
from .edges.sinks.call import CallSink
from .edges.sinks.spill import SpillSink
from .pipeline.classify import Classify, Reason, Refusal
from .pipeline.record import DeadLetter
from .pipeline.roster import Settings

SPILL_DIR = "spill"


class Refused(Record, frozen=True, kw_only=True):
    """One of many events that was not taken, and why."""

    index: int
    text: str


class Intake(Record, frozen=True, kw_only=True):
    """What became of many events at the door."""

    accepted: int
    refused: tuple[Refused, ...] = ()


class Left(Record, frozen=True, kw_only=True):
    """What a line that stopped could not deliver: lane by lane, with what it waited for."""

    lanes: tuple[LaneStatus, ...]
    ended: bool
    """False if something still ran when the grace was over."""


class Tocsin:
    """One line: feed it from any thread, open a lane for each recipient, and each gets ordered, deduplicated blocks.

    Use it as a context manager, plain or async, or call ``start`` and ``stop``.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        clock: Clock | None = None,
        portal: Portal | None = None,
        state_dir: Path | None = None,
    ) -> None:
        """``state_dir`` is where what had to be cut is kept whole; by default the user's state directory."""
        self.clock = clock or SteadyClock()
        self.settings = _with_local_time(settings or Settings(), self.clock.now())
        self.run = RandomIds(self.clock).run()
        self._portal = portal or Portal()
        spill_dir = (state_dir or user_state_path("tocsin")) / SPILL_DIR
        self._tree = Tree(
            self.settings, self.clock, self._portal, run=self.run, spill=SpillSink(spill_dir), spill_dir=str(spill_dir)
        )
        # The same rules as on the line, asked ahead, so that a producer learns at once that nobody is there.
        self._directory = Classify(self.settings.classify)
        self._names: set[str] = set()
        self._running = False

    # Its life

    def start(self) -> Self:
        """Run. Twice is harmless."""
        if not self._running:
            self._tree.dispatcher.start()
            self._running = True
        return self

    def stop(self, grace: float = 5.0) -> Left:
        """Deliver what may be delivered, within ``grace`` seconds, and end. Answers with what is left; returns in any case."""
        if not self._running:
            return Left(lanes=(), ended=True)
        deadline = self.clock.now() + int(grace * 1000)
        pause = threading.Event()
        self._tree.flush()
        while self._tree.busy() and self.clock.now() < deadline:
            pause.wait(0.01)
        left = tuple(lane for lane in self._tree.status().lanes if lane.depth)
        self._running = False
        ended = self._tree.stop(max(0.1, (deadline - self.clock.now()) / 1000)) and not any(lane.under_way for lane in left)
        self._portal.close()
        return Left(lanes=left, ended=ended)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await anyio.to_thread.run_sync(self.stop)

    # Recipients

    def open_lane(self, name: str, sink: Sink | Shelf | Callable[[Delivery], object], *, typing: bool = False) -> None:
        """A recipient is here. ``sink`` writes what is released to it: a ``Sink``, a ``Shelf`` or a plain function.

        ``typing=True`` if the sink types into a terminal: nothing is then typed into a draft, a dialog or an answer.
        Raises ``NameTaken`` if the name is in use, ``BadInput`` if it can't be a name.
        """
        self._must_run()
        if not name or name != name.strip() or not name.isprintable():
            raise BadInput(f"{name!r} can't be a recipient's name: use printable characters, with no space at the ends")
        if name in self._names:
            raise NameTaken(f"a recipient called {name!r} is here already; choose another name, or close its lane first")
        self._names.add(name)
        spec = LaneSpec(name=name, typing=typing)
        self._tree.open_lane(spec, _as_sink(sink))
        self._directory.open(spec)

    def close_lane(self, name: str) -> None:
        """The recipient is gone; what was pending for it is dropped, on record."""
        if name in self._names:
            self._names.discard(name)
            self._directory.close(name)
            self._tree.close_lane(name)

    def observe(self, name: str, sink: Sink | Shelf | Callable[[Delivery], object]) -> None:
        """One more sees what was delivered, to anybody, after it was delivered."""
        self._must_run()
        self._tree.observe(name, _as_sink(sink))

    # In

    def feed(self, event: Event | str, *, wait: bool = True, timeout: float | None = None, **fields: Any) -> None:
        """Feed one event, or a text with the fields of an ``Event`` (``to=``, ``severity=``, ``scope=`` …).

        Returns when it is in the line. Raises ``NoRecipient``, ``RecipientDead`` or ``BadInput`` at once, and ``Backpressure``
        if it is not of class ``event``, the line is full, and ``wait`` is false or ``timeout`` seconds have passed.
        """
        made = _made(event, fields)
        answer = self._directory.recipients(made)
        if isinstance(answer, Refusal):
            raise _REFUSALS.get(answer.reason, NoRecipient)(answer.text)
        self._put([made], wait=wait, timeout=timeout)

    def feed_all(self, items: Iterable[Fed], *, wait: bool = True, timeout: float | None = None) -> Intake:
        """Feed many events, and signals in their order among them, as a process's output brings them.

        One that can't be taken does not keep the others out; the answer names each of them.
        """
        items = list(items)
        refused = [
            Refused(index=index, text=answer.text)
            for index, item in enumerate(items)
            if isinstance(item, Event) and isinstance(answer := self._directory.recipients(item), Refusal)
        ]
        if refused:
            out = {one.index for one in refused}
            items = [item for index, item in enumerate(items) if index not in out]
        self._put(items, wait=wait, timeout=timeout)
        return Intake(accepted=len(items), refused=tuple(refused))

    def signal(self, *facts: Signal) -> None:
        """Tell the line facts: a turn began, a dev server restarted, a dialog is open."""
        for fact in facts:
            if isinstance(fact, RecipientDied | RecipientRevived):
                self._directory.observe(fact)
        self._put(list(facts))

    # What it did

    def status(self) -> Status:
        """The whole line: each lane's depth and what it waits for, the balance, every verdict's count."""
        return self._tree.status()

    def explain(self, what: str) -> list[Decision]:
        """The story of a notice, by its id, or of all that share a fingerprint, by that or its first eight characters."""
        return self._tree.explain(what)

    def decisions(self, after: int = 0) -> tuple[list[Decision], int]:
        """The latest decisions after a cursor, and the next cursor."""
        return self._tree.decisions(after)

    def dead_letters(self) -> list[DeadLetter]:
        """What could not be told to anybody, with the reason."""
        return self._tree.dead_letters()

    def retry(self, notice_id: str) -> None:
        """Feed a dead letter's event again, through the whole line."""
        letter = next((letter for letter in self.dead_letters() if letter.decision.id == notice_id), None)
        if letter is None:
            raise BadInput(f"there is no dead letter with the id {notice_id!r}")
        self.feed(letter.notice.event)

    def _put(self, items: Sequence[Fed], *, wait: bool = True, timeout: float | None = None) -> None:
        self._must_run()
        self._tree.feed(items, wait=wait, timeout=timeout)

    def _must_run(self) -> None:
        if not self._running:
            raise NotRunning("the line is not running: call start(), or use it in a with statement")


_REFUSALS: dict[Reason, type[NoRecipient | RecipientDead | BadInput]] = {Reason.DEAD: RecipientDead, Reason.EMPTY: BadInput}


def _as_sink(sink: Sink | Shelf | Callable[[Delivery], object]) -> Sink | Shelf:
    return sink if isinstance(sink, Sink | Shelf) else CallSink(sink)


def _made(event: Event | str, fields: dict[str, Any]) -> Event:
    """The event; from a text and fields, checked as strictly as one that came in from outside."""
    if isinstance(event, Event):
        return msgspec.structs.replace(event, **fields) if fields else event
    try:
        return msgspec.convert({"text": event, **fields}, Event)
    except msgspec.ValidationError as error:
        raise BadInput(f"that is no event: {error}; severities are {', '.join(LEVELS)}") from error


def _with_local_time(settings: Settings, now: Instant) -> Settings:
    """Times in blocks are this machine's, unless the settings say otherwise."""
    layout = settings.fanout.layout
    if layout.utc_offset is not None:
        return settings
    layout = msgspec.structs.replace(layout, utc_offset=utc_offset(now))
    return msgspec.structs.replace(settings, fanout=msgspec.structs.replace(settings.fanout, layout=layout))

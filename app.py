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
from .contracts.hooks import HookEvent
from .contracts.lanes import LaneSpec
from .contracts.ports import Clock, Shelf, Sink
from .contracts.severity import LEVELS
from .contracts.signals import DialogClosed, LaneSignal, RecipientDied, RecipientRevived, ScopeSignal, Signal
from .contracts.status import LaneStatus, Status
from .contracts.verdicts import Decision
from .edges.clock import SteadyClock, utc_offset
from .edges.ids import RandomIds
from .edges.portal import Portal
from .edges.sinks.call import CallSink
from .edges.sinks.spill import SpillSink
from .pipeline.classify import Classify, Reason, Recipients, Refusal
from .pipeline.record import DeadLetter
from .pipeline.roster import Settings
from .pipeline.waiting import WaitTracker

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
        self._trackers: dict[str, WaitTracker] = {}
        self._observers: set[str] = set()
        self._lock = threading.Lock()
        self._hooks = threading.Lock()
        self._running = self._stopped = False

    # Its life

    def start(self) -> Self:
        """Run. Twice is harmless; raises ``NotRunning`` once it was stopped."""
        with self._lock:
            if self._stopped:
                raise NotRunning("this line has been stopped for good: make a new Tocsin")
            self._tree.dispatcher.start()
            self._running = True
        return self

    def stop(self, grace: float = 5.0) -> Left:
        """Deliver what may be delivered, within ``grace`` seconds, and end, for good.

        Answers with what is left; returns in any case. From its first moment on nothing more is taken in.
        """
        with self._lock:
            was_running, self._running, self._stopped = self._running, False, True
        timer = SteadyClock()
        deadline = timer.now() + int(grace * 1000)
        self._tree.close_door()
        self._tree.patience = max(0.1, grace)
        left, quiet = self._run_dry(timer, deadline) if was_running else ((), True)
        remaining = max(0.1, (deadline - timer.now()) / 1000)
        ended = self._tree.stop(remaining)
        return Left(lanes=left, ended=self._portal.close(remaining) and ended and quiet)

    def _run_dry(self, timer: Clock, deadline: int) -> tuple[tuple[LaneStatus, ...], bool]:
        """What is left in the lanes when all that may go has gone, and whether nothing was under way any more."""
        pause = threading.Event()
        try:
            while self._tree.arriving() and timer.now() < deadline:
                pass
            self._tree.flush()
            while (busy := self._tree.busy()) and timer.now() < deadline:
                pause.wait(0.01)
            return tuple(lane for lane in self._tree.status().lanes if lane.depth), not busy
        except NotRunning:  # the stage thread is stuck, so nobody knows
            return (), False

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
        made = _as_sink(sink)
        with self._lock:
            if name in self._names:
                raise NameTaken(f"a recipient called {name!r} is here already; choose another name, or close its lane first")
            self._names.add(name)
        spec = LaneSpec(name=name, typing=typing)
        self._tree.open_lane(spec, made)
        self._directory.open(spec)

    def close_lane(self, name: str) -> None:
        """The recipient is gone; what was pending for it is dropped, on record."""
        if name in self._names:
            self._names.discard(name)
            self._trackers.pop(name, None)
            self._directory.close(name)
            self._tree.close_lane(name)

    def add_observer(self, name: str, sink: Sink | Shelf | Callable[[Delivery], object]) -> None:
        """One more sees what was delivered, to anybody, after it was delivered. Raises ``NameTaken`` for a name in use."""
        self._must_run()
        made = _as_sink(sink)
        with self._lock:
            if name in self._observers:
                raise NameTaken(f"an observer called {name!r} is here already; choose another name")
            self._observers.add(name)
        self._tree.observe(name, made)

    # In

    def feed(self, event: Event | str, *, wait: bool = True, timeout: float | None = None, **fields: Any) -> None:
        """Feed one event, or a text with the fields of an ``Event`` (``to=``, ``severity=``, ``scope=`` …).

        Returns when it is in the line. Raises ``NoRecipient``, ``RecipientDead`` or ``BadInput`` at once, and ``Backpressure``
        if it is not of class ``event``, the line is full, and ``wait`` is false or ``timeout`` seconds have passed.
        """
        self._must_run()
        made = _made(event, fields)
        answer = self._recipients(made)
        if isinstance(answer, Refusal):
            raise _REFUSALS.get(answer.reason, NoRecipient)(answer.text)
        self._put([made], wait=wait, timeout=timeout)

    def feed_all(self, items: Iterable[Fed], *, wait: bool = True, timeout: float | None = None) -> Intake:
        """Feed many events, and signals in their order among them, as a process's output brings them.

        One that can't be taken does not keep the others out; the answer names each of them.
        """
        self._must_run()
        items = list(items)
        refused = [
            Refused(index=index, text=answer.text)
            for index, item in enumerate(items)
            if not isinstance(item, _FACTS) and isinstance(answer := self._recipients(item), Refusal)
        ]
        if refused:
            out = {one.index for one in refused}
            items = [item for index, item in enumerate(items) if index not in out]
        self._put(items, wait=wait, timeout=timeout)
        return Intake(accepted=len(items), refused=tuple(refused))

    def signal(self, *facts: Signal) -> None:
        """Tell the line facts: a turn began, a dev server restarted, a dialog is open."""
        if not all(isinstance(fact, _FACTS) for fact in facts):
            raise BadInput("that is no signal; an event goes in by feed()")
        for fact in facts:
            if isinstance(fact, DialogClosed) and (tracker := self._trackers.get(fact.lane)):
                tracker.dismiss()  # the menu is gone from the screen, whatever the agent's hooks say, or fail to say
        self._put(facts)

    def observe(self, lane: str, event: HookEvent) -> None:
        """Tell the line what a recipient's own hooks say: it then knows turns, tool calls and waits from the best source."""
        self._must_run()
        with self._hooks:  # one hook at a time, also while it waits at the door; the line can be stopped meanwhile
            tracker = self._trackers.setdefault(lane, WaitTracker(lane))
            facts = tracker.observe(event)
            self._put(facts)

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
        to = letter.notice.lane or letter.notice.event.to  # of several recipients only the one who was not told
        self.feed(msgspec.structs.replace(letter.notice.event, to=to))

    def _recipients(self, event: Event) -> Recipients | Refusal:
        """Who will be told. What nobody can read because it has the wrong types is refused."""
        try:
            return self._directory.recipients(event)
        except (AttributeError, TypeError) as error:
            return Refusal(Reason.EMPTY, f"that is neither an event nor a signal: {error}")

    def _put(self, items: Sequence[Fed], *, wait: bool = True, timeout: float | None = None) -> None:
        self._must_run()
        self._tree.feed(items, wait=wait, timeout=timeout)
        for item in items:
            if type(item) in _LIVES:
                self._directory.observe(item)  # type: ignore[arg-type]

    def _must_run(self) -> None:
        if not self._running:
            raise NotRunning("the line is not running: call start(), or use it in a with statement")


_REFUSALS: dict[Reason, type[NoRecipient | RecipientDead | BadInput]] = {Reason.DEAD: RecipientDead, Reason.EMPTY: BadInput}


_FACTS = (LaneSignal, ScopeSignal)
_LIVES = {RecipientDied, RecipientRevived}


def _as_sink(sink: Sink | Shelf | Callable[[Delivery], object]) -> Sink | Shelf:
    if not isinstance(sink, Sink | Shelf) and not callable(sink):
        raise BadInput(f"{sink!r} is no sink: give a function, or an object with deliver() or put()")
    return sink if isinstance(sink, Sink | Shelf) else CallSink(sink)


def _made(event: Event | str, fields: dict[str, Any]) -> Event:
    """The event; from a text and fields, checked as strictly as one that came in from outside."""
    if isinstance(event, Event):
        if not fields:
            return event
        fields = {**msgspec.structs.asdict(event), **fields}
    else:
        fields = {"text": event, **fields}
    try:
        return msgspec.convert(fields, Event)
    except msgspec.ValidationError as error:
        raise BadInput(f"that is no event: {error}; severities are {', '.join(LEVELS)}") from error


def _with_local_time(settings: Settings, now: Instant) -> Settings:
    """Times in blocks are this machine's, unless the settings say otherwise."""
    layout = settings.fanout.layout
    if layout.utc_offset is not None:
        return settings
    layout = msgspec.structs.replace(layout, utc_offset=utc_offset(now))
    return msgspec.structs.replace(settings, fanout=msgspec.structs.replace(settings.fanout, layout=layout))

"""App: the one composition root — settings → clock, tree, edges — and the line as a program embeds it."""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio.to_thread
import msgspec
from platformdirs import user_state_path

from .actors.intake import Fed
from .actors.tree import Tree
from .contracts.base import Record
from .contracts.deliveries import Delivery
from .contracts.durable import Acceptance, Rearmed
from .contracts.errors import BadInput, NameTaken, NoRecipient, NotRunning
from .contracts.events import Event
from .contracts.hooks import HookEvent
from .contracts.lanes import LaneSpec
from .contracts.ports import Clock, Shelf, Sink
from .contracts.recipients import Kind, Recipient, Session
from .contracts.signals import DialogClosed, RecipientDied, RecipientRevived, Signal
from .contracts.status import LaneStatus, Status
from .contracts.verdicts import Decision
from .contracts.waits import WaitState
from .edges.clock import SteadyClock
from .edges.desk import Desk, Intake, made, only_facts
from .edges.ids import RandomIds
from .edges.local_time import with_local_time
from .edges.portal import Portal
from .edges.sinks.call import as_sink
from .edges.sinks.spill import SpillSink
from .pipeline.classify import Classify
from .pipeline.notice_kinds import plain
from .pipeline.record import DeadLetter
from .pipeline.roster import Settings
from .pipeline.waiting import WaitTracker

if TYPE_CHECKING:
    from .edges.attention.desk import AttentionDesk
    from .edges.attention.running import RunningAttention
    from .edges.records import Records

SPILL_DIR = "spill"


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
        store: Path | None = None,
        warn: Callable[[str], None] | None = None,
        socket: str = "",
    ) -> None:
        """``state_dir`` is where what had to be cut is kept whole; by default the user's state directory.

        With ``store``, a database file that any number of processes may share, a person's, an agent's and a harness's words
        survive a crash: ``feed`` returns when they are committed. ``warn`` is told in words when that file makes trouble (by
        default the log of the name ``tocsin``). ``socket`` is where this process can be told that something was committed.
        """
        self.clock = clock or SteadyClock()
        self._store_path, self._socket, self._state_dir = store, socket, state_dir
        self._warn = warn or logging.getLogger("tocsin").warning
        self.settings = with_local_time(settings or Settings(), self.clock.now())
        self.run = RandomIds(self.clock).run()
        self._portal = portal or Portal()
        spill_dir = (state_dir or user_state_path("tocsin")) / SPILL_DIR
        self._tree = Tree(
            self.settings, self.clock, self._portal, run=self.run, spill=SpillSink(spill_dir), spill_dir=str(spill_dir)
        )
        # The same rules as on the line, asked ahead, so that a producer learns at once that nobody is there.
        self._directory = Classify(self.settings.classify)
        self._desk = Desk(self._tree, self._directory, RandomIds(self.clock))
        self._attention: RunningAttention | None = None
        self._names: set[str] = set()
        self._trackers: dict[str, WaitTracker] = {}
        self._heard: set[str] = set()
        """Lanes whose hooks have been heard, which the store knows: a recipient without any is not observable."""
        self._observers: set[str] = set()
        self._lock, self._hooks = threading.Lock(), threading.Lock()
        self._running = self._stopped = False

    # Its life

    def start(self) -> Self:
        """Run. Twice is harmless; raises ``NotRunning`` once it was stopped."""
        with self._lock:
            if self._stopped:
                raise NotRunning("this line has been stopped for good: make a new Tocsin")
            if not self._running and self._store_path is not None:
                self._remember(self._store_path)
            self._tree.dispatcher.start()
            self._running = True
        return self

    def _remember(self, path: Path) -> None:
        """Open the store and let the line use it. The database's library is not loaded without need: it takes its time."""
        from .edges.attention.running import attend
        from .edges.remembering import open_memory

        self._desk.memory = open_memory(path, self.clock, self._socket, self._warn)
        if self._desk.memory is not None:
            self._desk.memory.connect(self._tree, self._lives)
            self._desk.memory.start()
            self._attention = attend(self.settings.attention, path, self._state_dir, self.clock, self._warn, self.look)

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
        if was_running and self._desk.memory is not None:
            self._desk.memory.hold_back()
        left, quiet = self._run_dry(timer, deadline) if was_running else ((), True)
        remaining = max(0.1, (deadline - timer.now()) / 1000)
        ended = self._tree.stop(remaining)
        for stop in [one.stop for one in (self._attention, self._desk.memory) if one is not None]:
            stop(remaining)
        return Left(lanes=left, ended=self._portal.close(remaining) and ended and quiet)

    def drain(self, patience: float = 5.0) -> tuple[LaneStatus, ...]:
        """Deliver now all that may be delivered, without waiting for windows; within ``patience`` seconds. What is left."""
        self._must_run()
        timer = SteadyClock()
        return self._run_dry(timer, timer.now() + int(patience * 1000))[0]

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

    def open_lane(
        self,
        name: str,
        sink: Sink | Shelf | Callable[[Delivery], object],
        *,
        typing: bool = False,
        kind: Kind = "agent",
        provider: str = "",
        session: Session | None = None,
    ) -> None:
        """A recipient is here. ``sink`` writes what is released to it: a ``Sink``, a ``Shelf`` or a plain function.

        ``typing=True`` if the sink types into a terminal: nothing is then typed into a draft, a dialog or an answer.
        Raises ``NameTaken`` if the name is in use, here or by another process with the same store, and ``BadInput`` if it
        can't be a name. With a store it is registered as ``kind`` and ``provider``, and what waits for it comes at once.
        ``session``: its program has just been started, so what it waited for in an earlier run is over.
        """
        self._must_run()
        if not name or name != name.strip() or not name.isprintable():
            raise BadInput(f"{name!r} can't be a recipient's name: use printable characters, with no space at the ends")
        writer = as_sink(sink)
        with self._lock:
            if name in self._names:
                raise NameTaken(f"a recipient called {name!r} is here already; choose another name, or close its lane first")
            self._names.add(name)
        try:
            self._open(LaneSpec(name=name, typing=typing), writer, Recipient(name=name, kind=kind, provider=provider), session)
        except BaseException:
            self._names.discard(name)
            raise

    def _open(self, spec: LaneSpec, sink: Sink | Shelf, recipient: Recipient, session: Session | None) -> None:
        if self._desk.memory is None:
            self._tree.open_lane(spec, sink)
            self._directory.open(spec)
            return
        taken = self._desk.memory.take(recipient, session.id if session is not None else "")
        self._tree.open_lane(spec, sink)
        self._directory.open(spec)
        self._tree.seed(spec.name, taken.announced)
        if session is not None:
            self.records.begin_session(session)
        elif taken.waits is not None:
            tracker = self._trackers[spec.name] = WaitTracker(spec.name)
            self._desk.put(tracker.resume(taken.waits))
        self._desk.memory.begin(spec.name)

    def close_lane(self, name: str) -> None:
        """The recipient is gone; what was pending for it is dropped, on record. With a store, what is durable waits there."""
        if name in self._names:
            self._names.discard(name)
            self._trackers.pop(name, None)
            self._directory.close(name)
            self._tree.close_lane(name)
            if self._desk.memory is not None:
                self._desk.memory.give_back(name)

    def add_observer(self, name: str, sink: Sink | Shelf | Callable[[Delivery], object]) -> None:
        """One more sees what was delivered, to anybody, after it was delivered. Raises ``NameTaken`` for a name in use."""
        self._must_run()
        made = as_sink(sink)
        with self._lock:
            if name in self._observers:
                raise NameTaken(f"an observer called {name!r} is here already; choose another name")
            self._observers.add(name)
        self._tree.observe(name, made)

    # In

    def feed(self, event: Event | str, *, wait: bool = True, timeout: float | None = None, **fields: Any) -> Acceptance | None:
        """Feed one event, or a text with the fields of an ``Event`` (``to=``, ``severity=``, ``scope=`` …).

        Returns when it is in the line; with a store and any class but ``event``, when it is committed, and then says under
        which id (of several recipients, that of the first). Raises ``NoRecipient``, ``RecipientDead`` or ``BadInput`` at once,
        and ``Backpressure`` if it is not of class ``event``, the line is full, and ``wait`` is false or ``timeout`` seconds
        have passed.
        """
        self._must_run()
        return self._desk.feed(made(event, fields), wait=wait, timeout=timeout)

    def feed_all(self, items: Iterable[Fed], *, wait: bool = True, timeout: float | None = None) -> Intake:
        """Feed many events, and signals in their order among them, as a process's output brings them.

        One that can't be taken does not keep the others out; the answer names each of them.
        """
        self._must_run()
        return self._desk.feed_all(list(items), wait=wait, timeout=timeout)

    def signal(self, *facts: Signal) -> None:
        """Tell the line facts: a turn began, a dev server restarted, a dialog is open.

        With a store the end of a recipient's program only closes its lane: what is durable waits for its return.
        """
        self._must_run()
        told = only_facts(facts)
        for fact in told:
            if isinstance(fact, DialogClosed) and (tracker := self._trackers.get(fact.lane)):
                tracker.dismiss()  # the menu is gone from the screen, whatever the agent's hooks say, or fail to say
        ended = [fact for fact in told if isinstance(fact, RecipientDied)] if self._desk.memory is not None else []
        self._desk.put([fact for fact in told if fact not in ended])
        for fact in ended:
            self.close_lane(fact.lane)

    def _lives(self, fact: RecipientDied | RecipientRevived) -> None:
        """It was archived: what is pending for it ends as its class has it. Or it was registered again."""
        self._tree.feed([fact])
        self._directory.observe(fact)

    # What a harness and agents send

    def send_notice(
        self,
        to: str,
        kind: str,
        key: str,
        text: str,
        *,
        urgent: bool | None = None,
        ctx: Sequence[str] = (),
        cleared_when: str | None = None,
        **fields: Any,
    ) -> Acceptance | None:
        """A harness notice: told once for each ``kind:key`` until re-armed. What is not said of it, the table of kinds says."""
        event = plain(kind, key, to=to, text=text, ctx=ctx, urgent=urgent, cleared_when=cleared_when)
        return self.feed(event, **{"source": "harness", **fields})

    def send_mail(self, to: str, text: str, *, id: str = "", **fields: Any) -> Acceptance | None:
        """An agent's words to another: delivered exactly as they are, and once for each ``id``."""
        return self.feed(text, to=to, id=id, traffic="mail", **{"source": "mail", "severity": "info", **fields})

    def rearm(self, to: str, kind: str = "", cleared: Callable[[str, tuple[str, ...]], bool] = lambda *_: True) -> Rearmed:
        """The conditions behind these notices are gone: they may be told again, and those that still wait never are.

        ``cleared`` is asked for each signature of that ``kind`` (of any, if empty) with its ``ctx``. Evidence, never a clock.
        Raises ``NameTaken`` while another process delivers to it, ``NoRecipient`` without a store if it is not here.
        """
        self._must_run()
        if to in self._names:
            return self._tree.rearm(to, kind, cleared)
        if self._desk.memory is None:
            raise NoRecipient(f"nobody is called {to!r} here")
        return self._desk.memory.rearm(to, kind, cleared)

    def observe(self, lane: str, event: HookEvent) -> None:
        """Tell the line what a recipient's own hooks say: it then knows turns, tool calls and waits from the best source."""
        self._must_run()
        with self._hooks:  # one hook at a time, also while it waits at the door; the line can be stopped meanwhile
            tracker = self._trackers.setdefault(lane, WaitTracker(lane))
            before = _waits_of(tracker)
            facts = tracker.observe(event)
            self._desk.put(facts)
            if self._desk.memory is not None and (_waits_of(tracker) != before or lane not in self._heard):
                self._heard.add(lane)
                self._desk.memory.save_waits(lane, _waits_of(tracker))

    # What it did

    def status(self) -> Status:
        """The whole line: each lane's depth and what it waits for, the balance, every verdict's count."""
        trouble = self._desk.memory.trouble if self._desk.memory is not None else ""
        return msgspec.structs.replace(self._tree.status(), trouble=trouble)

    def explain(self, what: str) -> list[Decision]:
        """The story of a notice, by its id, or of all that share a fingerprint, by that or its first eight characters."""
        return self._tree.explain(what)

    def decisions(self, after: int = 0) -> tuple[list[Decision], int]:
        """The latest decisions after a cursor, and the next cursor."""
        return self._tree.decisions(after)

    def dead_letters(self) -> list[DeadLetter]:
        """What could not be told to anybody, with the reason."""
        return self._tree.dead_letters()

    @property
    def remembers(self) -> bool:
        """True if it has a store that could be opened."""
        return self._desk.memory is not None

    @property
    def records(self) -> "Records":
        """The store: recipients, messages, deliveries, the ledger, inboxes. Raises ``NotRunning`` without one."""
        from .edges.records import Records

        if self._desk.memory is None:
            raise NotRunning("this line has no store: give it one with Tocsin(store=PATH), and start it")
        return Records(self._desk.memory, self.clock)

    @property
    def attention(self) -> "AttentionDesk":
        """The person's queue: agents summon, and the person takes one item at a time. Raises ``NotRunning`` without a store."""
        if self._attention is None:
            raise NotRunning("this line has no store, so no queue: give it one with Tocsin(store=PATH), and start it")
        return self._attention.desk()

    def look(self) -> None:
        """Another process says that it has committed something for a recipient of this one."""
        if self._desk.memory is not None:
            self._desk.memory.look()

    def retry(self, notice_id: str) -> None:
        """Feed a dead letter's event again, through the whole line."""
        letter = next((letter for letter in self.dead_letters() if letter.decision.id == notice_id), None)
        to = (letter.notice.lane or letter.notice.event.to or "") if letter else ""
        if self._desk.memory is not None and (event := self._desk.memory.again(notice_id, to)) is not None:
            self._tree.bring(event)
        elif letter is not None:  # of several recipients only the one who was not told
            self.feed(msgspec.structs.replace(letter.notice.event, to=to or None))
        else:
            raise BadInput(f"there is no dead letter with the id {notice_id!r}")

    def _must_run(self) -> None:
        if not self._running:
            raise NotRunning("the line is not running: call start(), or use it in a with statement")


def _waits_of(tracker: WaitTracker) -> WaitState:
    """What a restart must not forget. A turn and its tool calls are proved anew by the next hook."""
    return msgspec.structs.replace(tracker.state(), turn=False, tools=())

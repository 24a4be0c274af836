"""Attention desk: the person's queue for programs and people: commands, questions, enrolment; beside a line or alone."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec.structs import replace

from ...actors.carrying import carry_out
from ...actors.publisher import Publisher
from ...actors.tables import Direct, Tables
from ...contracts.attention import Binding, ReturnMode
from ...contracts.attention_answers import Code, Receipt, Refusal, Result
from ...contracts.attention_commands import Command, RerouteReturn, RetryReturn
from ...contracts.attention_facts import Nobody, Operator, Policy, Principal, Request, Seat
from ...contracts.attention_items import PAGE, Item, Return, Source, State
from ...contracts.attention_pages import Counts, HistoryPage, ItemPage, Shown, SourcePage, Stuck
from ...contracts.attention_time import iso
from ...contracts.base import Instant
from ...contracts.errors import TocsinError
from ...contracts.ports import Clock
from ...pipeline.attention_requests import read_command, request_of
from ...store import attention_reads, attention_returns, attention_sources
from ...store.attention_schema import broker_of
from ...store.engine import Store, Transaction, View
from ..ids import RandomIds
from ..liveness import is_alive
from ..store_place import open_store
from . import handles, keys, names, unused
from .bells import ring_for
from .claims import ByHand, Dispatch, Evidence, Live
from .handles import default_source_file
from .journal import load_request, save_request

if TYPE_CHECKING:
    from .health import Health

__all__ = [
    "AttentionDesk",
    "ByHand",
    "Dispatch",
    "Evidence",
    "Live",
    "attention",
    "default_source_file",
    "load_request",
    "save_request",
]

T = TypeVar("T")


@contextmanager
def attention(
    path: Path, *, state: Path, clock: Clock, policy: Policy, warn: Callable[[str], None]
) -> "Iterator[AttentionDesk]":
    """The queue in the database at ``path``, which needs no line and no daemon, and works beside any number of them.

    ``state`` is the directory of the person's own key and of kept requests. ``warn`` is told of a damaged file that was set
    aside. Raises ``StoreUnusable`` and its kinds. For one thread.
    """
    store = _sound(path, clock, warn)
    desk = AttentionDesk(Direct(lambda: store), state=state, clock=clock, policy=policy)
    try:
        yield desk
        if desk.has_acted:
            desk.catch_up()
    finally:
        store.close()


def _sound(path: Path, clock: Clock, warn: Callable[[str], None]) -> Store:
    """The store, or as an error why there is none: whoever asks for a queue must not be shown an empty one instead."""
    said: list[str] = []
    store = open_store(path, clock, said.append)
    if store is None:  # the same question again, for its answer: an error, unless the trouble has passed
        return Store.open(path, now=clock.now())
    for text in said:
        warn(text)
    return store


class _NoWay(TocsinError):
    """An answer was to be sent again by a way that is closed; what was begun is taken back."""

    code = "no_route"
    fault = "recipient"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class AttentionDesk:
    """Every command and question about one person's queue."""

    def __init__(
        self, tables: Tables, *, state: Path, clock: Clock, policy: Policy, look: Callable[[], None] = lambda: None
    ) -> None:
        """Use ``attention`` or ``over``."""
        self._tables, self._clock, self._look = tables, clock, look
        self.state, self.policy, self.path = state, policy, tables.path
        self.has_acted = False
        """True once it has carried out a command."""
        self._broker = names.uuid(clock)  # a name for a database that has none
        self._publisher = Publisher(clock, RandomIds(clock).new, is_alive(clock.now), self._arrived)

    @classmethod
    def over(
        cls, tables: Tables, *, state: Path, clock: Clock, policy: Policy, look: Callable[[], None] = lambda: None
    ) -> Self:
        """The desk of a database that is open already; as safe for threads as ``tables`` is.

        ``look`` lets a line in this process know that something may wait for its recipients.
        """
        return cls(tables, state=state, clock=clock, policy=policy, look=look)

    # Commands

    def act(self, command: Command | bytes, principal: Principal) -> Receipt | Refusal:
        """Carry out one command, whole or not at all; what is answered is committed. An expected no is a ``Refusal``.

        Raises ``StoreBusy`` if other processes kept the database locked, ``StoreFull`` and other kinds of ``StoreUnusable``.
        The same command, with its id, can be sent again after any of these: it is never done twice.
        """
        request = read_command(command) if isinstance(command, bytes) else request_of(command)
        if isinstance(request, Refusal):
            return replace(request, as_of=iso(self._clock.now()))
        if isinstance(request.command, RetryReturn | RerouteReturn):
            self.catch_up()
        try:
            answer = self._tables.change(lambda tx: self._carry_out(tx, request, principal))
        except _NoWay as stuck:
            return replace(stuck.refusal, command_id=request.command.command_id, as_of=iso(self._clock.now()))
        self.has_acted = self.has_acted or isinstance(answer, Receipt)
        if isinstance(answer, Receipt) and answer.return_effect is not None:
            self._pass(self._publisher.send)
        return answer

    def _carry_out(self, tx: Transaction, request: Request, principal: Principal) -> Receipt | Refusal:
        now, broker = self._clock.now(), self._broker
        answer = carry_out(tx, request, principal=principal, policy=self.policy, broker_uuid=broker, now=now)
        if isinstance(answer, Receipt) and answer.result is Result.RETURN_RETRIED and not answer.replayed:
            self._must_have_a_way(tx, answer)
        return answer

    def _must_have_a_way(self, tx: Transaction, answer: Receipt) -> None:
        """The same way again is no use while it is as closed as before. Raises ``_NoWay``: then nothing was changed."""
        from . import ways

        shown = attention_reads.item(tx, answer.item_id or 0, self._clock.now())
        if shown is not None and (words := ways.closed(tx, shown.item, is_alive(self._clock.now))):
            raise _NoWay(
                Refusal(
                    code=Code.NO_ROUTE, message=words, action=answer.action, item_id=answer.item_id, revision=answer.revision
                )
            )

    def catch_up(self) -> None:
        """Send what is due and note what became of answers that were sent: what a running line does every second."""
        self._pass(self._publisher.once)

    def _pass(self, publish: Callable[[Tables], None]) -> None:
        """Answers go on their way at once, if they can. If not, whoever looks next sends them: the command is done."""
        if not self.policy.enabled:
            return
        try:
            publish(self._tables)
        except TocsinError:
            return

    def _arrived(self, names: frozenset[str]) -> None:
        self._look()
        ring_for(self._tables, names)

    def bind(self, project: str, work: str, *, mode: ReturnMode, out: Path, evidence: Evidence) -> Receipt | Refusal:
        """Enrol a work context: the one that shows ``evidence``. Its handle goes into ``out``, which is not overwritten.

        Repeated with the same file it is the same source. Raises ``NotRunning`` and others if nobody can vouch for it.
        """
        from . import enrolling  # it speaks to sockets, which nothing else here does

        return enrolling.bind(
            self._tables,
            self._clock,
            self.policy,
            self.operator,
            work=Binding(project_id=project, work_id=work, return_mode=mode),
            out=out,
            evidence=evidence,
        )

    # Who asks

    def operator(self) -> Operator:
        """The person, by the key in ``state``. Raises ``NotYours`` if it is not theirs, or another than this database knows."""
        return keys.operator(self._tables, self.state, self._clock)

    def seat(self, source_file: Path) -> Seat | Nobody:
        """Who shows this file's handle. Raises ``UnknownSource``, ``BadInput``, ``NotYours`` if others could have read it."""
        handle = handles.read(source_file)
        return self._tables.query(lambda view: handles.seat(view, handle))

    # Questions: nothing is claimed or changed by them

    def queue(
        self,
        *,
        human_id: str | None = None,
        states: tuple[State, ...] = attention_reads.OPEN_STATES,
        after: str | None = None,
        limit: int = PAGE,
    ) -> ItemPage:
        """Items in these states. Raises ``BadInput`` for an ``after`` that no page said."""
        human = human_id or self.policy.human_id
        empty = ItemPage(as_of=self._now(), items=(), after=None)
        return self._ask(
            lambda view, now: attention_reads.queue(view, human, now, states=states, after=after, limit=limit), empty
        )

    def item(self, item_id: int) -> Shown | None:
        """One item whole, and how the way of its answer is; none if there is none."""
        return self._ask(lambda view, now: self._with_way(view, attention_reads.item(view, item_id, now)), None)

    def _with_way(self, view: View, shown: Shown | None) -> Shown | None:
        from . import ways  # only an item whose answer goes somewhere needs to know

        return shown and ways.looked_at(view, shown, is_alive(self._clock.now))

    def active(self, human_id: str | None = None) -> Item | None:
        """What this person has."""
        human = human_id or self.policy.human_id
        return self._ask(lambda view, now: attention_reads.active(view, human), None)

    def history(self, item_id: int, *, after: int = 0, limit: int = PAGE) -> HistoryPage:
        """What happened to an item, oldest first."""
        empty = HistoryPage(as_of=self._now(), events=(), after=None)
        return self._ask(lambda view, now: attention_reads.history(view, item_id, now, after=after, limit=limit), empty)

    def command(self, command_id: str, principal: Principal) -> Receipt | Refusal:
        """The receipt of a command that was carried out; ``unknown_command`` if it was not."""
        now = self._clock.now()
        none: Receipt | Refusal = unused.no_command(command_id, now)
        return self._ask(lambda view, now: attention_reads.command(view, command_id, principal, now), none)

    def counts(self, human_id: str | None = None) -> Counts:
        """How the queue stands."""
        human = human_id or self.policy.human_id
        return self._ask(lambda view, now: attention_reads.counts(view, human, now), unused.nothing(human, self._clock.now()))

    def held_up(self, human_id: str | None = None) -> tuple[Stuck, ...]:
        """Answers that are on their way to a session that does not run now, a hundred at most."""
        from . import ways

        human, alive = human_id or self.policy.human_id, is_alive(self._clock.now)
        nothing: tuple[Stuck, ...] = ()
        return self._ask(lambda view, now: ways.held_up(view, human, alive), nothing)

    def sources(self, *, after: str = "", limit: int = PAGE) -> SourcePage:
        """Sources by their ids, also the revoked."""
        empty = SourcePage(as_of=self._now(), sources=(), after=None)
        return self._ask(lambda view, now: attention_reads.sources(view, now, after=after, limit=limit), empty)

    def source(self, source_id: str) -> Source | None:
        """One source; none if there is none."""
        return self._ask(lambda view, now: attention_sources.source(view, source_id), None)

    def obstacles(self, sources: Sequence[Source]) -> dict[str, str]:
        """By its id, why an answer could not go to a source now; empty where it could. In the words of ``doctor``."""
        from . import health

        alive = is_alive(self._clock.now)
        return self._tables.query(lambda view: health.obstacles(view, sources, alive))

    def returns(self, item_id: int) -> list[Return]:
        """All generations of an item's answer, the first one first."""
        return self._ask(lambda view, now: attention_returns.of_item(view, item_id), [])

    def doctor(self, human_id: str | None = None) -> "Health":
        """How everything stands that the queue depends on. It tells no secret."""
        from . import health

        human, now = human_id or self.policy.human_id, self._clock.now()
        return health.examine(self._tables, self.state, self.policy, human, now, is_alive(self._clock.now))

    def _ask(self, call: Callable[[View, Instant], T], otherwise: T) -> T:
        """The answer; ``otherwise`` where the queue was never used."""

        def ask(view: View) -> T:
            return call(view, self._clock.now()) if broker_of(view) is not None else otherwise

        return self._tables.query(ask)

    def _now(self) -> str:
        return iso(self._clock.now())

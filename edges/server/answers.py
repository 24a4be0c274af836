"""Answers: what a line says to each request that came over its socket. Every call may block; it is made in a thread."""

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, assert_never

from ...contracts import wire
from ...contracts.base import Record
from ...contracts.durable import Rearmed
from ...contracts.errors import BadInput, NotFound
from ...contracts.hooks import HookEvent
from ...contracts.notices import Notice
from ...contracts.signals import Paused, Resumed
from ...contracts.status import Status
from ...contracts.verdicts import Decision
from ..rearming import matcher
from .hearing import Hearing

FEED_PATIENCE: Final = 5.0
"""Seconds that a full line may keep a feed waiting before it is told to try again."""
_AT_ONCE: Final = 500
"""Decisions in one line of an answer."""
_BATCHES: Final = 1_024
"""Batches remembered, so that one that is sent again is not taken twice."""


class TakenItem(Protocol):
    """One item that was refused."""

    @property
    def index(self) -> int: ...
    @property
    def text(self) -> str: ...


class Taken(Protocol):
    """What became of a feed."""

    @property
    def accepted(self) -> int: ...
    @property
    def refused(self) -> Sequence[TakenItem]: ...


class DeadLetter(Protocol):
    """A notice that nobody could be told of."""

    @property
    def decision(self) -> Decision: ...
    @property
    def notice(self) -> Notice: ...


class Line(Protocol):
    """What a server needs of a line."""

    def feed_all(self, items: Any, *, wait: bool = ..., timeout: float | None = ...) -> Taken: ...
    def signal(self, *facts: Any) -> None: ...
    def status(self) -> Status: ...
    def explain(self, what: str) -> list[Decision]: ...
    def decisions(self, after: int = ...) -> tuple[list[Decision], int]: ...
    def dead_letters(self) -> Sequence[DeadLetter]: ...
    def retry(self, notice_id: str) -> None: ...
    def observe(self, lane: str, event: HookEvent) -> None: ...
    def rearm(self, to: str, kind: str, cleared: Callable[[str, tuple[str, ...]], bool]) -> Rearmed: ...
    def look(self) -> None: ...


class Hooks(Protocol):
    """What hands over to an agent by its own hooks."""

    def hear(self, event: HookEvent) -> None: ...
    def take(self, event: HookEvent) -> tuple[str, str]: ...
    def handed(self, delivery: str) -> None: ...


class Identity(Record, frozen=True, kw_only=True):
    """Who answers here."""

    recipient: str
    pid: int
    session: str
    version: str
    token: str = ""
    """What the recipient's own program can show to prove that it was started by it."""


class Answers:
    """Answers for one recipient."""

    def __init__(self, line: Line, identity: Identity, hooks: Hooks | None = None) -> None:
        """``hooks`` is asked what a hook's call is answered with; without it the answer is empty."""
        self._line = line
        self._identity = identity
        self._hooks = hooks
        self._hearing = Hearing()
        self._cwd = _directory()
        self._batches: dict[str, wire.Accepted] = {}
        self._lock = threading.Lock()

    def to(self, request: wire.Request) -> Iterator[wire.Answer]:
        """One answer, or several lines that belong together. Raises ``TocsinError``."""
        match request:
            case wire.Hello():
                yield self._welcome(request)
            case wire.Feed():
                yield self._feed(request)
            case wire.AskStatus():
                yield wire.StatusIs(recipient=self._identity.recipient, status=self._line.status())
            case wire.Explain():
                yield from _in_parts(self._line.explain(request.what), 0)
            case wire.AskDecisions():
                yield from _in_parts(*self._line.decisions(request.after))
            case wire.AskLetters():
                yield from self._letters()
            case wire.Retry():
                yield self._retry(request.id)
            case wire.Pause() | wire.Resume():
                fact = Paused if isinstance(request, wire.Pause) else Resumed
                self._line.signal(fact(lane=self._identity.recipient))
                yield wire.Done()
            case wire.Hook() | wire.Handed():
                yield self._hook(request) if isinstance(request, wire.Hook) else self._handed(request)
            case wire.Rearm():
                found = self._line.rearm(self._identity.recipient, request.kind, matcher(request.signatures, request.ctx))
                yield wire.RearmedIs(delivered=found.delivered, held=found.held)
            case wire.Look():
                self._line.look()
                yield wire.Done()
            case _:
                assert_never(request)

    def _hook(self, call: wire.Hook) -> wire.HookAnswer:
        """A call that is a repeat, or of a session within the recipient's own, changes nothing and is given nothing."""
        if not self._hearing.counts(call):
            return wire.HookAnswer()
        self._line.observe(self._identity.recipient, call.event)
        if self._hooks is None:
            return wire.HookAnswer()
        self._hooks.hear(call.event)
        context, delivery = self._hooks.take(call.event) if call.carries else ("", "")
        return wire.HookAnswer(context=context, delivery=delivery)

    def _handed(self, said: wire.Handed) -> wire.Done:
        if self._hooks is not None:
            self._hooks.handed(said.delivery)
        return wire.Done()

    def _welcome(self, request: wire.Hello) -> wire.Welcome:
        mine = self._identity
        dispatched = bool(mine.token) and secrets.compare_digest(mine.token.encode(), request.token.encode())
        return wire.Welcome(
            recipient=mine.recipient,
            pid=mine.pid,
            session=mine.session,
            version=mine.version,
            dispatched=dispatched,
            cwd=self._cwd,
        )

    def _feed(self, request: wire.Feed) -> wire.Accepted:
        if known := self._batches.get(request.batch):
            return known
        items: list[wire.Item] = []
        places: list[int] = []
        refused: list[wire.Unfit] = []
        for index, raw in enumerate(request.items):
            try:
                items.append(wire.read_item(raw))
                places.append(index)
            except BadInput as error:
                refused.append(wire.Unfit(index=index, text=str(error)))
        taken = self._line.feed_all(items, wait=True, timeout=FEED_PATIENCE) if items else None
        if taken is not None:
            refused += [wire.Unfit(index=places[one.index], text=one.text) for one in taken.refused]
        answer = wire.Accepted(
            count=taken.accepted if taken else 0, refused=tuple(sorted(refused, key=lambda unfit: unfit.index))
        )
        self._remember(request.batch, answer)
        return answer

    def _remember(self, batch: str, answer: wire.Accepted) -> None:
        if not batch:
            return
        with self._lock:
            self._batches[batch] = answer
            if len(self._batches) > _BATCHES:
                del self._batches[next(iter(self._batches))]

    def _retry(self, notice_id: str) -> wire.Done:
        if all(letter.decision.id != notice_id for letter in self._line.dead_letters()):
            raise NotFound(f"there is no dead letter with the id {notice_id!r}; `tocsin letters` lists them")
        self._line.retry(notice_id)
        return wire.Done()

    def _letters(self) -> Iterator[wire.Letters]:
        letters = [wire.Letter(decision=one.decision, event=one.notice.event) for one in self._line.dead_letters()]
        # An event may be as long as a request's line, so a line of the answer holds but a few.
        for start in range(0, max(len(letters), 1), 8):
            yield wire.Letters(letters=tuple(letters[start : start + 8]), more=start + 8 < len(letters))


def _directory() -> str:
    """Where this process is, and the recipient's program was started; empty if that directory is gone."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""


def _in_parts(decisions: Sequence[Decision], cursor: int) -> Iterator[wire.Decisions]:
    for start in range(0, max(len(decisions), 1), _AT_ONCE):
        part = tuple(decisions[start : start + _AT_ONCE])
        yield wire.Decisions(decisions=part, next=cursor, more=start + _AT_ONCE < len(decisions))

"""Desk: where everything is handed in. It says at once who will be told, or why nobody can be, and what is committed."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from ..actors.intake import Fed
from ..actors.tree import Tree
from ..contracts.base import Record
from ..contracts.durable import DURABLE, Acceptance
from ..contracts.errors import BadInput, NoRecipient, RecipientDead, TocsinError
from ..contracts.events import Event
from ..contracts.ports import Ids
from ..contracts.severity import LEVELS
from ..contracts.signals import LaneSignal, RecipientDied, RecipientRevived, ScopeSignal, Signal
from ..pipeline.classify import Classify, Reason, Recipients, Refusal
from .doorbell import ring

if TYPE_CHECKING:
    from ..actors.memory import Memory

LONGEST_ID: Final = 200
"""Characters of a producer's id."""
FACTS: Final = (LaneSignal, ScopeSignal)
_LIVES: Final = {RecipientDied, RecipientRevived}
_REFUSALS: Final[dict[Reason, type[NoRecipient | RecipientDead | BadInput]]] = {
    Reason.DEAD: RecipientDead,
    Reason.EMPTY: BadInput,
}


class Refused(Record, frozen=True, kw_only=True):
    """One of many events that was not taken, and why."""

    index: int
    text: str


class Intake(Record, frozen=True, kw_only=True):
    """What became of many events at the door."""

    accepted: int
    refused: tuple[Refused, ...] = ()


class Desk:
    """Takes events and signals for one line, and messages for every recipient that its store knows."""

    def __init__(self, tree: Tree, directory: Classify, ids: Ids) -> None:
        """``directory`` has the same rules as the line, and is asked ahead, so that a producer learns at once who is there."""
        self._tree, self._directory, self._ids = tree, directory, ids
        self.memory: Memory | None = None

    def feed(self, event: Event, *, wait: bool, timeout: float | None) -> Acceptance | None:
        """One event; with a memory, a message is committed before this returns. Raises what keeps it out."""
        if self.memory is not None and event.traffic in DURABLE:
            [answer] = self._accept(self.memory, [event])
            if isinstance(answer, TocsinError):
                raise answer
            return answer
        if (refusal := self._refusal(event)) is not None:
            raise refusal
        self.put([event], wait=wait, timeout=timeout)
        return None

    def feed_all(self, items: Sequence[Fed], *, wait: bool, timeout: float | None) -> Intake:
        """Many, with signals among them; one that can't be taken does not keep the others out."""
        lasting = [index for index, item in enumerate(items) if self._lasts(item)]
        refused = self._accept_all(items, lasting)
        kept = set(lasting)
        taken: list[Fed] = []
        for index, item in enumerate(items):
            if index in kept:
                continue
            if not isinstance(item, FACTS) and (refusal := self._refusal(item)) is not None:
                refused.append(Refused(index=index, text=str(refusal)))
            else:
                taken.append(item)
        self.put(taken, wait=wait, timeout=timeout)
        refused.sort(key=lambda one: one.index)
        return Intake(accepted=len(items) - len(refused), refused=tuple(refused))

    def put(self, items: Sequence[Fed], *, wait: bool = True, timeout: float | None = None) -> None:
        """Into the line, as they are."""
        self._tree.feed(items, wait=wait, timeout=timeout)
        for item in items:
            if type(item) in _LIVES:
                self._directory.observe(item)  # type: ignore[arg-type]

    def _lasts(self, item: Fed) -> bool:
        return self.memory is not None and isinstance(item, Event) and item.traffic in DURABLE

    def _accept_all(self, items: Sequence[Fed], lasting: Sequence[int]) -> list[Refused]:
        if self.memory is None or not lasting:
            return []
        answers = self._accept(self.memory, [items[index] for index in lasting])  # type: ignore[misc]  # they are events
        both = zip(lasting, answers, strict=True)
        return [Refused(index=index, text=str(answer)) for index, answer in both if isinstance(answer, TocsinError)]

    def _refusal(self, event: Event) -> TocsinError | None:
        """Why it can't be taken; none if it can."""
        answer = self._recipients(event)
        return _REFUSALS.get(answer.reason, NoRecipient)(answer.text) if isinstance(answer, Refusal) else None

    def _recipients(self, event: Event) -> Recipients | Refusal:
        """Who will be told. What nobody can read because it has the wrong types is refused."""
        try:
            return self._directory.recipients(event)
        except (AttributeError, TypeError) as error:
            return Refusal(Reason.EMPTY, f"that is neither an event nor a signal: {error}")

    def _accept(self, memory: "Memory", events: Sequence[Event]) -> list[Acceptance | TocsinError]:
        """Commit them; for each the first recipient's answer. Other processes that deliver to one of them are told."""
        addressed = [self._addressees(memory, event) for event in events]
        offered = [
            (event, name, self._ids.new())
            for event, names in zip(events, addressed, strict=True)
            if not isinstance(names, TocsinError)
            for name in names
        ]
        accepted = memory.accept(offered)
        for bell in accepted.bells:
            ring(bell)
        answers = iter(accepted.answers)
        return [_first(names, lambda: next(answers)) for names in addressed]

    def _addressees(self, memory: "Memory", event: Event) -> tuple[str, ...] | TocsinError:
        """Who is meant: whoever is named, known here or not; else as for any event; else the only one registered."""
        if (fault := _fault(event)) is not None:
            return fault
        if event.to is not None:
            return (event.to,)
        answer = self._recipients(event)
        if not isinstance(answer, Refusal):
            return answer.lanes
        only = memory.only_recipient()
        return (only,) if only else NoRecipient(answer.text)


def made(event: Event | str, fields: dict[str, Any]) -> Event:
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


def only_facts(items: Iterable[Signal]) -> list[Signal]:
    """The signals. Raises ``BadInput`` if something else is among them."""
    facts = list(items)
    if not all(isinstance(fact, FACTS) for fact in facts):
        raise BadInput("that is no signal; an event goes in by feed()")
    return facts


def _first(names: tuple[str, ...] | TocsinError, answer: Callable[[], Acceptance | TocsinError]) -> Acceptance | TocsinError:
    """Of several recipients' answers the first, unless one of them is a refusal."""
    if isinstance(names, TocsinError):
        return names
    mine = [answer() for _ in names]
    return next((one for one in mine if isinstance(one, TocsinError)), mine[0])


def _fault(event: Event) -> TocsinError | None:
    if not (event.text.strip() or event.key):
        return BadInput("the event has no message: give it a text, or a key that says what it is")
    if not event.id.isprintable() or len(event.id) > LONGEST_ID:
        return BadInput(f"{event.id[:40]!r} can't be an id: use at most {LONGEST_ID} printable characters")
    return None

"""Lanes: what this process knows of the recipients that it delivers to, beside what the store knows."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from ..contracts.base import Instant
from ..contracts.durable import Held, Outcome, Stored
from ..contracts.events import Event
from ..contracts.recipients import Recipient

WINDOW: Final = 1_000
"""Messages of one recipient that are in the line at a time; the others wait in the store."""


class Lanes:
    """The recipients whose lanes are ours. What a transaction changes here counts once it is committed."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.begun: set[str] = set()
        self.to_look_at: set[str] = set()
        self.dead: list[str] = []
        self.back: list[str] = []
        """Recipients that were found archived, and registered again after that, until the line has been told."""
        self.resting: set[str] = set()
        """Archived ones whose lanes are still ours."""
        self._cursors: dict[str, int] = {}
        self._in_line: dict[str, set[str]] = {}
        self._recipients: dict[str, Recipient] = {}
        self._notices: dict[str, dict[str, Stored]] = {}
        """The harness's notices that are in the line."""
        self._watched: set[str] = set()
        """Recipients that were told something of which evidence may say that it is over."""
        self._sessions: dict[str, str] = {}
        self._after_commit: list[Callable[[], None]] = []

    def later(self, change: Callable[[], None]) -> None:
        """Do this when the transaction is committed."""
        self._after_commit.append(change)

    def committed(self) -> None:
        """It is."""
        for change in self._after_commit:
            change()
        self._after_commit.clear()

    def rolled_back(self) -> None:
        """It is not, and never will be."""
        self._after_commit.clear()

    def open(self, recipient: Recipient, session: str) -> None:
        """Its lane is ours, for this session of its program."""
        name = recipient.name
        self.names.add(name)
        self._recipients[name], self._notices[name] = recipient, {}
        self._cursors[name], self._in_line[name], self._sessions[name] = 0, set(), session

    def recipient(self, name: str) -> Recipient:
        """As it was registered when its lane became ours."""
        return self._recipients[name]

    def start_over(self) -> None:
        """Their messages are in another file now, at other places. What is in the line stays there."""
        self._cursors = dict.fromkeys(self._cursors, 0)
        self.look_at_all()

    def watch(self, name: str) -> None:
        """It was told something of which evidence may say that it is over."""
        self._watched.add(name)

    def depend_on_evidence(self, names: Iterable[str]) -> set[str]:
        """Those of them that there can be any evidence about."""
        return {name for name in self.begun.intersection(names) if name in self._watched or self.declared(name)}

    def declared(self, name: str) -> list[Stored]:
        """What is in the line for it and says by what evidence it becomes stale."""
        return [stored for stored in self._notices[name].values() if stored.event.cleared_when]

    def have_waited_since(self, before: Instant) -> list[str]:
        """Recipients with harness notices in the line that were accepted before that, by whatever process."""
        return sorted(name for name in self.begun if any(one.accepted_at < before for one in self._notices[name].values()))

    def kept(self, held: Held) -> None:
        """It waits as it is now: of a set of ids, with those that are news."""
        if found := self._notices.get(held.recipient, {}).get(held.id):
            self._notices[held.recipient][held.id] = replace(found, event=held.event)

    def may_read(self, name: str, event: Event) -> bool:
        """False for what is for another session of the recipient than the one that is here."""
        return not event.session or event.session == self._sessions.get(name)

    def begin(self, name: str) -> None:
        """What waits for it may come."""
        self.begun.add(name)
        self.to_look_at.add(name)

    def close(self, name: str) -> None:
        """Its lane is no longer ours."""
        for group in (self.names, self.begun, self.to_look_at, self.resting, self._watched):
            group.discard(name)

    def died(self, name: str) -> None:
        """It was archived, here or by another process: what is in the line for it ends, and nothing more comes in."""
        self.to_look_at.discard(name)
        self.begun.discard(name)
        self.dead.append(name)
        self.resting.add(name)

    def returned(self, name: str) -> None:
        """It was registered again: what waits for it may come."""
        self.resting.discard(name)
        self.begin(name)
        self.back.append(name)

    def look_at_all(self) -> None:
        """Something may have come for any of them."""
        self.to_look_at |= self.begun

    def arrived(self, name: str) -> None:
        """Something has come for it."""
        if name in self.begun:
            self.to_look_at.add(name)

    def thirsty(self) -> bool:
        """True if more may wait for one of them, and there is room for it in the line again."""
        return any(self.room(name) > 0 for name in self.to_look_at & self.begun)

    def room(self, name: str) -> int:
        """So many more may be in the line."""
        return WINDOW - len(self._in_line[name])

    def cursor(self, name: str) -> int:
        """Everything up to this place has been brought in."""
        return self._cursors[name]

    def is_in_line(self, message: Stored) -> bool:
        """True if it was brought in and has not ended."""
        return message.id in self._in_line[message.recipient]

    def brought(self, name: str, upto: int, mine: list[Stored], *, all_of_them: bool) -> None:
        """Everything up to this place has been looked at, and these are in the line."""
        self._cursors[name] = max(self._cursors[name], upto)
        self._in_line[name].update(stored.id for stored in mine)
        self._notices[name].update((stored.id, stored) for stored in mine if stored.traffic == "notice")
        if all_of_them:
            self.to_look_at.discard(name)

    def ended(self, outcomes: list[Outcome]) -> None:
        """These are no longer in the line."""
        for outcome in outcomes:
            if outcome.recipient in self._in_line:
                self._in_line[outcome.recipient].discard(outcome.id)
                self._notices[outcome.recipient].pop(outcome.id, None)

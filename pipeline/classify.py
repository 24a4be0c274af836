"""Classify: every event gets its recipients, its severity and its place in the line, or a reason why not."""

from collections.abc import Iterable
from enum import StrEnum
from fnmatch import fnmatchcase

import msgspec

from ..contracts.base import Inbound, Instant
from ..contracts.events import Event
from ..contracts.lanes import LaneSpec, Route
from ..contracts.notices import Notice
from ..contracts.severity import LEVELS
from ..contracts.signals import RecipientDied, RecipientRevived
from ..contracts.verdicts import Stage, Verdict
from .stage import StageBase
from .step import Step


class Policy(Inbound, frozen=True, kw_only=True):
    """How recipients are found for events that name none."""

    routes: tuple[Route, ...] = ()
    """Tried in order; every route that matches adds its recipients."""
    coordinator: str = "god"
    """Where mail to a dead recipient is bounced."""


class Reason(StrEnum):
    """Why an event went where it went."""

    EXPLICIT = "recipient_named"
    ROUTED = "route_matched"
    ONLY_LANE = "only_live_lane"
    UNKNOWN = "unknown_recipient"
    UNCLEAR = "no_recipient_and_no_route"
    EMPTY = "no_message"
    DEAD = "recipient_dead"
    BOUNCED = "bounced_to_coordinator"


class Refusal(msgspec.Struct, frozen=True):
    """An expected no: why the event can't go on, in words for its producer."""

    reason: Reason
    text: str


class Recipients(msgspec.Struct, frozen=True):
    """A yes: the lanes an event goes to."""

    reason: Reason
    lanes: tuple[str, ...]


class Classify(StageBase[Policy]):
    """Knows the live lanes and the routes; the only place where a recipient is chosen."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._lanes: dict[str, LaneSpec] = {}
        self._dead: set[str] = set()
        self._serial = 0

    def open(self, lane: LaneSpec) -> None:
        """From now on the lane can be named."""
        self._lanes[lane.name] = lane
        self._dead.discard(lane.name)

    def close(self, name: str) -> None:
        """From now on it can't; what was classified before stays on its way."""
        self._lanes.pop(name, None)
        self._dead.discard(name)

    def observe(self, fact: RecipientDied | RecipientRevived) -> None:
        """A dead recipient's lane stays open, but people and agents who write to it must learn of it."""
        if isinstance(fact, RecipientDied):
            self._dead.add(fact.lane)
        else:
            self._dead.discard(fact.lane)

    def recipients(self, event: Event) -> Recipients | Refusal:
        """The lanes for one event: named, routed, or the only one there is. Changes nothing, so a producer may ask ahead."""
        if not (event.text.strip() or event.key):
            return Refusal(Reason.EMPTY, "the event has no message: give it a text, or a key that says what it is")
        if event.to is not None:
            return self._named(event, event.to)
        if routed := self._routed(event):
            return self._living(event, Reason.ROUTED, routed)
        live = tuple(name for name in self._lanes if name not in self._dead)
        if len(live or self._lanes) == 1:
            return self._living(event, Reason.ONLY_LANE, live or tuple(self._lanes))
        return Refusal(Reason.UNCLEAR, f"the event names no recipient and no route matches it; {self._lanes_in_words()}")

    def _named(self, event: Event, name: str) -> Recipients | Refusal:
        if name not in self._lanes:
            return Refusal(Reason.UNKNOWN, f"nobody is called {name!r} here; {self._lanes_in_words()}")
        if name not in self._dead or event.traffic not in ("user", "mail"):
            return Recipients(Reason.EXPLICIT, (name,))
        coordinator = self.policy.coordinator
        if event.traffic == "mail" and coordinator in self._lanes and coordinator not in self._dead:
            return Recipients(Reason.BOUNCED, (coordinator,))
        return Refusal(Reason.DEAD, f"{name!r} is gone and will not read this; {self._lanes_in_words()}")

    def _living(self, event: Event, reason: Reason, names: tuple[str, ...]) -> Recipients | Refusal:
        """A person's or an agent's words pass the dead over; if all are dead, it is as if the first had been named."""
        if event.traffic not in ("user", "mail"):
            return Recipients(reason, names)  # what can't be told to the dead is dropped on record, further down the line
        live = tuple(name for name in names if name not in self._dead)
        return Recipients(reason, live) if live else self._named(event, names[0])

    def offer(self, batch: Iterable[Event], now: Instant, step: Step[Notice]) -> None:
        """Events in, notices out, one for each recipient, in order."""
        lanes, add, named = self._lanes, step.out.append, len(step.out)
        try:
            for event in batch:
                lane = event.to
                # The common case, a named and live recipient, without a call.
                if lane in lanes and event.traffic == "event" and event.text and not event.text.isspace():
                    self._serial += 1
                    add(Notice(self._serial, event, lane, LEVELS[event.severity], now))
                    continue
                step.rule(now, Stage.CLASSIFY, Verdict.PASS, Reason.EXPLICIT, step.out[named:])
                named = len(step.out)
                self._offer_other(event, now, step)
                named = len(step.out)
        finally:  # what was decided before a fault is on record with it
            step.rule(now, Stage.CLASSIFY, Verdict.PASS, Reason.EXPLICIT, step.out[named:])

    def _offer_other(self, event: Event, now: Instant, step: Step[Notice]) -> None:
        answer = self.recipients(event)
        severity = LEVELS[event.severity]
        names = answer.lanes if isinstance(answer, Recipients) else (event.to or "",)
        notices = [Notice(self._serial + nth, event, lane, severity, now) for nth, lane in enumerate(names, start=1)]
        self._serial += len(notices)
        if isinstance(answer, Refusal):
            step.rule(now, Stage.CLASSIFY, Verdict.REFUSE, answer.reason, notices, note=answer.text)
            return
        step.out.extend(notices)
        step.rule(now, Stage.CLASSIFY, Verdict.PASS, answer.reason, notices)

    def _routed(self, event: Event) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for route in self.policy.routes:
            if fnmatchcase(event.source, route.source) and fnmatchcase(event.scope, route.scope):
                found.update(dict.fromkeys(name for name in route.to if name in self._lanes))
        return tuple(found)

    def _lanes_in_words(self) -> str:
        if not self._lanes:
            return "no recipient is open: start one with `tocsin run --as NAME -- CMD`, or open a lane"
        return "recipients here: " + ", ".join(sorted(self._lanes))

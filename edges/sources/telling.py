"""Telling: what a gathered block or a matching line becomes for the line: events and signals, each thing once."""

from collections.abc import Callable
from typing import Final

from ...contracts.base import Instant, Millis
from ...contracts.events import Event
from ...contracts.severity import NAMES
from ...contracts.signals import (
    ProcessExited,
    ProcessStarted,
    RebuildFinished,
    RebuildStarted,
    RestartRequested,
    Signal,
    TransportFailed,
)
from .blocks import Block, Told
from .rule import SignalName
from .rules import Catalogue, Match

LONGEST_TEXT: Final = 2_000
"""Characters of an event's text."""
LONGEST_DETAIL: Final = 16_000
"""Characters of an event's detail."""
SAME_RUN: Final = Millis(30_000)
"""A failing test that is named again within this time is the same failure, told by another part of the output."""

Finding = Event | Signal

_SIGNALS: Final[dict[SignalName, Callable[[str, Instant], Signal]]] = {
    "rebuild_started": lambda scope, at: RebuildStarted(scope=scope, at=at),
    "rebuild_ok": lambda scope, at: RebuildFinished(scope=scope, at=at, ok=True),
    "rebuild_failed": lambda scope, at: RebuildFinished(scope=scope, at=at, ok=False),
    "restart_requested": lambda scope, at: RestartRequested(scope=scope, at=at),
    "started": lambda scope, at: ProcessStarted(scope=scope, at=at),
    "crashed": lambda scope, at: ProcessExited(scope=scope, at=at, code=1),
    "transport_failed": lambda scope, at: TransportFailed(scope=scope, at=at),
}


class Teller:
    """Knows whom and what the findings of one process are about, and which failing tests were told."""

    def __init__(self, catalogue: Catalogue, *, scope: str, to: str | None, source: str, proxied: str) -> None:
        self._catalogue = catalogue
        self._scope = scope
        self._to = to
        self._source = source
        self._proxied = proxied
        self._build_failed = False
        self._kept_back: dict[str, Event] = {}
        self._told_at: dict[str, Instant] = {}
        self.withheld: list[str] = []
        """Keys of the failing tests of which the last block says nothing: another one does, before it or after it."""

    def events(self, block: Block, opened_at: Instant, now: Instant) -> list[Event]:
        """What a whole block means. A failing test is told once, however often its runner names it."""
        self.withheld = []
        events = (self._once(self._note_build(self._event(block, told, opened_at)), told, now) for told in block.whole())
        return [event for event in events if event is not None]

    def kept_back(self) -> list[Event]:
        """What was waiting for something better to be said of it, now that nothing more comes."""
        events = list(self._kept_back.values())
        self._kept_back.clear()
        return events

    def signal(self, match: Match, now: Instant) -> Signal | None:
        """What a matching line says about the life of the process."""
        make = _SIGNALS.get(match.rule.signal)
        if make is None:
            return None
        signal = make(self._proxied if match.rule.signal == "transport_failed" else self._scope, now)
        if isinstance(signal, RebuildFinished) and self._build_failed:
            # Some watchers say "finished" whatever came of it.
            signal = RebuildFinished(scope=self._scope, at=now, ok=False)
        if isinstance(signal, RebuildStarted | RebuildFinished):
            self._build_failed = False
        return signal

    def _note_build(self, event: Event) -> Event:
        self._build_failed = self._build_failed or (event.category == "build" and event.severity in ("error", "critical"))
        return event

    def _once(self, event: Event, told: Told, now: Instant) -> Event | None:
        if not told.key:
            return event
        self._forget(now)
        if told.kept_back:
            if told.key not in self._told_at:
                self._kept_back.setdefault(told.key, event)
            self.withheld.append(event.key)
            return None
        self._kept_back.pop(told.key, None)
        earlier = self._told_at.pop(told.key, None)
        self._told_at[told.key] = now
        if earlier is not None:
            self.withheld.append(event.key)
        return event if earlier is None else None

    def _forget(self, now: Instant) -> None:
        """The earliest stand first, since a key that is told again moves to the end."""
        while self._told_at and now - next(iter(self._told_at.values())) >= SAME_RUN:
            del self._told_at[next(iter(self._told_at))]

    def _event(self, block: Block, told: Told, opened_at: Instant) -> Event:
        match = block.match
        text = _shortened(" ".join(told.text.split()) or match.rule.title)
        text = f"{block.of_test}: {text}" if block.of_test else text
        detail = block.printed if told.detail is None else told.detail
        finer = self._finer(match, text)
        worse = max(match.severity, finer.severity, key=NAMES.index)
        return Event(
            text=_with_service(match.line.service, text),
            to=self._to,
            source=self._source,
            scope=self._proxied if match.rule.signal == "transport_failed" else self._scope,
            severity=told.severity or worse,
            at=opened_at,
            detail="" if " ".join(detail.split()) == text else _without_middle(detail),
            frame=told.frame,
            category="test" if block.of_test else told.category or finer.rule.category,
            key=_with_service(match.line.service, told.key) if told.key else "",
        )

    def _finer(self, match: Match, text: str) -> Match:
        """An exception whose message says that a port is taken is about the port."""
        if not match.rule.opens or match.rule.category != "runtime":
            return match
        finer = self._catalogue.match(text)
        return finer if finer is not None and finer.rule.refines else match


def _with_service(service: str, text: str) -> str:
    if not service or text.startswith(service):
        return text
    return f"{service} {text}" if service.startswith("[") else f"{service}: {text}"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def _without_middle(text: str) -> str:
    if len(text) <= LONGEST_DETAIL:
        return text
    half = LONGEST_DETAIL // 2 - 30
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"

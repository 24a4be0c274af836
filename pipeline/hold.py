"""Hold: while a scope is in outage its events wait; what only told of the outage is dropped when it has recovered."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from ..contracts.base import Inbound, Instant, Length, Millis
from ..contracts.events import Event
from ..contracts.moves import ClearScope, Dropped, Kept, WakeScope
from ..contracts.notices import Proposal, Proposed
from ..contracts.signals import RebuildFinished, ScopeFact
from ..contracts.verdicts import Stage, Verdict
from .cascade import DEFAULT_PATTERNS, Cascade
from .outage import Mode, Outage, State, Timing
from .stage import StageBase
from .step import Step


class Policy(Inbound, frozen=True, kw_only=True):
    """How long an outage may keep news, and what is only its echo."""

    window: Length = Millis(3_000)
    """No entry is held longer than this. 0 turns holding off."""
    timing: Timing = Timing()
    cascade: tuple[str, ...] = ()
    """Regular expressions, besides the built-in list."""
    replace: bool = False
    """True: ``cascade`` stands instead of the built-in list."""

    def __post_init__(self) -> None:
        for pattern in self.cascade:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from error


class Reason(StrEnum):
    """Why an entry was held, let go or dropped."""

    NO_OUTAGE = "no_outage"
    OUTAGE = "scope_in_outage"
    WINDOW_OVER = "hold_window_over"
    OVER = "outage_over"
    CASCADE = "cascade_of_an_outage_that_recovered"


Outcome = Proposal | Kept | Dropped | WakeScope | ClearScope | Event


class Hold(StageBase[Policy]):
    """A predicate over proposals; it keeps no entry itself, only what it knows of each scope."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        builtin = () if policy.replace else DEFAULT_PATTERNS
        self._cascade = Cascade((*builtin, *policy.cascade))
        self._scopes: dict[str, Outage] = {}
        self._listeners: dict[str, dict[str, None]] = {}
        """Scope → the lanes that had news of it: who is warned when a rebuild does not end."""

    def offer(self, batch: Iterable[Proposal], now: Instant, step: Step[Outcome]) -> None:
        """Each proposal is passed on, kept and dropped in parts."""
        for proposal in batch:
            self._judge(proposal, now, step)

    def observe(self, fact: ScopeFact, upto: int, now: Instant, step: Step[Outcome]) -> None:
        """Take in a signal; ``upto`` says what the pending table had taken in before it."""
        outage = self._scopes.get(fact.scope)
        if outage is None:
            outage = self._scopes[fact.scope] = Outage(self.policy.timing)
        self._age(fact.scope, outage, now, step)
        changed = outage.observe(fact, now)
        if isinstance(fact, RebuildFinished) and fact.ok:
            step.out.append(ClearScope(fact.scope, upto))
        if changed:
            step.out.append(WakeScope(fact.scope))

    def tick(self, now: Instant, step: Step[Outcome]) -> None:
        """Outages grow old without any news."""
        for scope, outage in self._scopes.items():
            self._age(scope, outage, now, step)

    def due(self) -> Instant | None:
        """When the first outage grows old."""
        return min((at for outage in self._scopes.values() if (at := outage.due()) is not None), default=None)

    def states(self) -> dict[str, State]:
        """Every scope that was heard of, and what it goes through."""
        return {scope: outage.state for scope, outage in self._scopes.items()}

    def _age(self, scope: str, outage: Outage, now: Instant, step: Step[Outcome]) -> None:
        """Whoever asks about a scope first lets time do its part, so that a late wake changes no answer."""
        if outage.tick(now):
            step.out.append(WakeScope(scope))
            if outage.state is State.EXPIRED:
                self._warn(scope, now, step)

    def _judge(self, proposal: Proposal, now: Instant, step: Step[Outcome]) -> None:
        passed: list[Proposed] = []
        held: list[Proposed] = []
        cascade: list[Proposed] = []
        for entry in proposal.entries:
            outage = self._outage_of(proposal.lane, entry, now, step)
            if outage is None:
                passed.append(entry)
            elif self._must_wait(entry, outage, now):
                held.append(entry)
            elif self._is_echo(entry, outage):
                cascade.append(entry)
            else:
                passed.append(entry)
        self._drop(proposal, cascade, now, step)
        self._keep(proposal, held, now, step)
        self._pass(proposal, passed, now, step)

    def _outage_of(self, lane: str, entry: Proposed, now: Instant, step: Step[Outcome]) -> Outage | None:
        event = entry.notice.event
        if event.traffic != "event" or not self.policy.window:
            return None
        outage = self._scopes.get(event.scope)
        if outage is not None:
            self._listeners.setdefault(event.scope, {})[lane] = None
            self._age(event.scope, outage, now, step)
        return outage

    def _must_wait(self, entry: Proposed, outage: Outage, now: Instant) -> bool:
        if entry.held_at is not None and now - entry.held_at >= self.policy.window:
            return False
        if outage.mode is Mode.ERRORS:
            return entry.notice.event.source != "diagnostic"
        return outage.mode is Mode.FULL

    def _is_echo(self, entry: Proposed, outage: Outage) -> bool:
        """Every occurrence came during an outage that has recovered, and every text is a cascade's."""
        span = outage.last
        if span is None or not span.recovered or outage.mode is not Mode.OFF:
            return False
        began_at = span.began_at - self.policy.timing.lead
        during = began_at <= entry.notice.at and entry.last_at <= span.ended_at
        return during and entry.all_texts and self._cascade.matches_all(entry.texts)

    def _pass(self, proposal: Proposal, entries: list[Proposed], now: Instant, step: Step[Outcome]) -> None:
        if not entries:
            return
        released = [entry for entry in entries if entry.held_at is not None]
        over = [e for e in released if e.held_at is not None and now - e.held_at >= self.policy.window]
        early = [entry for entry in released if entry not in over]
        fresh = [entry for entry in entries if entry.held_at is None]
        step.rule(now, Stage.HOLD, Verdict.RELEASE, Reason.WINDOW_OVER, [entry.notice for entry in over])
        step.rule(now, Stage.HOLD, Verdict.RELEASE, Reason.OVER, [entry.notice for entry in early])
        step.rule(now, Stage.HOLD, Verdict.PASS, Reason.NO_OUTAGE, [entry.notice for entry in fresh])
        step.out.append(msgspec.structs.replace(proposal, entries=tuple(entries)))

    def _keep(self, proposal: Proposal, entries: Sequence[Proposed], now: Instant, step: Step[Outcome]) -> None:
        for held_at in sorted({entry.held_at or now for entry in entries}):
            since = [entry for entry in entries if (entry.held_at or now) == held_at]
            until = Instant(held_at + self.policy.window)
            fresh = [entry.notice for entry in since if entry.held_at is None]
            step.rule(now, Stage.HOLD, Verdict.HOLD, Reason.OUTAGE, fresh, until)
            serials = [entry.notice.serial for entry in since]
            step.out.append(Kept(proposal.lane, proposal.number, serials, Stage.HOLD, Reason.OUTAGE, until))

    def _drop(self, proposal: Proposal, entries: list[Proposed], now: Instant, step: Step[Outcome]) -> None:
        if entries:
            step.rule(now, Stage.HOLD, Verdict.DROP_CASCADE, Reason.CASCADE, [entry.notice for entry in entries])
            serials = [entry.notice.serial for entry in entries]
            step.out.append(Dropped(proposal.lane, proposal.number, serials, Verdict.DROP_CASCADE))

    def _warn(self, scope: str, now: Instant, step: Step[Outcome]) -> None:
        """One warning for each lane that listens: the rebuild has not ended, from now on everything is shown."""
        seconds = self.policy.timing.expired_after // 1000
        text = f"{scope or 'a rebuild'} has been rebuilding for {seconds} s and has not finished"
        step.out.extend(
            Event(text=text, to=lane, source="diagnostic", scope=scope, severity="warning", at=now)
            for lane in self._listeners.get(scope, {})
        )

"""Defer: nothing lands in the middle of an answer, a dialog, a half-typed line or a pause; the idle edge wakes the lane."""

from collections.abc import Iterable
from enum import StrEnum
from heapq import heappop, heappush

import msgspec

from ..contracts.base import Inbound, Instant
from ..contracts.events import Event
from ..contracts.lanes import LaneSpec
from ..contracts.moves import Dropped, Kept, WakeLane
from ..contracts.notices import Proposal, Proposed
from ..contracts.signals import LaneFact, Output
from ..contracts.verdicts import Stage, Verdict
from .activity import Evidence, Recipient, Timing
from .stage import StageBase
from .step import Step


class Policy(Inbound, frozen=True, kw_only=True):
    """How patient the line is with a recipient that is busy."""

    timing: Timing = Timing()
    coordinator: str = "god"
    """Where mail is bounced when its recipient dies before it is told."""


class Reason(StrEnum):
    """Why an entry waits, goes, or ends here."""

    FREE = "recipient_free"
    LIMIT = "still_active_at_the_limit"
    DEAD = "recipient_dead"
    BOUNCED = "bounced_to_coordinator"
    WAITING = "recipient_waits_on_a_human"
    PAUSED = "lane_paused"
    DIALOG = "dialog_open"
    DRAFT = "draft_half_typed"
    SCREEN = "full_screen_program"
    TOOL = "tool_call_open"
    OUTPUT = "recipient_writes"
    TURN = "turn_running"


Outcome = Proposal | Kept | Dropped | WakeLane | Event

_ACTIVE = {Evidence.BYTES: Reason.OUTPUT, Evidence.TURN: Reason.TURN}


class Defer(StageBase[Policy]):
    """A predicate over proposals, from what is known of each recipient."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._recipients: dict[str, Recipient] = {}
        self._typing: set[str] = set()
        self._keeping: set[str] = set()
        """Lanes in which something was kept since they were last woken: they are woken when something changes."""
        self._edges: list[tuple[Instant, str]] = []
        self._watched: set[str] = set()
        """Lanes that stand in ``_edges``, each once."""

    def open(self, lane: LaneSpec) -> None:
        """Know what kind of sink the lane has."""
        self._recipients[lane.name] = Recipient(self.policy.timing)
        if lane.typing:
            self._typing.add(lane.name)

    def close(self, name: str) -> None:
        """Forget the lane."""
        self._recipients.pop(name, None)
        self._typing.discard(name)
        self._keeping.discard(name)

    def offer(self, batch: Iterable[Proposal], now: Instant, step: Step[Outcome]) -> None:
        """Each proposal is passed on or kept, whole or in part."""
        for proposal in batch:
            self._judge(proposal, now, step)

    def observe(self, fact: LaneFact, now: Instant, step: Step[Outcome]) -> None:
        """Take in a fact; if it may free the lane, wake it."""
        recipient = self._recipients.get(fact.lane)
        if recipient is None:
            return
        recipient.observe(fact, now)
        if fact.lane in self._keeping and not isinstance(fact, Output):
            self._wake(fact.lane, step)
        self._watch_edge(fact.lane, recipient, now)

    def tick(self, now: Instant, step: Step[Outcome]) -> None:
        """The idle edge: lanes that fell silent are woken at once."""
        while self._edges and self._edges[0][0] <= now:
            _, lane = heappop(self._edges)
            self._watched.discard(lane)
            if (recipient := self._writing(lane)) is None:
                continue
            if recipient.idle_at() <= now:
                self._wake(lane, step)
            else:
                self._watch_edge(lane, recipient, now)

    def due(self) -> Instant | None:
        """When the first recipient will have fallen silent."""
        while self._edges:
            at, lane = self._edges[0]
            recipient = self._writing(lane)
            if recipient is not None and recipient.idle_at() == at:
                return at
            heappop(self._edges)
            self._watched.discard(lane)
            if recipient is not None:
                self._watch_edge(lane, recipient, at)
        return None

    def _writing(self, lane: str) -> Recipient | None:
        """The recipient, if its lane is kept and its silence would free it."""
        recipient = self._recipients.get(lane)
        if recipient is None or lane not in self._keeping or recipient.turns:
            return None
        return recipient if recipient.written >= recipient.timing.active_bytes else None

    def view(self, now: Instant) -> dict[str, str]:
        """What keeps each recipient, in one word; ``idle`` if nothing does."""
        return {name: recipient.word(now) for name, recipient in self._recipients.items()}

    def _wake(self, lane: str, step: Step[Outcome]) -> None:
        """All that was kept is proposed again, and what is kept then keeps the lane watched again."""
        self._keeping.discard(lane)
        step.out.append(WakeLane(lane))

    def _watch_edge(self, lane: str, recipient: Recipient, now: Instant) -> None:
        """An edge that is past wakes nobody: what keeps the lane now is something else."""
        if lane not in self._watched and recipient.idle_at() > now and self._writing(lane):
            self._watched.add(lane)
            heappush(self._edges, (recipient.idle_at(), lane))

    def _judge(self, proposal: Proposal, now: Instant, step: Step[Outcome]) -> None:
        lane = proposal.lane
        recipient = self._recipients.get(lane) or Recipient(self.policy.timing)
        overdue = self._is_overdue(proposal, recipient, now)
        passed: list[Proposed] = []
        kept: dict[Reason, list[Proposed]] = {}
        for entry in proposal.entries:
            reason = self._obstacle(lane, recipient, entry, now, overdue=overdue)
            if reason is None:
                passed.append(entry)
            else:
                kept.setdefault(reason, []).append(entry)
        self._end_dead(proposal, kept, now, step)
        self._keep(proposal, recipient, kept, now, step)
        self._pass(proposal, passed, now, step, overdue=overdue)

    def _obstacle(self, lane: str, recipient: Recipient, entry: Proposed, now: Instant, *, overdue: bool) -> Reason | None:
        """The first thing in the way of one entry, or None. The order is from what can't change to what soon will."""
        event, typing = entry.notice.event, lane in self._typing
        if recipient.dead:
            return Reason.DEAD
        if typing and (blocked := self._no_typing(recipient)):
            return blocked
        if not typing and (event.traffic == "mail" or (event.traffic == "notice" and event.urgent)):
            return None if event.traffic == "notice" or not recipient.paused else Reason.PAUSED
        if recipient.waiting:
            return Reason.WAITING
        if recipient.paused and event.traffic not in ("user", "return"):
            return Reason.PAUSED
        return None if overdue else _ACTIVE.get(recipient.evidence(now))

    def _no_typing(self, recipient: Recipient) -> Reason | None:
        """What makes typing wrong, however long it lasts and whatever is to be typed."""
        if recipient.dialog:
            return Reason.DIALOG
        if recipient.draft:
            return Reason.DRAFT
        if recipient.screen:
            return Reason.SCREEN
        return Reason.TOOL if recipient.tool else None

    def _is_overdue(self, proposal: Proposal, recipient: Recipient, now: Instant) -> bool:
        evidence = recipient.evidence(now)
        if evidence is Evidence.NONE:
            return False
        first = min((entry.deferred_at for entry in proposal.entries if entry.deferred_at is not None), default=now)
        return now - first >= recipient.limit(evidence)

    def _keep(
        self, proposal: Proposal, recipient: Recipient, kept: dict[Reason, list[Proposed]], now: Instant, step: Step[Outcome]
    ) -> None:
        for reason, entries in kept.items():
            self._keeping.add(proposal.lane)
            until = self._until(recipient, reason, entries, now)
            fresh = [entry.notice for entry in entries if entry.reason != reason]
            step.rule(now, Stage.DEFER, Verdict.DEFER, reason, fresh, until)
            serials = [entry.notice.serial for entry in entries]
            step.out.append(Kept(proposal.lane, proposal.number, serials, Stage.DEFER, reason, until))
        self._watch_edge(proposal.lane, recipient, now)

    def _until(self, recipient: Recipient, reason: Reason, entries: list[Proposed], now: Instant) -> Instant | None:
        """Activity defers for a bounded time; everything else until a signal says that it is over."""
        if reason not in (Reason.OUTPUT, Reason.TURN):
            return None
        first = min(entry.deferred_at or now for entry in entries)
        return Instant(first + recipient.limit(recipient.evidence(now)))

    def _end_dead(self, proposal: Proposal, kept: dict[Reason, list[Proposed]], now: Instant, step: Step[Outcome]) -> None:
        """The dead are told nothing: findings and notices are dropped, a person's words are put aside, mail goes back."""
        dead = kept.pop(Reason.DEAD, [])
        answers = [entry for entry in dead if entry.notice.event.traffic == "return"]
        if answers:
            kept[Reason.DEAD] = answers
        self._end(proposal, [e for e in dead if e.notice.event.traffic in ("event", "notice")], Verdict.DROP_DEAD, now, step)
        self._end(proposal, [e for e in dead if e.notice.event.traffic == "user"], Verdict.DEAD_LETTER, now, step)
        mail = [entry for entry in dead if entry.notice.event.traffic == "mail"]
        self._end(proposal, mail, Verdict.REFUSE, now, step, Reason.BOUNCED)
        step.out.extend(msgspec.structs.replace(e.notice.event, to=self.policy.coordinator) for e in mail)

    def _end(
        self,
        proposal: Proposal,
        entries: list[Proposed],
        verdict: Verdict,
        now: Instant,
        step: Step[Outcome],
        reason: Reason = Reason.DEAD,
    ) -> None:
        if entries:
            step.rule(now, Stage.DEFER, verdict, reason, [entry.notice for entry in entries])
            step.out.append(Dropped(proposal.lane, proposal.number, [entry.notice.serial for entry in entries], verdict))

    def _pass(self, proposal: Proposal, entries: list[Proposed], now: Instant, step: Step[Outcome], *, overdue: bool) -> None:
        if not entries:
            return
        notices = [entry.notice for entry in entries]
        if overdue:
            step.rule(now, Stage.DEFER, Verdict.OVERDUE, Reason.LIMIT, notices)
        else:
            step.rule(now, Stage.DEFER, Verdict.PASS, Reason.FREE, notices)
        step.out.append(msgspec.structs.replace(proposal, entries=tuple(entries), overdue=overdue))

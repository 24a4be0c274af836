"""Throttle: owns the one pending table, gathers batches, keeps it within its cap, and proposes one batch a lane at a time."""

from collections.abc import Iterable
from enum import StrEnum
from heapq import heappop, heappush

from ..contracts.base import Count, Inbound, Instant, Length, Millis, Traffic
from ..contracts.moves import ClearScope, Dropped, Kept, Lost, Missed, NoticesLost, NoticesTold, Rearm, Settled, Told
from ..contracts.notices import Admission, Fold, Notice, Proposal, Reminder
from ..contracts.severity import Severity
from ..contracts.status import LaneStatus
from ..contracts.verdicts import Stage, Verdict
from .lane import Lane
from .ledger import NOTICE_LEDGER_TTL
from .pending import Group, Pending
from .stage import NEVER, StageBase
from .step import Step


class Policy(Inbound, frozen=True, kw_only=True):
    """How long batches gather, how much may be pending, and how often a lane is told of mere events."""

    window: Length = Millis(3_000)
    """Events gather this long, counted from the first."""
    error_window: Length = Millis(250)
    """Once an error is pending, counted from the first error."""
    prompt_window: Length = Millis(150)
    """For ``user`` and ``notice``. Mail and returns don't wait."""
    max_pending: Count = 50
    """Entries a lane may hold; beyond it the oldest event of the lowest severity goes."""
    max_notices: Count = 50
    """Harness notices a lane may hold; beyond it the oldest goes."""
    notice_ttl: Length = NOTICE_LEDGER_TTL
    """A harness notice waits no longer than this, unless it says by what evidence its condition ends. 0: for ever."""
    batches_per_minute: Count = 6
    """Batches of events below critical; what is over budget waits and merges. 0: no limit."""
    burst: Count = 3
    """So many of them may come at once after a quiet time."""


class Reason(StrEnum):
    """Why the table let an entry go or wait."""

    CAP = "pending_cap"
    NOTICE_CAP = "notice_cap"
    BUDGET = "over_budget"
    GOOD_BUILD = "good_build"
    CLEARED = "condition_gone"
    CLOSED = "lane_closed"
    SUPERSEDED = "superseded"
    TOLD_MEANWHILE = "told_meanwhile"
    EXPIRED = "expired"


Outcome = Proposal | Told | Lost | Missed | NoticesTold | NoticesLost


class Throttle(StageBase[Policy]):
    """The pending table of every lane."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._lanes: dict[str, Lane] = {}
        self._alarms: list[tuple[Instant, str]] = []
        self._just_told: dict[str, dict[int, Notice]] = {}
        """The harness notices in each lane's last delivery: an admission that was on its way then may take one for pending."""
        self.taken = 0
        """Admissions taken in so far: what came before a signal and what after it is told apart by this."""

    # What comes down the line

    def offer(self, batch: Iterable[Admission], now: Instant, step: Step[Outcome]) -> None:
        """Admissions in, evictions out; proposals follow by ``tick``, at the same instant for what doesn't wait."""
        for admission in batch:
            lane = self._lane(admission.lane)
            self.taken += 1
            evicted = self._admit(lane, admission, now, step)
            self._fold(lane, admission.folds, evicted, now, step)
            if admission.superseded:
                self._supersede(lane, admission.superseded, now, step)
            self._shrink(lane, now, step)
            self._propose_if_ready(lane, now, step)

    def tick(self, now: Instant, step: Step[Outcome]) -> None:
        """Propose what is ready."""
        while self._alarms and self._alarms[0][0] <= now:
            at, name = heappop(self._alarms)
            lane = self._lanes.get(name)
            if lane is not None and lane.alarm_at == at:  # one passed over wakes nobody, or the lanes' order would hang on it
                self._propose_if_ready(lane, now, step)

    def due(self) -> Instant | None:
        """The first moment at which some lane has something to propose."""
        while self._alarms:
            at, name = self._alarms[0]
            lane = self._lanes.get(name)
            if lane is not None and lane.alarm_at == at:
                return at
            heappop(self._alarms)
        return None

    # What the gates and the sink answer

    def kept(self, kept: Kept, now: Instant, step: Step[Outcome]) -> None:
        """Entries come back; both gates will see them again."""
        if lane := self._flying(kept.lane, kept.number):
            entries = lane.land(kept.serials)
            for entry in entries:
                entry.kept_by, entry.reason, entry.until = kept.stage, kept.reason, kept.until
                if kept.stage is Stage.HOLD and entry.held_at is None:
                    entry.held_at = now
                if kept.stage is Stage.DEFER:  # only activity has an end; a draft's time does not count against it
                    entry.deferred_at = None if kept.until is None else entry.deferred_at or now
            lane.restore(entries)
            self._end(lane, lane.give_way(), Verdict.FOLD, Reason.SUPERSEDED, now, step)
            self._drop_cleared(lane, [entry for entry in entries if lane.stands(entry)], now, step)
            entries = [entry for entry in entries if lane.stands(entry)]
            lane.retry_at(entries, kept.until if kept.until is not None else NEVER)
            self._shrink(lane, now, step)
            self._concluded(lane, now, step)

    def dropped(self, dropped: Dropped, now: Instant, step: Step[Outcome]) -> None:
        """Entries ended untold."""
        if lane := self._flying(dropped.lane, dropped.number):
            self._lost(lane, lane.land(dropped.serials), step)
            self._concluded(lane, now, step)

    def settled(self, settled: Settled, now: Instant, step: Step[Outcome]) -> None:
        """The sink accepted the proposal: its entries leave the table."""
        if lane := self._flying(settled.lane, settled.number):
            entries = lane.land(settled.serials)
            lane.told(entries, now)
            notices = {entry.notice.serial: entry.notice for entry in entries if entry.notice.event.traffic == "notice"}
            others = [entry for entry in entries if entry.notice.serial not in notices] if notices else entries
            if others:
                told = [(e.notice.fingerprint, e.count - lane.counts[e.notice.serial]) for e in others]
                step.out.append(Told(lane.name, told))
                self._lost(lane, [entry for entry in others if entry.outgrown], step)
            if notices:
                self._notices_told(lane, notices, now, step)
            self._concluded(lane, now, step)

    # What changes beside the line

    def wake_lane(self, name: str, now: Instant, step: Step[Outcome]) -> None:
        """What kept this lane may be over: propose all that was kept."""
        if lane := self._lanes.get(name):
            self._wake(lane, now, step)

    def wake_scope(self, scope: str, now: Instant, step: Step[Outcome]) -> None:
        """What held this scope may be over, in every lane."""
        for lane in list(self._lanes.values()):
            if any(e.kept_by is Stage.HOLD and e.notice.event.scope == scope for e in lane.block.entries.values()):
                self._wake(lane, now, step)

    def flush(self, now: Instant, step: Step[Outcome]) -> None:
        """The line is about to stop: batches need not gather any longer, and the last block is free of the budget."""
        for lane in list(self._lanes.values()):
            lane.bucket.filled_at = now
            for group in lane.groups():
                group.pull(now)
            self._propose_if_ready(lane, now, step)

    def clear(self, clear: ClearScope, now: Instant, step: Step[Outcome]) -> None:
        """A good build: what it repaired is stale. What came after it, and what is already under way, stays."""
        for lane in list(self._lanes.values()):
            stale = [
                entry
                for entry in lane.block.entries.values()
                if entry.notice.event.scope == clear.scope
                and entry.notice.event.category == "build"
                and entry.notice.event.traffic == "event"
                and entry.seen <= clear.upto
            ]
            self._discard(lane, stale, Verdict.CLEAR, Reason.GOOD_BUILD, now, step)

    def rearm(self, rearm: Rearm, now: Instant, step: Step[Outcome]) -> None:
        """The conditions of pending notices went away. What a gate has kept ends at once.

        What is still gathered ends with its batch, unless it is raised again before.
        """
        if lane := self._lanes.get(rearm.lane):
            event = lane.by_print.get(rearm.fingerprint)
            entries = [entry for serial in rearm.serials if (entry := lane.notice(serial))]
            entries += [event] if event and event.notice.event.traffic == "event" else []
            for entry in entries:
                entry.cleared = True
            kept = [entry for entry in entries if entry.kept_by is not None and lane.stands(entry)]
            self._discard(lane, kept, Verdict.CLEAR, Reason.CLEARED, now, step)

    def close(self, name: str, now: Instant, step: Step[Outcome]) -> None:
        """The lane is no more: what is pending is dropped, and on record. What is under way has its own end."""
        self._just_told.pop(name, None)
        if lane := self._lanes.get(name):
            lane.suppressed = [0] * len(Severity)
            standing = [entry for group in lane.groups() for entry in group.entries.values()]
            self._discard(lane, standing, Verdict.EVICT, Reason.CLOSED, now, step)

    def view(self) -> dict[str, LaneStatus]:
        """Every lane that has something pending or a budget in use."""
        return {name: lane.view() for name, lane in self._lanes.items()}

    # Inside

    def _lane(self, name: str) -> Lane:
        lane = self._lanes.get(name)
        if lane is None:
            per_batch = 60_000 // self.policy.batches_per_minute if self.policy.batches_per_minute else 0
            lane = self._lanes[name] = Lane(name, self.policy.burst, Millis(per_batch))
        return lane

    def _admit(self, lane: Lane, admission: Admission, now: Instant, step: Step[Outcome]) -> list[Notice]:
        """Take the notices in; of more events than the cap holds, only those that can survive. Answers with the others."""
        notices: list[Notice] = admission.passed
        doomed: list[Notice] = []
        if len(notices) > self.policy.max_pending:
            risen = {fold.fingerprint: fold.severity for fold in admission.folds}
            notices, doomed = _survivors(notices, risen, self.policy.max_pending)
        entries = [Pending.of(notice, admission.reminders.get(notice.serial), self.taken) for notice in notices]
        if doomed:
            self._suppress(lane, doomed, admission.reminders, now, step)
        for entry in entries:
            lane.add(entry).pull(Instant(now + self._window(entry.notice.event.traffic, entry.severity)))
        return doomed

    def _fold(self, lane: Lane, folds: list[Fold], doomed: list[Notice], now: Instant, step: Step[Outcome]) -> None:
        """Count repeats onto their entries, or where the entry went: to what is suppressed, or to the next reminder."""
        if not folds:
            return
        gone = {notice.fingerprint for notice in doomed}
        missed: list[tuple[str, int]] = []
        for fold in folds:
            rose = lane.fold(fold, self.taken)
            if rose and fold.severity >= Severity.ERROR:
                lane.block.pull(Instant(now + self.policy.error_window))
            elif rose is None and fold.fingerprint in gone:
                lane.suppressed[fold.severity] += fold.count
            elif rose is None and not fold.serial:
                missed.append((fold.fingerprint, fold.count))
        if missed:
            step.out.append(Missed(lane.name, missed))

    def _window(self, traffic: Traffic, severity: Severity) -> int:
        if traffic == "event":
            return self.policy.error_window if severity >= Severity.ERROR else self.policy.window
        return 0 if traffic in ("mail", "return") else self.policy.prompt_window

    def _set_alarm(self, lane: Lane) -> None:
        """One live alarm a lane; older ones in the heap are recognised by their time and passed over."""
        at = NEVER if lane.flying else min(lane.ready_at(), lane.expires_at(self.policy.notice_ttl))
        if at != lane.alarm_at:
            lane.alarm_at = at
            if at < NEVER:
                heappush(self._alarms, (at, lane.name))

    def _shrink(self, lane: Lane, now: Instant, step: Step[Outcome]) -> None:
        evicted: list[Pending] = []
        over = lane.depth() - self.policy.max_pending
        while over > 0 and (entry := lane.bands.oldest_of_lowest()) and over > lane.less_severe_under_way(entry.severity):
            lane.remove(entry)
            evicted.append(entry)
            over -= 1
        self._record_evicted(lane, evicted, Reason.CAP, now, step)
        evicted = []
        while len(lane.notices) > self.policy.max_notices:
            entry = lane.notices[next(iter(lane.notices))]
            lane.remove(entry)
            evicted.append(entry)
        self._record_evicted(lane, evicted, Reason.NOTICE_CAP, now, step)

    def _record_evicted(self, lane: Lane, gone: list[Pending], why: Reason, now: Instant, step: Step[Outcome]) -> None:
        if gone:
            for entry in gone:
                lane.suppressed[entry.severity] += entry.count
            step.rule(now, Stage.THROTTLE, Verdict.EVICT, why, [entry.notice for entry in gone])
            self._lost(lane, gone, step)

    def _suppress(
        self, lane: Lane, doomed: list[Notice], reminders: dict[int, Reminder], now: Instant, step: Step[Outcome]
    ) -> None:
        for notice in doomed:
            lane.suppressed[notice.severity] += reminders[notice.serial].count if notice.serial in reminders else 1
        step.rule(now, Stage.THROTTLE, Verdict.EVICT, Reason.CAP, doomed)
        step.out.append(Lost(lane.name, [notice.fingerprint for notice in doomed]))

    def _discard(
        self, lane: Lane, entries: list[Pending], verdict: Verdict, why: Reason, now: Instant, step: Step[Outcome]
    ) -> None:
        if entries:
            for entry in entries:
                lane.remove(entry)
            self._end(lane, entries, verdict, why, now, step)
            self._concluded(lane, now, step)

    def _end(self, lane: Lane, gone: list[Pending], verdict: Verdict, why: Reason, now: Instant, step: Step[Outcome]) -> None:
        """These have left the table, untold."""
        if gone:
            step.rule(now, Stage.THROTTLE, verdict, why, [entry.notice for entry in gone])
            self._lost(lane, gone, step)

    def _supersede(self, lane: Lane, superseded: dict[int, int], now: Instant, step: Step[Outcome]) -> None:
        """Older notices give way to newer ones; one that was told a moment ago leaves of its newer one what is not told."""
        self._end(lane, lane.give_way(), Verdict.FOLD, Reason.SUPERSEDED, now, step)
        just_told = self._just_told.get(lane.name, {})
        told = [just_told[serial] for serial in superseded if serial in just_told]
        self._end(lane, lane.narrow(told), Verdict.FOLD, Reason.TOLD_MEANWHILE, now, step)

    def _notices_told(self, lane: Lane, notices: dict[int, Notice], now: Instant, step: Step[Outcome]) -> None:
        """Of newer ones that came while these were under way, the rest is told."""
        self._just_told[lane.name] = notices
        step.out.append(NoticesTold(lane.name, tuple(notices)))
        self._end(lane, lane.narrow(notices.values()), Verdict.FOLD, Reason.TOLD_MEANWHILE, now, step)

    def _flying(self, name: str, number: int) -> Lane | None:
        lane = self._lanes.get(name)
        return lane if lane is not None and lane.flying and lane.number == number else None

    def _wake(self, lane: Lane, now: Instant, step: Step[Outcome]) -> None:
        for group in lane.groups():
            if any(entry.kept_by is not None for entry in group.entries.values()):
                group.pull(now)
        lane.woken = bool(lane.flying)
        self._propose_if_ready(lane, now, step)

    def _concluded(self, lane: Lane, now: Instant, step: Step[Outcome]) -> None:
        if lane.flying:
            return
        if lane.woken:  # the wake came while the answer was on its way: ask again, or it would be lost
            self._wake(lane, now, step)
            return
        self._propose_if_ready(lane, now, step)

    def _propose_if_ready(self, lane: Lane, now: Instant, step: Step[Outcome]) -> None:
        lane.drop_empty_groups()
        if lane.notices and not lane.flying:
            self._expire(lane, min(now, lane.ready_at()), now, step)
        while not lane.flying and (group := lane.ready_group(now)):
            self._drop_cleared(lane, list(group.entries.values()), now, step)
            if not group.entries or self._over_budget(lane, group, now, step):
                continue
            step.out.append(lane.propose(group))
        if lane.idle(now):
            self._lanes.pop(lane.name, None)
        else:
            self._set_alarm(lane)

    def _expire(self, lane: Lane, upto: Instant, now: Instant, step: Step[Outcome]) -> None:
        """Notices that have waited too long go; a late wake takes things in the order of their times, so some may be ready."""
        self._record_evicted(lane, lane.expire(self.policy.notice_ttl, upto), Reason.EXPIRED, now, step)
        lane.drop_empty_groups()

    def _drop_cleared(self, lane: Lane, entries: list[Pending], now: Instant, step: Step[Outcome]) -> None:
        cleared = [entry for entry in entries if entry.cleared]
        for entry in cleared:
            lane.remove(entry)
        self._end(lane, cleared, Verdict.CLEAR, Reason.CLEARED, now, step)

    def _lost(self, lane: Lane, gone: list[Pending], step: Step[Outcome]) -> None:
        """Dedup learns what was not told, but for events of which a newer entry is pending: that one may still be told."""
        notices = tuple(entry.notice.serial for entry in gone if entry.notice.event.traffic == "notice")
        if notices:
            step.out.append(NoticesLost(lane.name, notices))
            gone = [entry for entry in gone if entry.notice.event.traffic != "notice"]
        prints = [entry.notice.fingerprint for entry in gone if entry.notice.fingerprint not in lane.by_print]
        if prints:
            step.out.append(Lost(lane.name, prints))

    def _over_budget(self, lane: Lane, group: Group, now: Instant, step: Step[Outcome]) -> bool:
        """Mere events beyond the lane's budget wait in the table and merge; anything else in the block takes them along."""
        if not lane.bucket.period or group is not lane.block or not lane.mere_events():
            return False
        at = lane.bucket.next_at(now)
        if at <= now:
            return False
        group.ready_at = at
        fresh = [entry for entry in group.entries.values() if entry.reason != Reason.BUDGET]
        for entry in fresh:
            entry.kept_by, entry.reason, entry.until = Stage.THROTTLE, Reason.BUDGET, at
        step.rule(now, Stage.THROTTLE, Verdict.DEFER, Reason.BUDGET, [entry.notice for entry in fresh], at)
        return True


def _survivors(notices: list[Notice], risen: dict[str, Severity], most: int) -> tuple[list[Notice], list[Notice]]:
    """Of a flood: what is not an event, and the ``most`` that eviction one by one would leave of the events; then the rest."""
    floods: tuple[list[Notice], ...] = tuple([] for _ in Severity)
    stay: list[Notice] = []
    for notice in notices:
        severity = risen.get(notice.fingerprint, notice.severity)
        (floods[severity] if notice.event.traffic == "event" else stay).append(notice)
    doomed: list[Notice] = []
    for flood in reversed(floods):
        room = max(0, most)
        stay += flood[len(flood) - room :] if room < len(flood) else flood
        doomed += flood[: len(flood) - room] if room < len(flood) else []
        most -= len(flood)
    stay.sort(key=lambda notice: notice.serial)
    return stay, doomed

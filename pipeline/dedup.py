"""Dedup: within one window, one notice per fingerprint passes; it remembers what was told, not what was seen."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import assert_never

from ..contracts.base import Inbound, Instant, Millis
from ..contracts.notices import Admission, Notice, Reminder
from ..contracts.verdicts import Stage, Verdict
from .episodes import Episode, Episodes, Table
from .stage import NEVER, StageBase
from .step import Step


class Policy(Inbound, frozen=True, kw_only=True):
    """When a repeat is a repeat."""

    window: Millis = Millis(60_000)
    """An episode ends after one window without an occurrence. 0 turns dedup off."""
    reminders: tuple[int, ...] = (1, 5, 30)
    """While an episode lasts, a reminder passes after so many windows; the last number repeats. Empty: never."""
    max_episodes: int = 100_000
    """Episodes remembered in all; the least recently seen of the fullest lane goes first."""


class Reason(StrEnum):
    """Why a notice passed or was folded."""

    FIRST = "first_in_window"
    REPEAT = "repeat_in_window"
    ROSE = "severity_rose"
    REMINDER = "still_going_on"
    NEVER_FOLDED = "class_is_never_folded"
    SAME_ID = "same_id_again"
    NOT_REARMED = "told_and_not_rearmed"


def _never_folded(notice: Notice, window: Millis) -> bool:
    """A person's words never; mail and returns only by their id; events unless dedup is off."""
    event = notice.event
    match event.traffic:
        case "user":
            return True
        case "mail" | "return":
            return not (event.id or event.key)
        case "event":
            return not window
        case "notice":
            return False
        case _:
            assert_never(event.traffic)


class Dedup(StageBase[Policy]):
    """Folds repeats into episodes, each lane for itself."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._episodes = Episodes(policy.max_episodes)

    def offer(self, batch: Iterable[Notice], now: Instant, step: Step[Admission]) -> None:
        """Notices in; for each lane what passes and what was folded onto pending entries out."""
        chunk = _Chunk(self.policy, self._episodes, now)
        try:
            chunk.take(batch)
        finally:  # what was decided before a fault is not lost with it
            chunk.close(step)

    def told(self, lane: str, told: Sequence[tuple[str, int]], now: Instant) -> None:
        """The sink accepted these fingerprints; so many occurrences of each came too late to be counted in what was told."""
        table = self._episodes.table(lane)
        for fingerprint, missed in told:
            if episode := table.known.get(fingerprint):
                episode.pending, episode.since = False, missed
                episode.remind_at = self._next_reminder(episode, now)

    def missed(self, lane: str, missed: Sequence[tuple[str, int]]) -> None:
        """So many repeats came when their entry had just been told: the next reminder counts them."""
        known = self._episodes.table(lane).known
        for fingerprint, count in missed:
            if (episode := known.get(fingerprint)) and not episode.pending:
                episode.since += count

    def lost(self, lane: str, fingerprints: Iterable[str]) -> None:
        """These were evicted, dropped or failed: never told, so their next occurrence passes."""
        known = self._episodes.table(lane).known
        for fingerprint in fingerprints:
            if episode := known.get(fingerprint):
                episode.pending, episode.last_at = False, Instant(-NEVER)

    def rearm(self, lane: str, fingerprint: str) -> bool:
        """The condition is gone: the same notice may be told again. True if it had been told."""
        return self._episodes.forget(lane, fingerprint)

    def close(self, lane: str) -> None:
        """Forget a lane that is no more."""
        self._episodes.close(lane)

    def _next_reminder(self, episode: Episode, now: Instant) -> Instant:
        schedule = self.policy.reminders
        if not schedule:
            return NEVER
        windows = schedule[min(episode.reminders, len(schedule) - 1)]
        episode.reminders += 1
        return Instant(now + windows * self.policy.window)


class _Chunk:
    """One ``offer``: gathers by lane, so that what costs once per lane does not cost once per notice."""

    __slots__ = ("_admissions", "_episodes", "_folded", "_lanes", "_now", "_ruled", "_touched", "_window")

    def __init__(self, policy: Policy, episodes: Episodes, now: Instant) -> None:
        self._episodes, self._now, self._window = episodes, now, policy.window
        self._admissions: dict[str, Admission] = {}
        self._touched: dict[str, list[Episode]] = {}
        self._folded: list[Notice] = []
        self._ruled: dict[tuple[Verdict, Reason], list[Notice]] = {}

    def take(self, batch: Iterable[Notice]) -> None:
        """The hot loop: a repeat in a live episode costs one look-up and two additions."""
        now, window, folded = self._now, self._window, self._folded.append
        lane, table, known = None, None, None
        for notice in batch:
            if notice.lane != lane or known is None or table is None:
                lane = notice.lane
                table = self._episodes.table(lane)
                known = table.known
            episode = known.get(notice.fingerprint)
            if (
                episode is not None
                and now - episode.last_at < window
                and now < episode.remind_at
                and notice.severity <= episode.severity
                and notice.event.traffic == "event"
            ):
                if episode.pending:
                    self._touch(episode, notice)
                else:
                    episode.since += 1
                episode.last_at = now
                folded(notice)
                continue
            self._decide(table, episode, notice)

    def _decide(self, table: Table, episode: Episode | None, notice: Notice) -> None:
        traffic = notice.event.traffic
        if _never_folded(notice, self._window):
            self._pass(notice, Verdict.PASS, Reason.NEVER_FOLDED)
        elif episode is None:
            self._first(self._episodes.add(table, notice.fingerprint, self._now), notice)
        elif episode.pending:
            self._fold_pending(episode, notice)
        elif traffic != "event":
            self._once(episode, notice)
        elif self._now - episode.last_at >= self._window:
            self._first(episode, notice)
        else:
            self._again(episode, notice)

    def _first(self, episode: Episode, notice: Notice) -> None:
        episode.open(notice, self._now)
        self._pass(notice, Verdict.PASS, Reason.FIRST)

    def _again(self, episode: Episode, notice: Notice) -> None:
        reminder = Reminder(episode.since + 1, episode.first_at)
        if notice.severity > episode.severity:
            self._pass(notice, Verdict.PASS, Reason.ROSE, reminder)
        else:
            self._pass(notice, Verdict.REMIND, Reason.REMINDER, reminder)
        episode.reopen(notice, self._now)

    def _once(self, episode: Episode, notice: Notice) -> None:
        """Mail and returns are told once and for all; a harness notice until its condition is gone."""
        if episode.last_at < 0:  # it was lost, so nobody was told
            self._first(episode, notice)
            return
        episode.since += 1
        self._rule(Verdict.FOLD, Reason.NOT_REARMED if notice.event.traffic == "notice" else Reason.SAME_ID, notice)

    def _fold_pending(self, episode: Episode, notice: Notice) -> None:
        episode.severity = max(episode.severity, notice.severity)
        self._touch(episode, notice)
        episode.last_at = self._now
        self._folded.append(notice)

    def _touch(self, episode: Episode, notice: Notice) -> None:
        """Count onto an entry that is still pending, and keep a text that differs: a cascade must match them all."""
        if not episode.fresh:
            self._touched.setdefault(notice.lane, []).append(episode)
        episode.fresh += 1
        episode.note(notice)

    def _pass(self, notice: Notice, verdict: Verdict, reason: Reason, reminder: Reminder | None = None) -> None:
        admission = self._admission(notice.lane)
        admission.passed.append(notice)
        if reminder:
            admission.reminders[notice.serial] = reminder
        self._rule(verdict, reason, notice)

    def _rule(self, verdict: Verdict, reason: Reason, notice: Notice) -> None:
        self._ruled.setdefault((verdict, reason), []).append(notice)

    def _admission(self, lane: str) -> Admission:
        if lane not in self._admissions:
            self._admissions[lane] = Admission(lane, [], [], {})
        return self._admissions[lane]

    def close(self, step: Step[Admission]) -> None:
        """Hand over what was decided: rulings by reason, admissions by lane."""
        for lane, touched in self._touched.items():
            self._admission(lane).folds.extend(episode.gather() for episode in touched)
        step.rule(self._now, Stage.DEDUP, Verdict.FOLD, Reason.REPEAT, self._folded)
        for (verdict, reason), notices in self._ruled.items():
            step.rule(self._now, Stage.DEDUP, verdict, reason, notices)
        step.out.extend(self._admissions.values())

"""Chunk: one call of dedup. What costs once per lane is not paid once per notice; this loop is the line's busiest."""

from collections.abc import Iterable
from enum import StrEnum
from typing import assert_never

from ..contracts.base import Instant, Millis
from ..contracts.moves import Announce, Disarm, Rearm
from ..contracts.notices import Admission, Fold, Notice, Reminder
from ..contracts.severity import Severity
from ..contracts.verdicts import Stage, Verdict
from .episodes import Episode, Episodes, Table
from .ledger import Ledger
from .step import Step


class Reason(StrEnum):
    """Why a notice passed or was folded; for the harness's notices see the ledger."""

    FIRST = "first_in_window"
    REPEAT = "repeat_in_window"
    ROSE = "severity_rose"
    REMINDER = "still_going_on"
    NEVER_FOLDED = "class_is_never_folded"
    SAME_ID = "same_id_again"


Outcome = Admission | Rearm | Announce | Disarm


class _Here:
    """One lane within one chunk."""

    __slots__ = ("admission", "repeats", "table", "touched")

    def __init__(self, lane: str, table: Table) -> None:
        self.table = table
        self.admission = Admission(lane, [], [], {}, {})
        self.touched: list[Episode] = []
        self.repeats: dict[int, tuple[str, int, Severity]] = {}
        """Serial of a pending harness notice → its print, and how often and how severe it was raised again."""


class Chunk:
    """Decides over one batch of notices, then hands over what passed and what was folded, lane by lane."""

    def __init__(self, episodes: Episodes, ledger: Ledger, window: Millis, now: Instant) -> None:
        self._episodes, self._ledger, self._window, self._now = episodes, ledger, window, now
        self._lanes: dict[str, _Here] = {}
        self._first: list[Notice] = []
        self._folded: list[Notice] = []
        self._ruled: dict[tuple[Verdict, str], list[Notice]] = {}

    def take(self, batch: Iterable[Notice]) -> None:
        """A repeat costs one look-up and two additions; a first occurrence one episode. What is rarer costs a call more."""
        now, window, episodes = self._now, self._window, self._episodes
        first, folded = self._first.append, self._folded.append
        lane = ""
        here = self._here(lane)
        known, passed = here.table.known, here.admission.passed.append
        for notice in batch:
            if notice.lane != lane:
                lane = notice.lane
                here = self._here(lane)
                known, passed = here.table.known, here.admission.passed.append
            event = notice.event
            if event.traffic != "event" or not window:
                self._words(here, notice)
                continue
            episode = known.get(notice.fingerprint)
            if episode is None:
                episodes.add(here.table, Episode(notice.fingerprint, notice.severity, now, now, now, text=event.text))
            elif now - episode.last_at < window or episode.pending:
                if episode.pending:
                    self._touch(here, episode, notice)
                elif now < episode.remind_at and notice.severity <= episode.severity:
                    episode.since += 1
                else:
                    self._again(here, episode, notice)
                    continue
                episode.last_at = now
                folded(notice)
                continue
            else:
                episode.open(notice, now)
            passed(notice)
            first(notice)

    def close(self, step: Step[Outcome]) -> None:
        """Hand over what was decided: rulings by reason, admissions by lane."""
        step.rule(self._now, Stage.DEDUP, Verdict.FOLD, Reason.REPEAT, self._folded)
        step.rule(self._now, Stage.DEDUP, Verdict.PASS, Reason.FIRST, self._first)
        for (verdict, reason), notices in self._ruled.items():
            step.rule(self._now, Stage.DEDUP, verdict, reason, notices)
        for here in self._lanes.values():
            here.admission.folds.extend(episode.gather() for episode in here.touched)
            for serial, (print_, count, severity) in here.repeats.items():
                here.admission.folds.append(Fold(print_, count, self._now, severity, (), serial))
            if here.admission.passed or here.admission.folds:
                step.out.append(here.admission)

    def _here(self, lane: str) -> _Here:
        here = self._lanes.get(lane)
        if here is None:
            here = self._lanes[lane] = _Here(lane, self._episodes.table(lane))
        return here

    def _again(self, here: _Here, episode: Episode, notice: Notice) -> None:
        """An episode that lasts is told again: its time has come, or it has grown worse."""
        reminder = Reminder(episode.since + 1, episode.first_at)
        if notice.severity > episode.severity:
            self._pass(here, notice, Verdict.PASS, Reason.ROSE, reminder)
        else:
            self._pass(here, notice, Verdict.REMIND, Reason.REMINDER, reminder)
        episode.reopen(notice, self._now)

    def _words(self, here: _Here, notice: Notice) -> None:
        """What people, agents and the harness wrote, and events when dedup is off."""
        if notice.event.traffic == "notice":
            self._judge(here, notice)
            return
        if _never_folded(notice):
            self._pass(here, notice, Verdict.PASS, Reason.NEVER_FOLDED)
            return
        episode = here.table.known.get(notice.fingerprint)
        if episode is None:
            episode = Episode(notice.fingerprint, notice.severity, self._now, self._now, self._now, text=notice.event.text)
            self._episodes.add(here.table, episode)
            self._pass(here, notice, Verdict.PASS, Reason.FIRST)
        else:
            episode.since += 1
            self._rule(Verdict.FOLD, Reason.SAME_ID, notice)

    def _judge(self, here: _Here, notice: Notice) -> None:
        """The harness's notices go by what their recipient was told, not by what was seen."""
        ruled = self._ledger.judge(notice, self._now)
        if ruled.verdict is Verdict.PASS:
            self._pass(here, ruled.notice, ruled.verdict, ruled.reason)
            if ruled.other:
                here.admission.superseded[ruled.other] = notice.serial
            return
        self._rule(ruled.verdict, ruled.reason, notice)
        if ruled.other:
            _, count, severity = here.repeats.get(ruled.other, ("", 0, notice.severity))
            here.repeats[ruled.other] = (notice.fingerprint, count + 1, max(severity, notice.severity))

    def _touch(self, here: _Here, episode: Episode, notice: Notice) -> None:
        """Count onto an entry that is still pending, and keep a text that differs: a cascade must match them all."""
        if not episode.fresh:
            here.touched.append(episode)
        episode.fresh += 1
        episode.severity = max(episode.severity, notice.severity)
        if notice.event.text != episode.text:
            episode.note(notice.event.text)

    def _pass(self, here: _Here, notice: Notice, verdict: Verdict, reason: str, reminder: Reminder | None = None) -> None:
        here.admission.passed.append(notice)
        if reminder:
            here.admission.reminders[notice.serial] = reminder
        self._rule(verdict, reason, notice)

    def _rule(self, verdict: Verdict, reason: str, notice: Notice) -> None:
        self._ruled.setdefault((verdict, reason), []).append(notice)


def _never_folded(notice: Notice) -> bool:
    """A person's words never are, mail only by its id, an answer by its coordinate. Events come here when dedup is off."""
    event = notice.event
    match event.traffic:
        case "user" | "event":
            return True
        case "mail":
            return not event.id
        case "return":
            return not (event.key or event.id)
        case "notice":
            return False
        case _:
            assert_never(event.traffic)

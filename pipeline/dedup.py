"""Dedup: within one window, one notice per fingerprint passes; it remembers what was told, not what was seen."""

from collections.abc import Callable, Container, Iterable, Sequence

from ..contracts.base import Count, Inbound, Instant, Length, Millis
from ..contracts.durable import Announced, Rearmed
from ..contracts.moves import Rearm
from ..contracts.notices import Notice
from .chunk import Chunk, Outcome, Reason
from .episodes import Episode, Episodes
from .ledger import NOTICE_LEDGER_TTL, Ledger
from .stage import NEVER, StageBase
from .step import Step


class Policy(Inbound, frozen=True, kw_only=True):
    """When a repeat is a repeat."""

    window: Length = Millis(60_000)
    """An episode ends after one window without an occurrence. 0 turns dedup off."""
    reminders: tuple[int, ...] = (1, 5, 30)
    """While an episode lasts, a reminder passes after so many windows; the last number repeats. Empty: never."""
    max_episodes: Count = 100_000
    """Episodes remembered in all; the least recently seen of the fullest lane goes first."""
    notice_ttl: Length = NOTICE_LEDGER_TTL
    """A harness notice that was told is remembered so long, if its condition does not end before. 0: for ever."""


class Dedup(StageBase[Policy]):
    """Folds repeats into episodes, each lane for itself; the harness's notices are told once until they are re-armed."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._episodes = Episodes(policy.max_episodes)
        self._ledger = Ledger(policy.notice_ttl)

    def offer(self, batch: Iterable[Notice], now: Instant, step: Step[Outcome]) -> None:
        """Notices in; for each lane what passes and what was folded onto pending entries out."""
        chunk = Chunk(self._episodes, self._ledger, self.policy.window, now)
        try:
            chunk.take(batch)
        finally:  # what was decided before a fault is not lost with it
            chunk.close(step)
            step.out.extend(self._ledger.changes())

    def told(self, lane: str, told: Sequence[tuple[str, int]], now: Instant) -> None:
        """The sink accepted these fingerprints; so many occurrences of each came too late to be counted in what was told."""
        known = self._episodes.known(lane)
        for fingerprint, missed in told:
            if episode := known.get(fingerprint):
                if episode.gone:
                    self._episodes.forget(lane, fingerprint)
                    continue
                episode.pending, episode.since = False, missed
                episode.remind_at = self._next_reminder(episode, now)

    def missed(self, lane: str, missed: Sequence[tuple[str, int]]) -> None:
        """So many repeats came when their entry had just been told: the next reminder counts them."""
        known = self._episodes.known(lane)
        for fingerprint, count in missed:
            if (episode := known.get(fingerprint)) and not episode.pending:
                episode.since += count

    def lost(self, lane: str, fingerprints: Sequence[str]) -> None:
        """These were evicted, dropped or failed: never told, so their next occurrence passes."""
        self._episodes.lose(lane, fingerprints)
        self._ledger.lost_prints(lane, fingerprints)

    def notices_told(self, lane: str, serials: Iterable[int], now: Instant, step: Step[Outcome]) -> None:
        """The sink accepted these harness notices: they are on the ledger."""
        self._ledger.told(lane, serials, now)
        step.out.extend(self._ledger.changes())

    def notices_lost(self, lane: str, serials: Iterable[int]) -> None:
        """These harness notices ended untold: raised again, they pass."""
        self._ledger.lost(lane, serials)

    def rearm(self, lane: str, fingerprint: str, signature: str, step: Step[Outcome]) -> bool:
        """The condition is gone: the same notice may be told again. True if it had been told.

        While it is pending it stays known: raised again before its batch goes, it is one notice that occurred twice.
        """
        rearmed, serials = self._ledger.rearm_one(lane, signature or fingerprint)
        step.out.append(Rearm(lane, fingerprint, signature, serials))
        step.out.extend(self._ledger.changes())
        episode = self._episodes.known(lane).get(fingerprint)
        if episode is not None and episode.pending:
            episode.gone = True
            return False
        return self._episodes.forget(lane, fingerprint) or bool(rearmed.delivered)

    def rearm_cleared(
        self, lane: str, kind: str, cleared: Callable[[str, tuple[str, ...]], bool], step: Step[Outcome]
    ) -> Rearmed:
        """On evidence: the harness notices of this kind (empty: of any) for whose signature and ctx ``cleared`` is true.

        What was told may be told again; what is pending need not be told any more. The two are counted apart.
        """
        rearmed, serials = self._ledger.rearm(lane, kind, cleared)
        if serials:
            step.out.append(Rearm(lane, "", "", serials))
        step.out.extend(self._ledger.changes())
        return rearmed

    def over(self, lane: str, told: Container[str], waiting: Container[str], step: Step[Outcome]) -> None:
        """On evidence that tells occasions apart: of what was told these signatures, of what is pending these ids."""
        serials = self._ledger.over(lane, told, waiting)
        if serials:
            step.out.append(Rearm(lane, "", "", serials))
        step.out.extend(self._ledger.changes())

    def seed(self, lane: str, told: Iterable[Announced], now: Instant) -> None:
        """What its recipient was told before the lane was opened, by whatever process, and what is not re-armed."""
        self._ledger.seed(lane, told, now)

    def told_of(self, lane: str) -> list[Announced]:
        """The harness notices that its recipient was told of and that are not re-armed, oldest first."""
        return self._ledger.told_of(lane)

    def close(self, lane: str) -> None:
        """Forget a lane that is no more."""
        self._episodes.close(lane)
        self._ledger.close(lane)

    def _next_reminder(self, episode: Episode, now: Instant) -> Instant:
        schedule = self.policy.reminders
        if not schedule:
            return NEVER
        windows = schedule[min(episode.reminders, len(schedule) - 1)]
        episode.reminders += 1
        return Instant(now + windows * self.policy.window)


__all__ = ["Dedup", "Policy", "Reason"]

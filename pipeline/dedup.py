"""Dedup: within one window, one notice per fingerprint passes; it remembers what was told, not what was seen."""

from collections.abc import Iterable, Sequence

from ..contracts.base import Count, Inbound, Instant, Length, Millis
from ..contracts.notices import Admission, Notice
from .chunk import Chunk, Reason
from .episodes import Episode, Episodes
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


class Dedup(StageBase[Policy]):
    """Folds repeats into episodes, each lane for itself."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._episodes = Episodes(policy.max_episodes)

    def offer(self, batch: Iterable[Notice], now: Instant, step: Step[Admission]) -> None:
        """Notices in; for each lane what passes and what was folded onto pending entries out."""
        chunk = Chunk(self._episodes, self.policy.window, now)
        try:
            chunk.take(batch)
        finally:  # what was decided before a fault is not lost with it
            chunk.close(step)

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

    def lost(self, lane: str, fingerprints: Iterable[str]) -> None:
        """These were evicted, dropped or failed: never told, so their next occurrence passes."""
        self._episodes.lose(lane, fingerprints)

    def rearm(self, lane: str, fingerprint: str) -> bool:
        """The condition is gone: the same notice may be told again. True if it had been told.

        While it is pending it stays known: raised again before its batch goes, it is one notice that occurred twice.
        """
        episode = self._episodes.known(lane).get(fingerprint)
        if episode is not None and episode.pending:
            episode.gone = True
            return False
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


__all__ = ["Dedup", "Policy", "Reason"]

"""Episodes: the bounded memory of what was told, one table a lane."""

from collections import deque
from collections.abc import Iterable

import msgspec

from ..contracts.base import Instant
from ..contracts.notices import TEXTS_KEPT, Fold, Notice
from ..contracts.severity import Severity
from .stage import NEVER

_SPARE = 256
"""Places in a ring that may be taken by episodes that are gone, before they are cleared away."""


class Episode(msgspec.Struct, gc=False):
    """A run of the same notice. ``pending``: it passed and is not told yet; repeats count onto the pending entry."""

    fingerprint: str
    severity: Severity
    first_at: Instant
    last_at: Instant
    """When it was last seen; far in the past if it was lost, so that the next occurrence opens it anew."""
    ringed_at: Instant
    """What ``last_at`` was when its place in the ring was taken."""
    remind_at: Instant = NEVER
    pending: bool = True
    gone: bool = False
    """The condition behind it is gone, and has not come back: once it is told it is forgotten."""
    since: int = 0
    """Occurrences since it was last told."""
    reminders: int = 0
    fresh: int = 0
    """Repeats in this chunk that the pending entry does not know of yet."""
    text: str = ""
    texts: tuple[str, ...] = ()
    """Texts of those repeats that differ from the first one's."""

    def open(self, notice: Notice, now: Instant) -> None:
        """Start anew with this first occurrence. What a lost one kept its initial values of need not be set again."""
        if self.reminders or self.since:
            self.reminders = self.since = 0
        self.gone = False
        self.first_at = self.last_at = now
        self.severity, self.text, self.pending, self.remind_at = notice.severity, notice.event.text, True, NEVER

    def reopen(self, notice: Notice, now: Instant) -> None:
        """Tell again of an episode that lasts."""
        self.severity = max(self.severity, notice.severity)
        self.pending, self.since, self.last_at, self.text, self.remind_at = True, 0, now, notice.event.text, NEVER

    def note(self, text: str) -> None:
        """Remember a text that differs; one more than ``TEXTS_KEPT`` are enough to know that not all are known."""
        if text not in self.texts and len(self.texts) <= TEXTS_KEPT:
            self.texts = (*self.texts, text)

    def gather(self) -> Fold:
        """The repeats of this chunk, for the pending entry."""
        fold = Fold(self.fingerprint, self.fresh, self.last_at, self.severity, self.texts)
        self.fresh, self.texts = 0, ()
        return fold


class Table:
    """One lane's episodes by fingerprint, and the ring by which they leave."""

    __slots__ = ("known", "ring")

    def __init__(self) -> None:
        self.known: dict[str, Episode] = {}
        self.ring: deque[Episode] = deque()


class Episodes:
    """All lanes' tables under one cap. A lane within its fair share loses nothing to another lane's flood."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._tables: dict[str, Table] = {}

    def table(self, lane: str) -> Table:
        """The lane's table, made when first asked for."""
        table = self._tables.get(lane)
        if table is None:
            table = self._tables[lane] = Table()
        return table

    def known(self, lane: str) -> dict[str, Episode]:
        """The lane's episodes by fingerprint, to look up; asking makes no table."""
        table = self._tables.get(lane)
        return table.known if table else {}

    def add(self, table: Table, episode: Episode) -> None:
        """A new episode in the table; at the cap another one goes first."""
        if self._count >= self._most:
            self._evict(table)
        table.known[episode.fingerprint] = episode
        table.ring.append(episode)
        self._count += 1

    def lose(self, lane: str, fingerprints: Iterable[str]) -> None:
        """These were never told: the next occurrence of each is news, so nothing of them is kept."""
        if (table := self._tables.get(lane)) is None:
            return
        before, pop = len(table.known), table.known.pop
        for fingerprint in fingerprints:
            pop(fingerprint, None)
        self._count -= before - len(table.known)
        if len(table.ring) > 2 * len(table.known) + _SPARE:
            table.ring = deque(episode for episode in table.ring if table.known.get(episode.fingerprint) is episode)

    def forget(self, lane: str, fingerprint: str) -> bool:
        """Drop one episode. True if there was one."""
        if self.known(lane).pop(fingerprint, None) is None:
            return False
        self._count -= 1
        return True

    def close(self, lane: str) -> None:
        """Drop a lane's table."""
        if table := self._tables.pop(lane, None):
            self._count -= len(table.known)

    def __len__(self) -> int:
        return self._count

    def _evict(self, asking: Table) -> None:
        if len(asking.known) * len(self._tables) < self._most:  # within its fair share: the fullest lane gives
            asking = max(self._tables.values(), key=lambda table: len(table.known))
        self._drop_least_recent(asking)

    def _drop_least_recent(self, table: Table) -> None:
        """Second chance: one that was seen since it took its place in the ring goes to the back with its new stamp."""
        ring, known = table.ring, table.known
        while ring:
            episode = ring.popleft()
            if known.get(episode.fingerprint) is not episode:
                continue
            if episode.last_at > episode.ringed_at:
                episode.ringed_at = episode.last_at
                ring.append(episode)
                continue
            del known[episode.fingerprint]
            self._count -= 1
            return

"""Pending: the one table of what a lane has not been told yet."""

from collections.abc import Iterable
from operator import index

import msgspec

from ..contracts.base import Instant
from ..contracts.notices import TEXTS_KEPT, Fold, Notice, Proposed, Reminder
from ..contracts.severity import Severity
from ..contracts.verdicts import Stage
from .stage import NEVER


class Pending(msgspec.Struct):
    """One entry: a notice, the repeats counted onto it, and what keeps it."""

    notice: Notice
    severity: Severity
    count: int
    first_at: Instant
    last_at: Instant
    texts: tuple[str, ...]
    all_texts: bool = True
    reminder: bool = False
    seen: int = 0
    """The throttle's count of admissions when it last occurred."""
    outgrown: bool = False
    """It grew worse while it was under way, so what is told of it is less than the truth."""
    cleared: bool = False
    """Its condition went away while it was pending, and has not come back."""
    held_at: Instant | None = None
    deferred_at: Instant | None = None
    kept_by: Stage | None = None
    reason: str = "batch_window"
    until: Instant | None = None

    @classmethod
    def of(cls, notice: Notice, reminder: Reminder | None, seen: int) -> "Pending":
        """A fresh entry for a notice that dedup let on."""
        at = Instant(index(notice.event.at or notice.at))  # what is no number fails here, before any table knows of it
        if reminder is None:
            return cls(notice, notice.severity, 1, at, at, (notice.event.text,), seen=seen)
        texts = (notice.event.text,)
        return cls(notice, notice.severity, reminder.count, reminder.first_at, at, texts, reminder=True, seen=seen)

    def fold(self, fold: Fold, seen: int) -> None:
        """Count repeats onto it."""
        self.count += fold.count
        self.seen = seen
        self.last_at = max(self.last_at, fold.last_at)
        self.severity = max(self.severity, fold.severity)
        self.cleared = False
        if fold.texts:
            texts = dict.fromkeys((*self.texts, *fold.texts))
            self.all_texts = self.all_texts and len(texts) <= TEXTS_KEPT
            self.texts = tuple(texts)[:TEXTS_KEPT]

    def inherit(self, older: "Pending") -> None:
        """It says what an older entry said, which gives way to it: the occurrences of that one are its own."""
        self.count += older.count
        self.first_at, self.last_at = min(self.first_at, older.first_at), max(self.last_at, older.last_at)
        self.severity = max(self.severity, older.severity)

    def proposed(self) -> Proposed:
        """It as it stands now."""
        return Proposed(
            self.notice,
            self.count,
            self.first_at,
            self.last_at,
            self.severity,
            self.texts,
            self.all_texts,
            self.reminder,
            self.held_at,
            self.deferred_at,
            self.reason,
        )


class Group:
    """Entries that may share a block, in order. They are proposed together, at ``ready_at``."""

    __slots__ = ("entries", "ready_at")

    def __init__(self) -> None:
        self.entries: dict[int, Pending] = {}
        self.ready_at: Instant = NEVER

    def pull(self, at: Instant) -> None:
        """Be ready at that moment at the latest; nothing ever pushes it out."""
        self.ready_at = min(self.ready_at, at)


class Bands:
    """The evictable entries by severity, oldest first: the next one to go is found in constant time."""

    __slots__ = ("_bands",)

    def __init__(self) -> None:
        self._bands: tuple[dict[int, Pending], ...] = tuple({} for _ in Severity)

    def add(self, entry: Pending) -> None:
        """A newcomer at the end of its band."""
        self._bands[entry.severity][entry.notice.serial] = entry

    def rise(self, entry: Pending, before: Severity) -> None:
        """Its severity rose: it moves, and keeps its age."""
        if self._bands[before].pop(entry.notice.serial, None):
            self.put_back((entry,))

    def take_out(self, entry: Pending) -> None:
        """It is no longer evictable: under way, or gone."""
        self._bands[entry.severity].pop(entry.notice.serial, None)

    def put_back(self, entries: Iterable[Pending]) -> None:
        """These are evictable again, with their age."""
        for entry in entries:
            self.add(entry)
        for band in self._bands:
            ordered = sorted(band.items())
            band.clear()
            band.update(ordered)

    def oldest_of_lowest(self) -> Pending | None:
        """The one to evict, if there is one."""
        for band in self._bands:
            if band:
                return band[next(iter(band))]
        return None

"""Notices: events that have a recipient and, soon after, an identity."""

import msgspec

from .base import Instant
from .events import Event
from .severity import Severity


class Notice(msgspec.Struct, frozen=True, gc=False):
    """One event for one recipient. Made once per event and hop, so it is small and knows no defaults it can do without."""

    serial: int
    """Its place in the line of this run, from 1; the order of everything."""
    event: Event
    lane: str
    severity: Severity
    at: Instant
    """When the line took it: every window counts from here."""
    fingerprint: str = ""
    """Which notices are the same; empty until the fingerprint stage has seen it."""


def notice_id(run: str, notice: Notice) -> str:
    """The id that people and sinks see: the producer's own, else the run's name and the serial."""
    return notice.event.id or f"{run}-{notice.serial}"


class Fold(msgspec.Struct, frozen=True, gc=False):
    """Repeats of a notice that is still pending, gathered over one chunk."""

    fingerprint: str
    count: int
    last_at: Instant
    severity: Severity
    texts: tuple[str, ...]
    """Raw texts of the repeats that differ from the first one's, each once, at most ``TEXTS_KEPT``."""
    serial: int = 0
    """Of a harness notice: which pending one. Everything else is found by its fingerprint."""


TEXTS_KEPT = 8
"""So many differing texts of one fingerprint are remembered; beyond that no claim is made about all of them."""


class Reminder(msgspec.Struct, frozen=True, gc=False):
    """What a repeated notice says of its past: occurrences since it was last told, and when the first was."""

    count: int
    first_at: Instant


class Admission(msgspec.Struct, frozen=True):
    """What dedup lets on for one lane, out of one chunk."""

    lane: str
    passed: list[Notice]
    folds: list[Fold]
    reminders: dict[int, Reminder]
    """Serial → what to say besides; only for those in ``passed`` that are reminders."""
    superseded: dict[int, int] = {}
    """Serial of a harness notice that was pending → that of the newer one, in ``passed``, for which it gives way."""


class Proposed(msgspec.Struct, frozen=True):
    """One pending entry as it stands in a proposal."""

    notice: Notice
    count: int
    first_at: Instant
    last_at: Instant
    severity: Severity
    texts: tuple[str, ...]
    """The first text and those that differ from it."""
    all_texts: bool
    """False if some text of an occurrence is not in ``texts``."""
    reminder: bool
    held_at: Instant | None
    """When an outage first kept it, if one did."""
    deferred_at: Instant | None
    """When its recipient's activity began to keep it, if it does: this wait is bounded."""
    reason: str
    """What kept it the last time, so that the same reason is not put on record again."""


class Proposal(msgspec.Struct, frozen=True):
    """A batch that would like to be delivered. One per lane is under way at a time."""

    lane: str
    number: int
    entries: tuple[Proposed, ...]
    suppressed: tuple[int, int, int, int]
    """Occurrences not told since the last block, by severity."""
    overdue: bool = False

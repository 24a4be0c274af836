"""Verdicts: every yes and no of the line has a name, a reason and a record."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from .base import Instant, Record
from .notices import Notice


class Stage(StrEnum):
    """Where a decision was taken, in the order of the line."""

    INTAKE = "intake"
    CLASSIFY = "classify"
    FINGERPRINT = "fingerprint"
    DEDUP = "dedup"
    THROTTLE = "throttle"
    HOLD = "hold"
    DEFER = "defer"
    FANOUT = "fanout"


class Verdict(StrEnum):
    """What was decided. Those in ``ENDS`` end a notice's way; the others let it go on or keep it."""

    PASS = "pass"
    FOLD = "fold"
    REMIND = "remind"
    EVICT = "evict"
    SHED = "shed"
    HOLD = "hold"
    RELEASE = "release"
    DROP_CASCADE = "drop_cascade"
    CLEAR = "clear"
    DEFER = "defer"
    OVERDUE = "overdue"
    DROP_DEAD = "drop_dead"
    REFUSE = "refuse"
    DELIVER = "deliver"
    RETRY = "retry"
    DEAD_LETTER = "dead_letter"
    SPILL = "spill"


DROPS = (
    Verdict.EVICT,
    Verdict.SHED,
    Verdict.DROP_CASCADE,
    Verdict.CLEAR,
    Verdict.DROP_DEAD,
    Verdict.REFUSE,
    Verdict.DEAD_LETTER,
)
"""Verdicts that end a notice untold."""

ENDS = (Verdict.FOLD, Verdict.DELIVER, *DROPS)
"""Verdicts that end a notice's way: ``fed = delivered + folded + dropped (by verdict) + pending``."""


class Ruling(msgspec.Struct, frozen=True):
    """One decision over many notices: what costs once per chunk instead of once per event."""

    at: Instant
    stage: Stage
    verdict: Verdict
    reason: str
    notices: Sequence[Notice]
    until: Instant | None = None
    note: str = ""


class Decision(Record, frozen=True, kw_only=True):
    """One decision over one notice, as it is shown."""

    at: Instant
    lane: str
    id: str
    fingerprint: str
    stage: Stage
    verdict: Verdict
    reason: str
    until: Instant | None = None
    note: str = ""

"""Moves: the small messages by which the stages after dedup keep one pending table true."""

from collections.abc import Sequence

import msgspec

from .base import Instant
from .durable import Announced
from .verdicts import Stage, Verdict


class Told(msgspec.Struct, frozen=True):
    """To dedup: these fingerprints were delivered; so many occurrences of each came too late to be counted in it."""

    lane: str
    told: Sequence[tuple[str, int]]


class Lost(msgspec.Struct, frozen=True):
    """To dedup: these were never told, so their next occurrence passes."""

    lane: str
    fingerprints: Sequence[str]


class NoticesTold(msgspec.Struct, frozen=True):
    """To dedup: the sink accepted these harness notices."""

    lane: str
    serials: Sequence[int]


class NoticesLost(msgspec.Struct, frozen=True):
    """To dedup: these harness notices ended untold, or gave way to a newer one: raised again, they are news."""

    lane: str
    serials: Sequence[int]


class Announce(msgspec.Struct, frozen=True):
    """To the store: this is on the ledger from now on."""

    lane: str
    announced: Announced


class Disarm(msgspec.Struct, frozen=True):
    """To the store: these signatures are no longer on the ledger, and may be told again."""

    lane: str
    signatures: Sequence[str]


class Missed(msgspec.Struct, frozen=True):
    """To dedup: repeats were counted onto an entry that had just been told; they belong to the next reminder."""

    lane: str
    missed: Sequence[tuple[str, int]]


class Kept(msgspec.Struct, frozen=True):
    """To throttle: a gate keeps these entries of the lane's proposal; ask again at ``until``, or when woken."""

    lane: str
    number: int
    serials: Sequence[int]
    stage: Stage
    reason: str
    until: Instant | None


class Dropped(msgspec.Struct, frozen=True):
    """To throttle: these entries of the proposal ended untold, by this verdict."""

    lane: str
    number: int
    serials: Sequence[int]
    verdict: Verdict


class Settled(msgspec.Struct, frozen=True):
    """To throttle: the sink accepted these entries of the proposal."""

    lane: str
    number: int
    serials: Sequence[int]


class WakeLane(msgspec.Struct, frozen=True):
    """To throttle: what kept this lane has changed; propose at once."""

    lane: str


class WakeScope(msgspec.Struct, frozen=True):
    """To throttle: what held this scope's entries has changed; propose them at once, in every lane."""

    scope: str


class ClearScope(msgspec.Struct, frozen=True):
    """To throttle: a good build; build errors of this scope that are pending and not younger than ``upto`` are stale."""

    scope: str
    upto: int


class Rearm(msgspec.Struct, frozen=True):
    """Along the line: the condition behind a harness notice is gone."""

    lane: str
    fingerprint: str
    """Of an event with a producer's key, which is cleared the same way."""
    signature: str = ""
    """Of a harness notice."""
    serials: Sequence[int] = ()
    """From dedup on: the notices that are pending under that signature, or whose conditions were found to be gone."""

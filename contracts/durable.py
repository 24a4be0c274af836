"""Durable: what is committed before ``feed`` answers, and what became of it."""

from enum import StrEnum
from typing import Final

from .base import Instant, Record, Traffic
from .deliveries import Proof
from .events import Event
from .verdicts import Verdict

DURABLE: Final = frozenset({"user", "notice", "mail", "return"})
"""The classes that survive a crash. Machine findings do not: they are told again by whoever sees them."""


class State(StrEnum):
    """How far a message is on its way to one recipient. The last three are its ends."""

    PENDING = "pending"
    """Committed; no process has it in its line."""
    CLAIMED = "claimed"
    """In the line of the process that owns the recipient."""
    DISPATCHED = "dispatched"
    """Handed to the sink, whose answer is not on record."""
    PROCESSED = "processed"
    """Delivered, or counted into one that was."""
    FAILED = "failed"
    """A dead letter: it can be retried."""
    UNDELIVERABLE = "undeliverable"
    """Ended untold by a rule: evicted, cleared, refused, the recipient dead."""


OPEN: Final = frozenset({State.PENDING, State.CLAIMED, State.DISPATCHED})
"""What a new owner takes up again."""


class Stored(Record, frozen=True, kw_only=True):
    """One message for one recipient, as the store holds it. ``seq`` is its place in the order of everything accepted."""

    seq: int
    id: str
    recipient: str
    traffic: Traffic
    state: State
    event: Event
    """As it was fed, but for its id and recipient, which are filled in."""
    accepted_at: Instant
    changed_at: Instant
    delivery: str = ""
    """The block that holds it, from the dispatch on."""
    attempts: int = 0
    """Dispatches so far; more than one means that the recipient may have read it before."""
    verdict: str = ""
    reason: str = ""


class Acceptance(Record, frozen=True, kw_only=True):
    """The answer to a durable feed, given after the commit."""

    id: str
    seq: int
    replayed: bool = False
    """True if the same message was accepted before, under the same id; nothing was added."""
    durable: bool = True
    """False if the store could not be written, so that it is only in this process's line: a crash would lose it."""
    verdict: str = ""
    """How it ended, if it did at once: ``drop_dead``. Mail to the dead is accepted for the coordinator."""
    recipient: str = ""
    """Who will be told."""


class Block(Record, frozen=True, kw_only=True):
    """One delivery on record: the text as it was handed over, and how far it is proved to have come."""

    id: str
    recipient: str
    at: Instant
    text: str
    notices: tuple[str, ...]
    state: State
    attempt: int = 1
    proof: Proof | None = None
    proved_at: Instant | None = None
    note: str = ""


class Announced(Record, frozen=True, kw_only=True):
    """A harness notice that its recipient has been told of and that is not re-armed."""

    recipient: str
    signature: str
    at: Instant
    ctx: tuple[str, ...] = ()
    cleared_when: str = ""


class Held(Record, frozen=True, kw_only=True):
    """A harness notice that waits, as it was built."""

    recipient: str
    signature: str
    id: str
    event: Event
    at: Instant
    """When it began to wait."""
    reason: str = ""


class Rearmed(Record, frozen=True, kw_only=True):
    """What a re-arm found, apart: conditions that are over, and news that had become stale before it was told."""

    delivered: int
    held: int


class Outcome(Record, frozen=True, kw_only=True):
    """One end, or one step on the way, of one durable message: what the store notes of a decision."""

    id: str
    recipient: str
    at: Instant
    stage: str
    verdict: Verdict
    reason: str
    fingerprint: str = ""
    until: Instant | None = None
    note: str = ""

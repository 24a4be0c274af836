"""Deliveries: what a sink gets, and the receipt that it gives."""

from enum import StrEnum

from .base import Instant, Record, Traffic
from .severity import SeverityName


class Proof(StrEnum):
    """How far a delivery is proved to have come. What is not proved is never claimed."""

    RECORDED = "recorded"
    """It is in a file or a mailbox that the recipient can read."""
    OFFERED = "offered"
    """It was written to the recipient's input."""
    SUBMITTED = "submitted"
    """The recipient's program took it as one message."""
    SEEN = "seen"
    """The recipient itself answered, or acknowledged it."""


class Entry(Record, frozen=True, kw_only=True):
    """One notice as it is told: the first occurrence with the count of all of them."""

    id: str
    fingerprint: str
    traffic: Traffic
    severity: SeverityName
    source: str
    scope: str
    text: str
    count: int
    first_at: Instant
    last_at: Instant
    detail: str = ""
    frame: str = ""
    category: str = ""
    reminder: bool = False
    """True if this was told before and still goes on; ``count`` is then the count since it was last told."""


class Delivery(Record, frozen=True, kw_only=True):
    """One block for one recipient. A repeat after a fault carries the same ``id`` and a higher ``attempt``."""

    id: str
    lane: str
    at: Instant
    text: str
    """The rendered block, at most the policy's cap of characters."""
    entries: tuple[Entry, ...]
    attempt: int = 1
    suppressed: dict[SeverityName, int] = {}
    """Occurrences that will not be told, by severity, since the last block."""
    overdue: bool = False
    """True if the recipient still looked active when waiting had to end."""
    spill: str = ""
    """The whole text, where ``text`` had to be cut; empty if nothing was cut."""


class Receipt(Record, frozen=True, kw_only=True):
    """A sink's word that it accepted a delivery, and what proves it."""

    proof: Proof
    note: str = ""

"""Attention items: what is on record of the person's queue, as it is shown: items, sources, returns, history, pages."""

from enum import StrEnum
from typing import Any, Final, Literal

from .attention import Choice, Packet, ReturnMode
from .base import Record

Provenance = Literal["dispatch", "live_registration", "operator_binding"]
"""How it was verified who a source is: a delivery's token, a running session, or the person's own word."""

PAGE: Final = 25
"""Rows of a page, unless another number is asked for."""
PAGE_MOST: Final = 100
RETURNS_A_PASS: Final = 25
"""Returns that are looked at in one pass at most."""
BLOCKED_PERIOD: Final = 60_000
"""Milliseconds after which a blocked return is looked at again."""


class State(StrEnum):
    """Where an item is. The last two are its ends."""

    QUEUED = "queued"
    ACTIVE = "active"
    """The person works on it. One at most, and without a time limit."""
    DEFERRED = "deferred"
    RESOLVED = "resolved"
    CANCELLED = "cancelled"


TERMINAL: Final = frozenset({State.RESOLVED, State.CANCELLED})


class Phase(StrEnum):
    """How far an answer is on its way back."""

    PENDING = "pending"
    """The answer is safe; nothing was sent."""
    BLOCKED = "blocked"
    """The way can't be used now; it is looked at again, or waits for the person."""
    MINTED = "minted"
    """A delivery exists, and everything further is its own."""
    PROCESSED = "processed"
    """The delivery came to its ordinary end. It does not say that anything was done about the answer."""
    FAILED = "failed"
    SUPERSEDED = "superseded"
    """The person put another generation in its place."""


class Obstacle(StrEnum):
    """Why an answer can't go its way now."""

    ARCHIVED = "recipient_archived"
    OTHER_RUNS = "another_session_runs"
    SESSION_ENDED = "session_has_ended"
    NOT_RUNNING = "session_does_not_run"


class EventKind(StrEnum):
    """What happened. Each of the first ten moves its item's revision by one, and nothing else does."""

    ADDED = "added"
    STARTED = "started"
    AMENDED = "amended"
    CLAIMED = "claimed"
    RESOLVED = "resolved"
    DEFERRED = "deferred"
    REQUEUED = "requeued"
    PROMOTED = "promoted"
    CANCELLED = "cancelled"
    WITHDRAWN = "withdrawn"
    RETURN_RECORDED = "return_recorded"
    RETURN_MINTED = "return_minted"
    RETURN_BLOCKED = "return_blocked"
    RETURN_PROCESSED = "return_processed"
    RETURN_FAILED = "return_failed"
    RETURN_SUPERSEDED = "return_superseded"
    SOURCE_BOUND = "source_bound"
    SOURCE_REVOKED = "source_revoked"


READY: Final = frozenset({EventKind.ADDED, EventKind.REQUEUED, EventKind.PROMOTED})
"""Each of these puts the item at the end of the line: its ``ready_sequence`` is the id of this event."""


class Source(Record, frozen=True, kw_only=True):
    """Who may ask for the person, about which work, and how answers return. Only its revocation ever changes."""

    source_id: str
    edge: str
    """The machine that verified it."""
    actor: str
    """The recipient's name, as in the registry."""
    provider: str = ""
    project_id: str
    work_id: str
    session_id: str | None = None
    """The session that was verified; none if none could be."""
    cwd: str = ""
    profile: str = ""
    """Fingerprint of the account's profile; no secret."""
    delivery: str = ""
    """The delivery whose token proved it."""
    return_mode: ReturnMode
    provenance: Provenance
    created_at: str
    revoked_at: str | None = None
    revoked_reason: str = ""


class Return(Record, frozen=True, kw_only=True):
    """One try at carrying an answer back. A resolution has one line of these, its generations, of which the last counts."""

    return_id: int
    item_id: int
    resolution_command_id: str
    generation: int
    mode: ReturnMode
    source_id: str
    phase: Phase
    reason: str = ""
    """Why it is blocked, failed or superseded."""
    delivery_id: str = ""
    """The durable notice that carries it; empty until it is minted."""
    retry_at: str | None = None
    """When it is looked at next; none if it needs no look, or waits for the person."""
    outcome: dict[str, Any] = {}
    """What the delivery came to, kept here because its own row may be pruned."""
    created_at: str
    updated_at: str


class Planned(Record, frozen=True, kw_only=True):
    """A return with everything that sending it needs: where to, and what."""

    row: Return
    route: Source
    """As it was when the answer was given or sent another way."""
    item: "Item"


class Route(Record, frozen=True, kw_only=True):
    """Where the answer to an item goes, in short."""

    actor: str
    edge: str
    return_mode: ReturnMode
    session_id: str | None = None


class Item(Record, frozen=True, kw_only=True):
    """One item whole."""

    item_id: int
    state: State
    revision: int
    """Moves by one with each change, so that a decision about an older one is found out."""
    owner: str
    """``seat:<actor>`` or ``human:<human_id>``."""
    source_id: str | None = None
    route: Route | None = None
    """The way that its answer goes, as it was recorded last, also if it was sent another way. None if nobody waits for it."""
    packet: Packet
    ready_sequence: int
    """Its place in the line; only ever compared."""
    deferred_until: str | None = None
    created_at: str
    updated_at: str
    claimed_at: str | None = None
    resolved_at: str | None = None
    """When it ended, also by being cancelled."""
    outcome: Choice | None = None
    response: str | None = None
    reason: str | None = None
    """Of the last deferral, requeueing, cancelling or withdrawal."""
    returned: Return | None = None
    """The last generation of its return."""


class Happening(Record, frozen=True, kw_only=True):
    """One line of history; never changed and never deleted."""

    event_id: int
    item_id: int | None
    source_id: str | None
    command_id: str | None
    """None for what the return publisher noted."""
    principal: str
    kind: EventKind
    at: str
    payload: dict[str, Any] = {}

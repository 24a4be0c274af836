"""Attention pages: how the queue is shown: lists in parts, one item with all about it, and how many there are."""

from .attention import Kind
from .attention_items import Happening, Item, Phase, Route, Source, State
from .base import Record


class Listed(Record, frozen=True, kw_only=True):
    """One item in a list."""

    item_id: int
    state: State
    revision: int
    owner: str
    project_id: str
    work_id: str
    kind: Kind
    title: str
    estimate_minutes: int | None
    deadline_at: str | None
    ready_sequence: int
    deferred_until: str | None
    created_at: str


class ItemPage(Record, frozen=True, kw_only=True):
    """A part of the queue. It moves meanwhile: begin again at the head for a new order."""

    schema_version: int = 1
    as_of: str
    items: tuple[Listed, ...]
    after: str | None
    """What to give for the next page; none at the end."""


class HistoryPage(Record, frozen=True, kw_only=True):
    """A part of a history, oldest first."""

    schema_version: int = 1
    as_of: str
    events: tuple[Happening, ...]
    after: int | None


class SourcePage(Record, frozen=True, kw_only=True):
    """A part of the sources, by id."""

    schema_version: int = 1
    as_of: str
    sources: tuple[Source, ...]
    after: str | None


class Counts(Record, frozen=True, kw_only=True):
    """How the queue stands."""

    schema_version: int = 1
    as_of: str
    broker_uuid: str
    human_id: str
    active_item_id: int | None
    queued: int
    deferred: int
    due: int
    """Deferred items whose moment has come: the next selection puts them in the line."""
    oldest_ready_at: str | None
    next_deferred_at: str | None
    returns: dict[Phase, int]
    """How far the answers of this queue are that have not arrived; what is over is not counted."""
    sources: int
    """Sources that are not revoked."""


class Shown(Record, frozen=True, kw_only=True):
    """One item as ``show`` answers it."""

    schema_version: int = 1
    as_of: str
    item: Item
    source: Source | None
    position: int | None
    """Items before it in the line, counted to a thousand; advisory, since the line moves. None unless it waits in it."""
    obstacle: str = ""
    """Why its answer could not go its way now; empty if it could, or has gone."""
    proof: str | None = None
    """How far the message with its answer is proved to have come: ``offered``, ``submitted``, ``seen`` …; none if unknown."""


class Stuck(Record, frozen=True, kw_only=True):
    """An answer that does not get through until something changes."""

    item_id: int
    revision: int
    """Of the item, as a repair has to name it."""
    title: str
    phase: Phase
    reason: str
    generation: int
    source_id: str
    route: Route
    project_id: str
    work_id: str
    since: str

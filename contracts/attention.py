"""Attention: what may be asked of the person's queue: a packet, and what else a command says. Strict, within fixed limits."""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from .attention_time import TIME_PATTERN
from .base import Inbound

SCHEMA_VERSION: Final = 1
COMMAND_BYTES: Final = 65_536
"""Bytes of a whole serialized command at most, besides the limits of each text."""

_UUID: Final = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$(?!\n)"
_SLUG: Final = r"^[a-z0-9][a-z0-9._-]*$(?!\n)"
_KEY: Final = r"^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$(?!\n)"
"""One line, no blanks at its ends: keys that look alike are alike."""
_URI: Final = (
    r"^(https://[^\s\x00-\x1f\x7f]+|tocsin:(notice|delivery|attention)/[A-Za-z0-9][A-Za-z0-9._:-]*"
    r"|file:///[^\s\x00-\x1f\x7f]+)$(?!\n)"
)

CommandId = Annotated[str, Meta(pattern=_UUID, max_length=36)]
ItemId = Annotated[int, Meta(ge=1, le=9_223_372_036_854_775_807)]
Revision = Annotated[int, Meta(ge=1, le=9_223_372_036_854_775_807)]
HumanId = Annotated[str, Meta(min_length=1, max_length=80, pattern=_SLUG)]
ProjectId = Annotated[str, Meta(min_length=1, max_length=80, pattern=_SLUG)]
WorkId = Annotated[str, Meta(min_length=1, max_length=200, pattern=_KEY)]
InterventionKey = Annotated[str, Meta(min_length=1, max_length=160, pattern=_KEY)]
SourceId = Annotated[str, Meta(min_length=1, max_length=80, pattern=_KEY)]
EdgeId = Annotated[str, Meta(min_length=1, max_length=80, pattern=_KEY)]
Time = Annotated[str, Meta(pattern=TIME_PATTERN, max_length=40, extra_json_schema={"format": "date-time"})]
Reason = Annotated[str, Meta(min_length=1, max_length=1_000, pattern=r"\S")]
Title = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S")]
RequestedAction = Annotated[str, Meta(min_length=1, max_length=1_500, pattern=r"\S")]
Context = Annotated[str, Meta(min_length=1, max_length=3_000, pattern=r"\S")]
Unblocks = Annotated[str, Meta(min_length=1, max_length=800, pattern=r"\S")]
Minutes = Annotated[int, Meta(ge=1, le=240)]

Kind = Literal["review", "decision", "selection", "unblock", "human_work"]
Choice = Literal["approved", "changes_requested", "answered", "selected", "delegated", "completed"]
"""What a person decided. A label of the workflow: it permits and executes nothing."""
ReturnMode = Literal["pinned_session", "actor_context", "none"]
"""Only that session may take the answer; any session of the actor, which is told so; no answer is sent."""


class Artifact(Inbound, frozen=True, kw_only=True):
    """A reference to what the person should look at. It is shown, never fetched or opened.

    ``uri`` is ``https://…``, one of our own handles (``tocsin:notice/…``, ``tocsin:delivery/…``, ``tocsin:attention/…``) or
    ``file:///…`` with the edge that has the file.
    """

    label: Annotated[str, Meta(min_length=1, max_length=120, pattern=r"\S")]
    uri: Annotated[str, Meta(min_length=1, max_length=2_048, pattern=_URI)]
    version: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")] | None = None
    """What makes it immutable: a commit, a hash."""
    edge_id: EdgeId | None = None

    def __post_init__(self) -> None:
        if self.uri.startswith("file:") and self.edge_id is None:
            raise ValueError("a file needs the `edge_id` of the machine that has it")


Artifacts = Annotated[tuple[Artifact, ...], Meta(max_length=12)]


class Packet(Inbound, frozen=True, kw_only=True):
    """One thing for a person to do, with what is needed to begin. Written by who asks, never guessed from its output."""

    schema_version: Literal[1] = 1
    human_id: HumanId
    project_id: ProjectId
    work_id: WorkId
    """The work that it belongs to: an issue, a batch, a job."""
    intervention_key: InterventionKey
    """This one round of this one question. It stays the same in every retry."""
    kind: Kind
    title: Title
    requested_action: RequestedAction
    context: Context
    unblocks: Unblocks
    artifacts: Artifacts = ()
    estimate_minutes: Minutes | None = None
    """Of the person's time."""
    deadline_at: Time | None = None
    """Shown; it changes no order."""
    predecessor_item_id: ItemId | None = None


class Addition(Packet, frozen=True, kw_only=True):
    """A packet by the person themself; with a source, the answer returns there."""

    source_id: SourceId | None = None


class OfItem(Inbound, frozen=True, kw_only=True):
    """Which item is meant, as its reader saw it."""

    item_id: ItemId
    expected_revision: Revision


class Amendment(OfItem, frozen=True, kw_only=True):
    """What replaces the parts that may change. What is absent stays."""

    title: Title | UnsetType = UNSET
    requested_action: RequestedAction | UnsetType = UNSET
    context: Context | UnsetType = UNSET
    unblocks: Unblocks | UnsetType = UNSET
    artifacts: Artifacts | UnsetType = UNSET
    estimate_minutes: Minutes | UnsetType | None = UNSET
    deadline_at: Time | UnsetType | None = UNSET

    def __post_init__(self) -> None:
        if all(getattr(self, name) is UNSET for name in MUTABLE):
            raise ValueError(f"an amendment needs at least one of {', '.join(MUTABLE)}")


MUTABLE: Final = tuple(name for name in Amendment.__struct_fields__ if name not in OfItem.__struct_fields__)
"""The fields of a packet that an amendment may replace."""


class Because(OfItem, frozen=True, kw_only=True):
    """An item, and the reason for what is done with it."""

    reason: Reason


class Cancellation(Because, frozen=True, kw_only=True):
    """An item that is given up; ``select_next`` asks for the next one in the same transaction."""

    select_next: bool = False


class Deferral(Because, frozen=True, kw_only=True):
    """An item that waits: until a moment in the future, or with ``null`` until it is requeued."""

    until: Time | None
    select_next: bool = False


class Resolution(OfItem, frozen=True, kw_only=True):
    """A person's answer, exactly as they gave it."""

    outcome: Choice
    response: Annotated[str, Meta(min_length=1, max_length=4_000, pattern=r"\S")]
    select_next: bool = False


class Taking(Inbound, frozen=True, kw_only=True):
    """Who takes the next item; with ``item_id``, that one."""

    human_id: HumanId
    item_id: ItemId | None = None


class ReturnRetry(OfItem, frozen=True, kw_only=True):
    """A return that is to be tried again, as its reader saw it."""

    return_generation: Annotated[int, Meta(ge=1, le=1_000_000)]


class ReturnReroute(ReturnRetry, frozen=True, kw_only=True):
    """A return that is to go to another source."""

    source_id: SourceId
    reason: Reason


class Binding(Inbound, frozen=True, kw_only=True):
    """The work that a source may ask for, and how the answers return. Who asks is not asked: it is verified."""

    project_id: ProjectId
    work_id: WorkId
    return_mode: ReturnMode


class Revocation(Inbound, frozen=True, kw_only=True):
    """A source that may ask for nothing more."""

    source_id: SourceId
    reason: Reason

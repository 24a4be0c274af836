"""Attention facts: what a decision is given and what it says, between the rules (pure) and the tables (one transaction)."""

from enum import StrEnum
from typing import Annotated, Protocol

from msgspec import Meta

from .attention import EdgeId, HumanId, Packet, ReturnMode, SourceId
from .attention_answers import Refusal, Result
from .attention_commands import Add, Command, Start, Summon
from .attention_items import EventKind, Item, Provenance, Return, Source, State
from .base import Inbound, Instant, Record


class Policy(Inbound, frozen=True, kw_only=True):
    """Whose queue it is."""

    enabled: bool = True
    """Off: no command is taken and no return is sent; what is recorded can be read."""
    human_id: HumanId = "human"


class Operator(Record, frozen=True, kw_only=True):
    """The person, or who has their credential."""


class Seat(Record, frozen=True, kw_only=True):
    """A work context that showed the handle of an enrolled source, with the broker that the handle was made for."""

    source_id: str
    broker_uuid: str


class Edge(Record, frozen=True, kw_only=True):
    """The machine that has verified who asks for an enrolment."""

    edge_id: str


class Nobody(Record, frozen=True, kw_only=True):
    """Who showed nothing that is known here."""


Principal = Operator | Seat | Edge | Nobody


def issuer_of(principal: Principal) -> str:
    """How a principal is named on record."""
    match principal:
        case Operator():
            return "operator"
        case Seat(source_id=source_id):
            return f"source:{source_id}"
        case Edge(edge_id=edge_id):
            return f"edge:{edge_id}"
        case Nobody():
            return "nobody"


def owner_of(command: Summon | Add | Start, source: Source | None) -> str:
    """Whose item it is: the actor's behind the seat, so that it stays so when the work is bound again; or the person's."""
    if isinstance(command, Summon) and source is not None:
        return f"seat:{source.actor}"
    return f"human:{command.payload.human_id}"


class Enrolment(Record, frozen=True, kw_only=True):
    """What the edge has verified about a work context, with the new names that it made for it."""

    source_id: SourceId
    handle_hash: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
    """SHA-256 of the handle, in hex. The handle itself is never stored here."""
    edge: EdgeId
    actor: Annotated[str, Meta(min_length=1, max_length=200)]
    provider: Annotated[str, Meta(max_length=80)] = ""
    session_id: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    """Only one that the edge has seen itself."""
    cwd: Annotated[str, Meta(max_length=4_096)] = ""
    profile: Annotated[str, Meta(max_length=200)] = ""
    delivery: Annotated[str, Meta(max_length=200)] = ""
    provenance: Provenance


class Request(Record, frozen=True, kw_only=True):
    """A command whose form is checked: times in UTC, keys in one spelling."""

    command: Command
    digest: str
    """Of everything it says, in one spelling: what makes two commands the same."""
    content: str = ""
    """Of the packet alone, if it has one: what makes two rounds the same."""


class Earlier(Record, frozen=True, kw_only=True):
    """The command that was carried out under this id."""

    issuer: str
    digest: str


class Known(Record, frozen=True, kw_only=True):
    """An item with what is not shown of it."""

    item: Item
    submitted: str
    """``Request.content`` of the command that made it."""
    standing: str
    """The same of its packet as it is now."""


class Facts(Record, frozen=True, kw_only=True):
    """What is on record and matters for one command. What does not matter for it is left out."""

    policy: Policy
    broker_uuid: str
    earlier: Earlier | None = None
    seat: Source | None = None
    """The source of the seat that asks."""
    source: Source | None = None
    """The source that a new item belongs to, or that the command names."""
    origin: Source | None = None
    """The source of the item that the command names."""
    item: Known | None = None
    """The item that the command names."""
    twin: Known | None = None
    """The item of the same owner, work and key."""
    predecessor: bool = True
    """False if the packet names one that is not there."""
    active: Item | None = None
    """Which item its person has now."""
    head: tuple[int, int] | None = None
    """``(ready_sequence, item_id)`` of the first in the line, leaving the named item aside unless it is picked."""
    due: tuple[int, ...] = ()
    """Deferred items whose moment has come, in order, leaving the named item aside unless it is picked."""
    last_event: int = 0
    returned: Return | None = None
    """The last generation of the named item's return."""
    route: Source | None = None
    """Where that one goes, as it was recorded."""
    enrolment: Enrolment | None = None
    enrolled_before: bool = False
    """True if the new source's id is taken."""


class Create(Record, frozen=True, kw_only=True):
    """A new item."""

    packet: Packet
    owner: str
    source_id: str | None
    state: State
    content: str


class Move(Record, frozen=True, kw_only=True):
    """An item goes from one state to another."""

    item_id: int
    event: EventKind
    to: State
    until: Instant | None = None
    outcome: str | None = None
    response: str | None = None
    reason: str | None = None


class Rewrite(Record, frozen=True, kw_only=True):
    """An item's packet is replaced; its state and its place stay."""

    item_id: int
    packet: Packet
    content: str


class OpenReturn(Record, frozen=True, kw_only=True):
    """An answer is to be carried back."""

    item_id: int
    resolution_command_id: str
    generation: int
    mode: ReturnMode
    route: Source


class Supersede(Record, frozen=True, kw_only=True):
    """A return that another generation replaces."""

    return_id: int
    reason: str


class Bind(Record, frozen=True, kw_only=True):
    """A new source, and the hash that it is known by."""

    source: Source
    handle_hash: str


class Revoke(Record, frozen=True, kw_only=True):
    """A source that may ask for nothing more."""

    source_id: str
    reason: str


Step = Create | Move | Rewrite | OpenReturn | Supersede | Bind | Revoke


class SelectionReason(StrEnum):
    """Why this item."""

    FIFO = "fifo"
    EXPLICIT_PICK = "explicit_pick"


class Selection(Record, frozen=True, kw_only=True):
    """What became of the wish for the next item."""

    result: Result
    item_id: int | None = None
    reason: SelectionReason | None = None


class Decision(Record, frozen=True, kw_only=True):
    """What is done, in this order, all in one transaction; and what the receipt says."""

    result: Result
    steps: tuple[Step, ...] = ()
    item_id: int | None = None
    """What it is about; a new item has no id yet."""
    selection: Selection | None = None
    shows_active: bool = False
    source_id: str | None = None


class Replay(Record, frozen=True, kw_only=True):
    """This command was carried out before: its receipt is the answer."""


class Decide(Protocol):
    """The rules, as the tables call them inside a transaction."""

    def __call__(self, request: Request, principal: Principal, facts: Facts, now: Instant) -> Decision | Replay | Refusal:
        """What to do about a command, given what is on record."""
        ...

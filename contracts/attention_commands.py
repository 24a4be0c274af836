"""Attention commands: one envelope for each thing that can be asked, told apart by its `action`; and who may ask it."""

from typing import Final, Literal, cast

from .attention import (
    Addition,
    Amendment,
    Because,
    Binding,
    Cancellation,
    CommandId,
    Deferral,
    Packet,
    Resolution,
    ReturnReroute,
    ReturnRetry,
    Revocation,
    Taking,
)
from .base import Inbound


class Envelope(Inbound, frozen=True, kw_only=True, tag_field="action"):
    """What every command has."""

    schema_version: Literal[1]
    command_id: CommandId
    """Made once and kept in every retry: the same command is answered as the first time."""


class Summon(Envelope, frozen=True, kw_only=True, tag="summon"):
    """A seat asks for its person."""

    payload: Packet


class Amend(Envelope, frozen=True, kw_only=True, tag="amend"):
    """Replaces parts of a packet; place and age stay."""

    payload: Amendment


class Withdraw(Envelope, frozen=True, kw_only=True, tag="withdraw"):
    """A seat takes its own waiting item back."""

    payload: Because


class Add(Envelope, frozen=True, kw_only=True, tag="add"):
    """The person queues work of their own."""

    payload: Addition


class Start(Envelope, frozen=True, kw_only=True, tag="start"):
    """The person records work that they have begun."""

    payload: Addition


class Next(Envelope, frozen=True, kw_only=True, tag="next"):
    """The person takes an item."""

    payload: Taking


class Resolve(Envelope, frozen=True, kw_only=True, tag="resolve"):
    """The person answers the active item."""

    payload: Resolution


class Defer(Envelope, frozen=True, kw_only=True, tag="defer"):
    """The person puts an item off."""

    payload: Deferral


class Requeue(Envelope, frozen=True, kw_only=True, tag="requeue"):
    """The person lets a deferred item wait in the line again, at its end."""

    payload: Because


class Cancel(Envelope, frozen=True, kw_only=True, tag="cancel"):
    """The person gives an item up; nobody is told to do anything."""

    payload: Cancellation


class RetryReturn(Envelope, frozen=True, kw_only=True, tag="retry_return"):
    """The person sends an answer again that did not arrive."""

    payload: ReturnRetry


class RerouteReturn(Envelope, frozen=True, kw_only=True, tag="reroute_return"):
    """The person sends an answer another way."""

    payload: ReturnReroute


class SourceBind(Envelope, frozen=True, kw_only=True, tag="source_bind"):
    """A work context is enrolled."""

    payload: Binding


class SourceRevoke(Envelope, frozen=True, kw_only=True, tag="source_revoke"):
    """A work context loses its right to ask."""

    payload: Revocation


Command = (
    Summon
    | Amend
    | Withdraw
    | Add
    | Start
    | Next
    | Resolve
    | Defer
    | Requeue
    | Cancel
    | RetryReturn
    | RerouteReturn
    | SourceBind
    | SourceRevoke
)
Action = Literal[
    "summon",
    "amend",
    "withdraw",
    "add",
    "start",
    "next",
    "resolve",
    "defer",
    "requeue",
    "cancel",
    "retry_return",
    "reroute_return",
    "source_bind",
    "source_revoke",
]


def action_of(command: Command) -> Action:
    """The word that names a command."""
    return cast(Action, command.__struct_config__.tag)


ACTIONS_OF_SEATS: Final[frozenset[Action]] = frozenset({"summon", "amend", "withdraw"})
ACTIONS_OF_THE_PERSON: Final[frozenset[Action]] = frozenset(
    {
        "amend",
        "add",
        "start",
        "next",
        "resolve",
        "defer",
        "requeue",
        "cancel",
        "retry_return",
        "reroute_return",
        "source_bind",
        "source_revoke",
    }
)

"""Attention decide: what to do about one command, given what is on record. An expected no is a refusal, and changes nothing."""

from typing import assert_never

from ..contracts.attention_answers import Code, Refusal
from ..contracts.attention_commands import (
    ACTIONS_OF_SEATS,
    ACTIONS_OF_THE_PERSON,
    Add,
    Amend,
    Cancel,
    Defer,
    Next,
    Requeue,
    RerouteReturn,
    Resolve,
    RetryReturn,
    SourceBind,
    SourceRevoke,
    Start,
    Summon,
    Withdraw,
    action_of,
)
from ..contracts.attention_facts import Decision, Edge, Facts, Nobody, Operator, Principal, Replay, Request, Seat, issuer_of
from ..contracts.base import Instant
from . import attention_items, attention_returns, attention_sources


def decide(request: Request, principal: Principal, facts: Facts, now: Instant) -> Decision | Replay | Refusal:
    """The rules of the queue. Who asks is looked at first, then whether it was asked before, and only then what may change."""
    if refusal := _stranger(principal, facts):
        return refusal
    if facts.earlier is not None:
        same = (facts.earlier.issuer, facts.earlier.digest) == (issuer_of(principal), request.digest)
        return Replay() if same else Refusal(code=Code.COMMAND_ID_CONFLICT, message=_CONFLICT)
    if not facts.policy.enabled:
        return Refusal(code=Code.DISABLED, message="the attention queue is switched off: it can be read and takes no command")
    return _unauthorised(request, principal, facts) or _decided(request, principal, facts, now)


_CONFLICT = "this command id was used for something else, or by somebody else. Make a new id for a new command"


def _stranger(principal: Principal, facts: Facts) -> Refusal | None:
    if isinstance(principal, Seat) and principal.broker_uuid != facts.broker_uuid:
        return Refusal(code=Code.WRONG_BROKER, message="this handle was made for another database. Bind the work here")
    if isinstance(principal, Nobody) or (isinstance(principal, Seat) and facts.seat is None):
        return Refusal(code=Code.UNAUTHENTICATED, message="nobody is known here by that handle. Bind the work first")
    return None


def _unauthorised(request: Request, principal: Principal, facts: Facts) -> Refusal | None:
    action = action_of(request.command)
    match principal:
        case Operator():
            allowed = action in ACTIONS_OF_THE_PERSON
        case Edge():
            allowed = action == "source_bind"
        case _:
            allowed = action in ACTIONS_OF_SEATS
    if not allowed:
        return Refusal(code=Code.FORBIDDEN, message=f"{issuer_of(principal)} may not {action.replace('_', ' ')}")
    if facts.seat is not None and facts.seat.revoked_at is not None:
        return Refusal(code=Code.SOURCE_REVOKED, message="this source was revoked. Bind the work again for a new one")
    return None


def _decided(request: Request, principal: Principal, facts: Facts, now: Instant) -> Decision | Refusal:
    command = request.command
    match command:
        case Summon() | Add() | Start():
            done = attention_items.enter(command, request.content, facts)
        case Amend():
            done = attention_items.amend(command.payload, principal, facts)
        case Withdraw():
            done = attention_items.withdraw(command.payload, principal, facts)
        case Next():
            done = attention_items.take_next(command.payload, facts)
        case Resolve():
            done = attention_items.resolve(command, facts)
        case Defer():
            done = attention_items.defer(command.payload, facts, now)
        case Requeue():
            done = attention_items.requeue(command.payload, facts)
        case Cancel():
            done = attention_items.cancel(command.payload, facts)
        case RetryReturn() | RerouteReturn():
            done = _of_return(command, facts)
        case SourceBind() | SourceRevoke():
            done = _of_source(command, principal, facts, now)
        case _:
            assert_never(command)
    return done


def _of_return(command: RetryReturn | RerouteReturn, facts: Facts) -> Decision | Refusal:
    if isinstance(command, RetryReturn):
        return attention_returns.retry(command.payload, facts)
    return attention_returns.reroute(command.payload, facts)


def _of_source(command: SourceBind | SourceRevoke, principal: Principal, facts: Facts, now: Instant) -> Decision | Refusal:
    if isinstance(command, SourceBind):
        return attention_sources.bind(command.payload, principal, facts, now)
    return attention_sources.revoke(command.payload, facts)

"""Carrying: one command of the person's queue in one transaction, with what it means for letters of earlier answers."""

from typing import Final

from ..contracts.attention_answers import Code, Receipt, Refusal
from ..contracts.attention_commands import Command, RerouteReturn, RetryReturn, action_of
from ..contracts.attention_facts import Enrolment, Operator, Policy, Principal, Request
from ..contracts.attention_items import Phase, Return
from ..contracts.attention_time import iso
from ..contracts.base import Instant
from ..contracts.durable import OPEN, State, Stored
from ..contracts.verdicts import Verdict
from ..pipeline.attention_decide import decide
from ..store import attention, attention_reads, attention_returns, intake
from ..store.attention_schema import broker_of
from ..store.engine import Transaction, View
from .untold import end

SUPERSEDED: Final = "superseded"


def carry_out(
    tx: Transaction,
    request: Request,
    *,
    principal: Principal,
    policy: Policy,
    broker_uuid: str,
    now: Instant,
    enrolment: Enrolment | None = None,
) -> Receipt | Refusal:
    """Do it, or refuse it without a trace. The answer holds once the transaction is committed.

    An answer whose dead letter was tried again is under way: it gets no next generation. And what got one is told no more.
    """
    command = request.command
    if refusal := _under_way(tx, command, principal, now):
        return refusal
    answer = attention.execute(
        tx,
        request,
        principal=principal,
        now=now,
        policy=policy,
        broker_uuid=broker_uuid,
        decide=decide,
        enrolment=enrolment,
    )
    if isinstance(answer, Receipt) and not answer.replayed and isinstance(command, RetryReturn | RerouteReturn):
        _seal(tx, command.payload.item_id, now)
    return answer


def _under_way(tx: Transaction, command: Command, principal: Principal, now: Instant) -> Refusal | None:
    if not isinstance(command, RetryReturn | RerouteReturn) or not isinstance(principal, Operator):
        return None
    broker = broker_of(tx)
    if broker is None or isinstance(attention_reads.command(tx, command.command_id, principal, now), Receipt):
        return None  # what was carried out before is answered as then
    item_id = command.payload.item_id
    for last in attention_returns.of_item(tx, item_id)[-1:]:
        stored = _letter(tx, last)
        if last.phase is Phase.FAILED and stored is not None and (found := _TRIED_AGAIN.get(stored.state)):
            return Refusal(
                broker_uuid=broker,
                command_id=command.command_id,
                action=action_of(command),
                code=found,
                message=f"its dead letter {stored.id} was tried again and is {stored.state}: look at that delivery",
                as_of=iso(now),
                item_id=item_id,
                return_generation=last.generation,
            )
    return None


_TRIED_AGAIN: Final = {**dict.fromkeys(OPEN, Code.RETURN_UNDER_WAY), State.PROCESSED: Code.RETURN_PROCESSED}


def _seal(tx: Transaction, item_id: int, now: Instant) -> None:
    """A letter whose answer goes out anew must not be fed again by anybody: two generations would arrive."""
    for earlier in attention_returns.of_item(tx, item_id)[:-1]:
        stored = _letter(tx, earlier)
        if stored is not None and intake.retry(tx, stored.id, stored.recipient, now):
            end(tx, stored, Verdict.REFUSE, SUPERSEDED, now)


def _letter(view: View, row: Return) -> Stored | None:
    found = intake.find(view, row.delivery_id) if row.delivery_id else []
    return next((stored for stored in found if stored.traffic == "return"), None)

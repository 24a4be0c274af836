"""Attention: one command is one transaction: done whole and answered by a receipt that is kept, or refused without a trace."""

from typing import Any

from msgspec.structs import replace

from ..contracts.attention_answers import Receipt, Refusal, Result, ReturnRef
from ..contracts.attention_commands import Next, action_of
from ..contracts.attention_facts import Decide, Decision, Enrolment, Policy, Principal, Replay, Request, Seat, issuer_of
from ..contracts.attention_items import State
from ..contracts.attention_time import iso, iso_or_none
from ..contracts.base import Instant
from . import attention_rows as rows
from .attention_facts import DEFERRED, NEXT_DEFERRED, gather
from .attention_schema import prepare
from .attention_steps import Deed, carry_out
from .engine import Transaction, View
from .rows import decode, encode, word

_OF_RETURNS = ("resolve", "retry_return", "reroute_return")
_AGAIN = (Result.EXISTING, Result.EXISTING_AMENDED)


def execute(
    tx: Transaction,
    request: Request,
    *,
    principal: Principal,
    now: Instant,
    policy: Policy,
    broker_uuid: str,
    decide: Decide,
    enrolment: Enrolment | None = None,
) -> Receipt | Refusal:
    """Carry out one command inside the caller's transaction; the answer holds once that is committed, and not before.

    ``broker_uuid`` names a database that has no name yet; ``decide`` are the rules (``pipeline.attention_decide.decide``);
    ``enrolment`` is what an edge has verified, for ``source_bind`` alone. A command that was carried out before is answered by
    its receipt of that time, with ``replayed``. A refusal has changed nothing, not even the id's being free.
    """
    broker = prepare(tx, broker_uuid, now)
    facts = gather(tx, request, principal=principal, policy=policy, broker_uuid=broker, enrolment=enrolment, now=now)
    decision = decide(request, principal, facts, now)
    command = request.command
    if isinstance(decision, Refusal):
        named = {"broker_uuid": broker, "command_id": command.command_id, "action": action_of(command)}
        return replace(decision, **named, as_of=iso(now))
    if isinstance(decision, Replay):
        return replace(_kept(tx, command.command_id), replayed=True)
    deed = Deed(command_id=command.command_id, issuer=issuer_of(principal), at=now)
    made = carry_out(tx, decision.steps, deed)
    receipt = _receipt(tx, request, decision, made, broker, now)
    if isinstance(principal, Seat) and decision.result in _AGAIN and receipt.source_id != principal.source_id:
        receipt = replace(receipt, belongs_elsewhere=rows.route_of(tx, receipt.source_id))
    tx.execute(
        "INSERT INTO attention_commands (command_id, issuer, action, digest, receipt, at) VALUES (?, ?, ?, ?, ?, ?)",
        (command.command_id, deed.issuer, receipt.action, request.digest, encode(receipt), now),
    )
    return receipt


def _kept(view: View, command_id: str) -> Receipt:
    return decode(Receipt, view.rows("SELECT receipt FROM attention_commands WHERE command_id = ?", (command_id,))[0][0])


def _receipt(tx: Transaction, request: Request, decision: Decision, made: int | None, broker: str, now: Instant) -> Receipt:
    item_id = decision.item_id if made is None else made
    return Receipt(
        broker_uuid=broker,
        command_id=request.command.command_id,
        action=action_of(request.command),
        result=decision.result,
        as_of=iso(now),
        item_id=item_id,
        **_of_item(tx, request, decision, item_id),
        **_of_selection(tx, request, decision, item_id, now),
    )


def _of_item(view: View, request: Request, decision: Decision, item_id: int | None) -> dict[str, Any]:
    said: dict[str, Any] = {"source_id": decision.source_id}
    sql = "SELECT revision, state, source_id FROM attention_items WHERE item_id = ?"
    for revision, state, source_id in view.rows(sql, (item_id,)):
        said = {"revision": revision, "state": word(State, state), "source_id": source_id}
    with_return = action_of(request.command) in _OF_RETURNS or decision.result in _AGAIN
    if with_return and item_id is not None and (last := rows.last_return(view, item_id)):
        said["return_effect"] = ReturnRef(return_id=last.return_id, generation=last.generation, phase=last.phase)
    return said


def _of_selection(view: View, request: Request, decision: Decision, item_id: int | None, now: Instant) -> dict[str, Any]:
    if not decision.shows_active:
        return {}
    human_id = _human_of(view, request, item_id)
    said: dict[str, Any] = {"active": rows.active(view, human_id)}
    if decision.selection is None:
        return said
    said["selection"] = decision.selection.result
    said["selection_reason"] = decision.selection.reason
    due = view.rows(NEXT_DEFERRED, (human_id, now))
    said["next_deferred_at"] = iso_or_none(due[0][0]) if due else None
    if decision.selection.result is Result.EMPTY:
        said["deferred"] = view.rows(DEFERRED, (human_id,))[0][0]
    return said


def _human_of(view: View, request: Request, item_id: int | None) -> str:
    if isinstance(request.command, Next):
        return request.command.payload.human_id
    return str(view.rows("SELECT human_id FROM attention_items WHERE item_id = ?", (item_id,))[0][0])

"""Attention sources: who is enrolled to ask, on whose word, and with which way back. Nothing is guessed."""

import msgspec

from ..contracts.attention import Binding, Revocation
from ..contracts.attention_answers import Code, Refusal, Result
from ..contracts.attention_facts import Bind, Decision, Edge, Enrolment, Facts, Operator, Principal, Revoke
from ..contracts.attention_items import Source
from ..contracts.attention_time import iso
from ..contracts.base import Instant


def bind(payload: Binding, principal: Principal, facts: Facts, now: Instant) -> Decision | Refusal:
    """A new source. A machine's evidence enrols what it proves, and the person's word what they name."""
    seen = facts.enrolment
    if seen is None or not _vouched(seen, principal):
        return Refusal(
            code=Code.UNAUTHENTICATED, message="it was not verified who asks: bind while the work runs, or as the person"
        )
    if fault := _fault(seen):
        return Refusal(code=Code.INVALID, message=f"the enrolment can't be taken: {fault}")
    if payload.return_mode == "pinned_session" and not seen.session_id:
        text = "an answer can be pinned to a verified session only. Choose actor_context or none, or bind from the session"
        return Refusal(code=Code.UNVERIFIED_SESSION, message=text)
    if facts.enrolled_before:
        return Refusal(code=Code.SOURCE_EXISTS, message=f"source {seen.source_id} exists: every enrolment gets a new name")
    bound = Bind(source=_source(payload, seen, now), handle_hash=seen.handle_hash)
    return Decision(result=Result.BOUND, steps=(bound,), source_id=seen.source_id)


def _vouched(seen: Enrolment, principal: Principal) -> bool:
    if seen.provenance == "operator_binding":
        return isinstance(principal, Operator)
    return isinstance(principal, Edge) and principal.edge_id == seen.edge


def _fault(seen: Enrolment) -> str:
    try:
        msgspec.convert(msgspec.to_builtins(seen), Enrolment)  # constructors check nothing
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def _source(payload: Binding, seen: Enrolment, now: Instant) -> Source:
    return Source(
        source_id=seen.source_id,
        edge=seen.edge,
        actor=seen.actor,
        provider=seen.provider,
        project_id=payload.project_id,
        work_id=payload.work_id,
        session_id=seen.session_id,
        cwd=seen.cwd,
        profile=seen.profile,
        delivery=seen.delivery,
        return_mode=payload.return_mode,
        provenance=seen.provenance,
        created_at=iso(now),
    )


def revoke(payload: Revocation, facts: Facts) -> Decision | Refusal:
    """A source may ask for nothing more; what it asked, and the answers to it, stay."""
    source = facts.source
    if source is None:
        return Refusal(code=Code.UNKNOWN_SOURCE, message=f"there is no source {payload.source_id}")
    if source.revoked_at is not None:
        return Decision(result=Result.ALREADY_REVOKED, source_id=source.source_id)
    step = Revoke(source_id=source.source_id, reason=payload.reason)
    return Decision(result=Result.REVOKED, steps=(step,), source_id=source.source_id)

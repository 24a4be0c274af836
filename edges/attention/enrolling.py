"""Enrolling: a work context becomes a source. Its handle is in a file before the database knows of it, and never lost."""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from ...actors.carrying import carry_out
from ...actors.tables import Tables
from ...contracts.attention import Binding
from ...contracts.attention_answers import Code, Receipt, Refusal
from ...contracts.attention_commands import SourceBind
from ...contracts.attention_facts import Edge, Enrolment, Operator, Policy, Request
from ...contracts.attention_items import Source
from ...contracts.attention_time import instant, iso
from ...contracts.ports import Clock
from ...pipeline.attention_requests import request_of
from ...store import attention_reads, attention_sources
from ...store.attention_schema import broker_of, prepare
from ...store.engine import Transaction, View
from . import handles, names
from .claims import ByHand, Evidence, claimed_actor
from .evidence import Seen, edge_name, registered, verify


def bind(
    tables: Tables,
    clock: Clock,
    policy: Policy,
    operator: Callable[[], Operator],
    *,
    work: Binding,
    out: Path,
    evidence: Evidence,
) -> Receipt | Refusal:
    """Enrol the work, with the handle in ``out``. The same again, with the same file, is the same source.

    ``operator`` proves the person, and is asked only for what they vouch for themselves.
    """
    person = operator() if isinstance(evidence, ByHand) else None
    answer = _begun(tables, out, work, evidence) or _unfit(work, policy) or verify(evidence)
    if isinstance(answer, Refusal):
        return replace(answer, action="source_bind", as_of=iso(clock.now()))
    if isinstance(answer, Receipt):
        return answer
    provider = tables.query(lambda view: registered(view, answer)).provider
    handle, is_new = _kept(tables, clock, out)
    enrolment = _enrolment(answer, handle, provider)
    request = _request(handle.command_id, work)
    assert isinstance(request, Request)  # the same words were taken above, under another id

    def enrol(tx: Transaction) -> Receipt | Refusal:
        return carry_out(
            tx,
            request,
            principal=person or Edge(edge_id=enrolment.edge),
            policy=policy,
            broker_uuid=handle.broker_uuid,
            now=clock.now(),
            enrolment=enrolment,
        )

    done = tables.change(enrol)
    if is_new and isinstance(done, Refusal):
        out.unlink(missing_ok=True)  # nobody will ever be known by it
    return done


def _begun(tables: Tables, out: Path, work: Binding, evidence: Evidence) -> Receipt | Refusal | None:
    """What the enrolment with this file came to, if it was carried out: also when nobody could prove it any more."""
    if not out.exists():
        return None
    handle = handles.read(out)

    def ask(view: View) -> Receipt | Refusal | None:
        if broker_of(view) != handle.broker_uuid:
            return Refusal(code=Code.WRONG_BROKER, message=f"{out} was made for another database: name another file")
        source = attention_sources.source(view, handle.source_id)
        if source is None:
            return None
        if (source.project_id, source.work_id, source.return_mode) != (work.project_id, work.work_id, work.return_mode):
            return Refusal(code=Code.COMMAND_ID_CONFLICT, message=f"{out} is the handle of other work: name another file")
        if claimed_actor(evidence) != source.actor:
            return Refusal(code=Code.COMMAND_ID_CONFLICT, message=f"{out} is {source.actor}'s handle: name another file")
        return _receipt(view, handle, source)

    return tables.query(ask)


def _receipt(view: View, handle: handles.Handle, source: Source) -> Receipt | None:
    answer = attention_reads.command(view, handle.command_id, Operator(), instant(source.created_at))
    return replace(answer, replayed=True) if isinstance(answer, Receipt) else None


def _unfit(work: Binding, policy: Policy) -> Refusal | None:
    """What no evidence could make good, before anything is asked or written."""
    if not policy.enabled:
        return Refusal(code=Code.DISABLED, message="the attention queue is switched off: it can be read and takes no command")
    checked = _request("00000000-0000-4000-8000-000000000000", work)
    return checked if isinstance(checked, Refusal) else None


def _request(command_id: str, work: Binding) -> Request | Refusal:
    return request_of(SourceBind(schema_version=1, command_id=command_id, payload=work))


def _kept(tables: Tables, clock: Clock, out: Path) -> tuple[handles.Handle, bool]:
    """The handle in its file, and whether that is new: an enrolment that was cut off goes on with the file it had begun."""
    broker = tables.change(lambda tx: prepare(tx, names.uuid(clock), clock.now()))
    made = handles.Handle(
        broker_uuid=broker,
        source_id=names.source(clock),
        handle=names.secret(clock),
        command_id=names.uuid(clock),
    )
    kept = handles.write(out, made)
    return kept, kept is made


def _enrolment(seen: Seen, handle: handles.Handle, provider: str) -> Enrolment:
    return Enrolment(
        source_id=handle.source_id,
        handle_hash=names.digest(handle.handle),
        edge=edge_name(),
        actor=seen.actor,
        provider=provider,
        session_id=seen.session_id,
        cwd=seen.cwd,
        provenance=seen.provenance,
    )

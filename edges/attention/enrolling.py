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
from .claims import ByHand, Evidence, Live, claimed_actor
from .evidence import Seen, edge_name, impersonated, registered, token_in, verify


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

    ``operator`` proves the person, and is asked only for what they vouch for themselves: what they name, and a session that
    shows no token.
    """
    refused = impersonated(evidence) or (None if out.exists() else _unfit(work, policy))
    person = None if refused else _person(evidence, operator)
    answer = refused or _begun(tables, out, work, evidence) or _unfit(work, policy) or verify(evidence)
    if isinstance(answer, Refusal):
        return replace(answer, action="source_bind", as_of=iso(clock.now()))
    if isinstance(answer, Receipt):
        return answer
    provider = tables.query(lambda view: registered(view, answer)).provider
    _set_aside(tables, out)
    handle, is_new = _kept(tables, clock, out)
    enrolment = _enrolment(answer, handle, provider)
    request = _request(handle.command_id, work)
    assert isinstance(request, Request)  # the same words were taken above, under another id

    def enrol(tx: Transaction) -> Receipt | Refusal:
        return carry_out(
            tx,
            request,
            principal=person if person and isinstance(evidence, ByHand) else Edge(edge_id=enrolment.edge),
            policy=policy,
            broker_uuid=handle.broker_uuid,
            now=clock.now(),
            enrolment=enrolment,
        )

    done = tables.change(enrol)
    if is_new and isinstance(done, Refusal):
        out.unlink(missing_ok=True)  # nobody will ever be known by it
    return done


def _person(evidence: Evidence, operator: Callable[[], Operator]) -> Operator | None:
    """The person, where it takes their word."""
    needed = isinstance(evidence, ByHand) or (isinstance(evidence, Live) and not token_in(evidence))
    return operator() if needed else None


def _begun(tables: Tables, out: Path, work: Binding, evidence: Evidence) -> Receipt | Refusal | None:
    """What the enrolment with this file came to, if it was carried out: also when nobody could prove it any more.

    A source that was revoked counts as never begun: the work is bound again, under a new id.
    """
    if not out.exists():
        return None
    handle = handles.read(out)

    def ask(view: View) -> Receipt | Refusal | None:
        if broker_of(view) != handle.broker_uuid:
            return Refusal(code=Code.WRONG_BROKER, message=f"{out} was made for another database: name another file")
        source = attention_sources.source(view, handle.source_id)
        if source is None:
            return None
        if other := _other(out, source, work, evidence):
            return Refusal(code=Code.COMMAND_ID_CONFLICT, message=other)
        return None if source.revoked_at else _receipt(view, handle, source)

    return tables.query(ask)


def _other(out: Path, source: Source, work: Binding, evidence: Evidence) -> str:
    """Why the file's source is not what is asked for now; empty if it is."""
    if (source.project_id, source.work_id) != (work.project_id, work.work_id):
        return f"{out} is the handle of other work: name another file"
    if claimed_actor(evidence) != source.actor:
        return f"{out} is {source.actor}'s handle: name another file"
    if source.return_mode != work.return_mode and not source.revoked_at:
        mode = source.return_mode.replace("_", "-")
        return (
            f"this work is bound already with --return {mode}, as {source.source_id}: the person may end that with "
            f"`tocsin attention source revoke {source.source_id} --reason …`, or use another --work"
        )
    return ""


def _set_aside(tables: Tables, out: Path) -> None:
    """The handle of a source that was revoked makes room, and is kept: by it the source's receipts can still be asked for."""
    if not out.exists():
        return

    def move(tx: Transaction) -> None:
        # Within the lock of the database, so that nobody who binds at the same time moves what another has just written.
        handle = handles.read(out) if out.exists() else None
        source = attention_sources.source(tx, handle.source_id) if handle and broker_of(tx) == handle.broker_uuid else None
        if source is not None and source.revoked_at:
            out.rename(out.with_name(f"{out.name}.{source.source_id}.revoked"))

    tables.change(move)


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

"""Health: what the queue depends on, for people who ask why nothing comes: versions, who is here, which ways back are open."""

from pathlib import Path
from typing import Final

from ...actors.returns import NOT_RUNNING, runs, session_over
from ...actors.tables import Alive, Tables
from ...contracts.attention import SCHEMA_VERSION, ReturnMode
from ...contracts.attention_facts import Policy
from ...contracts.attention_items import PAGE_MOST, Phase, Source
from ...contracts.attention_time import iso
from ...contracts.base import Instant, Record
from ...contracts.recipients import Session
from ...contracts.wire import PROTOCOL
from ...store import attention_reads, operators, recipients
from ...store.attention_schema import VERSION, broker_of
from ...store.engine import View, wal_bytes
from . import keys
from .evidence import edge_name

RETURN_MODES: Final[tuple[ReturnMode, ...]] = ("pinned_session", "actor_context", "none")


class Here(Record, frozen=True, kw_only=True):
    """A recipient with a process that delivers to it."""

    actor: str
    session: str | None
    pid: int


class Bound(Record, frozen=True, kw_only=True):
    """A source, and whether an answer could go to it now."""

    source_id: str
    actor: str
    project_id: str
    work_id: str
    return_mode: ReturnMode
    valid: bool
    reason: str = ""
    """Why not."""


class Health(Record, frozen=True, kw_only=True):
    """How it stands, as seen at ``as_of``."""

    schema_version: int = SCHEMA_VERSION
    as_of: str
    path: str
    enabled: bool
    human_id: str
    edge: str
    broker_uuid: str | None
    """None if the queue was never used in this database."""
    tables_known: int = VERSION
    """The version of the tables that this program knows."""
    protocol: int = PROTOCOL
    """Of the sockets."""
    return_modes: tuple[ReturnMode, ...] = RETURN_MODES
    operator_recorded: bool
    """True if the database knows whose queue it is."""
    operator_key: keys.Key
    """Whose the key in the state directory is."""
    here: tuple[Here, ...]
    sources: tuple[Bound, ...]
    """Those that are not revoked, a hundred at most."""
    more_sources: bool
    returns: dict[Phase, int]
    wal_bytes: int


def examine(tables: Tables, state: Path, policy: Policy, now: Instant, alive: Alive) -> Health:
    """Look at everything, in one snapshot."""
    path = Path(tables.path)

    def see(view: View) -> Health:
        broker = broker_of(view)
        page = None if broker is None else attention_reads.sources(view, now, limit=PAGE_MOST)
        sources = page.sources if page else ()
        return Health(
            as_of=iso(now),
            path=str(path),
            enabled=policy.enabled,
            human_id=policy.human_id,
            edge=edge_name(),
            broker_uuid=broker,
            operator_recorded=operators.key_hash(view) is not None,
            operator_key=keys.how_it_stands(view, state),
            here=_here(view, alive),
            sources=tuple(_bound(view, one, alive) for one in sources if one.revoked_at is None),
            more_sources=page is not None and page.after is not None,
            returns={} if broker is None else attention_reads.counts(view, policy.human_id, now).returns,
            wal_bytes=wal_bytes(path),
        )

    return tables.query(see)


def _here(view: View, alive: Alive) -> tuple[Here, ...]:
    return tuple(
        Here(actor=one.name, session=session.id if session else None, pid=session.pid if session else 0)
        for one in recipients.every(view)
        if one.life == "live" and runs(view, one.name, alive)
        for session in (_present(view, one.name),)
    )


def _present(view: View, actor: str) -> Session | None:
    newest = recipients.sessions(view, actor, limit=1)
    return newest[0] if newest and newest[0].ended_at is None else None


def _bound(view: View, source: Source, alive: Alive) -> Bound:
    reason = _obstacle(view, source, alive)
    return Bound(
        source_id=source.source_id,
        actor=source.actor,
        project_id=source.project_id,
        work_id=source.work_id,
        return_mode=source.return_mode,
        valid=not reason,
        reason=reason,
    )


def _obstacle(view: View, source: Source, alive: Alive) -> str:
    if recipients.is_dead(view, source.actor):
        return "recipient_archived"
    if source.return_mode != "pinned_session":
        return ""
    over = session_over(view, source.actor, source.session_id or "")
    return over or ("" if runs(view, source.actor, alive) else NOT_RUNNING)

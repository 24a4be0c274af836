"""Health: what the queue depends on, for people who ask why nothing comes: versions, who is here, which ways back are open."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ...actors.returns import obstacle, runs
from ...actors.tables import Alive, Tables
from ...contracts.attention import SCHEMA_VERSION, ReturnMode
from ...contracts.attention_facts import Policy
from ...contracts.attention_items import PAGE_MOST, Phase, Source
from ...contracts.attention_pages import Stuck
from ...contracts.attention_time import iso
from ...contracts.base import Instant, Record
from ...contracts.recipients import Session
from ...contracts.wire import PROTOCOL
from ...store import attention_reads, operators, recipients
from ...store.attention_schema import VERSION, broker_of
from ...store.engine import View, wal_bytes
from . import keys, ways
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
    stuck: tuple[Stuck, ...] = ()
    """Answers that do not get through, a hundred at most."""
    held_up: tuple[Stuck, ...] = ()
    """Answers that are on their way to a session that does not run now, a hundred at most."""
    wal_bytes: int


def examine(tables: Tables, state: Path, policy: Policy, human_id: str, now: Instant, alive: Alive) -> Health:
    """Look at everything, in one snapshot, at ``human_id``'s queue."""
    path = Path(tables.path)

    def see(view: View) -> Health:
        broker = broker_of(view)
        page = None if broker is None else attention_reads.sources(view, now, limit=PAGE_MOST)
        sources = page.sources if page else ()
        return Health(
            as_of=iso(now),
            path=str(path),
            enabled=policy.enabled,
            human_id=human_id,
            edge=edge_name(),
            broker_uuid=broker,
            operator_recorded=operators.key_hash(view) is not None,
            operator_key=keys.how_it_stands(view, state),
            here=_here(view, alive),
            sources=tuple(_bound(view, one, alive) for one in sources if one.revoked_at is None),
            more_sources=page is not None and page.after is not None,
            returns={} if broker is None else attention_reads.counts(view, human_id, now).returns,
            stuck=() if broker is None else attention_reads.stuck(view, human_id),
            held_up=() if broker is None else ways.held_up(view, human_id, alive),
            wal_bytes=wal_bytes(path),
        )

    return tables.query(see)


def obstacles(view: View, sources: Sequence[Source], alive: Alive) -> dict[str, str]:
    """By its id, why an answer could not go to a source now; empty where it could."""
    return {one.source_id: str(obstacle(view, one, alive)) for one in sources}


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
    reason = str(obstacle(view, source, alive))
    return Bound(
        source_id=source.source_id,
        actor=source.actor,
        project_id=source.project_id,
        work_id=source.work_id,
        return_mode=source.return_mode,
        valid=not reason,
        reason=reason,
    )

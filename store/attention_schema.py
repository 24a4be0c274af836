"""Attention schema: the tables of the person's queue, made when it is first used; with a version of their own."""

from typing import Final

from ..contracts.base import Instant
from ..contracts.errors import StoreTooNew
from .engine import Transaction, View

VERSION: Final = 1

_KEPT: Final = (
    ("events", "UPDATE"),
    ("events", "DELETE"),
    ("commands", "UPDATE"),
    ("commands", "DELETE"),
    ("items", "UPDATE OF item_id, human_id, owner_principal, project_id, work_id, intervention_key, source_id, created_at"),
    ("items", "DELETE"),
    ("returns", "UPDATE OF return_id, item_id, resolution_command_id, generation, mode, source_id, route, created_at"),
    ("returns", "DELETE"),
    (
        "sources",
        "UPDATE OF source_id, edge, actor, provider, project_id, work_id, session_id, cwd, profile, delivery, return_mode, "
        "provenance, created_at",
    ),
    ("sources", "DELETE"),
)
"""What the database itself refuses, whoever asks: history is only ever added to."""

FIRST: Final = (
    """CREATE TABLE attention_schema (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        version INTEGER NOT NULL,
        broker_uuid TEXT NOT NULL,
        made_at INTEGER NOT NULL
    )""",
    """CREATE TABLE attention_sources (
        source_id TEXT PRIMARY KEY,
        edge TEXT NOT NULL,
        actor TEXT NOT NULL,
        provider TEXT NOT NULL,
        project_id TEXT NOT NULL,
        work_id TEXT NOT NULL,
        session_id TEXT,
        cwd TEXT NOT NULL,
        profile TEXT NOT NULL,
        delivery TEXT NOT NULL,
        return_mode TEXT NOT NULL CHECK (return_mode IN ('pinned_session', 'actor_context', 'none')),
        provenance TEXT NOT NULL CHECK (provenance IN ('dispatch', 'live_registration', 'operator_binding')),
        created_at INTEGER NOT NULL,
        revoked_at INTEGER,
        revoked_reason TEXT NOT NULL DEFAULT '',
        CHECK (return_mode != 'pinned_session' OR session_id IS NOT NULL)
    )""",
    """CREATE TABLE attention_source_handles (
        handle_hash TEXT PRIMARY KEY,
        broker_uuid TEXT NOT NULL,
        source_id TEXT NOT NULL REFERENCES attention_sources (source_id),
        provenance TEXT NOT NULL,
        created_at INTEGER NOT NULL
    )""",
    """CREATE TABLE attention_items (
        item_id INTEGER PRIMARY KEY AUTOINCREMENT,
        human_id TEXT NOT NULL,
        owner_principal TEXT NOT NULL,
        project_id TEXT NOT NULL,
        work_id TEXT NOT NULL,
        intervention_key TEXT NOT NULL,
        source_id TEXT REFERENCES attention_sources (source_id),
        state TEXT NOT NULL CHECK (state IN ('queued', 'active', 'deferred', 'resolved', 'cancelled')),
        revision INTEGER NOT NULL CHECK (revision >= 1),
        packet BLOB NOT NULL,
        submitted TEXT NOT NULL,
        standing TEXT NOT NULL,
        ready_sequence INTEGER NOT NULL CHECK (ready_sequence >= 1),
        deferred_until INTEGER,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        claimed_at INTEGER,
        resolved_at INTEGER,
        outcome TEXT,
        response TEXT,
        reason TEXT,
        CHECK (deferred_until IS NULL OR state = 'deferred'),
        CHECK (claimed_at IS NOT NULL OR state NOT IN ('active', 'resolved')),
        CHECK ((resolved_at IS NOT NULL) = (state IN ('resolved', 'cancelled'))),
        CHECK ((outcome IS NOT NULL AND response IS NOT NULL) = (state = 'resolved'))
    )""",
    "CREATE UNIQUE INDEX attention_one_active_per_human ON attention_items (human_id) WHERE state = 'active'",
    """CREATE UNIQUE INDEX attention_semantic_identity
        ON attention_items (human_id, owner_principal, project_id, work_id, intervention_key)""",
    "CREATE INDEX attention_ready_order ON attention_items (human_id, state, ready_sequence, item_id)",
    "CREATE INDEX attention_deferred_due ON attention_items (human_id, state, deferred_until, item_id)",
    "CREATE INDEX attention_items_by_source ON attention_items (source_id, item_id) WHERE source_id IS NOT NULL",
    """CREATE TABLE attention_events (
        event_id INTEGER PRIMARY KEY AUTOINCREMENT,
        item_id INTEGER REFERENCES attention_items (item_id),
        source_id TEXT,
        command_id TEXT,
        principal TEXT NOT NULL,
        kind TEXT NOT NULL,
        at INTEGER NOT NULL,
        payload BLOB NOT NULL
    )""",
    "CREATE INDEX attention_events_by_item ON attention_events (item_id, event_id) WHERE item_id IS NOT NULL",
    """CREATE TABLE attention_commands (
        command_id TEXT PRIMARY KEY,
        issuer TEXT NOT NULL,
        action TEXT NOT NULL,
        digest TEXT NOT NULL,
        receipt BLOB NOT NULL,
        at INTEGER NOT NULL
    )""",
    """CREATE TABLE attention_returns (
        return_id INTEGER PRIMARY KEY AUTOINCREMENT,
        item_id INTEGER NOT NULL REFERENCES attention_items (item_id),
        resolution_command_id TEXT NOT NULL,
        generation INTEGER NOT NULL CHECK (generation >= 1),
        mode TEXT NOT NULL CHECK (mode IN ('pinned_session', 'actor_context')),
        source_id TEXT NOT NULL,
        route BLOB NOT NULL,
        phase TEXT NOT NULL
            CHECK (phase IN ('pending', 'blocked', 'minted', 'processed', 'failed', 'superseded')),
        reason TEXT NOT NULL DEFAULT '',
        retry_at INTEGER,
        delivery_id TEXT NOT NULL DEFAULT '',
        outcome BLOB NOT NULL DEFAULT '{}',
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        UNIQUE (resolution_command_id, generation),
        CHECK (retry_at IS NULL OR phase IN ('pending', 'blocked')),
        CHECK ((delivery_id = '') = (phase IN ('pending', 'blocked')) OR phase IN ('failed', 'superseded'))
    )""",
    """CREATE UNIQUE INDEX attention_returns_one_open ON attention_returns (resolution_command_id)
        WHERE phase IN ('pending', 'blocked', 'minted')""",
    "CREATE INDEX attention_returns_by_item ON attention_returns (item_id, generation)",
    "CREATE INDEX attention_returns_due ON attention_returns (retry_at, return_id) WHERE retry_at IS NOT NULL",
    "CREATE INDEX attention_returns_by_phase ON attention_returns (phase, return_id)",
    *(
        f"CREATE TRIGGER attention_{table}_kept_from_{what.split()[0].lower()} BEFORE {what} ON attention_{table} "
        f"BEGIN SELECT RAISE(ABORT, 'attention_{table} is history and stays as it is'); END"
        for table, what in _KEPT
    ),
)

STEPS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (("001_first", FIRST),)
"""(name, statements), only ever appended to; each raises ``VERSION`` by one."""


def prepare(tx: Transaction, broker_uuid: str, at: Instant) -> str:
    """Make the tables if they are absent, and say which broker this database is: ``broker_uuid``, if it was none yet.

    Raises ``StoreTooNew`` for tables that a newer version made.
    """
    standing = broker_of(tx)
    if standing is not None:
        return standing
    from .attention_migrations import migrate  # its library costs more to import than everything else here

    migrate(tx)
    tx.execute("INSERT INTO attention_schema VALUES (1, ?, ?, ?)", (VERSION, broker_uuid, at))
    return broker_uuid


def broker_of(view: View) -> str | None:
    """Which broker this database is; none if the queue was never used, and then there is nothing to read.

    Raises ``StoreTooNew`` for tables that a newer version made.
    """
    if not view.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'attention_schema'"):
        return None
    version, broker = view.rows("SELECT version, broker_uuid FROM attention_schema WHERE only = 1")[0]
    if version > VERSION:
        raise StoreTooNew(
            f"{view._path}: its attention queue was written by a newer tocsin (version {version}, this one knows {VERSION}). "
            "Update this one."
        )
    return str(broker)

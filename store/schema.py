"""Schema: every table, as steps that are only ever appended to; a step that has been released is never edited."""

from typing import Final

FIRST: Final = (
    """CREATE TABLE notices (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        recipient TEXT NOT NULL,
        traffic TEXT NOT NULL,
        coordinate TEXT,
        state TEXT NOT NULL,
        event BLOB NOT NULL,
        accepted_at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL,
        delivery TEXT NOT NULL DEFAULT '',
        attempts INTEGER NOT NULL DEFAULT 0,
        verdict TEXT NOT NULL DEFAULT '',
        reason TEXT NOT NULL DEFAULT ''
    )""",
    "CREATE UNIQUE INDEX notices_by_id ON notices (id, recipient)",
    "CREATE UNIQUE INDEX notices_by_coordinate ON notices (recipient, coordinate) WHERE coordinate IS NOT NULL",
    "CREATE INDEX notices_open ON notices (recipient, seq) WHERE state IN ('pending', 'claimed', 'dispatched')",
    """CREATE TABLE deliveries (
        serial INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        recipient TEXT NOT NULL,
        at INTEGER NOT NULL,
        text TEXT NOT NULL,
        notices BLOB NOT NULL,
        state TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        proof TEXT,
        proved_at INTEGER,
        note TEXT NOT NULL DEFAULT '',
        changed_at INTEGER NOT NULL
    )""",
    """CREATE TABLE proofs (
        delivery TEXT NOT NULL,
        proof TEXT NOT NULL,
        at INTEGER NOT NULL,
        note TEXT NOT NULL,
        PRIMARY KEY (delivery, proof)
    )""",
    """CREATE TABLE decisions (
        serial INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        recipient TEXT NOT NULL,
        at INTEGER NOT NULL,
        stage TEXT NOT NULL,
        verdict TEXT NOT NULL,
        reason TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        until INTEGER,
        note TEXT NOT NULL
    )""",
    "CREATE UNIQUE INDEX decisions_once ON decisions (id, recipient, at, stage, verdict, reason)",
    "CREATE INDEX decisions_by_fingerprint ON decisions (fingerprint) WHERE fingerprint != ''",
    """CREATE TABLE owners (
        recipient TEXT PRIMARY KEY,
        token TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started TEXT NOT NULL,
        host TEXT NOT NULL,
        socket TEXT NOT NULL,
        beat_at INTEGER NOT NULL
    )""",
    """CREATE TABLE recipients (
        name TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        provider TEXT NOT NULL,
        life TEXT NOT NULL,
        coordinator INTEGER NOT NULL,
        registered_at INTEGER NOT NULL,
        changed_at INTEGER NOT NULL
    )""",
    """CREATE TABLE sessions (
        serial INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        recipient TEXT NOT NULL,
        pid INTEGER NOT NULL,
        command BLOB NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER
    )""",
    "CREATE INDEX sessions_by_recipient ON sessions (recipient, serial)",
    """CREATE TABLE notice_delivered (
        recipient TEXT NOT NULL,
        signature TEXT NOT NULL,
        at INTEGER NOT NULL,
        ctx BLOB NOT NULL,
        cleared_when TEXT NOT NULL,
        PRIMARY KEY (recipient, signature)
    )""",
    "CREATE INDEX notice_delivered_by_age ON notice_delivered (at)",
    """CREATE TABLE notice_held (
        serial INTEGER PRIMARY KEY AUTOINCREMENT,
        recipient TEXT NOT NULL,
        id TEXT NOT NULL,
        signature TEXT NOT NULL,
        event BLOB NOT NULL,
        at INTEGER NOT NULL,
        reason TEXT NOT NULL,
        UNIQUE (recipient, id)
    )""",
    "CREATE INDEX notice_held_by_age ON notice_held (at)",
    "CREATE TABLE waits (recipient TEXT PRIMARY KEY, state BLOB NOT NULL, changed_at INTEGER NOT NULL)",
    """CREATE TABLE inbox (
        cursor INTEGER PRIMARY KEY AUTOINCREMENT,
        recipient TEXT NOT NULL,
        delivery TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        body BLOB NOT NULL,
        put_at INTEGER NOT NULL,
        read_at INTEGER,
        UNIQUE (recipient, delivery)
    )""",
    "CREATE INDEX inbox_in_order ON inbox (recipient, cursor)",
    "CREATE TABLE inbox_acks (recipient TEXT PRIMARY KEY, upto INTEGER NOT NULL, changed_at INTEGER NOT NULL)",
    "CREATE TABLE upkeep (task TEXT PRIMARY KEY, done_at INTEGER NOT NULL)",
)

STEPS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (("001_first", FIRST),)
"""(name, statements), in the order in which they are applied."""

KNOWN: Final = frozenset(name for name, _ in STEPS)
"""What this version understands. A database that has been through another step was written by a newer one."""

APPLICATION_ID: Final = 0x746F6373
"""``tocs`` in the header of the file: what tells our database from another program's."""

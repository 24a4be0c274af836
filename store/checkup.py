"""Checkup: how a database stands, looked at and not changed: whether it is ours and whole, its log, and what waits in it."""

import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Final

from ..contracts.base import Record
from ..contracts.errors import StoreCorrupt
from .engine import translated
from .files import is_emptied, wal_bytes
from .opening import SET_ASIDE, WAL_KEPT, applied_steps, examine

SQLITE: Final = sqlite3.sqlite_version
"""The library that this Python is built with."""
LOG_TOO_LARGE: Final = 16 * WAL_KEPT
"""Bytes of a log that does not get shorter: a reader keeps it so, or nobody has closed the database for long."""
ROOM: Final = 64 * 1_048_576
"""Bytes that should be free beside it."""
_PATIENCE: Final = 5.0

_WAITING: Final = (
    "SELECT recipient, count(*) FROM notices WHERE state IN ('pending', 'claimed', 'dispatched') GROUP BY recipient "
    "ORDER BY recipient"
)
_DEAD: Final = "SELECT count(*) FROM notices WHERE state = 'failed'"


class Checkup(Record, frozen=True, kw_only=True):
    """What was found. It raised nothing, so the database can be read and is whole."""

    bytes: int
    wal_bytes: int
    free_bytes: int
    """Beside it, for whoever asks."""
    open_to_others: bool
    """Somebody besides its owner may read it."""
    waiting: dict[str, int]
    """Recipient → messages that have not ended."""
    letters: int
    """Messages that could not be told to anybody."""


def checkup(path: Path) -> Checkup:
    """Look at the whole file, which takes a second for some hundred megabytes.

    Raises ``StoreCorrupt``, ``StoreTooNew``, ``StoreBusy``, ``StoreFull``, or ``StoreUnusable`` for another program's.
    """
    if is_emptied(path):
        raise StoreCorrupt(f"{path}: was emptied, and a log with changes to it lies beside it. {SET_ASIDE}")
    facts = path.stat()
    with translated(path), closing(_connected(path)) as connection:
        steps = applied_steps(connection, path)
        examine(connection, path)
        return Checkup(
            bytes=facts.st_size,
            wal_bytes=wal_bytes(path),
            free_bytes=shutil.disk_usage(path.parent).free,
            open_to_others=bool(stat.S_IMODE(facts.st_mode) & 0o077),
            waiting=dict(connection.execute(_WAITING).fetchall()) if steps else {},
            letters=connection.execute(_DEAD).fetchone()[0] if steps else 0,
        )


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE, isolation_level=None)

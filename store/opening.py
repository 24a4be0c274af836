"""Opening: from a path to a connection that is ours, whole and of the newest schema. Raises SQLite's errors as they are."""

import math
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..contracts.errors import StoreCorrupt, StoreTooNew, StoreUnusable
from .files import is_emptied, wal_bytes
from .schema import APPLICATION_ID, KNOWN

WAL_KEPT: Final = 4 * 1_048_576
"""Bytes that the write-ahead log keeps between two checkpoints, once no reader holds it back."""

CHECKED_ALWAYS: Final = 16 * 1_048_576
"""Bytes of a database that is checked whole at every open (about 14 ms); a larger one is checked once a day."""

SMALLEST: Final = 512
"""Bytes of the smallest database that there can be."""

SET_ASIDE: Final = "Set it aside (it is kept under another name) and go on with a new one."

_PRAGMAS: Final = ("synchronous=FULL", "foreign_keys=ON", f"journal_size_limit={WAL_KEPT}", "wal_autocheckpoint=1000")


def connect(path: Path, patience: float) -> sqlite3.Connection:
    """Open the file, which exists, and make it ready. ``patience``: seconds to wait for other processes."""
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    if 0 < path.stat().st_size < SMALLEST:  # SQLite would take it for an empty one and write over it
        raise StoreCorrupt(f"{path}: is no database. {SET_ASIDE}")
    if is_emptied(path):  # SQLite would take the log for a leftover, and remove it
        raise StoreCorrupt(f"{path}: was emptied, and a log with changes to it lies beside it. {SET_ASIDE}")
    applied = applied_steps(connection, path)
    if applied and path.stat().st_size <= CHECKED_ALWAYS:
        examine(connection, path)
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        _switch_to_wal(connection, path)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    if applied != KNOWN:
        _migrate(connection)


def applied_steps(connection: sqlite3.Connection, path: Path) -> frozenset[str]:
    """The steps that the file has been through; none if it is empty. Raises if they are not ours, or newer."""
    inside = connection.in_transaction
    if not inside:
        connection.execute("BEGIN")  # two questions, one moment: another process may be migrating it
    try:
        ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not ours:
            raise StoreUnusable(f"{path}: is another program's database and was left alone. Name another file.")
        if "_sqlite_migrations" not in tables:
            return frozenset()
        found = connection.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = 'tocsin'")
        applied = frozenset(name for (name,) in found)
    finally:
        if not inside:
            connection.execute("ROLLBACK")
    if newer := sorted(applied - KNOWN):
        raise StoreTooNew(f"{path}: was written by a newer tocsin (it knows {', '.join(newer)}). Update this one.")
    return applied


def examine(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise StoreCorrupt(f"{path}: is damaged ({found}). {SET_ASIDE}")
    # A last page that is cut passes the check. Asked in this order: a log is folded into the file before it goes.
    bytes_said = math.prod(connection.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "page_size"))
    if not wal_bytes(path) and path.stat().st_size < bytes_said:
        raise StoreCorrupt(f"{path}: is cut off at {path.stat().st_size} of {bytes_said} bytes. {SET_ASIDE}")


def _switch_to_wal(connection: sqlite3.Connection, path: Path) -> None:
    """SQLite does not wait here for another process that does the same; the lock that is taken between two tries does."""
    for _ in range(100):
        try:
            if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal":
                return
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    raise StoreUnusable(f"{path}: its file system can't hold a shared database. Name a file on a local disk.")


def _migrate(connection: sqlite3.Connection) -> None:
    from .migrations import migrate  # its library costs more to import than everything else here

    connection.execute("BEGIN IMMEDIATE")
    try:
        migrate(connection)  # nothing, if another process did it while we waited for the lock
        connection.execute("COMMIT")
    except BaseException:
        undo(connection)
        raise


def undo(connection: sqlite3.Connection) -> None:
    """End the transaction without a trace, if there is one."""
    with suppress(sqlite3.Error):  # SQLite has undone it already, or does so when the connection ends
        if connection.in_transaction:
            connection.execute("ROLLBACK")

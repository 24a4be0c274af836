"""Engine: the one database file, its transactions, and the one place where SQLite's errors become ours."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from ..contracts.base import Instant
from ..contracts.errors import BadInput, Forked, StoreBusy, StoreCorrupt, StoreFull, StoreUnusable, TocsinError
from .files import create, identity, is_emptied, set_aside_files, wal_bytes
from .opening import SET_ASIDE, applied_steps, connect, examine, undo

if TYPE_CHECKING:
    from .salvage import Salvaged

__all__ = ["Store", "Transaction", "View", "set_aside", "translated", "wal_bytes"]

Row = tuple[Any, ...]

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_FULL: Final = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
)
_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})


def _primary(error: sqlite3.Error) -> int:
    """The error's class; -1 where the module itself complains (a closed connection, wrong parameters)."""
    code = getattr(error, "sqlite_errorcode", None)
    return -1 if code is None else code & 0xFF


def _ours(error: Exception, path: Path) -> TocsinError:
    """The one translation: file, reason, what to do."""
    if isinstance(error, UnicodeDecodeError) or "Could not decode" in str(error):
        return StoreCorrupt(f"{path}: holds text that is none ({error}). {SET_ASIDE}")
    if not isinstance(error, sqlite3.Error):
        return BadInput(f"{path}: a value can't be stored ({error})")
    primary = _primary(error)
    if primary in _BUSY:
        return StoreBusy(f"{path}: other processes kept it locked ({error}). Nothing was changed; try again.")
    if primary in _FULL:
        return StoreFull(
            f"{path}: can't be written or read ({error}). Nothing was changed; free some space or make it writable, "
            "and it works again."
        )
    if primary in _CORRUPT:
        return StoreCorrupt(f"{path}: is no database, or a damaged one ({error}). {SET_ASIDE}")
    return StoreUnusable(f"{path}: {error}. Run `tocsin doctor`.")


_FAULTS: Final = (sqlite3.Error, OverflowError, UnicodeError)
"""What SQLite and its module raise: its own errors, a number beyond 64 bits, half a surrogate pair, bytes that are no text."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Within it an error of SQLite is one of ours, with the file, the reason and what to do."""
    try:
        yield
    except _FAULTS as error:
        raise _ours(error, path) from error


class Done(NamedTuple):
    """What a statement did."""

    rowcount: int
    """How many rows it changed."""
    lastrowid: int
    """The row that it added last."""


class View:
    """One snapshot of the database, for as long as its block lasts."""

    __slots__ = ("_connection", "_path", "_pid")

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._path = path
        self._pid = os.getpid()

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Done:
        """Run one statement that changes something; what a statement finds is read with ``rows``."""
        connection = self._ready()
        try:
            done = connection.execute(sql, parameters)
            return Done(done.rowcount, done.lastrowid or 0)
        except _FAULTS as error:
            raise _ours(error, self._path) from error

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Every row that the statement finds."""
        connection = self._ready()
        try:
            return connection.execute(sql, parameters).fetchall()
        except _FAULTS as error:
            raise _ours(error, self._path) from error

    def _ready(self) -> sqlite3.Connection:
        if self._connection is None:
            raise RuntimeError("this transaction is over")
        if self._pid != os.getpid():
            raise _forked(self._path)
        if not self._connection.in_transaction:  # a full disk may have undone it: what follows would stand alone
            raise StoreUnusable(f"{self._path}: the transaction was undone by an earlier error. Nothing of it was kept.")
        return self._connection

    def _end(self) -> None:
        self._connection = None


class Transaction(View):
    """The proof that the write lock is held. Committed whole when its block ends, undone if it ends by an exception."""

    __slots__ = ()

    def many(self, sql: str, parameters: Iterable[Sequence[Any]]) -> int:
        """Run one statement for each of them; how many rows changed."""
        connection = self._ready()
        try:
            return max(0, connection.executemany(sql, parameters).rowcount)
        except _FAULTS as error:
            raise _ours(error, self._path) from error


class Store:
    """A connection to the database. Any thread may use it, one at a time; a forked child opens its own."""

    def __init__(self, path: Path, patience: float) -> None:
        """Use ``Store.open``."""
        self.path = path.absolute()
        """The database file, wherever the process goes."""
        self._patience = patience
        self._pid = os.getpid()
        self._connection: sqlite3.Connection | None = _connect(self.path, patience)
        self._file = identity(self.path)
        self._reopened = 0
        self._read_only = False
        self.replaced: Salvaged | None = None
        """What was taken over when the file was found to be another one than before; who has dealt with that puts it back."""

    @classmethod
    def open(cls, path: Path, *, now: Instant, patience: float = 5.0) -> Self:
        """Open it, make it if it is absent, bring it to the newest schema and prune what is past its time.

        ``patience``: seconds that a call waits for other processes. Raises ``StoreCorrupt``, ``StoreTooNew``,
        ``StoreFull``, ``StoreBusy``; ``StoreUnusable`` if the file is another program's database.
        """
        store = cls(path, patience)
        try:
            store._keep_up(now)
        except BaseException:
            store.close()
            raise
        return store

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """The write lock, waited for with patience. Every change in the block is kept, or none. Not reentrant."""
        connection = self._begin("BEGIN IMMEDIATE")
        transaction = Transaction(connection, self.path)
        try:
            yield transaction
            transaction._ready()
            with translated(self.path):
                connection.execute("COMMIT")
        except BaseException as error:
            self._undo(connection)
            self._open_anew_if_read_only(error.__cause__)
            raise
        finally:
            transaction._end()

    @contextmanager
    def read(self) -> Iterator[View]:
        """One consistent view of everything committed. Short: a snapshot that stays open makes the log grow."""
        connection = self._begin("BEGIN DEFERRED")
        view = View(connection, self.path)
        try:
            yield view
        finally:
            view._end()
            self._undo(connection)

    def data_version(self) -> int:
        """A number that changes when another connection has committed. Asking costs microseconds."""
        connection = self._ready()
        with translated(self.path):
            # Each connection counts from the same number, so one that was opened anew must not look like the one before.
            return int(connection.execute("PRAGMA data_version").fetchone()[0]) + (self._reopened << 32)

    def close(self) -> None:
        """Let go of the file. Twice is harmless; in a forked child it leaves the parent's connection alone."""
        if self._connection is not None and self._pid == os.getpid():
            with suppress(sqlite3.Error):  # what was committed is safe; the log is folded in by the next one to open
                self._connection.close()
            self._connection = None

    def _begin(self, how: str) -> sqlite3.Connection:
        connection = self._ready()
        try:
            connection.execute(how)
        except _FAULTS as error:
            self._open_anew_if_read_only(error)
            raise _ours(error, self.path) from error
        return connection

    def _open_anew_if_read_only(self, error: BaseException | None) -> None:
        """A file that could not be written when it was opened stays read-only until it is opened again."""
        if isinstance(error, sqlite3.Error) and _primary(error) == sqlite3.SQLITE_READONLY:
            self._read_only = True

    def _undo(self, connection: sqlite3.Connection) -> None:
        if self._pid == os.getpid():  # the log's index is shared with the parent: a child must not tidy it
            undo(connection)

    def _ready(self) -> sqlite3.Connection:
        if self._pid != os.getpid():
            raise _forked(self.path)
        if self._connection is None:
            raise StoreUnusable(f"{self.path}: was closed. Open it again.")
        if self._connection.in_transaction:
            raise RuntimeError("a transaction is open on this store: it holds one at a time")
        if self._read_only or identity(self.path) != self._file:
            self._reopen(self._connection)
        elif is_emptied(self.path):
            raise StoreCorrupt(f"{self.path}: was emptied while it was in use. {SET_ASIDE}")
        return self._connection

    def _reopen(self, old: sqlite3.Connection) -> None:
        """The file was set aside or removed by somebody: what is written now belongs into the one that has its name.

        So does what the old one holds, which this process may be the last to reach.
        """
        fresh, found = _connect(self.path, self._patience), identity(self.path)
        try:
            if found != self._file:
                self.replaced = self._carry_over(old, fresh)
        except BaseException:  # nothing is lost yet: the next call tries it again
            fresh.close()
            raise
        self._connection, self._file, self._read_only = fresh, found, False
        self._reopened += 1
        with suppress(sqlite3.Error):
            old.close()

    def _carry_over(self, old: sqlite3.Connection, fresh: sqlite3.Connection) -> "Salvaged":
        from .salvage import carry_over

        with translated(self.path):
            fresh.execute("BEGIN IMMEDIATE")
            salvaged = carry_over(old, Transaction(fresh, self.path))
            fresh.execute("COMMIT")
        return salvaged

    def take_over(self, damaged: Path) -> "Salvaged":
        """Take into this database what can still be read of one that was set aside. That is only read, and stays as it is."""
        from .salvage import from_file

        with self.write() as tx:
            return from_file(damaged, tx)

    def _keep_up(self, now: Instant) -> None:
        from .upkeep import due, prune

        with self.read() as view:
            wanted = due(view, now)
        if wanted:
            # Housekeeping is never a reason not to open: what can't be pruned now is pruned by the next one.
            with suppress(StoreBusy, StoreFull):
                self._check()
                with self.write() as tx:
                    prune(tx, now)

    def _check(self) -> None:
        with translated(self.path):
            examine(self._ready(), self.path)


def set_aside(path: Path, now: Instant) -> Path:
    """Move a database with its log to a name of its own beside it, and say which. Nothing is overwritten or deleted.

    If the file is sound by now, because another process has set the damaged one aside, it stays and its own path is the answer.
    """
    return set_aside_files(path, now, _is_sound)


def _is_sound(path: Path) -> bool:
    if is_emptied(path):
        return False
    with translated(path):
        # Read-only: a connection that may write tidies the log away when it ends, and the log is to be kept as it is.
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        with translated(path):
            examine(connection, path)
            return bool(applied_steps(connection, path))
    except (StoreBusy, StoreFull):
        raise  # that says nothing about what is in it
    except StoreUnusable:
        return False
    finally:
        connection.close()


def _forked(path: Path) -> Forked:
    return Forked(f"{path}: was opened before a fork. A child process must open it itself.")


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    try:
        create(path)
        with translated(path):
            return connect(path, patience)
    except OSError as error:
        raise StoreFull(f"{path}: can't be made ({error.strerror}). Make its folder writable, or name another.") from error

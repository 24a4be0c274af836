"""Salvage: takes over what can still be read of a database that is out of use, row by row, and says what could not be.

A row that does not hold what its table holds is left behind: it would make the new database as unreadable as the old one.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from ..contracts.deliveries import Delivery, Proof
from ..contracts.durable import DURABLE, State
from ..contracts.errors import StoreUnusable
from ..contracts.recipients import COORDINATOR, Kind, Life, Recipient
from ..contracts.verdicts import Stage, Verdict
from ..contracts.waits import WaitState
from . import recipients
from .engine import Transaction
from .rows import decode, event_of, names_of, word

TABLES: Final[Mapping[str, str]] = {
    "recipients": "",
    "owners": "",
    "sessions": "serial",
    "waits": "",
    "inbox_acks": "",
    "inbox": "cursor",
    "notices": "seq",
    "deliveries": "serial",
    "proofs": "",
    "decisions": "serial",
    "notice_delivered": "",
    "notice_held": "serial",
}
"""What is taken over, in this order, with the column that only says a row's place. The queue's own history is not: it holds
together by rules over several tables, so part of it would say what never was."""

_NAMED: Final = ("owners", "sessions", "waits", "inbox", "notices", "notice_delivered", "notice_held")
"""Tables that name recipients, too."""

_KINDS: Final[Mapping[str, type]] = {"INTEGER": int, "TEXT": str, "BLOB": bytes}
_UNREADABLE: Final = (sqlite3.Error, OverflowError, UnicodeError, StoreUnusable, ValueError)


def _one_of(words: Sequence[str] | frozenset[str], value: str) -> None:
    if value not in words:
        raise ValueError(value)


_HOLDS: Final[Mapping[str, Callable[[Any], object]]] = {
    "recipients.kind": partial(_one_of, get_args(Kind)),
    "recipients.life": partial(_one_of, get_args(Life)),
    "sessions.command": names_of,
    "waits.state": partial(decode, WaitState),
    "inbox.body": partial(decode, Delivery),
    "notices.traffic": partial(_one_of, DURABLE),
    "notices.state": partial(word, State),
    "notices.event": event_of,
    "deliveries.notices": names_of,
    "deliveries.state": partial(word, State),
    "deliveries.proof": partial(word, Proof),
    "proofs.proof": partial(word, Proof),
    "decisions.stage": partial(word, Stage),
    "decisions.verdict": partial(word, Verdict),
    "notice_delivered.ctx": names_of,
    "notice_held.event": event_of,
}
"""What a column holds beyond its type; asked, it raises if that is not so."""


class Salvaged(NamedTuple):
    """What became of an old database's content."""

    waiting: int
    """Messages without an end that are in the new one."""
    lost: tuple[str, ...]
    """Tables that could not be read whole."""

    def __str__(self) -> str:
        taken = f"{self.waiting} message{'s' if self.waiting != 1 else ''} without an end taken over"
        return f"{taken}; not all could be read of: {', '.join(self.lost)}" if self.lost else f"{taken}, with all the rest"


NOTHING: Final = Salvaged(0, tuple(TABLES))
"""Of a file that can't be opened at all."""


class _Column(NamedTuple):
    name: str
    kind: type
    required: bool


def from_file(damaged: Path, tx: Transaction) -> Salvaged:
    """Take over what can be read of a file that was set aside. It stays as it is."""
    if not damaged.stat().st_size:  # SQLite would take the log beside it for a leftover, and remove it
        return _finish(tx, list(TABLES))
    # Read-only: a connection that may write tidies the log away when it ends, and the log is to be kept as it is.
    connection = sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        return carry_over(connection, tx)
    finally:
        connection.close()


def carry_over(old: sqlite3.Connection, tx: Transaction) -> Salvaged:
    """Take over what can be read through this connection. What is in the new database already stays as it is there."""
    old.text_factory = _text
    return _finish(tx, [table for table, place in TABLES.items() if not _take(old, tx, table, place)])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")  # bytes that are no text must not end the reading of what stands behind them


def _take(old: sqlite3.Connection, tx: Transaction, table: str, place: str) -> bool:
    """Copy one table's rows; False if not all of it could be read."""
    columns = [
        _Column(name, _KINDS[kind], bool(required)) for _, name, kind, required, *_ in tx.rows(f"PRAGMA table_info({table})")
    ]
    names = [column.name for column in columns]
    without = [name for name in names if name != place]
    whole = True
    for row in _rows(old, table, names):
        if row is None or not _is_sound(table, columns, row):
            whole = False
        elif not tx.execute(_insert(table, names), row).rowcount and place:
            # Its place is taken, or all of it is here: then the table's own rule keeps it out once more.
            tx.execute(_insert(table, without), [value for name, value in zip(names, row, strict=True) if name != place])
    return whole


def _insert(table: str, names: Sequence[str]) -> str:
    return f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def _rows(old: sqlite3.Connection, table: str, names: Sequence[str]) -> Iterator[tuple[Any, ...] | None]:
    """Every row up to a damaged page, then from the end back to one; none of them stands for what is missing between."""
    for order in ("ASC", "DESC"):
        try:
            yield from old.execute(f"SELECT {', '.join(names)} FROM {table} ORDER BY rowid {order}")
        except _UNREADABLE:
            yield None
        else:
            return


def _is_sound(table: str, columns: Sequence[_Column], row: tuple[Any, ...]) -> bool:
    try:
        for column, value in zip(columns, row, strict=True):
            if value is None and not column.required:
                continue
            if not isinstance(value, column.kind):
                return False
            if isinstance(value, str):
                value.encode()
            if holds := _HOLDS.get(f"{table}.{column.name}"):
                holds(value)
    except _UNREADABLE:
        return False
    return True


def _finish(tx: Transaction, lost: list[str]) -> Salvaged:
    """What follows from what was found, and from what was not."""
    # What is put into a box from now on comes behind what was acknowledged there, or it would never be shown.
    tx.execute(
        "INSERT INTO sqlite_sequence (name, seq) SELECT 'inbox', 0 WHERE 'inbox' NOT IN (SELECT name FROM sqlite_sequence)"
    )
    last = "max(seq, (SELECT coalesce(max(upto), 0) FROM inbox_acks))"
    tx.execute(f"UPDATE sqlite_sequence SET seq = {last} WHERE name = 'inbox'")
    if "recipients" in lost:
        _register_who_is_named(tx)
        recipients.distrust(tx)
    (waiting,) = tx.rows("SELECT count(*) FROM notices WHERE state IN ('pending', 'claimed', 'dispatched')")[0]
    return Salvaged(waiting, tuple(lost))


def _register_who_is_named(tx: Transaction) -> None:
    """Whoever something is for or was told is known, though the registry was lost; it may have been archived, or not."""
    named = " UNION ".join(f"SELECT recipient FROM {table}" for table in _NAMED)
    for (name,) in tx.rows(f"SELECT recipient FROM ({named}) WHERE recipient NOT IN (SELECT name FROM recipients)"):
        if name and name != COORDINATOR:
            recipients.register(tx, Recipient(name=name))

"""Peek: is there anything for a recipient? For a process that must be fast: nothing is loaded but SQLite's module."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

_OPEN = "SELECT 1 FROM notices WHERE recipient = ? AND state IN ('pending', 'claimed', 'dispatched') LIMIT 1"
_UNREAD = (
    "SELECT 1 FROM inbox WHERE recipient = ? AND cursor > "
    "coalesce((SELECT upto FROM inbox_acks WHERE recipient = ?1), 0) LIMIT 1"
)


class Glance(NamedTuple):
    """What a look without a promise says: by the time it is acted on, it may have changed."""

    known: bool = False
    """The recipient is registered and not archived."""
    something: bool = False
    """A message waits for it, or lies in its inbox unread."""
    waits: bool = False
    """It was last seen to wait on a human."""
    owned: bool = False
    """A process delivers to it, or did so when it ended without a word."""


def glance(path: Path, recipient: str) -> Glance:
    """Look, and change nothing. A file that is not there, or can't be read as ours, holds nothing for anybody."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)) as connection:
            life = connection.execute("SELECT life FROM recipients WHERE name = ?", (recipient,)).fetchone()
            if life is None or life[0] != "live":
                return Glance()
            something = any(connection.execute(sql, (recipient,)).fetchone() for sql in (_OPEN, _UNREAD))
            state = connection.execute("SELECT state FROM waits WHERE recipient = ?", (recipient,)).fetchone()
            owned = connection.execute("SELECT 1 FROM owners WHERE recipient = ?", (recipient,)).fetchone() is not None
            return Glance(True, something, state is not None and _waits(state[0]), owned)
    except (sqlite3.Error, ValueError):
        return Glance()


def is_free(path: Path, patience: float) -> bool:
    """True if nobody keeps the file locked for so many seconds. What else may be wrong with it, its opener says."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=patience)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return True


def _waits(state: bytes) -> bool:
    said = json.loads(state)
    return bool(said.get("permission") or said.get("question"))

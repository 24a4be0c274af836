"""Operators: whose queue a database is: the hash of one person's key. Writes the table ``attention_operator``."""

from typing import Final

from ..contracts.base import Instant
from .engine import Transaction, View

STEPS: Final[tuple[tuple[str, str], ...]] = (
    (
        "001_operator",
        "CREATE TABLE attention_operator (only INTEGER PRIMARY KEY CHECK (only = 1), key_hash TEXT NOT NULL, "
        "recorded_at INTEGER NOT NULL)",
    ),
)
"""(name, statement), only ever appended to."""


def key_hash(view: View) -> str | None:
    """SHA-256 of the key that was recorded; none if none was."""
    if not view.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'attention_operator'"):
        return None
    for (found,) in view.rows("SELECT key_hash FROM attention_operator"):
        return str(found)
    return None


def record(tx: Transaction, hashed: str, at: Instant) -> str:
    """Record the hash of the person's key, if none is recorded yet; which one stands."""
    from .operators_migrations import migrate  # its library costs more to import than everything else here

    standing = key_hash(tx)
    if standing is not None:
        return standing
    migrate(tx)
    tx.execute("INSERT INTO attention_operator VALUES (1, ?, ?)", (hashed, at))
    return hashed

"""Waits: who waited on a human still does after a restart. Writes the table ``waits``."""

from ..contracts.base import Instant
from ..contracts.waits import WaitState
from .engine import Transaction, View
from .rows import decode, encode


def save(tx: Transaction, recipient: str, state: WaitState, at: Instant) -> None:
    """Keep what is known of a recipient from its hooks, instead of what was known before."""
    sql = "INSERT OR REPLACE INTO waits (recipient, state, changed_at) VALUES (?, ?, ?)"
    tx.execute(sql, (recipient, encode(state), at))


def load(view: View, recipient: str) -> WaitState | None:
    """What was known last; None if nothing is: then it has not been seen to wait."""
    for (data,) in view.rows("SELECT state FROM waits WHERE recipient = ?", (recipient,)):
        return decode(WaitState, data)
    return None


def forget(tx: Transaction, recipient: str) -> None:
    """Know nothing of this recipient any more."""
    tx.execute("DELETE FROM waits WHERE recipient = ?", (recipient,))

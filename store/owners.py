"""Owners: at most one process delivers to a recipient, and what an older one writes is refused. Writes the table ``owners``."""

from collections.abc import Callable

from ..contracts.base import Instant
from ..contracts.errors import NotOwner
from ..contracts.recipients import Owner
from .engine import Transaction, View


def take(
    tx: Transaction, recipient: str, owner: Owner, at: Instant, *, alive: Callable[[Owner, Instant], bool]
) -> Owner | None:
    """Make the recipient ours. None: it is, also if it already was; else the owner that lives and keeps it.

    ``alive`` is asked about another owner with its last beat. The write lock is held meanwhile, so it answers at once.
    """
    found = owner_of(tx, recipient)
    if found is not None and found[0].token != owner.token and alive(*found):
        return found[0]
    tx.execute(
        "INSERT OR REPLACE INTO owners (recipient, token, pid, started, host, socket, beat_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (recipient, owner.token, owner.pid, owner.started, owner.host, owner.socket, at),
    )
    return None


def beat(tx: Transaction, token: str, at: Instant) -> int:
    """Say that this owner lives; for how many recipients. None means that others have taken them all."""
    return tx.execute("UPDATE owners SET beat_at = ? WHERE token = ?", (at, token)).rowcount


def give_back(tx: Transaction, token: str, recipient: str | None = None) -> int:
    """Let go of one recipient, or of all; how many. What another owner has is not touched."""
    if recipient is None:
        return tx.execute("DELETE FROM owners WHERE token = ?", (token,)).rowcount
    return tx.execute("DELETE FROM owners WHERE token = ? AND recipient = ?", (token, recipient)).rowcount


def owner_of(view: View, recipient: str) -> tuple[Owner, Instant] | None:
    """Who delivers to this recipient, and when it last said that it lives."""
    sql = "SELECT token, pid, started, host, socket, beat_at FROM owners WHERE recipient = ?"
    for token, pid, started, host, socket, beat_at in view.rows(sql, (recipient,)):
        return Owner(token=token, pid=pid, started=started, host=host, socket=socket), beat_at
    return None


def check(view: View, token: str, recipient: str) -> None:
    """Raise ``NotOwner`` unless the recipient belongs to the owner with this token."""
    if not view.rows("SELECT 1 FROM owners WHERE recipient = ? AND token = ?", (recipient, token)):
        raise NotOwner(f"{recipient}: another process delivers there now, or none does. What this one still had goes with it.")

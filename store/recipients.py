"""Recipients: the registry of names, and what ran under them. Writes the tables ``recipients`` and ``sessions``.

A registry of which part was lost is marked so in ``upkeep``, until somebody has had a day to notice: a name that is unknown
then may be alive, so what is for it waits.
"""

from typing import Any, Final

from msgspec.structs import replace

from ..contracts.base import Instant, Millis
from ..contracts.errors import BadInput
from ..contracts.recipients import COORDINATOR, Recipient, Session
from .engine import Transaction, View
from .rows import encode, names_of

_LOST: Final = "registry_lost"
_COLUMNS: Final = "name, kind, provider, life, coordinator, registered_at, changed_at"


def register(tx: Transaction, recipient: Recipient) -> Recipient:
    """Make a name known and alive, and say how it now stands. One that was known keeps the time of its first registration.

    The coordinator's mark is taken from another by the one that registers with it; registering without it gives nothing up.
    """
    if not recipient.name:
        raise BadInput("a recipient needs a name")
    known = find(tx, recipient.name)
    changed_at = recipient.changed_at or recipient.registered_at
    stands = replace(
        recipient,
        life="live",
        coordinator=recipient.coordinator or (known is not None and known.coordinator),
        registered_at=known.registered_at if known else recipient.registered_at or changed_at,
        changed_at=changed_at,
    )
    if recipient.coordinator:
        tx.execute(
            "UPDATE recipients SET coordinator = 0, changed_at = ? WHERE coordinator AND name != ?", (changed_at, stands.name)
        )
    tx.execute(
        f"INSERT OR REPLACE INTO recipients ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (stands.name, stands.kind, stands.provider, stands.life, stands.coordinator, stands.registered_at, changed_at),
    )
    return stands


def archive(tx: Transaction, name: str, at: Instant) -> bool:
    """Declare it dead; False if it is unknown or was so already."""
    sql = "UPDATE recipients SET life = 'archived', changed_at = ? WHERE name = ? AND life = 'live'"
    return tx.execute(sql, (at, name)).rowcount > 0


def find(view: View, name: str) -> Recipient | None:
    """What is known of a name."""
    for row in view.rows(f"SELECT {_COLUMNS} FROM recipients WHERE name = ?", (name,)):
        return _recipient(row)
    return None


def every(view: View) -> list[Recipient]:
    """All of them, also the archived, by name."""
    return [_recipient(row) for row in view.rows(f"SELECT {_COLUMNS} FROM recipients ORDER BY name")]


def is_dead(view: View, name: str) -> bool:
    """True if it is missing or archived; the coordinator never is, nor is ``god``, even before anybody is registered."""
    if name == COORDINATOR:
        return False
    known = find(view, name)
    if known is None:
        return not _is_distrusted(view)
    return known.life == "archived" and not known.coordinator


def distrust(tx: Transaction) -> None:
    """Part of the registry was lost with a damaged file: who is missing is not dead for that."""
    tx.execute("INSERT OR REPLACE INTO upkeep (task, done_at) VALUES (?, 0)", (_LOST,))


def trust_again(tx: Transaction, now: Instant, after: Millis) -> None:
    """A registry that was lost longer ago than that has been filled again, as far as anybody wants it to be."""
    tx.execute("DELETE FROM upkeep WHERE task = ? AND done_at > 0 AND done_at <= ?", (_LOST, now - after))
    tx.execute("UPDATE upkeep SET done_at = ? WHERE task = ? AND done_at = 0", (now, _LOST))


def _is_distrusted(view: View) -> bool:
    return bool(view.rows("SELECT 1 FROM upkeep WHERE task = ?", (_LOST,)))


def coordinator(view: View) -> str:
    """The name that bounced mail goes to."""
    for (name,) in view.rows("SELECT name FROM recipients WHERE coordinator"):
        return str(name)
    return COORDINATOR


def begin_session(tx: Transaction, session: Session) -> None:
    """Note that a recipient's program runs. Under the same id again it is the same session."""
    sql = (
        "INSERT INTO sessions (id, recipient, pid, command, started_at, ended_at) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET recipient = excluded.recipient, pid = excluded.pid, command = excluded.command, "
        "started_at = excluded.started_at, ended_at = excluded.ended_at"
    )
    command = encode(session.command)
    tx.execute(sql, (session.id, session.recipient, session.pid, command, session.started_at, session.ended_at))


def end_session(tx: Transaction, session_id: str, at: Instant) -> bool:
    """Note that it has ended; False if it is unknown or had ended before."""
    return tx.execute("UPDATE sessions SET ended_at = ? WHERE id = ? AND ended_at IS NULL", (at, session_id)).rowcount > 0


def sessions(view: View, recipient: str, limit: int = 20) -> list[Session]:
    """What ran under this name, the newest first."""
    sql = (
        "SELECT id, recipient, pid, command, started_at, ended_at FROM sessions "
        "WHERE recipient = ? ORDER BY serial DESC LIMIT ?"
    )
    return [_session(*row) for row in view.rows(sql, (recipient, limit))]


def prune(tx: Transaction, before: Instant) -> int:
    """Forget sessions that ended before that moment; how many. Names are kept."""
    return tx.execute("DELETE FROM sessions WHERE ended_at < ?", (before,)).rowcount


def _recipient(row: tuple[Any, ...]) -> Recipient:
    name, kind, provider, life, marked, registered_at, changed_at = row
    return Recipient(
        name=name,
        kind=kind,
        provider=provider,
        life=life,
        coordinator=bool(marked),
        registered_at=registered_at,
        changed_at=changed_at,
    )


def _session(id: str, recipient: str, pid: int, command: bytes, started_at: Instant, ended_at: Instant | None) -> Session:
    return Session(id=id, recipient=recipient, pid=pid, command=names_of(command), started_at=started_at, ended_at=ended_at)

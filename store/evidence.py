"""Evidence: which conditions behind harness notices the store itself can see to be gone. Writes nothing."""

from collections.abc import Iterable
from typing import Final

from ..contracts.durable import Announced
from . import inbox, intake
from .engine import View

READ: Final = "read"
"""None of the ids in ``ctx`` is unread any more."""
DRAINED: Final = "drained"
"""The recipient has no message of that kind left unread."""
STARTED: Final = "started"
"""The worker in ``ctx`` has started again since."""
_MOST: Final = 100_000
"""Messages that are looked through for what is unread."""


def gone(view: View, recipient: str, notices: Iterable[Announced]) -> list[str]:
    """The signatures whose declared condition is gone. What declares none is only re-armed by somebody who knows."""
    declared = [one for one in notices if one.cleared_when]
    if not declared:
        return []
    unread = _unread(view, recipient)
    return [one.signature for one in declared if _is_gone(view, one, unread)]


def _is_gone(view: View, notice: Announced, unread: set[str]) -> bool:
    match notice.cleared_when:
        case "read":
            return unread.isdisjoint(notice.ctx)
        case "drained":
            kind = f"{notice.signature.partition(':')[0]}:"
            return not any(_kind_of(view, id).startswith(kind) for id in unread)
        case "started":
            return any(_started_after(view, worker, notice.at) for worker in notice.ctx)
        case _:
            return False


def _unread(view: View, recipient: str) -> set[str]:
    """Ids of what has not been told yet, or lies in the inbox unread."""
    waiting = intake.waiting(view, recipient, after=0, limit=_MOST)
    return {stored.id for stored in waiting} | inbox.unread_ids(view, recipient)


def _kind_of(view: View, id: str) -> str:
    """``kind:`` and the rest of what a harness notice is about; empty for anything else."""
    return next((stored.event.key for stored in intake.find(view, id) if stored.traffic == "notice"), "")


def _started_after(view: View, worker: str, at: int) -> bool:
    return bool(view.rows("SELECT 1 FROM sessions WHERE recipient = ? AND started_at > ? LIMIT 1", (worker, at)))

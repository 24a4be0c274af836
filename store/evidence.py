"""Evidence: which conditions behind harness notices the store itself can see to be gone. Writes nothing.

What was told is judged by when it was told, what waits by when it was accepted: the two can be about different occasions.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from ..contracts.base import Instant
from ..contracts.durable import OPEN, Announced, Stored
from ..contracts.events import Event
from . import inbox, intake
from .engine import View

READ: Final = "read"
"""None of the ids in ``ctx`` is unread any more. Of an id that was never accepted here nobody can say that."""
DRAINED: Final = "drained"
"""Of what the recipient was told of that kind, nothing is left unread."""
STARTED: Final = "started"
"""The worker in ``ctx`` has started again since."""


class Evidence:
    """What can be seen of one recipient in one snapshot."""

    def __init__(self, view: View, recipient: str) -> None:
        self._view, self._recipient = view, recipient

    def over(self, told: Iterable[Announced]) -> list[str]:
        """Signatures of what was told and whose declared condition is gone: they may be told again."""
        return [one.signature for one in told if self.is_over(one)]

    def is_over(self, told: Announced) -> bool:
        """True if the condition behind what was told is gone. One that declares none is re-armed by somebody who knows."""
        match told.cleared_when:
            case "read":
                return self._all_read(told.ctx)
            case "drained":
                return not self._unread_of(f"{told.signature.partition(':')[0]}:")
            case "started":
                return self._any_started(told.ctx, told.at)
            case _:
                return False

    def is_stale(self, waiting: Stored) -> bool:
        """True if the condition of one that waits went away after it was accepted, so that it is no news any more.

        That earlier ones of its kind were read makes a new one no staler, so ``drained`` says nothing about it.
        """
        match waiting.event.cleared_when:
            case "read":
                return self._all_read(waiting.event.ctx)
            case "started":
                return self._any_started(waiting.event.ctx, waiting.accepted_at)
            case _:
                return False

    def still_holds(self, event: Event, since: Instant) -> bool:
        """True if it can be seen that the condition of one that has waited since then is as it was."""
        match event.cleared_when:
            case "read":
                return any(self._is_known(id) and not self._is_read(id) for id in event.ctx)
            case "started":
                return bool(event.ctx) and not self._any_started(event.ctx, since)
            case _:
                return False

    def _all_read(self, ids: tuple[str, ...]) -> bool:
        return bool(ids) and all(self._is_read(id) for id in ids)

    def _is_read(self, id: str) -> bool:
        states = {stored.state for stored in self._found(id)}
        return bool(states) and not OPEN & states and id not in self._in_the_box

    def _is_known(self, id: str) -> bool:
        return bool(self._found(id)) or id in self._in_the_box

    def _found(self, id: str) -> list[Stored]:
        return [stored for stored in intake.find(self._view, id) if stored.recipient == self._recipient]

    def _unread_of(self, kind: str) -> bool:
        return any(self._kind_of(id).startswith(kind) for id in self._in_the_box)

    def _kind_of(self, id: str) -> str:
        """``kind:`` and the rest of what a harness notice is about; empty for anything else."""
        return next((stored.event.key for stored in self._found(id) if stored.traffic == "notice"), "")

    @cached_property
    def _in_the_box(self) -> set[str]:
        return inbox.unread_ids(self._view, self._recipient)

    def _any_started(self, workers: tuple[str, ...], at: Instant) -> bool:
        sql = "SELECT 1 FROM sessions WHERE recipient = ? AND started_at > ? LIMIT 1"
        return any(self._view.rows(sql, (worker, at)) for worker in workers)

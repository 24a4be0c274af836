"""Keeping: a feed for a recipient that is registered and not here. Messages are kept for it; all else is for those who are."""

from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ..contracts.durable import DURABLE
from ..contracts.events import Event
from ..contracts.wire import Item
from ..edges.clock import SteadyClock
from ..edges.server.feeder import Sent
from .feeding import STDIN, bad_lines
from .piped import Kind, followed, piped
from .sending import kept_for
from .stored import if_stored, line_on
from .words import complain

if TYPE_CHECKING:
    from ..app import Tocsin


def is_kept_for(name: str, store: Path | None) -> bool:
    """True if that name is registered and alive, so that the store takes messages for it."""
    with if_stored(store) as records:
        found = records.find(name) if records else None
    return found is not None and found.life == "live"


def keep_text(event: Event, store: Path | None) -> None:
    """Commit one message and say where it is."""
    with line_on(store) as line:
        line.feed(event)
        _say_where(line, event.to or "")


class Keeping:
    """One feed of a stream into the store, from its first byte until everything is committed."""

    def __init__(self, name: str, kind: Kind, follow: Path | None, store: Path | None) -> None:
        self._name, self._kind, self._follow, self._store = name, kind, follow, store
        self.sent = Sent()

    @property
    def bad(self) -> int:
        """Lines that could not be understood."""
        return bad_lines(self._kind)

    def run(self) -> None:
        """To the end of the stream."""
        with line_on(self._store) as line:
            anyio.run(self._carry, line)
            _say_where(line, self._name)

    async def _carry(self, line: "Tocsin") -> None:
        clock = SteadyClock()
        source = followed(self._follow, self._kind, clock) if self._follow else piped(STDIN, self._kind, clock)
        async with aclosing(source):
            async for found in source:
                if found:
                    await anyio.to_thread.run_sync(self._keep, line, found)

    def _keep(self, line: "Tocsin", items: Sequence[Item]) -> None:
        """Commit the messages among them; the rest is refused."""
        messages = [item for item in items if isinstance(item, Event) and item.traffic in DURABLE]
        taken = line.feed_all(messages)
        others = len(items) - len(messages)
        reasons = [one.text for one in taken.refused] or [f"{self._name} is not here, and only messages are kept"] * others
        self.sent = Sent(
            accepted=self.sent.accepted + taken.accepted,
            refused=self.sent.refused + len(taken.refused) + others,
            refusal=self.sent.refusal or (reasons[0] if reasons else ""),
        )


def _say_where(line: "Tocsin", name: str) -> None:
    if line.records.living_owner(name) is None:
        complain(kept_for(name))

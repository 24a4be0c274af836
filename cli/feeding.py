"""Feeding: one feed of a stream, from its first byte until everything was accepted, with its count."""

from contextlib import aclosing
from pathlib import Path
from typing import Final

import anyio

from ..contracts.errors import NotRunning
from ..contracts.events import Event
from ..edges.clock import SteadyClock
from ..edges.server.directory import Address
from ..edges.server.feeder import Feeder, Sent
from .piped import EveryLine, JsonLines, Kind, followed, piped
from .words import complain, one_line, plural

GONE_FOR: Final = 10.0
"""Seconds that the recipient may be gone before the feed is given up."""
STDIN: Final = 0
_LOOK: Final = 0.5


class Feeding:
    """One feed, from its first byte until everything was accepted."""

    def __init__(self, address: Address, kind: Kind, follow: Path | None) -> None:
        self._address = address
        self._kind = kind
        self._follow = follow
        self.sent = Sent()

    @property
    def bad(self) -> int:
        """Lines that could not be understood."""
        return bad_lines(self._kind)

    def run(self) -> None:
        """Feed to the end. Raises ``NotRunning`` if the recipient ends and does not come back."""
        anyio.run(self._carry)

    async def _carry(self) -> None:
        feeder = Feeder(self._address.path)
        clock = SteadyClock()
        source = followed(self._follow, self._kind, clock) if self._follow else piped(STDIN, self._kind, clock)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(feeder.run)
                tasks.start_soon(self._give_up, feeder)
                async with aclosing(source):
                    async for found in source:
                        await feeder.send(found)
                await feeder.drained()
                tasks.cancel_scope.cancel()
        finally:
            self.sent = feeder.sent

    async def _give_up(self, feeder: Feeder) -> None:
        """A recipient that ended must not keep a pipe for ever."""
        gone_since: float | None = None
        while True:
            await anyio.sleep(_LOOK)
            if feeder.connected or feeder.idle:
                gone_since = None
                continue
            gone_since = gone_since or anyio.current_time()
            if anyio.current_time() - gone_since >= GONE_FOR:
                raise NotRunning(f"{self._address.name!r} has ended and did not come back")


def bad_lines(kind: Kind) -> int:
    """Lines of a stream that were to be JSON and could not be understood."""
    return kind.bad if isinstance(kind, JsonLines) else 0


def summary(name: str, sent: Sent, bad: int) -> str:
    """What became of everything, in one line."""
    facts = f" and {plural(sent.facts, 'signal')}" if sent.facts else ""
    parts = [f"{plural(sent.accepted, 'event')}{facts} accepted by {name}"]
    if sent.refused:
        parts.append(f"{sent.refused} refused ({one_line(sent.refusal)})")
    if bad:
        parts.append(f"{plural(bad, 'bad line')}")
    if sent.waiting:
        parts.append(f"{sent.waiting} not taken")
    return ", ".join(parts)


def kind_of(pattern: Event, rules: tuple[Path, ...], *, jsonl: bool, everything: bool) -> Kind:
    """How the stream is read: ``pattern`` says what its events have in common."""
    if jsonl:
        return JsonLines(pattern.to or "", complain)
    if everything:
        return EveryLine(pattern)
    from ..edges.sources.reader import Reader
    from ..edges.sources.rules import Catalogue

    return Reader(Catalogue.load(rules), scope=pattern.scope, to=pattern.to, source=pattern.source)

"""Trace: what a reader did with each line, for people who want to know why."""

from typing import Protocol

from ...contracts.events import Event
from ...contracts.signals import Signal
from .rules import Match


class Trace(Protocol):
    """Told by a reader, line by line. A line of which nothing is told held no word that a rule needs."""

    def opened(self, block: int, match: Match) -> None:
        """The line began a block."""
        ...

    def joined(self, block: int) -> None:
        """The line belongs to a block."""
        ...

    def waits(self, block: int) -> None:
        """The next line will say whether the line belongs to a block."""
        ...

    def returned(self, block: int, lines: int) -> None:
        """The last lines that waited do not belong to it; each is read again, in order."""
        ...

    def again(self, more: bool) -> None:
        """What is told next is about the next of the returned lines; with False, about the present line."""
        ...

    def signalled(self, match: Match, signal: Signal | None) -> None:
        """The line gave a signal, or is known to mean nothing."""
        ...

    def told(self, block: int, event: Event) -> None:
        """A block gave an event."""
        ...

    def withheld(self, block: int, key: str) -> None:
        """A block says of a failing test what another block says, too: that one's event, or one at the end, is told."""
        ...

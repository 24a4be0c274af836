"""Ports: the few shapes through which the line meets the world."""

from typing import Protocol, runtime_checkable

from .base import Instant
from .deliveries import Delivery, Receipt


class Clock(Protocol):
    """The only reader of time."""

    def now(self) -> Instant:
        """The present moment; it never goes back while the process lives."""
        ...


class Ids(Protocol):
    """The only source of chance in names."""

    def new(self) -> str:
        """An id that no other call, here or elsewhere, returns; ids of one process sort by age."""
        ...


@runtime_checkable
class Sink(Protocol):
    """Writes what the line released, and decides nothing. Calls for one lane never overlap."""

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Write it whole, or raise ``SinkBusy`` (tried again later) or ``SinkGone`` (never again)."""
        ...


@runtime_checkable
class Shelf(Protocol):
    """A sink that answers at once and never blocks (memory, a queue): it is called on the stage thread itself."""

    def put(self, delivery: Delivery) -> Receipt:
        """Take it whole, or raise ``SinkBusy`` or ``SinkGone``."""
        ...

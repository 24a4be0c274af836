"""Remembering: a line's memory, opened: the store where it is, this process as an owner, and the question who else lives."""

from collections.abc import Callable
from pathlib import Path

from ..actors.memory import Memory
from ..contracts.ports import Clock
from .ids import RandomIds
from .liveness import is_alive, this_owner
from .store_place import open_store


def open_memory(path: Path, clock: Clock, socket: str, warn: Callable[[str], None]) -> Memory | None:
    """The memory in ``path``; none if that file can't be used, which ``warn`` is told.

    ``socket`` is where other processes can say that they have committed something; empty if nowhere.
    """
    store = open_store(path, clock, warn)
    if store is None:
        return None
    owner = this_owner(RandomIds(clock).new(), socket)
    return Memory(store, owner, clock, alive=is_alive(clock.now), warn=warn)

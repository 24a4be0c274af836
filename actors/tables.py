"""Tables: how the queue's database is asked and changed, one transaction each, opened when it is needed first."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from ..contracts.base import Instant
from ..contracts.recipients import Owner
from ..store.engine import Store, Transaction, View

T = TypeVar("T")
Alive = Callable[[Owner, Instant], bool]
"""Whether the owner of a lane still lives, given when it last said so."""


class Tables(Protocol):
    """What answers questions about the queue's database and changes it, a transaction each."""

    @property
    def path(self) -> str: ...
    def query(self, call: Callable[[View], T]) -> T: ...
    def change(self, call: Callable[[Transaction], T]) -> T: ...


class Direct:
    """A database used by one thread, opened when it is needed first."""

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open = open_store
        self._store: Store | None = None

    @property
    def path(self) -> str:
        """The database file."""
        return str(self._there().path)

    def query(self, call: Callable[[View], T]) -> T:
        """Ask, in one snapshot."""
        with self._there().read() as view:
            return call(view)

    def change(self, call: Callable[[Transaction], T]) -> T:
        """Change, in one transaction that holds the write lock from its beginning. Raises ``StoreBusy``."""
        with self._there().write() as tx:
            return call(tx)

    def close(self) -> None:
        """Let go of the file."""
        if self._store is not None:
            self._store.close()

    def _there(self) -> Store:
        if self._store is None:
            self._store = self._open()
        return self._store

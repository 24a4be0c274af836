"""Opened: the records of a database for a program that has no line, asked by the one thread that opened it."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ..actors.absent import rearm_absent
from ..contracts.durable import Rearmed
from ..contracts.errors import NameTaken
from ..contracts.ports import Clock
from ..contracts.recipients import Owner
from ..store.engine import Store, Transaction, View
from .ids import RandomIds
from .liveness import is_alive, this_owner
from .records import Records
from .store_place import open_store

T = TypeVar("T")


@contextmanager
def opened(path: Path, clock: Clock, warn: Callable[[str], None]) -> Iterator[Records]:
    """The records in ``path`` for as long as they are needed. A damaged file is set aside first, and ``warn`` is told.

    Raises ``StoreUnusable`` and its kinds: whoever asks a store that can't be used must not go on as if it were empty.
    """
    store = open_sound(path, clock, warn)
    try:
        yield Records(_Direct(store, clock), clock)
    finally:
        store.close()


def open_sound(path: Path, clock: Clock, warn: Callable[[str], None]) -> Store:
    """The store, or as an error why there is none. A damaged file is set aside first, and ``warn`` is told."""
    said: list[str] = []
    store = open_store(path, clock, said.append)
    if store is None:  # the same question again, for its answer: an error, unless the trouble has passed
        return Store.open(path, now=clock.now())
    for text in said:
        warn(text)
    return store


class _Direct:
    """The store without a line: each call is a transaction of its own."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock

    @property
    def path(self) -> str:
        return str(self._store.path)

    def query(self, call: Callable[[View], T]) -> T:
        with self._store.read() as view:
            return call(view)

    def change(self, call: Callable[[Transaction], T]) -> T:
        with self._store.write() as tx:
            return call(tx)

    def change_of(self, names: Collection[str], call: Callable[[Transaction], T]) -> T:
        """As ``change``: no lane is here that would have to know of it."""
        return self.change(call)

    def rearm(self, name: str, kind: str, cleared: Callable[[str, tuple[str, ...]], bool]) -> Rearmed:
        owner, alive = this_owner(RandomIds(self._clock).new()), is_alive(self._clock.now)
        answer = self.change(lambda tx: rearm_absent(tx, name, kind, cleared, owner=owner, alive=alive, now=self._clock.now()))
        if isinstance(answer, Owner):
            raise NameTaken(f"another process (pid {answer.pid}) delivers to {name!r}: ask that one")
        return answer

    def look(self) -> None:
        """No lane is here that anything could come for; who owns one sees by itself what was committed."""

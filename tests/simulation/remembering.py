"""Remembering: a line with a real database, stepped by hand, that can die at any point between two steps and start again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pykka

from tocsin.actors.memory import Memory
from tocsin.actors.tree import Tree
from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.contracts.recipients import Owner, Recipient
from tocsin.pipeline.roster import Settings
from tocsin.store.engine import Store

START = 1_700_049_600_000


class Killed(BaseException):
    """The process is dead: nobody catches this."""


class Fate:
    """Counts the points at which a process may die, and lets it die at one of them."""

    def __init__(self, die_at: int | None = None) -> None:
        self.die_at = die_at
        self.point = 0
        self.where = ""

    def pass_by(self, where: str) -> None:
        self.point += 1
        if self.point == self.die_at:
            self.where = where
            raise Killed(where)


class MortalStore:
    """A real store whose process may die before a transaction, before its commit, or right after it."""

    def __init__(self, store: Store, fate: Fate) -> None:
        self._store, self._fate = store, fate
        self.path = store.path
        self.read, self.data_version, self.close = store.read, store.data_version, store.close
        self.replaced = None

    @contextmanager
    def write(self) -> Iterator[object]:
        self._fate.pass_by("before a transaction")
        with self._store.write() as tx:
            yield tx
            self._fate.pass_by("before a commit")
        self._fate.pass_by("after a commit")


class Reader:
    """A recipient that outlives the processes: what it was given, and in which order."""

    def __init__(self) -> None:
        self.got: list[Delivery] = []

    def ids(self) -> list[str]:
        return [entry.id for delivery in self.got for entry in delivery.entries]


class Life:
    """One process: it opens the database, delivers to ``reader``, and dies when its fate says so."""

    def __init__(self, path: Path, reader: Reader, fate: Fate, number: int, at: int = START) -> None:
        self.t = at
        self._reader, self._fate = reader, fate
        self.tree = Tree(Settings(), self, NoCourier(), run=f"r{number}")
        store = MortalStore(Store.open(path, now=Instant(at)), fate)
        owner = Owner(token=f"life-{number}", pid=number, started="x", host="here")
        self.memory = Memory(
            store,  # type: ignore[arg-type]
            owner,
            self,
            alive=lambda *_: False,
            warn=lambda _: None,
            dispatcher=self.tree.dispatcher,
        )
        self.memory.connect(self.tree, lambda _: None)
        self.store = store

    def now(self) -> Instant:
        return Instant(self.t)

    def open(self, name: str = "dev") -> None:
        taken = self.memory.take(Recipient(name=name))
        self.tree.open_lane(LaneSpec(name=name), self)
        self.tree.seed(name, taken.announced)
        self.memory.begin(name)

    def put(self, delivery: Delivery) -> Receipt:
        self._fate.pass_by("before the sink")
        self._reader.got.append(delivery)
        self._fate.pass_by("after the sink")
        return Receipt(proof=Proof.SUBMITTED)

    def feed(self, event: Event, id: str) -> str:
        """Answers when it is committed, with its id."""
        [answer] = self.memory.accept([(event, event.to or "dev", id)]).answers
        if isinstance(answer, Exception):
            raise answer
        return answer.id

    def pass_time(self, millis: int) -> None:
        end = self.t + millis
        self.tree.dispatcher.run_until_idle()
        while (due := self.tree.dispatcher.next_due()) is not None and due <= end:
            self.t = max(self.t, due)
            self.tree.dispatcher.run_until_idle()
        self.t = end
        self.tree.dispatcher.run_until_idle()

    def bury(self) -> None:
        """The system closes what the dead process had open; nothing more is written."""
        self.store.close()
        for ref in pykka.ActorRegistry.get_all():
            pykka.ActorRegistry.unregister(ref)


class NoCourier:
    def carry(self, sink: object, delivery: Delivery, done: Callable[[object], None]) -> None:
        raise AssertionError("every sink here answers at once")


def words(traffic: str, text: str, **fields: object) -> Event:
    return msgspec.convert({"text": text, "to": "dev", "traffic": traffic, **fields}, Event)

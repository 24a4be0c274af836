"""Attending world: one database, two connections to it, a clock that jumps, crashes; and a guard around every transaction."""

import runpy
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tocsin.contracts.attention_answers import Receipt, Refusal
from tocsin.contracts.attention_facts import Operator

attending = runpy.run_path(str(Path(__file__).parent.parent / "store" / "attending.py"))
Desk, MINUTE = attending["Desk"], attending["MINUTE"]
Model = runpy.run_path(str(Path(__file__).parent / "attending_model.py"))["Model"]

DAY = 24 * 60


class Crash(BaseException):
    """The process ends here."""


def crash_if(here: bool) -> None:
    if here:
        raise Crash


class Isolation:
    """I12: within a transaction nothing is asked of a network, a process or a file but the database. An audit hook watches."""

    OUTSIDE = (
        "socket.",
        "subprocess.",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.fork",
        "urllib.",
        "http.",
        "ftplib.",
        "open",
    )

    def __init__(self) -> None:
        self.depth = 0
        self.seen: list[str] = []
        sys.addaudithook(self._watch)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.depth or not event.startswith(self.OUTSIDE):
            return
        # What is imported where it is needed first is read from a file too.
        if event == "open" and str(arguments[0]).endswith((".py", ".pyc", ".so")):
            return
        self.seen.append(f"{event} {arguments!r}")


ISOLATION = Isolation()


class World(RuleBasedStateMachine):
    """The database under test, and beside it the model: item id → what must be true of it."""

    isolation = ISOLATION

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "tocsin.db"
        self.desks = [Desk(path), Desk(path)]
        self.model = Model()
        self.model.now = self.desks[0].now
        self.answered: dict[str, tuple[Any, Any, bytes]] = {}
        self.events: list[Any] = []
        self.isolation.seen.clear()

    def teardown(self) -> None:
        for desk in self.desks:
            desk.store.close()
        self.folder.cleanup()

    @property
    def now(self) -> int:
        return int(self.desks[0].now)

    def change(self, which: int, call: Any, crash: bool = False) -> Any:
        """One transaction, which may end before its commit. Raises ``Crash``."""
        with self.desks[which].store.write() as tx:
            with self.isolation.transaction():
                answer = call(tx)
            crash_if(crash)
        return answer

    def ask(self, principal: Any, which: int, crash: bool, action: str, enrolment: Any = None, **payload: Any) -> Any:
        """One command; its receipt or refusal, or none if the process died before the commit."""
        desk = self.desks[which]
        request = desk.request(action, payload)
        if isinstance(request, Refusal):
            return request
        before, active = self.dump(desk), self.stored_active()
        try:
            answer = self.change(which, lambda tx: desk.run(tx, request, principal, enrolment), crash)
        except Crash:
            assert self.dump(desk) == before, "I03: what was not committed left no trace"
            return None
        if isinstance(answer, Refusal):
            assert self.dump(desk) == before, "I05: a refusal changes nothing"
        else:
            assert isinstance(answer, Receipt)
            assert not answer.replayed
            self.answered[answer.command_id] = (request, principal, msgspec.json.encode(answer), enrolment)
        if not isinstance(principal, Operator):
            assert self.stored_active() == active, "I02: only the person changes what they work on"
        return answer

    def dump(self, desk: Any) -> Any:
        """Everything that is stored; nothing before the first command."""
        return desk.dump() if self.tables() else {}

    def query(self, sql: str, *values: Any) -> list[Any]:
        with self.desks[0].store.read() as view:
            return view.rows(sql, values)

    def tables(self) -> bool:
        return bool(self.query("SELECT 1 FROM sqlite_master WHERE name = 'attention_items'"))

    def stored_active(self) -> int | None:
        if not self.tables():
            return None
        found = self.query("SELECT item_id FROM attention_items WHERE state = 'active'")
        return found[0][0] if found else None

    # What happens to any program

    @rule(minutes=st.sampled_from([-200, -1, 1, 1, 31, 91, 1_000, 3 * DAY, 40 * DAY]))
    def time_passes(self, minutes: int) -> None:
        for desk in self.desks:
            desk.later(minutes * MINUTE)
        self.model.now = self.desks[0].now

"""Attending: a real database with the attention queue, a clock that is set by hand, and short words for long commands."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tocsin.contracts.attention_answers import Receipt, Refusal
from tocsin.contracts.attention_facts import Edge, Enrolment, Operator, Policy, Principal, Request, Seat
from tocsin.contracts.attention_items import EventKind
from tocsin.contracts.attention_pages import Shown
from tocsin.contracts.base import Instant
from tocsin.pipeline.attention_decide import decide
from tocsin.pipeline.attention_requests import read_command
from tocsin.store import attention, attention_reads, attention_sources
from tocsin.store.engine import Store, Transaction

NOW = Instant(1_796_055_300_000)  # 2026-11-30T16:15:00Z
MINUTE = 60_000
BROKER = "5f0c0f5e-0000-4000-8000-000000000001"
HUMAN = "hakon"
PERSON = Operator()


def command_id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def envelope(action: str, id: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"schema_version": 1, "command_id": id, "action": action, "payload": payload}


def packet(key: str = "k", **changes: Any) -> dict[str, Any]:
    """A packet as a producer writes it."""
    return {
        "human_id": HUMAN,
        "project_id": "film",
        "work_id": "likeness-2",
        "intervention_key": key,
        "kind": "selection",
        "title": f"Choose the render {key}",
        "requested_action": "Select candidate A, B, C or D.",
        "context": "Round 2. Same lighting and composition.",
        "unblocks": "The next batch.",
        **changes,
    }


class Desk:
    """One process at one database."""

    ids = count(1)

    def __init__(self, path: Path, *, policy: Policy | None = None, broker: str = BROKER) -> None:
        self.path, self.broker = path, broker
        self.policy = policy or Policy(human_id=HUMAN)
        self.store = Store.open(path, now=NOW)
        self.now = NOW

    def reopen(self) -> None:
        self.store.close()
        self.store = Store.open(self.path, now=self.now)

    def later(self, millis: int) -> None:
        self.now = Instant(self.now + millis)

    def request(self, action: str, payload: dict[str, Any], id: str | None = None) -> Request | Refusal:
        id = command_id(next(self.ids)) if id is None else id
        return read_command(json.dumps(envelope(action, id, payload)).encode())

    def run(
        self, tx: Transaction, request: Request, principal: Principal = PERSON, enrolment: Enrolment | None = None
    ) -> Receipt | Refusal:
        return attention.execute(
            tx,
            request,
            principal=principal,
            now=self.now,
            policy=self.policy,
            broker_uuid=self.broker,
            decide=decide,
            enrolment=enrolment,
        )

    def ask(
        self,
        action: str,
        principal: Principal = PERSON,
        *,
        id: str | None = None,
        enrolment: Enrolment | None = None,
        **payload: Any,
    ) -> Receipt | Refusal:
        """One command, committed."""
        request = self.request(action, payload, id)
        if isinstance(request, Refusal):
            return request
        with self.store.write() as tx:
            return self.run(tx, request, principal, enrolment)

    def do(self, action: str, principal: Principal = PERSON, **payload: Any) -> Receipt:
        """One command that is carried out."""
        answer = self.ask(action, principal, **payload)
        assert isinstance(answer, Receipt), answer
        return answer

    def no(self, action: str, principal: Principal = PERSON, **payload: Any) -> Refusal:
        """One command that is refused."""
        answer = self.ask(action, principal, **payload)
        assert isinstance(answer, Refusal), answer
        return answer

    def bind(self, source_id: str = "s1", mode: str = "actor_context", **changes: Any) -> Seat:
        """A seat of the actor ``ariadne``, bound to the work of ``packet()``."""
        seen = {"actor": "ariadne", "edge": "mac", "provenance": "operator_binding", **changes}
        work = {name: seen.pop(name, packet()[name]) for name in ("project_id", "work_id")}
        by_hand = seen["provenance"] == "operator_binding"
        enrolment = Enrolment(source_id=source_id, handle_hash=handle(source_id), **seen)
        self.do("source_bind", PERSON if by_hand else Edge(edge_id="mac"), enrolment=enrolment, return_mode=mode, **work)
        with self.store.read() as view:
            seat = attention_sources.seat_of(view, handle(source_id), self.broker)
        assert isinstance(seat, Seat)
        return seat

    def next(self, **payload: Any) -> Receipt:
        return self.do("next", human_id=HUMAN, **payload)

    def shown(self, item_id: int) -> Shown:
        with self.store.read() as view:
            found = attention_reads.item(view, item_id, self.now)
        assert found is not None
        return found

    def revision(self, item_id: int) -> int:
        return self.shown(item_id).item.revision

    def line(self) -> list[int]:
        """Ids of the items that wait, in their order."""
        with self.store.read() as view:
            page = attention_reads.queue(view, HUMAN, self.now, states=("queued",), limit=100)
        return [item.item_id for item in page.items]

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything that is stored."""
        tables = ("items", "events", "commands", "returns", "sources", "source_handles", "schema")
        with self.store.read() as view:
            return {table: view.rows(f"SELECT * FROM attention_{table} ORDER BY rowid") for table in tables}


def handle(source_id: str) -> str:
    return source_id.encode().hex().ljust(64, "0")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "tocsin.db")
    yield desk
    desk.store.close()


def kinds(desk: Desk, item_id: int) -> list[EventKind]:
    """What happened to an item, in order."""
    with desk.store.read() as view:
        return [event.kind for event in attention_reads.history(view, item_id, desk.now, limit=100).events]


def resolve(desk: Desk, item_id: int, **more: Any) -> Any:
    """The person answers it as it is now."""
    revision = desk.revision(item_id)
    return desk.do("resolve", item_id=item_id, expected_revision=revision, outcome="selected", response="C", **more)

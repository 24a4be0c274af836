"""Summoned: one database with a bound source, opened as the command line opens it, and the commands that go to it."""

import json
import os
import runpy
from pathlib import Path
from typing import Any

import pytest

from tocsin.contracts.attention_answers import Receipt, Refusal
from tocsin.contracts.attention_facts import Policy
from tocsin.contracts.recipients import Recipient
from tocsin.edges.attention.desk import ByHand, attention
from tocsin.edges.attention.names import uuid
from tocsin.edges.clock import SteadyClock
from tocsin.edges.opened import opened

attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
packet = attending["packet"]
CLOCK = SteadyClock()
POLICY = Policy(human_id="hakon")


class Place:
    """The database, and everything about it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path, self.state, self.source = root / "tocsin.db", root / "state", root / "source.json"
        with opened(self.path, CLOCK, print) as records:
            records.register(Recipient(name="dev"))
        with self.desk() as desk:
            done(desk.bind("film", "likeness-2", mode="actor_context", out=self.source, evidence=ByHand(actor="dev")))

    def desk(self) -> Any:
        return attention(self.path, state=self.state, clock=CLOCK, policy=POLICY, warn=print)

    def summoned(self, *keys: str) -> None:
        with self.desk() as desk:
            for key in keys:
                done(desk.act(command("summon", **packet(key)), desk.seat(self.source)))


def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a session around the tests has set counts."""
    for name in [name for name in os.environ if name.startswith("TOCSIN_")]:
        monkeypatch.delenv(name)


def command(action: str, **payload: Any) -> bytes:
    return json.dumps(attending["envelope"](action, uuid(CLOCK), payload)).encode()


def done(answer: Receipt | Refusal) -> Receipt:
    assert isinstance(answer, Receipt), answer
    return answer


def resolve(item_id: int, revision: int = 2, **more: Any) -> bytes:
    payload = {"item_id": item_id, "expected_revision": revision, "outcome": "selected", "response": "Take C.", **more}
    return command("resolve", **payload)

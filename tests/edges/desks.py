"""Desks: a database with a recipient, a person's state directory, and desks of the attention queue over them, for its tests."""

import json
import os
import runpy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tocsin.contracts.attention_answers import Code, Receipt, Refusal
from tocsin.contracts.attention_facts import Policy
from tocsin.contracts.base import Instant
from tocsin.contracts.recipients import Recipient
from tocsin.edges.attention.desk import AttentionDesk, ByHand, attention
from tocsin.edges.attention.names import uuid
from tocsin.edges.clock import SteadyClock
from tocsin.edges.opened import opened
from tocsin.store.engine import Store

attending = runpy.run_path(str(Path(__file__).parents[1] / "store" / "attending.py"))
packet = attending["packet"]
HUMAN = attending["HUMAN"]
CLOCK = SteadyClock()


class Place:
    """A database, a person's state directory, and desks over them."""

    def __init__(self, root: Path, desks: ExitStack) -> None:
        self.root, self.path, self.state = root, root / "tocsin.db", root / "state"
        self._desks = desks
        with opened(self.path, CLOCK, print) as records:
            records.register(Recipient(name="ariadne", provider="claude"))

    def desk(self, state: Path | None = None, *, path: Path | None = None, **policy: Any) -> AttentionDesk:
        chosen = Policy(human_id=HUMAN, **policy)
        where = state or self.state
        return self._desks.enter_context(attention(path or self.path, state=where, clock=CLOCK, policy=chosen, warn=print))

    def by_hand(self, desk: AttentionDesk, name: str = "source.json", **more: Any) -> Receipt:
        answer = desk.bind("film", "likeness-2", **self.binding(name, **more))
        assert isinstance(answer, Receipt), answer
        return answer

    def binding(self, name: str = "source.json", **more: Any) -> dict[str, Any]:
        return {"mode": "actor_context", "out": self.root / name, "evidence": ByHand(actor="ariadne"), **more}


@contextmanager
def made(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A place of its own, in an environment that says nothing."""
    for name in [name for name in os.environ if name.startswith("TOCSIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TOCSIN_RUNTIME_DIR", str(root / "run"))
    with ExitStack() as desks:
        yield Place(root, desks)


def command(action: str, **payload: Any) -> bytes:
    return json.dumps(attending["envelope"](action, uuid(CLOCK), payload)).encode()


def done(answer: Receipt | Refusal) -> Receipt:
    assert isinstance(answer, Receipt), answer
    return answer


def refused(answer: Receipt | Refusal) -> Code:
    assert isinstance(answer, Refusal), answer
    return answer.code


@contextmanager
def no_post(place: Place) -> Iterator[None]:
    """Nothing can be handed to the line for a while."""
    store = Store.open(place.path, now=Instant(0))
    with store.write() as tx:
        tx.execute("CREATE TRIGGER no_post BEFORE INSERT ON notices BEGIN SELECT RAISE(ABORT, 'no post today'); END")
    yield
    with store.write() as tx:
        tx.execute("DROP TRIGGER no_post")
    store.close()

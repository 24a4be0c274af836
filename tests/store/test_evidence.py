"""Evidence: what was told is judged by when it was told, what waits by when it was accepted; the unknown proves nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Delivery, Entry
from tocsin.contracts.durable import Announced, State, Stored
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Session
from tocsin.store import inbox, intake, recipients
from tocsin.store.engine import Store, Transaction
from tocsin.store.evidence import Evidence

NOW = Instant(1_000)


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[Transaction]:
    store = Store.open(tmp_path / "tocsin.db", now=NOW)
    with store.write() as tx:
        yield tx
    store.close()


def told(key: str, cleared_when: str, *ctx: str, at: int = 2_000) -> Announced:
    return Announced(recipient="a", signature=key, at=Instant(at), ctx=ctx, cleared_when=cleared_when)


def waiting(tx: Transaction, id: str, cleared_when: str, *ctx: str, key: str = "mine:k", at: int = 2_000) -> Stored:
    event = Event(text="t", traffic="notice", key=key, ctx=ctx, cleared_when=cleared_when)
    intake.accept(tx, event, recipient="a", id=id, at=Instant(at))
    return intake.find(tx, id)[0]


def mail(tx: Transaction, id: str, *, recipient: str = "a") -> None:
    intake.accept(tx, Event(text="t", traffic="mail"), recipient=recipient, id=id, at=NOW)


def ended(tx: Transaction, id: str, *, recipient: str = "a") -> None:
    intake.end(tx, [(State.PROCESSED, "deliver", "", id, recipient)], NOW)


def in_the_box(tx: Transaction, id: str) -> int:
    entry = Entry(
        id=id, fingerprint="", traffic="mail", severity="info", source="", scope="", text="", count=1, first_at=NOW, last_at=NOW
    )
    return inbox.put(tx, Delivery(id=f"d-{id}", lane="a", at=NOW, text="", entries=(entry,)), NOW)


def test_read_is_what_was_accepted_here_and_neither_waits_nor_lies_unread(tx: Transaction) -> None:
    one = told("heartbeat:actionable:1", "read", "m1", "m2")
    assert not Evidence(tx, "a").is_over(one), "nothing is known of either"
    mail(tx, "m1")
    mail(tx, "m2")
    assert not Evidence(tx, "a").is_over(one)
    ended(tx, "m1")
    ended(tx, "m2")
    cursor = in_the_box(tx, "m2")
    assert not Evidence(tx, "a").is_over(one)
    inbox.ack(tx, "a", cursor, NOW)
    assert Evidence(tx, "a").is_over(one)
    assert Evidence(tx, "a").is_stale(waiting(tx, "n1", "read", "m1", "m2"))
    assert Evidence(tx, "a").over([one, told("x:y", "")]) == [one.signature]


def test_one_unknown_id_among_known_ones_and_none_at_all_prove_nothing(tx: Transaction) -> None:
    mail(tx, "m1")
    ended(tx, "m1")
    mail(tx, "m2", recipient="b")
    ended(tx, "m2", recipient="b")
    for ids in (("m1", "m2"), ("m1", "foreign"), ()):
        assert not Evidence(tx, "a").is_over(told("heartbeat:actionable:1", "read", *ids))
        assert not Evidence(tx, "a").is_stale(waiting(tx, f"n{ids}", "read", *ids))


def test_drained_counts_what_was_told_of_that_kind_and_not_what_waits(tx: Transaction) -> None:
    one = told("heartbeat:quiet", "drained")
    new = waiting(tx, "n2", "drained", key="heartbeat:quiet")
    assert Evidence(tx, "a").is_over(one)
    assert not Evidence(tx, "a").is_stale(new)
    waiting(tx, "n1", "read", "m1", key="heartbeat:actionable:1")
    ended(tx, "n1")
    cursor = in_the_box(tx, "n1")
    assert not Evidence(tx, "a").is_over(one)
    assert Evidence(tx, "a").is_over(told("evaluation:x", "drained"))
    inbox.ack(tx, "a", cursor, NOW)
    assert Evidence(tx, "a").is_over(one)


@pytest.mark.parametrize(("at", "over"), [(2_999, True), (3_000, False), (3_001, False)])
def test_a_start_ends_what_is_older_than_it(tx: Transaction, at: int, over: bool) -> None:
    recipients.begin_session(tx, Session(id="s", recipient="w9", started_at=Instant(3_000)))
    assert Evidence(tx, "a").is_over(told("worker:preserved:w9", "started", "w9", at=at)) is over
    assert Evidence(tx, "a").is_stale(waiting(tx, "n1", "started", "w9", at=at)) is over
    assert not Evidence(tx, "a").is_over(told("worker:preserved:w8", "started", "w8", at=at))

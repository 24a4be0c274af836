"""Owners, recipients, sessions, waits: who may deliver, who lives, who waits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tocsin.contracts.base import Instant
from tocsin.contracts.errors import BadInput, NotOwner
from tocsin.contracts.recipients import Owner, Recipient, Session
from tocsin.contracts.waits import WaitState
from tocsin.store import owners, recipients, waits
from tocsin.store.engine import Store, Transaction

NOW, LATER = Instant(1_000), Instant(2_000)
FIRST = Owner(token="one", pid=10, started="10:100", host="box", socket="/run/one")
SECOND = Owner(token="two", pid=20, started="20:200", host="box")


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[Transaction]:
    store = Store.open(tmp_path / "tocsin.db", now=NOW)
    with store.write() as tx:
        yield tx
    store.close()


def never_asked(owner: Owner, beat: Instant) -> bool:
    raise AssertionError(f"{owner} asked at {beat}")


def test_the_first_process_takes_a_recipient_and_keeps_it(tx: Transaction) -> None:
    assert owners.owner_of(tx, "a") is None
    assert owners.take(tx, "a", FIRST, NOW, alive=never_asked) is None
    assert owners.take(tx, "a", FIRST, LATER, alive=never_asked) is None
    assert owners.owner_of(tx, "a") == (FIRST, LATER)


def test_an_owner_that_lives_keeps_its_recipient_and_one_that_does_not_loses_it(tx: Transaction) -> None:
    owners.take(tx, "a", FIRST, NOW, alive=never_asked)
    asked: list[tuple[Owner, Instant]] = []

    def alive(owner: Owner, beat: Instant) -> bool:
        asked.append((owner, beat))
        return len(asked) == 1

    assert owners.take(tx, "a", SECOND, LATER, alive=alive) == FIRST
    assert owners.owner_of(tx, "a") == (FIRST, NOW)
    assert owners.take(tx, "a", SECOND, LATER, alive=alive) is None
    assert owners.owner_of(tx, "a") == (SECOND, LATER)
    assert asked == [(FIRST, NOW)] * 2


def test_what_an_older_owner_writes_is_refused(tx: Transaction) -> None:
    owners.take(tx, "a", FIRST, NOW, alive=never_asked)
    owners.check(tx, "one", "a")
    owners.take(tx, "a", SECOND, LATER, alive=lambda *_: False)
    for token, recipient in (("one", "a"), ("two", "b"), ("", "a")):
        with pytest.raises(NotOwner, match=recipient):
            owners.check(tx, token, recipient)
    owners.check(tx, "two", "a")


def test_a_beat_is_for_all_that_an_owner_has_and_a_return_for_what_it_names(tx: Transaction) -> None:
    for recipient, owner in (("a", FIRST), ("b", FIRST), ("c", SECOND)):
        owners.take(tx, recipient, owner, NOW, alive=never_asked)
    assert owners.beat(tx, "one", LATER) == 2
    found = [owners.owner_of(tx, name) for name in "abc"]
    assert [owner and owner[1] for owner in found] == [LATER, LATER, NOW]
    assert owners.give_back(tx, "one", "c") == 0
    assert owners.give_back(tx, "one", "a") == 1
    assert owners.give_back(tx, "one") == 1
    assert [owners.owner_of(tx, name) for name in "abc"] == [None, None, (SECOND, NOW)]
    assert owners.beat(tx, "one", LATER) == 0


def test_a_name_keeps_its_first_registration_over_death_and_return(tx: Transaction) -> None:
    first = Recipient(name="a", kind="worker", provider="claude", registered_at=NOW)
    assert recipients.register(tx, first) == replace(first, changed_at=NOW)
    assert recipients.archive(tx, "a", LATER)
    assert not recipients.archive(tx, "a", LATER)
    assert not recipients.archive(tx, "nobody", LATER)
    assert recipients.find(tx, "a") == replace(first, life="archived", changed_at=LATER)
    again = recipients.register(tx, Recipient(name="a", kind="agent", registered_at=Instant(3_000)))
    assert again == Recipient(name="a", kind="agent", registered_at=NOW, changed_at=Instant(3_000))
    assert recipients.find(tx, "a") == again
    assert recipients.find(tx, "nobody") is None
    with pytest.raises(BadInput):
        recipients.register(tx, Recipient(name=""))


def test_there_is_one_coordinator_at_most_and_only_another_takes_its_mark(tx: Transaction) -> None:
    assert recipients.coordinator(tx) == "god"
    recipients.register(tx, Recipient(name="a", coordinator=True, registered_at=NOW))
    assert recipients.coordinator(tx) == "a"
    assert recipients.register(tx, Recipient(name="a", registered_at=LATER)).coordinator
    recipients.register(tx, Recipient(name="b", coordinator=True, registered_at=LATER))
    assert [(who.name, who.coordinator) for who in recipients.every(tx)] == [("a", False), ("b", True)]


def test_dead_is_missing_or_archived_and_the_coordinator_never(tx: Transaction) -> None:
    recipients.register(tx, Recipient(name="a"))
    recipients.register(tx, Recipient(name="b"))
    recipients.register(tx, Recipient(name="boss", coordinator=True))
    assert [recipients.is_dead(tx, name) for name in ("a", "b", "boss", "god", "nobody")] == [False, False, False, False, True]
    for name in ("b", "boss"):
        recipients.archive(tx, name, LATER)
    recipients.register(tx, Recipient(name="god"))
    recipients.archive(tx, "god", LATER)
    assert [recipients.is_dead(tx, name) for name in ("a", "b", "boss", "god")] == [False, True, False, False]
    recipients.register(tx, Recipient(name="b"))
    assert not recipients.is_dead(tx, "b")


def test_sessions_are_shown_newest_first_and_end_once(tx: Transaction) -> None:
    kept = [
        Session(id=f"s{number}", recipient="a", pid=number, command=("claude", "-p", "é"), started_at=NOW)
        for number in range(3)
    ]
    for session in kept:
        recipients.begin_session(tx, session)
    recipients.begin_session(tx, Session(id="other", recipient="b"))
    assert recipients.end_session(tx, "s1", LATER)
    assert not recipients.end_session(tx, "s1", Instant(3_000))
    assert not recipients.end_session(tx, "unknown", LATER)
    assert recipients.sessions(tx, "a") == [kept[2], replace(kept[1], ended_at=LATER), kept[0]]
    assert recipients.sessions(tx, "a", limit=1) == [kept[2]]
    recipients.begin_session(tx, replace(kept[1], pid=99))
    assert recipients.sessions(tx, "a")[1] == replace(kept[1], pid=99)
    recipients.end_session(tx, "s0", LATER)
    assert recipients.prune(tx, Instant(LATER + 1)) == 1
    assert [session.id for session in recipients.sessions(tx, "a")] == ["s2", "s1"]


def test_a_wait_survives_until_it_is_replaced_or_forgotten(tx: Transaction) -> None:
    state = WaitState(turn=True, permission=True, question="AskUserQuestion", dismissed=True, tools=("t1", "t2"))
    assert waits.load(tx, "a") is None
    waits.save(tx, "a", state, NOW)
    waits.save(tx, "b", WaitState(), NOW)
    assert (waits.load(tx, "a"), waits.load(tx, "b")) == (state, WaitState())
    waits.save(tx, "a", WaitState(turn=True), LATER)
    assert waits.load(tx, "a") == WaitState(turn=True)
    waits.forget(tx, "a")
    assert waits.load(tx, "a") is None

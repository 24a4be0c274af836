"""Inbox: what lies in it is read behind a cursor, and only an acknowledgement makes it read."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Delivery, Entry, Proof
from tocsin.contracts.errors import BadInput
from tocsin.contracts.recipients import Owner
from tocsin.store import deliveries, inbox, owners
from tocsin.store.engine import Store, Transaction

NOW, LATER = Instant(1_000), Instant(2_000)


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[Transaction]:
    store = Store.open(tmp_path / "tocsin.db", now=NOW)
    with store.write() as tx:
        yield tx
    store.close()


def block(id: str, *entries: str, lane: str = "a") -> Delivery:
    told = [
        Entry(
            id=entry,
            fingerprint="f",
            traffic="mail",
            severity="info",
            source="mail",
            scope="",
            text="hello é",
            count=1,
            first_at=NOW,
            last_at=NOW,
        )
        for entry in entries
    ]
    return Delivery(id=id, lane=lane, at=NOW, text="text", entries=tuple(told), suppressed={"info": 2})


def test_blocks_are_pulled_in_order_behind_the_cursor_and_stay(tx: Transaction) -> None:
    blocks = [block(f"d{number}", f"m{number}") for number in range(3)]
    inbox.put(tx, block("elsewhere", lane="b"), NOW)
    cursors = [inbox.put(tx, each, NOW) for each in blocks]
    assert cursors == sorted(set(cursors))
    everything = list(zip(cursors, blocks, strict=True))
    assert inbox.pull(tx, "a", after=0, limit=10) == everything
    assert inbox.pull(tx, "a", after=0, limit=10) == everything == inbox.unread(tx, "a")
    assert inbox.pull(tx, "a", after=cursors[0], limit=1) == everything[1:2]
    assert inbox.pull(tx, "a", after=cursors[2], limit=1) == []
    assert inbox.pull(tx, "nobody", after=0, limit=10) == []


def test_the_same_block_again_keeps_its_cursor_and_its_newest_attempt(tx: Transaction) -> None:
    first = inbox.put(tx, block("d1"), NOW)
    second = inbox.put(tx, block("d2"), NOW)
    newer = replace(block("d1"), attempt=2, text="newer")
    assert inbox.put(tx, newer, LATER) == first
    assert inbox.put(tx, block("d1"), LATER) == first
    assert inbox.pull(tx, "a", after=0, limit=9) == [(first, newer), (second, block("d2"))]


def test_an_acknowledgement_makes_read_and_proves_seen(tx: Transaction) -> None:
    owners.take(tx, "a", Owner(token="t", pid=1, started="s", host="h"), NOW, alive=lambda *_: False)
    cursors = []
    for number in range(3):
        deliveries.dispatch(tx, block(f"d{number}", f"m{number}"), [f"m{number}"], token="t", at=NOW)
        cursors.append(inbox.put(tx, block(f"d{number}", f"m{number}", f"x{number}"), NOW))
    assert inbox.cursor(tx, "a") == 0
    assert inbox.unread_ids(tx, "a") == {"m0", "x0", "m1", "x1", "m2", "x2"}
    assert inbox.ack(tx, "a", cursors[1], LATER) == 2
    assert inbox.cursor(tx, "a") == cursors[1]
    assert inbox.unread_ids(tx, "a") == {"m2", "x2"}
    assert [cursor for cursor, _ in inbox.unread(tx, "a")] == cursors[2:]
    assert [deliveries.proofs(tx, f"d{number}") for number in range(3)] == [[(Proof.SEEN, LATER, "")]] * 2 + [[]]


def test_going_back_is_harmless_and_going_beyond_is_refused(tx: Transaction) -> None:
    with pytest.raises(BadInput, match="ends at cursor 0: 1"):
        inbox.ack(tx, "a", 1, NOW)
    last = [inbox.put(tx, block(f"d{number}"), NOW) for number in range(3)][-1]
    inbox.put(tx, block("elsewhere", lane="b"), NOW)
    with pytest.raises(BadInput, match=f"ends at cursor {last}"):
        inbox.ack(tx, "a", last + 1, NOW)
    with pytest.raises(BadInput):
        inbox.ack(tx, "a", 2**70, NOW)
    assert [inbox.ack(tx, "a", upto, NOW) for upto in (0, -1, last, last, last - 1, 0)] == [0, 0, 3, 0, 0, 0]
    assert inbox.cursor(tx, "a") == last


def test_a_repeat_of_a_read_block_stays_read(tx: Transaction) -> None:
    cursor = inbox.put(tx, block("d1", "m1"), NOW)
    inbox.ack(tx, "a", cursor, LATER)
    assert inbox.put(tx, replace(block("d1", "m1"), attempt=2), LATER) == cursor
    assert inbox.unread(tx, "a") == []


def test_pruning_takes_what_was_read_and_moves_no_cursor_back(tx: Transaction) -> None:
    first, second = inbox.put(tx, block("d1"), NOW), inbox.put(tx, block("d2"), NOW)
    inbox.ack(tx, "a", first, NOW)
    assert inbox.prune(tx, LATER) == 1
    assert (inbox.cursor(tx, "a"), inbox.ack(tx, "a", first, LATER)) == (first, 0)
    assert inbox.pull(tx, "a", after=0, limit=9) == [(second, block("d2"))]
    inbox.ack(tx, "a", second, NOW)
    inbox.prune(tx, LATER)
    assert inbox.ack(tx, "a", second, LATER) == 0
    assert inbox.put(tx, block("d3"), LATER) > second

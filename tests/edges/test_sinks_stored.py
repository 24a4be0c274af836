"""The stored inbox: every promise of a sink, what it laid down outlives its process, and a locked file is tried again."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from tocsin import SinkBusy, Tocsin
from tocsin.actors.memory import Memory
from tocsin.contracts.deliveries import Proof
from tocsin.contracts.recipients import Recipient
from tocsin.edges.clock import SteadyClock
from tocsin.edges.liveness import is_alive, this_owner
from tocsin.edges.opened import opened
from tocsin.edges.records import Records
from tocsin.edges.sinks.check import check_sink, delivery_of
from tocsin.edges.sinks.inbox import StoredInbox
from tocsin.store.engine import Store

CLOCK = SteadyClock()
READERS = ("check", "lane-0", "lane-1", "lane-2", "lane-3")


@pytest.fixture
def memories(tmp_path: Path) -> Iterator[Callable[[], Records]]:
    """Makes the records of a fresh store, which waits only shortly for others."""
    with ExitStack() as stack:
        number = iter(range(1_000))

        def make() -> Records:
            store = Store.open(tmp_path / f"{next(number)}.db", now=CLOCK.now(), patience=0.05)
            memory = Memory(store, this_owner("t"), CLOCK, alive=is_alive(CLOCK.now), warn=lambda _: None)
            memory.start()
            stack.callback(memory.stop, 5.0)
            return Records(memory, CLOCK)

        yield make


def test_the_stored_inbox_keeps_the_promises_of_a_sink(memories: Callable[[], Records]) -> None:
    made: dict[int, Records] = {}

    def make() -> StoredInbox:
        records = memories()
        sink = StoredInbox(records)
        made[id(sink)] = records
        kept.append(sink)
        return sink

    def read(sink: StoredInbox) -> list[str]:
        pulled = [one for name in READERS for one in made[id(sink)].pull(name)]
        return [delivery.text for _, delivery in sorted(pulled, key=lambda one: one[0])]

    def jam(sink: StoredInbox) -> Callable[[], object]:
        other = sqlite3.connect(made[id(sink)].path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        return other.close

    kept: list[StoredInbox] = []
    check_sink(make, read=read, repeats_are_harmless=True, jam=jam)
    assert len(kept) >= 6


def test_what_was_laid_down_is_there_for_another_process_and_its_receipt_says_where(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with opened(path, CLOCK, print) as records:
        receipt = anyio.run(StoredInbox(records).deliver, delivery_of("hello", 1, "dev"))
    assert (receipt.proof, receipt.note) == (Proof.RECORDED, "in the inbox, cursor 1")
    with opened(path, CLOCK, print) as records:
        assert [(cursor, delivery.text) for cursor, delivery in records.pull("dev")] == [(1, "hello")]


def test_a_file_that_is_locked_is_busy_and_nothing_was_laid_down(memories: Callable[[], Records]) -> None:
    records = memories()
    other = sqlite3.connect(records.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(SinkBusy, match="locked"):
        anyio.run(StoredInbox(records).deliver, delivery_of("hello", 1, "dev"))
    other.close()
    assert records.pull("dev") == []


def test_a_line_delivers_into_the_boxes_of_several_recipients(tmp_path: Path) -> None:
    with Tocsin(store=tmp_path / "t.db") as line:
        for name in ("a", "b"):
            line.open_lane(name, StoredInbox(line.records), kind="inbox")
            line.send_mail(name, f"for {name}", id=f"mail-{name}")
        line.drain()
        for name in ("a", "b"):
            ((cursor, delivery),) = line.records.pull(name)
            assert [entry.text for entry in delivery.entries] == [f"for {name}"]
            assert [proof for proof, _, _ in line.records.proofs(delivery.id)] == [Proof.RECORDED]
            assert line.records.acknowledge(name, cursor) == 1
            assert [proof for proof, _, _ in line.records.proofs(delivery.id)] == [Proof.RECORDED, Proof.SEEN]


def test_a_letter_is_not_taken_from_a_process_that_lives(tmp_path: Path) -> None:
    """The rule behind `tocsin retry`: what a living owner has in its line is that owner's."""
    from tocsin import NoRecipient
    from tocsin.contracts.errors import NameTaken

    with Tocsin(store=tmp_path / "t.db") as line:
        line.open_lane("dev", print)
        with opened(tmp_path / "t.db", CLOCK, print) as records, pytest.raises(NameTaken):
            records.retry("m1", "dev")
        with pytest.raises(NoRecipient):
            line.records.archive("ghost")
        line.records.register(Recipient(name="other"))
        line.records.archive("other")
        line.records.archive("other")
        assert line.records.retry("m1", "other") is False

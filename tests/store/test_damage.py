"""Damage: whatever lies at the path, opening it works or says why, and what was there is still there afterwards."""

import random
import sqlite3
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Delivery, Proof
from tocsin.contracts.durable import Announced, Outcome
from tocsin.contracts.errors import StoreCorrupt, StoreTooNew, StoreUnusable
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Owner, Recipient
from tocsin.contracts.verdicts import Verdict
from tocsin.contracts.waits import WaitState
from tocsin.store import decisions, deliveries, inbox, intake, ledger, owners, recipients, waits
from tocsin.store.engine import Store, View, set_aside

NOW = Instant(1_000)


@cache
def whole() -> bytes:
    """A database with something in every table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tocsin.db"
        store = Store.open(path, now=NOW)
        with store.write() as tx:
            recipients.register(tx, Recipient(name="a"))
            owners.take(tx, "a", Owner(token="t", pid=1, started="s", host="h"), NOW, alive=lambda owner, beat: True)
            for number in range(60):
                intake.accept(tx, Event(text="x" * 200, traffic="mail"), recipient="a", id=f"m{number}", at=NOW)
            for number in range(0, 60, 3):
                block = Delivery(id=f"d{number}", lane="a", at=NOW, text="text" * 50, entries=())
                deliveries.dispatch(tx, block, [f"m{number}"], token="t", at=NOW)
                deliveries.prove(tx, block.id, Proof.RECORDED, NOW)
                inbox.put(tx, block, NOW)
                told = Outcome(id=f"m{number}", recipient="a", at=NOW, stage="fanout", verdict=Verdict.DELIVER, reason="told")
                deliveries.settle(tx, [told], NOW)
                ledger.announce(tx, Announced(recipient="a", signature=f"k:{number}", at=NOW, ctx=("c",)))
            waits.save(tx, "a", WaitState(turn=True), NOW)
        store.close()
        return path.read_bytes()


def read_everything(view: View) -> None:
    intake.listing(view, limit=1_000)
    intake.waiting(view, "a", after=0, limit=1_000)
    for block in deliveries.blocks(view, limit=1_000):
        deliveries.proofs(view, block.id)
    decisions.story(view, "m0")
    owners.owner_of(view, "a")
    recipients.every(view)
    ledger.announced(view, "a")
    waits.load(view, "a")
    inbox.unread(view, "a")


NO_DATABASES = {
    "a brace": b"{",
    "a ledger": b'{"version": 1, "delivered": {}, "deferred": []}',
    "text": b"hello\n" * 1_000,
    "zeros": bytes(8_192),
    "random bytes": random.Random(1).randbytes(20_000),
    "half a header": b"SQLite format 3\0",
    "a header and random bytes": whole()[:100] + random.Random(2).randbytes(8_092),
}


@pytest.mark.parametrize("content", NO_DATABASES.values(), ids=NO_DATABASES)
def test_what_is_no_database_is_refused_kept_aside_byte_for_byte_and_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tocsin.db"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"tocsin\.db: .*Set it aside"):
        Store.open(path, now=NOW)
    assert path.read_bytes() == content
    kept = set_aside(path, NOW)
    assert kept != path
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        intake.accept(tx, Event(text="hello", traffic="mail"), recipient="a", id="m1", at=NOW)
    store.close()
    assert kept.read_bytes() == content


def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    path.write_bytes(b"")
    store = Store.open(path, now=NOW)
    with store.read() as view:
        assert intake.listing(view) == []
    store.close()


@pytest.mark.parametrize("part", range(4))
def test_a_database_cut_off_anywhere_is_refused(tmp_path: Path, part: int) -> None:
    path = tmp_path / "tocsin.db"
    cuts = range(512, len(whole()), 512)
    for cut in cuts[part::4]:
        path.write_bytes(whole()[:cut])
        with pytest.raises(StoreCorrupt, match="Set it aside"):
            Store.open(path, now=NOW)
    path.write_bytes(whole())
    store = Store.open(path, now=NOW)
    with store.read() as view:
        assert intake.pending_count(view, "a") == 40
    store.close()


@pytest.mark.parametrize("seed", range(4))
def test_overwritten_bytes_never_raise_anything_but_our_own_errors(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path / "tocsin.db"
    refused = 0
    for _ in range(60):
        content = bytearray(whole())
        start = chance.randrange(len(content) - 64)
        content[start : start + 64] = chance.randbytes(64)
        for companion in ("-wal", "-shm"):
            path.with_name(path.name + companion).unlink(missing_ok=True)
        path.write_bytes(content)
        try:
            store = Store.open(path, now=NOW)
        except StoreUnusable:
            refused += 1
            continue
        try:
            with store.read() as view:
                read_everything(view)
        except StoreUnusable:
            refused += 1
        store.close()
    assert refused > 5


def test_a_last_page_that_is_cut_is_noticed_although_sqlite_fills_it_up(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        for number in range(100):
            intake.accept(tx, Event(text="x" * 300, traffic="mail"), recipient="a", id=f"m{number}", at=NOW)
    store.close()
    path.write_bytes(path.read_bytes()[:-512])
    with pytest.raises(StoreCorrupt, match="is cut off at"):
        Store.open(path, now=NOW)


def test_a_page_that_was_blanked_is_noticed_at_the_door(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    noticed = 0
    for page in range(1, len(whole()) // 4_096):
        path.write_bytes(whole()[: page * 4_096] + bytes(4_096) + whole()[(page + 1) * 4_096 :])
        with pytest.raises(StoreCorrupt) as caught:
            Store.open(path, now=NOW)
        noticed += "is damaged" in str(caught.value)
    assert noticed > 10


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnusable, match="another program's database") as caught:
        Store.open(path, now=NOW)
    assert not isinstance(caught.value, StoreCorrupt)  # which would be set aside
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["places.sqlite"]


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    path.write_bytes(whole())
    connection = sqlite3.connect(path)
    newer = ("tocsin", "999_thoughts", "2030-01-01")
    connection.execute("INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)", newer)
    connection.execute("CREATE TABLE thoughts (text TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="999_thoughts"):
        Store.open(path, now=NOW)
    assert path.read_bytes() == before


def test_a_table_that_is_gone_is_one_of_our_errors(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    path.write_bytes(whole())
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE notices")
    connection.close()
    store = Store.open(path, now=NOW)
    with pytest.raises(StoreUnusable, match="no such table: notices"), store.read() as view:
        intake.listing(view)
    store.close()


def test_a_stored_event_of_a_newer_version_is_read_without_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    path.write_bytes(whole())
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        tx.execute("UPDATE notices SET event = ? WHERE id = 'm0'", (b'{"text": "hello", "mood": "new"}',))
        assert intake.find(tx, "m0")[0].event == Event(text="hello")
        for unreadable in (b"{", b'{"text": 1}', b"[]"):
            tx.execute("UPDATE notices SET event = ? WHERE id = 'm0'", (unreadable,))
            with pytest.raises(StoreCorrupt, match="can't be read"):
                intake.find(tx, "m0")
    store.close()


def test_a_word_of_a_newer_version_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    path.write_bytes(whole())
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        tx.execute("UPDATE notices SET state = 'dreaming' WHERE id = 'm0'")
        with pytest.raises(StoreUnusable, match="dreaming") as caught:
            intake.find(tx, "m0")
    assert type(caught.value) is StoreUnusable
    store.close()

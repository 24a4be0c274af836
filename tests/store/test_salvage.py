"""Salvage: what can be read of a damaged database is in the new one as it was, and what is there can be read."""

import runpy
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tocsin.contracts.deliveries import Delivery
from tocsin.contracts.durable import Announced, Held
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Owner, Recipient, Session
from tocsin.contracts.waits import WaitState
from tocsin.store import inbox, intake, ledger, owners, recipients, waits
from tocsin.store.engine import Store, View
from tocsin.store.salvage import TABLES, Salvaged
from tocsin.store.schema import FIRST

_damage = runpy.run_path(str(Path(__file__).parent / "test_damage.py"))
whole, read_everything, NOW = _damage["whole"], _damage["read_everything"], _damage["NOW"]
EVENT = Event(text="said", traffic="notice", key="mine:k")


def fresh(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "new" / "tocsin.db", now=NOW)


def rows(view: View, table: str) -> list[Any]:
    return view.rows(f"SELECT * FROM {table} ORDER BY rowid")


def test_every_table_is_taken_over_or_known_not_to_be() -> None:
    made = {statement.split()[2] for statement in FIRST if statement.startswith("CREATE TABLE")}
    assert made - set(TABLES) == {"upkeep"}


def test_a_whole_database_is_taken_over_to_the_letter(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    old.write_bytes(whole())
    store = Store.open(old, now=NOW)
    with store.write() as tx:
        owners.take(tx, "b", Owner(token="t2", pid=2, started="s", host="h", socket="x"), NOW, alive=lambda *_: True)
        recipients.begin_session(tx, Session(id="s1", recipient="a", pid=1, command=("x", "y"), started_at=NOW))
        ledger.hold(tx, Held(recipient="a", id="n1", signature="mine:k", event=EVENT, at=NOW, reason="paused"))
        inbox.ack(tx, "a", 3, NOW)
    with store.read() as view:
        before = {table: rows(view, table) for table in TABLES}
    store.close()
    assert all(before.values())
    new = fresh(tmp_path)
    assert new.take_over(old) == Salvaged(waiting=40, lost=())
    with new.read() as view:
        assert {table: rows(view, table) for table in TABLES} == before
    assert new.take_over(old) == Salvaged(waiting=40, lost=())
    with new.read() as view:
        assert {table: rows(view, table) for table in TABLES} == before
    new.close()


def test_of_a_blanked_page_only_what_stood_on_it_is_missing_and_the_rest_can_be_read(tmp_path: Path) -> None:
    pages, found = len(whole()) // 4_096, []
    for page in range(pages):
        old = tmp_path / f"{page}.db"
        content = bytearray(whole())
        content[page * 4_096 : (page + 1) * 4_096] = b"\xff" * 4_096
        old.write_bytes(content)
        new = Store.open(tmp_path / f"new{page}.db", now=NOW)
        salvaged = new.take_over(old)
        assert old.read_bytes() == content
        with new.read() as view:
            read_everything(view)
            messages = intake.listing(view, limit=1_000)
            assert all(one.event.text == "x" * 200 and one.recipient == "a" for one in messages)
            assert not recipients.is_dead(view, "a")
            assert "notices" in salvaged.lost or len(messages) == 60
            found.append(len(messages))
        new.close()
    assert sum(number == 60 for number in found) > pages // 2
    assert sum(0 < number < 60 for number in found) >= 3, "a page among the messages costs only those that stand on it"


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("notices", "event", b"{"),
        ("notices", "state", "dreaming"),
        ("notices", "accepted_at", "soon"),
        ("notices", "traffic", "gossip"),
        ("waits", "state", b"[]"),
        ("inbox", "body", b"null"),
        ("recipients", "life", "undead"),
        ("notice_delivered", "ctx", b"{}"),
        ("deliveries", "notices", 7),
    ],
)
def test_a_row_that_holds_something_else_is_left_behind(tmp_path: Path, table: str, column: str, value: object) -> None:
    old = tmp_path / "old.db"
    old.write_bytes(whole())
    connection = sqlite3.connect(old)
    before = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT min(rowid) FROM {table})", (value,))
    connection.commit()
    connection.close()
    new = fresh(tmp_path)
    assert new.take_over(old).lost == (table,)
    with new.read() as view:
        left = {"recipients": before}.get(table, before - 1)  # its name is known from everywhere else
        assert len(rows(view, table)) == left
        read_everything(view)
    new.close()


def test_bytes_that_are_no_text_cost_one_row(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    old.write_bytes(whole())
    connection = sqlite3.connect(old)
    connection.execute("UPDATE notices SET reason = CAST(x'ff' AS TEXT) WHERE id = 'm7'")
    connection.commit()
    connection.close()
    new = fresh(tmp_path)
    assert new.take_over(old).lost == ("notices",)
    with new.read() as view:
        assert "m7" not in {one.id for one in intake.listing(view, limit=100)}
        assert len(intake.listing(view, limit=100)) == 59
    new.close()


def test_what_is_in_the_new_one_stays_and_the_old_comes_behind_it(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    old.write_bytes(whole())
    new = fresh(tmp_path)
    with new.write() as tx:
        recipients.register(tx, Recipient(name="a", kind="inbox"))
        intake.accept(tx, Event(text="new", traffic="mail"), recipient="a", id="first", at=NOW)
        intake.accept(tx, Event(text="already here", traffic="mail"), recipient="a", id="m5", at=NOW)
        inbox.put(tx, Delivery(id="d", lane="a", at=NOW, text="t", entries=()), NOW)
        waits.save(tx, "a", WaitState(), NOW)
    assert new.take_over(old).lost == ()
    with new.read() as view:
        texts = {one.id: one.event.text for one in intake.listing(view, limit=100)}
        assert (len(texts), texts["first"], texts["m5"], texts["m0"]) == (61, "new", "already here", "x" * 200)
        assert len(inbox.unread(view, "a")) == 21
        assert [one.kind for one in recipients.every(view)] == ["inbox"]
        assert waits.load(view, "a") == WaitState()
    new.close()


def test_what_is_put_into_a_box_later_comes_behind_what_was_acknowledged(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    store = Store.open(old, now=NOW)
    with store.write() as tx:
        for number in range(9):
            inbox.put(tx, Delivery(id=f"d{number}", lane="a", at=NOW, text="t", entries=()), NOW)
        inbox.ack(tx, "a", 9, NOW)
        tx.execute("DELETE FROM inbox")  # as if its pages could not be read
    store.close()
    new = fresh(tmp_path)
    new.take_over(old)
    with new.write() as tx:
        assert inbox.put(tx, Delivery(id="new", lane="a", at=NOW, text="t", entries=()), NOW) == 10
        assert [cursor for cursor, _ in inbox.pull(tx, "a", after=inbox.cursor(tx, "a"), limit=9)] == [10]
    new.close()


def test_of_no_database_nothing_is_taken_and_nobody_is_dead_for_it(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"text" * 500, b"SQLite format 3\0" + bytes(4_080))):
        old = tmp_path / f"{number}.db"
        old.write_bytes(content)
        new = Store.open(tmp_path / f"new{number}.db", now=NOW)
        assert new.take_over(old) == Salvaged(waiting=0, lost=tuple(TABLES))
        assert old.read_bytes() == content
        with new.read() as view:
            assert not recipients.is_dead(view, "whoever")
        new.close()


def test_what_was_told_before_is_not_told_again(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    store = Store.open(old, now=NOW)
    told = Announced(recipient="a", signature="mine:k", at=NOW, ctx=("c",), cleared_when="read")
    with store.write() as tx:
        ledger.announce(tx, told)
        ledger.announce(tx, replace(told, recipient="b"))
    store.close()
    new = fresh(tmp_path)
    new.take_over(old)
    with new.read() as view:
        assert ledger.announced(view, "a") == [told]
    new.close()

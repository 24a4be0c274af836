"""Engine: a transaction is whole or absent, and every fault is one of ours."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tocsin.contracts.base import Instant
from tocsin.contracts.errors import BadInput, StoreBusy, StoreCorrupt, StoreFull, StoreUnusable, TocsinError
from tocsin.contracts.events import Event
from tocsin.store import intake, upkeep
from tocsin.store.engine import Store, Transaction, View, set_aside, wal_bytes
from tocsin.store.salvage import Salvaged

NOW = Instant(1_796_055_300_000)  # 2026-11-30T16:15:00Z
MAIL = Event(text="hello", traffic="mail", source="mail")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "tocsin.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store.open(path, now=NOW)
    yield store
    store.close()


def put(tx: Transaction, id: str) -> None:
    intake.accept(tx, MAIL, recipient="a", id=id, at=NOW)


def ids(store: Store) -> list[str]:
    with store.read() as view:
        return [stored.id for stored in intake.listing(view)]


def test_a_new_database_and_its_folder_belong_to_their_owner_alone(store: Store, path: Path) -> None:
    with store.write() as tx:
        put(tx, "m1")
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {
        "tocsin.db": 0o600,
        "tocsin.db-wal": 0o600,
        "tocsin.db-shm": 0o600,
    }


def test_a_transaction_is_a_view_and_both_are_over_when_their_block_is(store: Store) -> None:
    assert issubclass(Transaction, View)
    with store.write() as tx:
        put(tx, "m1")
    with store.read() as view:
        assert view.rows("SELECT id FROM notices") == [("m1",)]
    for over in (tx, view):
        with pytest.raises(RuntimeError, match="over"):
            over.rows("SELECT 1")


def test_an_exception_undoes_the_whole_block(store: Store) -> None:
    with pytest.raises(KeyError), store.write() as tx:
        put(tx, "m1")
        raise KeyError
    assert ids(store) == []
    with store.write() as tx:
        put(tx, "m2")
    assert ids(store) == ["m2"]


def test_one_store_holds_one_transaction_at_a_time(store: Store) -> None:
    with store.write() as tx:
        put(tx, "m1")
        with pytest.raises(RuntimeError, match="one at a time"), store.read():
            pass
        with pytest.raises(RuntimeError, match="one at a time"), store.write():
            pass
    assert ids(store) == ["m1"]


def test_a_view_sees_one_moment_while_another_process_writes(store: Store, path: Path) -> None:
    other = Store.open(path, now=NOW)
    with store.read() as view:
        before = intake.listing(view)
        with other.write() as tx:
            put(tx, "m1")
        assert intake.listing(view) == before == []
    assert ids(store) == ["m1"]
    other.close()


def test_the_data_version_moves_when_another_connection_commits(store: Store, path: Path) -> None:
    first = store.data_version()
    with store.write() as tx:
        put(tx, "m1")
    assert store.data_version() == first
    other = Store.open(path, now=NOW)
    with other.write() as tx:
        put(tx, "m2")
    other.close()
    assert store.data_version() != first


def test_read_then_write_waits_its_turn_instead_of_failing_at_once(store: Store, path: Path) -> None:
    """H02, first half: what was read before another writer came does not spoil the write after it."""
    other = Store.open(path, now=NOW)
    assert ids(store) == []
    with other.write() as tx:
        put(tx, "m1")
    with store.write() as tx:
        assert [stored.id for stored in intake.listing(tx)] == ["m1"]
        put(tx, "m2")
    other.close()
    assert ids(store) == ["m1", "m2"]


def test_a_lock_that_outlasts_the_patience_is_said_and_nothing_is_changed(store: Store, path: Path) -> None:
    hasty = Store.open(path, now=NOW, patience=0.02)
    with store.write() as tx:
        put(tx, "m1")
        with (
            pytest.raises(StoreBusy, match=r"tocsin\.db: other processes kept it locked .* try again") as caught,
            hasty.write(),
        ):
            pass
    assert caught.value.retryable
    with hasty.write() as tx:
        put(tx, "m2")
    hasty.close()
    assert ids(store) == ["m1", "m2"]


def test_every_fault_of_sqlite_becomes_one_of_ours(store: Store) -> None:
    faulty: list[tuple[str, tuple[object, ...]]] = [
        ("SELECT * FROM nothing_of_the_kind", ()),
        ("SELECT ?", ()),
        ("INSERT INTO waits (recipient) VALUES ('a')", ()),
        ("SELECT ?", (2**70,)),
        ("SELECT ?", ("\ud800",)),
        ("SELECT CAST(x'ff' AS TEXT)", ()),
    ]
    for sql, values in faulty:
        with pytest.raises(TocsinError, match="tocsin.db"), store.write() as tx:
            tx.rows(sql, values)
    for sql, values in faulty[:-1]:
        with pytest.raises(TocsinError, match="tocsin.db"), store.write() as tx:
            tx.execute(sql, values)
        with pytest.raises(TocsinError, match="tocsin.db"), store.write() as tx:
            tx.many(sql, [values])


def test_a_number_beyond_64_bits_and_half_a_character_are_the_callers_fault(store: Store) -> None:
    with pytest.raises(BadInput), store.read() as view:
        intake.waiting(view, "a", after=2**70, limit=1)
    with pytest.raises(BadInput), store.write() as tx:
        intake.accept(tx, Event(text="\ud800", traffic="mail"), recipient="a", id="m1", at=NOW)
    with pytest.raises(BadInput), store.write() as tx:
        intake.accept(tx, MAIL, recipient="\ud800", id="m1", at=NOW)
    assert ids(store) == []


def test_a_transaction_that_sqlite_undid_is_not_taken_for_a_committed_one(store: Store) -> None:
    """A full disk makes SQLite roll back by itself; a caller that goes on must not write outside of any transaction."""
    with pytest.raises(StoreUnusable, match="undone"), store.write() as tx:
        put(tx, "m1")
        tx.execute("ROLLBACK")
        put(tx, "m2")
    with pytest.raises(StoreUnusable, match="undone"), store.write() as tx:
        put(tx, "m3")
        tx.execute("ROLLBACK")
    assert ids(store) == []


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    for use in (store.read, store.write):
        with pytest.raises(StoreUnusable, match="closed"), use():
            pass
    with pytest.raises(StoreUnusable, match="closed"):
        store.data_version()


def test_what_is_written_goes_into_the_file_that_has_the_name(store: Store, path: Path) -> None:
    """Another process sets the database aside, or somebody removes it: nothing may vanish into a file without a name."""
    with store.write() as tx:
        put(tx, "m1")
    version = store.data_version()
    path.rename(path.with_name("elsewhere.db"))
    for companion in ("-wal", "-shm"):
        path.with_name(path.name + companion).rename(path.with_name("elsewhere.db" + companion))
    with store.write() as tx:
        put(tx, "m2")
    assert ids(store) == ["m1", "m2"]
    assert store.replaced == Salvaged(waiting=1, lost=())
    assert store.data_version() != version
    other = Store.open(path, now=NOW)
    assert ids(other) == ["m1", "m2"]
    other.close()
    kept = Store.open(path.with_name("elsewhere.db"), now=NOW)
    assert ids(kept) == ["m1"]
    kept.close()


def test_every_commit_is_synchronous_and_the_log_is_bounded(store: Store) -> None:
    with store.read() as view:
        answers = [view.rows(f"PRAGMA {pragma}")[0][0] for pragma in ("journal_mode", "synchronous", "foreign_keys")]
        assert answers == ["wal", 2, 1]
        assert view.rows("PRAGMA journal_size_limit")[0][0] == 4 * 1_048_576


def test_a_relative_path_stays_the_same_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir()
    monkeypatch.chdir(path.parent)
    store = Store.open(Path("tocsin.db"), now=NOW)
    monkeypatch.chdir(path.parent.parent)
    with store.write() as tx:
        put(tx, "m1")
    assert (store.path, ids(store)) == (path, ["m1"])
    store.close()


def test_wal_bytes_is_the_size_of_the_log(store: Store, path: Path, tmp_path: Path) -> None:
    with store.write() as tx:
        put(tx, "m1")
    assert wal_bytes(path) == path.with_name("tocsin.db-wal").stat().st_size > 0
    assert wal_bytes(tmp_path / "nothing.db") == 0


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreFull, match=r"tocsin\.db: can't be made"):
        Store.open(tmp_path / "file" / "tocsin.db", now=NOW)
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(StoreFull, match=r"folder\.db"):
        Store.open(tmp_path / "folder.db", now=NOW)


def test_what_is_set_aside_is_all_there_and_nothing_is_overwritten(path: Path) -> None:
    path.parent.mkdir()
    for number, expected in enumerate(("tocsin.db.damaged-20261130T161500Z", "tocsin.db.damaged-20261130T161500Z-2")):
        content = f"damaged {number}"
        path.write_text(content)
        path.with_name("tocsin.db-wal").write_text(f"log {number}")
        kept = set_aside(path, NOW)
        assert kept == path.with_name(expected)
        assert kept.read_text() == content
        assert kept.with_name(expected + "-wal").read_text() == f"log {number}"
        assert not path.exists()


def test_a_sound_database_is_not_set_aside(store: Store, path: Path) -> None:
    """Two processes find the damaged one; the second must not move the new one of the first away."""
    with store.write() as tx:
        put(tx, "m1")
    assert set_aside(path, NOW) == path
    assert ids(store) == ["m1"]
    assert set_aside(path.with_name("gone.db"), NOW) == path.with_name("gone.db")


def test_importing_tocsin_imports_no_store_and_opening_a_known_one_imports_no_sqlite_utils(path: Path) -> None:
    Store.open(path, now=NOW).close()
    script = (
        "import sys, pathlib, tocsin\n"
        "assert not [name for name in sys.modules if name.startswith('tocsin.store')], 'store'\n"
        "from tocsin.store.engine import Store\n"
        f"Store.open(pathlib.Path({str(path)!r}), now={NOW}).close()\n"
        "assert 'sqlite_utils' not in sys.modules, 'sqlite_utils'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


OPENER = """
import sys, pathlib
from tocsin.store.engine import Store
sys.stdin.readline()
store = Store.open(pathlib.Path(sys.argv[1]), now=1000)
with store.write() as tx:
    tx.execute("INSERT INTO waits VALUES (?, x'7b7d', 1)", (sys.argv[2],))
store.close()
"""


def test_processes_that_open_a_fresh_file_at_once_all_succeed(path: Path) -> None:
    command = [sys.executable, "-c", OPENER, str(path)]
    openers = [subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE) for number in range(6)]
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write(b"\n")
        opener.stdin.close()
    assert [opener.wait() for opener in openers] == [0] * 6
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM waits").fetchone() == (6,)
    assert connection.execute("SELECT name FROM _sqlite_migrations").fetchall() == [("001_first",)]
    connection.close()


def test_a_new_file_that_another_process_is_about_to_fill_is_busy(path: Path) -> None:
    """SQLite does not wait where it changes to the log, and answers at once what would be true on a foreign file system."""
    path.parent.mkdir()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy):
        Store.open(path, now=NOW, patience=0.02)
    other.execute("ROLLBACK")
    other.close()
    Store.open(path, now=NOW, patience=0.02).close()


def test_upkeep_is_due_after_a_day_and_when_the_clock_has_gone_back(store: Store) -> None:
    day = upkeep.PERIOD
    with store.read() as view:
        due = [upkeep.due(view, Instant(NOW + later)) for later in (0, day - 1, day, -1)]
    assert due == [False, False, True, True]


def test_what_is_past_its_time_goes_once_a_day_and_what_is_open_stays(path: Path) -> None:
    day = 86_400_000
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        for id in ("open", "ended"):
            put(tx, id)
        intake.end(tx, [(intake.State.PROCESSED, "deliver", "", "ended", "a")], NOW)
    store.close()
    for later, left in ((29 * day, ["open", "ended"]), (29 * day + day - 1, ["open", "ended"]), (31 * day, ["open"])):
        store = Store.open(path, now=Instant(NOW + later))
        assert ids(store) == left
        store.close()


def test_a_place_in_the_order_is_never_given_twice(store: Store) -> None:
    with store.write() as tx:
        first = intake.accept(tx, MAIL, recipient="a", id="m1", at=NOW)
        intake.end(tx, [(intake.State.PROCESSED, "deliver", "", "m1", "a")], NOW)
        assert intake.prune(tx, Instant(NOW + 1)) == 1
    with store.write() as tx:
        assert intake.accept(tx, MAIL, recipient="a", id="m1", at=NOW).seq == first.seq + 1


def test_a_damage_that_is_found_later_is_said_in_our_words(path: Path) -> None:
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        for number in range(12_000):  # more than the connection remembers
            put(tx, f"m{number}")
    store.close()
    store = Store.open(path, now=NOW)
    with path.open("r+b") as file:
        file.seek(4096 * 100)
        file.write(os.urandom(4096 * 500))
    with pytest.raises(StoreCorrupt, match="Set it aside"), store.read() as view:
        intake.listing(view, limit=12_000)
    store.close()

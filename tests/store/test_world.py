"""The world: other processes, forks, kills, full disks. Nothing that was answered is lost, nothing is half there."""

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin.contracts.base import Instant
from tocsin.contracts.errors import Forked
from tocsin.contracts.events import Event
from tocsin.store import intake
from tocsin.store.engine import Store, wal_bytes

NOW = Instant(1_000)
MAIL = Event(text="hello", traffic="mail", source="mail")

PREAMBLE = """
import os, pathlib, resource, sys
from tocsin.contracts.errors import *
from tocsin.contracts.events import Event
from tocsin.store import intake
from tocsin.store.engine import Store
path = pathlib.Path(sys.argv[1])
mail = Event(text="x" * 400, traffic="mail", source="mail")

def accept(store, *ids):
    with store.write() as tx:
        for id in ids:
            intake.accept(tx, mail, recipient="a", id=id, at=1000)
"""


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, "-c", PREAMBLE + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_sound(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def stored_ids(path: Path) -> list[str]:
    store = Store.open(path, now=NOW)
    with store.read() as view:
        found = [stored.id for stored in intake.listing(view, limit=1_000_000)]
    store.close()
    return found


def test_h02_eight_writers_never_see_a_locked_database(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    script = PREAMBLE + (
        "store = Store.open(path, now=1000)\n"
        "sys.stdin.readline()\n"
        "for number in range(200):\n"
        "    accept(store, f'{sys.argv[2]}-{number}')\n"
        "store.close()\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    writers = [subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, stderr=subprocess.PIPE) for number in range(8)]
    ends = [writer.communicate(b"\n") for writer in writers]
    assert [(writer.returncode, error) for writer, (_, error) in zip(writers, ends, strict=True)] == [(0, b"")] * 8
    found = stored_ids(path)
    assert len(found) == 1_600
    for writer in range(8):
        assert [id for id in found if id.startswith(f"{writer}-")] == [f"{writer}-{number}" for number in range(200)]
    assert_sound(path)


def test_h04_the_log_shrinks_again_after_a_reader_that_held_it(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    reader, writer = Store.open(path, now=NOW), Store.open(path, now=NOW)
    numbers = iter(range(1_000_000))

    def write(count: int) -> None:
        with writer.write() as tx:
            for _ in range(count):
                intake.accept(tx, MAIL, recipient="a", id=f"m{next(numbers)}", at=NOW)

    bound = 5 * 1_048_576
    with reader.read() as view:
        assert intake.pending_count(view, "a") == 0
        for _ in range(50):
            write(1_000)
        assert wal_bytes(path) > bound
        assert intake.pending_count(view, "a") == 0
    for _ in range(3):
        write(1)
    assert wal_bytes(path) <= bound
    with reader.read() as view:
        assert intake.pending_count(view, "a") == 50_003
    reader.close()
    writer.close()


H09 = """
store = Store.open(path, now=1000)
accept(store, "before")
child = os.fork()
if not child:
    for use in (store.read, store.write):
        try:
            with use():
                pass
        except Forked:
            print("forked", flush=True)
    store.close()
    try:
        store.data_version()
    except Forked as error:
        print(error, flush=True)
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
for number in range(1000):
    accept(store, f"parent-{number}")
store.close()
print("parent done")
"""


def test_h09_a_child_that_uses_or_drops_the_handle_harms_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    second = Store.open(path, now=NOW)
    said = run(H09, path).splitlines()
    assert said == [
        "forked",
        "forked",
        f"{path}: was opened before a fork. A child process must open it itself.",
        "parent done",
    ]
    with second.write() as tx:
        for number in range(100):
            intake.accept(tx, MAIL, recipient="a", id=f"second-{number}", at=NOW)
    second.close()
    assert stored_ids(path) == ["before", *(f"parent-{n}" for n in range(1000)), *(f"second-{n}" for n in range(100))]
    assert_sound(path)


def test_h09_a_fork_inside_a_transaction_leaves_it_to_the_parent(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        intake.accept(tx, MAIL, recipient="a", id="m1", at=NOW)
        child = os.fork()
        if not child:
            code = 1
            try:
                tx.rows("SELECT 1")
            except Forked:
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        intake.accept(tx, MAIL, recipient="a", id="m2", at=NOW)
    store.close()
    assert stored_ids(path) == ["m1", "m2"]
    assert_sound(path)


FULL = """
store = Store.open(path, now=1000)
accept(store, "first-a", "first-b")
limit = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (os.stat(path).st_size + int(sys.argv[2]), limit[1]))
answered = ["first-a", "first-b"]
refused = 0
for number in range(2000):
    pair = [f"m{number}-a", f"m{number}-b"]
    try:
        accept(store, *pair)
        answered += pair
    except StoreFull as error:
        assert error.retryable
        assert str(path) in str(error) and "free some space" in str(error)
        refused += 1
        if refused == 3:
            break
assert refused == 3
with store.read() as view:
    assert [stored.id for stored in intake.listing(view, limit=100000)] == answered, "half-written"
resource.setrlimit(resource.RLIMIT_FSIZE, limit)
accept(store, "after")
with store.read() as view:
    assert [stored.id for stored in intake.listing(view, limit=100000)] == [*answered, "after"]
store.close()
print(len(answered))
"""


@pytest.mark.parametrize("room", [0, 3_000, 20_000, 100_001])
def test_h13_a_full_disk_is_said_and_it_works_again_without_a_restart(tmp_path: Path, room: int) -> None:
    path = tmp_path / "tocsin.db"
    answered = int(run(FULL, path, room))
    assert len(stored_ids(path)) == answered + 1
    assert_sound(path)


READ_ONLY = """
accept(Store.open(path, now=1000), "first")
root = os.geteuid() == 0
if root:
    for file in (path.parent, *path.parent.iterdir()):
        os.chown(file, 65534, 65534)
    os.seteuid(65534)  # no right of its own to write what may not be written
import tocsin.store.upkeep
os.chmod(path, 0o400)
store = Store.open(path, now=1000)
with store.read() as view:
    assert [stored.id for stored in intake.listing(view)] == ["first"]
for id in ("second", "third"):
    try:
        accept(store, id)
    except StoreFull as error:
        assert error.retryable
        print(error)
os.chmod(path, 0o600)
accept(store, "fourth")
with store.read() as view:
    print([stored.id for stored in intake.listing(view)])
store.close()
"""


def test_h13_a_read_only_file_is_said_and_works_again_without_a_restart(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents[:3]:
        folder.chmod(folder.stat().st_mode | 0o011)
    path = tmp_path / "state" / "tocsin.db"
    *refusals, found = run(READ_ONLY, path).splitlines()
    assert len(refusals) == 2
    assert all(line.startswith(f"{path}: can't be written") for line in refusals)
    assert found == "['first', 'fourth']"


WRITER = """
store = Store.open(path, now=1000)
for number in range(1_000_000):
    accept(store, f"{sys.argv[2]}-{number}-a", f"{sys.argv[2]}-{number}-b")
    os.write(1, f"{number}\\n".encode())
"""


@pytest.mark.parametrize("seed", range(6))
def test_a_kill_at_any_moment_loses_nothing_that_was_answered(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "tocsin.db"
    chance = random.Random(seed)
    for run_number in range(2):
        command = [sys.executable, "-c", PREAMBLE + WRITER, str(path), str(run_number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            answers = [writer.stdout.readline() for _ in range(chance.randrange(1, 300))]
            writer.kill()
            answers += writer.stdout.readlines()
        found = [id for id in stored_ids(path) if id.startswith(f"{run_number}-")]
        assert found == [f"{run_number}-{number}-{half}" for number in range(len(found) // 2) for half in "ab"]
        assert len(answers) <= len(found) // 2 <= len(answers) + 1
        assert_sound(path)

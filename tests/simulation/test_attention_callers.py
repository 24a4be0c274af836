"""H01: forty processes ask for the next item in the same moment, again and again; each time all of them get the same one."""

import fcntl
import json
import runpy
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

attending = runpy.run_path(str(Path(__file__).parent.parent / "store" / "attending.py"))
Desk, packet, command_id, resolve = (attending[name] for name in ("Desk", "packet", "command_id", "resolve"))

CALLERS, ROUNDS, ITEMS = 40, 50, 10


def call(place: Path, gate: Path, name: int) -> None:
    """One process: at each line of its input it goes to the gate, and asks once that is open."""
    desk = Desk(place)
    with gate.open("rb") as file:
        for line in sys.stdin:
            tell("at the gate")
            fcntl.flock(file, fcntl.LOCK_SH)
            receipt = desk.ask("next", id=command_id(1_000_000 + int(line) * 100 + name), human_id="hakon")
            fcntl.flock(file, fcntl.LOCK_UN)
            tell([receipt.result, receipt.item_id])


def tell(said: Any) -> None:
    print(json.dumps(said), flush=True)


@contextmanager
def callers(place: Path, gate: Path) -> Iterator[list[subprocess.Popen[str]]]:
    """They run until the block ends."""
    argv = [sys.executable, __file__, str(place), str(gate)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([*argv, str(name)], **pipes) for name in range(CALLERS)]
    try:
        yield started
    finally:
        for one in started:
            one.stdin.close()
        for one in started:
            one.stdout.close()
            assert one.wait(30) == 0


def answers(started: list[subprocess.Popen[str]], gate: Path, number: int) -> Counter[tuple[str, int]]:
    """What all of them are told in this round."""
    with gate.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for one in started:
            one.stdin.write(f"{number}\n")
            one.stdin.flush()
        assert {one.stdout.readline() for one in started} == {'"at the gate"\n'}
    # Closed, the file gives up its lock: the gate is open.
    return Counter(tuple(json.loads(one.stdout.readline())) for one in started)


@pytest.mark.timeout(115)
def test_forty_callers_at_once_get_one_item_fifty_times(tmp_path: Path) -> None:
    desk, gate = Desk(tmp_path / "tocsin.db"), tmp_path / "gate"
    gate.touch()
    for number in range(ITEMS):
        desk.do("add", **packet(f"item-{number}"))
    with callers(desk.path, gate) as started:
        for number in range(1, ROUNDS + 1):
            told = answers(started, gate, number)
            assert told == {("claimed", number): 1, ("already_active", number): CALLERS - 1}, f"round {number}: {told}"
            assert resolve(desk, number).result == "resolved"
            desk.do("add", **packet(f"item-{ITEMS + number}"))
    assert len(desk.line()) == ITEMS
    desk.store.close()


def test_no_second_row_can_be_active_even_by_plain_sql(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "tocsin.db")
    for key in "ab":
        desk.do("add", **packet(key))
    desk.next()
    desk.store.close()
    with sqlite3.connect(desk.path) as connection, pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        connection.execute("UPDATE attention_items SET state = 'active', claimed_at = 1 WHERE item_id = 2")
    connection.close()


if __name__ == "__main__":
    call(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))

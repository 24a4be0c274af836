"""Attention, really: four processes send ten thousand commands to one database and are killed at any moment; none that was
answered is lost, no item is active beside another, and the database is whole."""

import json
import os
import random
import runpy
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tocsin.contracts.attention_answers import Receipt, Refusal
from tocsin.contracts.attention_facts import Operator, Seat
from tocsin.contracts.attention_items import EventKind, State
from tocsin.contracts.attention_time import iso
from tocsin.contracts.events import Event
from tocsin.pipeline.attention_continuation import continuation, coordinate
from tocsin.pipeline.attention_requests import read_command
from tocsin.store import attention_reads as reads
from tocsin.store import attention_returns as returns
from tocsin.store import intake

attending = runpy.run_path(str(Path(__file__).parent.parent / "store" / "attending.py"))
Desk, packet, envelope, HUMAN, BROKER = (attending[name] for name in ("Desk", "packet", "envelope", "HUMAN", "BROKER"))

OF_ITEM = {kind for kind in EventKind if not kind.startswith(("return_", "source_"))}
PROCESSES, COMMANDS = 4, 2_500
PATIENCE = 60.0


class Worker:
    """One process: it notes what it will send, sends it, and notes the answer; started again, it sends what has no answer."""

    def __init__(self, folder: Path, name: int) -> None:
        self.folder, self.name = folder, name
        self.journal = folder / f"journal-{name}"
        self.desk = Desk(folder / "tocsin.db")
        self.chance = random.Random(f"{name} {os.getpid()}")  # the same commands again would meet an answer each
        self.seat = Seat(source_id=f"s{name}", broker_uuid=BROKER)

    def run(self) -> None:
        noted = list(read(self.journal))
        done = sum(1 for line in noted if "answer" in line)
        with self.journal.open("ab", buffering=0) as file:
            if noted and "answer" not in noted[-1]:
                self.send(noted[-1], file)
                done += 1
            while done < COMMANDS:
                self.desk.now = int(time.time() * 1_000)
                intent = self.invent()
                file.write(json.dumps(intent).encode() + b"\n")
                self.send(intent, file)
                done += 1
                if done % 10 == 0:
                    self.publish()

    def send(self, intent: dict[str, Any], file: Any) -> None:
        self.desk.now = int(time.time() * 1_000)
        request = read_command(json.dumps(intent["request"]).encode())
        assert not isinstance(request, Refusal), request
        with self.desk.store.write() as tx:
            answer = self.desk.run(tx, request, self.seat if intent["seat"] else Operator())
        file.write(json.dumps({"answer": msgspec.to_builtins(answer)}).encode() + b"\n")

    def publish(self) -> None:
        with self.desk.store.write() as tx:
            for planned in returns.due(tx, self.desk.now):
                key = coordinate(planned.row.resolution_command_id, planned.row.generation)
                event = Event(text=continuation(planned, BROKER), traffic="return", source="attention_return", key=key)
                assert returns.mint(tx, planned.row.return_id, delivery_id=key, at=self.desk.now)
                intake.accept(tx, event, recipient=planned.route.actor, id=key, at=self.desk.now)

    def invent(self) -> dict[str, Any]:
        """A command that is likely to fit what is there."""
        action = self.chance.choice(["summon", "summon", "add", "start", "amend", "withdraw", "defer", "requeue", "cancel"]
                                    + ["next"] * 4 + ["resolve"] * 5)  # fmt: skip
        id = f"{self.chance.getrandbits(32):08x}-{os.getpid() % 65_536:04x}-4000-8000-{self.chance.getrandbits(48):012x}"
        payload, seat = self.payload(action)
        return {"seat": seat, "request": envelope(action, id, payload)}

    def payload(self, action: str) -> tuple[dict[str, Any], bool]:
        if action in ("summon", "add", "start"):
            key = f"k{self.chance.randrange(1_000)}"
            return packet(key, context=self.chance.choice("xxxy")), action == "summon"
        if action == "next":
            return {"human_id": HUMAN, **({"item_id": self.some().item_id} if self.chance.random() < 0.2 else {})}, False
        item = self.some("active") if action == "resolve" else self.some()
        said: dict[str, Any] = {"item_id": item.item_id, "expected_revision": item.revision}
        if action == "amend":
            return {**said, "title": f"Title {self.chance.randrange(5)}"}, self.chance.random() < 0.5
        if action == "resolve":
            then = self.chance.random() < 0.6
            return {**said, "outcome": "answered", "response": "x" * 200, "select_next": then}, False
        said["reason"] = "r"
        if action == "defer":
            said["until"] = self.chance.choice([None, iso(self.desk.now + self.chance.randrange(1, 2_000))])
        return said, action == "withdraw"

    def some(self, *states: str) -> Any:
        wanted = tuple(State(state) for state in states) or (State.ACTIVE, State.QUEUED, State.DEFERRED)
        with self.desk.store.read() as view:
            page = reads.queue(view, HUMAN, self.desk.now, states=wanted, limit=10).items
            return self.chance.choice(page) if page else reads.item(view, 1, self.desk.now).item


def read(journal: Path) -> Iterator[dict[str, Any]]:
    """What is noted, but for a line that its writer did not end."""
    if journal.exists():
        for line in journal.read_bytes().split(b"\n")[:-1]:
            yield json.loads(line)


def start(folder: Path, name: int) -> subprocess.Popen[bytes]:
    with (folder / f"complaint-{name}").open("ab") as complaints:
        return subprocess.Popen([sys.executable, __file__, str(folder), str(name)], stderr=complaints)


def ended(folder: Path, name: int, process: subprocess.Popen[bytes], timeout: float) -> int:
    """How it ended: by us, or with its work done; in any other way its complaint is shown."""
    code = process.wait(timeout)
    assert code in (-signal.SIGKILL, 0), (folder / f"complaint-{name}").read_text()
    return code


@pytest.mark.timeout(115)
def test_ten_thousand_commands_from_four_processes_that_are_killed_lose_and_double_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "tocsin.db")
    for name in range(PROCESSES):
        desk.bind(f"s{name}", actor=f"agent-{name}")
    desk.do("add", **packet("first"))
    desk.store.close()

    chance, killed = random.Random(1), 0
    running = {name: start(tmp_path, name) for name in range(PROCESSES)}
    until = time.monotonic() + PATIENCE
    while running and time.monotonic() < until:
        time.sleep(0.25)  # between two kills the processes have to come to some work
        for name, process in list(running.items()):
            if process.poll() is not None:
                assert ended(tmp_path, name, process, 1.0) == 0
                del running[name]
        if running and killed < 40:
            name = chance.choice(sorted(running))
            running[name].send_signal(signal.SIGKILL)
            killed += ended(tmp_path, name, running[name], 10.0) != 0
            running[name] = start(tmp_path, name)
    for name, process in running.items():
        assert ended(tmp_path, name, process, max(1.0, until - time.monotonic())) == 0
    assert killed >= 8
    examine(tmp_path)


def examine(folder: Path) -> None:
    connection = sqlite3.connect(folder / "tocsin.db")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    kept = dict(connection.execute("SELECT command_id, receipt FROM attention_commands"))
    results: Counter[str] = Counter()
    sent: set[str] = set()
    for name in range(PROCESSES):
        lines = list(read(folder / f"journal-{name}"))
        answers = [line["answer"] for line in lines if "answer" in line]
        sent |= {line["request"]["command_id"] for line in lines if "request" in line}
        assert len(answers) == COMMANDS
        for answer in answers:
            results[answer.get("code") or answer["result"]] += 1
            if "code" in answer:
                assert answer["command_id"] not in kept, "a refusal is no commit"
            else:
                told = msgspec.json.encode(msgspec.convert({**answer, "replayed": False}, Receipt))
                assert kept[answer["command_id"]] == told, "what was answered is on record, to the byte"
    others = [id for (id,) in connection.execute("SELECT command_id FROM attention_commands") if id not in sent]
    assert len(others) == PROCESSES + 1, "nothing is on record that nobody sent: the enrolments and the first item are"
    for likely in ("created", "existing", "claimed", "already_active", "resolved", "deferred", "stale_revision"):
        assert results[likely] > 10, results
    examine_items(connection)
    connection.close()


def examine_items(connection: sqlite3.Connection) -> None:
    assert len(connection.execute("SELECT 1 FROM attention_items WHERE state = 'active'").fetchall()) <= 1
    keys = "SELECT count(*) FROM attention_items GROUP BY owner_principal, project_id, work_id, intervention_key"
    assert set(connection.execute(keys)) == {(1,)}
    events: Counter[int] = Counter()
    active: set[int] = set()
    for item_id, kind in connection.execute("SELECT item_id, kind FROM attention_events ORDER BY event_id"):
        events[item_id] += kind in OF_ITEM
        if kind in ("claimed", "started"):
            assert not active, "at no moment of the history were two items active"
            active.add(item_id)
        elif kind in ("resolved", "deferred", "cancelled"):
            active.discard(item_id)
    for item_id, revision in connection.execute("SELECT item_id, revision FROM attention_items"):
        assert events[item_id] == revision
    minted = {id for (id,) in connection.execute("SELECT delivery_id FROM attention_returns WHERE phase = 'minted'")}
    assert minted == {id for (id,) in connection.execute("SELECT id FROM notices")}
    owed = "SELECT count(*) FROM attention_items WHERE state = 'resolved' AND source_id IS NOT NULL"
    assert connection.execute(owed).fetchall() == connection.execute("SELECT count(*) FROM attention_returns").fetchall()


if __name__ == "__main__":
    Worker(Path(sys.argv[1]), int(sys.argv[2])).run()

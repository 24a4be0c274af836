"""Several processes and one store: each producer's order is kept, nothing is lost, and a dead owner's lane is taken over."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path

import pytest

from tocsin import Tocsin
from tocsin.contracts.durable import State
from tocsin.contracts.recipients import Recipient

PATIENCE = 100.0
PRODUCERS, EACH = 4, 1_000

PRODUCER = """
    import sys
    from pathlib import Path
    from tocsin import Tocsin
    path, name, each = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with Tocsin(store=path) as line:
        for nth in range(each):
            line.send_mail("dev", f"{name} {nth}", id=f"{name}-{nth}")
            print(f"{name}-{nth}", flush=True)
"""
OWNER = """
    import json, os, sys, time
    from pathlib import Path
    from tocsin import Tocsin
    from tocsin.contracts.deliveries import Proof, Receipt
    path, out = Path(sys.argv[1]), Path(sys.argv[2])
    class Appends:
        def put(self, delivery):
            line = json.dumps([delivery.id, delivery.attempt, [entry.id for entry in delivery.entries]])
            file = os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, line.encode() + b"\\n")
            os.close(file)
            return Receipt(proof=Proof.RECORDED)
    with Tocsin(store=path) as line:
        line.open_lane("dev", Appends())
        print("here", flush=True)
        sys.stdin.read()
"""


def start(program: str, *arguments: object, **more: object) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more)  # type: ignore[call-overload,no-any-return]


def told(out: Path) -> list[tuple[str, int, list[str]]]:
    """What the recipient got: delivery, attempt, ids. A line that a kill cut is nobody's."""
    if not out.exists():
        return []
    whole = out.read_text(encoding="utf-8").rpartition("\n")[0]
    return [tuple(json.loads(line)) for line in whole.splitlines()]


def wait_until_all_are_told(out: Path, number: int) -> list[str]:
    end = time.monotonic() + PATIENCE
    while len(set(ids := [id for _, _, some in told(out) for id in some])) < number:
        assert time.monotonic() < end, f"{len(set(ids))} of {number}"
        time.sleep(0.05)  # another process writes the file
    return ids


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "tocsin.db"
    with Tocsin(store=path) as line:
        line.records.register(Recipient(name="dev"))
    return path


def test_four_processes_with_a_thousand_messages_each_are_all_told_once_in_their_order(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "told.jsonl"
    owner = start(OWNER, path, out)
    producers = [start(PRODUCER, path, f"p{nth}", EACH) for nth in range(PRODUCERS)]
    answered = [set(producer.communicate(timeout=PATIENCE)[0].split()) for producer in producers]
    assert [len(one) for one in answered] == [EACH] * PRODUCERS
    ids = wait_until_all_are_told(out, PRODUCERS * EACH)
    owner.communicate(timeout=PATIENCE)
    assert max(Counter(ids).values()) == 1
    for nth in range(PRODUCERS):
        assert [id for id in ids if id.startswith(f"p{nth}-")] == [f"p{nth}-{one}" for one in range(EACH)]
    with Tocsin(store=path) as line:
        assert line.records.waiting("dev") == 0
        assert {one.state for one in line.records.messages(limit=10_000)} == {State.PROCESSED}


def test_owners_and_producers_that_are_killed_lose_nothing_that_was_answered(path: Path, tmp_path: Path) -> None:
    out, kills = tmp_path / "told.jsonl", 5
    producers = [start(PRODUCER, path, f"p{nth}", EACH) for nth in range(2)]
    for nth in range(kills):
        owner = start(OWNER, path, out)
        assert owner.stdout is not None
        assert owner.stdout.readline() == "here\n", "a dead owner's lane was not taken over"
        before = len(told(out))
        end = time.monotonic() + PATIENCE
        while len(told(out)) < before + 3 + 7 * nth and time.monotonic() < end:
            time.sleep(0.005)  # another process writes the file
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
    producers[0].send_signal(signal.SIGKILL)
    answered = {id for producer in producers for id in producer.communicate(timeout=PATIENCE)[0].split()}
    with Tocsin(store=path) as line:
        accepted = {one.id for one in line.records.messages(limit=10_000)}
    assert answered <= accepted
    owner = start(OWNER, path, out)
    ids = wait_until_all_are_told(out, len(accepted))
    owner.communicate(timeout=PATIENCE)
    assert set(ids) == accepted
    first_told = list(dict.fromkeys(ids))
    for name in ("p0", "p1"):
        mine = [id for id in first_told if id.startswith(name)]
        assert mine == sorted(mine, key=lambda id: int(id.partition("-")[2]))
    repeated = [(delivery, attempt) for delivery, attempt, _ in told(out) if attempt > 1]
    assert len(repeated) <= kills, "each death repeats at most the one block that was under way"
    twice = Counter(delivery for delivery, _, _ in told(out))
    assert {delivery for delivery, times in twice.items() if times > 1} <= {delivery for delivery, _ in repeated}


def test_a_stopped_owner_is_still_the_owner(path: Path, tmp_path: Path) -> None:
    owner = start(OWNER, path, tmp_path / "told.jsonl")
    assert owner.stdout is not None
    owner.stdout.readline()
    os.kill(owner.pid, signal.SIGSTOP)
    second = start(OWNER, path, tmp_path / "other.jsonl", stderr=subprocess.PIPE)
    _, complaint = second.communicate(timeout=PATIENCE)
    assert f"another process (pid {owner.pid}) delivers to 'dev' already" in complaint
    os.kill(owner.pid, signal.SIGCONT)
    owner.communicate(timeout=PATIENCE)
    third = start(OWNER, path, tmp_path / "other.jsonl")
    assert third.stdout is not None
    assert third.stdout.readline() == "here\n"
    third.communicate(timeout=PATIENCE)

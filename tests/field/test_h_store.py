"""Field cases A03, A06, H04 and H08, with real processes and files; H02, H09, H13 and I08 stand in ``tests/store``."""

import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tocsin import Tocsin
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.errors import NameTaken
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Recipient
from tocsin.store import intake, recipients
from tocsin.store.engine import Store, wal_bytes

OWNER = """
    import json, sys
    from pathlib import Path
    from tocsin import Tocsin
    from tocsin.contracts.deliveries import Proof, Receipt
    class Prints:
        def put(self, delivery):
            print(json.dumps([entry.text for entry in delivery.entries]), flush=True)
            return Receipt(proof=Proof.RECORDED)
    with Tocsin(store=Path(sys.argv[1])) as line:
        line.open_lane("a7", Prints())
        print("here", flush=True)
        for said in sys.stdin:
            line.send_notice("a7", "breaker", "looping", said.strip())
"""


class Box:
    def __init__(self) -> None:
        self.got: list[str] = []

    def put(self, delivery: Delivery) -> Receipt:
        self.got += [entry.text for entry in delivery.entries]
        return Receipt(proof=Proof.RECORDED)


def owner(path: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(OWNER), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    return process


def say(process: "subprocess.Popen[str]", text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{text}\n")
    process.stdin.flush()


def test_A03_two_processes_and_one_alert(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    first = owner(path)
    with Tocsin(store=path) as second:
        with pytest.raises(NameTaken, match=rf"pid {first.pid}"):
            second.open_lane("a7", Box())
        second.send_notice("a7", "breaker", "looping", "seen by the second")
        say(first, "seen by the first")
        out, _ = first.communicate(timeout=60)
        assert [json.loads(line) for line in out.splitlines()] in ([["seen by the second"]], [["seen by the first"]])
        assert len(second.records.messages()) == 2
        assert len(second.records.told("a7")) == 1


def test_A06_a_restart_does_not_forget_what_was_told(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    first = owner(path)
    say(first, "you loop")
    assert first.stdout is not None
    assert json.loads(first.stdout.readline()) == ["you loop"]
    end = time.monotonic() + 60
    with Tocsin(store=path) as line:
        while not line.records.told("a7") and time.monotonic() < end:
            time.sleep(0.01)  # the sink has it; that this is on the ledger is committed a moment later
    first.send_signal(signal.SIGKILL)
    first.communicate()
    second = owner(path)
    say(second, "you loop")
    out, _ = second.communicate(timeout=60)
    assert out == ""
    with Tocsin(store=path) as line:
        last = line.records.messages()[-1]
        assert (last.verdict, last.reason, last.event.key) == ("fold", "told_and_not_rearmed", "breaker:looping")


def test_H04_the_log_stays_small_after_a_reader_that_pinned_it(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    with Tocsin(store=path) as line:
        line.records.register(Recipient(name="dev"))
        reader = Store.open(path, now=line.clock.now())
        with reader.read() as view:
            recipients.every(view)
            for nth in range(40):
                line.feed_all([_mail(f"{nth}-{one} " + "x" * 200) for one in range(250)])
        reader.close()
        for _ in range(5):
            line.send_mail("dev", "one more")
        assert wal_bytes(path) < 8 * 1024 * 1024


def test_H08_order_is_by_sequence_when_the_clock_goes_back(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "tocsin.db", now=10_000_000)
    for at, text in ((10_000_000, "a"), (10_000_001, "b"), (2_800_000, "c")):
        with store.write() as tx:
            intake.accept(tx, _mail(text), recipient="dev", id=text, at=at)
    with store.read() as view:
        assert [stored.event.text for stored in intake.waiting(view, "dev", after=0, limit=9)] == ["a", "b", "c"]
    store.close()


def _mail(text: str) -> Event:

    return Event(text=text, to="dev", traffic="mail")

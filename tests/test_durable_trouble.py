"""Trouble with the database file: people are told once and clearly, delivery goes on, and no file is ever thrown away."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tocsin import Tocsin
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.errors import StoreTooNew
from tocsin.contracts.recipients import Recipient
from tocsin.store.engine import Store

GARBAGE = {"empty text": b" ", "half JSON": b"{", "noise": bytes(range(256)) * 40, "other text": b'{"version": 99}' * 100}


class Box:
    def __init__(self) -> None:
        self.got: list[str] = []

    def put(self, delivery: Delivery) -> Receipt:
        self.got += [entry.text for entry in delivery.entries]
        return Receipt(proof=Proof.RECORDED)


@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path, garbage: str) -> None:
    path, warnings, box = tmp_path / "tocsin.db", [], Box()
    path.write_bytes(GARBAGE[garbage])
    with Tocsin(store=path, warn=warnings.append) as line:
        line.open_lane("dev", box)
        line.send_mail("dev", "still told")
        line.drain()
    assert box.got == ["still told"]
    [aside] = [one for one in tmp_path.iterdir() if "damaged" in one.name]
    assert aside.read_bytes() == GARBAGE[garbage]
    [warning] = warnings
    assert str(path) in warning
    assert str(aside) in warning


def test_a_file_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    with Tocsin(store=path) as line:
        line.records.register(Recipient(name="dev"))
    store = Store.open(path, now=0)
    with store.write() as tx:
        tx.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('tocsin', 'from_the_future', '2999')"
        )
    store.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=str(path)):
        Tocsin(store=path).start()
    assert path.read_bytes() == before


def test_where_no_file_can_be_made_the_line_works_from_memory_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("in the way")
    warnings, box = [], Box()
    with Tocsin(store=tmp_path / "a file" / "tocsin.db", warn=warnings.append) as line:
        assert not line.remembers
        line.open_lane("dev", box)
        assert line.send_mail("dev", "still told") is None
        line.drain()
    assert box.got == ["still told"]
    [warning] = warnings
    assert "delivered from memory" in warning


FULL_DISK = """
    import resource, sys, threading, time
    from pathlib import Path
    from tocsin import Tocsin
    from tocsin.contracts.deliveries import Proof, Receipt
    from tocsin.contracts.errors import StoreFull
    from tocsin.contracts.recipients import Recipient

    class Box:
        def __init__(self): self.got = []
        def put(self, delivery):
            self.got += [entry.text for entry in delivery.entries]
            return Receipt(proof=Proof.RECORDED)

    def until(condition):
        for _ in range(1500):
            if condition(): return
            time.sleep(0.02)
        raise SystemExit("waited in vain")

    warnings, box = [], Box()
    with Tocsin(store=Path(sys.argv[1]), warn=warnings.append) as line:
        line.open_lane("dev", box)
        line.records.register(Recipient(name="elsewhere"))
        line.send_mail("dev", "before", id="m1")
        until(lambda: box.got == ["before"])
        line.records.messages()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        for nth in range(30):
            answer = line.send_mail("dev", f"meanwhile {nth} " + "x" * 3000, id=f"full-{nth}")
            if not answer.durable: break
        print("durable", answer.durable)
        until(lambda: any(text.startswith(f"meanwhile {nth} ") for text in box.got))
        print("told", len(box.got) == len(set(box.got)))
        try:
            line.send_mail("elsewhere", "nowhere to wait")
        except StoreFull as error:
            print("refused", str(Path(sys.argv[1])) in str(error))
        print("trouble", bool(line.status().trouble), len(warnings))
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        until(lambda: line.send_mail("dev", "after", id="after").durable)
        until(lambda: box.got[-1] == "after")
        until(lambda: {one.state for one in line.records.messages()} == {"processed"})
        print("trouble", bool(line.status().trouble), len(warnings))
        print("told", len(box.got) == len(set(box.got)))
"""


def test_a_full_disk_keeps_nobody_from_being_told_and_is_written_again_when_there_is_room(tmp_path: Path) -> None:
    program = [sys.executable, "-c", textwrap.dedent(FULL_DISK), str(tmp_path / "tocsin.db")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=100, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "durable False",
        "told True",
        "refused True",
        "trouble True 1",
        "trouble False 2",
        "told True",
    ]

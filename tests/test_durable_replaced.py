"""A database that is damaged, emptied or gone under a live line: its recipients stay alive, and what was accepted comes."""

import os
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tocsin import Tocsin
from tocsin.contracts.durable import OPEN
from tocsin.contracts.recipients import Recipient
from tocsin.store import intake, recipients
from tocsin.store.engine import Store

_durable = runpy.run_path(str(Path(__file__).parent / "test_durable.py"))
Reader, until = _durable["Reader"], _durable["until"]

SENDER = """
    import sys
    from pathlib import Path
    from tocsin import Tocsin
    with Tocsin(store=Path(sys.argv[1]), warn=lambda text: print(text, file=sys.stderr)) as line:
        mail = line.send_mail("dev", "after", id="after")
        notice = line.send_notice("dev", "mine", "after", "a notice")
        person = line.feed("a person's words", to="dev", traffic="user")
        far = line.send_notice("absent", "mine", "far", "for one who is not here")
        print(*(one.recipient + (one.verdict and ":" + one.verdict) for one in (mail, notice, person, far)))
"""


def damaged(path: Path) -> None:
    """Pages 3 to 8 are overwritten."""
    with path.open("r+b") as file:
        file.seek(2 * 4_096)
        file.write(os.urandom(6 * 4_096))


def garbled(path: Path) -> None:
    """Nothing of it is what it was."""
    with path.open("r+b") as file:
        file.write(os.urandom(path.stat().st_size))
    Path(f"{path}-wal").write_bytes(b"")


def removed(path: Path) -> None:
    for one in path.parent.glob("tocsin.db*"):
        one.unlink()


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def sent_by_another(path: Path) -> tuple[list[str], str]:
    """What another process is answered, and what it says besides."""
    program = [sys.executable, "-c", textwrap.dedent(SENDER), str(path)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


def in_the_file(path: Path) -> None:
    """Everything written so far stands in the database itself and not only in its log."""
    store = Store.open(path, now=0)
    store._ready().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()


def prepare(line: Tocsin, path: Path) -> Any:
    """A live recipient that waits on nothing, an absent one for whom something waits, and one message told."""
    reader = Reader()
    line.open_lane("dev", reader)
    line.records.register(Recipient(name="absent"))
    line.send_mail("absent", "before", id="before")
    line.send_notice("dev", "mine", "before", "told before")
    reader.wait_for("told before")
    until(lambda: line.records.told("dev") and not line.records.messages(states=OPEN, to="dev"))
    in_the_file(path)
    return reader


@pytest.mark.parametrize("fault", [damaged, garbled, removed, emptied])
def test_a_live_recipient_is_told_what_another_process_sends_whatever_became_of_the_file(tmp_path: Path, fault: Any) -> None:
    path, warnings = tmp_path / "tocsin.db", list[str]()
    with Tocsin(store=path, warn=warnings.append) as line:
        reader = prepare(line, path)
        fault(path)
        if fault is removed:
            # Who comes to an empty place before that can't know that there was a file, nor who was in it.
            until(lambda: warnings)
        answers, said = sent_by_another(path)
        assert answers[0] == "dev", said
        assert all(":" not in answer for answer in answers), (answers, said)
        reader.wait_for("after", "a notice", "a person's words")
        assert reader.texts().count("after") == 1
        own = line.send_notice("dev", "mine", "own", "from its own process")
        assert own is not None
        assert not own.verdict
        reader.wait_for("from its own process")
        line.send_notice("dev", "mine", "before", "told before, again")
        line.send_mail("dev", "the end")
        reader.wait_for("the end")
        assert "told before, again" not in reader.texts()
        until(lambda: "mine:before" in {one.signature for one in line.records.told("dev")})
        found = line.records.owner_of("dev")
        assert found is not None
        assert found.pid == os.getpid()
        assert [one.recipient for one in line.status().lanes if one.name == "dev"] == ["idle"]
        assert len([text for text in warnings if "a new one is in its place" in text]) == 1, warnings
        assert line.status().trouble == ""


def test_what_waits_for_one_who_is_not_here_is_taken_over_from_a_file_that_was_removed(tmp_path: Path) -> None:
    path, warnings = tmp_path / "tocsin.db", list[str]()
    with Tocsin(store=path, warn=warnings.append) as line:
        prepare(line, path)
        removed(path)
        until(lambda: warnings)
        assert line.records.find("absent") is not None
        assert [one.id for one in line.records.messages(to="absent", states=OPEN)] == ["before"]
        [warning] = warnings
        how = "was set aside or removed while it was in use; a new one is in its place"
        assert warning == f"{path} {how}: 1 message without an end taken over, with all the rest"


def test_what_could_not_be_read_is_named_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    with Tocsin(store=path, warn=lambda _: None) as line:
        prepare(line, path)
    damaged(path)
    _, said = sent_by_another(path)
    [aside] = [one for one in tmp_path.iterdir() if "damaged" in one.name and one.name.endswith("Z")]
    assert f"a damaged database was set aside as {aside}, and a new one begun: " in said
    assert "not all could be read of: " in said
    assert "notices" in said.partition("not all could be read of: ")[2]


def test_an_owner_that_finds_the_damage_itself_sets_the_file_aside_and_says_where(tmp_path: Path) -> None:
    path, warnings = tmp_path / "tocsin.db", list[str]()
    with Tocsin(store=path, warn=warnings.append) as line:
        reader = prepare(line, path)
        emptied(path)
        line.send_mail("dev", "go on", id="m1")
        reader.wait_for("go on")
        until(lambda: not line.records.messages(to="dev", states=OPEN))
        [aside] = [one for one in tmp_path.iterdir() if "damaged" in one.name and one.suffix.endswith("Z")]
        [warning] = warnings
        assert f"was damaged, and is set aside as {aside}; a new one is in its place: " in warning
        assert [one.id for one in line.records.message("m1")] == ["m1"]


def test_a_wait_on_a_human_is_in_the_new_file_too(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    with Tocsin(store=path, warn=lambda _: None) as line:
        line.open_lane("dev", Reader())
        line.observe("dev", _durable["HookEvent"](hook_event_name="PermissionRequest"))
        until(lambda: line.records.waits("dev") is not None)
        in_the_file(path)
        garbled(path)
        line.look()
        sent_by_another(path)
        until(lambda: (state := line.records.waits("dev")) is not None and state.permission)


def test_an_archived_recipient_of_this_process_stays_dead_in_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / "tocsin.db"
    with Tocsin(store=path, warn=lambda _: None) as line:
        prepare(line, path)
        line.records.archive("dev")
        until(lambda: line.status().lanes[0].recipient == "dead")
        removed(path)
        until(path.exists)
        assert [one.life for one in line.records.recipients() if one.name == "dev"] == ["archived"]


def test_a_file_that_was_emptied_while_nobody_had_it_is_set_aside_with_a_word(tmp_path: Path) -> None:
    path, warnings = tmp_path / "tocsin.db", list[str]()
    store = Store.open(path, now=0)
    with store.write() as tx:
        recipients.register(tx, Recipient(name="dev"))
    log = Path(f"{path}-wal").read_bytes()
    store.close()
    path.write_bytes(b"")
    Path(f"{path}-wal").write_bytes(log)  # as a process that was killed leaves it
    with Tocsin(store=path, warn=warnings.append) as line:
        answer = line.send_mail("dev", "kept")
        assert answer is not None
        assert answer.recipient == "dev"
    [warning] = warnings
    [aside] = [one for one in tmp_path.iterdir() if "damaged" in one.name and one.name.endswith("-wal")]
    assert aside.read_bytes() == log
    assert "not all could be read of: recipients" in warning


def test_a_name_is_not_dead_because_the_registry_was_lost_until_two_days_later(tmp_path: Path) -> None:
    path, day = tmp_path / "tocsin.db", 86_400_000
    path.write_bytes(b"nothing of a database" * 100)
    with Tocsin(store=path, warn=lambda _: None) as line:
        answer = line.send_notice("dev", "mine", "k", "for whoever that is")
        assert answer is not None
        assert (answer.recipient, answer.verdict) == ("dev", "")
        now = line.clock.now()
    for later, dead in ((1, False), (2, True)):
        store = Store.open(path, now=now + later * (day + 1_000))
        with store.read() as view:
            assert recipients.is_dead(view, "dev") is dead
            assert [one.recipient for one in intake.listing(view)] == ["dev"]
        store.close()

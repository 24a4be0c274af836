"""What a command of the queue leaves behind: a lost one what its own database needs, one that is done or off nothing."""

import json
import os
import pty
import runpy
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tocsin.edges.clock import SteadyClock
from tocsin.edges.opened import open_sound

_here = Path(__file__).parent
_processes = runpy.run_path(str(_here / "processes.py"))
world, until, argv = (_processes[name] for name in ("world", "until", "argv"))
_attending = runpy.run_path(str(_here / "attending.py"))
did, no, told, lines, source, summoned, shown, standing, kept, locked, state, database = (
    _attending[name]
    for name in (
        *("did", "no", "told", "lines", "source", "summoned", "shown", "standing", "kept", "locked", "state", "database"),
    )
)


@pytest.fixture
def here():
    with world() as one:
        yield one


@contextmanager
def other_locked(path):
    store = open_sound(path, SteadyClock(), print)
    try:
        with store.write():
            yield
    finally:
        store.close()


@pytest.fixture
def two(here):
    """An item in the usual database, taken and shown, and one in another; the other's path."""
    other = here.place / "other queue.db"
    for more in ((), ("--store", other)):
        did(here, "start", "--project", "p", "--title", "Mine", *more)
    did(here, "next")
    return other


def lost_in(here, other, *more):
    """A command for the other database whose outcome nobody knows."""
    with other_locked(other):
        code, answer = told(here, "resolve", "--store", other, "--response", "yes, delete it", "--expected-revision", 1, *more)
    assert code == 6
    return answer["error"]


# A lost command goes to its own database


@pytest.mark.parametrize("place", [".", "elsewhere"])
def test_the_command_that_is_printed_reaches_the_queue_that_was_meant_from_everywhere(here, two, place) -> None:
    error = lost_in(here, two)
    assert error["store"] == str(two)
    (here.place / "elsewhere").mkdir()
    printed = shlex.split(error["reconcile"])
    assert printed[0] == "tocsin"
    run = subprocess.run(
        [*argv(*printed[1:]), "--json"], env=here.environ, cwd=here.place / place, capture_output=True, check=True, timeout=60
    )
    assert json.loads(run.stdout)["result"] == "resolved"
    assert standing(here) == {1: "active"}
    assert did(here, "show", 1, "--store", two)["item"]["response"] == "yes, delete it"


def test_the_id_alone_reaches_the_queue_that_was_meant_too(here, two) -> None:
    assert did(here, "retry-command", lost_in(here, two)["command_id"])["result"] == "resolved"
    assert standing(here) == {1: "active"}


def test_no_other_database_is_given_a_command_that_is_not_for_it(here, two) -> None:
    error = lost_in(here, two)
    assert no(here, "retry-command", error["command_id"], "--store", database(here)) == (3, "wrong_broker")
    assert standing(here) == {1: "active"}
    words = lines(here, "retry-command", error["command_id"], "--store", database(here))[2]
    assert f"--store {shlex.quote(str(two))}" in words
    assert no(here, "retry-command", error["command_id"], "--store", here.place / "third.db") == (3, "wrong_broker")
    assert not (here.place / "third.db").exists()
    assert did(here, "retry-command", error["command_id"], "--store", two)["result"] == "resolved"


def test_a_database_that_was_moved_is_known_again_by_its_own_id(here, two) -> None:
    error = lost_in(here, two)
    for file in here.place.glob("other queue.db*"):
        file.rename(file.with_name(file.name.replace("other queue", "moved")))
    assert no(here, "retry-command", error["command_id"]) == (3, "wrong_broker")
    assert not two.exists()
    assert did(here, "retry-command", error["command_id"], "--store", here.place / "moved.db")["result"] == "resolved"


def test_what_a_project_settles_is_not_what_another_directory_gets(here) -> None:
    project = here.place / "project"
    (project / ".tocsin").mkdir(parents=True)
    start = ["start", "--project", "p", "--title", "Mine"]
    did(here, *start)
    in_project = {"env": here.environ, "cwd": project, "capture_output": True, "timeout": 60}
    subprocess.run(argv("attention", *start), check=True, **in_project)
    with other_locked(project / ".tocsin" / "tocsin.db"):
        resolve = ("attention", "resolve", "--response", "in the project", "--expected-revision", "1", "--json")
        run = subprocess.run(argv(*resolve), check=False, **in_project)
    assert run.returncode == 6
    did(here, "retry-command", json.loads(run.stdout)["error"]["command_id"])
    assert standing(here) == {1: "active"}
    found = did(here, "show", 1, "--store", project / ".tocsin" / "tocsin.db")["item"]
    assert found["response"] == "in the project"


def test_a_command_whose_database_was_not_noted_is_sent_only_where_the_person_says(here, two) -> None:
    error = lost_in(here, two)
    Path(error["request"]).with_suffix(".queue").unlink()
    assert no(here, "retry-command", error["command_id"]) == (4, "unknown_command")
    assert standing(here) == {1: "active"}
    assert did(here, "retry-command", error["command_id"], "--store", two)["result"] == "resolved"


# What is over leaves no file


def test_a_command_whose_answer_was_told_leaves_no_file_and_its_receipt_is_told_again(here) -> None:
    done = did(here, "add", "--project", "p", "--title", "Mine")
    assert no(here, "resolve", 1, "--response", "x", "--expected-revision", 9)[0] == 5
    assert no(here, "next", env={"TOCSIN_DELIVERY_TOKEN": "t"}) == (3, "not_yours")
    assert list((state(here) / "requests").iterdir()) == []
    assert did(here, "retry-command", done["command_id"]) == {**done, "replayed": True}
    assert no(here, "retry-command", "8ba99410-c894-4632-aea6-b33a06a6b015") == (4, "unknown_command")


def test_doctor_lists_what_became_of_nobody_knows(here, two) -> None:
    assert did(here, "doctor")["open_commands"] == []
    error = lost_in(here, two)
    (found,) = did(here, "doctor")["open_commands"]
    assert (found["command_id"], found["action"], found["path"]) == (error["command_id"], "resolve", str(two))
    assert error["reconcile"] in lines(here, "doctor")[1]
    did(here, "retry-command", error["command_id"])
    assert did(here, "doctor")["open_commands"] == []


# Off


@pytest.mark.parametrize(
    "command",
    [
        ("next",),
        ("add", "--project", "p", "--title", "x"),
        ("resolve", "--response", "x"),
        ("source", "revoke", "s", "--reason", "r"),
        ("bind", "--project", "p", "--work", "w", "--return", "none", "--operator", "--actor", "dev", "--out", "s.json"),
        ("retry-command", "8ba99410-c894-4632-aea6-b33a06a6b015", "--store", "new.db"),
    ],
    ids=lambda command: command[0],
)
def test_switched_off_it_makes_nothing(here, command) -> None:
    code, _ = no(here, *command, env={"TOCSIN_ATTENTION__ENABLED": "false"})
    assert code == 4
    assert [path for path in here.place.rglob("*") if path.suffix in (".key", ".db", ".json")] == []


def test_a_lost_command_is_kept_while_the_queue_is_off(here, two) -> None:
    error = lost_in(here, two)
    assert no(here, "retry-command", error["command_id"], env={"TOCSIN_ATTENTION__ENABLED": "false"}) == (4, "disabled")
    assert did(here, "retry-command", error["command_id"])["result"] == "resolved"


# A seat that is cut off


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_a_summons_that_is_cut_off_says_that_it_may_be_sent_again(here, number) -> None:
    film = source(here)
    ask = ["--project", "film", "--work", "batch-1", "--key", "k", "--kind", "decision", "--title", "t", "--action", "a"]
    ask += ["--context", "c", "--unblocks", "u", "--source-file", str(film)]
    with locked(here):
        process = here.start("attention", "summon", *ask)
        until(lambda: waits_for_the_lock(process.pid), "the wait")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (128 + number, b"")
    assert b"whether it is stored is not known: send the same again" in err
    assert b"Traceback" not in err
    assert did(here, "summon", *ask)["result"] == "created"


def waits_for_the_lock(pid):
    """It has the database open, and handlers for its signals."""
    try:
        opened = {str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir()}
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return any(name.endswith(".db") for name in opened) and caught & 1 << (signal.SIGTERM - 1)


# The editor


EDITOR = """
import pathlib, sys, time
place = pathlib.Path(sys.argv[1])
place.write_text("Use C.\\n" + place.read_text())
pathlib.Path("saved").touch()
while not pathlib.Path("go").exists():
    time.sleep(0.02)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_an_answer_that_was_saved_in_the_editor_outlives_the_command(here, number) -> None:
    did(here, "start", "--project", "p", "--title", "Mine")
    (here.place / "editor.py").write_text(EDITOR)
    env = {**here.environ, "EDITOR": f"{sys.executable} {here.place / 'editor.py'}", "VISUAL": ""}
    master, slave = pty.openpty()
    command = argv("attention", "resolve", "1")
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=subprocess.PIPE, env=env, cwd=here.place, start_new_session=True
    )
    os.close(slave)
    until((here.place / "saved").exists, "the editor")
    process.send_signal(number)
    err = process.stderr.readline().decode()
    assert process.wait(60) == 128 + number
    (here.place / "go").touch()
    process.stderr.close()
    os.close(master)
    (draft,) = (state(here) / "attention" / "drafts").rglob("*.md")
    assert err == (
        f"tocsin: nothing was sent; what the editor saves is in {draft}, and `tocsin attention resolve` opens it again\n"
    )
    assert draft.read_text().startswith("Use C.\n")
    assert standing(here) == {1: "active"}
    (here.place / "touch").write_text('#!/bin/sh\nprintf \'%s\\n\' "$(cat "$1")" > "$1"\n')
    (here.place / "touch").chmod(0o755)
    code, _ = _attending["typed"](here, command, env={"EDITOR": str(here.place / "touch"), "VISUAL": ""})
    assert (code, shown(here, 1).response) == (0, "Use C.")
    assert not draft.exists()

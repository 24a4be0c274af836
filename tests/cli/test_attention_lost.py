"""``tocsin attention`` when the answer is lost: kept before it was sent, done once or not at all, never said to have failed."""

import json
import os
import runpy
import shlex
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tocsin.contracts.attention_commands import Defer, Next, Resolve
from tocsin.edges.opened import open_sound
from tocsin.store import recipients

_here = Path(__file__).parent
_processes = runpy.run_path(str(_here / "processes.py"))
world, python, until, argv = (_processes[name] for name in ("world", "python", "until", "argv"))
_attending = runpy.run_path(str(_here / "attending.py"))
did, no, told, lines, source, source_id, summoned, shown, standing, kept, locked, desk, person, state, database = (
    _attending[name]
    for name in (
        *("did", "no", "told", "lines", "source", "source_id", "summoned", "shown", "standing", "kept", "locked", "desk"),
        *("person", "state", "database"),
    )
)
register, CLOCK = (_attending[name] for name in ("register", "CLOCK"))

KILLED = """
import os, signal, sys
from tocsin.cli.entry import main
from tocsin.edges.attention import desk

point = sys.argv.pop(1)
act, carry_out = desk.AttentionDesk.act, desk.carry_out

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def killed_before(*_):
    die()

def killed_inside(*arguments, **more):
    carry_out(*arguments, **more)
    die()

def killed_after(*arguments):
    act(*arguments)
    die()

if point == "inside":
    desk.carry_out = killed_inside
else:
    desk.AttentionDesk.act = {"before": killed_before, "after": killed_after}[point]
main()
"""
"""The real command, killed by a real signal before it is sent, before what it wrote is committed, or after that."""


@pytest.fixture
def here():
    with world() as one:
        yield one


def killed(here, point, *arguments):
    """Run a command that is killed at that point; it must not have said a word."""
    command = [*python(KILLED), point, "attention", *map(str, arguments)]
    done = subprocess.run(command, env=here.environ, cwd=here.place, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGKILL, b"", b"")


MUTATIONS = {
    "add": (["add", "--project", "p", "--title", "Mine"], {6: "queued"}),
    "next": (["next"], {3: "active"}),
    "pick": (["next", 4], {4: "active"}),
    "start": (["start", "--project", "p", "--title", "Mine"], {6: "active"}),
    "resolve": (["resolve", 2, "--response", "yes", "--expected-revision", 2], {2: "resolved"}),
    "resolve-next": (["resolve", 2, "--response", "yes", "--next", "--expected-revision", 2], {2: "resolved", 3: "active"}),
    "defer": (["defer", 2, "--until", "2h", "--reason", "r", "--expected-revision", 2], {2: "deferred"}),
    "defer-next": (
        ["defer", 2, "--until", "2h", "--reason", "r", "--next", "--expected-revision", 2],
        {2: "deferred", 3: "active"},
    ),
    "cancel": (["cancel", 2, "--reason", "r", "--expected-revision", 2], {2: "cancelled"}),
    "cancel-waiting": (["cancel", 3, "--reason", "r", "--expected-revision", 1], {3: "cancelled"}),
    "requeue": (["requeue", 5, "--reason", "r", "--expected-revision", 2], {5: "queued"}),
    "amend": (["amend", 3, "--operator", "--title", "Other", "--expected-revision", 1], {}),
    "retry-return": (["retry-return", 1, "--return-generation", 1, "--expected-revision", 3], {}),
    "reroute-return": (
        ["reroute-return", 1, "--return-generation", 1, "--source", "OPS", "--reason", "r", "--expected-revision", 3],
        {},
    ),
    "revoke": (["source", "revoke", "OPS", "--reason", "r"], {}),
}
NEEDS_NOBODY_ACTIVE = ("next", "pick", "start")


def a_queue(here, *, active):
    """1 resolved, its answer blocked, since its recipient was archived then; 2 active (or deferred); 3, 4 queued; 5 deferred.

    The id of a source that the answer could go to instead.
    """
    film, ops = source(here), source(here, actor="ops")
    for key in ("one", "two", "three", "four", "five"):
        summoned(here, film, key=key)
    person(here, Next, human_id="human")
    archive(here, "dev")
    person(here, Resolve, item_id=1, expected_revision=2, outcome="answered", response="to nobody", select_next=True)
    register(here, "dev")
    person(here, Defer, item_id=5, expected_revision=1, reason="r", until=None)
    if not active:
        person(here, Defer, item_id=2, expected_revision=2, reason="r", until=None)
    return source_id(ops)


def archive(here, actor):
    store = open_sound(database(here), CLOCK, print)
    try:
        with store.write() as tx:
            recipients.archive(tx, actor, CLOCK.now())
    finally:
        store.close()


def events(here):
    """The whole history of everything."""
    with desk(here) as found:
        return [found.history(item_id).events for item_id in range(1, 7)]


@pytest.mark.parametrize("point", ["before", "inside", "after"])
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_command_that_was_killed_is_carried_out_once_by_its_retry(here, name, point) -> None:
    ops = a_queue(here, active=name not in NEEDS_NOBODY_ACTIVE)
    command, changes = MUTATIONS[name]
    before = standing(here)
    killed(here, point, *(ops if word == "OPS" else word for word in command))
    assert standing(here) == (before | changes if point == "after" else before)
    request = json.loads(kept(here)[-1].read_bytes())
    first = did(here, "retry-command", request["command_id"])
    assert (first["command_id"], first["action"]) == (request["command_id"], request["action"])
    assert first["replayed"] is (point == "after")
    assert standing(here) == before | changes
    so_far = events(here)
    assert did(here, "retry-command", request["command_id"]) == {**first, "replayed": True}
    assert standing(here) == before | changes
    assert events(here) == so_far
    if name in ("resolve", "resolve-next"):
        assert (shown(here, 2).response, shown(here, 2).returned.generation) == ("yes", 1)
    if name == "amend":
        assert (shown(here, 3).packet.title, shown(here, 3).revision) == ("Other", 2)
    if name in ("retry-return", "reroute-return"):
        assert shown(here, 1).returned.generation == 2
        assert shown(here, 1).returned.source_id.startswith("src-ops" if name == "reroute-return" else "src-dev")
    if name == "revoke":
        with desk(here) as found:
            assert found.source(ops).revoked_reason == "r"


def test_A05_after_a_crash_the_claimed_item_is_still_the_persons(here) -> None:
    film = source(here)
    for key in "ab":
        summoned(here, film, key=key)
    killed(here, "after", "next")
    again = did(here, "next")
    assert (again["result"], again["active"]["item_id"]) == ("already_active", 1)
    lines(here, "next")
    killed(here, "after", "resolve", "--response", "yes", "--next")
    assert did(here, "next")["active"]["item_id"] == 2


def test_while_the_database_is_locked_the_id_is_told_and_no_failure(here) -> None:
    summoned(here, source(here))
    did(here, "next")
    lines(here, "next")
    with locked(here):
        code, answer = told(here, "resolve", "--response", "yes")
        words = lines(here, "resolve", "--response", "other")
    error = answer["error"]
    assert (code, error["code"], error["retryable"], error["outcome"]) == (6, "store_busy", True, "unknown")
    assert error["reconcile"] == f"tocsin attention retry-command {error['command_id']} --store {database(here)}"
    assert json.loads(Path(error["request"]).read_bytes())["payload"]["response"] == "yes"
    assert words[:2] == (6, "")
    for text in (words[2], error["text"]):
        assert "Nothing was changed" not in text
        assert "fail" not in text
    request = json.loads(kept(here)[-1].read_bytes())
    assert f"whether it was carried out is not known. It is kept in {kept(here)[-1]}; " in words[2]
    assert f"`tocsin attention retry-command {request['command_id']} --store {database(here)}`" in words[2]
    assert did(here, "retry-command", error["command_id"])["result"] == "resolved"
    assert no(here, "retry-command", request["command_id"]) == (5, "stale_revision")
    assert shown(here, 1).response == "yes"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_that_comes_before_the_answer_is_told_with_the_id(here, number) -> None:
    summoned(here, source(here))
    before = len(kept(here))
    with locked(here):
        process = here.start("attention", "next")
        until(lambda: len(kept(here)) > before, "the request")
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (128 + number, b"")
    request = json.loads(kept(here)[-1].read_bytes())
    assert f"`tocsin attention retry-command {request['command_id']} --store {database(here)}`" in err.decode()
    assert "Traceback" not in err.decode()
    assert did(here, "retry-command", request["command_id"])["result"] == "claimed"


def test_an_answer_that_nobody_could_read_is_told_with_the_id(here) -> None:
    summoned(here, source(here))
    read, write = os.pipe()
    os.close(read)
    process = here.start("attention", "next", stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGPIPE
    request = json.loads(kept(here)[-1].read_bytes())
    assert request["command_id"] in err.decode()
    assert did(here, "retry-command", request["command_id"])["active"]["item_id"] == 1


def test_what_could_not_be_kept_is_not_sent(here) -> None:
    summoned(here, source(here))
    did(here, "queue")
    (state(here) / "requests").write_text("in the way")
    code, out, err = lines(here, "next")
    assert (code, out) == (6, "")
    assert f"tocsin: {state(here)}/requests/" in err
    assert "retry-command" not in err
    assert no(here, "next") == (6, "store_full")
    assert standing(here) == {1: "queued"}


def test_what_was_shown_and_could_not_be_noted_is_done_all_the_same(here) -> None:
    summoned(here, source(here))
    (state(here) / "attention").write_text("in the way")
    code, out, err = lines(here, "next")
    assert (code, out.split("\n")[0]) == (0, "ATN-1 · film · Review the parser")
    assert "so the next command needs the number and --expected-revision\n" in err
    assert no(here, "resolve", "--response", "x") == (2, "bad_input")
    assert did(here, "resolve", 1, "--response", "x", "--expected-revision", 2)["result"] == "resolved"


def test_what_is_sent_again_is_what_was_kept_to_the_letter(here) -> None:
    summoned(here, source(here))
    did(here, "next")
    lines(here, "next")
    killed(here, "after", "resolve", "--response", "to the\tletter ✓\n")
    (file,) = kept(here)
    lost, content = file.stem, file.read_text()
    file.write_text(content.replace("letter", "LETTER"))
    assert no(here, "retry-command", lost) == (5, "command_id_conflict")
    file.write_text("{}")
    assert no(here, "retry-command", lost) == (2, "invalid")
    file.write_text(content)
    file.chmod(0o666)
    assert no(here, "retry-command", lost) == (3, "not_yours")
    file.chmod(0o600)
    assert did(here, "retry-command", lost.upper())["replayed"] is True
    assert shown(here, 1).response == "to the\tletter ✓\n"


def test_A04_two_terminals_that_ask_at_once_have_one_item(here) -> None:
    film = source(here)
    for key in "abcd":
        summoned(here, film, key=key)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: did(here, "next"), range(4)))
    assert {one["active"]["item_id"] for one in answers} == {1}
    assert sorted(one["result"] for one in answers) == ["already_active"] * 3 + ["claimed"]


def test_an_answer_without_a_number_is_for_the_item_that_this_terminal_shows(here) -> None:
    film = source(here)
    for key in "abc":
        summoned(here, film, key=key)
    script = f"""
        {command("next")} && touch one && while [ ! -e go ]; do sleep 0.05; done
        {command("resolve", "--response", "for the first", "--next")} > refused.json; echo $? > code
        {command("next")} && {command("resolve", "--response", "for the second")}
    """
    other = subprocess.Popen(
        ["sh", "-c", script], env=here.environ, cwd=here.place, start_new_session=True, stdout=subprocess.PIPE
    )
    until((here.place / "one").exists, "the other terminal")
    did(here, "show", 1)
    assert did(here, "resolve", "--response", "decided here", "--next")["active"]["item_id"] == 2
    (here.place / "go").touch()
    out, _ = other.communicate(timeout=60)
    refused = json.loads((here.place / "refused.json").read_text())["error"]
    assert ((here.place / "code").read_text(), refused["code"]) == ("2\n", "bad_input")
    assert refused["text"].startswith("ATN-2 is active now, and not ATN-1, which this terminal showed last: ")
    assert json.loads(out.splitlines()[-1])["item_id"] == 2
    assert [shown(here, item).response for item in (1, 2, 3)] == ["decided here", "for the second", None]


def command(*words):
    """A command for a shell."""
    return shlex.join([*argv("attention", *words), "--json"])

"""The person's queue: no answer goes to words that were not read, another item or another session, unnoticed."""

import json
import runpy
import shlex
import subprocess
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, argv = (_processes[name] for name in ("world", "argv"))
_attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
did, no, told, lines, source, source_id, summoned, shown, standing, packet, typed = (
    _attending[name]
    for name in ("did", "no", "told", "lines", "source", "source_id", "summoned", "shown", "standing", "packet", "typed")
)


@pytest.fixture
def here():
    with world() as one:
        yield one


class Shell:
    """A shell in a session of its own, as each terminal has one."""

    def __init__(self, here):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            ["sh"], env=here.environ, cwd=here.place, stdin=pipe, stdout=pipe, text=True, start_new_session=True
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def run(self, *arguments):
        """Code and everything that was said."""
        command = shlex.join(argv("attention", *arguments))
        self.process.stdin.write(f'{command} 2>&1 </dev/null; echo "ended $?"\n')
        self.process.stdin.flush()
        said = ""
        for line in self.process.stdout:
            if line.startswith("ended "):
                return int(line.split()[1]), said
            said += line
        raise AssertionError(f"the shell has ended: {said}")


def test_a_round_asked_again_by_another_session_is_told_where_its_answer_goes(here) -> None:
    old = source(here, mode="pinned_session", session="dead")
    one = summoned(here, old)
    again = source(here)
    words = json.dumps(packet())
    answer = did(here, "summon", "--file", "-", "--source-file", again, stdin=words)
    assert (answer["result"], answer["item_id"], answer["source_id"]) == ("existing", one, source_id(old))
    assert answer["belongs_elsewhere"] == {
        "actor": "dev",
        "edge": "here",
        "return_mode": "pinned_session",
        "session_id": "dead",
    }
    code, out, err = lines(here, "summon", "--file", "-", "--source-file", again, stdin=words)
    assert (code, out) == (0, f"ATN-{one} is there already (queued, revision 1); nothing was added\n")
    assert f"belongs to another source, {source_id(old)}: its answer goes to dev, only session dead" in err
    assert f"reroute-return {one} --return-generation 1" in err
    own = did(here, "summon", "--file", "-", "--source-file", old, stdin=words)
    assert (own["result"], own["belongs_elsewhere"]) == ("existing", None)


def test_without_a_number_only_what_this_terminal_has_shown_is_decided_about(here) -> None:
    summoned(here, source(here))
    did(here, "next")
    with Shell(here) as other:
        for command in (
            ["resolve", "--response", "x"],
            ["resolve", "--response", "x", "--expected-revision", "2"],
            ["cancel", "--reason", "r"],
            ["defer", "--until", "2h", "--reason", "r"],
        ):
            code, said = other.run(*command)
            assert code == 2
            assert "ATN-1 is active, and this terminal has not shown it: look first (`tocsin attention next`)" in said
        assert standing(here) == {1: "active"}
        assert other.run("show", "1")[0] == 0
        assert other.run("defer", "--until", "2h", "--reason", "r")[0] == 0
    did(here, "requeue", 1, "--reason", "r", "--expected-revision", 3)
    did(here, "next")
    with Shell(here) as third:
        assert third.run("resolve", "1", "--response", "x", "--expected-revision", "5")[0] == 0


def test_what_another_terminal_was_shown_counts_there_alone_and_an_amendment_is_no_reading(here) -> None:
    summoned(here, source(here))
    with Shell(here) as one, Shell(here) as other:
        assert one.run("next")[0] == 0
        assert other.run("show", "1")[0] == 0
        assert other.run("amend", "1", "--operator", "--context", "Three files.")[0] == 0
        code, said = other.run("resolve", "1", "--response", "x")
        assert (code, "since revision 2: amended" in said, "context is now: Three files." in said) == (5, True, True)
        assert other.run("show", "1")[0] == 0
        code, said = one.run("resolve", "--response", "x")
        assert (code, "item 1 is at revision 3, not 2: read it again" in said) == (5, True)
        assert one.run("next")[0] == 0
        assert one.run("resolve", "--response", "x")[0] == 0


def test_an_old_answer_that_is_told_again_says_so_first_and_shows_nothing_new(here) -> None:
    film = source(here)
    for key in "abc":
        summoned(here, film, key=key)
    did(here, "next")
    earlier = did(here, "defer", "--until", "3d", "--reason", "r", "--next")["command_id"]
    assert did(here, "resolve", "--response", "x", "--next")["active"]["item_id"] == 3
    with Shell(here) as other:
        code, said = other.run("retry-command", earlier)
        assert (code, said.startswith("this was carried out before (")) == (0, True)
        assert other.run("resolve", "--response", "x")[0] == 2
        assert other.run("cancel", "2", "--reason", "r")[0] == 2
    assert standing(here) == {1: "deferred", 2: "resolved", 3: "active"}


def test_an_answer_is_not_sent_the_same_way_and_the_way_in_force_is_shown(here) -> None:
    dead = source(here, mode="pinned_session", session="dead")
    same = source(here, mode="pinned_session", session="dead")
    alive = source(here)
    summoned(here, dead)
    did(here, "next")
    did(here, "resolve", "--response", "x")
    did(here, "show", 1)
    reroute = ["reroute-return", 1, "--return-generation", 1, "--reason", "r", "--source"]
    for way in (dead, same):
        assert no(here, *reroute, source_id(way)) == (5, "same_route")
    assert did(here, *reroute, source_id(alive))["result"] == "return_rerouted"
    assert did(here, "show", 1)["item"]["route"]["return_mode"] == "actor_context"
    out = lines(here, "show", 1)[1]
    assert "Return:   to dev, any session of it; the context is told again\n" in out
    assert "dead" not in out


def test_an_answer_that_does_not_get_through_is_found_with_the_command_that_sends_it(here) -> None:
    dead = source(here, mode="pinned_session", session="dead")
    summoned(here, dead)
    assert "only session dead; but another session of dev runs now" in " ".join(lines(here, "next")[1].split())
    assert did(here, "show", 1)["obstacle"] == "another_session_runs"
    code, out, err = lines(here, "resolve", "--response", "x")
    assert (code, out.startswith("ATN-1 resolved; its answer is kept and not sent: return blocked, generation 1 (")) == (
        0,
        True,
    )
    assert "`tocsin attention doctor`" in err
    assert "`tocsin attention doctor` says which answers do not get through" in lines(here, "queue")[1]
    good = source(here)
    code, health = told(here, "doctor")
    (trouble,) = health["troubles"]
    assert (code, trouble["code"], trouble["item_id"]) == (5, "return_blocked", 1)
    (stuck,) = health["stuck"]
    assert (stuck["item_id"], stuck["phase"], stuck["reason"]) == (1, "blocked", "another_session_runs")
    code, out, _ = lines(here, "doctor")
    assert (code, "ATN-1 blocked: another_session_runs" in out) == (5, True)
    command = f"tocsin attention reroute-return 1 --return-generation 1 --expected-revision 3 --source {source_id(good)}"
    assert f"`{command} --reason WHY`" in out
    with Shell(here) as anywhere:
        assert anywhere.run(*command.split()[2:], "--reason", "its session is gone")[0] == 0
    assert told(here, "doctor")[0] == 0


def test_a_text_that_was_written_while_the_item_changed_is_kept_and_the_person_told_where(here) -> None:
    summoned(here, source(here))
    did(here, "next")
    amend = shlex.join(argv("attention", "amend", "1", "--operator", "--expected-revision", "2", "--context", "Now three."))
    path = here.place / "editor.sh"
    path.write_text(f'#!/bin/sh\n{amend} >/dev/null 2>&1\n{{ echo \'Use C.\'; cat "$1"; }} > new.md; cat new.md > "$1"\n')
    path.chmod(0o755)
    code, text = typed(here, argv("attention", "resolve", "1"), env={"EDITOR": str(path), "VISUAL": ""})
    assert code == 5
    assert "context is now: Now three." in text
    assert "your text is kept; `tocsin attention resolve 1` opens it again" in text
    path.write_text('#!/bin/sh\ntouch "$1"\n')
    code, text = typed(here, argv("attention", "resolve", "1"), env={"EDITOR": str(path), "VISUAL": ""})
    assert (code, shown(here, 1).response) == (0, "Use C.")


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        (["resolve", "1", "--response", "x", "--expected-revision", "1"], "`tocsin attention next 1` takes it"),
        (["requeue", "1", "--reason", "r", "--expected-revision", "1"], "it waits in the line already"),
        (["requeue", "2", "--reason", "r", "--expected-revision", "2"], "`tocsin attention defer 2"),
        (["withdraw", "2", "--reason", "r", "--expected-revision", "2"], "`tocsin attention amend 2`"),
        (["defer", "3", "--until", "1h", "--reason", "r", "--expected-revision", "2"], "`tocsin attention requeue 3"),
        (["cancel", "4", "--reason", "r", "--expected-revision", "2"], "a new round is a new item"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_is_not_possible_now_names_what_is(prepared, command, instead) -> None:
    here, film = prepared
    more = ["--source-file", film] if command[0] == "withdraw" else []
    code, _, err = lines(here, *command, *more)
    assert (code, instead in err) == (5, True), err


@pytest.fixture(scope="module")
def prepared():
    """1 queued, 2 active, 3 deferred, 4 cancelled; with their source."""
    with world() as one:
        film = source(one)
        for key in "abcd":
            summoned(one, film, key=key)
        did(one, "next", 2)
        did(one, "defer", 3, "--until", "indefinitely", "--reason", "r", "--expected-revision", 1)
        did(one, "cancel", 4, "--reason", "r", "--expected-revision", 1)
        yield one, film

"""``status``, ``explain``, ``decisions``, ``letters``, ``pause``: what a person asks of a line that runs, and gets told."""

import json
import runpy
import signal
import subprocess
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, argv, python = (_processes[name] for name in ("world", "until", "argv", "python"))

FAILING = """
import sys
print("starting", flush=True)
def total(cart):
    return cart["price"]
print("no error here", file=sys.stderr)
total({})
"""


@pytest.fixture
def here():
    with world() as one:
        yield one


@pytest.fixture
def agent(here):
    with here.agent("composer") as terminal:
        terminal.sees("> ")
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient")
        yield terminal


def test_the_story_of_what_was_told_can_be_asked_for(here, agent) -> None:
    here.tocsin("watch", "--to", "dev", "--scope", "shop", "--", *python(FAILING))
    (block,) = agent.submitted(1)
    notice = block.split("(id ")[1].split(")")[0]
    until(lambda: here.status()["delivered"] == 2)
    code, out, _ = here.tocsin("explain", notice)
    assert code == 0
    head, columns, *steps = out.splitlines()
    assert head.startswith(f"{notice} for dev, fingerprint ")
    assert columns.split() == ["WHEN", "WHERE", "WHAT", "WHY", "UNTIL"]
    assert [step.split()[1] for step in steps][:3] == ["classify", "fingerprint", "dedup"]
    assert "delivered" in steps[-1]
    fingerprint = head.rsplit(" ", 1)[1]
    code, again, _ = here.tocsin("explain", fingerprint[:8], "--json")
    story = json.loads(again)
    assert story["schema_version"] == 1
    assert {step["id"] for step in story["decisions"]} == {notice}
    assert story["decisions"][0]["at"].endswith("Z")


def test_the_story_of_a_repeat_names_what_it_was_counted_into(here, agent) -> None:
    assert here.tocsin("pause", "dev")[0] == 0
    for _ in range(2):
        here.tocsin("feed", "--to", "dev", "--severity", "error", "the cart is broken")
    until(lambda: here.tocsin("decisions", "--jsonl")[1].count('"fold"'))
    folded = next(
        step for step in map(json.loads, here.tocsin("decisions", "--jsonl")[1].splitlines()) if step["verdict"] == "fold"
    )
    last = here.tocsin("explain", folded["id"])[1].splitlines()[-1]
    assert last == f"what it was counted into: tocsin explain {folded['fingerprint'][:8]}"
    assert len(json.loads(here.tocsin("explain", last.split()[-1], "--json")[1])["decisions"]) > 3


def test_a_story_is_found_whoever_it_was_told_to(here) -> None:
    with here.agent("composer", name="a") as one, here.agent("composer", name="b") as two:
        for terminal in (one, two):
            terminal.sees("> ")
        until(lambda: here.tocsin("feed", "--to", "b", "--user", "hi")[0] == 0, "b")
        (block,) = two.submitted(1)
        notice = block.split("(id ")[1].split(")")[0]
        code, out, _ = here.tocsin("explain", notice)
        assert code == 0
        assert out.startswith(f"{notice} for b")
        code, out, _ = here.tocsin("status")
        assert [line.split()[0] for line in out.splitlines() if line.startswith(("a ", "b "))] == ["a", "b"]


def test_what_nobody_remembers_is_4(here, agent) -> None:
    code, out, err = here.tocsin("explain", "zzz-1")
    assert (code, out) == (4, "")
    assert err.startswith("tocsin: nothing is remembered of 'zzz-1'")
    assert here.tocsin("letters") == (0, "", "no dead letters\n")


def test_a_pause_shows_in_the_status_and_ends_with_resume(here, agent) -> None:
    assert here.tocsin("pause", "dev") == (0, "", "")
    until(lambda: here.status()["lanes"][0]["recipient"] == "paused")
    assert here.tocsin("resume", "dev") == (0, "", "")
    until(lambda: here.status()["lanes"][0]["recipient"] == "idle")


def test_decisions_follow_until_the_recipient_ends(here, agent) -> None:
    following = here.start("decisions", "--follow", "--jsonl")
    here.tocsin("feed", "--to", "dev", "--user", "hi")
    first = json.loads(following.stdout.readline())
    assert (first["schema_version"], first["stage"], first["lane"]) == (1, "classify", "dev")
    agent.submitted(1)
    agent.keys("quit\r")
    agent.ends()
    others = [json.loads(line) for line in following.stdout]
    assert {one["id"] for one in others} == {first["id"]}
    assert following.stderr.read().startswith(b"tocsin: 'dev' ")
    following.communicate()
    assert following.returncode == 0


def test_an_interrupted_watcher_of_decisions_ends_with_130(here, agent) -> None:
    following = here.start("decisions", "--follow")
    here.tocsin("feed", "--to", "dev", "--user", "hi")
    assert following.stdout.readline()
    following.send_signal(signal.SIGINT)
    _, err = following.communicate()
    assert (following.returncode, err) == (130, b"\n")


def test_a_dead_letter_is_listed_explained_and_fed_again(here) -> None:
    """The program ends while a block for it is on its way: what it can't be told is a dead letter of a line that lives."""
    code = """
import anyio
from anyio.from_thread import BlockingPortal
from tocsin import SinkGone, Tocsin
from tocsin.edges.server.runtime import Seat, runtime_directory
from tocsin.edges.server.server import serve

def refuse(delivery):
    raise SinkGone("the door is shut")

async def main():
    async with Tocsin() as line:
        line.open_lane("dev", refuse)
        await serve(line, Seat.take(runtime_directory(), "dev"), version="0")

anyio.run(main)
"""
    line = subprocess.Popen(python(code), env=here.environ, stdin=subprocess.DEVNULL)
    try:
        until(lambda: here.tocsin("feed", "--to", "dev", "--user", "hello")[0] == 0, "the recipient")
        out = until(lambda: here.tocsin("letters")[1], "the dead letter")
        head, row = out.splitlines()
        assert head.split() == ["ID", "WHEN", "FOR", "WHY", "WHAT"]
        notice = row.split()[0]
        assert row.split()[3] == "dev"
        assert row.endswith("(the door is shut)  hello")
        (letter,) = json.loads(here.tocsin("letters", "--json")[1])["letters"]
        assert (letter["decision"]["id"], letter["event"]["text"]) == (notice, "hello")
        assert here.tocsin("retry", notice) == (0, "", "")
        until(lambda: here.status()["dead_letters"] == 2, "the second refusal")
        code, _, err = here.tocsin("retry", "nothing")
        assert (code, err) == (4, "tocsin: there is no dead letter with the id 'nothing'; `tocsin letters` lists them\n")
    finally:
        line.kill()
        line.wait()


def test_recipients_are_completed_by_the_shell(here, agent) -> None:
    env = {"_TOCSIN_COMPLETE": "bash_complete", "COMP_WORDS": "tocsin feed --to d", "COMP_CWORD": "3"}
    assert here.tocsin(env=env)[1] == "plain,dev\n"
    env = {"_TOCSIN_COMPLETE": "bash_complete", "COMP_WORDS": "tocsin pause ", "COMP_CWORD": "2"}
    assert here.tocsin(env=env)[1] == "plain,dev\n"

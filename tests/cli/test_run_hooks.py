"""An agent with hooks in a wrapped terminal: it is handed what it is to know, each thing once, and its dialogs are its own."""

import json
import os
import random
import re
import runpy
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tocsin.contracts import wire
from tocsin.contracts.events import Event
from tocsin.edges.server.client import Client

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until = _processes["world"], _processes["until"]
SCRIPT = Path(__file__).parents[1] / "agents" / "hooked.py"
AT_ONCE = 4
"""Seeded runs side by side."""


class Agent:
    """The stand-in agent under ``tocsin run``, with what it says of itself."""

    def __init__(self, here, manner="", *options, seed=""):
        self.here, self.log = here, here.place / "dev.jsonl"
        program = [sys.executable, str(SCRIPT), str(self.log), seed, manner]
        self.terminal = here.agent(*program, options=("--set", "throttle.batches_per_minute=0", *options))

    def __enter__(self):
        self.terminal.__enter__()
        self.terminal.sees("> ")
        return self

    def __exit__(self, *error):
        self.terminal.__exit__(*error)

    def logged(self, kind):
        """What it logged of one kind, oldest first."""
        text = self.log.read_text() if self.log.exists() else ""
        lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [line[kind] for line in lines if kind in line]

    def waits_for(self, kind, number=1):
        return until(lambda: len(found := self.logged(kind)) >= number and found, lambda: f"{number} {kind}; {self.shown()}")

    def shown(self):
        return bytes(self.terminal.shown[-600:])

    def client(self):
        until(lambda: any(self.here.runtime.glob("*.sock")), "the socket")
        [path] = self.here.runtime.glob("*.sock")
        return Client(path)

    def feed(self, *texts, **fields):
        with self.client() as client:
            client.feed([Event(**{"text": text, "severity": "error", "scope": "web", **fields}) for text in texts])

    def is_told_all(self):
        """True once nothing is pending. A line whose Enter a menu took is cleared, as a person would."""
        status = self.here.status()
        if status["lanes"][0]["waits_for"] == "draft_half_typed":
            self.terminal.keys("\x15")
        return status["pending"] == 0

    def notes(self):
        """How deliveries ended: the proof and what it is."""
        with self.client() as client:
            found = [one for answer in client.ask_for(wire.AskDecisions()) for one in answer.decisions]
        return [one.note.partition(" ")[2] for one in found if str(one.verdict) == "deliver"]


@pytest.fixture
def here():
    with world() as made:
        yield made


def test_an_idle_agent_is_woken_by_one_line_and_handed_the_block(here) -> None:
    with Agent(here) as agent:
        agent.feed("TypeError: x is undefined")
        [block] = agent.waits_for("handed")
        assert "TypeError: x is undefined" in block
        assert agent.logged("submitted") == ["tocsin: 1 notice (1 error)"]
        assert agent.logged("by") == ["UserPromptSubmit"]
        until(lambda: agent.notes() == ["seen: UserPromptSubmit hook"], "the proof")
        code, out, _ = here.tocsin("explain", "--to", "dev", re.search(r"id ([\w-]+)", block)[1])
        assert code == 0
        assert "seen: UserPromptSubmit hook" in out


def test_a_message_of_the_persons_own_has_nothing_typed_into_it(here) -> None:
    with Agent(here) as agent:
        agent.terminal.keys("look at the cart")
        agent.terminal.sees("> ")
        agent.feed("TypeError: x is undefined")
        agent.terminal.keys(" page\r")
        [block] = agent.waits_for("handed")
        assert "TypeError" in block
        assert agent.logged("submitted")[0] == "look at the cart page"


def test_without_hooks_of_its_own_the_block_is_typed(here) -> None:
    with here.agent("composer") as terminal:
        terminal.sees("> ")
        until(lambda: any(here.runtime.glob("*.sock")), "the socket")
        [path] = here.runtime.glob("*.sock")
        with Client(path) as client:
            client.feed([Event(text="TypeError: x is undefined", severity="error", scope="web")])
        assert "TypeError" in terminal.submitted(1)[0]


def test_an_agent_whose_hooks_fall_silent_is_woken_once_and_then_typed_to(here) -> None:
    with Agent(here, "deaf") as agent:
        agent.feed("TypeError: x is undefined")
        wake, block = agent.waits_for("submitted", 2)
        assert wake == "tocsin: 1 notice (1 error)"
        assert "TypeError" in block
        assert agent.logged("handed") == []


def test_by_terminal_alone_the_block_is_typed_although_there_are_hooks(here) -> None:
    with Agent(here, "", "--via", "terminal") as agent:
        agent.feed("TypeError: x is undefined")
        [block] = agent.waits_for("submitted")
        assert "TypeError" in block
        assert agent.logged("handed") == []


def test_when_the_agent_ends_while_a_block_is_offered_the_run_ends_and_says_what_is_left(here) -> None:
    with Agent(here, "deaf", "--via", "hook") as agent:
        agent.feed("TypeError: x is undefined")
        agent.waits_for("submitted")  # the line that wakes it; no hook will call
        agent.terminal.keys("quit\r")
        assert agent.terminal.ends() == 0
        assert b"1 notice not delivered when dev ended" in agent.terminal.shown


def play(seed):
    """One seeded run: what was fed, how often each was told, what was lost, and what went into its menus."""
    chance = random.Random(seed)
    with world() as here, Agent(here, "", seed=f"{seed}{'-kills' if seed % 4 == 3 else ''}") as agent:
        fed = []
        for _ in range(chance.randrange(3, 7)):
            if chance.random() < 0.6:
                fed += (fresh := [f"trouble {seed}.{len(fed) + nth} is there" for nth in range(chance.randrange(1, 3))])
                agent.feed(*fresh)
            else:
                agent.terminal.keys(f"do {chance.randrange(99)}")
                time.sleep(0.03)  # nobody types a line and Enter at one stroke
                agent.terminal.keys("\r")
            time.sleep(chance.random() * 0.4)  # a person's and a dev server's own pace
        if seed % 4 != 1:  # the others end in the middle of it
            until(agent.is_told_all, lambda: f"all to be told; {here.status()}; {agent.shown()}")
        while agent.terminal.process.poll() is None:
            agent.terminal.keys("\x15quit\r")
            time.sleep(0.3)  # what is typed into a menu is an answer: until one reaches the composer
        assert agent.terminal.ends() == 0
        told = agent.logged("handed") + [text for text in agent.logged("submitted") if "trouble" in text]
        counts = {text: sum(block.count(text) for block in told) for text in fed}
        lost = re.search(rb"(\d+) notices? not delivered", bytes(agent.terminal.shown))
        typed_into_menus = [keys for keys in agent.logged("answered") if "trouble" in keys or "tocsin" in keys]
        return counts, int(lost[1]) if lost else 0, typed_into_menus, agent.logged("killed"), agent.logged("failed")


@pytest.fixture(scope="module")
def played():
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(play, range(int(os.environ.get("TOCSIN_TEST_RUNS", "12")))))


def test_in_seeded_runs_nothing_is_lost_or_told_twice(played) -> None:
    for seed, (counts, lost, _, killed, failed) in enumerate(played):
        missing = [text for text, count in counts.items() if not count]
        twice = [text for text, count in counts.items() if count > 1]
        assert failed == [], seed
        assert len(missing) == lost, (seed, missing)
        # A call that is killed after it printed can't say so: better told twice than never.
        assert not twice or killed, (seed, twice)
    assert sum(sum(counts.values()) for counts, *_ in played) > len(played)


def test_in_seeded_runs_nothing_of_ours_is_ever_an_answer_to_a_menu(played) -> None:
    assert [(seed, typed, killed) for seed, (_, _, typed, killed, _) in enumerate(played) if typed] == []

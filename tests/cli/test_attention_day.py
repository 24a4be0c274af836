"""The attention queue over a day: three agents ask, nothing interrupts, and each answer comes back to where it was asked."""

import json
import os
import pty
import runpy
import select
import shlex
import signal
import sqlite3
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pytest

_here = Path(__file__).parent
_processes = runpy.run_path(str(_here / "processes.py"))
world, until, argv, AGENTS = (_processes[name] for name in ("world", "until", "argv", "AGENTS"))
_attending = runpy.run_path(str(_here / "attending.py"))
did, no, lines, shown, standing, database = (
    _attending[name] for name in ("did", "no", "lines", "shown", "standing", "database")
)
PROMPT = "ready> "


@pytest.fixture
def here():
    with world() as one:
        yield one


class Shell:
    """The person's own terminal: a shell, in which they type commands, and everything that it has ever shown."""

    def __init__(self, here):
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80))
        environ = {**here.environ, "PS1": PROMPT, "ENV": "", "TERM": "dumb"}
        self.process = subprocess.Popen(
            ["sh", "-i"], stdin=slave, stdout=slave, stderr=slave, env=environ, cwd=here.place, start_new_session=True
        )
        os.close(slave)
        self.shown = ""
        self._over = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        until(lambda: self.shown.endswith(PROMPT), "the prompt")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self._over = True
        self._thread.join()
        os.close(self.master)

    def _read(self):
        while not self._over:
            if select.select([self.master], [], [], 0.02)[0]:
                try:
                    self.shown += os.read(self.master, 65_536).decode().replace("\r\n", "\n")
                except OSError:
                    return

    def types(self, *words):
        """Type a command, and give what it printed."""
        before = len(self.shown)
        os.write(self.master, (shlex.join(argv("attention", *words)) + "\n").encode())
        until(lambda: "\n" in self.shown[before:] and self.shown.endswith(PROMPT), lambda: self.shown[before:])
        return self.shown[before:].removesuffix(PROMPT).partition("\n")[2]


def asker(here, name, mode, work, title):
    """An agent under `tocsin run` that binds its work, and asks as soon as there is a file of its name."""
    log = here.place / f"{name}.jsonl"
    program = [sys.executable, str(AGENTS / "asker.py"), str(log), mode, work, "round-1", title, str(here.place / f"go-{name}")]
    terminal = here.agent(*program, name=name)
    terminal.log = log
    return terminal


def asks(here, terminal, name):
    """Let it ask; the number of its item."""
    (here.place / f"go-{name}").touch()

    def receipt():
        ran = [json.loads(line) for line in terminal.log.read_text().splitlines()] if terminal.log.exists() else []
        return next((one for one in ran if one.get("ran") == "summon"), None)

    answer = until(receipt, f"the summons of {name}")
    assert (answer["code"], answer["err"]) == (0, ""), answer
    return json.loads(answer["out"])["item_id"]


def test_A01_A36_a_day(here) -> None:
    with (
        Shell(here) as person,
        asker(here, "build", "pinned-session", "parser", "Review the parser") as build,
        asker(here, "render", "actor-context", "batch-7", "Choose the next render") as render,
        asker(here, "docs", "pinned-session", "guide", "Is the guide clear?") as docs,
    ):
        # A design block: the person has begun something that no agent knows of.
        out = person.types("start", "--project", "site", "--title", "Design block", "--minutes", "90")
        assert out.startswith("ATN-1 · site · Design block\n")

        # Three agents ask meanwhile. Nothing of it reaches the person's terminal, and what they have stays as it is.
        for agent in (build, render, docs):
            until(lambda agent=agent: agent.log.exists() and "bind" in agent.log.read_text(), "the enrolment")
        seen, before = person.shown, shown(here, 1)
        assert [asks(here, agent, name) for agent, name in ((build, "build"), (render, "render"), (docs, "docs"))] == [2, 3, 4]
        did(here, "add", "--project", "site", "--title", "Fix the small things")
        assert (person.shown, shown(here, 1)) == (seen, before)
        assert standing(here) == {1: "active", 2: "queued", 3: "queued", 4: "queued", 5: "queued"}

        # The block is over: the first question, and its answer is typed where it was asked.
        out = person.types("resolve", "--response", "The sketch is in the wiki.", "--next")
        assert out.startswith("ATN-1 resolved; nobody waits for the answer\n\nATN-2 · film · Review the parser\n")
        out = person.types("resolve", "--outcome", "approved", "--response", "Merge it after the release.", "--next")
        assert out.startswith("ATN-2 resolved; return pending, generation 1\n\nATN-3 · film · Choose the next render\n")
        (answer,) = build.submitted(1)
        assert "Attention item 2 is resolved: approved" in answer
        assert answer.endswith("Merge it after the release.")

        # The process behind the asker of what is active now dies, and its terminal with it.
        render.send(signal.SIGKILL)
        assert render.ends() == 128 + signal.SIGKILL
        assert person.types("next").startswith("ATN-3 · film · Choose the next render\n")
        out = person.types("resolve", "--outcome", "selected", "--response", "Use C; keep the light.", "--next")
        assert out.startswith("ATN-3 resolved; return pending, generation 1\n\nATN-4 · film · Is the guide clear?\n")

        # It comes back, in another session, and gets its answer there, which says so.
        with here.agent("composer", name="render") as again:
            (answer,) = again.submitted(1)
            assert "Return: actor_context, for render\n" in answer
            assert "Context is restored here: this need not be the session that asked" in answer
            assert answer.endswith("Use C; keep the light.")
            until(lambda: shown(here, 3).returned.phase == "processed", "the end of the return")

            # What needs tomorrow is put off; then the person's own small things, and nothing is left.
            out = person.types("defer", "--until", "tomorrow 9:00", "--reason", "read it in the morning", "--next")
            assert out.startswith("ATN-4 deferred until ")
            assert "ATN-5 · site · Fix the small things\n" in out
            out = person.types("resolve", "--outcome", "completed", "--response", "Done.", "--next")
            assert out.startswith(
                "ATN-5 resolved; nobody waits for the answer\nnothing is queued; 1 deferred, the next one due "
            )
            assert standing(here) == {1: "resolved", 2: "resolved", 3: "resolved", 4: "deferred", 5: "resolved"}

            # The next morning: it is the first thing, and its asker, which was here all the time, gets the answer.
            morning_comes(here)
            assert person.types("next").startswith("ATN-4 · film · Is the guide clear?\n")
            person.types("resolve", "--response", "Yes.")
            (answer,) = docs.submitted(1)
            assert answer.endswith("Yes.")
            assert person.types("next") == "nothing is queued\n"
            until(lambda: {shown(here, item).returned.phase for item in (2, 3, 4)} == {"processed"}, "all returns")

            # Each was told once, and nobody else's.
            assert [len(agent.submitted()) for agent in (build, again, docs)] == [1, 1, 1]
            for shown_there in (person.shown, *(agent.shown.decode(errors="replace") for agent in (build, again, docs))):
                assert "\a" not in shown_there  # no bell, and nothing that sets a title


def morning_comes(here):
    """The day of what is deferred is moved to the past: the test can't wait for it."""
    connection = sqlite3.connect(database(here))
    with connection:
        connection.execute("UPDATE attention_items SET deferred_until = 1000 WHERE state = 'deferred'")
    connection.close()


def test_an_answer_whose_session_is_gone_waits_visibly_until_the_person_sends_it_elsewhere(here) -> None:
    with asker(here, "build", "pinned-session", "parser", "Review the parser") as build:
        item = asks(here, build, "build")
        did(here, "next")
        build.send(signal.SIGKILL)
        build.ends()
    did(here, "resolve", "--response", "Go.")
    with here.agent("composer", name="build") as again:
        again.sees("> ")
        until(lambda: shown(here, item).returned.phase == "blocked", "that it is blocked")
        assert "answers: 1 blocked\n" in lines(here, "queue")[1]
        assert "Sent:     blocked, generation 1" in lines(here, "show", item)[1]
        assert again.submitted() == []
        bind = ["--project", "film", "--work", "parser", "--return", "actor-context", "--out", here.place / "new.json"]
        other = did(here, "bind", *bind, "--operator", "--actor", "build")["source_id"]
        reroute = ["reroute-return", item, "--return-generation", 1, "--source", other, "--reason", "its session is gone"]
        assert did(here, *reroute)["result"] == "return_rerouted"
        (answer,) = again.submitted(1)
        assert "Return: actor_context, for build\n" in answer
        assert answer.endswith("Go.")
        until(lambda: shown(here, item).returned.phase == "processed", "the end of the return")
        assert no(here, "retry-return", item, "--return-generation", 2) == (5, "return_processed")
        assert no(here, *reroute) == (5, "stale_generation")
        assert len(again.submitted()) == 1

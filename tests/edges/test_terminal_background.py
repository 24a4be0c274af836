"""Background: ``tocsin run`` that is started there waits for its terminal, and begins with a usual one when it has it."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

_tmux = runpy.run_path(str(Path(__file__).parent / "tmux.py"))
tmux, need, until, argv = (_tmux[name] for name in ("tmux", "need", "until", "argv"))
# One command that is a job of the shell, with a known process id.
PAGE = {"page": f'#!/bin/sh\necho $$ >pid\nexec {" ".join(argv("run", "--as", "dev"))} -- "$@"\n'}


@pytest.fixture
def server():
    need("bash", "ps")
    with tmux() as one:
        yield one


def state_of(screen) -> str:
    """The state of the wrapper as ``ps`` names it; empty when it is gone, or not there yet."""
    told = screen.home / "pid"
    pid = told.read_text().strip() if told.exists() else ""
    words = ["ps", "-o", "stat=", "-p", pid or "0"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout[:1]


def jobs(screen) -> str:
    """What the shell says of its one job."""
    screen.keys("clear; jobs", "Enter")
    said = re.compile(r"^\[1\].*(?:stopped|suspended|running).*", re.MULTILINE)
    return until(lambda: said.search(screen.text().lower()), screen.text)[0]


def started(server, shell, command):
    screen = server.screen("shell", shell, files=PAGE)
    screen.sees("ready$")
    screen.keys(f"{command} &", "Enter")
    until(lambda: state_of(screen) == "T", "that it waits for its terminal")
    # A shell that has not noticed that all of the job stopped would not wake it.
    until(lambda: "running" not in jobs(screen), screen.text)
    screen.keys("fg", "Enter")
    until(lambda: "cat" in screen.foreground(), screen.text)
    return screen


@pytest.mark.parametrize("shell", [("bash", "--norc", "--noprofile"), ("zsh", "-f")], ids=["bash", "zsh"])
def test_started_in_the_background_it_finds_a_usual_terminal_when_it_comes_to_the_front(server, shell) -> None:
    need(shell[0])
    screen = started(server, shell, "./page cat")
    # Echoed by its terminal, and given back by cat.
    screen.keys("one", "Enter")
    until(lambda: screen.text().count("one") == 2, screen.text)
    screen.keys("C-d")
    until(lambda: not state_of(screen), "its end")


def test_a_pipeline_started_in_the_background_waits_as_a_whole(server) -> None:
    screen = started(server, ("bash", "--norc", "--noprofile"), "./page cat | sed s/a/o/")
    screen.keys("hat", "Enter")
    screen.sees("hot")
    screen.keys("C-d")
    until(lambda: not state_of(screen), "its end")

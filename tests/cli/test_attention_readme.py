"""What the README shows of the person's queue works as it stands there, from a state with nothing in it."""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

_here = Path(__file__).parent
README = _here.parents[1] / "README.md"
_processes = runpy.run_path(str(_here / "processes.py"))
world, until = (_processes[name] for name in ("world", "until"))
_attending = runpy.run_path(str(_here / "attending.py"))
did, standing = _attending["did"], _attending["standing"]


@pytest.fixture
def here():
    with world() as one:
        (one.place / "bin").mkdir()
        program = one.place / "bin" / "tocsin"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m tocsin "$@"\n')
        program.chmod(0o755)
        one.environ |= {"PATH": f"{program.parent}:{one.environ['PATH']}", "HOME": str(one.place), "PS1": "$ "}
        yield one


def blocks():
    """The commands of its section, block by block."""
    section = README.read_text(encoding="utf-8").partition("### Let agents ask you, one at a time\n")[2].partition("\n### ")[0]
    found = re.findall(r"^```console\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [[line for line in block.replace("\\\n", " ").splitlines() if line.startswith("$ ")] for block in found]


def test_what_it_shows_is_done_from_the_first_line_to_the_last(here) -> None:
    (run,), inside, yours = blocks()
    words = shlex.split(run.removeprefix("$ "))
    assert words[:4] == ["tocsin", "run", "--as", "parser"]
    with here.agent(*words[words.index("--") + 1 :], "--norc", name="parser") as terminal:
        for command, told in zip(inside, ["is bound", "ATN-1 queued, revision 1"], strict=True):
            terminal.keys(re.sub(r" +", " ", command.removeprefix("$ ")) + "\r")
            terminal.sees(told)
        for command in yours:
            done = subprocess.run(
                command.removeprefix("$ "),
                shell=True,
                env=here.environ,
                cwd=here.place,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, (command, done.stderr)
        terminal.sees("Attention item 1 is resolved: approved")
        terminal.sees("Merge it.")
    assert standing(here) == {1: "resolved", 2: "deferred"}

"""``tocsin watch``: a program in one process, its findings in a block for an agent in another, and its output untouched."""

import runpy
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


def test_a_failing_program_is_one_block_typed_when_the_agent_is_idle(here, agent) -> None:
    code, out, err = here.tocsin("watch", "--to", "dev", "--scope", "shop", "--", *python(FAILING))
    assert code == 1
    assert out == "starting\n"
    assert "KeyError: 'price'" in err
    assert err.endswith("tocsin: 2 findings sent to dev\n")
    (block,) = agent.submitted(1)
    head, *lines = block.split("\n")
    assert head.startswith("[tocsin ")
    assert "] shop: 2 errors" in head
    assert "  | KeyError: 'price'" in lines
    assert any("exited with code 1" in line for line in lines)
    status = here.status()
    assert (status["fed"], status["delivered"], status["pending"]) == (2, 2, 0)
    agent.keys("quit\r")
    assert agent.ends() == 0
    assert len(agent.submitted()) == 2


def test_a_watch_may_come_before_its_recipient(here) -> None:
    code = "import sys\nprint('ValueError: early', file=sys.stderr, flush=True)\nsys.stdin.read()"
    watching = here.start("watch", "--to", "dev", "--scope", "web", "--", *python(code))
    assert watching.stderr.readline() == b"tocsin: nobody called dev is here yet; findings wait for it\n"
    with here.agent("composer") as terminal:
        (block,) = terminal.submitted(1)
        assert "  | ValueError: early" in block.split("\n")
        _, err = watching.communicate(b"")
        assert watching.returncode == 0
        assert err.endswith(b"tocsin: 1 finding sent to dev\n")


def test_a_watch_whose_recipient_never_comes_says_what_was_lost(here) -> None:
    waits = "tocsin: nobody called dev is here yet; findings wait for it\n"
    code, out, err = here.tocsin("watch", "--to", "dev", "--", *python("raise SystemExit(5)"))
    assert (code, out) == (5, "")
    assert err == f"{waits}tocsin: 0 findings sent to dev, 1 lost (dev never came)\n"
    assert here.tocsin("watch", "--quiet", "--to", "dev", "--", *python("print(1)")) == (0, "1\n", waits)


def test_a_watch_that_can_not_know_whom_to_tell_does_not_start_its_program(here) -> None:
    code, out, err = here.tocsin("watch", "--", "echo", "started")
    assert (code, out) == (4, "")
    assert err == "tocsin: no recipient is here: start one with `tocsin run --as NAME -- CMD`\n"


def test_a_watch_passes_bytes_through_unchanged(here) -> None:
    data = bytes(range(256)) * 300 + b"no line feed at the end"
    (here.place / "data").write_bytes(data)
    done = subprocess.run(
        argv("watch", "--to", "dev", "--quiet", "--", "cat", here.place / "data"),
        env=here.environ, capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == data

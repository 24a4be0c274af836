"""``--full-screen``: a program on the alternate screen is typed into if that was asked for, and a draft in it is kept."""

import runpy
from pathlib import Path

import pytest

_tmux = runpy.run_path(str(Path(__file__).parent / "tmux.py"))
tmux, need, until, argv = (_tmux[name] for name in ("tmux", "need", "until", "argv"))
NO_QUESTIONS = "set t_RV= t_u7= t_RF= t_RB="
"""Vim asks the terminal what it is; an answer that comes late, on a busy machine, ends its insert mode."""
INSERTING = ("vim", "--clean", "-n", "--cmd", NO_QUESTIONS, "-c", "set nosmartindent | startinsert", "notes.txt")


@pytest.fixture
def server():
    need("vim")
    with tmux() as one:
        yield one


def test_a_program_that_owns_the_screen_is_typed_into_if_asked_and_no_draft_is_joined(server) -> None:
    options = ["--as", "dev", "--full-screen", "--idle-after", "200"]
    screen = server.screen("wrapped", argv("run", *options, "--", *INSERTING), {"notes.txt": ""})
    until(lambda: "INSERT" in screen.text() and "alternate_on=1" in screen.state(), screen.text)
    server.feed("--user", "cart first")
    screen.sees("cart first")
    until(lambda: server.lane()["delivered"] == 1, server.lane)
    screen.keys("half a line")
    screen.sees("half a line")
    server.feed("--user", "till next")
    server.kept("draft", "draft_half_typed")
    assert "till" not in screen.text()
    screen.keys("Enter")
    screen.sees("till next")
    assert "half a line\n" in screen.text()

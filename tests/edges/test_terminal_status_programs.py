"""The status row around real programs on a real terminal: what they saved and set is theirs, at rest and after it."""

import runpy
from pathlib import Path

import pytest

_tmux = runpy.run_path(str(Path(__file__).parent / "tmux.py"))
tmux, until, argv = (_tmux[name] for name in ("tmux", "until", "argv"))


@pytest.fixture
def server():
    with tmux() as server:
        yield server


def with_row(server, program):
    """The program under ``tocsin run --status``, once its row is there."""
    screen = server.screen("row", argv("run", "--as", "dev", "--status", "--", *program), {})
    screen.sees("tocsin dev: 0 pending")
    return screen


def above(screen):
    """What is shown, without the row and the empty ones above it."""
    return "\n".join(line for line in screen.text().split("\n") if "tocsin dev:" not in line).rstrip().split("\n")


def drawn_anew(server, screen):
    """Wait until the row was drawn once more, now that the program rests."""
    server.here.tocsin("pause", "dev")
    server.feed("--all", stdin="one\n")
    screen.sees("tocsin dev: 1 pending · 1 deferred: lane paused")


SAVED = r"printf 'abc\033[31m\0337\033[0mdef'; read line; printf '\0338X'; read line"
REGION = r"printf '\033[H1\n2\n3\n4\n5\n6\n7\033[3;6r\033[6;1H'; read line; printf 'a\nb\nc\nd\033[r\033[12;1Hend'; read line"
OPENED = r"printf '\033[r\033[99;1H'; read line; for n in 1 2 3 4 5; do printf 'line %s\n' $n; done; seq -s ' ' 40; read line"
PROGRESS = r"printf '\033[H\n\0337\033[1;9r\0338\033[A'; read line; printf '\0337\033[20;1Hhalf\0338'; seq 5; read line"


@pytest.mark.parametrize("script", [SAVED, REGION, PROGRESS], ids=["saved", "region", "progress"])
def test_what_a_program_saved_and_set_is_as_it_was_after_the_row_was_drawn(server, script) -> None:
    bare, row = server.bare("sh", "-c", script), with_row(server, ["sh", "-c", script])
    drawn_anew(server, row)
    for screen in (bare, row):
        screen.keys("Enter")

    def alike():
        return above(row) == above(bare) and any(line.strip() for line in above(bare))

    until(alike, lambda: f"the same on both:\n{bare.text()}\n---- with the row:\n{row.text()}")
    assert "tocsin dev: 1 pending" in row.text()


def test_a_program_that_opens_the_whole_screen_does_not_scroll_the_row_away(server) -> None:
    row = with_row(server, ["sh", "-c", OPENED])
    drawn_anew(server, row)
    row.keys("Enter")
    row.sees("38 39 40")
    assert row.text().split("\n")[-1].startswith("tocsin dev: 1 pending")
    assert [line for line in above(row) if line.startswith("line")] == [f"line {n}" for n in range(1, 6)]

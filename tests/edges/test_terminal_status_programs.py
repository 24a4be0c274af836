"""The status row around real programs on a real terminal: what they saved and set is theirs, at rest and after it."""

import runpy
import time
from pathlib import Path

import pytest

_tmux = runpy.run_path(str(Path(__file__).parent / "tmux.py"))
tmux, until, argv = (_tmux[name] for name in ("tmux", "until", "argv"))


@pytest.fixture
def server():
    with tmux() as server:
        yield server


def with_row(server, program, name="dev"):
    """The program under ``tocsin run --status``, once its row is there."""
    screen = server.screen(name, argv("run", "--as", name, "--status", "--", *program), {})
    screen.sees(f"tocsin {name}: 0 pending")
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


SIZES = {
    "higher": [(110, 30)],
    "steps": [(110, rows) for rows in range(25, 40)],
    "twice": [(110, 30), None, (110, 40)],
    "wider": [(150, 40)],
    "lower": [(110, 15)],
    "back": [(110, 12), None, (110, 24)],
    "narrower": [(70, 24)],
    "wide-again": [(70, 24), None, (110, 24)],
    "tiny": [(110, 3), None, (110, 24)],
}
"""Sizes one after the other, and pauses in which the row is drawn in its new place."""


@pytest.mark.parametrize("lines", [0, 30, 200], ids=["at the top", "a little above", "much above"])
def test_there_is_one_row_after_a_resize_and_no_line_is_lost(server, lines) -> None:
    """A terminal that grows has rows come back from above, as many as there are: the old row is then anywhere."""
    script = f"i=0; while [ $i -lt {lines} ]; do i=$((i+1)); echo line $i; done; printf 'say: '; cat"
    screens = {name: with_row(server, ["sh", "-c", script], name) for name in SIZES}
    for part in range(3):
        # The terminal is asked where the cursor is when the output has rested. Nothing shows that it has answered.
        time.sleep(1.0)
        for name, sizes in SIZES.items():
            for size in parts_of(sizes, part):
                screens[name].resize(*size)
        for name, sizes in SIZES.items():
            for _, rows in parts_of(sizes, part)[-1:]:
                one_row(screens[name], name, rows)
    for screen in screens.values():
        screen.keys("x")
        screen.sees("say: x")
        shown = [line for line in screen.all_text().split("\n") if line.startswith("line")]
        assert shown == [f"line {n}" for n in range(1, lines + 1)]


def test_the_row_of_before_a_full_screen_is_gone_after_it_too(server) -> None:
    """The main screen was made larger while the program drew on the other one."""
    script = r"seq 100 103; printf 'say: '; read go; printf '\033[?1049hfull'; read go; printf '\033[?1049lback'; read go"
    screen = with_row(server, ["sh", "-c", script])
    time.sleep(1.0)  # for the terminal's answer, as above
    screen.keys("Enter")
    screen.sees("full")
    screen.resize(110, 35)
    until(lambda: (110, 35) in screen.sizes() and len(screen.sizes()) == 1, "the whole screen for the program")
    screen.keys("Enter")
    screen.sees("back")
    one_row(screen, "dev", 35)


def test_a_program_that_ends_below_its_last_row_leaves_a_row_for_the_prompt(server) -> None:
    """As top does: to the row behind the last one, and a new line, in one write."""
    script = r"printf '\033[H\033[2J'; seq 1 $(($(stty size | cut -d' ' -f1) - 1)); printf 'last\033[%d;1H\r\n' 24"
    screen = with_row(server, ["sh", "-c", f"read go; {script}; printf 'say: '; cat"])
    screen.keys("Enter")
    screen.sees("say:")
    assert above(screen)[-3:] == ["22", "last", "say:"]


def parts_of(sizes, part):
    """The sizes between two pauses."""
    parts = [[]]
    for size in sizes:
        if size is None:
            parts.append([])
        else:
            parts[-1].append(size)
    return parts[part] if part < len(parts) else []


def one_row(screen, name, rows):
    """Wait until the status row is the lowest, and there is no other."""

    def alone():
        shown = screen.text().split("\n")
        if rows == 3:
            return not any("tocsin" in line for line in shown) and screen.sizes() == {(110, 3)}
        return len(shown) == rows and [at for at, line in enumerate(shown) if f"tocsin {name}:" in line] == [rows - 1]

    until(alone, lambda: f"one row, at {rows}:\n{screen.text()}")

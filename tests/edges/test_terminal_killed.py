"""Killed: what a wrapper that was killed could not put right, the keeper of its program does, once, and nothing else."""

import os
import pty
import re
import runpy
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

_tmux = runpy.run_path(str(Path(__file__).parent / "tmux.py"))
tmux, need, argv = (_tmux[name] for name in ("tmux", "need", "argv"))
AGENTS = Path(__file__).parents[1] / "agents"
_outer = runpy.run_path(str(AGENTS / "outer_terminal.py"))
OuterTerminal, until = _outer["OuterTerminal"], _outer["until"]

MESSY = r"""
import os, time
os.write(1, b"\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1000;1006h\x1b[>1uready")
while True: time.sleep(60)
"""
PUT_RIGHT = b"\x1b[<1u\x1b[?2004l\x1b[?1049l\x1b[?1006l\x1b[?1000l\x1b[?25h"


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def is_there(pid: int) -> bool:
    got = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(got.stdout.strip()) and not got.stdout.startswith("Z")


def raw(outer) -> None:
    until(lambda: outer.attributes() != outer.before, "raw mode")


def kill(outer, number=signal.SIGKILL) -> bytes:
    """Kill the wrapper; what was written after that, once its keeper is gone."""
    keeper, at = outer.child(), len(outer.shown)
    os.kill(outer.pid, number)
    assert outer.wait() == 128 + number
    until(lambda: not is_there(keeper), "the end of the keeper")
    # What came last may still be on its way to the reading thread.
    until(lambda: not select.select([outer.master], [], [], 0.05)[0])
    return bytes(outer.shown[at:])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV])
def test_a_terminal_is_put_right_after_a_wrapper_that_was_killed(tmp_path: Path, number: signal.Signals) -> None:
    with OuterTerminal(tmp_path, python(MESSY)) as outer:
        outer.sees(b"ready")
        raw(outer)
        assert kill(outer, number) == PUT_RIGHT
        assert outer.attributes() == outer.before


def test_under_nohup_too(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(MESSY), under=["/usr/bin/env", "--ignore-signal=HUP"]) as outer:
        outer.sees(b"ready")
        raw(outer)
        assert kill(outer) == PUT_RIGHT
        assert outer.attributes() == outer.before


SWITCHES = r"""
import os
os.write(1, b"\x1b[?1049h\x1b[?1000h\x1b[?25lready")
input()
os.write(1, b"\x1b[?25h\x1b[?1000l\x1b[?1049lback")
input()
"""


def test_what_is_not_on_any_more_is_not_switched_off(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(SWITCHES)) as outer:
        outer.sees(b"ready")
        outer.keys(b"\r")
        outer.sees(b"back")
        raw(outer)
        assert kill(outer) == b""
        assert outer.attributes() == outer.before


def test_attributes_that_somebody_else_has_set_meanwhile_are_left_alone(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(MESSY)) as outer:
        outer.sees(b"ready")
        raw(outer)
        theirs = outer.attributes()
        theirs[3] |= termios.ISIG | termios.ECHO
        termios.tcsetattr(outer.slave, termios.TCSANOW, theirs)
        assert kill(outer) == PUT_RIGHT
        assert outer.attributes() == theirs


def test_the_status_row_is_given_back_too(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, ["sh", "-c", "echo ready; sleep 600"], options="status") as outer:
        outer.sees(b"ready")
        until(lambda: b"\x1b[1;23r" in outer.shown, "the row")
        raw(outer)
        written = kill(outer)
        # The scroll region is the whole screen, and the row is empty.
        assert re.search(rb"\x1b\[(1;24)?r", written)
        assert b"\x1b[24;1H" in written
        assert b"\x1b[2K" in written


@pytest.mark.skipif(sys.platform != "linux", reason="what is open is read from /proc")
def test_the_keeper_holds_terminals_and_the_will_and_the_program_nothing_of_it(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(MESSY)) as outer:
        outer.sees(b"ready")
        raw(outer)

        def opened(pid: int) -> list[str]:
            return [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]

        until(lambda: len(opened(outer.child())) == 6, lambda: opened(outer.child()))
        assert sorted(name[:9] for name in opened(outer.child()) if "deleted" not in name) == ["/dev/pts/"] * 5
        # What we were started with ourselves it has as well.
        held = [name for name in opened(outer.program()) if name.startswith("/dev/pts/") or "deleted" in name]
        assert len(held) == 3
        assert len(set(held)) == 1


def test_who_reads_a_killed_wrappers_output_learns_of_its_end(tmp_path: Path) -> None:
    stays = "import os, signal, time\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\nos.write(1, b'ready')\ntime.sleep(20)"
    log, control = tmp_path / "log", tmp_path / "control"
    words = [sys.executable, str(AGENTS / "wrap.py"), str(log), str(control), "-", "--", *python(stays)]
    os.mkfifo(control)
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    with subprocess.Popen(words, stdin=slave, stdout=subprocess.PIPE) as process:
        assert process.stdout.read(5) == b"ready"
        until(lambda: termios.tcgetattr(slave) != before, "raw mode")
        process.kill()
        assert process.stdout.read() == b""
    until(lambda: termios.tcgetattr(slave) == before, "the attributes as they were")
    os.close(master)
    os.close(slave)


@pytest.fixture
def server():
    need("bash", "vim", "pgrep")
    with tmux() as one:
        yield one


def shell_with_vim(server, wrap):
    vim = "vim --clean -n -c 'set mouse=a' notes.txt"
    files = {"notes.txt": "line 1 of the notes\n", "page": f"#!/bin/sh\necho $$ >pid\nexec {wrap} -- {vim}\n"}
    screen = server.screen("shell", ["bash", "--norc", "--noprofile"], files)
    screen.sees("ready$")
    screen.keys("./page", "Enter")
    screen.sees("line 1 of the notes")
    until(lambda: "mouse_any_flag=1" in screen.state() and "alternate_on=1" in screen.state(), screen.state())
    return screen, int((screen.home / "pid").read_text())


def usual(screen):
    state = screen.state()
    return all(name in state for name in ("mouse_any_flag=0", "alternate_on=0", "keypad_flag=0", "cursor_flag=1"))


WRAP = " ".join(argv("run", "--as", "dev"))


def test_the_shell_has_its_screen_and_its_keys_again_after_vims_wrapper_was_killed(server) -> None:
    screen, wrapper = shell_with_vim(server, WRAP)
    os.kill(wrapper, signal.SIGKILL)
    until(lambda: usual(screen), screen.state())
    # What the shell says of the end may still go to the screen that vim had; its prompt is here.
    screen.keys("echo still $((6 * 7))", "Enter")
    screen.sees("echo still $((6 * 7))\nstill 42")
    screen.keys("C-l", "stty -a | grep -o '.icanon'", "Enter")
    screen.sees("\n icanon")


def test_one_that_was_killed_while_it_was_stopped_had_given_all_back_before(server) -> None:
    screen, wrapper = shell_with_vim(server, WRAP)
    screen.keys("C-z")
    screen.sees("Stopped")
    until(lambda: usual(screen), screen.state())
    # What would be undone if it were not known to be done.
    screen.keys("printf '\\033[?1000h'", "Enter")
    until(lambda: "mouse_any_flag=1" in screen.state(), screen.state())
    screen.keys("kill -9 %1", "Enter")
    until(lambda: not is_there(wrapper), "its end")
    screen.keys("jobs", "Enter")
    screen.sees("Killed")
    screen.keys("echo still $((6 * 7))", "Enter")
    screen.sees("echo still $((6 * 7))\nstill 42")
    assert "mouse_any_flag=1" in screen.state()

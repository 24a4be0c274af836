"""Wrapped terminal: bytes, job control, sizes and endings are those of the bare program."""

import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pyte
import pytest

from tocsin.contracts.errors import BadInput, NotNow, SinkGone
from tocsin.edges.terminal.wrapped import Exit, WrappedTerminal

AGENTS = Path(__file__).parents[1] / "agents"
_outer = runpy.run_path(str(AGENTS / "outer_terminal.py"))
OuterTerminal, lines_of, until = _outer["OuterTerminal"], _outer["lines_of"], _outer["until"]
PYTHON = sys.executable


def python(code: str) -> list[str]:
    return [PYTHON, "-c", code]


# What a shell does with a job that stopped: it goes on, and brings the job back with fg.
SHELL = [
    "/bin/bash",
    "-m",
    "-c",
    '"$@"; echo "stopped $?"; stty -a | grep -o -- "-*icanon"; read; fg >/dev/null; echo "ended $?"',
    "bash",
]
STOPS = r"""
import os, signal
print('x' * 50_000, 'one', flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
print('two', flush=True)
input()
print('three')
"""


def test_a_program_that_stops_itself_stops_us_with_it(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(STOPS), under=SHELL) as outer:
        at = outer.sees(b"one\r\n")
        at = outer.sees(b"stopped 148\r\n", at)
        at = outer.sees(b"\r\nicanon", at - 2)
        outer.keys(b"\r")
        at = outer.sees(b"two\r\n", at)
        until(lambda: outer.attributes() != outer.before, "raw mode after fg")
        outer.keys(b"\r")
        at = outer.sees(b"three\r\n", at)
        outer.sees(b"ended 0\r\n", at)


def test_a_stop_from_outside_stops_the_program_too(tmp_path: Path) -> None:
    code = "import os, time\nfor n in range(10_000): print('tick', n, flush=True); time.sleep(0.01)"
    with OuterTerminal(tmp_path, python(code), under=SHELL) as outer:
        outer.sees(b"tick 3\r\n")
        wrapper = outer.child()
        os.kill(wrapper, signal.SIGTSTP)
        at = outer.sees(b"stopped 148\r\n")
        time.sleep(0.2)  # twenty ticks of a program that were not stopped
        assert b"tick" not in outer.shown[at:]
        outer.keys(b"\r")
        at = outer.sees(b"tick", at)
        os.kill(wrapper, signal.SIGTERM)
        outer.sees(b"ended 143\r\n", at)


def test_where_nobody_could_bring_us_back_a_stop_is_undone(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(STOPS)) as outer:
        at = outer.sees(b"one\r\n")
        outer.sees(b"two\r\n", at)
        outer.keys(b"\r")
        assert outer.wait() == 0


READS_BESIDE = """
import os, threading
def read(): open({path!r}, 'wb').write(os.read(0, 99))
threading.Thread(target=read, daemon=True).start()
os.write(1, b'go')
os.write(1, b'x' * 1_000_000)
"""


def test_keys_get_through_while_the_output_is_not_read(tmp_path: Path) -> None:
    code = READS_BESIDE.format(path=str(tmp_path / "got"))
    with OuterTerminal(tmp_path, python(code)) as outer:
        outer.sees(b"go")
        outer.paused.set()
        outer.keys(b"hello\r")
        assert until(lambda: (tmp_path / "got").exists() and (tmp_path / "got").read_bytes()) == b"hello\n"
        outer.paused.clear()
        assert outer.wait() == 0
        # Less the echo of the keys, wherever it came.
        assert outer.shown.count(b"x") == 1_000_000


def test_control_c_and_control_z_are_keys_like_others(tmp_path: Path) -> None:
    with OuterTerminal(
        tmp_path, ["sh", "-c", "stty raw -echo; echo ready; dd bs=1 count=3 2>/dev/null | od -An -tx1"]
    ) as outer:
        outer.sees(b"ready")
        outer.keys(b"\x03\x1a\x1c")
        outer.sees(b"03 1a 1c")


def test_control_c_interrupts_a_program_that_reads_lines(tmp_path: Path) -> None:
    with OuterTerminal(
        tmp_path, ["sh", "-c", "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.01; done"]
    ) as outer:
        outer.sees(b"ready")
        outer.keys(b"\x03")
        outer.sees(b"caught")
        assert outer.wait() == 5


def test_keys_typed_ahead_are_not_lost(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, ["head", "-n", "1"]) as outer:
        outer.keys(b"typed early\r")
        assert outer.wait() == 0
        assert outer.shown.endswith(b"typed early\r\n")


def test_an_output_that_nobody_reads_any_more_ends_the_program(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "control")
    argv = [PYTHON, str(AGENTS / "wrap.py"), str(tmp_path / "log"), str(tmp_path / "control"), "-", "--", "yes"]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"y\n"
        process.stdout.close()
        assert process.wait(30) == 129
    assert lines_of(tmp_path / "log")[-1] == {"exit": {"code": 129, "died_of": "SIGHUP"}}


def test_a_reader_that_comes_late_and_reads_slowly_gets_the_last_words_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "control")
    program = python("import os\nfor n in range(20): os.write(1, b'%09d\\n' % n * 1000)")
    argv = [PYTHON, str(AGENTS / "wrap.py"), str(tmp_path / "log"), str(tmp_path / "control"), "-", "--", *program]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0) as process:
        time.sleep(1.5)  # longer than the last words of a background job are waited for
        got = b""
        while chunk := process.stdout.read(1000):
            got += chunk
            time.sleep(0.002)  # a slow reader
        assert process.wait(30) == 0
    assert got == b"".join(b"%09d\n" % n * 1000 for n in range(20))


@pytest.mark.parametrize("job", ["sleep 60", "while :; do echo chat; sleep 0.05; done", "yes"])
def test_what_a_program_leaves_behind_does_not_hold_its_end(tmp_path: Path, job: str) -> None:
    os.mkfifo(tmp_path / "control")
    script = f"trap '' HUP; ({job}) & echo $! >{tmp_path}/pid; echo last; exit 6"
    argv = [PYTHON, str(AGENTS / "wrap.py"), str(tmp_path / "log"), str(tmp_path / "control"), "-", "--", "sh", "-c", script]
    got = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    try:
        assert got.returncode == 6
        assert b"last\n" in got.stdout
    finally:
        subprocess.run(["kill", "-9", (tmp_path / "pid").read_text().strip()], check=False, capture_output=True)


def test_a_terminal_that_goes_away_ends_the_program(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python("import os, time\nos.write(1, b'ready')\ntime.sleep(600)")) as outer:
        outer.sees(b"ready")
        keeper, program = outer.child(), outer.program()
        os.kill(outer.pid, signal.SIGHUP)
        assert outer.wait() == 129
        assert not is_there(keeper)
        assert not is_there(program)


def test_a_killed_wrapper_leaves_no_child(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, ["sleep", "600"]) as outer:
        keeper = until(lambda: pids("-P", outer.pid), "the keeper")[0]
        program = until(lambda: pids("-P", keeper, "-x", "sleep"), "the program")[0]
        os.kill(outer.pid, signal.SIGKILL)
        assert outer.wait() == 137
        until(lambda: not is_there(keeper) and not is_there(program), "their end")


def pids(*options) -> list[int]:
    found = subprocess.run(["pgrep", *map(str, options)], capture_output=True, text=True, check=False)
    return [int(word) for word in found.stdout.split()]


def is_there(pid: int) -> bool:
    """True if it lives; one that only waits to be reaped does not."""
    got = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(got.stdout.strip()) and not got.stdout.startswith("Z")


def test_nohup_is_respected(tmp_path: Path) -> None:
    code = "import os, time\nos.write(1, b'ready')\ntime.sleep(600)"
    with OuterTerminal(tmp_path, python(code), under=["/usr/bin/env", "--ignore-signal=HUP"]) as outer:
        outer.sees(b"ready")
        os.kill(outer.pid, signal.SIGHUP)
        time.sleep(0.2)  # in which a hang-up that was heeded would have begun
        os.kill(outer.pid, signal.SIGTERM)
        assert outer.wait() == 143


def test_under_nohup_too_a_killed_wrapper_leaves_nobody_behind(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, ["sleep", "600"], under=["/usr/bin/env", "--ignore-signal=HUP"]) as outer:
        keeper = until(lambda: pids("-P", outer.pid), "the keeper")
        program = until(lambda: pids("-P", keeper[0]), "the program")
        os.kill(outer.pid, signal.SIGKILL)
        until(lambda: not any(map(is_there, keeper + program)), lambda: f"the end of {keeper} and {program}")


def test_in_a_thread_the_size_is_followed_too(tmp_path: Path) -> None:
    with OuterTerminal(
        tmp_path, ["sh", "-c", "trap 'stty size' WINCH; stty size; while :; do sleep 0.02; done"], options="thread"
    ) as outer:
        outer.sees(b"24 80")
        outer.resize(50, 140)
        outer.sees(b"50 140")
        outer.keys(b"\x03")
        assert outer.wait() == 130
        assert outer.attributes() == outer.before


def screen_of(outer, rows: int, columns: int) -> list[str]:
    screen = pyte.Screen(columns, rows)
    pyte.ByteStream(screen).feed(bytes(outer.shown))
    return [row.rstrip() for row in screen.display]


SIZES = r"""
import os, signal, time
SWITCHES = {'full': '\x1b[?1049h', 'back': '\x1b[?1049l'}
def tell(*_):
    os.write(1, b'size %d %d\n' % os.get_terminal_size(0))  # at once, so that no row is drawn within it
signal.signal(signal.SIGWINCH, tell)
tell()
for line in iter(input, 'quit'):
    print(SWITCHES.get(line, line), end='', flush=True)
"""


def test_the_status_row_is_taken_from_the_program_and_given_back(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(SIZES), options="status") as outer:
        outer.sees(b"size 80 23")
        until(lambda: screen_of(outer, 24, 80)[-1].startswith("tocsin: "), "the row")
        outer.resize(30, 100)
        at = outer.sees(b"size 100 29")
        outer.keys(b"full\r")
        at = outer.sees(b"size 100 30", at)
        outer.keys(b"back\r")
        at = outer.sees(b"size 100 29", at)
        until(lambda: screen_of(outer, 30, 100)[-1].startswith("tocsin: "), "the row after the full screen")
        outer.keys(b"quit\r")
        assert outer.wait() == 0
        assert screen_of(outer, 30, 100)[-1] == ""
        # The scroll region is the whole screen again.
        assert bytes(outer.shown).rindex(b"\x1b[r") > bytes(outer.shown).rindex(b"\x1b[1;29r")


def test_without_a_terminal_there_is_no_status_row(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "control")
    argv = [PYTHON, str(AGENTS / "wrap.py"), str(tmp_path / "log"), str(tmp_path / "control"), "status", "--", "echo", "hi"]
    got = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    assert (got.returncode, got.stdout, got.stderr) == (0, b"hi\n", b"")


CLOSES = """
import os, time
os.write(1, b'one')
for fd in (0, 1, 2): os.close(fd)
time.sleep(0.3)
os.open('/dev/tty', os.O_RDWR)
os.write(0, b'two')
"""


def test_a_program_may_close_its_terminal_and_open_it_again(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(CLOSES)) as outer:
        outer.sees(b"one")
        outer.sees(b"two")
        assert outer.wait() == 0


SAYS_BYE = """
import os, signal, time
def bye(*_):
    os.write(1, b'x' * 200_000 + b'LAST')
    os._exit(3)
signal.signal(signal.SIGTERM, bye)
os.write(1, b'ready')
time.sleep(600)
"""


def test_output_after_an_end_by_signal_is_still_shown(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(SAYS_BYE)) as outer:
        outer.sees(b"ready")
        os.kill(outer.pid, signal.SIGTERM)
        assert outer.wait() == 3
        assert outer.shown.endswith(b"x" * 200_000 + b"LAST")


class Clock:
    def now(self) -> int:
        return int(time.time() * 1000)


def terminal_for(*argv: str) -> WrappedTerminal:
    return WrappedTerminal(argv, lane="a", env=dict(os.environ), signal=lambda fact: None, clock=Clock())


def test_before_the_start_it_is_too_early_and_after_the_end_too_late() -> None:
    async def run() -> None:
        terminal = terminal_for("true")
        with pytest.raises(NotNow, match="true has not been started yet"):
            await terminal.submit("text")
        assert await terminal.run() == Exit(code=0)
        with pytest.raises(SinkGone, match="true has ended"):
            await terminal.submit("text")

    anyio.run(run)


def test_a_program_that_is_not_there_is_said_and_the_lane_dies() -> None:
    facts: list[object] = []

    async def run() -> None:
        terminal = WrappedTerminal(["no-such-program"], lane="a", env={"PATH": "/bin"}, signal=facts.append, clock=Clock())
        with pytest.raises(BadInput, match="no-such-program: no such program in its PATH"):
            await terminal.run()
        with pytest.raises(SinkGone):
            await terminal.submit("text")

    anyio.run(run)
    assert [type(fact).__name__ for fact in facts] == ["RecipientDied"]


ON_WINDOWS = """
import signal, sys
import anyio, anyio.lowlevel, anyio.to_thread, asyncio, msgspec, wcwidth, socket, select, codecs, shutil
sys.platform = "win32"
sys.modules["termios"] = sys.modules["fcntl"] = None
for name in ("SIGHUP", "SIGQUIT", "SIGWINCH", "SIGTSTP", "SIGCONT", "SIGKILL", "SIGSTOP", "SIGTTOU"):
    delattr(signal, name)
from tocsin.contracts.errors import BadInput
from tocsin.edges.sinks.pty import PtySink
from tocsin.edges.terminal.wrapped import WrappedTerminal
try:
    WrappedTerminal(["cmd"], lane="a", env={}, signal=print, clock=None)
except BadInput as error:
    print(error)
"""


def test_on_windows_the_import_works_and_the_use_is_refused_in_words() -> None:
    got = subprocess.run([PYTHON, "-c", ON_WINDOWS], capture_output=True, text=True, check=False)
    assert (got.stdout, got.stderr) == ("a wrapped terminal needs Linux or macOS; on Windows run it inside WSL\n", "")


def test_no_descriptor_is_left_open() -> None:
    before = sorted(path.name for path in Path("/dev/fd").iterdir())
    for _ in range(3):
        anyio.run(terminal_for("true").run)
    assert sorted(path.name for path in Path("/dev/fd").iterdir()) == before

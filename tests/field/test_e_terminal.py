"""Field cases E: what breaks wrapped terminals in practice, each with a real pseudo-terminal."""

import hashlib
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

AGENTS = Path(__file__).parents[1] / "agents"
_outer = runpy.run_path(str(AGENTS / "outer_terminal.py"))
OuterTerminal, lines_of, until = _outer["OuterTerminal"], _outer["lines_of"], _outer["until"]
RUNS = int(os.environ.get("TOCSIN_TERMINAL_RUNS", "20"))
PYTHON = sys.executable


def python(code: str) -> list[str]:
    return [PYTHON, "-c", code]


def piped(tmp_path: Path, program: list[str], *, stdin: object, log: str = "wrap.jsonl", **more: object):
    """The wrapper without a terminal of ours; its output is a pipe."""
    control = tmp_path / "control"
    if not control.exists():
        os.mkfifo(control)
    argv = [PYTHON, str(AGENTS / "wrap.py"), str(tmp_path / log), str(control), "-", "--", *program]
    return subprocess.run(argv, capture_output=True, timeout=60, check=False, **{"stdin": stdin, **more})


SIZES = """
import os, signal, sys
def tell(*_):
    size = os.get_terminal_size(0)
    print("size", size.lines, size.columns, flush=True)
signal.signal(signal.SIGWINCH, tell)
tell()
while True: signal.pause()
"""


def test_e01_size_at_start_and_after_resize(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(SIZES), rows=31, columns=97) as outer:
        at = outer.sees(b"size 31 97")
        outer.resize(50, 140)
        outer.sees(b"size 50 140", at)


def test_e01_resize_while_output_flows_loses_no_byte(tmp_path: Path) -> None:
    code = "for n in range(200_000): print(f'{n:06}')\nimport os; print(os.get_terminal_size(0))"
    with OuterTerminal(tmp_path, python(code), rows=31, columns=97) as outer:
        outer.sees(b"000099\r\n")
        outer.resize(50, 140)
        assert outer.wait() == 0
        shown = bytes(outer.shown)
        assert shown.startswith(b"".join(b"%06d\r\n" % n for n in range(200_000)))
        assert shown.endswith(b"os.terminal_size(columns=140, lines=50)\r\n")


@pytest.mark.parametrize("agent", [("guesses_paste", "bracketed"), ("guesses_paste",), ("composer",)])
def test_e02_enter_is_its_own_write_after_the_body(tmp_path: Path, agent: tuple[str, ...]) -> None:
    three, long = "first line\nsecond line\nthird", " ".join(f"word{n}" for n in range(2400))
    assert len(long) > 17_000
    with OuterTerminal(tmp_path, agent=agent) as outer:
        outer.sees(b"> ")
        assert outer.submit(three) == "submitted"
        assert outer.submit(long) == "submitted"
        bracketed = agent != ("guesses_paste",)
        assert outer.submitted(2) == [three if bracketed else three.replace("\n", " "), long]


def test_e03_no_markers_where_nobody_asked_for_them(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, ["cat"]) as outer:
        assert outer.submit_when_free("to the cat") in ("offered", "submitted")
        outer.sees(b"to the cat\r\nto the cat\r\n")
        assert b"\x1b" not in outer.shown and b"00~" not in outer.shown


@pytest.mark.timeout(1800)
def test_e03_the_last_switch_counts_however_it_is_split_or_combined(tmp_path: Path) -> None:
    switches = [b"\x1b[?2004l\x1b[?25h", b"\x1b[?1049;2004h", b"\x1b[?2004l\x1b[?1049l", b"\x1b[?2004h"]
    forms = ["message {}\r", "\x1b[200~message {}\x1b[201~\r"]
    with OuterTerminal(tmp_path, agent=["switcher"], options="screen") as outer:
        at = outer.sees(b"> ")
        for number in range(RUNS):
            at = outer.sees(switches[number % 4], at) if number else at
            outer.submit_when_free(f"message {number}")
            assert outer.logged("raw", number + 1)[-1] == forms[number % 2].format(number)


def test_e05_short_writes_lose_nothing_and_keys_wait(tmp_path: Path) -> None:
    text = "".join(f"{n:07} " for n in range(25_000))
    with OuterTerminal(tmp_path, agent=["slow_reader"]) as outer:
        outer.sees(b"> ")
        order = outer.order(text)
        until(lambda: "output" in outer.facts() and time.sleep(0.3) is None)  # the typing is under way, not at its end
        outer.keys(b"mine\r")
        # What was printed after the person's keys may be about them.
        assert outer.answer(order) == "offered"
        assert outer.submitted(2) == [text, "mine"]


def test_e07_a_long_burst_arrives_whole(tmp_path: Path) -> None:
    text = "x" * 600 + " " + "y" * 603
    assert len(text) == 1204
    with OuterTerminal(tmp_path, agent=["guesses_paste"]) as outer:
        outer.sees(b"> ")
        assert outer.submit(text) == "submitted"
        assert outer.submitted(1) == [text]
        assert b"[Pasted]" not in outer.shown


def test_e08_last_words_in_all_runs(tmp_path: Path) -> None:
    code = "import os\nfor n in range(3000): os.write(1, b'%099d\\n' % n)\nos.write(1, b'ERROR last\\n'); os._exit(0)"
    expected = b"".join(b"%099d\n" % n for n in range(3000)) + b"ERROR last\n"
    for run in range(RUNS):
        got = piped(tmp_path, python(code), stdin=subprocess.DEVNULL)
        assert got.returncode == 0
        assert got.stdout == expected, f"run {run}: {len(got.stdout)} of {len(expected)} bytes, {got.stdout[-40:]!r}"
        assert got.stderr == b""


def test_e08_something_left_in_the_background_does_not_hold_the_end(tmp_path: Path) -> None:
    got = piped(tmp_path, ["sh", "-c", "trap '' HUP; sleep 30 & echo last"], stdin=subprocess.DEVNULL)
    assert (got.returncode, got.stdout) == (0, b"last\n")


@pytest.mark.parametrize(
    ("script", "code", "died_of"),
    [
        ("exit 0", 0, ""),
        ("exit 3", 3, ""),
        ("exit 127", 127, ""),
        ("exit 255", 255, ""),
        ("kill -TERM $$", 143, "SIGTERM"),
        ("kill -KILL $$", 137, "SIGKILL"),
        ("kill -SEGV $$", 139, "SIGSEGV"),
    ],
)
def test_e09_exit_code_and_death_by_signal(tmp_path: Path, script: str, code: int, died_of: str) -> None:
    got = piped(tmp_path, ["sh", "-c", script], stdin=subprocess.DEVNULL)
    assert (got.returncode, got.stderr) == (code, b"")
    log = lines_of(tmp_path / "wrap.jsonl")
    assert [line["exit"] for line in log if "exit" in line] == [{"code": code, "died_of": died_of}]
    assert [line["fact"] for line in log if "fact" in line].count("recipient_died") == 1


MESSY = r"""
import os, sys, time
os.write(1, b"\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?1000;1006h\x1b[>1uready")
while True: time.sleep(60)
"""


@pytest.mark.parametrize(
    ("how", "code"),
    [("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131), ("exception", 1), ("cancel", 99), ("exit", 137)],
)
def test_e11_the_terminal_is_given_back_as_it_was(tmp_path: Path, how: str, code: int) -> None:
    with OuterTerminal(tmp_path, python(MESSY), options="fail" if how == "exception" else "-") as outer:
        outer.sees(b"ready")
        if how in ("INT", "TERM", "HUP", "QUIT"):
            until(lambda: outer.attributes() != outer.before, "raw mode")
            os.kill(outer.pid, getattr(signal, f"SIG{how}"))
        elif how == "exit":
            os.kill(outer.program(), signal.SIGKILL)
        elif how == "cancel":
            outer.cancel()
        got = outer.wait()
        assert outer.attributes() == outer.before
        if how != "exception":
            assert got == code
        last = bytes(outer.shown)[outer.sees(b"ready") :]
        for undo in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?2004l", b"\x1b[?1000l", b"\x1b[?1006l", b"\x1b[<1u"):
            assert last.count(undo) == 1
        assert not children_of(outer.pid)


def children_of(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    got = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in (path.read_text() if path.exists() else got.stdout).split()]


def test_e13_a_pipe_is_passed_through_and_its_end_too(tmp_path: Path) -> None:
    got = piped(tmp_path, ["cat"], stdin=None, input=b"hi\n")
    assert (got.returncode, got.stdout, got.stderr) == (0, b"hi\n", b"")


def test_e13_a_last_line_without_an_end_arrives(tmp_path: Path) -> None:
    got = piped(tmp_path, ["cat"], stdin=None, input=b"one\ntwo")
    assert (got.returncode, got.stdout, got.stderr) == (0, b"one\ntwo", b"")


def test_e13_dev_null_ends_at_once(tmp_path: Path) -> None:
    got = piped(tmp_path, ["cat"], stdin=subprocess.DEVNULL)
    assert (got.returncode, got.stdout, got.stderr) == (0, b"", b"")


def test_e13_a_plain_file_and_no_controlling_terminal(tmp_path: Path) -> None:
    lines = b"".join(b"line %d\n" % n for n in range(20_000))
    (tmp_path / "in").write_bytes(lines)
    with (tmp_path / "in").open("rb") as stdin:
        got = piped(tmp_path, ["sh", "-c", "stty size; exec cat"], stdin=stdin, start_new_session=True)
    assert (got.returncode, got.stderr) == (0, b"")
    assert got.stdout == b"24 80\n" + lines


@pytest.mark.parametrize(("closed", "shown"), [("<&-", b"still\n"), (">&-", b""), ("<&- >&- 2>&-", b"")])
def test_e13_streams_that_are_closed(tmp_path: Path, closed: str, shown: bytes) -> None:
    os.mkfifo(tmp_path / "control")
    program = ["sh", "-c", "echo still; exit 4"]
    argv = [PYTHON, str(AGENTS / "wrap.py"), str(tmp_path / "log"), str(tmp_path / "control"), "-", "--", *program]
    got = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *argv], capture_output=True, check=False, timeout=60)
    assert (got.returncode, got.stdout, got.stderr) == (4, shown, b"")


FULL_SCREEN = r"""
import os, time
os.write(1, b"\x1b[?1049h")
for n in range(200): os.write(1, b"\x1b[%d;%dHERROR pane %d\x1b[K" % (n % 24 + 1, n % 60 + 1, n))
os.write(1, b"\x1b[?10"); time.sleep(0.02); os.write(1, b"49lERROR real\n")
"""


def test_e15_a_full_screen_program_is_known_as_one_and_passes_unchanged(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(FULL_SCREEN)) as outer:
        assert outer.wait() == 0
        panes = b"".join(b"\x1b[%d;%dHERROR pane %d\x1b[K" % (n % 24 + 1, n % 60 + 1, n) for n in range(200))
        assert bytes(outer.shown) == b"\x1b[?1049h" + panes + b"\x1b[?1049lERROR real\r\n"
        assert [f for f in outer.facts() if f.startswith("screen")] == ["screen_taken", "screen_released"]


FIVE_MEGABYTES = r"""
import os
block = bytes(range(32, 127)) * 11
for n in range(5000): os.write(1, b'%05d' % n + block[:994] + b'\n')
os._exit(9)
"""


def test_e16_a_resize_storm_is_no_end(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, python(FIVE_MEGABYTES)) as outer:
        stop = threading.Event()

        def storm() -> None:
            for n in range(100_000):
                if stop.wait(0.005):
                    return
                outer.resize(20 + n % 20, 80 + n % 40)

        thread = threading.Thread(target=storm)
        thread.start()
        try:
            assert outer.wait() == 9
        finally:
            stop.set()
            thread.join()
        block = (bytes(range(32, 127)) * 11)[:994]
        expected = b"".join(b"%05d" % n + block + b"\r\n" for n in range(5000))
        assert len(expected) > 5_000_000
        assert hashlib.sha256(outer.shown).digest() == hashlib.sha256(expected).digest()

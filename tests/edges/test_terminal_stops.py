"""Ctrl-Z and all that stops a job: ``tocsin run`` stops with its program, lends the shell its terminal, and both come back."""

import os
import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_tmux = runpy.run_path(str(Path(__file__).parent / "tmux.py"))
tmux, need, until, argv = (_tmux[name] for name in ("tmux", "need", "until", "argv"))

BASH = ("bash", "--norc", "--noprofile")
ZSH = ("zsh", "-f")
NOTES = {"notes.txt": "".join(f"line {number} of the notes\n" for number in range(1, 201))}
WRAP = " ".join(argv("run", "--as", "dev", "--idle-after", "200"))
# One command that is a job of the shell, with a known process id.
PAGE = {"page": f'#!/bin/sh\necho $$ >pid\nexec {WRAP} -- "$@"\n', "row": f'#!/bin/sh\nexec {WRAP} --status -- "$@"\n'}
USUAL = "cursor_flag=1 keypad_flag=0 keypad_cursor_flag=0"


@pytest.fixture
def server():
    need("bash", "pgrep", "ps")
    with tmux() as one:
        yield one


class Jobs:
    """A shell with job control, in which ``./page PROGRAM`` is run."""

    def __init__(self, server, shell=BASH, files=None):
        self.screen = server.screen("shell", shell, files={**NOTES, **PAGE, **(files or {})})
        self.word = {"bash": "Stopped", "zsh": "suspended"}[shell[0]]
        self.sees, self.keys, self.text, self.state = self.screen.sees, self.screen.keys, self.screen.text, self.screen.state
        self.sees("ready$")

    def start(self, program, shows, command="./page"):
        self.keys(f"{command} {program}", "Enter")
        self.sees(shows)

    def wrapper(self):
        told = self.screen.home / "pid"
        return int(until(lambda: told.exists() and told.read_text(), "the wrapper"))

    def program(self):
        (keeper,) = children_of(self.wrapper())
        (program,) = children_of(keeper)
        return program

    def has_the_shell_back(self):
        """Wait until the shell has a terminal as it is usual: its prompt on the last row, in the first column."""

        def usual():
            state = self.state()
            last = [line for line in self.text().splitlines() if line][-1:]
            plain = USUAL in state and "mouse_any_flag=0" in state and "alternate_on=0" in state
            return last == ["ready$"] and self.word in self.text() and plain

        until(usual, lambda: f"the shell's prompt:\n{self.text()}\n{self.state()}")

    def clear(self):
        self.keys("clear", "Enter")
        # After a change of size zsh leaves a mark above its prompt.
        until(lambda: re.fullmatch(r"\s*([#%]\s+)?ready\$", self.text()), self.text)

    def ended(self):
        """The exit status of the job, once it has ended."""
        until(lambda: not is_there(self.wrapper()), "its end")
        return int(self.asks("echo ended $?").removeprefix("ended "))

    def asks(self, command):
        """What a command in the shell prints."""
        until(lambda: self.text().endswith("\nready$"), self.text)
        self.keys("C-l", f"{command}; echo DO''NE", "Enter")
        self.sees("DONE")
        return re.sub(r".*DO''NE\n|\n?DONE.*", "", self.text(), flags=re.DOTALL)


def children_of(pid: int) -> list[int]:
    return until(
        lambda: [
            int(word)
            for word in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
        ],
        f"the children of {pid}",
    )


def is_there(pid: int) -> bool:
    got = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(got.strip()) and not got.startswith("Z")


def state_of(pid: int) -> str:
    return subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout[:1]


@pytest.mark.parametrize("shell", [BASH, ZSH], ids=["bash", "zsh"])
@pytest.mark.parametrize(
    ("program", "shows", "use", "then"),
    [
        ("less notes.txt", "line 23 of", "Space", "line 46 of"),
        ("vim --clean -n notes.txt", "line 23 of", "G", "line 200 of"),
        ("top -d 1", "COMMAND", "h", "Help for Interactive"),
    ],
    ids=["less", "vim", "top"],
)
def test_control_z_gives_the_shell_its_terminal_and_fg_the_program_its_own(server, shell, program, shows, use, then) -> None:
    need(shell[0], program.split()[0])
    jobs = Jobs(server, shell)
    jobs.start(program, shows)
    running = jobs.state().splitlines()[-1]
    for columns, rows in ((100, 26), (90, 30)):
        jobs.keys("C-z")
        jobs.has_the_shell_back()
        assert jobs.asks("stty -a | grep -o '.icanon'").strip() == "icanon"
        jobs.screen.resize(columns, rows)
        jobs.clear()
        jobs.keys("fg", "Enter")
        jobs.sees("COMMAND" if program.startswith("top") else f"line {rows - 1} of")
        at = re.sub(r"pane_width=\d+ pane_height=\d+", f"pane_width={columns} pane_height={rows}", running)
        modes = re.search(r"keypad_flag.*keypad_cursor_flag=\d", at).group(), re.search(r"mouse_any_flag=\d", at).group()
        until(lambda modes=modes: all(mode in jobs.state() for mode in modes), jobs.state)
    jobs.keys(use)
    jobs.sees(then)
    jobs.keys("C-z")
    jobs.has_the_shell_back()
    jobs.keys("kill %1; fg" if shell is ZSH else "kill %1", "Enter")
    until(lambda: not is_there(jobs.wrapper()), "its end")


def test_a_program_that_reads_lines_is_stopped_and_reads_on(server) -> None:
    jobs = Jobs(server)
    jobs.start("cat", "page cat")
    jobs.keys("one", "Enter")
    jobs.sees("one\none")
    for word in ("two", "three"):
        jobs.keys("C-z")
        jobs.has_the_shell_back()
        jobs.keys("fg", "Enter")
        jobs.sees("fg\n./page cat")
        jobs.keys(word, "Enter")
        # The next Ctrl-Z comes at once.
        jobs.sees(f"{word}\n{word}")
    jobs.keys("C-d")
    assert jobs.ended() == 0


HANDLES = r"""
import os, signal
def stop(*_):
    os.write(1, b"puts itself in order\n")
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
def go_on(*_):
    signal.signal(signal.SIGTSTP, stop)
    os.write(1, b"is back\n")
signal.signal(signal.SIGTSTP, stop)
signal.signal(signal.SIGCONT, go_on)
os.write(1, b"is here\n")
while True: os.write(1, b"got " + os.read(0, 99))
"""


def test_a_program_that_handles_stopping_itself_is_asked_and_told(server) -> None:
    jobs = Jobs(server, files={"handles.py": HANDLES})
    jobs.start(f"{sys.executable} handles.py", "is here")
    for count, stop in ((1, lambda: jobs.keys("C-z")), (2, lambda: os.kill(jobs.wrapper(), signal.SIGTSTP))):
        stop()
        until(lambda count=count: jobs.text().count("puts itself in order") == count, jobs.text)
        jobs.has_the_shell_back()
        jobs.keys("fg", "Enter")
        until(lambda count=count: jobs.text().count("is back") == count, jobs.text)
        jobs.keys(f"x{count}", "Enter")
        jobs.sees(f"got x{count}")
    jobs.keys("C-c")
    assert jobs.ended() == 130


FULL_SCREEN = r"""
import os, signal, tty
tty.setraw(0)
def draw(*_): os.write(1, b"\x1b[2J\x1b[Hfull screen of %d rows" % os.get_terminal_size().lines)
signal.signal(signal.SIGWINCH, draw)
os.write(1, b"\x1b[?1049h\x1b[?2004h\x1b[?1000;1006h\x1b[?25l\x1b[?1h\x1b=")
draw()
while True: os.write(1, b"\r\ngot %r" % os.read(0, 99))
"""
ITS_MODES = "cursor_flag=0 keypad_flag=1 keypad_cursor_flag=1"


@pytest.mark.parametrize("whom", ["program", "wrapper"])
def test_who_is_stopped_without_being_asked_finds_its_modes_again(server, whom: str) -> None:
    jobs = Jobs(server, files={"full.py": FULL_SCREEN})
    jobs.start(f"{sys.executable} full.py", "full screen of 24 rows")
    stop = {
        "program": lambda: os.kill(jobs.program(), signal.SIGSTOP),
        "wrapper": lambda: os.kill(jobs.wrapper(), signal.SIGTSTP),
    }[whom]
    for number in range(2):
        stop()
        jobs.has_the_shell_back()
        if number:
            jobs.screen.resize(100, 30)
        jobs.keys("fg", "Enter")
        # Without a new size as well: its screen comes back empty.
        jobs.sees(f"full screen of {30 if number else 24} rows")
        until(lambda: ITS_MODES in jobs.state() and "mouse_sgr_flag=1 alternate_on=1" in jobs.state(), jobs.state)
        jobs.keys("x")
        jobs.sees("got b'x'")


def test_a_wrapper_that_is_stopped_by_force_sets_its_terminal_up_again(server) -> None:
    jobs = Jobs(server, files={"full.py": FULL_SCREEN})
    jobs.start(f"{sys.executable} full.py", "full screen of 24 rows")
    os.kill(jobs.wrapper(), signal.SIGSTOP)
    jobs.sees("Stopped")
    assert jobs.asks("stty -a | grep -o '.icanon'; printf '\\033[?1000;1006;1l\\033[?25h'").strip() == "icanon"
    jobs.keys("fg", "Enter")
    until(lambda: "cursor_flag=0" in jobs.state() and "mouse_sgr_flag=1 alternate_on=1" in jobs.state(), jobs.state)
    jobs.keys("x")
    jobs.sees("got b'x'")
    # Stopped once more and killed, it leaves the shell's terminal to the shell.
    os.kill(jobs.wrapper(), signal.SIGSTOP)
    until(lambda: "Stopped" in jobs.text(), jobs.text)
    jobs.keys("kill %1", "Enter")
    until(lambda: not is_there(jobs.wrapper()), "its end")
    until(lambda: "mouse_any_flag=0" in jobs.state() and "alternate_on=0" in jobs.state(), jobs.state)
    # The prompt that was there stood on the other screen.
    jobs.keys("Enter")
    assert jobs.asks("echo still $((6 * 7))").startswith("still 42")


def test_in_the_background_it_waits_for_its_terminal(server) -> None:
    jobs = Jobs(server, files={"full.py": FULL_SCREEN})
    jobs.start(f"{sys.executable} full.py", "full screen of 24 rows")
    os.kill(jobs.program(), signal.SIGSTOP)
    jobs.has_the_shell_back()
    for _ in range(2):
        jobs.clear()
        jobs.keys("bg", "Enter")
        until(lambda: state_of(jobs.wrapper()) == "T", "that it is stopped again")
        until(lambda: "Stopped" in jobs.asks("jobs"), jobs.text)
    jobs.keys("fg", "Enter")
    jobs.sees("full screen of 24 rows")
    jobs.keys("x")
    jobs.sees("got b'x'")


def test_suspend_in_a_wrapped_shell_stops_all_and_a_job_in_it_only_itself(server) -> None:
    jobs = Jobs(server)
    jobs.keys("./page bash --norc --noprofile", "Enter")
    jobs.sees("noprofile\nready$")
    jobs.keys("sleep 1000", "Enter")
    until(lambda: "sleep" in jobs.screen.foreground(), jobs.text)
    jobs.keys("C-z")
    jobs.sees("Stopped                 sleep 1000\nready$")
    assert state_of(jobs.wrapper()) == "S"
    jobs.keys("suspend", "Enter")
    jobs.sees("Stopped                 ./page bash")
    assert state_of(jobs.wrapper()) == "T"
    jobs.keys("fg", "Enter")
    jobs.keys("jobs", "Enter")
    jobs.sees("[1]+  Stopped                 sleep 1000\nready$")
    jobs.keys("fg", "Enter")
    until(lambda: "sleep" in jobs.screen.foreground(), jobs.text)
    jobs.keys("C-c")
    jobs.sees("^C\nready$")
    jobs.keys("exit 5", "Enter")
    assert jobs.ended() == 5


def test_a_wrapped_shell_that_is_stopped_during_a_job_does_not_lose_it(server) -> None:
    need("less")
    jobs = Jobs(server)
    jobs.keys("./page bash --norc --noprofile", "Enter")
    jobs.sees("noprofile\nready$")
    jobs.keys("less notes.txt", "Enter")
    jobs.sees("line 23 of")
    os.kill(jobs.wrapper(), signal.SIGTSTP)
    jobs.has_the_shell_back()
    jobs.keys("fg", "Enter")
    jobs.sees("line 23 of")
    jobs.keys("Space")
    jobs.sees("line 46 of")
    jobs.keys("q")
    # less forgets what was typed ahead of its end.
    until(lambda: "line 46 of" not in jobs.text(), jobs.text)
    jobs.keys("jobs; echo no jobs", "Enter")
    jobs.sees("jobs; echo no jobs\nno jobs")


def test_a_pipeline_is_stopped_as_a_whole(server) -> None:
    jobs = Jobs(server)
    jobs.start("cat | sed s/a/o/", "sed s/a/o/")
    jobs.keys("hat", "Enter")
    jobs.sees("hot")
    jobs.keys("C-z")
    jobs.sees("Stopped                 ./page cat | sed s/a/o/\nready$")
    jobs.keys("fg", "Enter")
    jobs.keys("cat", "Enter")
    jobs.sees("cot")
    jobs.keys("C-d")
    until(lambda: not is_there(jobs.wrapper()), "its end")


def test_nested_wrappers_stop_and_come_back_together(server) -> None:
    jobs = Jobs(server)
    inner = " ".join(argv("run", "--as", "inner", "--"))

    def states():
        outer = jobs.wrapper()
        return [state_of(pid) for pid in (outer, *children_of(outer))]

    jobs.keys(f"./page {inner} bash --norc --noprofile", "Enter")
    jobs.sees("noprofile\nready$")
    jobs.clear()
    jobs.keys("suspend", "Enter")
    jobs.sees("Stopped  ")
    jobs.keys("fg", "Enter")
    until(lambda: "T" not in states(), states)
    jobs.keys("echo back $((40 + 2))", "Enter")
    jobs.sees("back 42\nready$")
    jobs.keys("exit 3", "Enter")
    assert jobs.ended() == 3


def test_what_waits_is_told_once_after_fg(server) -> None:
    jobs = Jobs(server)
    jobs.start("cat", "page cat")
    server.feed("--user", "before the stop")
    jobs.sees("before the stop")
    # A stop before its Enter would end the typing.
    until(lambda: server.lane()["delivered"] == 1, server.lane)
    jobs.keys("C-z")
    jobs.has_the_shell_back()
    assert server.here.tocsin("feed", "--to", "dev", "a finding")[0] == 6
    assert server.here.tocsin("feed", "--to", "dev", "--user", "during the stop")[0] == 0
    assert "during the stop" not in jobs.text()
    jobs.clear()
    jobs.keys("fg", "Enter")
    until(lambda: server.lane()["delivered"] == 2, server.lane)
    # The line as it was echoed, and as cat gave it back.
    until(lambda: jobs.screen.all_text().count("during the stop") == 2, jobs.screen.all_text)


def test_the_status_row_goes_and_comes_with_it(server) -> None:
    jobs = Jobs(server)
    jobs.start("cat", "tocsin dev: 0 pending", command="./row")
    jobs.keys("C-z")
    jobs.has_the_shell_back()
    assert "pending" not in jobs.text()
    assert "scroll_region_lower=23" in jobs.state()
    jobs.keys("fg", "Enter")
    until(lambda: jobs.text().splitlines()[-1].startswith("tocsin dev: 0 pending"), jobs.text)
    jobs.keys("C-d")
    jobs.sees("ready$")
    until(lambda: "pending" not in jobs.text(), jobs.text)


@pytest.mark.parametrize("end", ["kill %1", "exit", "closed"])
def test_nothing_is_left_of_a_stopped_one_that_is_killed_or_whose_terminal_is_closed(server, end: str) -> None:
    jobs = Jobs(server)
    jobs.start("vim --clean -n notes.txt" if end == "closed" else "cat", "line 1 of" if end == "closed" else "page cat")
    wrapper, program = jobs.wrapper(), jobs.program()
    (keeper,) = children_of(wrapper)
    jobs.keys("C-z")
    jobs.has_the_shell_back()
    if end == "closed":
        server("kill-session", "-t", "shell")
    else:
        jobs.keys(end, "Enter", *([end, "Enter"] if end == "exit" else []))
    until(lambda: not any(map(is_there, (wrapper, keeper, program))), "the end of all three")

"""Real programs in ``tocsin run``: they show what they show without it, and are typed into only where a line is read."""

import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_tmux = runpy.run_path(str(Path(__file__).parent / "tmux.py"))
tmux, need, until, argv, without_numbers = (_tmux[name] for name in ("tmux", "need", "until", "argv", "without_numbers"))

BASH = ("bash", "--norc", "--noprofile")
PYTHON = (sys.executable, "-q")
VIM = ("vim", "--clean", "-n", "notes.txt")
NOTES = {"notes.txt": "".join(f"line {number} of the notes\n" for number in range(1, 201))}


@pytest.fixture
def server():
    with tmux() as one:
        yield one


@pytest.fixture
def sleeper():
    """A process that is the same in every list of processes."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process.pid
        process.kill()


def _top(pid: int) -> list[str]:
    need("top")
    said = subprocess.run(["top", "-h"], capture_output=True, text=True, check=False)
    if "procps" not in subprocess.run(["top", "-V"], capture_output=True, text=True, check=False).stdout + said.stdout:
        pytest.skip("this top is not procps")
    return ["top", "-d", "3", "-p", str(pid)]


def test_bash_is_the_same_with_its_jobs_interrupts_and_sizes(server) -> None:
    need("bash", "ps")
    pair = server.both(*BASH)
    pair.show("ready$")
    pair.keys(r"printf '\033[31mred\033[m %s\n' one; false", "Enter", "echo status $?", "Enter")
    pair.show("red", "status 1")
    pair.keys("half a line")
    pair.show("half a line")
    pair.keys("C-c")
    pair.show("half a line^C\nready$")
    pair.keys("echo after $?", "Enter")
    pair.show("after 130")
    pair.keys("sleep 1000", "Enter")
    pair.at_work("sleep")
    pair.keys("C-z")
    pair.show("Stopped")
    pair.resize(90, 30)
    pair.keys("stty size; jobs", "Enter")
    pair.show("30 90", "[1]+")
    pair.keys("fg", "Enter")
    pair.at_work("sleep")
    pair.keys("C-c")
    pair.show("\n^C\nready$")
    pair.keys("echo ended $?", "Enter")
    pair.show("ended 130")
    pair.keys("Up", "Up", "BSpace", "C-a", "# ", "Enter", "exit 7", "Enter")
    pair.end(7)


def test_a_program_that_was_stopped_from_outside_is_brought_back_by_fg_in_its_new_size(server) -> None:
    need("bash", "less")
    wrapper = " ".join(argv("run", "--as", "dev", "--"))
    page = f"#!/bin/sh\necho $$ > pid\nexec {wrapper} less notes.txt\n"
    screen = server.screen("outside", BASH, files={**NOTES, "page": page})
    screen.sees("ready$")
    screen.keys("./page", "Enter")
    screen.sees("line 23 of")
    os.kill(int((screen.home / "pid").read_text()), signal.SIGTSTP)
    screen.sees("Stopped")
    screen.resize(90, 30)
    screen.keys("stty -a | grep -o '.icanon'", "Enter")
    screen.sees("\n icanon")
    screen.keys("fg", "Enter")
    screen.sees("line 29 of")
    screen.keys("Space")
    screen.sees("line 58 of")
    screen.keys("q")
    until(lambda: "alternate_on=0" in screen.state(), screen.state)
    screen.keys("echo ended $?; stty -a | grep -o '.icanon'", "Enter")
    screen.sees("ended 0\n icanon")
    screen.keys("exit", "Enter")
    assert screen.ends() == 0


def test_zsh_is_the_same(server) -> None:
    need("zsh", "ps")
    pair = server.both("zsh", "-f")
    pair.show("ready$")
    pair.keys("print -P '%F{green}green%f'; false", "Enter", "echo status $?", "Enter")
    pair.show("green", "status 1")
    pair.keys("half a line")
    pair.show("half a line")
    pair.keys("C-c")
    pair.show("half a line\nready$")
    pair.keys("sleep 1000", "Enter")
    pair.at_work("sleep")
    pair.keys("C-z")
    pair.show("suspended")
    pair.resize(90, 30)
    pair.keys("echo $COLUMNS $LINES", "Enter")
    pair.show("90 30")
    pair.keys("fg", "Enter")
    pair.at_work("sleep")
    pair.keys("C-c")
    pair.show("^C\nready$")
    pair.keys("echo ended $?", "Enter")
    pair.show("ended 130")
    pair.keys("exit 3", "Enter")
    pair.end(3)


def test_vim_is_the_same_and_writes_the_same_file(server) -> None:
    need("vim")
    pair = server.both(*VIM, files=NOTES)
    pair.show("line 1 of the notes", "alternate_on=1")
    pair.keys("i", "written ", "Escape", "yy3p")
    pair.show("written line 1 of")
    pair.resize(90, 30)
    pair.show("pane_width=90 pane_height=30", "line 26 of")
    pair.keys("/line 99", "Enter")
    pair.show("line 99 of")
    pair.keys("Vjj")
    pair.show("VISUAL LINE")
    pair.keys("d")
    pair.show("3 fewer lines")
    pair.keys("o", "half")
    pair.show("half", "INSERT")
    pair.keys("C-c")
    pair.show("103,4")
    pair.resize(110, 24)
    pair.show("pane_width=110 pane_height=24", f"{' ' * 92}103,4")  # drawn anew, or that would wipe out the next message
    pair.keys(":w", "Enter")
    pair.show("written")
    pair.keys(":cq", "Enter")
    pair.end(1)
    bare, wrapped = ((screen.home / "notes.txt").read_text() for screen in (pair.bare, pair.wrapped))
    assert bare == wrapped
    assert bare.startswith("written line 1 of")
    assert "line 101 " not in bare


def test_less_is_the_same(server) -> None:
    need("less")
    pair = server.both("less", "notes.txt", files=NOTES)
    pair.show("line 23 of", "alternate_on=1")
    pair.keys("Space")
    pair.show("line 46 of")
    pair.resize(90, 30)
    pair.show("pane_width=90 pane_height=30")
    pair.keys("/line 120", "Enter")
    pair.show("line 120", "line 148 of")
    pair.keys("F")
    pair.show("Waiting for data")
    pair.keys("C-c")
    pair.show("line 200 of")
    pair.keys("g")
    pair.show("line 1 of")
    pair.keys("q")
    pair.end(0)


def test_top_is_the_same_but_for_its_numbers(server, sleeper) -> None:
    pair = server.both(*_top(sleeper))
    pair.mask = without_numbers
    pair.show("sleep", "COMMAND")
    pair.keys("h")
    pair.show("Help for Interactive Commands")
    pair.keys("q")
    pair.show("COMMAND")
    pair.resize(90, 30)
    pair.show("COMMAND")
    pair.keys("m", "t")
    pair.show("COMMAND")
    pair.keys("C-c")
    pair.end(0)


def test_python_is_the_same(server) -> None:
    pair = server.both(*PYTHON)
    pair.show(">>>")
    pair.keys("for n in range(3): print(n)", "Enter", "Enter")
    pair.show("\n2\n")
    pair.keys("half a line")
    pair.show("half a line")
    pair.keys("C-c")
    pair.show("KeyboardInterrupt")
    pair.keys("import time; print('sl' 'eeps'); time.sleep(1000)", "Enter")
    pair.show("\nsleeps")
    pair.resize(90, 30)
    pair.keys("C-c")
    pair.show("Traceback")
    pair.keys("import os; os.get_terminal_size()", "Enter")
    pair.show("columns=90, lines=30")
    pair.keys("exit(5)", "Enter")
    pair.end(5)


def test_node_is_the_same(server) -> None:
    need("node")
    pair = server.both("node")
    pair.show(">")
    pair.keys("[1, 2].map(n => n + 1)", "Enter")
    pair.show("[ ")
    pair.keys("half a line")
    pair.show("half a line")
    pair.keys("C-c")
    pair.show("half a line\n>")
    pair.keys("'inter' + 'rupted'", "Enter")
    pair.show("interrupted")
    pair.resize(90, 30)
    pair.show("pane_width=90 pane_height=30")
    pair.keys("process.stdout.columns * 2", "Enter")
    pair.show("180")
    pair.keys("process.exit(6)", "Enter")
    pair.end(6)


@pytest.mark.parametrize(
    ("program", "prompt", "ends"),
    [
        (BASH, "ready$ ", "exit"),
        (("zsh", "-f"), "ready$ ", "exit"),
        (PYTHON, ">>> ", "exit()"),
        (("node",), "> ", ".exit"),
    ],
    ids=["bash", "zsh", "python", "node"],
)
def test_what_reads_lines_is_typed_into_once_when_idle_and_not_over_a_half_typed_line(
    server, program: tuple[str, ...], prompt: str, ends: str
) -> None:
    need(program[0])
    screen = server.wrapped(*program)
    screen.sees(prompt.rstrip())
    server.feed("--user", "hello you")
    (first,) = server.typed(1)
    screen.keys("half a ")
    screen.sees(f"{prompt}half a")
    server.feed("--all", stdin="disk full\n")
    server.kept("draft", "draft_half_typed")
    assert screen.text().splitlines()[-1] == f"{prompt}half a"
    screen.keys("line", "Enter")
    blocks = server.typed(2)
    screen.keys(ends, "Enter")
    screen.ends()
    assert blocks[0] == first
    assert "hello you" in first
    assert "disk full" in blocks[1]
    lines = [_words(line) for line in re.split(f"^{re.escape(prompt)}", screen.all_text(), flags=re.MULTILINE)[1:]]
    assert [line[: len(_words(said))] for line, said in zip(lines, (first, "half a line", blocks[1], ends), strict=True)] == [
        _words(said) for said in (first, "half a line", blocks[1], ends)
    ]


def _words(text: str) -> str:
    """A program that takes no paste gets the lines as one."""
    return " ".join(text.split())


@pytest.mark.parametrize("name", ["vim", "less", "less -X", "top"])
def test_a_full_screen_program_is_never_typed_into_and_what_waited_is_told_after_it(server, sleeper, name: str) -> None:
    need("bash", name.split(maxsplit=1)[0])
    command, shows, keys, leaves, after = {
        "vim": (" ".join(VIM), "line 1 of", ["i", "new "], ["Escape", ":wq", "Enter"], "new line 1 of"),
        "less": ("less notes.txt", "line 23 of", ["Space"], ["q"], "line 46 of"),
        "less -X": ("less -X notes.txt", "line 23 of", ["Space"], ["q"], "line 46 of"),
        "top": (" ".join(_top(sleeper)) if name == "top" else "", "COMMAND", ["c"], ["q"], "sleep 1000"),
    }[name]
    screen = server.wrapped(*BASH, files=NOTES, idle_after=1_000)
    screen.sees("ready$")
    screen.keys(command, "Enter")
    screen.sees(shows)
    server.feed("--user", "hello you")
    server.kept("screen", "full_screen_program")
    screen.keys(*keys)
    screen.sees(after)
    server.kept("screen", "full_screen_program")
    assert "tocsin" not in screen.all_text()
    screen.keys(*leaves)
    (block,) = server.typed(1)
    until(lambda: _words(screen.all_text()).count(_words(block)) == 1, screen.all_text)
    assert screen.all_text().count("[tocsin ") == 1
    text = (screen.home / "notes.txt").read_text()
    assert text == ("new " if name == "vim" else "") + NOTES["notes.txt"]
    screen.keys("exit 0", "Enter")
    assert screen.ends() == 0


@pytest.mark.parametrize("name", ["less", "vim"])
def test_a_line_that_starts_a_full_screen_program_is_not_followed_by_what_waited_for_it(server, name: str) -> None:
    need("bash", name)
    screen = server.wrapped(*BASH, files=NOTES, idle_after=1_000)
    screen.sees("ready$")
    screen.keys({"less": "less notes.txt", "vim": " ".join(VIM)}[name])
    server.feed("--user", "hello you")
    server.kept("draft", "draft_half_typed")
    screen.keys("Enter")
    screen.sees("line 1 of")
    server.kept("screen", "full_screen_program")
    assert "tocsin" not in screen.all_text()
    screen.keys(*{"less": ["q"], "vim": [":q", "Enter"]}[name])
    (block,) = server.typed(1)
    until(lambda: _words(screen.all_text()).count(_words(block)) == 1, screen.all_text)


@pytest.mark.parametrize(
    ("program", "prompt", "runs"),
    [
        (PYTHON, ">>>", "import time; print('sl' 'eeps'); time.sleep(1000)"),
        (
            ("node",),
            ">",
            "process.stdout.write('sl' + 'eeps\\n'), Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e6)",
        ),
        (BASH, "ready$", "echo sl''eeps; read line"),
    ],
    ids=["python", "node", "bash"],
)
def test_nothing_is_typed_under_what_an_interpreter_runs(server, program: tuple[str, ...], prompt: str, runs: str) -> None:
    need(program[0])
    screen = server.wrapped(*program)
    screen.sees(prompt)
    screen.keys(runs, "Enter")
    screen.sees("\nsleeps")
    server.feed("--user", "hello you")
    server.kept("idle", "sink_not_now")
    screen.keys("C-c")
    (block,) = server.typed(1)
    until(lambda: _words(screen.all_text()).count(_words(block)) >= 1, screen.all_text)
    # What stands before the prompt was printed by what ran; nothing of it is the block.
    assert "hello you" not in screen.all_text().partition("^C")[0]


@pytest.mark.parametrize(
    ("program", "begins", "ends"),
    [(PYTHON, "def f():", ["    return 42", "Enter"]), (("node",), "function f() {", ["return 42 }"])],
    ids=["python", "node"],
)
def test_a_definition_that_is_begun_is_not_typed_into(server, program: tuple[str, ...], begins: str, ends: list[str]) -> None:
    need(program[0])
    screen = server.wrapped(*program)
    screen.sees(">")
    screen.keys(begins, "Enter")
    screen.sees("\n...")
    server.feed("--user", "hello you")
    server.kept("idle", "sink_not_now")
    screen.keys(*ends, "Enter")
    server.typed(1)
    screen.keys("f() + 1", "Enter")
    screen.sees("\n43\n")


def _newer_python() -> str:
    """A Python whose interpreter takes pasted blocks, if there is one."""
    for name in (sys.executable, "python3.14", "python3.13"):
        asked = [name, "-c", "import sys; print(sys.version_info >= (3, 13))"]
        if shutil.which(name) and subprocess.run(asked, capture_output=True, check=False).stdout == b"True\n":
            return name
    pytest.skip("no Python 3.13 is installed")


def test_a_newer_python_takes_every_block_whole_although_it_wants_an_empty_line(server) -> None:
    screen = server.wrapped("env", "-u", "PYTHON_BASIC_REPL", _newer_python(), "-q")
    screen.sees(">>>")
    for number in range(1, 4):
        server.feed("--user", f"number {number}\nof three")
        server.typed(number)
        until(lambda number=number: screen.all_text().count("SyntaxError") == number, screen.all_text)
    code, said, _ = server.here.tocsin("decisions")
    assert code == 0
    assert len(re.findall("sink accepted .* submitted: typed", said)) == 3
    screen.keys("40 + 2", "Enter")
    screen.sees("\n42\n>>>")

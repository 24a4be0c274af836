"""Tmux: real programs on real screens, the same one bare and wrapped side by side, in a server that is the test's alone."""

import json
import os
import re
import runpy
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parents[1] / "cli" / "processes.py"))
world, until, argv = (_processes[name] for name in ("world", "until", "argv"))

COLUMNS, ROWS = 110, 24
_PLAIN = {
    "TERM": "screen-256color",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PS1": "ready$ ",
    "NODE_REPL_HISTORY": "",
    # The one that there is in every version; the newer one takes a pasted block only after an empty line.
    "PYTHON_BASIC_REPL": "1",
    "SHELL": "/bin/sh",
}

_SETTINGS = """
set -g remain-on-exit on
set -g remain-on-exit-format ''
set -g default-terminal screen-256color
set -g escape-time 0
"""
"""A window keeps the last words of a program that has ended."""


def need(*commands):
    """Skip the test where a command is not installed; a continuous integration has to have it."""
    missing = [command for command in commands if shutil.which(command) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"not installed: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@contextmanager
def tmux():
    """A server without anybody's configuration, in a short path; it and all that runs in it end with the block."""
    need("tmux")
    with world() as here:
        server = Server(here)
        try:
            yield server
        finally:
            server.kill()


class Server:
    """One tmux server with a screen for each program started in it."""

    def __init__(self, here):
        self.here = here
        self._name = f"tocsin-{os.getpid()}"
        self._settings = here.place / "tmux.conf"
        self._settings.write_text(_SETTINGS)
        hidden = ("TMUX", "TMUX_PANE", "LESS", "LESSOPEN", "LS_COLORS", "VIMINIT", "PROMPT_COMMAND", "PYTHONSTARTUP", "INPUTRC")
        self._environ = {name: value for name, value in here.environ.items() if name not in hidden} | _PLAIN
        self._environ |= {"XDG_RUNTIME_DIR": str(here.place), "TMUX_TMPDIR": str(here.place), "INPUTRC": "/dev/null"}

    def __call__(self, *words):
        done = subprocess.run(
            ["tmux", "-L", self._name, "-f", str(self._settings), *words],
            capture_output=True, env=self._environ, text=True, timeout=30, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def kill(self):
        """End the server; it hangs up what still runs."""
        subprocess.run(["tmux", "-L", self._name, "kill-server"], capture_output=True, env=self._environ, check=False)

    def screen(self, name, program, files=None):
        """A program in a session of this name."""
        return Screen(self, name, program, files or {})

    def bare(self, *program, files=None):
        """The program alone."""
        return self.screen("bare", program, files)

    def wrapped(self, *program, files=None, idle_after=200):
        """The program in ``tocsin run --as dev``, which tells an observer what it types."""
        options = ["--as", "dev", "--idle-after", str(idle_after), "--observe", f"stream:{self.here.place / 'typed.jsonl'}"]
        return self.screen("wrapped", argv("run", *options, "--", *program), files)

    def both(self, *program, files=None):
        """The program bare and wrapped, to be given the same keys."""
        return Pair(self.bare(*program, files=files), self.wrapped(*program, files=files))

    def feed(self, *words, stdin=""):
        """``tocsin feed --to dev``, once dev is there."""
        until(lambda: self.here.tocsin("feed", "--to", "dev", "--quiet", *words, stdin=stdin)[0] == 0, "the recipient")

    def lane(self):
        """What ``tocsin status`` says of dev."""
        return self.here.status()["lanes"][0]

    def typed(self, count):
        """Wait until so many blocks were delivered, and nothing is pending any more; the blocks."""
        until(lambda: self.lane()["delivered"] >= count, lambda: f"{count} delivered: {self.lane()}")
        lane = self.lane()
        assert (lane["delivered"], lane["depth"]) == (count, 0)
        told = self.here.place / "typed.jsonl"
        until(lambda: told.exists() and told.read_text().count("\n") >= count, "the observer")
        return [json.loads(line)["text"] for line in told.read_text().splitlines()]

    def kept(self, recipient, reason):
        """Wait until dev's line is kept, and is so for this reason."""

        def is_kept():
            lane = self.lane()
            return (lane["recipient"], lane["waits_for"], lane["depth"]) == (recipient, reason, 1)

        until(is_kept, lambda: f"{recipient}, {reason}: {self.lane()}")


class Screen:
    """One program in a tmux session; its home holds ``files``, and nobody else's."""

    def __init__(self, server, name, program, files):
        self._server = server
        self._name = name
        self.home = server.here.place / name
        self.home.mkdir()
        for file, text in files.items():
            (self.home / file).write_text(text)
            (self.home / file).chmod(0o755)
        options = ["-e", f"HOME={self.home}", "-e", f"HISTFILE={self.home / 'history'}"]
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        server("new-session", "-d", "-s", name, *size, "-c", str(self.home), *options, "--", *map(str, program))

    def keys(self, *keys):
        """A person presses keys, named as tmux names them; a word that is no key is typed letter by letter."""
        self._server("send-keys", "-t", self._name, *keys)

    def resize(self, columns, rows):
        """A person changes the size of the window."""
        self._server("resize-window", "-t", self._name, "-x", str(columns), "-y", str(rows))

    def text(self):
        """What is shown, without what is not: no colours, no empty rows at the end."""
        return self._server("capture-pane", "-p", "-t", self._name).rstrip("\n")

    def all_text(self):
        """What is shown and what scrolled away; wrapped rows are joined."""
        return self._server("capture-pane", "-p", "-J", "-S", "-", "-t", self._name).rstrip("\n")

    def state(self):
        """All that a person sees: text with colours, the cursor, whose screen it is, and whether keys and mouse are taken."""
        return self._server("capture-pane", "-p", "-e", "-t", self._name) + self._server(
            "display-message", "-p", "-t", self._name, _SEEN
        )

    def foreground(self):
        """The names of what is in the foreground of its terminal, and of the terminals in that."""
        return [Path(name).name for state, _, name in self._processes() if "+" in state and "T" not in state]

    def sizes(self):
        """The sizes, as (columns, rows), of its terminal and of the terminals in that."""
        found = set()
        for terminal in {terminal for _, terminal, _ in self._processes() if "/" in terminal}:
            opened = os.open(f"/dev/{terminal}", os.O_RDWR | os.O_NOCTTY)
            found.add(tuple(os.get_terminal_size(opened)))
            os.close(opened)
        return found

    def _processes(self):
        """State, terminal and name of its process and of all that descend from that."""
        need("ps")
        top = int(self._server("display-message", "-p", "-t", self._name, "#{pane_pid}"))
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat=,tty=,comm="], capture_output=True, text=True, check=True)
        rows = [
            (int(pid), int(parent), said) for pid, parent, *said in (line.split(None, 4) for line in listed.stdout.splitlines())
        ]
        ours: set[int] = set()
        more = {top}
        # Numbers begin anew one day: a child's may be below its parent's.
        while more:
            ours |= more
            more = {pid for pid, parent, _ in rows if parent in ours} - ours
        return [said for pid, _, said in rows if pid in ours]

    def sees(self, text):
        """Wait until it is shown."""
        return until(lambda: text in self.text(), lambda: f"{text!r} on the screen:\n{self.text()}")

    def ends(self):
        """The exit status (or the signal that killed it), once it has ended."""
        return int(until(self._end, lambda: f"the end of:\n{self.text()}"))

    def _end(self):
        said = self._server("display-message", "-p", "-t", self._name, "#{pane_dead} #{pane_dead_status}#{pane_dead_signal}")
        dead, _, over = said.strip().partition(" ")
        if dead == "1" and not over:
            # Now and then tmux misses that a child ended, until the next one does.
            self._server("run-shell", "-b", "true")
        return over


_SEEN = " ".join(
    f"{part}_{name}=#{{{part}_{name}}}"
    for part, names in {
        "pane": ("width", "height"),
        "cursor": ("x", "y", "flag"),
        "keypad": ("flag", "cursor_flag"),
        "scroll_region": ("upper", "lower"),
        "mouse": ("any_flag", "sgr_flag"),
        "alternate": ("on",),
        "insert": ("flag",),
        "wrap": ("flag",),
        "history": ("size",),
    }.items()
    for name in names
)


class Pair:
    """The same program twice, given the same keys; what each shows has to come out the same."""

    def __init__(self, bare, wrapped):
        self.bare = bare
        self.wrapped = wrapped
        self.mask = lambda state: state

    def keys(self, *keys):
        """The same keys to both."""
        self.bare.keys(*keys)
        self.wrapped.keys(*keys)

    def resize(self, columns, rows):
        """The same new size to both; keys that come after this find the terminals changed, all the way in."""
        for screen in (self.bare, self.wrapped):
            screen.resize(columns, rows)
            until(lambda at=screen: at.sizes() == {(columns, rows)}, lambda at=screen: f"{columns} × {rows}: {at.sizes()}")

    def at_work(self, name):
        """Wait until a program of this name is in the foreground of a terminal, under both: then keys are its own."""
        for screen in (self.bare, self.wrapped):
            until(lambda at=screen: name in at.foreground(), lambda at=screen: f"{name} at work:\n{at.text()}")

    def show(self, *marks):
        """Wait until both show all the marks, and show the same."""

        def alike():
            bare, wrapped = self.mask(self.bare.state()), self.mask(self.wrapped.state())
            return bare == wrapped and all(mark in bare for mark in marks)

        until(alike, self._unlike)

    def end(self, code):
        """Both end with this status, and leave the same behind."""
        ended = self.bare.ends(), self.wrapped.ends()
        assert ended == (code, code), ended
        self.show()

    def _unlike(self):
        return f"the same on both screens:\n{self.mask(self.bare.state())}\n---- wrapped:\n{self.mask(self.wrapped.state())}"


def without_numbers(state):
    """Numbers and the room they take are masked: for what counts and measures."""
    return re.sub(r"[ \d.]+", " ", state)

"""Processes: the real command, as a child of the test or in a terminal of its own, in a world that is the test's alone."""

import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import termios
import threading
import time
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 60.0
"""Seconds after which a wait is given up; nothing is said about time by it."""
AGENTS = Path(__file__).parents[1] / "agents"


def until(condition, what="it"):
    """Wait until ``condition()`` is true, and give that."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what() if callable(what) else what}")
        time.sleep(0.01)  # nothing to wait on: the condition is another process's
    return value


class World:
    """A runtime directory, a state directory and no configuration but the test's own."""

    def __init__(self, place):
        self.place = Path(place)
        self.runtime = self.place / "run"
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("TOCSIN_", "XDG_"))}
        self.environ = {
            **clean,
            "TOCSIN_RUNTIME_DIR": str(self.runtime),
            "XDG_CONFIG_HOME": str(self.place / "config"),
            "XDG_STATE_HOME": str(self.place / "state"),
            "NO_COLOR": "1",
        }

    def tocsin(self, *arguments, stdin="", env=None, cwd=None):
        """Run the command to its end; code, stdout, stderr."""
        done = subprocess.run(
            argv(*arguments),
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            capture_output=True,
            env={**self.environ, **(env or {})},
            cwd=cwd or self.place,
            timeout=PATIENCE,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def start(self, *arguments, env=None, **more):
        """Start the command, all its streams on pipes."""
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        return subprocess.Popen(argv(*arguments), env={**self.environ, **(env or {})}, cwd=self.place, **streams)

    def agent(self, *program, name="dev", options=()):
        """``tocsin run`` in a terminal of its own around a stand-in agent (or, with two or more words, any program)."""
        return Terminal(self, name, program, options)

    def status(self, name="dev"):
        """The line of a recipient, as JSON tells it."""
        code, out, err = self.tocsin("status", "--json", "--to", name)
        assert code == 0, err
        return json.loads(out)["recipients"][0]


@contextmanager
def world():
    """A world, with a short path, that leaves nothing."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="tw-", ignore_cleanup_errors=True) as place:
        yield World(place)


def argv(*arguments):
    """The command, run by this very Python."""
    return [sys.executable, "-m", "tocsin", *(word if isinstance(word, bytes) else str(word) for word in arguments)]


def python(code):
    """A program in Python."""
    return [sys.executable, "-c", code]


class Terminal:
    """A person's terminal with ``tocsin run`` in it."""

    def __init__(self, world, name, program, options):
        self.log = world.place / f"{name or 'agent'}.jsonl"
        if len(program) == 1:
            program = [sys.executable, str(AGENTS / f"{program[0]}.py"), str(self.log)]
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 100))
        self.before = termios.tcgetattr(slave)
        named = ["--as", name] if name else []
        self.process = subprocess.Popen(
            argv("run", *named, *options, "--", *program),
            stdin=slave, stdout=slave, stderr=slave, env=world.environ, cwd=world.place, start_new_session=True,
        )  # fmt: skip
        self.slave = slave
        self.shown = bytearray()
        self._closed = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._closed = True
        self._thread.join()
        os.close(self.master)
        os.close(self.slave)

    def _read(self):
        while not self._closed:
            if select.select([self.master], [], [], 0.02)[0]:
                try:
                    self.shown += os.read(self.master, 65_536)
                except OSError:
                    return

    def sees(self, text):
        """Wait until the terminal has shown it."""
        return until(lambda: text.encode() in self.shown, lambda: f"{text!r} in {bytes(self.shown[-800:])!r}")

    def keys(self, text):
        """A person types."""
        os.write(self.master, text.encode())

    def submitted(self, count=0):
        """What the agent says was submitted to it, after waiting for so many."""

        def got():
            text = self.log.read_text() if self.log.exists() else ""
            lines = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
            return [line["submitted"] for line in lines if "submitted" in line]

        until(lambda: len(got()) >= count, lambda: f"{count} messages; got {got()}; shown {bytes(self.shown[-800:])!r}")
        return got()

    def send(self, number):
        """Send a signal to ``tocsin run``."""
        os.kill(self.process.pid, number)

    def ends(self):
        """Its exit code, once it has ended and all it showed has been read."""
        code = self.process.wait(PATIENCE)
        until(lambda: not select.select([self.master], [], [], 0.05)[0])
        return code if code >= 0 else 128 - code

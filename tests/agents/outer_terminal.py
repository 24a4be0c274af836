"""Outer terminal: plays the person's terminal for a test: a real pty with a wrapper in it, its screen, its keys, its log."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

AGENTS = Path(__file__).parent
PATIENCE = 30.0
"""Seconds after which a wait is given up; nothing is said about time by it."""


def spawn(argv, slave_name, env=None):
    """Start ``argv`` as leader of a session with that terminal as its controlling one."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, slave_name, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
    ]
    # As every terminal has it, also where the tests themselves run under nohup.
    heeded = [signal.SIGHUP]
    return os.posix_spawn(argv[0], argv, env or dict(os.environ), file_actions=actions, setsid=True, setsigdef=heeded)


def lines_of(path):
    """The complete JSON lines of a log."""
    text = Path(path).read_text(encoding="utf-8") if Path(path).exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def until(condition, what="it"):
    """Wait until ``condition()`` is true, and give that."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.005)  # what is waited for happens in other processes, which tell nobody
    return value


def child_of(pid):
    """The process id of the only child of a process."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=True)
    return int(found.stdout)


class OuterTerminal:
    """A wrapper around ``program`` (or ``agent``, one of the stand-ins, with its own log) in a terminal of its own.

    ``under`` is a command line that the wrapper's is appended to, such as a shell with job control.
    """

    wrapper = "wrap.py"
    """Which of the programs beside this file wraps; ``line.py`` takes no options."""

    def __init__(self, tmp_path, program=(), *, agent=(), options="-", rows=24, columns=80, env=None, under=()):
        self.log, self.agent_log = str(tmp_path / "wrap.jsonl"), str(tmp_path / "agent.jsonl")
        control = str(tmp_path / "control")
        os.mkfifo(control)
        self.control = os.open(control, os.O_RDWR)
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        if agent:
            program = [sys.executable, str(AGENTS / f"{agent[0]}.py"), self.agent_log, *agent[1:]]
        options = [options] if self.wrapper == "wrap.py" else []
        argv = [sys.executable, str(AGENTS / self.wrapper), self.log, control, *options, "--", *program]
        self.pid = spawn([*under, *argv], os.ttyname(self.slave), env)
        self.shown = bytearray()
        self.paused = threading.Event()
        self._status = None
        self._order = 0
        self._closed = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self._closed = True
        self._thread.join()
        for fd in (self.master, self.slave, self.control):
            os.close(fd)

    def _read(self):
        while not self._closed:
            if not self.paused.is_set() and select.select([self.master], [], [], 0.02)[0]:
                try:
                    self.shown += os.read(self.master, 65_536)
                except OSError:
                    return
            elif self.paused.is_set():
                time.sleep(0.01)  # the reader that does not read

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def keys(self, keys):
        while keys:
            keys = keys[os.write(self.master, keys) :]

    def sees(self, text, after=0):
        """Wait until the wrapper has shown ``text``; the position behind it."""
        return until(lambda: self.shown.find(text, after) + 1, f"{text!r} in {bytes(self.shown[-500:])!r}") + len(text) - 1

    def order(self, text, **fields):
        """Ask for a submission without waiting for the answer; its number."""
        self._order += 1
        os.write(self.control, json.dumps({"id": self._order, "text": text, **fields}).encode() + b"\n")
        return self._order

    def cancel(self):
        """Cancel the run from within its event loop."""
        os.write(self.control, b'{"cancel": true}\n')

    def answer(self, order):
        """The proof of a submission, or the code of its error."""
        line = self.answer_line(order)
        return line.get("proof") or line["error"]

    def answer_line(self, order):
        """All that is said of a submission."""
        return until(lambda: [line for line in lines_of(self.log) if line.get("id") == order], f"answer {order}")[0]

    def submit(self, text, **fields):
        return self.answer(self.order(text, **fields))

    def submit_when_free(self, text):
        """Submit again and again while the answer is that it is busy."""
        while (answer := self.submit(text)) == "not_now":
            time.sleep(0.02)  # as long as somebody may be typing
        return answer

    def facts(self, *names):
        return [line["fact"] for line in lines_of(self.log) if "fact" in line and (not names or line["fact"] in names)]

    def fact(self, name, count=1):
        """Wait for the ``count``th fact of that name."""
        until(lambda: len(self.facts(name)) >= count, f"fact {name} in {self.facts()}")

    def submitted(self, count=0):
        """What the agent says was submitted to it, after waiting for ``count`` of them."""
        return self.logged("submitted", count)

    def logged(self, name, count=0):
        """The values that the agent logged under ``name``, after waiting for ``count`` of them."""

        def enough():
            got = [line[name] for line in lines_of(self.agent_log) if name in line]
            return len(got) >= count and [got]

        return until(enough, f"{count} of {name}")[0]

    def child(self):
        """The process id of our own child: the keeper of the wrapped program, or the wrapper where a shell is between."""
        return child_of(self.pid)

    def program(self):
        """The process id of the wrapped program."""
        return child_of(self.child())

    def wait(self):
        """Wait until the wrapper has ended; its exit code as a shell says it."""

        def ended():
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
            return pid

        if self._status is None:
            until(ended, "the end of the wrapper")
            # What it wrote last may still be on its way to the reading thread.
            until(lambda: not select.select([self.master], [], [], 0.05)[0])
        code = os.waitstatus_to_exitcode(self._status)
        return code if code >= 0 else 128 - code

    def attributes(self):
        return termios.tcgetattr(self.slave)

"""Serving: a real line with a mailbox, behind a real socket, for tests of the server and its clients."""

import json
import socket
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
from anyio.from_thread import start_blocking_portal

from tocsin import Settings, Tocsin
from tocsin.edges.server.runtime import Seat
from tocsin.edges.server.server import serve
from tocsin.edges.sinks.inbox import InboxSink

PATIENCE = 30.0
"""Seconds after which a wait is given up; nothing is said about time by it."""


@contextmanager
def short_directory():
    """A directory with a path that is short enough for sockets on every system."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="tt-") as place:
        yield Path(place) / "run"


class Served:
    """A line under a name, with the mailbox that its recipient reads."""

    def __init__(self, line, inbox, path, scope, portal):
        self.line, self.inbox, self.path, self._scope, self._portal = line, inbox, path, scope, portal

    def stop(self):
        """End the server and wait until the name is free."""
        self._portal.call(self._scope.cancel)
        until(lambda: not self.path.exists(), "the end of the server")

    def texts(self):
        """What the recipient was told, entry by entry."""
        return [entry.text for _, delivery in self.inbox.pull() for entry in delivery.entries]


@contextmanager
def served(directory, name="dev", *, line=None, token="", settings=None, hooks=None, wrap=lambda line: line):
    """Serve a line in a loop of its own thread."""
    directory.mkdir(mode=0o700, exist_ok=True)
    inbox = InboxSink()
    with line or Tocsin(settings or Settings(), state_dir=directory.parent) as running, start_blocking_portal() as portal:
        running.open_lane(name, inbox)
        seat = Seat.take(directory, name)
        scope = portal.call(anyio.CancelScope)

        async def run(*, task_status):
            with scope:
                await serve(wrap(running), seat, version="1.2.3", token=token, hooks=hooks, task_status=task_status)

        future, path = portal.start_task(partial(run))
        try:
            yield Served(running, inbox, path, scope, portal)
        finally:
            portal.call(scope.cancel)
            future.result(PATIENCE)


def until(condition, what="it"):
    """Wait until ``condition()`` is true, and give that."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.005)  # nothing to wait on: the condition is another process's or thread's
    return value


class Raw:
    """A client that sends any bytes it likes."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(path))
        self._file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def answer(self):
        """The next answer; empty when the other side has hung up."""
        line = self._file.readline()
        return json.loads(line) if line else {}

    def ask(self, data):
        self.send(data + b"\n")
        return self.answer()

"""Programs: the demo's real processes — an agent in a wrapped terminal, a watched dev server — and what they print."""

import fcntl
import os
import pty
import selectors
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

AGENT = "demo-agent"
SCOPE = "shop"
SIZE = (40, 110)
"""Rows and columns of the agent's terminal."""

Heard = Callable[[str, str], None]
"""Called with a voice and what it printed."""


def tocsin(*arguments: str) -> list[str]:
    """The command, run by this very Python."""
    return [sys.executable, "-m", "tocsin", *arguments]


class Programs:
    """Both processes, while the block lasts. Neither outlives it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._selector = selectors.DefaultSelector()
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        self.agent = self._start(
            tocsin("run", "--as", AGENT, "--", sys.executable, "-m", "tocsin.cli.demo.agent"),
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self._selector.register(self._master, selectors.EVENT_READ, "agent")
        self.server: subprocess.Popen[bytes] | None = None

    def start_server(self) -> None:
        """The dev server, watched."""
        watched = tocsin(
            "watch", "--scope", SCOPE, "--to", AGENT, "--quiet", "--", sys.executable, "-m", "tocsin.cli.demo.server"
        )
        self.server = self._start(watched, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert self.server.stdout is not None
        self._selector.register(self.server.stdout, selectors.EVENT_READ, "server")

    def hear(self, heard: Heard, timeout: float) -> bool:
        """Report what was printed within ``timeout`` seconds. False if nothing was."""
        ready = self._selector.select(timeout)
        for key, _ in ready:
            try:
                data = os.read(key.fd, 65536)
            except OSError:  # the terminal's other end has closed
                data = b""
            if data:
                heard(key.data, data.decode(errors="replace"))
            else:
                self._selector.unregister(key.fileobj)
        return bool(ready)

    def say_goodbye(self) -> None:
        """End of input for the agent: it ends by itself, and so does its wrapper."""
        os.write(self._master, b"\x04")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in (self.server, self.agent):
            if process is not None:
                _end(process)
        self._selector.close()
        os.close(self._master)

    def _start(self, argv: Sequence[str], *, stdin: int, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv, stdin=stdin, stdout=stdout, stderr=stderr, env=self._environment, start_new_session=True, close_fds=True
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask, wait, insist."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(6)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()

"""Liveness: what tells this process from every other, and whether the owner of a lane still lives."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..contracts.base import Instant, Millis
from ..contracts.recipients import Owner

BEAT_PATIENCE: Final = Millis(30_000)
"""An owner that can't be looked at (another machine, another container) counts as dead after so much silence."""


def this_owner(token: str, socket_path: str = "") -> Owner:
    """This process as the owner of lanes; ``token`` is made anew by the caller."""
    pid = os.getpid()
    return Owner(token=token, pid=pid, started=start_mark(pid), host=host_mark(), socket=socket_path)


def is_alive(clock_now: Callable[[], Instant]) -> Callable[[Owner, Instant], bool]:
    """The question that the store asks of an owner and its last beat.

    On the same machine a process is alive while it exists, also one that was stopped with Ctrl-Z or slept with the laptop.
    """

    def alive(owner: Owner, beat_at: Instant) -> bool:
        if owner.host == host_mark():
            return bool(owner.started) and start_mark(owner.pid) == owner.started
        return clock_now() - beat_at < BEAT_PATIENCE

    return alive


def host_mark() -> str:
    """This machine since its last start, and the container within it: process numbers mean something only here."""
    marks = [socket.gethostname()]
    with suppress(OSError):
        marks.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    with suppress(OSError):
        marks.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(marks)


def start_mark(pid: int) -> str:
    """When the process with that number started, in the system's own words; empty if there is none."""
    if sys.platform == "linux":
        # What follows the state are numbers, the 19th the start.
        state, *numbers = _after_the_name(pid) or ["Z"]
        return "" if state == "Z" else numbers[18]
    return _ps("lstart=", pid)


def is_stopped(pid: int) -> bool:
    """True if the process was stopped, as Ctrl-Z does it, and nobody has let it go on."""
    state = next(iter(_after_the_name(pid)), "") if sys.platform == "linux" else _ps("state=", pid)[:1]
    return state == "T"


def _after_the_name(pid: int) -> list[str]:
    """The kernel's words on a process behind its name, which stands in brackets and may hold anything."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return stat.rpartition(")")[2].split()


def _ps(what: str, pid: int) -> str:
    return subprocess.run(["ps", "-o", what, "-p", str(pid)], capture_output=True, text=True, check=False).stdout.strip()

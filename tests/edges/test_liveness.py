"""Liveness: a process is told from every other, also from one that gets its number, and a stopped one is seen to be stopped."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import msgspec
import pytest

from tocsin.edges.liveness import BEAT_PATIENCE, is_alive, is_stopped, start_mark, this_owner


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_this_process_lives_and_keeps_its_mark() -> None:
    owner = this_owner("token", "/run/dev.sock")
    assert (owner.pid, owner.socket, owner.token) == (os.getpid(), "/run/dev.sock", "token")
    assert owner.started == start_mark(os.getpid()) != ""
    assert is_alive(lambda: 10**12)(owner, 0)


def test_another_process_with_the_same_number_is_somebody_else() -> None:
    owner = msgspec.structs.replace(this_owner("token"), started="1")
    assert not is_alive(lambda: 0)(owner, 0)


def test_a_dead_process_is_dead_also_before_it_is_reaped(child: "subprocess.Popen[bytes]") -> None:
    owner = msgspec.structs.replace(this_owner("token"), pid=child.pid, started=start_mark(child.pid))
    alive = is_alive(lambda: 0)
    assert alive(owner, 0)
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not alive(owner, 0)
    child.wait()
    assert not alive(owner, 0)


def test_a_stopped_process_lives_and_is_stopped(child: "subprocess.Popen[bytes]") -> None:
    owner = msgspec.structs.replace(this_owner("token"), pid=child.pid, started=start_mark(child.pid))
    assert not is_stopped(child.pid)
    os.kill(child.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED)
    assert is_stopped(child.pid)
    assert is_alive(lambda: 0)(owner, 0)
    os.kill(child.pid, signal.SIGCONT)
    end = time.monotonic() + 30
    while is_stopped(child.pid) and time.monotonic() < end:
        time.sleep(0.01)  # another process's state
    assert not is_stopped(child.pid)


def test_nobody_is_not_stopped() -> None:
    assert not is_stopped(2**22 + 1)


def test_on_another_machine_only_silence_tells() -> None:
    owner = msgspec.structs.replace(this_owner("token"), host="elsewhere")
    assert is_alive(lambda: BEAT_PATIENCE - 1)(owner, 0)
    assert not is_alive(lambda: BEAT_PATIENCE)(owner, 0)

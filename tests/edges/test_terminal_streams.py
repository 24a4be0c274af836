"""Streams: everything arrives in order at any kind of reader, and nothing blocks or changes what others share."""

import errno
import fcntl
import os
import pty
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from tocsin.edges.terminal.streams import Inlet, Outlet, has_input

DATA = bytes(range(256)) * 4096


def read_slowly(fd: int, got: bytearray, size: int = 10_000) -> None:
    while True:
        try:
            chunk = os.read(fd, size)
        except OSError:
            return
        if not chunk:
            return
        got += chunk
        time.sleep(0.0005)  # the reader is meant to be slower than the writer


async def write_beside_a_clock(fd: int) -> int:
    """Write all of it, and count how often another task got its turn meanwhile."""
    outlet, turns = Outlet(fd), 0

    async def clock() -> None:
        nonlocal turns
        while True:
            await anyio.sleep(0.001)
            turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(clock)
        await outlet.write(DATA)
        tasks.cancel_scope.cancel()
    outlet.close()
    return turns


def pipe() -> tuple[int, int]:
    return os.pipe()


def sockets() -> tuple[int, int]:
    a, b = socket.socketpair()
    return a.detach(), b.detach()


def raw_terminal() -> tuple[int, int]:
    import tty

    master, slave = pty.openpty()
    tty.setraw(slave)
    return master, slave


@pytest.mark.parametrize("ends", [pipe, sockets, raw_terminal])
def test_a_slow_reader_gets_all_and_stops_nobody(ends: Callable[[], tuple[int, int]]) -> None:
    reader, writer = ends()
    got = bytearray()
    thread = threading.Thread(target=read_slowly, args=(reader, got))
    thread.start()
    assert anyio.run(write_beside_a_clock, writer) > 10
    assert not fcntl.fcntl(writer, fcntl.F_GETFL) & os.O_NONBLOCK
    while ends is raw_terminal and len(got) < len(DATA):
        time.sleep(0.001)  # a terminal drops what is unread when its last end closes
    os.close(writer)
    thread.join()
    os.close(reader)
    assert bytes(got) == DATA


def test_a_pipe_that_can_not_be_opened_again_is_written_with_care(monkeypatch: pytest.MonkeyPatch) -> None:
    # macOS has no /proc: there the shared descriptor itself is written, in pieces that surely fit.
    monkeypatch.setattr("tocsin.edges.terminal.streams.sys.platform", "darwin")
    test_a_slow_reader_gets_all_and_stops_nobody(pipe)


def test_a_file_is_appended_to(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"before ")
    with (tmp_path / "out").open("ab") as file:
        anyio.run(write_beside_a_clock, file.fileno())
    assert (tmp_path / "out").read_bytes() == b"before " + DATA


@pytest.mark.parametrize("ends", [pipe, sockets])
def test_a_reader_that_left_is_an_error(ends: Callable[[], tuple[int, int]]) -> None:
    reader, writer = ends()
    os.close(reader)
    outlet = Outlet(writer)
    with pytest.raises(OSError) as caught:
        anyio.run(outlet.write, DATA)
    outlet.close()
    assert caught.value.errno == errno.EPIPE
    os.close(writer)


async def read_all(fd: int) -> bytes:
    inlet, got = Inlet(fd), b""
    while chunk := await inlet.read():
        got += chunk
    inlet.close()
    return got


def test_files_and_dev_null_are_read_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(DATA)
    for path, expected in ((tmp_path / "in", DATA), (Path("/dev/null"), b"")):
        with path.open("rb") as file:
            assert anyio.run(read_all, file.fileno()) == expected


def test_a_pipe_is_read_to_its_end() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"some text")
    os.close(writer)
    assert anyio.run(read_all, reader) == b"some text"
    os.close(reader)


def test_a_terminal_that_is_hung_up_is_at_its_end() -> None:
    master, slave = pty.openpty()
    os.close(master)
    assert anyio.run(read_all, slave) == b""
    os.close(slave)


def test_without_a_reader_it_goes_nowhere() -> None:
    async def write() -> None:
        outlet = Outlet(None)
        await outlet.write(DATA)
        outlet.close()

    before = sorted(path.name for path in Path("/dev/fd").iterdir())
    anyio.run(write)
    assert sorted(path.name for path in Path("/dev/fd").iterdir()) == before


@pytest.mark.parametrize("ends", [pipe, raw_terminal])
def test_it_is_known_whether_there_is_something_to_read(ends: Callable[[], tuple[int, int]]) -> None:
    reader, writer = ends()
    assert not has_input(reader)
    os.write(writer, b"x")
    assert has_input(reader)
    assert os.read(reader, 9) == b"x"
    assert not has_input(reader)
    os.close(writer)
    assert has_input(reader)
    os.close(reader)

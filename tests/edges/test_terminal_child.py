"""Child: a program in a session of its own beside its keeper, with exactly its environment, and never left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from tocsin.contracts.errors import BadInput
from tocsin.edges.terminal.child import Child, Exit, waiting_bytes
from tocsin.edges.terminal.spawn import Size, spawn

PYTHON = sys.executable
ENV = {"PATH": os.environ["PATH"], "ONLY": "this"}


async def output_of(child: Child) -> bytes:
    got = b""
    while True:
        try:
            chunk = os.read(child.master, 65_536)
        except BlockingIOError:
            await anyio.wait_readable(child.master)
            continue
        except OSError:
            return got
        if not chunk:
            return got
        got += chunk


def ran(argv: list[str], env: dict[str, str] | None = None) -> tuple[bytes, Exit | None]:
    async def run() -> tuple[bytes, Exit | None]:
        child = Child(spawn(argv, env if env is not None else ENV, Size(31, 97), None))
        try:
            got = await output_of(child)
            while await child.changed():
                pass
            return got, child.exit
        finally:
            child.close()

    return anyio.run(run)


WHO = """
import os
leads = os.getpid() == os.getpgrp() == os.tcgetpgrp(0)
print(leads, os.getppid() == os.getsid(0), os.ttyname(0) == os.ttyname(2), os.open('/dev/tty', 0) > 2)
"""


def test_it_is_in_front_of_a_terminal_that_controls_its_session_and_its_keeper_leads_that() -> None:
    assert ran([PYTHON, "-c", WHO]) == (b"True True True True\n", Exit(code=0))


@pytest.mark.skipif(sys.platform != "linux", reason="what is blocked and ignored is read from /proc")
def test_signals_are_as_programs_expect_them() -> None:
    got, _ = ran(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"])
    blocked, ignored = (int(line.split()[1], 16) for line in got.splitlines())
    # 32 and 33 belong to the C library itself.
    assert (blocked, ignored & ~(3 << 31)) == (0, 0)


def test_it_has_its_size_from_the_first_moment() -> None:
    assert ran(["stty", "size"])[0] == b"31 97\n"


def test_the_environment_is_exactly_the_one_given() -> None:
    path = f"PATH={os.environ['PATH']}"
    for given in ([path], [path, "LC_CTYPE=C"], [path, "A=1", "LANG=ü"]):
        got, _ = ran(["env"], dict(entry.split("=", 1) for entry in given))
        assert sorted(got.decode().splitlines()) == sorted(given)


def test_only_the_three_streams_are_open() -> None:
    ours = {path.name for path in Path("/dev/fd").iterdir() if int(path.name) > 2 and inheritable(int(path.name))}
    code = "import os; print(*os.listdir('/dev/fd'))"
    got = set(ran([PYTHON, "-c", code])[0].decode().split())
    # The listing itself is the fourth.
    assert len(got - ours - {"0", "1", "2"}) == 1


def test_a_file_handed_down_is_the_programs_and_the_keeper_holds_nothing_but_the_terminal() -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)

    async def use(child: Child) -> None:
        os.close(writer)
        # The program has written and closed it, and goes on.
        assert os.read(reader, 99) == b"handed down"
        assert os.read(reader, 99) == b""
        assert child.alive
        await child.put_down()

    try:
        in_child(
            [PYTHON, "-c", f"import os, time; os.write({writer}, b'handed down'); os.close({writer}); time.sleep(600)"], use
        )
    finally:
        os.close(reader)


def open_descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def inheritable(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:
        return False


def test_the_program_is_found_in_the_path_of_its_environment(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\necho found $0\n")
    program.chmod(0o755)
    assert ran(["mine"], {"PATH": str(tmp_path)})[0] == f"found {program}\n".encode()
    with pytest.raises(BadInput, match="mine: no such program"):
        ran(["mine"])


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "no program"),
        ([""], "no program"),
        (["/nowhere/x"], "/nowhere/x: can't be run: No such file"),
        (["/etc/passwd"], "Permission denied"),
        (["{tmp}/no-mark"], "/no-mark: can't be run: Exec format error"),
    ],
)
def test_what_can_not_be_run_is_said(tmp_path: Path, argv: list[str], words: str) -> None:
    # As a program for another machine: no script.
    (tmp_path / "no-mark").write_bytes(b"\0a program\n")
    (tmp_path / "no-mark").chmod(0o755)
    argv = [word.format(tmp=tmp_path) for word in argv]
    before = open_descriptors()
    with pytest.raises(BadInput, match=words):
        ran(argv)
    assert open_descriptors() == before


def in_child(argv: list[str], use: Callable[[Child], Awaitable[object]]) -> object:
    async def run() -> object:
        child = Child(spawn(argv, ENV, Size(), None))
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child.changed)
                return await use(child)
        finally:
            child.close()

    return anyio.run(run)


STUBBORN = """
import signal, os, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b'ready')
time.sleep(600)
"""


def test_one_that_ignores_the_hang_up_is_killed() -> None:
    async def use(child: Child) -> None:
        await anyio.wait_readable(child.master)
        await child.put_down()
        assert not child.alive
        assert child.exit == Exit(code=137, died_of="SIGKILL")

    in_child([PYTHON, "-c", STUBBORN], use)


def test_putting_down_works_while_cancelled() -> None:
    async def use(child: Child) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await child.put_down()
        assert child.exit == Exit(code=129, died_of="SIGHUP")

    in_child(["sleep", "600"], use)


JOB = r"""
import os, signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
open({pid_file!r}, "w").write(f"{{os.getpid()}}\n")
time.sleep(600)
"""


def test_the_foreground_job_of_a_shell_goes_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"

    async def use(child: Child) -> None:
        with anyio.fail_after(20):
            while not (pid_file.exists() and pid_file.read_text().strip()):
                await anyio.sleep(0.01)
        await child.put_down()

    job = tmp_path / "job.py"
    job.write_text(JOB.format(pid_file=str(pid_file)))
    script = f"set -m; {PYTHON} {job}; :"
    in_child(["bash", "-c", script], use)
    pid = int(pid_file.read_text())
    end = time.monotonic() + 20
    while time.monotonic() < end and alive(pid):
        time.sleep(0.01)  # its end is told to init, not to us
    assert not alive(pid)


def alive(pid: int) -> bool:
    got = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(got.stdout.strip()) and not got.stdout.startswith("Z")


def test_a_program_that_reads_unseen_takes_no_line() -> None:
    async def use(child: Child) -> None:
        await anyio.wait_readable(child.master)
        assert child.refusal() == "a line is being read unseen, as a password is"

    async def run() -> None:
        import pty
        import termios

        master, slave = pty.openpty()
        child = Child(spawn(["sh", "-c", "stty -echo; echo Password:; read x"], ENV, Size(), list(termios.tcgetattr(slave))))
        os.close(master)
        os.close(slave)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child.changed)
                await use(child)
                await child.put_down()
        finally:
            child.close()

    anyio.run(run)


def test_one_that_does_not_read_is_known() -> None:
    async def use(child: Child) -> None:
        await anyio.wait_readable(child.master)
        assert child.refusal() == ""
        with anyio.fail_after(20):
            while child.refusal() != "the program does not read its input":
                with anyio.move_on_after(0.1):
                    await child.write(b"x" * 4096)
        await child.put_down()

    in_child(["sh", "-c", "stty raw -echo; echo ready; sleep 600"], use)


def test_what_waits_to_be_read_is_counted() -> None:
    async def use(child: Child) -> None:
        await anyio.wait_readable(child.master)
        await child.write(b"twelve bytes")
        terminal = child.open_terminal()
        assert terminal is not None
        with anyio.fail_after(20):
            while waiting_bytes(terminal) != 12:
                await anyio.sleep(0.005)
        os.close(terminal)
        await child.put_down()

    in_child(["sh", "-c", "stty raw -echo; echo ready; sleep 600"], use)


def test_the_end_of_input_ends_a_line_first() -> None:
    async def use(child: Child) -> None:
        assert child.reads_lines()
        assert child.end_of_input(b"\n") == b"\x04"
        assert child.end_of_input(b"x") == b"\x04\x04"
        await child.put_down()

    in_child(["sleep", "600"], use)


def test_a_stop_is_told_apart_from_the_end() -> None:
    async def run() -> list[bool]:
        child = Child(spawn(["sleep", "600"], ENV, Size(), None))
        try:
            os.kill(child.pid, signal.SIGSTOP)
            stopped = await child.changed()
            child.resume()
            os.kill(child.pid, signal.SIGTERM)
            ended = await child.changed()
            assert child.exit == Exit(code=143, died_of="SIGTERM")
            return [stopped, ended]
        finally:
            child.close()

    assert anyio.run(run) == [True, False]


def keeper_of(child: Child) -> int:
    return int(subprocess.run(["ps", "-o", "ppid=", "-p", str(child.pid)], capture_output=True, check=True).stdout)


CATCHES = """
import os, signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, lambda *_: (os.write(1, b'caught\\n'), os._exit(5)))
os.write(1, b'ready\\n')
while True: signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_what_is_sent_to_the_keeper_is_the_programs(number: signal.Signals) -> None:
    async def use(child: Child) -> None:
        await anyio.wait_readable(child.master)
        os.kill(keeper_of(child), number)
        assert await output_of(child) == b"ready\ncaught\n"

    in_child([PYTHON, "-c", CATCHES], use)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_without_its_keeper_a_program_is_hung_up(number: signal.Signals) -> None:
    async def use(child: Child) -> None:
        os.kill(keeper_of(child), number)
        with anyio.fail_after(20):
            while alive(child.pid) or child.alive:
                await anyio.sleep(0.01)
        assert child.exit == Exit(code=128 + number, died_of=number.name)

    in_child(["sleep", "600"], use)


def test_a_stopped_program_is_put_down_as_well() -> None:
    async def use(child: Child) -> None:
        await child.stop()
        with anyio.fail_after(20):
            while not child.stopped:
                await anyio.sleep(0.01)
        assert child.refusal() == "the program is stopped"
        await child.put_down()
        assert not alive(child.pid)

    async def run() -> None:
        child = Child(spawn(["sleep", "600"], ENV, Size(), None))

        async def see() -> None:
            while await child.changed():
                pass

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(see)
                await use(child)
            assert child.exit == Exit(code=129, died_of="SIGHUP")
        finally:
            child.close()

    anyio.run(run)


def test_sizes_are_packed_as_the_kernel_has_them() -> None:
    import pty

    master, slave = pty.openpty()
    assert Size.of(slave) is None
    import fcntl
    import termios

    fcntl.ioctl(master, termios.TIOCSWINSZ, Size(31, 97, 970, 620).packed())
    assert Size.of(slave) == Size(31, 97, 970, 620)
    os.close(master)
    os.close(slave)

"""A process as a source: its output passes through unchanged whatever becomes of the findings, and its end is told."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Awaitable, Callable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import anyio
import pytest

from tocsin.contracts.base import Instant, Millis
from tocsin.contracts.errors import BadInput
from tocsin.contracts.events import Event
from tocsin.contracts.signals import ProcessExited, ProcessStarted
from tocsin.edges.clock import SteadyClock
from tocsin.edges.sources import process
from tocsin.edges.sources.feeding import Feeding
from tocsin.edges.sources.process import Exit, watch_process
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue
from tocsin.edges.sources.telling import Finding

CATALOGUE = Catalogue.load()
Findings = list[object]


def reader() -> Reader:
    return Reader(CATALOGUE, scope="web", to="dev")


class Run:
    """A finished watch: what it handed over, and what went through."""

    def __init__(
        self, *argv: str, emit: Callable[[list[object]], Awaitable[None]] | None = None, terminal: bool = False
    ) -> None:
        self.found: Findings = []
        self.out, self.err = BytesIO(), BytesIO()
        self.exit: Exit = anyio.run(self._watch, argv, emit or self._keep, terminal)

    @property
    def events(self) -> list[Event]:
        return [finding for finding in self.found if isinstance(finding, Event)]

    async def _keep(self, found: list[object]) -> None:
        self.found += found

    async def _watch(self, argv: tuple[str, ...], emit: Callable[[list[object]], Awaitable[None]], terminal: bool) -> Exit:
        return await watch_process(argv, reader(), emit, SteadyClock(), out=self.out, err=self.err, terminal=terminal)


def python(code: str) -> tuple[str, str, str]:
    return sys.executable, "-c", code


def test_output_passes_through_unchanged_on_its_own_stream() -> None:
    data = bytes(range(256)) * 300
    run = Run(*python("import os; d=bytes(range(256))*300\nwhile d: d=d[os.write(1,d):]\nos.write(2,b'to stderr\\xff')"))
    assert run.out.getvalue() == data
    assert run.err.getvalue() == b"to stderr\xff"
    assert run.exit == Exit(code=0, expected=True)


def test_the_start_comes_first_and_the_end_last() -> None:
    run = Run("sh", "-c", "echo 'Error: no cart' >&2; echo 'closing the shop' >&2; exit 3")
    started, error, exited, alert = run.found
    assert isinstance(started, ProcessStarted)
    assert isinstance(error, Event)
    assert isinstance(exited, ProcessExited)
    assert isinstance(alert, Event)
    assert (exited.code, exited.died_of, exited.scope) == (3, "", "web")
    assert (error.text, error.source, error.to) == ("Error: no cart", "process_output", "dev")
    assert (alert.text, alert.source, alert.detail, alert.severity) == (
        "sh exited with code 3",
        "process_alert",
        "closing the shop",  # the last lines, without what was told already
        "error",
    )


def test_the_traceback_of_an_interrupt_is_no_finding() -> None:
    run = Run(*python("raise KeyboardInterrupt"))
    assert [finding.text for finding in run.found if isinstance(finding, Event)] == [
        f"{Path(sys.executable).name} was killed by SIGINT"
    ]


NEXTEST = "        FAIL [   0.004s] shop tests::total"


def test_a_failing_nextest_test_is_told_and_the_exit_code_is_the_commands() -> None:
    run = Run("sh", "-c", f"echo start; echo '{NEXTEST}'; echo 'panic: x'; exit 3")
    assert run.exit == Exit(code=3)
    assert [event.text for event in run.events] == ["panic: x", "FAILED tests::total", "sh exited with code 3"]


class Faulty(Reader):
    """As a reader would be with a fault of its own."""

    def read(self, stream: str, data: bytes, now: Instant) -> list[Finding]:
        raise KeyError("what")


def test_a_fault_in_reading_neither_ends_the_command_nor_hides_its_exit_code() -> None:
    found: list[object] = []

    async def keep(batch: list[object]) -> None:
        found.extend(batch)

    async def watch() -> Exit:
        faulty = Faulty(CATALOGUE, scope="web", to="dev")
        argv = ("sh", "-c", "echo one; exit 3")
        return await watch_process(argv, faulty, keep, SteadyClock(), out=out, err=BytesIO(), terminal=False)

    out = BytesIO()
    ended = anyio.run(watch)
    assert out.getvalue() == b"one\n"
    assert (ended.code, ended.left_out, ended.failure) == (3, 1, "this is a fault of tocsin (KeyError: 'what')")
    assert [event.text for event in found if isinstance(event, Event)] == ["sh exited with code 3"]


def test_a_good_end_is_no_alert() -> None:
    run = Run("sh", "-c", "echo fine")
    assert [type(finding) for finding in run.found] == [ProcessStarted, ProcessExited]


@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("KILL", 137), ("SEGV", 139)])
def test_death_by_a_signal_is_told_with_its_name(name: str, code: int) -> None:
    run = Run("sh", "-c", f"kill -{name} $$")
    assert run.exit == Exit(code=code, died_of=f"SIG{name}")
    assert [event.text for event in run.events] == [f"sh was killed by SIG{name}"]


@pytest.mark.parametrize("code", [0, 3, 127, 255])
def test_the_exit_status_is_the_commands(code: int) -> None:
    assert Run("sh", "-c", f"exit {code}").exit.code == code


def test_the_last_lines_are_told_with_a_bad_end() -> None:
    run = Run("sh", "-c", "for i in $(seq 1 50); do echo line $i; done; exit 1")
    assert run.events[-1].detail.split("\n") == [f"line {number}" for number in range(40, 51)]


def test_a_command_that_is_not_there_is_told() -> None:
    with pytest.raises(BadInput, match="nosuch-command can't be started"):
        Run("nosuch-command")


def test_an_empty_command_is_told() -> None:
    with pytest.raises(BadInput, match="an empty command can't be started"):
        Run()


def test_a_taker_that_never_comes_back_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "DRAINED_WITHIN", Millis(50))

    async def stuck(_: list[object]) -> None:
        await anyio.sleep_forever()

    run = Run("sh", "-c", 'for i in $(seq 1 2000); do echo "Error: no cart $i"; done', emit=stuck)
    assert run.out.getvalue().count(b"\n") == 2_000
    assert run.exit.code == 0
    assert run.exit.left_out > 0
    assert run.exit.failure == "the taker was too slow"


def test_a_taker_that_fails_holds_nothing_up_and_is_told_at_the_end() -> None:
    async def failing(_: list[object]) -> None:
        raise RuntimeError("the line is down")

    run = Run("sh", "-c", "echo 'Error: no cart'; echo done", emit=failing)
    assert run.out.getvalue() == b"Error: no cart\ndone\n"
    assert run.exit == Exit(code=0, expected=True, left_out=3, failure="RuntimeError: the line is down")


def test_findings_that_no_longer_fit_are_counted_and_told() -> None:
    taken: Findings = []

    async def main() -> Feeding:
        async def take(found: list[object]) -> None:
            taken.extend(found)

        feeding = Feeding(take, scope="web", to="dev", limit=2)
        feeding.put([ProcessStarted(scope="web"), ProcessStarted(scope="web"), ProcessStarted(scope="web")])
        feeding.put([ProcessExited(scope="web")], last=True)
        feeding.end()
        await feeding.run()
        return feeding

    feeding = anyio.run(main)
    assert feeding.left_out == 1
    assert [type(finding).__name__ for finding in taken] == ["ProcessStarted", "ProcessStarted", "ProcessExited", "Event"]
    assert isinstance(taken[-1], Event)
    assert taken[-1].text == "1 findings left out: more came at once than could be taken"


def test_a_finding_is_told_while_the_command_is_quiet(tmp_path: Path) -> None:
    """The command prints an error and waits; only once it was told may it go on."""
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    texts: list[str] = []

    async def main() -> None:
        told = anyio.Event()

        async def emit(found: list[object]) -> None:
            texts.extend(finding.text for finding in found if isinstance(finding, Event))
            if texts:
                told.set()

        async def let_go() -> None:
            await told.wait()
            await anyio.to_thread.run_sync(fifo.write_text, "go\n")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(let_go)
            argv = ("sh", "-c", f"echo 'Error: no cart'; cat {fifo}")
            await watch_process(argv, reader(), emit, SteadyClock(), out=BytesIO(), err=BytesIO())

    anyio.run(main)
    assert texts == ["Error: no cart"]


def test_the_command_sees_terminals_where_we_have_them_and_its_bytes_stay() -> None:
    run = Run("sh", "-c", "test -t 1 && test -t 2 && printf 'both\\n' && printf 'err\\n' >&2", terminal=True)
    assert run.exit.code == 0
    assert (run.out.getvalue(), run.err.getvalue()) == (b"both\n", b"err\n")


def test_the_command_sees_pipes_where_we_have_none() -> None:
    assert Run("sh", "-c", "test -t 1 || test -t 2").exit.code == 1


def test_a_terminal_has_the_size_of_ours() -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 31, 97, 0, 0))
    with os.fdopen(theirs, "wb", buffering=0) as out:
        argv = python("import os; print(tuple(os.get_terminal_size(1)), os.isatty(2))")
        anyio.run(_watch_to, argv, out)
    assert os.read(ours, 100) == b"(97, 31) False\r\n"
    os.close(ours)


async def _watch_to(argv: tuple[str, ...], out: BinaryIO) -> Exit:
    async def ignore(_: list[object]) -> None:
        return

    return await watch_process(argv, reader(), ignore, SteadyClock(), out=out, err=BytesIO())


def test_a_reader_that_went_away_ends_the_command_as_it_would_in_a_shell() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as out:
        ended = anyio.run(_watch_to, ("yes",), out)
    assert (ended.code, ended.died_of) == (141, "SIGPIPE")


def test_a_slow_reader_gets_every_byte() -> None:
    reading, writing = os.pipe()
    code = "import os; d=b'0123456789abcdef'*65536\nwhile d: d=d[os.write(1,d):]"

    async def main() -> bytes:
        got = bytearray()

        async def read() -> None:
            while len(got) < 1_048_576:
                await anyio.wait_readable(reading)
                got.extend(os.read(reading, 1_000))

        with os.fdopen(writing, "wb", buffering=0) as out:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                await _watch_to(python(code), out)
        return bytes(got)

    assert anyio.run(main) == b"0123456789abcdef" * 65_536
    os.close(reading)


def test_what_the_command_left_running_does_not_hold_us() -> None:
    run = Run("sh", "-c", "sleep 60 & echo $!; exit 0")
    left = int(run.out.getvalue())
    os.kill(left, 0)
    os.kill(left, signal.SIGKILL)
    assert run.exit.code == 0


def is_gone(pid: int) -> bool:
    """True once a process has ended; one that nobody waited for yet counts as ended."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "], ids=["willing", "deaf"])
def test_a_cancelled_watcher_leaves_no_child_behind(trap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "KILL_AFTER", Millis(100))
    out = BytesIO()

    async def main() -> None:
        async def ignore(_: list[object]) -> None:
            return

        async with anyio.create_task_group() as tasks:
            argv = ("sh", "-c", f"{trap}(sleep 60) & echo $$ $!; wait")
            tasks.start_soon(lambda: watch_process(argv, reader(), ignore, SteadyClock(), out=out, err=BytesIO()))
            while b"\n" not in out.getvalue():
                await anyio.sleep(0.01)  # until the command has said who it is
            tasks.cancel_scope.cancel()

    anyio.run(main)
    for pid in map(int, out.getvalue().split()):
        deadline = time.monotonic() + 10
        while not is_gone(pid):
            assert time.monotonic() < deadline
            time.sleep(0.01)  # SIGKILL was sent to the whole group; the system takes a moment to carry it out


WATCHER = """
import sys, anyio
from tocsin.contracts.events import Event
from tocsin.edges.clock import SteadyClock
from tocsin.edges.sources.process import watch_process
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue
async def main():
    found = []
    async def emit(batch): found.extend(batch)
    ended = await watch_process(sys.argv[1:], Reader(Catalogue.load(), scope="web", to=None), emit, SteadyClock(),
        out=sys.stdout.buffer, err=sys.stderr.buffer)
    print(ended.code, ended.died_of or "-", ended.expected, [type(one).__name__ for one in found], flush=True)
anyio.run(main)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_to_us_reaches_the_command_once_and_is_no_alert(name: str) -> None:
    code = (
        "import signal, sys\n"
        f"signal.signal(signal.{name}, lambda *_: print('got it', flush=True) or sys.exit(7))\n"
        "print('ready', flush=True)\nsignal.pause()"
    )
    watcher = subprocess.Popen([sys.executable, "-c", WATCHER, *python(code)], stdout=subprocess.PIPE)
    assert watcher.stdout is not None
    assert watcher.stdout.readline() == b"ready\n"
    watcher.send_signal(getattr(signal, name))
    rest = watcher.stdout.read().decode()
    assert rest == "got it\n7 - True ['ProcessStarted', 'ProcessExited']\n"
    assert watcher.wait() == 0
    watcher.stdout.close()


def test_a_command_that_dies_of_the_forwarded_signal_is_expected() -> None:
    argv = [sys.executable, "-c", WATCHER, "sh", "-c", "echo ready; exec sleep 60"]
    watcher = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert watcher.stdout is not None
    assert watcher.stdout.readline() == b"ready\n"
    watcher.send_signal(signal.SIGTERM)
    assert watcher.stdout.read().decode() == "143 SIGTERM True ['ProcessStarted', 'ProcessExited']\n"
    watcher.wait()
    watcher.stdout.close()


def test_standard_input_is_the_commands() -> None:
    argv = [sys.executable, "-c", WATCHER, "cat"]
    done = subprocess.run(argv, input=b"typed\n", stdout=subprocess.PIPE, check=True)
    assert done.stdout.startswith(b"typed\n0 - True")

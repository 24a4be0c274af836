"""Process: runs a command, passes its output through at once and unchanged, and reads findings out of it beside that.

Neither a slow nor a failing taker of findings holds the command's output back.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

import anyio
from anyio.abc import Process

from ...contracts.base import Millis, Record
from ...contracts.errors import BadInput
from ...contracts.events import Event
from ...contracts.ports import Clock
from ...contracts.signals import ProcessExited, ProcessStarted
from .feeding import DRAINED_WITHIN, Emit, Feeding
from .kept import Kept
from .lines import Lines
from .outlet import Outlet
from .reader import Reader
from .telling import Finding

KILL_AFTER: Final = Millis(3_000)
"""How long a command has between SIGTERM and SIGKILL when the watcher is cancelled."""
LAST_WORDS_WITHIN: Final = Millis(500)
"""How long output is still read after the command ended, if something that it started holds the stream open."""
LAST_LINES: Final = 11
"""Lines of output told with a bad end."""
_TOLD: Final = 20
"""Findings remembered, so that what the last lines say is not told twice."""
_REMEMBERED: Final = 16_384
_FORWARDED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Exit(Record, frozen=True, kw_only=True):
    """How the command ended."""

    code: int
    """As a shell says it: the exit status, or 128 and the number of the signal that killed it."""
    died_of: str = ""
    """The signal's name, if one killed it."""
    expected: bool = False
    """True if it ended well, or after a signal that was forwarded to it."""
    left_out: int = 0
    """Findings that could not be handed over."""
    failure: str = ""
    """Why the first of them could not be."""


async def watch_process(
    argv: Sequence[str],
    reader: Reader,
    emit: Emit,
    clock: Clock,
    *,
    out: BinaryIO,
    err: BinaryIO,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    terminal: bool | None = None,
) -> Exit:
    """Run a command to its end, its stdin inherited, and hand over what its output and its end mean.

    First comes ``ProcessStarted``; at the end ``ProcessExited`` and, if it ended badly, one event with its last lines.
    SIGINT, SIGTERM and SIGHUP go to the command's process group. A cancelled watcher takes the command with it.

    :param out: where the command's stdout goes, unchanged; with a file descriptor, writes never block the rest
    :param terminal: whether the command sees terminals; None: where ``out`` or ``err`` is one
    :raises BadInput: if the command can't be started
    """
    if not argv:
        raise BadInput("an empty command can't be started")
    watch = _Watch(argv, reader, Feeding(emit, scope=reader.scope, to=reader.to), clock)
    outlets = [Outlet(name, to, terminal=_is_terminal(to, terminal)) for name, to in (("stdout", out), ("stderr", err))]
    try:
        return await watch.run(outlets, cwd=cwd, env=env)
    finally:
        for outlet in outlets:
            outlet.close()


class _Watch:
    def __init__(self, argv: Sequence[str], reader: Reader, feeding: Feeding, clock: Clock) -> None:
        self._argv = argv
        self._reader = reader
        self._feeding = feeding
        self._clock = clock
        self._due_changed = anyio.Event()
        self._last = bytearray()
        self._told: deque[Event] = deque(maxlen=_TOLD)
        self._forwarded: set[str] = set()

    async def run(self, outlets: Sequence[Outlet], *, cwd: Path | None, env: Mapping[str, str] | None) -> Exit:
        process = await self._start(outlets, cwd=cwd, env=env)
        self._feeding.put([ProcessStarted(scope=self._reader.scope, at=self._clock.now())])
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._feeding.run)
                tasks.start_soon(self._tick)
                if threading.current_thread() is threading.main_thread():
                    tasks.start_soon(self._forward, process, outlets)
                await self._pump_to_end(process, outlets)
                ended = self._end(process)
                with anyio.move_on_after(DRAINED_WITHIN / 1000):
                    await self._feeding.drained()
                tasks.cancel_scope.cancel()
        finally:
            await _end_group(process)
        self._feeding.abandon()
        return Exit(
            code=ended.code,
            died_of=ended.died_of,
            expected=self._is_expected(ended),
            left_out=self._feeding.left_out,
            failure=self._feeding.failure,
        )

    async def _start(self, outlets: Sequence[Outlet], *, cwd: Path | None, env: Mapping[str, str] | None) -> Process:
        try:
            return await anyio.open_process(
                list(self._argv),
                stdin=None,
                stdout=outlets[0].child,
                stderr=outlets[1].child,
                cwd=cwd,
                env=env,
                # Its own group, so that one interrupt at the keyboard reaches it once: by us.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise BadInput(f"{self._argv[0]} can't be started: {error}") from error
        finally:
            for outlet in outlets:
                outlet.handed_over()

    async def _pump_to_end(self, process: Process, outlets: Sequence[Outlet]) -> None:
        async with anyio.create_task_group() as pumps:
            for outlet in outlets:
                pumps.start_soon(self._pump, outlet)
            await process.wait()
            pumps.cancel_scope.deadline = anyio.current_time() + LAST_WORDS_WITHIN / 1000

    async def _pump(self, outlet: Outlet) -> None:
        async for data in outlet.chunks():
            try:
                await outlet.write(data)
            except (BrokenPipeError, ConnectionResetError):
                outlet.close()
            self._remember(data)
            self._tell(self._found(lambda: self._reader.read(outlet.name, data, self._clock.now())))  # noqa: B023 - called at once
            self._due_changed.set()

    def _tell(self, found: list[Finding], *, last: bool = False) -> None:
        """Hand findings over, and remember what was told: the last word about a bad end need not say it again."""
        self._told.extend(finding for finding in found if isinstance(finding, Event))
        self._feeding.put(found, last=last)

    def _found(self, read: Callable[[], list[Finding]]) -> list[Finding]:
        """A fault in reading costs what was read, and is told at the end; it never ends the command or hides its exit code."""
        with Kept() as kept:
            return read()
        self._feeding.fault(kept.words)
        return []

    def _remember(self, data: bytes) -> None:
        """The last output, of both streams as it came, for the case that the end is bad."""
        self._last += data
        if len(self._last) > 2 * _REMEMBERED:
            del self._last[:-_REMEMBERED]

    async def _tick(self) -> None:
        """Tell blocks when they have been quiet for long enough."""
        while True:
            self._due_changed = anyio.Event()
            due = self._reader.due()
            if due is None:
                await self._due_changed.wait()
                continue
            await anyio.sleep(max(0, due - self._clock.now()) / 1000)
            self._tell(self._found(lambda: self._reader.tick(self._clock.now())))

    async def _forward(self, process: Process, outlets: Sequence[Outlet]) -> None:
        """Signals to us are meant for the command; the size of our terminal is the size of its."""
        with anyio.open_signal_receiver(*_FORWARDED, signal.SIGWINCH) as signals:
            async for number in signals:
                if number == signal.SIGWINCH:
                    for outlet in outlets:
                        outlet.resize()
                else:
                    self._forwarded.add(number.name)
                    _signal_group(process, number)

    def _end(self, process: Process) -> ProcessExited:
        now = self._clock.now()
        code = process.returncode or 0
        ended = ProcessExited(
            scope=self._reader.scope,
            at=now,
            code=code if code >= 0 else 128 - code,
            died_of=signal.Signals(-code).name if code < 0 else "",
        )
        self._tell(self._found(lambda: self._reader.close(now)), last=True)
        alert = [] if self._is_expected(ended) else [self._alert(ended)]
        self._feeding.put([ended, *alert], last=True)
        self._feeding.end()
        return ended

    def _is_expected(self, ended: ProcessExited) -> bool:
        if ended.died_of:
            return ended.died_of in self._forwarded
        return ended.code == 0 or bool(self._forwarded)

    def _alert(self, ended: ProcessExited) -> Event:
        name = Path(self._argv[0]).name
        how = f"was killed by {ended.died_of}" if ended.died_of else f"exited with code {ended.code}"
        lines = Lines()
        told = {line.strip() for event in self._told for line in f"{event.text}\n{event.detail}".splitlines()}
        printed = (*lines.feed(bytes(self._last)), *lines.close())
        shown = [line for line in printed if line.strip() and line.strip() not in told]
        return Event(
            text=f"{name} {how}",
            to=self._reader.to,
            source="process_alert",
            scope=self._reader.scope,
            severity="error",
            at=ended.at,
            detail="\n".join(shown[-LAST_LINES:]),
            category="process",
        )


def _is_terminal(target: BinaryIO, wanted: bool | None) -> bool:
    return target.isatty() if wanted is None else wanted


def _signal_group(process: Process, number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


async def _end_group(process: Process) -> None:
    """Nothing of the command is left when the watcher is cancelled."""
    if process.returncode is not None:
        return
    with anyio.CancelScope(shield=True):
        _signal_group(process, signal.SIGTERM)
        with anyio.move_on_after(KILL_AFTER / 1000):
            await process.wait()
        if process.returncode is None:
            _signal_group(process, signal.SIGKILL)
            await process.wait()

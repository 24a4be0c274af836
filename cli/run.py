"""``tocsin run``: an agent in a wrapped terminal, with a line, a socket, and notices typed when it is idle."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread
import click
from anyio.from_thread import BlockingPortal

from ..app import Tocsin
from ..contracts.deliveries import Delivery, Receipt
from ..contracts.errors import NameTaken, NotNow
from ..contracts.ports import Shelf, Sink
from ..contracts.signals import LaneFact
from ..contracts.status import Status
from ..contracts.verdicts import Verdict
from ..edges.clock import SteadyClock
from ..edges.ids import RandomIds
from ..edges.portal import Portal
from ..edges.server.runtime import Seat, runtime_directory
from ..edges.server.server import serve
from ..edges.settings import load
from ..edges.sinks.named import open_sink
from ..edges.sinks.pty import PtySink
from ..edges.terminal.status import StatusRow
from ..edges.terminal.wrapped import Exit, WrappedTerminal
from ..pipeline.roster import Settings
from .settings_option import set_option
from .words import complain, one_line, plural, spoken, wait_until

SILENT_START: Final = 5.0
"""Seconds after which a program that has printed nothing is taken to be one that prints nothing."""
SWITCH_INTERVAL: Final = 0.0005
"""Seconds: the stages' thread must not wait for a busy neighbour's turn to end. A library leaves this to its program."""
_ROW_PERIOD: Final = 0.5
_GRACE: Final = 2.0


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--as", "name", metavar="NAME", help="The recipient's name; by default the program's, with a number if it is taken."
)
@click.option("--status", "with_status", is_flag=True, help="Keep the lowest row of the terminal for what is pending, and why.")
@click.option("--idle-after", type=click.IntRange(min=50), metavar="MS", help="Silence that makes the program idle.")
@click.option(
    "--observe",
    "observers",
    metavar="SINK",
    multiple=True,
    help="Show every delivery to one more: stream:FILE (JSON lines), command:PROGRAM (the block on its stdin). Repeatable.",
)
@set_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def run(
    ctx: click.Context,
    name: str | None,
    with_status: bool,
    idle_after: int | None,
    observers: tuple[str, ...],
    flags: dict[str, str],
    command: tuple[str, ...],
) -> None:
    """Run COMMAND in this terminal, unchanged, and type notices into it while it is idle.

    The exit status is the command's; 128 and the number of the signal if one killed it.
    """
    if idle_after is not None:
        flags = {**flags, "defer.timing.idle_after": str(idle_after)}
    settings = load(flags=flags).settings
    sys.setswitchinterval(SWITCH_INTERVAL)
    opened = {text: open_sink(text) for text in observers}
    seat = take_seat(runtime_directory(), name, command)
    try:
        ended = anyio.run(_Run(settings, seat, command, opened, with_status=with_status).carry)
    finally:
        seat.close()
    ctx.exit(ended.code)


def take_seat(directory: Path, name: str | None, command: tuple[str, ...]) -> Seat:
    """The seat of that name; without one, the program's name, with the first number that is free."""
    if name is not None:
        return Seat.take(directory, name, command)
    base = one_line(Path(command[0]).name) or "agent"
    for number in range(1, 100):
        try:
            return Seat.take(directory, base if number == 1 else f"{base}-{number}", command)
        except NameTaken:
            continue
    raise NameTaken(f"{base} and {base}-2 to {base}-99 are taken; choose a name with --as NAME")


class _Ready:
    """The terminal's sink, once the program has shown that it is there: what is typed before that may be lost or echoed."""

    def __init__(self, sink: PtySink) -> None:
        self._sink = sink
        self._until: float | None = None
        self.printed = False

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Type it, or say that it is too early."""
        now = anyio.current_time()
        self._until = now + SILENT_START if self._until is None else self._until
        if not self.printed and now < self._until:
            raise NotNow("the program has not printed anything yet")
        return await self._sink.deliver(delivery)


class _Run:
    """One run, from the first byte to the last word on stderr."""

    def __init__(
        self,
        settings: Settings,
        seat: Seat,
        command: tuple[str, ...],
        observers: Mapping[str, Sink | Shelf],
        *,
        with_status: bool,
    ) -> None:
        self._settings = settings
        self._observers = observers
        self._seat = seat
        self._name = seat.holder.name
        self._command = command
        self._row_text = f"tocsin: {self._name}"
        self._with_status = with_status
        self._token = _token()

    async def carry(self) -> Exit:
        async with BlockingPortal() as lent:
            line = Tocsin(self._settings, portal=Portal(lent)).start()
            try:
                ended = await self._attended(line)
            finally:
                with anyio.CancelScope(shield=True):
                    status = await anyio.to_thread.run_sync(line.status)
                    await anyio.to_thread.run_sync(line.stop, _GRACE)
        _report(self._name, status)
        return ended

    async def _attended(self, line: Tocsin) -> Exit:
        terminal = WrappedTerminal(
            self._command,
            lane=self._name,
            env=self._environment(os.environ),
            signal=self._signal(line),
            clock=line.clock,
            status=StatusRow(lambda: self._row_text) if self._with_status else None,
        )
        self._sink = _Ready(PtySink(terminal))
        line.open_lane(self._name, self._sink, typing=True)
        for name, observer in self._observers.items():
            line.add_observer(name, observer)
        async with anyio.create_task_group() as tasks:
            await tasks.start(partial(serve, line, self._seat, version=_version(), token=self._token))
            if self._with_status:
                tasks.start_soon(self._keep_row, line)
            ended = await terminal.run()
            tasks.cancel_scope.cancel()
        return ended

    def _signal(self, line: Tocsin) -> Callable[[LaneFact], None]:
        def signal(fact: LaneFact) -> None:
            self._sink.printed = True
            line.signal(fact)

        return signal

    def _environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {
            **environ,
            "TOCSIN_SOCKET": str(self._seat.path),
            "TOCSIN_RECIPIENT": self._name,
            "TOCSIN_SESSION": self._seat.holder.session,
            "TOCSIN_DELIVERY_TOKEN": self._token,
        }

    async def _keep_row(self, line: Tocsin) -> None:
        while True:
            status = await anyio.to_thread.run_sync(line.status, abandon_on_cancel=True)
            self._row_text = row_text(self._name, status)
            await anyio.sleep(_ROW_PERIOD)


def row_text(name: str, status: Status) -> str:
    """The line's state in one row: ``tocsin dev: 3 pending: recipient writes, 1.4 s · 12 delivered · 2 suppressed``."""
    lane = next((lane for lane in status.lanes if lane.name == name), None)
    if lane is None:
        return f"tocsin {name}"
    waits = f": {spoken(lane.waits_for)}" if lane.depth and lane.waits_for else ""
    left = wait_until(lane.until, status.at)
    parts = [f"{lane.depth} pending{waits}{f', {left}' if waits and left else ''}", f"{lane.delivered} delivered"]
    if suppressed := sum(lane.suppressed.values()):
        parts.append(f"{suppressed} suppressed")
    return one_line(f"tocsin {name}: {' · '.join(parts)}")


def _report(name: str, status: Status) -> None:
    """One line about what its recipient will not read any more."""
    lost = status.pending + status.at_the_door + sum(status.dropped.get(verdict, 0) for verdict in _UNTOLD)
    lost += sum(sum(lane.suppressed.values()) for lane in status.lanes)
    if lost:
        complain(f"{plural(lost, 'notice')} not delivered when {name} ended")


_UNTOLD: Final = (Verdict.DROP_DEAD, Verdict.DEAD_LETTER)


def _token() -> str:
    """What nobody can guess: the part of an id that is chance, four times."""
    clock = SteadyClock()
    return "".join(RandomIds(clock).new()[9:] for _ in range(4))


def _version() -> str:
    from .. import __version__

    return __version__

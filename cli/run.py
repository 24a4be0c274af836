"""``tocsin run``: an agent in a wrapped terminal, with a line, a socket, and notices typed when it is idle."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, get_args

import anyio
import anyio.to_thread
import click
from anyio.from_thread import BlockingPortal
from platformdirs import user_state_path

from ..app import SPILL_DIR, Tocsin
from ..contracts.errors import BadInput, NameTaken
from ..contracts.ports import Shelf, Sink
from ..contracts.recipients import Session
from ..contracts.signals import LaneFact
from ..contracts.status import Status
from ..contracts.verdicts import Verdict
from ..edges.clock import SteadyClock
from ..edges.ids import RandomIds
from ..edges.portal import Portal
from ..edges.server.runtime import Seat, runtime_directory
from ..edges.server.server import serve
from ..edges.settings import load
from ..edges.sinks.agent import AgentSink, Via
from ..edges.sinks.hook import HookSink
from ..edges.sinks.named import open_sink
from ..edges.sinks.pty import PtySink
from ..edges.sinks.ready import ReadySink
from ..edges.store_place import OFF, store_path
from ..edges.terminal.status import StatusRow
from ..edges.terminal.wrapped import Exit, WrappedTerminal
from ..pipeline.roster import Settings
from ..pipeline.throttle import Reason
from .ending import after_our_program, end_of, last_words, tell
from .settings_option import set_option
from .words import complain, one_line, plural, spoken, wait_until

SWITCH_INTERVAL: Final = 0.0005
"""Seconds: the stages' thread must not wait for a busy neighbour's turn to end. A library leaves this to its program."""
_ROW_PERIOD: Final = 0.5
_GRACE: Final = 2.0


@click.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--as", "name", metavar="NAME", help="The recipient's name; by default the program's, with a number if it is taken."
)
@click.option("--status", "with_status", is_flag=True, help="Keep the lowest row of the terminal for what is pending, and why.")
@click.option(
    "--via",
    type=click.Choice(get_args(Via)),
    default="auto",
    help="How notices get in: handed over by the agent's own hooks and typed where it has none, or only one of the two.",
)
@click.option(
    "--full-screen",
    is_flag=True,
    help="COMMAND is an agent that lives on the whole screen: type into it. Never for editors, pagers and the like.",
)
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
    full_screen: bool,
    via: Via,
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
    if "/" not in command[0] and shutil.which(command[0]) is None:  # before anybody is registered under its name
        raise BadInput(f"{command[0]}: no such program in its PATH")
    sys.setswitchinterval(SWITCH_INTERVAL)
    opened = {text: open_sink(text) for text in observers}
    seat = take_seat(runtime_directory(), name, command)
    with after_our_program():
        try:
            one = _Run(settings, seat, command, opened, via=via, with_status=with_status, full_screen=full_screen)
            ended = anyio.run(one.carry)
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


class _Run:
    """One run, from the first byte to the last word on stderr."""

    def __init__(
        self,
        settings: Settings,
        seat: Seat,
        command: tuple[str, ...],
        observers: Mapping[str, Sink | Shelf],
        *,
        via: Via,
        with_status: bool,
        full_screen: bool,
    ) -> None:
        self._settings = settings
        self._observers = observers
        self._seat = seat
        self._name = seat.holder.name
        self._command = command
        self._row_text = f"tocsin: {self._name}"
        self._via = via
        self._with_status = with_status
        self._full_screen = full_screen
        self._token = _token()
        self._store = store_path(settings.store.path)
        self._started = False
        self._warnings: list[str] = []
        """Told at the end: while the program runs the terminal is its own."""
        self._asked_to_end = False

    async def carry(self) -> Exit:
        async with BlockingPortal() as lent:
            line = Tocsin(
                self._settings,
                portal=Portal(lent),
                store=self._store,
                warn=self._warn,
                socket=str(self._seat.path),
            ).start()
            try:
                ended = await self._attended(line)
            finally:
                with anyio.CancelScope(shield=True):
                    waiting = await anyio.to_thread.run_sync(self._close_session, line)
                    await anyio.to_thread.run_sync(line.stop, _GRACE)
                    # Looked at when all has come to rest: what a sink was just answering counts as told, or as not, for good.
                    status = await anyio.to_thread.run_sync(line.status)
            with anyio.move_on_after(_GRACE, shield=True):
                end = end_of(self._name, self._command[0], ended, line.clock.now(), asked=self._asked_to_end)
                await tell(self._observers, end, self._warn)
        if words := last_words(self._command[0], ended, asked=self._asked_to_end):
            complain(words)
        _report(self._name, status, waiting, self._warnings)
        return ended

    def _warn(self, text: str) -> None:
        """At once while the terminal is still ours, at the end when it has been the program's."""
        if self._started:
            self._warnings.append(text)
        else:
            complain(text)

    def _close_session(self, line: Tocsin) -> int:
        """How many messages wait in the store for the next session."""
        if not line.remembers:
            return 0
        line.records.end_session(self._seat.holder.session)
        return line.records.waiting(self._name)

    async def _attended(self, line: Tocsin) -> Exit:
        terminal = WrappedTerminal(
            self._command,
            lane=self._name,
            env=self._environment(os.environ),
            signal=self._signal(line),
            clock=line.clock,
            status=StatusRow(lambda: self._row_text) if self._with_status else None,
            type_into_screen=self._full_screen,
        )
        typing, hook = PtySink(terminal, user_state_path("tocsin") / SPILL_DIR), HookSink()
        self._sink = ReadySink(AgentSink(typing, terminal.submit, hook, via=self._via))
        line.open_lane(self._name, self._sink, typing=True, provider=Path(self._command[0]).name, session=self._session())
        for name, observer in self._observers.items():
            line.add_observer(name, observer)
        async with anyio.create_task_group() as tasks:
            await tasks.start(partial(serve, line, self._seat, version=_version(), token=self._token, hooks=hook))
            if self._with_status:
                tasks.start_soon(self._keep_row, line)
            self._started = True
            try:
                ended = await terminal.run()
            finally:
                hook.close()
                self._asked_to_end = terminal.asked_to_end
            tasks.cancel_scope.cancel()
        return ended

    def _session(self) -> Session:
        holder = self._seat.holder
        return Session(
            id=holder.session, recipient=holder.name, pid=holder.pid, command=holder.command, started_at=holder.since
        )

    def _signal(self, line: Tocsin) -> Callable[[LaneFact], None]:
        def signal(fact: LaneFact) -> None:
            self._sink.hear(fact)
            line.signal(fact)

        return signal

    def _environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {
            **environ,
            "TOCSIN_SOCKET": str(self._seat.path),
            "TOCSIN_RECIPIENT": self._name,
            "TOCSIN_SESSION": self._seat.holder.session,
            "TOCSIN_DELIVERY_TOKEN": self._token,
            # Whatever directory it goes to, what it sends goes to the same place.
            "TOCSIN_STORE__PATH": OFF if self._store is None else str(self._store),
        }

    async def _keep_row(self, line: Tocsin) -> None:
        while True:
            status = await anyio.to_thread.run_sync(line.status, abandon_on_cancel=True)
            self._row_text = row_text(self._name, status)
            await anyio.sleep(_ROW_PERIOD)


def row_text(name: str, status: Status) -> str:
    """The line's state in one row.

    ``tocsin dev: 4 pending, 1.4 s · 1 held: scope in outage · 3 deferred: recipient writes · 2 suppressed · 12 delivered``.
    """
    lane = next((lane for lane in status.lanes if lane.name == name), None)
    if lane is None:
        return f"tocsin {name}"
    waits = lane.waits_for if lane.waits_for not in (lane.held_for, lane.deferred_for) else ""
    left = wait_until(lane.until, status.at) if lane.depth else ""
    parts = [_counted(lane.depth, "pending", waits) + (f", {left}" if left else "")]
    parts += [_counted(lane.held, "held", lane.held_for)] if lane.held else []
    parts += [_counted(lane.deferred, "deferred", lane.deferred_for)] if lane.deferred else []
    if suppressed := sum(lane.suppressed.values()):
        parts.append(f"{suppressed} suppressed")
    return one_line(f"tocsin {name}: {' · '.join([*parts, f'{lane.delivered} delivered'])}")


def _counted(number: int, what: str, why: str) -> str:
    return f"{number} {what}{f': {spoken(why)}' if why else ''}"


def _report(name: str, status: Status, waiting: int, warnings: Sequence[str]) -> None:
    """What its recipient will not read any more, and what it will when it is back."""
    for warning in warnings:
        complain(warning)
    lost = status.pending + status.at_the_door
    lost += sum(tally.count for tally in status.tallies if tally.verdict in _UNTOLD or tally.reason == Reason.CLOSED)
    lost += sum(sum(lane.suppressed.values()) for lane in status.lanes)
    if lost > waiting:
        complain(f"{plural(lost - waiting, 'notice')} not delivered when {name} ended")
    if waiting:
        complain(f"{plural(waiting, 'message')} kept for {name}'s return")


_UNTOLD: Final = (Verdict.DROP_DEAD, Verdict.DEAD_LETTER)


def _token() -> str:
    """What nobody can guess: the part of an id that is chance, four times."""
    clock = SteadyClock()
    return "".join(RandomIds(clock).new()[9:] for _ in range(4))


def _version() -> str:
    from .. import __version__

    return __version__

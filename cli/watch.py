"""``tocsin watch``: a program's output passes through, and what matters in it goes to a recipient, now or when it comes."""

import os
import sys
from pathlib import Path

import anyio
import click

from ..edges.clock import SteadyClock
from ..edges.server.directory import Address, answers, meant
from ..edges.server.feeder import Feeder, Sent
from ..edges.server.runtime import runtime_directory
from ..edges.sources.feeding import Finding
from ..edges.sources.process import Exit, watch_process
from ..edges.sources.reader import Reader
from ..edges.sources.rules import Catalogue
from .asking import to_option
from .words import complain, one_line, plural

LAST_WAIT = 5.0
"""Seconds that the end of the program waits for a recipient that is there to take what is left."""


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--scope", metavar="NAME", help="What the program is called in notices; its name by default.")
@to_option
@click.option("--rules", type=click.Path(dir_okay=False, path_type=Path), multiple=True, metavar="FILE", help="More rules.")
@click.option("--quiet", is_flag=True, help="No summary at the end.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def watch(
    ctx: click.Context, scope: str | None, to: str | None, rules: tuple[Path, ...], quiet: bool, command: tuple[str, ...]
) -> None:
    """Run COMMAND unchanged; its errors, warnings, crashes and rebuilds go to a recipient.

    The exit status is the command's.
    """
    address = meant(runtime_directory(), to, os.environ)
    reader = Reader(Catalogue.load(rules), scope=scope or Path(command[0]).name, to=address.name)
    ended, sent = anyio.run(_watch, address, reader, command)
    if not quiet:
        for line in summary(address.name, ended, sent):
            complain(line)
    ctx.exit(ended.code)


async def _watch(address: Address, reader: Reader, command: tuple[str, ...]) -> tuple[Exit, Sent]:
    feeder = Feeder(address.path)

    async def emit(found: list[Finding]) -> None:
        feeder.put(found)

    if not answers(address.path):
        complain(f"nobody called {address.name} is here yet; findings wait for it")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(feeder.run)
        ended = await watch_process(
            command, reader, emit, SteadyClock(), out=sys.stdout.buffer, err=sys.stderr.buffer, env=os.environ
        )
        if answers(address.path):
            with anyio.move_on_after(LAST_WAIT):
                await feeder.drained()
        tasks.cancel_scope.cancel()
    return ended, feeder.sent


def summary(name: str, ended: Exit, sent: Sent) -> list[str]:
    """What became of the findings, in one line; nothing if there were none."""
    lost = sent.shed + sent.waiting + ended.left_out
    if not (sent.accepted or sent.refused or lost):
        return []
    parts = [f"{plural(sent.accepted, 'finding')} sent to {name}"]
    if sent.refused:
        parts.append(f"{sent.refused} refused ({one_line(sent.refusal)})")
    if lost:
        parts.append(f"{lost} lost{_why(name, ended, sent)}")
    return [", ".join(parts)]


def _why(name: str, ended: Exit, sent: Sent) -> str:
    if sent.waiting and not sent.accepted:
        return f" ({name} never came)"
    if sent.waiting:
        return f" ({name} did not take them in time)"
    return f" ({one_line(ended.failure)})" if ended.failure else " (too many waited)"

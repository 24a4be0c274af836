"""``tocsin feed``: what a pipe, a growing file, JSON lines or a person has to say, to a recipient."""

import os
from pathlib import Path
from typing import Final

import anyio
import click

from ..contracts.errors import BadInput, NotRunning
from ..contracts.events import Event
from ..contracts.severity import NAMES, SeverityName
from ..edges.clock import SteadyClock
from ..edges.server.client import Client
from ..edges.server.directory import Address, present
from ..edges.server.feeder import Feeder, Sent
from ..edges.server.runtime import runtime_directory
from .asking import to_option
from .piped import EveryLine, Findings, JsonLines, Kind, items
from .words import complain, one_line, plural

GONE_FOR: Final = 10.0
"""Seconds that the recipient may be gone before the feed is given up."""
_STDIN: Final = 0
_LOOK: Final = 0.5


@click.command()
@to_option
@click.option("--scope", metavar="NAME", default="", help="What it is about, such as the name of a dev server.")
@click.option("--source", metavar="TAG", default=None, help="The source tag of what is fed.")
@click.option("--severity", type=click.Choice(NAMES), default=None, help="How bad TEXT, or with --all every line, is.")
@click.option("--jsonl", is_flag=True, help="Standard input holds events and signals as JSON, one a line.")
@click.option("--all", "everything", is_flag=True, help="Feed every line, not only what the rules find.")
@click.option("--follow", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Read a file that grows.")
@click.option("--rules", type=click.Path(dir_okay=False, path_type=Path), multiple=True, metavar="FILE", help="More rules.")
@click.option("--user", is_flag=True, help="These are a person's words: never folded, never left out.")
@click.option("--quiet", is_flag=True, help="No summary at the end.")
@click.argument("text", nargs=-1)
@click.pass_context
def feed(
    ctx: click.Context,
    to: str | None,
    scope: str,
    source: str | None,
    severity: SeverityName | None,
    jsonl: bool,
    everything: bool,
    follow: Path | None,
    rules: tuple[Path, ...],
    user: bool,
    quiet: bool,
    text: tuple[str, ...],
) -> None:
    """Feed TEXT as one event, or what matters on standard input: `make 2>&1 | tocsin feed --to dev`.

    Ends when the input has ended and everything was accepted.
    """
    _check_together(
        jsonl=jsonl, everything=everything, follow=follow, user=user, text=text, severity=severity, source=source, scope=scope
    )
    address = present(runtime_directory(), to, os.environ)
    pattern = Event(
        text="",
        to=address.name,
        scope=scope,
        source=source or ("user_action" if user else "process_output"),
        severity=severity or ("info" if user else "warning"),
        traffic="user" if user else "event",
    )
    if text:
        _feed_text(address, pattern, " ".join(text))
        return
    kind = _kind(pattern, rules, jsonl=jsonl, everything=everything or user)
    sent = anyio.run(_feed, address, kind)
    bad = kind.bad if isinstance(kind, JsonLines) else 0
    if not quiet:
        complain(summary(address.name, sent, bad))
    ctx.exit(2 if bad or sent.refused else 0)


def _check_together(**given: object) -> None:
    """Say which options do not go together, rather than pass one over in silence."""
    ways = [name for name in ("text", "jsonl", "follow") if given[name]]
    if len(ways) > 1:
        raise click.UsageError(f"choose one: {' or '.join(_CALLED[name] for name in ways)}")
    if given["jsonl"]:
        _none_of(given, "--jsonl: each event says that itself", "everything", "user", "severity", "source", "scope")
    if given["text"]:
        _none_of(given, "TEXT: it is one event", "everything")
    elif given["severity"] and not (given["everything"] or given["user"]):
        raise click.UsageError("--severity needs TEXT or --all: what the rules find has its own")


def _none_of(given: dict[str, object], why: str, *names: str) -> None:
    for name in names:
        if given[name]:
            raise click.UsageError(f"{_CALLED[name]} does not go with {why}")


_CALLED: Final = {
    "text": "TEXT",
    "jsonl": "--jsonl",
    "follow": "--follow",
    "everything": "--all",
    "user": "--user",
    "severity": "--severity",
    "source": "--source",
    "scope": "--scope",
}


def _kind(pattern: Event, rules: tuple[Path, ...], *, jsonl: bool, everything: bool) -> Kind:
    if jsonl:
        return JsonLines(pattern.to or "", complain)
    if everything:
        return EveryLine(pattern)
    from ..edges.sources.reader import Reader
    from ..edges.sources.rules import Catalogue

    return Findings(Reader(Catalogue.load(rules), scope=pattern.scope, to=pattern.to, source=pattern.source))


def _feed_text(address: Address, pattern: Event, text: str) -> None:
    import msgspec

    with Client(address.path, name=address.name) as client:
        answer = client.feed([msgspec.structs.replace(pattern, text=text)])
    if answer.refused:
        raise BadInput(answer.refused[0].text)


async def _feed(address: Address, kind: Kind) -> Sent:
    feeder = Feeder(address.path)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(feeder.run)
        tasks.start_soon(_give_up, feeder, address)
        async for found in items(_STDIN, kind, SteadyClock()):
            await feeder.send(found)
        await feeder.drained()
        tasks.cancel_scope.cancel()
    return feeder.sent


async def _give_up(feeder: Feeder, address: Address) -> None:
    """A recipient that ended must not keep a pipe for ever."""
    gone_since: float | None = None
    while True:
        await anyio.sleep(_LOOK)
        if feeder.connected or not feeder.sent.waiting:
            gone_since = None
            continue
        gone_since = gone_since or anyio.current_time()
        if anyio.current_time() - gone_since >= GONE_FOR:
            sent = feeder.sent
            taken = f"{plural(sent.accepted, 'event')} accepted, {sent.waiting} not taken, the rest not read"
            raise NotRunning(f"{address.name!r} has ended: {taken}")


def summary(name: str, sent: Sent, bad: int) -> str:
    """What became of everything, in one line."""
    facts = f" and {plural(sent.facts, 'signal')}" if sent.facts else ""
    parts = [f"{plural(sent.accepted, 'event')}{facts} accepted by {name}"]
    if sent.refused:
        parts.append(f"{sent.refused} refused ({one_line(sent.refusal)})")
    if bad:
        parts.append(f"{plural(bad, 'bad line')}")
    return ", ".join(parts)

"""``tocsin status`` and ``tocsin recipients``: who is here, what is pending for them, and what it waits for."""

import os
from collections.abc import Iterator
from typing import Final

import click

from ..contracts import wire
from ..contracts.errors import TocsinError
from ..contracts.status import LaneStatus, Status
from ..edges.server.client import Client
from ..edges.server.directory import living, who_is_here
from ..edges.server.runtime import Holder, runtime_directory, socket_path
from .asking import ask_all, timeout_option, to_option
from .words import clock, for_programs, json_option, print_json, say, spoken, table, wait_until

_SOON: Final = 2.0


@click.command()
@to_option
@timeout_option
@json_option
def status(to: str | None, patience: float, as_json: bool) -> None:
    """Show each recipient's queue: how much is pending, why it waits, and until when."""
    found = [answer for answer in ask_all(to, patience, wire.AskStatus()) if isinstance(answer, wire.StatusIs)]
    if as_json:
        print_json({"recipients": [{"recipient": one.recipient, **for_programs(one.status)} for one in found]})
    else:
        say("\n\n".join(_shown(one) for one in found))


@click.command()
@timeout_option
@json_option
def recipients(patience: float, as_json: bool) -> None:
    """List the recipients that are here; * marks the one we run inside."""
    here = [(holder, _welcome(holder, patience)) for holder in living(runtime_directory())]
    if as_json:
        print_json({"recipients": [{**for_programs(holder), **_as_it_says(welcome)} for holder, welcome in here]})
    elif here:
        say(table(("NAME", "PID", "SINCE", "COMMAND"), [_row(holder, welcome) for holder, welcome in here]))
    else:
        click.echo(who_is_here([]), err=True)


def _welcome(holder: Holder, patience: float) -> wire.Welcome | None:
    """What the recipient says of itself; nothing if it has no time."""
    path = socket_path(runtime_directory(), holder.name)
    try:
        with Client(path, name=holder.name, patience=min(patience, _SOON)) as client:
            answer = client.ask(wire.Hello(token=os.environ.get("TOCSIN_DELIVERY_TOKEN", "")))
    except TocsinError:
        return None
    return answer if isinstance(answer, wire.Welcome) else None


def _as_it_says(welcome: wire.Welcome | None) -> dict[str, object]:
    if welcome is None:
        return {"answers": False}
    return {"answers": True, "version": welcome.version, "inside": welcome.dispatched}


def _row(holder: Holder, welcome: wire.Welcome | None) -> tuple[str, ...]:
    mark = "*" if welcome and welcome.dispatched else ""
    silent = "" if welcome else " (does not answer)"
    return f"{holder.name}{mark}", str(holder.pid), clock(holder.since)[:8], " ".join(holder.command) + silent


def _shown(answer: wire.StatusIs) -> str:
    status = answer.status
    lines = [table(("RECIPIENT", "PENDING", "WAITS FOR", "UNTIL", "NOW", "DELIVERED", "DROPPED"), _lanes(status))]
    lines += list(_notes(status))
    return "\n".join(lines)


def _lanes(status: Status) -> Iterator[tuple[str, ...]]:
    for lane in status.lanes:
        yield (
            lane.name,
            str(lane.depth),
            _waits_for(lane),
            wait_until(lane.until, status.at) if lane.depth else "",
            lane.recipient,
            str(lane.delivered),
            str(lane.dropped),
        )


def _waits_for(lane: LaneStatus) -> str:
    if lane.under_way:
        return f"the sink, which writes {lane.under_way}"
    return spoken(lane.waits_for) if lane.depth else ""


def _notes(status: Status) -> Iterator[str]:
    """What the table has no column for."""
    parts = [f"fed {status.fed}", f"delivered {status.delivered}", f"folded {status.folded}"]
    parts += [f"{spoken(verdict)} {number}" for verdict, number in sorted(status.dropped.items())]
    yield " · ".join([*parts, f"pending {status.pending}"])
    for lane in status.lanes:
        if suppressed := ", ".join(f"{number} {name}" for name, number in lane.suppressed.items()):
            yield f"{lane.name}: suppressed since the last block: {suppressed}"
    if scopes := ", ".join(f"{scope} {spoken(mode)}" for scope, mode in sorted(status.scopes.items()) if mode != "healthy"):
        yield f"scopes: {scopes}"
    if status.dead_letters:
        yield f"dead letters: {status.dead_letters}, see `tocsin letters`"
    if status.broken:
        yield f"the line gave up: {status.broken.splitlines()[0]}"

"""``tocsin inbox``: deliveries for a recipient that fetches them itself, with a cursor that it acknowledges."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ..contracts.deliveries import Delivery
from ..contracts.errors import BadInput, NameTaken, RecipientDead, TimeLimit
from ..contracts.recipients import Recipient
from ..edges.records import Mailbox, Records
from .stored import complete_known, known, line_on, list_options, reading, show_list, store_option
from .words import complain, for_programs, json_option, print_json, say

if TYPE_CHECKING:
    from ..app import Tocsin

POLLED_EVERY: Final = 0.2
"""Seconds between two looks of ``--wait``."""
TRIED_EVERY: Final = 2.0
"""Seconds between two attempts to bring in what is kept back: an attempt opens a whole line."""

LONGEST_BRING: Final = 10.0
"""Seconds after which a pull prints what it has, though more keeps coming."""


def _as_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--as",
        "name",
        metavar="NAME",
        envvar="TOCSIN_RECIPIENT",
        shell_complete=complete_known,
        help="Whose inbox; without it that of the recipient we run inside.",
    )(command)


@click.group()
def inbox() -> None:
    """Fetch what is for a recipient that no terminal types into, and say what was read.

    `tocsin inbox pull --as worker --wait 60` prints what is new; `tocsin inbox ack --as worker 3` says that it was read.
    """


@inbox.command()
@_as_option
@click.option("--after", metavar="CURSOR", type=click.IntRange(min=0), help="What comes behind it; by default what is unread.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="So many at most.")
@click.option("--ack", is_flag=True, help="Say at once that what is printed was read.")
@click.option("--wait", type=click.FloatRange(min=0), metavar="SECONDS", help="Wait until something is there; then exit 124.")
@store_option
@list_options
def pull(
    name: str | None,
    after: int | None,
    limit: int,
    ack: bool,
    wait: float | None,
    store: Path | None,
    as_json: bool,
    jsonl: bool,
) -> None:
    """Print what is in the inbox and not acknowledged; what waits for the recipient is brought in first.

    `tocsin inbox pull --as worker --json`. While another process delivers to it, only what is there already is read.
    """
    if as_json and jsonl:
        raise click.UsageError("--json and --jsonl do not go together")
    with reading(store) as records:
        who = _reader(records, name)
        found = _fetched(records, who, store, after, limit, wait)
        _print(who.name, found, as_json=as_json, jsonl=jsonl)
        if found and ack:  # only now: what nobody could read is not said to be read
            records.acknowledge(who.name, found[-1][0])
    if not found and not (as_json or jsonl):
        click.echo("nothing new", err=True)


@inbox.command()
@_as_option
@store_option
@json_option
@click.argument("cursor", type=click.IntRange(min=0))
def ack(name: str | None, store: Path | None, as_json: bool, cursor: int) -> None:
    """Say that everything up to CURSOR was read: it is then proved to be seen. `tocsin inbox ack --as worker 3`."""
    with reading(store) as records:
        who = _reader(records, name)
        number = records.acknowledge(who.name, cursor)
    if as_json:
        print_json({"recipient": who.name, "cursor": cursor, "read": number})
    else:
        say(f"{number} {'delivery' if number == 1 else 'deliveries'} read")


@inbox.command("list")
@store_option
@list_options
def list_(store: Path | None, as_json: bool, jsonl: bool) -> None:
    """List the inboxes: what is unread in each, and what waits to be brought in. `tocsin inbox list`."""
    with reading(store) as records:
        rows = records.mailboxes()
    head = ("RECIPIENT", "UNREAD", "ACKNOWLEDGED", "WAITING")
    show_list("inboxes", rows, _cells, head, as_json=as_json, jsonl=jsonl)


def _cells(box: Mailbox) -> tuple[str, ...]:
    return box.recipient, str(box.unread), str(box.acknowledged), str(box.waiting)


def _reader(records: Records, name: str | None) -> Recipient:
    """Who reads. Raises ``NoRecipient`` if nobody registered has that name: a slip of the pen must not make one."""
    if not name:
        raise BadInput("say with --as whose inbox is meant: TOCSIN_RECIPIENT is not set here")
    who = known(records, name)
    if who.life != "live":
        raise RecipientDead(f"{name!r} is archived; `tocsin recipients register {name}` brings it back")
    return who


def _fetched(
    records: Records, who: Recipient, store: Path | None, after: int | None, limit: int, wait: float | None
) -> list[tuple[int, Delivery]]:
    """What is there, brought in first; with ``wait``, as soon as there is any. Raises ``TimeLimit``."""
    end, next_try = time.monotonic() + (wait or 0.0), 0.0
    while True:
        if records.waiting(who.name) and time.monotonic() >= next_try:
            bring(store, who)
            next_try = time.monotonic() + TRIED_EVERY
        found = records.pull(who.name, after=after, limit=limit)
        if found or wait is None:
            return found
        left = end - time.monotonic()
        if left <= 0:
            raise TimeLimit(f"nothing came for {who.name!r} within {wait:g} s")
        time.sleep(min(POLLED_EVERY, left))


def bring(store: Path | None, who: Recipient) -> None:
    """Deliver what waits into the inbox, by the rules of the line; if another process delivers, that one does it."""
    from ..edges.sinks.inbox import StoredInbox

    with line_on(store) as line:
        try:
            line.open_lane(who.name, StoredInbox(line.records), kind=who.kind, provider=who.provider)
        except NameTaken:
            return
        before, left, end = 0, _waiting(line, who.name), time.monotonic() + LONGEST_BRING
        # The line holds so many at a time, what it may not deliver it keeps, and a flood is not waited for.
        while left and left != before and time.monotonic() < end:
            line.drain()
            before, left = left, _waiting(line, who.name)


def _waiting(line: "Tocsin", name: str) -> int:
    """How many wait, with the next of them in the line.

    Asked twice: the first answer may be given just before what was fetched with it has come in.
    """
    line.look()
    line.records.waiting(name)
    return line.records.waiting(name)


def _print(name: str, found: list[tuple[int, Delivery]], *, as_json: bool, jsonl: bool) -> None:
    rows = [{"cursor": cursor, **for_programs(delivery)} for cursor, delivery in found]
    if as_json:
        print_json({"recipient": name, "deliveries": rows})
    elif jsonl:
        for row in rows:
            print_json(row)
    else:
        for _, delivery in found:
            say(delivery.text)
        if found:
            complain(f"that is up to cursor {found[-1][0]}")

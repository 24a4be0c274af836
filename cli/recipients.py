"""``tocsin recipients``: who is here, who is registered, and what is known of each."""

import os
from pathlib import Path
from typing import Any, Final, get_args

import click
import msgspec

from ..contracts import wire
from ..contracts.base import Instant, Record
from ..contracts.errors import StoreUnusable, TocsinError
from ..contracts.recipients import Kind, Owner, Recipient, Session
from ..contracts.waits import WaitState
from ..edges.records import Records
from ..edges.server.client import Client
from ..edges.server.directory import living, who_is_here
from ..edges.server.runtime import Holder, runtime_directory, socket_path
from .asking import timeout_option
from .stored import complete_known, if_stored, known, list_options, moment, reading, show_list, store_option, writing
from .words import complain, for_programs, json_option, plural, print_json, say, table

_SOON: Final = 2.0
KINDS: Final = get_args(Kind)


class Entry(Record, frozen=True, kw_only=True):
    """One name: who holds it now, and how it is registered."""

    name: str
    here: bool = False
    """True if a process delivers to it now."""
    pid: int | None = None
    session: str = ""
    command: tuple[str, ...] = ()
    since: Instant | None = None
    answers: bool = False
    """True if that process answers over its socket."""
    version: str = ""
    inside: bool = False
    """True if it is the one that we run inside."""
    registered: bool = False
    kind: str = ""
    provider: str = ""
    life: str = ""
    coordinator: bool = False
    registered_at: Instant | None = None
    waiting: int = 0
    """Messages in the store that have not ended."""


class _ListedByDefault(click.Group):
    """Without a subcommand it lists, with the options of ``list``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with ``list`` in front if no subcommand is."""
        if not args or (args[0].startswith("-") and args[0] not in self.get_help_option_names(ctx)):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_ListedByDefault)
def recipients() -> None:
    """List who is here and who is registered (also without `list`), register names, archive them, and look at one.

    `tocsin recipients show dev` tells whether dev is here, what waits for it and what it waits for.
    """


@recipients.command("list")
@click.option("--all", "everybody", is_flag=True, help="Those that are archived, too.")
@timeout_option
@store_option
@list_options
def list_(everybody: bool, patience: float, store: Path | None, as_json: bool, jsonl: bool) -> None:
    """List the recipients; * marks the one we run inside, a number of a process those that are here."""
    found = {holder.name: who_holds(holder, patience) for holder in living(runtime_directory())}
    try:
        with if_stored(store) as records:
            if records is not None:
                found |= {one.name: _with_record(found.get(one.name), one, records) for one in records.recipients()}
    except StoreUnusable as error:
        complain(str(error))
    rows = [entry for _, entry in sorted(found.items()) if everybody or entry.here or entry.life != "archived"]
    if rows or as_json or jsonl:
        head = ("NAME", "PID", "SINCE", "KIND", "WAITING", "COMMAND")
        show_list("recipients", rows, _cells, head, as_json=as_json, jsonl=jsonl)
    else:
        click.echo(who_is_here([]), err=True)


@recipients.command()
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), default=None, help="What it is; agent, or what it was before, if not said.")
@click.option("--provider", metavar="P", default=None, help="The program behind it, such as claude.")
@click.option("--coordinator", is_flag=True, help="Mail that can't be delivered goes to it, and it is never dead.")
@store_option
@json_option
def register(name: str, kind: Kind | None, provider: str | None, coordinator: bool, store: Path | None, as_json: bool) -> None:
    """Make NAME known, or bring it back: what is sent to it is kept until it reads it.

    `tocsin recipients register worker --kind inbox`
    """
    with writing(store) as records:
        before = records.find(name) or Recipient(name=name)
        after = msgspec.structs.replace(
            before,
            kind=kind or before.kind,
            provider=before.provider if provider is None else provider,
            coordinator=coordinator or before.coordinator,
        )
        stands = records.register(after)
    if as_json:
        print_json({"recipient": for_programs(stands)})
    else:
        say(f"{stands.name} is registered, as {stands.kind}{', the coordinator' if stands.coordinator else ''}")


@recipients.command()
@click.argument("name", shell_complete=complete_known)
@store_option
@json_option
def archive(name: str, store: Path | None, as_json: bool) -> None:
    """Declare NAME dead: a person's words to it are refused, mail goes to the coordinator.

    `tocsin recipients archive worker`; to register it again brings it back.
    """
    with reading(store) as records:
        known(records, name)
        records.archive(name)
        waiting = records.waiting(name)
    if as_json:
        print_json({"recipient": name, "life": "archived", "waiting": waiting})
    else:
        say(f"{name} is archived" + (f"; {plural(waiting, 'message')} to it had not ended" if waiting else ""))


@recipients.command()
@click.argument("name", shell_complete=complete_known)
@store_option
@json_option
def show(name: str, store: Path | None, as_json: bool) -> None:
    """Tell what is known of NAME: who delivers to it, what waits, and whether it waits itself. `tocsin recipients show dev`."""
    with reading(store) as records:
        one = known(records, name)
        owner, waits, sessions = records.living_owner(name), records.waits(name), records.sessions(name)
        waiting, unread = records.waiting(name), len(records.unread_ids(name))
    if as_json:
        print_json(
            {
                "recipient": for_programs(one),
                "here": owner is not None,
                "owner": for_programs(owner) if owner else None,
                "waiting": waiting,
                "unread": unread,
                "observable": waits is not None,
                "waits_on_human": _waits_on_human(waits),
                "waits": for_programs(waits) if waits else None,
                "sessions": [for_programs(session) for session in sessions],
            }
        )
    else:
        say("\n".join(_lines(one, owner, waits, sessions, waiting, unread)))


def _lines(
    one: Recipient, owner: Owner | None, waits: WaitState | None, sessions: list[Session], waiting: int, unread: int
) -> list[str]:
    marks = [one.kind, one.provider, "the coordinator" if one.coordinator else "", "archived" if one.life == "archived" else ""]
    lines = [
        f"{one.name}: {', '.join(mark for mark in marks if mark)}; registered {moment(one.registered_at)}",
        f"process: {f'pid {owner.pid} delivers to it' if owner else 'none, so messages wait'}",
        f"messages: {waiting} waiting, {unread} unread in its inbox",
        f"waits on a human: {_in_words(waits)}",
    ]
    if sessions:
        rows = [(s.id, str(s.pid), moment(s.started_at), moment(s.ended_at), " ".join(s.command)) for s in sessions]
        lines.append(table(("SESSION", "PID", "FROM", "TO", "COMMAND"), rows))
    return lines


def _waits_on_human(waits: WaitState | None) -> bool | None:
    """Whether it does; nobody knows of one whose hooks were never heard."""
    return None if waits is None else waits.permission or bool(waits.question)


def _in_words(waits: WaitState | None) -> str:
    if waits is None:
        return "not observable, no hook of it was ever heard"
    found = ["for a permission"] * waits.permission + [f"for an answer to {waits.question}"] * bool(waits.question)
    return f"yes, {' and '.join(found)}" if found else "no"


def who_holds(holder: Holder, patience: float) -> Entry:
    """Who holds a name, and what it says of itself; it may have no time to say anything."""
    fields: dict[str, Any] = msgspec.structs.asdict(holder)
    welcome = _welcome(holder, patience)
    if welcome is not None:
        fields |= {"answers": True, "version": welcome.version, "inside": welcome.dispatched}
    return Entry(here=True, **fields)


def _welcome(holder: Holder, patience: float) -> wire.Welcome | None:
    path = socket_path(runtime_directory(), holder.name)
    try:
        with Client(path, name=holder.name, patience=min(patience, _SOON)) as client:
            answer = client.ask(wire.Hello(token=os.environ.get("TOCSIN_DELIVERY_TOKEN", "")))
    except TocsinError:
        return None
    return answer if isinstance(answer, wire.Welcome) else None


def _with_record(seen: Entry | None, one: Recipient, records: Records) -> Entry:
    """Who was seen, with what the store says; a process without a socket is known by it alone."""
    entry = seen or Entry(name=one.name)
    owner = records.living_owner(one.name)
    return msgspec.structs.replace(
        entry,
        here=entry.here or owner is not None,
        pid=entry.pid or (owner.pid if owner else None),
        registered=True,
        kind=one.kind,
        provider=one.provider,
        life=one.life,
        coordinator=one.coordinator,
        registered_at=one.registered_at,
        waiting=records.waiting(one.name),
    )


def _cells(one: Entry) -> tuple[str, ...]:
    silent = " (does not answer)" if one.session and not one.answers else ""
    kind = "archived" if one.life == "archived" else one.kind
    pid = str(one.pid) if one.pid else ""
    since = moment(one.since)
    return f"{one.name}{'*' if one.inside else ''}", pid, since, kind, str(one.waiting), " ".join(one.command) + silent

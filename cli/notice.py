"""``tocsin notice``: what a harness has to say, once until it is re-armed, and what is on the ledger of that."""

from pathlib import Path
from typing import Any, Final

import click

from ..contracts import wire
from ..contracts.durable import Announced, Held, Rearmed
from ..contracts.errors import BadInput, Lost, NameTaken, NoRecipient
from ..contracts.severity import NAMES, SeverityName
from ..edges.server.client import Client
from ..edges.server.directory import answers
from ..edges.server.runtime import runtime_directory, socket_path
from .asking import timeout_option
from .sending import send as send_it
from .sending import sound, text_of
from .stored import (
    if_stored,
    in_short,
    line_on,
    list_options,
    moment,
    of_whom,
    reading,
    show_list,
    store_option,
    to_whom,
    writing,
)
from .words import complain, json_option, plural, print_json, say, spoken

CLEARED_WHEN: Final = ("read", "drained", "started")


def _kinds(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    from ..pipeline.notice_kinds import KINDS

    return [kind for kind in KINDS if kind.startswith(begun)]


@click.group()
def notice() -> None:
    """Send a harness's notices, re-arm them, and see which were told and which wait.

    A notice is told once for each kind and key until it is re-armed:
    `tocsin notice send --to dev --kind breaker --key steer:looping "you repeat yourself"`.
    """


@notice.command()
@to_whom
@click.option("--kind", metavar="K", required=True, shell_complete=_kinds, help="Such as heartbeat; any word will do.")
@click.option("--key", metavar="KEY", required=True, help="With the kind: which notices are the same.")
@click.option("--text", metavar="T", help="What it says, instead of TEXT.")
@click.option("--detail", metavar="T", default="", help="More lines; they do not make it another notice.")
@click.option("--urgent", is_flag=True, help="Also for a recipient that waits on a human.")
@click.option("--ctx", metavar="ID", multiple=True, help="An id that its condition depends on. Repeatable.")
@click.option("--cleared-when", type=click.Choice(CLEARED_WHEN), default=None, help="The evidence that re-arms it.")
@click.option("--severity", type=click.Choice(NAMES), default="warning", show_default=True, help="How bad it is.")
@click.option(
    "--id", "notice_id", metavar="ID", default="", help="Your id: sent again with the same one, it is not added again."
)
@store_option
@json_option
@click.argument("words", metavar="[TEXT]...", nargs=-1)
def send(
    to: str,
    kind: str,
    key: str,
    text: str | None,
    detail: str,
    urgent: bool,
    ctx: tuple[str, ...],
    cleared_when: str | None,
    severity: SeverityName,
    notice_id: str,
    store: Path | None,
    as_json: bool,
    words: tuple[str, ...],
) -> None:
    """Commit a notice of TEXT (- for standard input) and print its id.

    `tocsin notice send --to dev --kind worker --key preserved:w1 --ctx w1 "the tree of w1 was kept"`
    """
    from ..pipeline.notice_kinds import plain

    if not kind or not key or ":" in kind:
        raise BadInput("a notice has a kind, without a colon, and a key: together they say which notices are the same")
    event = plain(
        sound(kind),
        sound(key),
        to=sound(to),
        text=text_of(words, text),
        ctx=tuple(map(sound, ctx)),
        urgent=urgent or None,
        cleared_when=cleared_when,
    )
    more: dict[str, Any] = {"severity": severity, "detail": sound(detail), "id": sound(notice_id)}
    send_it(store, to, lambda line: line.feed(event, **more), as_json=as_json)


@notice.command()
@to_whom
@click.option("--kind", metavar="K", default="", shell_complete=_kinds, help="Only notices of this kind.")
@click.option("--signature", "signatures", metavar="KIND:KEY", multiple=True, help="Only this one. Repeatable.")
@click.option("--ctx", metavar="ID", multiple=True, help="An id that is gone: what depends only on such ids. Repeatable.")
@timeout_option
@store_option
@json_option
def rearm(
    to: str,
    kind: str,
    signatures: tuple[str, ...],
    ctx: tuple[str, ...],
    patience: float,
    store: Path | None,
    as_json: bool,
) -> None:
    """Say that conditions are over: their notices may be told again, and those that still wait are not told at all.

    `tocsin notice rearm --to dev --kind worker --ctx w1`; without --kind, --signature and --ctx, all of R's. The process that
    delivers to R from that store is asked; if there is none, the store itself is put right.
    """
    found = _rearmed(store, to, patience, wire.Rearm(kind=kind, signatures=signatures, ctx=ctx))
    if as_json:
        print_json({"recipient": to, "delivered": found.delivered, "held": found.held})
    else:
        told, held = plural(found.delivered, "notice"), plural(found.held, "notice")
        say(f"{told} may be told again; {held} that waited will not be told")


def _rearmed(store: Path | None, to: str, patience: float, request: wire.Rearm) -> Rearmed:
    """By whoever delivers to it from the store that is meant; if nobody does, in the store itself."""
    with if_stored(store) as records:
        owner, meant = (records.living_owner(to), records.path) if records else (None, "")
    if owner is not None and not owner.socket:
        raise NameTaken(
            f"a program (pid {owner.pid}) delivers to {to!r}, and can't be asked from outside: "
            "let it call its own Tocsin.rearm, or end it and try again"
        )
    path = Path(owner.socket) if owner is not None else socket_path(runtime_directory(), to)
    if owner is None and (store is not None or not answers(path)):
        return _in_the_store(store, to, request)
    if owner is None and meant:
        complain(f"the process of {to!r} does not work with {meant}: it was asked about what it has told by itself")
    return _by_its_process(path, to, patience, request)


def _by_its_process(path: Path, to: str, patience: float, request: wire.Rearm) -> Rearmed:
    """The process that delivers to it knows what is under way."""
    with Client(path, name=to, patience=patience) as client:
        answer = client.ask(request)
    if not isinstance(answer, wire.RearmedIs):
        raise Lost(f"{to!r} answered something else than what was asked")
    return Rearmed(delivered=answer.delivered, held=answer.held)


def _in_the_store(store: Path | None, to: str, request: wire.Rearm) -> Rearmed:
    from ..edges.rearming import matcher

    with writing(store) as records:
        if records.find(to) is None and to not in records.on_the_ledger():
            raise NoRecipient(f"nobody called {to!r} is registered, and nothing was ever told to that name")
    with line_on(store) as line:
        return line.rearm(to, request.kind, matcher(request.signatures, request.ctx))


@notice.command()
@of_whom
@store_option
@list_options
def held(to: str | None, store: Path | None, as_json: bool, jsonl: bool) -> None:
    """List the notices that wait, as they were built: `tocsin notice held --to dev`."""
    with reading(store) as records:
        rows = records.held(to)
    show_list("held", rows, held_cells, ("FOR", "SIGNATURE", "ID", "SINCE", "WHY", "WHAT"), as_json=as_json, jsonl=jsonl)


@notice.command()
@of_whom
@store_option
@list_options
def delivered(to: str | None, store: Path | None, as_json: bool, jsonl: bool) -> None:
    """List what was told and is not re-armed: it is not told again. `tocsin notice delivered --to dev`."""
    with reading(store) as records:
        rows = [one for name in ([to] if to else records.on_the_ledger()) for one in records.told(name)]
    head = ("FOR", "SIGNATURE", "TOLD", "DEPENDS ON", "CLEARED WHEN")
    show_list("delivered", rows, told_cells, head, as_json=as_json, jsonl=jsonl)


def held_cells(one: Held) -> tuple[str, ...]:
    """A row for a notice that waits."""
    return one.recipient, one.signature, one.id, moment(one.at), spoken(one.reason), in_short(one.event.text)


def told_cells(one: Announced) -> tuple[str, ...]:
    """A row for one that was told."""
    return one.recipient, one.signature, moment(one.at), " ".join(one.ctx), one.cleared_when

"""``tocsin attention source``: who may ask, for which work, and how answers return; and how that is ended."""

from pathlib import Path

import click
import msgspec

from ...contracts.attention import SCHEMA_VERSION, Revocation
from ...contracts.attention_commands import SourceRevoke
from ...contracts.attention_items import PAGE, PAGE_MOST, Source
from ...contracts.errors import UnknownSource
from ..sending import sound
from ..stored import store_option
from ..words import json_option, print_json, say, spoken, table
from .answers import nothing, page_note
from .carrying import carry_out
from .deciding import reason_option
from .looking import paged
from .moments import locally
from .opening import Queue, must_be_there, queue_at


@click.group()
def source() -> None:
    """List, show and revoke the sources that may ask."""


@source.command("list")
@click.option("--after", metavar="SOURCE", default="", help="Only what comes behind this one.")
@click.option("--limit", type=click.IntRange(1, PAGE_MOST), default=PAGE, show_default=True, help="So many at most.")
@store_option
@json_option
def list_(after: str, limit: int, store: Path | None, as_json: bool) -> None:
    """List every source, also the revoked, and whether an answer could go to it now, in the words of `doctor`."""
    must_be_there(store)
    with queue_at(store) as queue:
        page = queue.desk.sources(after=sound(after), limit=limit)
        obstacles = queue.desk.obstacles(page.sources) if page.sources else {}
    if as_json:
        print_json({**msgspec.to_builtins(page), "obstacles": obstacles})
        return
    if page.sources:
        rows = [_cells(one, obstacles[one.source_id]) for one in page.sources]
        say(table(("SOURCE", "ACTOR", "PROJECT", "WORK", "RETURN", "STATE"), rows))
    else:
        nothing("sources")
    page_note(page.after, "tocsin attention source list", *paged(limit, store))


@source.command()
@click.argument("source_id", metavar="SOURCE")
@store_option
@json_option
def show(source_id: str, store: Path | None, as_json: bool) -> None:
    """Show one source: who it is, on whose word, and where answers go. Its secret is in no output."""
    must_be_there(store)
    with queue_at(store) as queue:
        found = queue.desk.source(sound(source_id))
    if found is None:
        raise UnknownSource(f"there is no source {source_id}")
    if as_json:
        print_json({"source": found})
    else:
        say("\n".join(_lines(found)))


@source.command()
@click.argument("source_id", metavar="SOURCE")
@reason_option
@store_option
@json_option
@click.pass_context
def revoke(ctx: click.Context, source_id: str, reason: str, store: Path | None, as_json: bool) -> None:
    """End a source: it may ask for nothing more. What it asked stays, and so do answers that are on their way."""

    def build(_: Queue, command_id: str) -> SourceRevoke:
        payload = Revocation(source_id=sound(source_id), reason=sound(reason))
        return SourceRevoke(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    ctx.exit(carry_out(store, None, build, as_json=as_json))


def _cells(one: Source, obstacle: str) -> tuple[str, ...]:
    state = f"revoked {locally(one.revoked_at)}" if one.revoked_at else spoken(obstacle) or "good"
    return one.source_id, one.actor, one.project_id, one.work_id, one.return_mode, state


def _lines(one: Source) -> list[str]:
    fields = {name: value for name, value in msgspec.structs.asdict(one).items() if value not in ("", None)}
    return [f"{spoken(name)}: {value}" for name, value in fields.items()]

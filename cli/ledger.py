"""``tocsin ledger``: which harness notices were told or wait, and that record as a file, out and in."""

import sys
from pathlib import Path
from typing import Final

import click

from ..edges.records import Records
from .notice import held_cells, told_cells
from .stored import of_whom, reading, store_option, writing
from .words import complain, for_programs, json_option, plural, print_json, say, table

STDIO: Final = "-"


@click.group()
def ledger() -> None:
    """See, save and load the record of harness notices: `tocsin ledger export notice-ledger.json`."""


@ledger.command()
@of_whom
@store_option
@json_option
def show(to: str | None, store: Path | None, as_json: bool) -> None:
    """Show what was told and is not re-armed, and what waits: `tocsin ledger show --to dev`."""
    with reading(store) as records:
        told = [one for name in ([to] if to else records.on_the_ledger()) for one in records.told(name)]
        held = records.held(to)
    if as_json:
        print_json({"delivered": [for_programs(one) for one in told], "held": [for_programs(one) for one in held]})
        return
    parts = []
    if told:
        parts.append(table(("FOR", "TOLD", "WHEN", "DEPENDS ON", "CLEARED WHEN"), map(told_cells, told)))
    if held:
        parts.append(table(("FOR", "WAITS", "ID", "SINCE", "WHY", "WHAT"), map(held_cells, held)))
    if parts:
        say("\n\n".join(parts))
    else:
        click.echo("nothing on the ledger", err=True)


@ledger.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@store_option
@json_option
def export(file: str | None, store: Path | None, as_json: bool) -> None:
    """Write the ledger as notice-ledger.json, version 1, into FILE, whole or not at all; without FILE to standard output.

    `tocsin ledger export notice-ledger.json`
    """
    if as_json and file in (None, STDIO):
        raise click.UsageError("--json tells what was written into FILE; without FILE the ledger, which is JSON, is printed")
    with reading(store) as records:
        if file in (None, STDIO):
            sys.stdout.flush()
            sys.stdout.buffer.write(records.export_ledger())
            return
        path = Path(str(file)).absolute()
        records.export_ledger(path)
        told, held = _counts(records)
    if as_json:
        print_json({"file": str(path), "delivered": told, "held": held})
    else:
        complain(f"{path}: {told} told and {held} held")


def _counts(records: Records) -> tuple[int, int]:
    return sum(len(records.told(name)) for name in records.on_the_ledger()), len(records.held())


@ledger.command("import")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@store_option
@json_option
def import_(file: str, store: Path | None, as_json: bool) -> None:
    """Take in a notice-ledger.json (- for standard input): what it says was told is not told again, what it holds waits.

    `tocsin ledger import notice-ledger.json`. A file that can't be understood changes nothing.
    """
    data = sys.stdin.buffer.read() if file == STDIO else Path(file).read_bytes()
    with writing(store) as records:
        told, held = records.import_ledger(data)
        busy = [name for name in records.on_the_ledger() if records.living_owner(name) is not None]
    if as_json:
        print_json({"delivered": told, "held": held, "here": busy})
        return
    say(f"{plural(told, 'notice')} told and {held} held taken in")
    if told and busy:
        complain(f"{', '.join(busy)} was started before and learns what it was told when it is started again")

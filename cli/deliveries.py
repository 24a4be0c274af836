"""``tocsin deliveries``: what was handed over, to the letter, and how far each is proved to have come."""

from pathlib import Path

import click

from ..contracts.durable import Block, Stored
from ..contracts.errors import NotFound
from ..edges.records import Records
from .remembered import laddered, plain_block
from .stored import in_short, list_options, moment, of_whom, reading, show_list, store_option
from .words import for_programs, json_option, print_json, say, spoken, table


@click.group()
def deliveries() -> None:
    """See the blocks that were handed to recipients: `tocsin deliveries list --to dev`."""


@deliveries.command("list")
@of_whom
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="So many at most.")
@store_option
@list_options
def list_(to: str | None, limit: int, store: Path | None, as_json: bool, jsonl: bool) -> None:
    """List deliveries, the last one first: `tocsin deliveries list --to dev`."""
    with reading(store) as records:
        rows = records.deliveries(to=to, limit=limit)
    head = ("ID", "FOR", "WHEN", "STATE", "ATTEMPT", "PROVED", "WHAT")
    show_list("deliveries", rows, _cells, head, as_json=as_json, jsonl=jsonl)


@deliveries.command()
@click.argument("what", metavar="ID")
@store_option
@json_option
def show(what: str, store: Path | None, as_json: bool) -> None:
    """Show one delivery, by its id or that of a message in it: its text, its messages, and what is proved of it.

    `tocsin deliveries show d-8ad2240b6df5870f --json`
    """
    with reading(store) as records:
        block = _block(records, what)
        held, ladder = _messages_of(records, block), tuple(records.proofs(block.id))
    if as_json:
        print_json({**plain_block(block, ladder), "messages": [for_programs(one) for one in held]})
    else:
        rows = [(one.id, one.traffic, str(one.state), str(one.attempts), spoken(one.reason)) for one in held]
        messages = table(("MESSAGE", "CLASS", "STATE", "ATTEMPTS", "WHY"), rows)
        say("\n\n".join((block.text, messages, laddered(block, ladder))))


def _messages_of(records: Records, block: Block) -> list[Stored]:
    """The durable messages in a block, as they now stand."""
    return [one for id in block.notices for one in records.message(id) if one.recipient == block.recipient]


def _block(records: Records, what: str) -> Block:
    """The delivery of that id, or one that holds the message of that id."""
    ids = (what, *(one.delivery for one in records.message(what) if one.delivery))
    found = next((block for id in ids if (block := records.block(id)) is not None), None)
    if found is None:
        raise NotFound(
            f"no delivery {what!r} is on record, and none that holds a message of that id; see `tocsin deliveries list`"
        )
    return found


def _cells(one: Block) -> tuple[str, ...]:
    proof = str(one.proof) if one.proof else ""
    return one.id, one.recipient, moment(one.at), str(one.state), str(one.attempt), proof, in_short(one.text)

"""``tocsin attention retry-command``, ``retry-return``, ``reroute-return``: repairs that do nothing twice."""

from pathlib import Path
from typing import Any

import click

from ...contracts.attention import SCHEMA_VERSION, ReturnReroute, ReturnRetry
from ...contracts.attention_commands import RerouteReturn, RetryReturn
from ..sending import sound
from ..stored import store_option
from ..words import json_option
from .carrying import Build, carried, send_again
from .deciding import reason_option, revision_option, shown_revision
from .opening import Queue, item_argument

generation_option = click.option(
    "--return-generation",
    "generation",
    type=click.IntRange(min=1),
    metavar="N",
    required=True,
    help="The generation that you looked at: `show` says it.",
)


@click.command("retry-command")
@click.argument("command_id", metavar="ID")
@store_option
@json_option
@click.pass_context
def retry_command(ctx: click.Context, command_id: str, store: Path | None, as_json: bool) -> None:
    """Send a command of yours again, to the letter, under its own id: what was done is told, what was not is done now.

    `tocsin attention retry-command 8ba99410-c894-4632-aea6-b33a06a6b015`
    """
    ctx.exit(send_again(store, command_id, as_json=as_json))


@click.command("retry-return")
@item_argument(required=True)
@generation_option
@revision_option
@carried
def retry_return(item_id: int, generation: int, revision: int | None) -> Build:
    """Send an answer again that did not arrive. One that is under way, or has arrived, is not sent a second time."""

    def build(queue: Queue, command_id: str) -> RetryReturn:
        payload = ReturnRetry(**_seen(queue, item_id, revision), return_generation=generation)
        return RetryReturn(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    return build


@click.command("reroute-return")
@item_argument(required=True)
@generation_option
@click.option("--source", "source_id", metavar="SOURCE", required=True, help="Where it goes instead: see `source list`.")
@reason_option
@revision_option
@carried
def reroute_return(item_id: int, generation: int, source_id: str, reason: str, revision: int | None) -> Build:
    """Send an answer to another source of the same work, if it has not begun to be delivered, or has failed.

    `tocsin attention doctor` lists the answers that do not get through, each with this command in full.
    """

    def build(queue: Queue, command_id: str) -> RerouteReturn:
        seen = {**_seen(queue, item_id, revision), "source_id": sound(source_id), "reason": sound(reason)}
        payload = ReturnReroute(**seen, return_generation=generation)
        return RerouteReturn(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    return build


def _seen(queue: Queue, item_id: int, revision: int | None) -> dict[str, Any]:
    return {"item_id": item_id, "expected_revision": revision or shown_revision(queue, item_id)}

"""``tocsin attention next``, ``add`` and ``start``: what the person takes, and work of their own."""

from typing import Any, Final

import click
import msgspec

from ...contracts.attention import SCHEMA_VERSION, Addition, Taking
from ...contracts.attention_commands import Add, Next, Start
from ...contracts.errors import BadInput
from ...edges.attention.evidence import edge_name
from ...pipeline.inert import inert
from .carrying import Build, carried
from .faults import Invalid, in_words
from .opening import Queue, item_argument
from .packets import content, fields_of, packet_options

BY_HAND: Final = {"kind": "human_work", "context": "Your own work, noted by hand.", "unblocks": "The next step of your own."}
"""What stands in a person's own packet where they said nothing."""


@click.command("next")
@item_argument(required=False)
@carried
def next_(item_id: int | None) -> Build:
    """Take the next item and show it. If one is yours already, it is shown again, whatever ID says.

    `tocsin attention next` takes the one that waits longest; `tocsin attention next 51` that one.
    """

    def build(queue: Queue, command_id: str) -> Next:
        payload = Taking(human_id=queue.human, item_id=item_id)
        return Next(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    return build


@click.command()
@packet_options
@click.option("--return-to", "source_id", metavar="SOURCE", help="The source that is told the answer: see `source list`.")
@carried
def add(**options: Any) -> Build:
    """Queue work of your own: `tocsin attention add --project grants --title "Write the abstract" --minutes 30`."""

    def build(queue: Queue, command_id: str) -> Add:
        return Add(schema_version=SCHEMA_VERSION, command_id=command_id, payload=_addition(queue, options, command_id))

    return build


@click.command()
@packet_options
@click.option("--return-to", "source_id", metavar="SOURCE", help="The source that is told the answer: see `source list`.")
@carried
def start(**options: Any) -> Build:
    """Record work of your own that you have begun: `tocsin attention start --project site --title Design`.

    It is then what you have. Refused while another item is active. What agents ask meanwhile waits.
    """

    def build(queue: Queue, command_id: str) -> Start:
        return Start(schema_version=SCHEMA_VERSION, command_id=command_id, payload=_addition(queue, options, command_id))

    return build


def _addition(queue: Queue, options: dict[str, Any], command_id: str) -> Addition:
    """The packet as it was given. A person's own words need no key: each time is a round of its own, unless they say one."""
    given = content(options, edge_name())
    fields = fields_of(given) if isinstance(given, bytes) else _by_hand(given, command_id)
    if options["source_id"] is not None:
        fields["source_id"] = options["source_id"]
    try:
        return msgspec.convert({"human_id": queue.human, **fields}, Addition)
    except msgspec.ValidationError as error:
        raise Invalid(f"the packet can't be taken: {in_words(str(error), from_file=isinstance(given, bytes))}") from error


def _by_hand(fields: dict[str, Any], command_id: str) -> dict[str, Any]:
    missing = [f"--{name}" for name, field in (("project", "project_id"), ("title", "title")) if field not in fields]
    if missing:
        raise BadInput(f"{' and '.join(missing)} must be said, or the whole packet with --file")
    # A key says that it is the same round though its words change, so the work may not hang on these.
    named = fields.get("intervention_key", fields["title"])
    work = " ".join(inert(named).split())  # a work's name is one line, whatever a title is
    own = {"work_id": work or named, "requested_action": fields["title"], "intervention_key": f"by-hand-{command_id}"}
    return {**BY_HAND, **own, **fields}

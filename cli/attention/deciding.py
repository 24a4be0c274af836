"""``tocsin attention resolve``, ``defer``, ``cancel``, ``requeue``: what the person decides about an item they have read."""

import sys
from pathlib import Path
from typing import Any, get_args

import click

from ...contracts.attention import SCHEMA_VERSION, Because, Cancellation, Choice, Deferral, Resolution
from ...contracts.attention_commands import Cancel, Command, Defer, Requeue, Resolve
from ...contracts.attention_items import Item
from ...contracts.attention_time import instant
from ...contracts.errors import BadInput, UnknownItem
from ...pipeline.attention_brief import whole
from ..sending import sound, text_of
from .carrying import Build, carried, carry_out
from .moments import locally
from .moments import until as moment_of
from .opening import Queue, item_argument, queue_options

revision_option = click.option(
    "--expected-revision",
    "revision",
    type=click.IntRange(min=1),
    metavar="N",
    help="The revision that you decide about; by default the one that you were shown last.",
)
next_option = click.option("--next", "select_next", is_flag=True, help="Take the next item in the same step.")
reason_option = click.option("--reason", metavar="WHY", required=True, help="Kept with the item.")


@click.command()
@item_argument(required=False)
@click.option("--outcome", type=click.Choice(get_args(Choice)), default="answered", show_default=True, help="What it comes to.")
@click.option("--response", metavar="TEXT", help="The answer; - is standard input. Without it your editor opens.")
@revision_option
@next_option
@queue_options
@click.pass_context
def resolve(
    ctx: click.Context,
    item_id: int | None,
    outcome: Choice,
    response: str | None,
    revision: int | None,
    select_next: bool,
    human: str | None,
    store: Path | None,
    as_json: bool,
) -> None:
    """Answer the active item. The answer is stored before this ends, and goes back to who asked.

    `tocsin attention resolve --outcome selected --response "Use candidate C." --next`
    """

    def build(queue: Queue, command_id: str) -> Resolve:
        said = _said(response, as_json=as_json)
        answer = _written(queue, item_id, revision) if said is None else _told(queue, item_id, revision, said)
        payload = Resolution(**answer, outcome=outcome, select_next=select_next)
        return Resolve(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    ctx.exit(carry_out(store, human, build, as_json=as_json))


@click.command()
@item_argument(required=False)
@click.option(
    "--until",
    "when",
    metavar="WHEN",
    required=True,
    help='30m, 2h, 3d, 1w, 9:00, tomorrow, "monday 14:00", ISO 8601, indefinitely.',
)
@reason_option
@revision_option
@next_option
@carried
def defer(item_id: int | None, when: str, reason: str, revision: int | None, select_next: bool) -> Build:
    """Put the active item (or item ID) off. When its moment has come it joins the end of the line.

    `tocsin attention defer --until "tomorrow 9:00" --reason "needs tomorrow's input" --next`
    """

    def build(queue: Queue, command_id: str) -> Defer:
        at = moment_of(when, queue.clock.now())
        which = _which(queue, item_id, revision)
        payload = Deferral(**which, reason=sound(reason), until=at, select_next=select_next)
        return Defer(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    return build


@click.command()
@item_argument(required=False)
@reason_option
@revision_option
@next_option
@carried
def cancel(item_id: int | None, reason: str, revision: int | None, select_next: bool) -> Build:
    """Give up the active item (or item ID). It stays on record; nobody is told to do anything."""

    def build(queue: Queue, command_id: str) -> Cancel:
        which = _which(queue, item_id, revision)
        payload = Cancellation(**which, reason=sound(reason), select_next=select_next)
        return Cancel(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    return build


@click.command()
@item_argument(required=True)
@reason_option
@revision_option
@carried
def requeue(item_id: int, reason: str, revision: int | None) -> Build:
    """Let a deferred item wait in the line again, at its end: `tocsin attention requeue 51 --reason "the input is here"`."""

    def build(queue: Queue, command_id: str) -> Command:
        payload = Because(**_which(queue, item_id, revision), reason=sound(reason))
        return Requeue(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    return build


def _which(queue: Queue, item_id: int | None, revision: int | None) -> dict[str, Any]:
    """The item and the revision that are meant. About what was not shown to the person, nothing is guessed."""
    meant = item_id or _active_shown(queue)
    return {"item_id": meant, "expected_revision": revision or shown_revision(queue, meant)}


def _told(queue: Queue, item_id: int | None, revision: int | None, response: str) -> dict[str, Any]:
    return {**_which(queue, item_id, revision), "response": response}


def _active_shown(queue: Queue) -> int:
    """The item that the person has, if this terminal showed it last. Raises ``UnknownItem``, or ``BadInput`` with what to do.

    What was taken in another terminal must not get the answer to what stands here, or to nothing that stands here.
    """
    found = _active(queue)
    if queue.seen.active_here() is None:
        raise BadInput(
            f"ATN-{found.item_id} is active, and this terminal has not shown it: look first (`tocsin attention next`), "
            f"or name the item and its revision, as in {found.item_id} --expected-revision {found.revision}"
        )
    return found.item_id


def _active(queue: Queue) -> Item:
    """The item that the person has. Raises ``UnknownItem`` if they have none, ``BadInput`` if this terminal shows another."""
    found = queue.desk.active(queue.human)
    if found is None:
        raise UnknownItem("no item is active: `tocsin attention next` takes one, or say which item is meant")
    if queue.seen.active_here() not in (None, found.item_id):
        here = f"ATN-{queue.seen.active_here()}, which this terminal showed last"
        raise BadInput(
            f"ATN-{found.item_id} is active now, and not {here}: `tocsin attention next` shows it, or say which item is meant"
        )
    return found


def shown_revision(queue: Queue, item_id: int) -> int:
    """The revision that this terminal showed last. Raises ``BadInput`` with how to see it."""
    found = queue.seen.revision(item_id)
    if found is None:
        raise BadInput(
            f"this terminal has not shown ATN-{item_id} (as JSON or through a pipe does not count): "
            f"`tocsin attention show {item_id}` does, or say --expected-revision"
        )
    return found


def _said(response: str | None, *, as_json: bool) -> str | None:
    """The answer that was given with the command; none if it is to be written in an editor."""
    if response is not None:
        return text_of(("-",)) if response == "-" else sound(response)
    if as_json or not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()):
        raise BadInput("say the answer with --response TEXT, or --response - for what is on standard input")
    return None


def _written(queue: Queue, item_id: int | None, revision: int | None) -> dict[str, Any]:
    """What the person writes in their editor, about the item as it is shown there."""
    meant = item_id or _active(queue).item_id
    shown = queue.desk.item(meant)
    if shown is None:
        raise UnknownItem(f"there is no item {meant}")
    queue.note_shown(shown.item)
    text = queue.draft(meant).write(whole(shown.item, as_of=instant(shown.as_of), obstacle=shown.obstacle, moment=locally))
    return {"item_id": meant, "expected_revision": revision or shown.item.revision, "response": text}

"""Answers: what a command came to, for programs as one JSON object, for people in words, with the item that is theirs now."""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from ...contracts.attention_answers import Code, Receipt, Refusal, Result, numbers
from ...contracts.attention_commands import Command, Defer, Next
from ...contracts.attention_facts import Policy
from ...contracts.attention_items import Phase, Route
from ...contracts.attention_pages import Shown
from ...contracts.attention_time import instant
from ...pipeline.attention_brief import brief
from ...pipeline.attention_ways import how_far, way
from ...pipeline.attention_ways import in_words as obstacle_in_words
from ..words import complain, one_line, print_json, say
from .moments import locally

if TYPE_CHECKING:
    from .opening import Queue

_DONE: Final[dict[Result, str]] = {
    Result.CREATED: "queued, revision {revision}",
    Result.EXISTING: "is there already ({state}, revision {revision}); nothing was added",
    Result.EXISTING_AMENDED: "is there already and was amended since ({state}, revision {revision}); nothing was added",
    Result.AMENDED: "amended, now revision {revision}; its place stays",
    Result.UNCHANGED: "says that already, revision {revision}",
    Result.WITHDRAWN: "withdrawn",
    Result.RESOLVED: "resolved",
    Result.DEFERRED: "deferred",
    Result.REQUEUED: "waits again, behind all that wait",
    Result.CANCELLED: "cancelled; nobody is told to do anything",
    Result.RETURN_RETRIED: "its answer is sent again",
    Result.RETURN_ACTIVE: "its answer is under way already; nothing was sent a second time",
    Result.RETURN_REROUTED: "its answer goes another way",
}
"""What is said of the item, behind its name."""
_OF_SOURCES: Final[dict[Result, str]] = {
    Result.BOUND: "source {source_id} is bound",
    Result.REVOKED: "source {source_id} is revoked: it may ask for nothing more",
    Result.ALREADY_REVOKED: "source {source_id} was revoked before",
}
_SELECTIONS: Final = (Result.STARTED, Result.CLAIMED, Result.ALREADY_ACTIVE, Result.EMPTY)

STANDARD: Final = Policy().human_id
"""Whose queue it is where nobody has said so: it needs no name."""
TURN_ON: Final = (
    "the attention queue is switched off (attention.enabled{origin}): it can be read and takes no command. Turn it on with\n"
    "[attention]\nenabled = true\nin .tocsin.toml or your own configuration, or for one command with "
    "TOCSIN_ATTENTION__ENABLED=true"
)


def tell(answer: Receipt | Refusal, command: Command | None, *, as_json: bool, queue: "Queue | None" = None) -> int:
    """Say it, and give the exit code. Refusals go to stderr, but for programs, whose one object is always on stdout.

    ``queue`` is asked how things stand now, as a receipt says how they were when it was made. If it can't be written, what was
    done is said on stderr in short, and ``OSError`` raised.
    """
    try:
        _print(answer, command, queue, as_json=as_json)
    except OSError as error:
        if isinstance(answer, Receipt) and not isinstance(error, BrokenPipeError):
            for line in in_short(answer, command, queue):
                complain(line)
        raise
    return numbers(answer).exit


def _print(answer: Receipt | Refusal, command: Command | None, queue: "Queue | None", *, as_json: bool) -> None:
    if as_json:
        print_json(failure(answer) if isinstance(answer, Refusal) else answer)
    elif isinstance(answer, Refusal):
        for line in _of_refusal(answer, command):
            complain(line)
    else:
        for line in in_words(answer, command, queue):
            say(line)
        for line in _remarks(answer, queue):
            complain(line)


def failure(refusal: Refusal) -> dict[str, Any]:
    """A refusal in the one shape in which every failure is told to programs, with what it says beyond that."""
    said = {name: value for name, value in msgspec.to_builtins(refusal).items() if value not in (None, "")}
    said.pop("schema_version")
    return {"error": {"code": said.pop("code"), "text": said.pop("message"), "retryable": refusal.retryable, **said}}


def switched_on(answer: Receipt | Refusal, origin: str) -> Receipt | Refusal:
    """The same; if the queue is off, with how it is turned on. ``origin``: where it was turned off."""
    if isinstance(answer, Refusal) and answer.code is Code.DISABLED:
        return msgspec.structs.replace(answer, message=TURN_ON.format(origin=f", by {origin}" if origin else ""))
    return answer


def in_words(receipt: Receipt, command: Command | None, queue: "Queue | None" = None) -> Iterator[str]:
    """What was done, and then the item that the person has now, if that was asked for. What is not as asked comes first."""
    yield from _caveats(receipt, command)
    yield from _done(receipt, command, queue)
    if receipt.active is not None:
        yield from _between(receipt)
        stands = _stands(queue, receipt.active.item_id)
        obstacle = stands.obstacle if stands else ""
        yield brief(receipt.active, as_of=instant(receipt.as_of), obstacle=obstacle, moment=locally)
    elif receipt.selection is Result.EMPTY:
        yield _empty(receipt, queue)


def in_short(receipt: Receipt, command: Command | None, queue: "Queue | None" = None) -> Iterator[str]:
    """What was done, a line each, where there is no room for the item itself: its output can't be written."""
    yield from _caveats(receipt, command)
    yield from _done(receipt, command, queue)
    if receipt.active is not None:
        yield f"ATN-{receipt.active.item_id} is active now; `tocsin attention show {receipt.active.item_id}` shows it"
    elif receipt.selection is Result.EMPTY:
        yield _empty(receipt, queue)


def _done(receipt: Receipt, command: Command | None, queue: "Queue | None") -> Iterator[str]:
    known = {"revision": receipt.revision, "state": receipt.state, "source_id": receipt.source_id}
    if pattern := _OF_SOURCES.get(receipt.result):
        yield pattern.format(**known)
    if pattern := _DONE.get(receipt.result):
        yield f"ATN-{receipt.item_id} {pattern.format(**known)}{_more(receipt, command, queue)}"


def _caveats(receipt: Receipt, command: Command | None) -> Iterator[str]:
    active = receipt.active
    if receipt.replayed:
        yield f"this was carried out before ({locally(receipt.as_of)}), and what follows is the answer of that time:"
    elif receipt.selection is Result.ALREADY_ACTIVE and active is not None:
        picked = command.payload.item_id if isinstance(command, Next) else None
        if picked not in (None, active.item_id):
            yield f"ATN-{picked} was not taken: ATN-{active.item_id} is active, resolve, defer or cancel it first"


def _between(receipt: Receipt) -> Iterator[str]:
    """A line between what was done and the next brief, so that the two are not taken for one."""
    if receipt.result not in _SELECTIONS:
        yield ""


def _more(receipt: Receipt, command: Command | None, queue: "Queue | None") -> str:
    if isinstance(command, Defer):
        until = command.payload.until
        return f" until {locally(until)}" if until else " until it is requeued"
    if receipt.return_effect is None:
        return "; nobody waits for the answer" if receipt.result is Result.RESOLVED else ""
    phase, generation = receipt.return_effect.phase, receipt.return_effect.generation
    if stuck := _stuck_now(receipt, queue):
        return f"; {stuck}"
    return f"; return {phase}, generation {generation}"


def _stuck_now(receipt: Receipt, queue: "Queue | None") -> str:
    """That the answer does not get through, if that is known by now; empty if it is on its way."""
    stands = None if receipt.replayed or receipt.item_id is None else _stands(queue, receipt.item_id)
    row = stands.item.returned if stands else None
    if stands is None or row is None:
        return ""
    if row.phase is Phase.MINTED and stands.obstacle and stands.item.route:
        why = obstacle_in_words(stands.obstacle, one_line(stands.item.route.actor))
        return f"but {why}: return {how_far(row, stands.item.route, None)}"
    if row.phase not in (Phase.BLOCKED, Phase.FAILED):
        return ""
    return f"its answer is kept and not sent: return {how_far(row, stands.item.route, None)}"


def _stands(queue: "Queue | None", item_id: int) -> Shown | None:
    return queue.desk.item(item_id) if queue is not None else None


def _empty(receipt: Receipt, queue: "Queue | None") -> str:
    queued = "nothing is queued"
    if queue is not None and queue.human != STANDARD:
        queued += f" for {queue.human}"
    if not receipt.deferred:
        return queued
    due = f", the next one due {locally(receipt.next_deferred_at)}" if receipt.next_deferred_at else ", none with a date"
    return f"{queued}; {receipt.deferred} deferred{due}"


def _remarks(receipt: Receipt, queue: "Queue | None") -> Iterator[str]:
    if receipt.replayed:
        yield "`tocsin attention next` shows what is yours now, and `tocsin attention show` how an item stands"
    elif receipt.selection_reason == "explicit_pick":
        yield "picked by you; the order of the others stays"
    if receipt.result is Result.AMENDED:
        yield f"`tocsin attention show {receipt.item_id}` shows it as it is now"
    if receipt.belongs_elsewhere is not None:
        yield from _elsewhere(receipt, receipt.belongs_elsewhere)
    if _stuck_now(receipt, queue):
        yield f"`tocsin attention doctor` says how ATN-{receipt.item_id} is sent another way"


def _elsewhere(receipt: Receipt, route: Route) -> Iterator[str]:
    item, generation = receipt.item_id, receipt.return_effect.generation if receipt.return_effect else 1
    yield f"ATN-{item} belongs to another source, {receipt.source_id}: its answer goes {way(route)}"
    if route.return_mode != "actor_context":
        yield (
            "so the answer does not come here: ask again with a new --key, or have the person send it to your source "
            f"once it is resolved: `tocsin attention reroute-return {item} --return-generation {generation} --source YOURS …`"
        )


def _of_refusal(refusal: Refusal, command: Command | None) -> Iterator[str]:
    if refusal.code is Code.NOT_IN_FUTURE and isinstance(command, Defer) and command.payload.until:
        yield f"{locally(command.payload.until)} is not in the future: name a moment that is yet to come"
        return
    yield from refusal.message.split("\n")
    if refusal.code is Code.STALE_REVISION:
        yield f"`tocsin attention show {refusal.item_id}` shows it as it is now"
    elif refusal.code is Code.STALE_GENERATION:
        yield f"`tocsin attention show {refusal.item_id}` shows how far its answer is"


def page_note(after: object, command: str, *options: tuple[str, object]) -> None:
    """That a list goes on, and how: the same command with its ``options``, of which those that were not given are none."""
    if after is not None:
        given = [f" --{name} {shlex.quote(str(value))}" for name, value in options if value is not None]
        complain(f"there is more: {command}{''.join(given)} --after {after}")


def nothing(what: str) -> None:
    """That a list is empty, where no data belongs."""
    click.echo(f"no {what}", err=True)

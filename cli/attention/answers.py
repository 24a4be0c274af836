"""Answers: what a command came to, for programs as one JSON object, for people in words, with the item that is theirs now."""

from collections.abc import Iterator
from typing import Final

import click
import msgspec

from ...contracts.attention_answers import Code, Receipt, Refusal, Result, numbers
from ...contracts.attention_commands import Command, Defer
from ...contracts.attention_time import instant
from ...pipeline.attention_brief import brief
from ..words import complain, print_json, say
from .moments import locally

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

TURN_ON: Final = (
    "the attention queue is switched off (attention.enabled{origin}): it can be read and takes no command. Turn it on with\n"
    "[attention]\nenabled = true\nin .tocsin.toml or your own configuration, or for one command with "
    "TOCSIN_ATTENTION__ENABLED=true"
)


def tell(answer: Receipt | Refusal, command: Command | None, *, as_json: bool) -> int:
    """Say it, and give the exit code. Refusals go to stderr, but for programs, whose one object is always on stdout."""
    if as_json:
        print_json(answer)
    elif isinstance(answer, Refusal):
        for line in _of_refusal(answer):
            complain(line)
    else:
        for line in in_words(answer, command):
            say(line)
        for line in _remarks(answer):
            complain(line)
    return numbers(answer).exit


def switched_on(answer: Receipt | Refusal, origin: str) -> Receipt | Refusal:
    """The same; if the queue is off, with how it is turned on. ``origin``: where it was turned off."""
    if isinstance(answer, Refusal) and answer.code is Code.DISABLED:
        return msgspec.structs.replace(answer, message=TURN_ON.format(origin=f", by {origin}" if origin else ""))
    return answer


def in_words(receipt: Receipt, command: Command | None) -> Iterator[str]:
    """What was done, and then the item that the person has now, if that was asked for."""
    known = {"revision": receipt.revision, "state": receipt.state, "source_id": receipt.source_id}
    if pattern := _OF_SOURCES.get(receipt.result):
        yield pattern.format(**known)
    if pattern := _DONE.get(receipt.result):
        yield f"ATN-{receipt.item_id} {pattern.format(**known)}{_more(receipt, command)}"
    if receipt.active is not None:
        yield from _between(receipt)
        yield brief(receipt.active, as_of=instant(receipt.as_of))
    elif receipt.selection is Result.EMPTY:
        yield _empty(receipt)


def _between(receipt: Receipt) -> Iterator[str]:
    """A line between what was done and the next brief, so that the two are not taken for one."""
    if receipt.result not in _SELECTIONS:
        yield ""


def _more(receipt: Receipt, command: Command | None) -> str:
    if isinstance(command, Defer):
        until = command.payload.until
        return f" until {locally(until)}" if until else " until it is requeued"
    if receipt.return_effect is None:
        return "; nobody waits for the answer" if receipt.result is Result.RESOLVED else ""
    effect = receipt.return_effect
    return f"; return {effect.phase}, generation {effect.generation}"


def _empty(receipt: Receipt) -> str:
    if not receipt.deferred:
        return "nothing is queued"
    due = f", the next one due {locally(receipt.next_deferred_at)}" if receipt.next_deferred_at else ", none with a date"
    return f"nothing is queued; {receipt.deferred} deferred{due}"


def _remarks(receipt: Receipt) -> Iterator[str]:
    if receipt.replayed:
        yield f"this was carried out before ({locally(receipt.as_of)}); that is the answer of that time"
    elif receipt.selection is Result.ALREADY_ACTIVE and receipt.active is not None:
        yield f"ATN-{receipt.active.item_id} is active already: resolve, defer or cancel it for another"
    elif receipt.selection_reason == "explicit_pick":
        yield "picked by you; the order of the others stays"


def _of_refusal(refusal: Refusal) -> Iterator[str]:
    yield from refusal.message.split("\n")
    if refusal.code is Code.STALE_REVISION:
        yield f"`tocsin attention show {refusal.item_id}` shows it as it is now"
    elif refusal.code is Code.STALE_GENERATION:
        yield f"`tocsin attention show {refusal.item_id}` shows how far its answer is"


def page_note(after: object, command: str) -> None:
    """That a list goes on, and how."""
    if after is not None:
        complain(f"there is more: {command} --after {after}")


def nothing(what: str) -> None:
    """That a list is empty, where no data belongs."""
    click.echo(f"no {what}", err=True)

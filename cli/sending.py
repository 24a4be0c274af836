"""Sending: what a command says to a recipient through the store, from its words or standard input, and what became of it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..contracts.durable import Acceptance
from ..contracts.errors import BadInput
from .stored import line_on
from .words import complain, for_programs, print_json

if TYPE_CHECKING:
    from ..app import Tocsin

STDIN = 0


def text_of(words: tuple[str, ...], given: str | None = None) -> str:
    """What is to be said: ``given`` by an option, the words, or for ``-`` what is on standard input."""
    if given is not None and words:
        raise click.UsageError("TEXT does not go with --text")
    if given is not None:
        return sound(given)
    if not words:
        raise click.UsageError("nothing is said: give TEXT, or - for what is on standard input")
    return _from_stdin() if words == ("-",) else sound(" ".join(words))


def sound(text: str) -> str:
    """An argument, if it is text. Raises ``BadInput`` if it holds bytes that are none: they could not arrive unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput("an argument is no text in UTF-8, so it could not be delivered unchanged") from error
    return text


def _from_stdin() -> str:
    """To the letter, but for a last line feed."""
    if sys.stdin is None:
        raise BadInput("standard input is closed, so nothing can be read from it")
    if os.isatty(STDIN):
        complain("reads what you type here; Ctrl-D ends it")
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input is no text in UTF-8 (byte {error.start}): it can't be delivered unchanged") from error
    return text.removesuffix("\n")


def send(store: Path | None, to: str, say: "Callable[[Tocsin], Acceptance | None]", *, as_json: bool) -> None:
    """Send it and tell the id under which it was committed: that on stdout, what is to be known besides on stderr."""
    with line_on(store) as line:
        answer = say(line)
        assert answer is not None  # a line with a store answers for every message
        is_here = bool(answer.recipient) and line.records.living_owner(answer.recipient) is not None
    if as_json:
        print_json({**for_programs(answer), "here": is_here})
        return
    click.echo(answer.id)
    for remark in _remarks(answer, to, is_here=is_here):
        complain(remark)


def _remarks(answer: Acceptance, to: str, *, is_here: bool) -> list[str]:
    """What its sender may not expect."""
    if answer.verdict:
        return [f"{to!r} is unknown or archived, so that was dropped, on record"]
    found = []
    if answer.recipient != to:
        found.append(f"{to!r} is unknown or archived, so that goes to the coordinator, {answer.recipient!r}")
    if answer.replayed:
        return [*found, "that was accepted before under this id; nothing was added"]
    return found if is_here else [*found, kept_for(answer.recipient)]


def kept_for(name: str) -> str:
    """Where a message is whose recipient has no process."""
    return f"kept for {name}, who is not here"

"""Carrying: a person's command is kept in a file before it is sent, so that an answer that gets lost can be asked for again."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

import click
import msgspec

from ...contracts.attention_answers import Receipt, Refusal
from ...contracts.attention_commands import Command
from ...contracts.base import Record
from ...contracts.errors import NotRunning, TocsinError
from ...edges.attention import names
from ...edges.attention.desk import save_request
from ...edges.attention.journal import REQUESTS
from ...pipeline.attention_requests import request_of
from ..main import EXIT_CODES, INTERNAL
from ..words import complain, print_json
from .answers import switched_on, tell
from .opening import Queue, queue_at

KILLED: Final = 128
"""And the number of the signal, as a shell says it."""


class Kept(Record, frozen=True, kw_only=True):
    """A command that lies in its file."""

    command_id: str
    request: str
    """The file."""

    @property
    def reconcile(self) -> str:
        """What finds out what became of it."""
        return f"tocsin attention retry-command {self.command_id}"

    def is_there(self) -> bool:
        """True if it could be kept: what could not was not sent."""
        return Path(self.request).exists()

    def in_words(self) -> str:
        """For somebody who does not know whether it was carried out."""
        return (
            f"whether it was carried out is not known. It is kept in {self.request}; `{self.reconcile}` says what became of "
            "it, and carries it out if it was not"
        )


class Stopped(KeyboardInterrupt):
    """A signal came while the answer was awaited."""

    number: int = signal.SIGINT


def carry_out(store: Path | None, human: str | None, build: Callable[[Queue, str], Command], *, as_json: bool) -> int:
    """Build the command, keep it, send it, tell the answer; the exit code. ``build`` gets the queue and the command's id."""
    with queue_at(store, human) as queue:
        command = build(queue, names.uuid(queue.clock))
        request = request_of(command)
        if isinstance(request, Refusal):
            return tell(request, command, as_json=as_json)
        return send(queue, request.command, msgspec.json.encode(request.command), as_json=as_json)


def send(queue: Queue, command: Command, data: bytes, *, as_json: bool) -> int:
    """Keep these bytes, unless they are kept already, send them, and tell the answer; the exit code."""
    file = queue.state / REQUESTS / f"{command.command_id}.json"
    with _accounted_for(Kept(command_id=command.command_id, request=str(file)), as_json=as_json):
        save_request(queue.state, data)
        answer = switched_on(queue.desk.act(data, queue.desk.operator()), queue.origin)
        if isinstance(answer, Receipt):
            queue.note_done(answer)
        return tell(answer, command, as_json=as_json)


@contextmanager
def _accounted_for(kept: Kept, *, as_json: bool) -> Iterator[None]:
    """Whatever keeps the answer away, the id is told, and that the command failed is not claimed."""
    try:
        with _signals():
            yield
    except Stopped as stopped:
        _remind(kept)
        raise click.exceptions.Exit(KILLED + stopped.number) from stopped
    except TocsinError as error:
        if _never_sent(error) or not kept.is_there():
            raise
        _tell_unknown(error, kept.in_words(), {**msgspec.to_builtins(kept), "reconcile": kept.reconcile}, as_json=as_json)
        raise click.exceptions.Exit(EXIT_CODES.get(error.code, INTERNAL)) from error
    except BaseException:
        _remind(kept)
        raise


def _remind(kept: Kept) -> None:
    if kept.is_there():
        complain(kept.in_words())


@contextmanager
def may_be_sent_again(*, as_json: bool) -> Iterator[None]:
    """For a seat, whose command has a key: whatever keeps the answer away, it is told that the same may be sent again."""
    try:
        yield
    except TocsinError as error:
        if _never_sent(error):
            raise
        again = "whether it is stored is not known: send the same again, it is never stored twice"
        _tell_unknown(error, again, {"reconcile": "send the same again"}, as_json=as_json)
        raise click.exceptions.Exit(EXIT_CODES.get(error.code, INTERNAL)) from error


def _never_sent(error: TocsinError) -> bool:
    """True if nothing can have been done: who asked was not let in, or what they named is not there."""
    return error.fault == "caller" and not isinstance(error, NotRunning)


def _tell_unknown(error: TocsinError, words: str, known: dict[str, Any], *, as_json: bool) -> None:
    why = str(error).partition(" Nothing was changed")[0]  # for one command by itself that is more than is known
    if as_json:
        told = {"code": error.code, "text": why, "retryable": error.retryable, "outcome": "unknown"}
        print_json({"error": {**told, **known}})
    else:
        complain(why)
    complain(words)


@contextmanager
def _signals() -> Iterator[None]:
    """While the answer is awaited, a signal that would end the process in silence ends it with a word."""

    def stop(number: int, _: FrameType | None) -> None:
        stopped = Stopped()
        stopped.number = number
        raise stopped

    before: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])

"""Carrying: a person's command is kept in a file before it is sent, so that an answer that gets lost can be asked for again."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from ...contracts.attention_answers import Code, Receipt, Refusal
from ...contracts.attention_commands import Command, action_of
from ...contracts.base import Record
from ...contracts.errors import NotFound, NotRunning, TocsinError, UnknownCommand
from ...edges.attention import addresses, names
from ...edges.attention.addresses import Address
from ...edges.attention.desk import load_request, save_request
from ...edges.attention.journal import REQUESTS
from ...edges.store_place import state_directory
from ...pipeline.attention_requests import read_command, request_of
from ..main import EXIT_CODES, INTERNAL
from ..words import complain, print_json
from .answers import switched_on, tell
from .changed import after_refusal
from .faults import in_options
from .opening import Queue, queue_at, queue_options
from .stopping import ends_with, not_in_silence, signals


class Kept(Record, frozen=True, kw_only=True):
    """A command that lies in its file."""

    command_id: str
    request: str
    """The file."""
    store: str
    """The database that it goes to."""

    @property
    def reconcile(self) -> str:
        """What finds out what became of it, from any directory."""
        return reconciling(self.command_id, self.store)

    def is_there(self) -> bool:
        """True if it could be kept: what could not was not sent."""
        return Path(self.request).exists()

    def forget(self) -> None:
        """It was not sent, and nobody will look for it."""
        addresses.forget(Path(self.request).parent.parent, self.command_id)

    def in_words(self) -> str:
        """For somebody who does not know whether it was carried out."""
        return (
            f"whether it was carried out is not known. It is kept in {self.request}; `{self.reconcile}` says what became of "
            "it, and carries it out if it was not"
        )


def reconciling(command_id: str, store: str) -> str:
    """The command that asks what became of another, in the database that it was for."""
    return f"tocsin attention retry-command {command_id}{f' --store {shlex.quote(store)}' if store else ''}"


Build = Callable[[Queue, str], Command]
"""Makes a command out of the queue and the command's id."""


def carried(command: Callable[..., Build]) -> Callable[..., None]:
    """Carry out what ``command`` answers; ``--human``, ``--store`` and ``--json`` say where, and how the answer is told."""

    @queue_options
    @click.pass_context
    @wraps(command)
    def run(ctx: click.Context, /, human: str | None, store: Path | None, as_json: bool, **said: Any) -> None:
        ctx.exit(carry_out(store, human, command(**said), as_json=as_json))

    return run


def carry_out(store: Path | None, human: str | None, build: Build, *, as_json: bool) -> int:
    """Build the command, keep it, send it, tell the answer; the exit code. ``build`` gets the queue and the command's id."""
    with queue_at(store, human) as queue:
        if off := refused_off(queue):
            return tell(off, None, as_json=as_json)
        command = build(queue, names.uuid(queue.clock))
        request = request_of(command)
        if isinstance(request, Refusal):
            return tell(in_options(request), command, as_json=as_json)
        return send(queue, request.command, msgspec.json.encode(request.command), as_json=as_json)


def refused_off(queue: Queue) -> Refusal | None:
    """That the queue takes no command, if it is switched off: said before anything is opened or made."""
    if queue.policy.enabled:
        return None
    answer = switched_on(Refusal(code=Code.DISABLED, message="the attention queue is switched off"), queue.origin)
    assert isinstance(answer, Refusal)
    return answer


def send(queue: Queue, command: Command, data: bytes, *, as_json: bool) -> int:
    """Keep these bytes, unless they are kept already, send them, and tell the answer; the exit code."""
    file = queue.state / REQUESTS / f"{command.command_id}.json"
    address = Address(broker_uuid=queue.broker_uuid, path=str(queue.path))
    with _accounted_for(Kept(command_id=command.command_id, request=str(file), store=address.path), as_json=as_json):
        addresses.note(queue.state, command.command_id, address)
        save_request(queue.state, data)
        answer = switched_on(queue.desk.act(data, queue.desk.operator()), queue.origin)
        if isinstance(answer, Receipt):
            queue.note_ended(answer)
        code = _told(queue, answer, command, as_json=as_json)
        if isinstance(answer, Receipt):
            queue.note_done(answer)
        if isinstance(answer, Refusal) and not as_json:
            for line in after_refusal(queue, command, answer):
                complain(line)
    if isinstance(answer, Receipt) or answer.code not in _STAYS_OPEN:
        addresses.forget(queue.state, command.command_id)
    return code


def _told(queue: Queue, answer: Receipt | Refusal, command: Command, *, as_json: bool) -> int:
    try:
        return tell(answer, command, as_json=as_json, queue=queue)
    except OSError as error:
        if isinstance(answer, Receipt) and not isinstance(error, BrokenPipeError):
            addresses.forget(queue.state, command.command_id)  # what was done has been said, on stderr
        raise


_STAYS_OPEN: Final = {
    *(Code.UNAVAILABLE, Code.INTERNAL, Code.DISABLED, Code.WRONG_BROKER, Code.UNAUTHENTICATED, Code.COMMAND_ID_CONFLICT)
}
"""What says nothing about the command itself: it may still be wanted, or have to be looked at."""


def send_again(store: Path | None, command_id: str, *, as_json: bool) -> int:
    """Send a command that was kept, to the letter, to the database that it was for, and to no other; the exit code.

    Of one that is kept no more, because what became of it was told, the receipt is told again.
    """
    address = addresses.address_of(state_directory(), command_id)
    with queue_at(store or (Path(address.path) if address else None)) as queue:
        try:
            data = load_request(queue.state, command_id)
        except NotFound:
            return _told_again(queue, command_id, as_json=as_json)
        request = read_command(data)
        if isinstance(request, Refusal):
            return tell(request, None, as_json=as_json)
        if address is None and store is None:
            raise UnknownCommand(f"which database {command_id} was for was not noted: name it with --store PATH")
        if not (queue.path.exists() and queue.broker_uuid) and (off := refused_off(queue)):
            return tell(off, None, as_json=as_json)
        if address is not None and (elsewhere := _another(queue, address)):
            command, action = request.command, action_of(request.command)
            refusal = Refusal(code=Code.WRONG_BROKER, message=elsewhere, command_id=command.command_id, action=action)
            return tell(refusal, None, as_json=as_json)
        return send(queue, request.command, data, as_json=as_json)


def _another(queue: Queue, address: Address) -> str:
    """Why this database is not the one that the command was for; empty if it is."""
    right = f"it was for {address.path}: `--store {shlex.quote(address.path)}`, or leave --store out"
    if not address.broker_uuid:  # it was a new one, which has its path only
        return "" if queue.path.resolve() == Path(address.path).resolve() else f"{queue.path} is another database; {right}"
    if not queue.path.exists():
        return f"{queue.path} is gone, and the command was for what was in it: put it back, or name its place with --store"
    if queue.broker_uuid != address.broker_uuid:
        return f"{queue.path} is another database than the one that the command was for; nothing was sent. By its path, {right}"
    return ""


def _told_again(queue: Queue, command_id: str, *, as_json: bool) -> int:
    if not queue.path.exists():
        raise UnknownCommand(_UNKNOWN.format(command_id, queue.path))
    answer = queue.desk.command(command_id, queue.desk.operator())
    if isinstance(answer, Refusal):
        raise UnknownCommand(_UNKNOWN.format(command_id, queue.path))
    return tell(msgspec.structs.replace(answer, replayed=True), None, as_json=as_json)


_UNKNOWN: Final = "no command {0} of yours is kept, and none was carried out in {1}: name its database with --store"


@contextmanager
def _accounted_for(kept: Kept, *, as_json: bool) -> Iterator[None]:
    """Whatever keeps the answer away, the id is told, and that the command failed is not claimed."""
    was_there = kept.is_there()
    with ends_with(lambda: _remind(kept)):
        try:
            with signals():
                yield
        except TocsinError as error:
            if _never_sent(error) and not was_there:
                kept.forget()
            if _never_sent(error) or not kept.is_there():
                raise
            _tell_unknown(error, kept.in_words(), {**msgspec.to_builtins(kept), "reconcile": kept.reconcile}, as_json=as_json)
            raise click.exceptions.Exit(EXIT_CODES.get(error.code, INTERNAL)) from error
        except KeyboardInterrupt:  # told above
            raise
        except BaseException:
            _remind(kept)
            raise


def _remind(kept: Kept) -> None:
    if kept.is_there():
        complain(kept.in_words())


_AGAIN: Final = "whether it is stored is not known: send the same again, it is never stored twice"


@contextmanager
def may_be_sent_again(*, as_json: bool) -> Iterator[None]:
    """For a seat, whose command has a key: whatever keeps the answer away, it is told that the same may be sent again."""
    try:
        with not_in_silence(_AGAIN):
            yield
    except TocsinError as error:
        if _never_sent(error):
            raise
        _tell_unknown(error, _AGAIN, {"reconcile": "send the same again"}, as_json=as_json)
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

"""``tocsin attention bind``, ``summon``, ``amend`` and ``withdraw``: an agent's side, which shows its source and no more."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec

from ...contracts.attention import SCHEMA_VERSION, Amendment, Because, OfItem, Packet, ReturnMode
from ...contracts.attention_answers import Refusal
from ...contracts.attention_commands import Amend, Command, Summon, Withdraw, action_of
from ...contracts.errors import BadInput, NotFound, NotRunning, TimeLimit
from ...edges.attention import names
from ...edges.attention.desk import ByHand, Dispatch, Evidence, Live, default_source_file
from ...edges.attention.evidence import edge_name
from ...pipeline.attention_requests import read_command, request_of
from ..sending import sound
from ..words import complain
from .answers import switched_on, tell
from .carrying import carry_out, may_be_sent_again
from .deciding import reason_option, shown_revision
from .opening import Queue, item_argument, queue_at, queue_options
from .packets import amendment_options, content, fields_of, packet_options

P = TypeVar("P", bound=msgspec.Struct)

MODES: Final[dict[str, ReturnMode]] = {
    "pinned-session": "pinned_session",
    "actor-context": "actor_context",
    "none": "none",
}

source_option = click.option(
    "--source-file",
    "source_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="What `bind` wrote; inside `tocsin run` by default that of this session and this work.",
)
revision_option = click.option(
    "--expected-revision", "revision", type=click.IntRange(min=1), metavar="N", help="The revision that you mean."
)


@click.command()
@click.option("--project", metavar="P", required=True, help="The project, in small letters: birthday-film.")
@click.option("--work", metavar="W", required=True, help="The work: an issue, a batch, a job.")
@click.option("--return", "mode", type=click.Choice(list(MODES)), required=True, help="How the answer comes back.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where the source's secret is put, for you alone; inside `tocsin run` it has a place of its own.",
)
@click.option("--operator", is_flag=True, help="By the person's own word, outside of a session.")
@click.option("--actor", metavar="NAME", help="The recipient that answers go to.")
@click.option("--session", metavar="ID", help="Exactly this session of it, which must run now.")
@queue_options
@click.pass_context
def bind(
    ctx: click.Context,
    project: str,
    work: str,
    mode: str,
    out: Path | None,
    operator: bool,
    actor: str | None,
    session: str | None,
    human: str | None,
    store: Path | None,
    as_json: bool,
) -> None:
    """Enrol a piece of work, once. Who asks is verified and never guessed.

    Inside `tocsin run`: `tocsin attention bind --project film --work batch-7 --return pinned-session`. For a session that runs
    elsewhere: --actor and --session. By the person's word: --operator --actor.
    """
    evidence = _evidence(actor, session, operator=operator)
    with queue_at(store, human) as queue:
        place = out or default_source_file(queue.state, os.environ, project, work)
        try:
            bound = queue.desk.bind(sound(project), sound(work), mode=MODES[mode], out=place, evidence=evidence)
        except TimeLimit as error:  # for who asks, that is the same as nobody there: to be tried again
            raise NotRunning(str(error)) from error
        answer = switched_on(bound, queue.origin)
        code = tell(answer, None, as_json=as_json)
        if code == 0:
            complain(f"its secret is in {place}, for you alone")
    ctx.exit(code)


def _evidence(actor: str | None, session: str | None, *, operator: bool) -> Evidence:
    if operator:
        if actor is None:
            raise BadInput("--operator needs --actor: whom the answers go to")
        return ByHand(actor=sound(actor), session=session, environ=os.environ)
    if actor is None and session is None:
        return Dispatch(environ=os.environ)
    if actor is None or session is None:
        raise BadInput("a session that runs is named by both, --actor and --session: `tocsin recipients show NAME` has them")
    return Live(actor=sound(actor), session=sound(session), environ=os.environ)


@click.command()
@packet_options
@source_option
@queue_options
@click.pass_context
def summon(
    ctx: click.Context, /, source_file: Path | None, human: str | None, store: Path | None, as_json: bool, **options: Any
) -> None:
    """Ask the person. Exit 0 means that it is stored; nothing interrupts them, and the answer comes back by itself.

    The same --key with the same words is the same item, however often it is sent. --file takes a packet, or a whole command
    with an id of its own.
    """

    def build(queue: Queue, command_id: str) -> Summon | bytes:
        given = content(options, edge_name())
        fields = fields_of(given) if isinstance(given, bytes) else given
        if isinstance(given, bytes) and "action" in fields:
            return given
        payload = _payload({"human_id": queue.human, **fields}, Packet)
        return Summon(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    ctx.exit(_ask(store, human, "summon", build, source_file, as_json=as_json))


@click.command()
@item_argument(required=False)
@amendment_options
@revision_option
@source_option
@click.option("--operator", is_flag=True, help="The person corrects it themself.")
@queue_options
@click.pass_context
def amend(
    ctx: click.Context,
    /,
    item_id: int | None,
    revision: int | None,
    source_file: Path | None,
    operator: bool,
    human: str | None,
    store: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Change what was asked; place and age stay. `tocsin attention amend 42 --expected-revision 1 --context "…"`"""

    given = content(options, edge_name())

    def build(queue: Queue, command_id: str) -> Amend:
        expected = revision or (shown_revision(queue, item_id) if operator and item_id else None)
        fields = fields_of(given) if isinstance(given, bytes) else given
        payload = _payload({**_meant(item_id, expected), **fields}, Amendment)
        return Amend(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    def of_seat(queue: Queue, command_id: str) -> Amend | bytes:
        if isinstance(given, bytes) and "action" in fields_of(given):
            return given
        return build(queue, command_id)

    if operator:
        ctx.exit(carry_out(store, human, build, as_json=as_json))
    ctx.exit(_ask(store, human, "amend", of_seat, source_file, as_json=as_json))


@click.command()
@item_argument(required=True)
@reason_option
@revision_option
@source_option
@queue_options
@click.pass_context
def withdraw(
    ctx: click.Context,
    item_id: int,
    reason: str,
    revision: int | None,
    source_file: Path | None,
    human: str | None,
    store: Path | None,
    as_json: bool,
) -> None:
    """Take back what was asked, as long as the person has not begun: `tocsin attention withdraw 42 --expected-revision 1 …`"""

    def build(_: Queue, command_id: str) -> Withdraw:
        payload = _payload({**_meant(item_id, revision), "reason": sound(reason)}, Because)
        return Withdraw(schema_version=SCHEMA_VERSION, command_id=command_id, payload=payload)

    ctx.exit(_ask(store, human, "withdraw", build, source_file, as_json=as_json))


def _meant(item_id: int | None, revision: int | None) -> dict[str, Any]:
    said = {"item_id": item_id, "expected_revision": revision}
    return {name: value for name, value in said.items() if value is not None}


def _payload(fields: dict[str, Any], kind: type[P]) -> P:
    """The fields as what they are to be. Raises ``BadInput`` with what is missing or wrong."""
    missing = [name for name in ("item_id", "expected_revision") if name in kind.__struct_fields__ and name not in fields]
    if missing:
        raise BadInput("say which item is meant, and with --expected-revision N which revision of it you have read")
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise BadInput(f"the packet can't be taken: {error}") from error


def _ask(
    store: Path | None,
    human: str | None,
    action: str,
    build: Callable[[Queue, str], Command | bytes],
    source_file: Path | None,
    *,
    as_json: bool,
) -> int:
    """Send a seat's command, with what its source file shows, and tell the answer; the exit code."""
    with queue_at(store, human) as queue:
        built = build(queue, names.uuid(queue.clock))
        request = read_command(built) if isinstance(built, bytes) else request_of(built)
        if isinstance(request, Refusal):
            return tell(request, None, as_json=as_json)
        if action_of(request.command) != action:
            raise BadInput(f"that is the command {action_of(request.command)!r}; this takes {action!r}")
        with may_be_sent_again(as_json=as_json):
            seat = queue.desk.seat(source_file or _own_file(queue, request.command))
            answer = queue.desk.act(built, seat)
        return tell(switched_on(answer, queue.origin), request.command, as_json=as_json)


def _own_file(queue: Queue, command: Command) -> Path:
    """Where this session keeps the source of the work that the command is about."""
    payload = command.payload
    if isinstance(payload, OfItem):
        shown = queue.desk.item(payload.item_id)
        if shown is None:
            raise NotFound(f"there is no item {payload.item_id}")
        payload = shown.item.packet
    assert isinstance(payload, Packet)  # a seat's command has a packet, or is about one
    return default_source_file(queue.state, os.environ, payload.project_id, payload.work_id)

"""``tocsin attention bind``, ``summon``, ``amend`` and ``withdraw``: an agent's side, which shows its source and no more."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec

from ...contracts.attention import SCHEMA_VERSION, Amendment, Because, OfItem, Packet, ReturnMode
from ...contracts.attention_answers import Receipt, Refusal
from ...contracts.attention_commands import Amend, Command, Summon, Withdraw, action_of
from ...contracts.errors import BadInput, NotRunning, TimeLimit, UnknownItem
from ...edges.attention import names
from ...edges.attention.desk import ByHand, Dispatch, Evidence, Live, default_source_file
from ...edges.attention.evidence import edge_name
from ...pipeline.attention_requests import read_command, request_of
from ..sending import sound
from ..words import complain
from .answers import switched_on, tell
from .carrying import carry_out, may_be_sent_again, refused_off
from .deciding import reason_option, shown_revision
from .faults import Invalid, in_options, in_words, missing
from .opening import Queue, item_argument, queue_at, queue_options
from .packets import amendment_options, content, fields_of, packet_options
from .stopping import not_in_silence

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
    elsewhere, by the person: `… --actor dev --session ID --out film.json`. By the person's word alone: `… --return
    actor-context --operator --actor dev --out film.json`. Then `summon … --source-file film.json`.
    """
    evidence = _evidence(actor, session, operator=operator)
    with queue_at(store, human) as queue:
        if off := _not_begun_and_off(queue):
            ctx.exit(tell(off, None, as_json=as_json))
        place = out or _place_of_session(queue, project, work, "--out film.json")
        try:
            with not_in_silence(_BOUND_PERHAPS):
                bound = queue.desk.bind(sound(project), sound(work), mode=MODES[mode], out=place, evidence=evidence)
        except TimeLimit as error:  # for who asks, that is the same as nobody there: to be tried again
            raise NotRunning(str(error)) from error
        answer = _as_options(switched_on(bound, queue.origin))
        code = tell(answer, None, as_json=as_json)
        if code == 0:
            complain(f"its secret is in {place}, for you alone")
    ctx.exit(code)


_BOUND_PERHAPS: Final = "whether it is bound is not known: bind the same again, it is never bound twice"


def _not_begun_and_off(queue: Queue) -> Refusal | None:
    """That the queue is off, where no database is that could hold an earlier answer: nothing is made to say it."""
    return None if queue.path.exists() else refused_off(queue)


def _place_of_session(queue: Queue, project: str, work: str, otherwise: str) -> Path:
    """Where this session keeps the handle of that work. Raises ``BadInput`` with the option that names a file elsewhere."""
    if not os.environ.get("TOCSIN_SESSION"):
        raise BadInput(f"this is no session of `tocsin run`, so name the file of the source's secret, as in {otherwise}")
    return default_source_file(queue.state, os.environ, project, work)


def _as_options(answer: Receipt | Refusal) -> Receipt | Refusal:
    """The same; a refusal in the words of the options."""
    if not isinstance(answer, Refusal):
        return answer
    said = in_options(answer)
    words = re.sub(r"\b(pinned_session|actor_context)\b", lambda found: f"--return {found[0].replace('_', '-')}", said.message)
    return msgspec.structs.replace(said, message=words.replace(" or none,", " or --return none,"))


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
        payload = _payload({"human_id": queue.human, **fields}, Packet, from_file=isinstance(given, bytes))
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
        payload = _payload({**_meant(item_id, expected), **fields}, Amendment, from_file=isinstance(given, bytes))
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


def _payload(fields: dict[str, Any], kind: type[P], *, from_file: bool = False) -> P:
    """The fields as what they are to be. Raises ``BadInput`` with all that is missing, or with what is wrong."""
    needed = [field.name for field in msgspec.structs.fields(kind) if field.required]
    if absent := missing(needed, fields):
        raise BadInput(_how_to_say(absent, from_file=from_file))
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        raise Invalid(f"the packet can't be taken: {in_words(str(error), from_file=from_file)}") from error


def _how_to_say(absent: list[str], *, from_file: bool) -> str:
    options = ", ".join(absent)
    if from_file:
        return f"the file lacks what these options say: {options}; `tocsin attention summon --help` has them"
    if "--expected-revision" in absent:
        return (
            f"say {options}: which item is meant, and which revision of it you have read (`tocsin attention show ID` says it)"
        )
    return f"say {options} as well, or the whole packet with --file FILE"


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
        if off := _not_begun_and_off(queue):
            return tell(off, None, as_json=as_json)
        built = build(queue, names.uuid(queue.clock))
        request = read_command(built) if isinstance(built, bytes) else request_of(built)
        if isinstance(request, Refusal):
            return tell(request if isinstance(built, bytes) else in_options(request), None, as_json=as_json)
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
            raise UnknownItem(f"there is no item {payload.item_id}")
        payload = shown.item.packet
    assert isinstance(payload, Packet)  # a seat's command has a packet, or is about one
    return _place_of_session(queue, payload.project_id, payload.work_id, "--source-file film.json: what `bind` wrote")

"""Packets: what an intervention says, taken from options or from a file; whether it fits is decided where it is committed."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, get_args

import click
import msgspec

from ...contracts.attention import COMMAND_BYTES, Kind
from ...contracts.errors import BadInput
from ..sending import sound

Options = Mapping[str, Any]

FIELDS: Final = {
    "project": "project_id",
    "work": "work_id",
    "key": "intervention_key",
    "kind": "kind",
    "title": "title",
    "action": "requested_action",
    "context": "context",
    "unblocks": "unblocks",
    "artifacts": "artifacts",
    "minutes": "estimate_minutes",
    "deadline": "deadline_at",
    "follows": "predecessor_item_id",
}
"""Option → field of the packet."""
CHANGING: Final = ("title", "action", "context", "unblocks", "artifacts", "minutes", "deadline")
"""Options that an amendment has."""
CLEARED: Final = {"artifacts": (), "minutes": None, "deadline": None}
"""What may be taken away, and what is then in its place."""

_OPTIONS: Final[dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]]] = {
    "project": click.option("--project", metavar="P", help="The project, in small letters, 80 at most: birthday-film."),
    "work": click.option(
        "--work", metavar="W", help="The work that it belongs to: an issue, a batch, a job; one line, 200 characters."
    ),
    "key": click.option("--key", metavar="K", help="This round of this question; the same in every retry; 160 characters."),
    "kind": click.option("--kind", type=click.Choice(get_args(Kind)), help="What is wanted of the person."),
    "title": click.option("--title", metavar="T", help="One line, as it stands in the queue; 160 characters."),
    "action": click.option("--action", metavar="A", help="Exactly what the person is to do; 1,500 characters."),
    "context": click.option("--context", metavar="C", help="What is needed to begin, without searching; 3,000 characters."),
    "unblocks": click.option("--unblocks", metavar="U", help="What goes on when it is answered; 800 characters."),
    "artifacts": click.option(
        "--artifact",
        "artifacts",
        metavar="LABEL=URI",
        multiple=True,
        help="What to look at: https://…, tocsin:…, or /a/file on this machine. 12 at most.",
    ),
    "minutes": click.option(
        "--minutes", type=click.IntRange(1, 240), metavar="N", help="How long the person will need, about: 1 to 240."
    ),
    "deadline": click.option("--deadline", metavar="ISO", help="Shown, and changes no order: 2026-12-01T09:00:00+01:00."),
    "follows": click.option("--follows", type=click.IntRange(min=1), metavar="ID", help="The item of the round before."),
}


def packet_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Every option that a packet can be written with, and ``--file`` instead of all."""
    return _with(command, tuple(FIELDS), "A packet as JSON, instead of the options; - is standard input.")


def amendment_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options for what may be changed, and ``--clear`` for what may be taken away."""
    clear = click.option("--clear", type=click.Choice(tuple(CLEARED)), multiple=True, help="Take that away. Repeatable.")
    return _with(clear(command), CHANGING, "The fields that change as JSON, instead of the options; - is standard input.")


def _with(command: Callable[..., Any], names: tuple[str, ...], about_file: str) -> Callable[..., Any]:
    command = click.option("--file", "file", metavar="FILE", help=about_file)(command)
    for name in reversed(names):
        command = _OPTIONS[name](command)
    return command


def said(options: Options, edge: str) -> dict[str, Any]:
    """The fields that were given as options. ``edge`` names this machine, which has the files that are named."""
    fields: dict[str, Any] = {}
    for name, field in FIELDS.items():
        value = options.get(name)
        if name == "artifacts" and value:
            fields[field] = [_artifact(sound(one), edge) for one in value]
        elif name != "artifacts" and value is not None:
            fields[field] = sound(value) if isinstance(value, str) else value
    for name in options.get("clear") or ():
        if FIELDS[name] in fields:
            raise BadInput(f"--clear {name} takes away what another option gives")
        fields[FIELDS[name]] = CLEARED[name]
    return fields


def _artifact(text: str, edge: str) -> dict[str, str]:
    label, equals, uri = text.partition("=")
    if not equals:
        raise BadInput(f'{text!r} is no LABEL=URI, as in --artifact "contact sheet=https://…"')
    if uri.startswith("/"):
        uri = Path(uri).as_uri()
    return {"label": label, "uri": uri, **({"edge_id": edge} if uri.startswith("file:") else {})}


def content(options: Options, edge: str) -> bytes | dict[str, Any]:
    """What the options say, or as it stands what is in the file."""
    fields = said(options, edge)
    if options.get("file") is None:
        return fields
    if fields:
        raise BadInput("--file says it all: leave the other options out")
    return read(options["file"])


def read(name: str) -> bytes:
    """A file, or standard input for ``-``; no more of it than a command may have, and one byte."""
    try:
        if name != "-":
            with Path(name).open("rb") as file:
                return file.read(COMMAND_BYTES + 1)
        if sys.stdin is None:
            raise BadInput("standard input is closed, so nothing can be read from it")
        return sys.stdin.buffer.read(COMMAND_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{name} can't be read: {error.strerror}") from error


def fields_of(data: bytes) -> dict[str, Any]:
    """A file's JSON object. Raises ``BadInput`` for anything else, and for more than a command may have."""
    if len(data) > COMMAND_BYTES:
        raise BadInput(f"the file is longer than {COMMAND_BYTES} bytes, the limit of a command")
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"the file is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadInput("the file holds no JSON object")
    return found

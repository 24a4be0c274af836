"""Attention requests: bytes become a checked command in one spelling, with the hashes that tell whether two are the same."""

from hashlib import sha256
from typing import Any, Final, TypeVar
from unicodedata import normalize

import msgspec
from msgspec.structs import fields, replace

from ..contracts.attention import COMMAND_BYTES, Addition, Packet
from ..contracts.attention_answers import Code, Refusal
from ..contracts.attention_commands import Command, action_of
from ..contracts.attention_facts import Request
from ..contracts.attention_time import instant, iso

S = TypeVar("S", bound=msgspec.Struct)

_COMMANDS: Final[msgspec.json.Decoder[Command]] = msgspec.json.Decoder(Command)
_ENCODE: Final = msgspec.json.Encoder(order="sorted").encode
_KEYS: Final = ("human_id", "project_id", "work_id", "intervention_key", "source_id")
_TIMES: Final = ("deadline_at", "until")


def read_command(data: bytes) -> Request | Refusal:
    """The command that these bytes are. Refused: more than 64 KiB, no JSON, or not within the contract."""
    if len(data) > COMMAND_BYTES:
        return Refusal(code=Code.TOO_LARGE, message=f"the command has {len(data)} bytes; {COMMAND_BYTES} are the limit")
    try:
        command = _COMMANDS.decode(data)
        return _request(replace(command, payload=_in_one_spelling(command.payload)))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        return Refusal(code=_code(error), message=f"the command can't be taken: {error}")


def request_of(command: Command) -> Request | Refusal:
    """The same for a command that was built here: constructors check nothing, so it goes through the same door."""
    try:
        return read_command(msgspec.json.encode(command))
    except ValueError as error:  # half a surrogate pair
        return Refusal(code=Code.INVALID, message=f"the command can't be taken: {error}")


def content_of(packet: Packet, source_id: str | None = None) -> str:
    """The hash of what a round asks. ``source_id``: where the answer goes, if the person said so themself."""
    return _hash({**_said(bare(packet)), "source_id": source_id})


def bare(packet: Packet) -> Packet:
    """The packet without what only its command says."""
    return Packet(**{name: getattr(packet, name) for name in Packet.__struct_fields__})


def _code(error: Exception) -> Code:
    no_json = isinstance(error, (msgspec.DecodeError, UnicodeDecodeError, RecursionError))
    return Code.MALFORMED if no_json and not isinstance(error, msgspec.ValidationError) else Code.INVALID


def _request(command: Command) -> Request:
    command = replace(command, command_id=command.command_id.lower())
    digest = _hash({"action": action_of(command), "schema_version": command.schema_version, "payload": _said(command.payload)})
    if isinstance(command.payload, Packet):
        source_id = command.payload.source_id if isinstance(command.payload, Addition) else None
        return Request(command=command, digest=digest, content=content_of(command.payload, source_id))
    return Request(command=command, digest=digest)


def _in_one_spelling(payload: S) -> S:
    """Times in UTC with milliseconds, keys in Unicode's composed form: what means the same is written the same."""
    given = {name: getattr(payload, name, None) for name in (*_KEYS, *_TIMES)}
    changed: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, str):
            changed[name] = iso(instant(value)) if name in _TIMES else normalize("NFC", value)
    return replace(payload, **changed) if changed else payload


def _said(value: Any) -> Any:
    """What a struct says beyond its defaults, so that a field which a later version adds changes no older hash."""
    if isinstance(value, msgspec.Struct):
        said = {field.encode_name: getattr(value, field.name) for field in fields(value) if not _is_default(value, field)}
        return {name: _said(part) for name, part in said.items()}
    return [_said(part) for part in value] if isinstance(value, tuple) else value


def _is_default(value: msgspec.Struct, field: msgspec.structs.FieldInfo) -> bool:
    return field.default is not msgspec.NODEFAULT and bool(getattr(value, field.name) == field.default)


def _hash(said: Any) -> str:
    return sha256(normalize("NFC", _ENCODE(said).decode()).encode()).hexdigest()

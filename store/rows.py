"""Rows: how values stand in a column. JSON, so that a person with the ``sqlite3`` shell can read them."""

from enum import StrEnum
from typing import Any, Final, TypeVar

import msgspec

from ..contracts.errors import BadInput, StoreCorrupt, StoreUnusable
from ..contracts.events import Event

T = TypeVar("T")
W = TypeVar("W", bound=StrEnum)

_ENCODER: Final = msgspec.json.Encoder()
_EVENTS: Final = msgspec.json.Decoder(Event)
_NAMES: Final = msgspec.json.Decoder(tuple[str, ...])


def encode(value: Any) -> bytes:
    """A value as it is stored. Raises ``BadInput`` if its text is not text."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError as error:
        raise BadInput(f"the text can't be stored: {error.reason}") from error


def decode(kind: type[T], data: bytes) -> T:
    """A stored value. Raises ``StoreCorrupt`` if it is not what was stored."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, ValueError) as error:
        raise _unreadable(error) from error


def word(kind: type[W], value: str) -> W:
    """A stored word of a closed list. Raises ``StoreUnusable``: a newer version may have written it, so it is not set aside."""
    try:
        return kind(value)
    except ValueError as error:
        raise StoreUnusable(
            f"the database says {value!r} where this version knows {', '.join(kind)}. Update tocsin."
        ) from error


def names_of(data: bytes) -> tuple[str, ...]:
    """A stored tuple of ids or words."""
    try:
        return _NAMES.decode(data)
    except (msgspec.MsgspecError, ValueError) as error:
        raise _unreadable(error) from error


def event_of(data: bytes) -> Event:
    """A stored event. What a newer version has added to it is passed over, as in every record."""
    try:
        return _EVENTS.decode(data)
    except msgspec.ValidationError:
        return _event_of_newer(data)
    except (msgspec.MsgspecError, ValueError) as error:
        raise _unreadable(error) from error


def _event_of_newer(data: bytes) -> Event:
    try:
        fields = msgspec.json.decode(data, type=dict[str, Any])
        return msgspec.convert({name: fields[name] for name in Event.__struct_fields__ if name in fields}, Event)
    except (msgspec.MsgspecError, ValueError) as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> StoreCorrupt:
    return StoreCorrupt(f"a stored value can't be read ({error}). Set the database aside and go on with a new one.")

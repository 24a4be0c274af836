"""Addresses: to which database a kept command was going, beside its own bytes, so that it is never sent to another one."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from ...contracts.base import Record
from ...contracts.errors import BadInput, NotYours
from .journal import REQUESTS, place
from .private_files import put_new, read_own

ENDING: Final = ".queue"
_ACTION: Final = "action"


class Address(Record, frozen=True, kw_only=True):
    """Where a command was going."""

    broker_uuid: str
    """The database's own id; empty if no queue was ever used in it then."""
    path: str
    """The database, in full."""


class Open(Record, frozen=True, kw_only=True):
    """A command that was kept, and of which nobody has noted what became of it."""

    command_id: str
    action: str
    path: str
    """The database that it was for; empty if that was not noted."""
    request: str
    """Its file."""


def note(state: Path, command_id: str, address: Address) -> None:
    """Keep where the command goes, before it is kept itself. The first note stands. It is not secret."""
    put_new(_beside(state, command_id), msgspec.json.encode(address))


def address_of(state: Path, command_id: str) -> Address | None:
    """Where it was going; none if that was not noted. Raises ``NotYours`` if others could have changed it."""
    data = read_own(_beside(state, command_id))
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=Address)
    except msgspec.MsgspecError as error:
        raise BadInput(
            f"{_beside(state, command_id)} does not say where the command was going: name it with --store"
        ) from error


def forget(state: Path, command_id: str) -> None:
    """What became of it is known: its files go. The receipt is in the database."""
    with suppress(OSError):
        place(state, command_id.lower()).unlink()
        _beside(state, command_id).unlink()


def open_commands(state: Path) -> Iterator[Open]:
    """Those that lie there still, the oldest first."""
    dated: list[tuple[float, Path]] = []
    with suppress(OSError):
        for file in (state / REQUESTS).glob("*.json"):
            with suppress(OSError):
                dated.append((file.stat().st_mtime, file))
    for _, file in sorted(dated):
        with suppress(BadInput, NotYours, OSError):
            address = address_of(state, file.stem)
            yield Open(
                command_id=file.stem,
                action=_action(read_own(file) or b""),
                path=address.path if address else "",
                request=str(file),
            )


def _action(data: bytes) -> str:
    try:
        said = msgspec.json.decode(data)
    except msgspec.MsgspecError:
        return ""
    return str(said.get(_ACTION, "")) if isinstance(said, dict) else ""


def _beside(state: Path, command_id: str) -> Path:
    return place(state, command_id.lower()).with_suffix(ENDING)

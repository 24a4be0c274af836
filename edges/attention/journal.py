"""Journal: a person's commands, kept to the letter before anything is sent, so that each can be sent again under its own id."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from ...contracts.attention_commands import Command
from ...contracts.errors import BadInput, SameId, UnknownCommand
from .private_files import put_new, read_own

REQUESTS: Final = "requests"
KEPT_DAYS: Final = 30
KEPT_MOST: Final = 1_000
"""The last so many stay, however old they are not; older ones go after a month."""

_DAY: Final = 86_400
_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def save_request(state: Path, command: Command | bytes) -> Path:
    """Keep a command, before it is sent; its file, for its owner alone. It holds nothing that is secret.

    The same command again is harmless. Raises ``SameId`` if another one was kept under this id, ``BadInput`` if it has none.
    """
    data = command if isinstance(command, bytes) else msgspec.json.encode(command)
    path = place(state, _id_of(data))
    if not put_new(path, data) and read_own(path) != data:
        raise SameId(f"{path} holds another command with the same id: make a new id for a new command")
    _prune(path)
    return path


def load_request(state: Path, command_id: str) -> bytes:
    """The command as it was kept. Raises ``UnknownCommand`` if it was not, ``NotYours`` if others could have changed it."""
    data = read_own(place(state, command_id.lower()))
    if data is None:
        raise UnknownCommand(f"no command {command_id} was kept in {state / REQUESTS}")
    return data


def _id_of(data: bytes) -> str:
    try:
        said = msgspec.json.decode(data)
    except msgspec.MsgspecError as error:
        raise BadInput(f"that is no command: {error}") from error
    return str(said.get("command_id", "")).lower() if isinstance(said, dict) else ""


def place(state: Path, command_id: str) -> Path:
    """The file of a command. Raises ``BadInput`` for what is no id."""
    if not _ID.fullmatch(command_id):
        raise BadInput(f"{command_id[:60]!r} is no command's id: it is a UUID")
    return state / REQUESTS / f"{command_id}.json"


def _prune(newest: Path) -> None:
    """Old ones go, by the clock that has dated the files themselves."""
    with suppress(OSError):  # another process tidies as well; and what can't be tidied is no reason not to go on
        kept = sorted(((path.stat().st_mtime, path) for path in newest.parent.glob("*.json")), reverse=True)
        oldest = newest.stat().st_mtime - KEPT_DAYS * _DAY
        for nth, (at, path) in enumerate(kept):
            if path != newest and (nth >= KEPT_MOST or at < oldest):
                path.unlink()
                path.with_suffix(".queue").unlink(missing_ok=True)  # where it was going

"""Settings: an agent's settings file read, changed and written whole or not at all."""

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...contracts.base import Record
from ...contracts.errors import BadInput
from . import json_hooks, toml_hooks
from .agents import Agent, entry_for
from .json_text import Malformed
from .toml_hooks import CantAdd


class Refused(BadInput):
    """Our entries can't be put into this file by a program; ``addition`` is what to add by hand."""

    def __init__(self, text: str, addition: str) -> None:
        super().__init__(text)
        self.addition = addition


class Change(Record, frozen=True, kw_only=True):
    """A file as it is and as it should be."""

    path: Path
    before: str
    after: str
    is_new: bool = False

    @property
    def changes(self) -> bool:
        """False if it is as it should be already."""
        return self.before != self.after


def installed(agent: Agent, path: Path, command: str) -> Change:
    """The file with a hook for each event. Raises ``BadInput`` with file and line for what can't be read."""
    return _change(agent, path, {event: entry_for(agent, command) for event in agent.events})


def uninstalled(agent: Agent, path: Path) -> Change:
    """The file without any hook of ours. Raises ``BadInput`` with file and line for what can't be read."""
    return _change(agent, path, None)


def commands(agent: Agent, path: Path) -> dict[str, str]:
    """Event → our command, as the file has it. Raises ``BadInput`` as above."""
    text = _read(path) or ""
    with _named(path):
        there = (toml_hooks if agent.format == "toml" else json_hooks).found(text)
    return {event: _command(entries[0]) for event, entries in there.items()}


def write(change: Change) -> None:
    """Write it beside the file and put it in its place; links are followed, the mode is kept.

    Raises ``BadInput`` if somebody else changed the file meanwhile, or it can't be written; it is as it was then.
    """
    target = Path(os.path.realpath(change.path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tocsin", dir=target.parent)
        sibling = Path(name)
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - a descriptor
                file.write(change.after)
                file.flush()
                os.fsync(descriptor)
            if not change.is_new:
                sibling.chmod(stat.S_IMODE(target.stat().st_mode))
            _must_be_unchanged(change)
            sibling.replace(target)
        except BaseException:
            with suppress(OSError):
                sibling.unlink()
            raise
    except OSError as error:
        raise BadInput(f"{change.path} can't be written: {error.strerror}; it is as it was") from error


def _must_be_unchanged(change: Change) -> None:
    if (_read(change.path) or "") != change.before:
        raise BadInput(f"{change.path} was changed by another program just now; nothing was written, try again")


def _change(agent: Agent, path: Path, wanted: Mapping[str, Any] | None) -> Change:
    there = _read(path)
    text = there or ""
    with _named(path):
        if agent.format == "toml":
            after = toml_hooks.without(text) if wanted is None else toml_hooks.merged(text, wanted)
        else:
            after = json_hooks.without(text) if wanted is None else json_hooks.merged(text, wanted)
    return Change(path=path, before=text, after=after, is_new=there is None)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is no UTF-8; nothing was changed") from error
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror}") from error


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """What is wrong with a text is told with its file and line."""
    try:
        yield
    except Malformed as error:
        raise BadInput(f"{path}:{error.line}: {error}; nothing was changed") from error
    except RecursionError as error:
        raise BadInput(f"{path} is nested too deeply; nothing was changed") from error
    except CantAdd as error:
        raise Refused(f"{path}: {error}; nothing was changed, add by hand what is shown", error.block) from error


def _command(entry: Mapping[str, Any]) -> str:
    hooks = entry.get("hooks")
    return str((hooks[-1] if hooks else entry).get("command", ""))

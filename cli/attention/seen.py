"""Seen: which revision of an item each terminal showed last, so that an answer never goes to words that were not read there."""

import os
import shutil
import tempfile
from contextlib import suppress
from enum import IntEnum
from hashlib import sha256
from pathlib import Path
from typing import Final

from ...edges.liveness import host_mark, start_mark

FOLDER: Final = "attention/seen"
TERMINALS: Final = "terminals"
ACTIVE: Final = "active"
MOST: Final = 3_000
"""Notes that are kept of what a terminal showed: up to three an item."""
MOST_TERMINALS: Final = 200


class Way(IntEnum):
    """Where a command's words go; the further on, the nearer to the person's eyes."""

    PROGRAM = 0
    """``--json``: a program reads it, and what it does with it nobody knows."""
    ELSEWHERE = 1
    """In words, but into a pipe or a file."""
    TERMINAL = 2
    """In words, onto the terminal of the person."""


class Seen:
    """One folder a terminal, in it one small file an item, each written whole: two commands may show at once."""

    def __init__(self, state: Path, broker_uuid: str, way: Way) -> None:
        """``state`` is the user's own directory; what one database showed says nothing about another's items.

        ``way`` is where the words of this command go: it may go by what was shown that way or nearer to the person, so that
        what a program looked at is never taken for what a person has read.
        """
        self._way = way
        self._terminals = state / FOLDER / broker_uuid / TERMINALS
        self._here = self._terminals / _this_terminal()

    def revision(self, item_id: int) -> int | None:
        """The revision that this terminal showed last; none if it did not show the item, or nobody can tell any more."""
        return _number(self._place(str(item_id), self._way))

    def active_here(self) -> int | None:
        """The item that this terminal showed last as the person's active one; none if it showed none."""
        return _number(self._place(ACTIVE, self._way))

    def note(self, item_id: int, revision: int, *, active: bool) -> None:
        """It has been shown, in this terminal. Raises ``OSError`` if that can't be kept."""
        for way in Way:
            if way > self._way:
                continue
            _write(self._place(str(item_id), way), revision)
            if active:
                _write(self._place(ACTIVE, way), item_id)
        _prune(self._here, self._terminals)

    def _place(self, name: str, way: Way) -> Path:
        return self._here / f"{name}.{way.name.lower()}"


def _this_terminal() -> str:
    """The session that this process belongs to, and when that began: numbers of processes come again."""
    leader = os.getsid(0)
    began = f"{host_mark()} {start_mark(leader)}"
    return f"{leader}-{sha256(began.encode()).hexdigest()[:12]}"


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _write(path: Path, number: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(prefix=".", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{number}\n")
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _prune(here: Path, terminals: Path) -> None:
    """The oldest go: what was looked at that long ago has to be looked at again."""
    with suppress(OSError):
        for path in _oldest(here, MOST):
            if path.stem != ACTIVE:
                path.unlink(missing_ok=True)
        for path in _oldest(terminals, MOST_TERMINALS):
            shutil.rmtree(path, ignore_errors=True)


def _oldest(folder: Path, kept: int) -> list[Path]:
    found = list(folder.iterdir())
    if len(found) <= kept:
        return []
    return [path for _, path in sorted((path.stat().st_mtime_ns, path) for path in found)[:-kept]]

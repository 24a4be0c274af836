"""Seen: which revision of an item its person was shown last, so that an answer never goes to words that they did not read."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

FOLDER: Final = "attention/seen"
TERMINALS: Final = "terminals"
MOST: Final = 1_000
"""Items, and terminals, of which is kept what they showed."""


class Seen:
    """One small file an item and a terminal, written whole: two terminals may show at once."""

    def __init__(self, state: Path, broker_uuid: str) -> None:
        """``state`` is the user's own directory; what one database showed says nothing about another's items."""
        self._folder = state / FOLDER / broker_uuid

    def revision(self, item_id: int) -> int | None:
        """The revision that was shown last; none if the item was not shown here, or nobody can tell any more."""
        return _number(self._folder / str(item_id))

    def active_here(self) -> int | None:
        """The item that this terminal showed last as the person's active one; none if it showed none."""
        return _number(self._folder / TERMINALS / str(os.getsid(0)))

    def note(self, item_id: int, revision: int, *, active: bool) -> None:
        """It has been shown, in this terminal. Raises ``OSError`` if that can't be kept."""
        _write(self._folder / str(item_id), revision)
        if active:
            _write(self._folder / TERMINALS / str(os.getsid(0)), item_id)


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
    _prune(path.parent)


def _prune(folder: Path) -> None:
    """The oldest go: what was looked at that long ago has to be looked at again."""
    with suppress(OSError):
        shown = sorted((path.stat().st_mtime_ns, path) for path in folder.iterdir() if path.name.isdecimal())
        for _, path in shown[:-MOST]:
            path.unlink(missing_ok=True)

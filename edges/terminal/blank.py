"""Blank: whether the line that a program edits looks empty, as it did when nobody had typed anything yet.

Keys alone can't tell: a completion menu takes an Enter, an undo brings a line back, a shell goes on with what was begun. But
where a program edits a line, its cursor then stands behind a prompt, with nothing at it but a hint in faint letters.
"""

import re
from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

_PROMPTS: Final = frozenset("$%#❯›»λ➜▶⟩→")
"""What only prompts end in; ``>`` is besides the mark of a line that goes on."""
_SHELLS: Final = frozenset("$%#")
_NUMBERS: Final = re.compile(r"\d+")
_ROWS: Final = 16
"""Prompts remembered whole."""


class Reader(NamedTuple):
    """Who reads the keys: its process group, whether the kernel hands it whole lines, if it is a job of a shell."""

    group: int
    lines: bool
    foreign: bool


class AtCursor(NamedTuple):
    """Where the cursor is: what stands before it in its row, whether something stands at it, and whether it is shown."""

    before: str
    occupied: bool
    shown: bool


class Blank:
    """Remembers how the prompts of each program end that reads in this terminal."""

    def __init__(self) -> None:
        self._first: AtCursor | None = None
        self._first_row: str | None = None
        self._known: dict[int, set[str]] = {}
        self._rows: deque[str] = deque(maxlen=_ROWS)

    def untouched(self, place: AtCursor) -> None:
        """So it looks, and nobody has pressed a key yet."""
        self._first = place
        self._first_row = _masked(place.before) if _end(place.before) else None

    def learn(self, reader: int, place: AtCursor) -> None:
        """So the line of this program (by its process group) looks, and it is certainly empty."""
        end = _end(place.before)
        if end and place.shown and not place.occupied:
            self._known.setdefault(reader, set()).add(end)
            if (row := _masked(place.before)) not in self._rows:
                self._rows.append(row)

    def is_prompt(self, place: AtCursor) -> bool:
        """True if exactly this row was a prompt before, its numbers aside."""
        row = _masked(place.before)
        return place.shown and not place.occupied and (row in self._rows or row == self._first_row)

    def knows(self, reader: int) -> bool:
        """True once a prompt of this program has been seen."""
        return bool(self._ends(reader))

    def first_is_of(self, reader: int) -> None:
        """What was seen before the first key was this program's."""
        if self._first is not None:
            self.learn(reader, self._first)
            self._first = None

    def shell(self, reader: int) -> bool:
        """True if its prompts are those of a shell."""
        return any(end.strip() in _SHELLS for end in self._ends(reader))

    def looks_empty(self, reader: int, place: AtCursor) -> bool:
        """True if nothing speaks against its being empty; where no cursor is shown and no prompt is known, nothing does."""
        if not place.shown or not self.knows(reader):
            return True
        return not place.occupied and (_end(place.before) in self._ends(reader) or self.looks_like_a_prompt(reader, place))

    def looks_like_a_prompt(self, reader: int, place: AtCursor) -> bool:
        """True if there is a prompt before the cursor, whosesoever, and nothing at it."""
        mark = _end(place.before).strip()
        return not place.occupied and (mark in _PROMPTS if mark != ">" else not self.shell(reader))

    def _ends(self, reader: int) -> Iterable[str]:
        return self._known.get(reader, ())


def _masked(before: str) -> str:
    return _NUMBERS.sub("0", before)


def _end(before: str) -> str:
    """The last sign of a prompt and the space after it: directories, branches and numbers before that may change."""
    mark = before.rstrip()[-1:]
    return mark + before[len(before.rstrip()) :] if mark else ""

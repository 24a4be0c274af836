"""Proof: what two looks at the screen, before and after Enter, prove about a submission; never more than that."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

_NOT_WORDS: Final = re.compile(r"[\W\d_]+")
_TELLING: Final = 16
"""So many letters in a row tell the text typed from any other."""


class Look(NamedTuple):
    """The rows on the screen, how many had left it at the top so far, the last of those, and which row the cursor is in."""

    rows: Sequence[str]
    scrolled: int
    gone: Sequence[str] = ()
    row: int = 0


def submitted(text: str, before: Look, after: Look) -> bool:
    """True if the program answered, or if the text was shown and has left the composer.

    An echo proves nothing: rows that only repeat the text, blank rows, frames and changing numbers don't count as an
    answer.
    """
    typed = _letters(text)
    # What left at the top is no longer there to be compared with.
    left = after.scrolled - before.scrolled
    shown, now = _rows(before.rows) - _rows(after.gone[-left:] if left else ()), _rows(after.rows)
    answer = [row for row in now - shown if not _echoes(row, typed)]
    if answer:
        return True
    return _count(now, typed) < _count(shown, typed)


def began_a_line(text: str, before: Look, after: Look) -> bool:
    """True if Enter only began one more line of the same input, as where a block has to end with an empty line.

    Certain only where the program marks the lines of one input, the first apart from the others: then the cursor stands behind
    such a mark, with nothing else, under the last row of the text.
    """
    first, *others = text.split("\n")
    marks = [mark for line in reversed(others) if (mark := _mark(line, before.rows))]
    if not marks or marks[0] == _mark(first, [*before.gone, *before.rows]):
        return False
    rows, at = after.rows, after.row
    while at > 0 and rows[at].strip() == marks[0]:
        at -= 1
    return at < after.row and rows[at] == before.rows[before.row] != marks[0]


def _mark(line: str, rows: Sequence[str]) -> str:
    """What stands before ``line``, of which a row may show only the beginning; empty if nothing does."""
    begins = line.strip()[:_TELLING]
    marks = (row[: row.find(begins)].strip() for row in reversed(rows) if begins and begins in row)
    return next(filter(None, marks), "")


def _rows(rows: Iterable[str]) -> Counter[str]:
    return Counter(letters for row in rows if (letters := _letters(row)))


def _letters(text: str) -> str:
    return _NOT_WORDS.sub("", text).casefold()


def _echoes(row: str, typed: str) -> bool:
    if row in typed:
        return True
    return any(row[at : at + _TELLING] in typed for at in range(len(row) - _TELLING + 1))


def _count(rows: Counter[str], typed: str) -> int:
    return sum(count for row, count in rows.items() if row in typed and (len(row) >= _TELLING or row == typed[-len(row) :]))

"""Lines: the rows of a screen without their frames, and where in them the text begins."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

_FRAME: Final = " \t│┃|║▏▕╎┆"
_RULE: Final = "─━═╌┄╭╮╰╯┌┐└┘├┤▀▄▔▁╹╻-_= " + _FRAME
_MARKED: Final = re.compile(r"(?P<mark>[❯❱›»▸▶‣➤➜→>▌●◉])(?P<gap>\s*)(?=\S)")


class Line(NamedTuple):
    """One row: its text within the frame, the column where that begins, and the pointer at its beginning, if any."""

    text: str
    column: int
    width: int
    framed: bool
    rule: bool
    mark: str
    after_mark: int

    @property
    def label(self) -> str:
        """The text behind the pointer."""
        return self.text[self.after_mark - self.column :]


def lines_of(rows: Sequence[str]) -> list[Line]:
    """``rows`` from top to bottom."""
    return [_line(row) for row in rows]


@lru_cache(maxsize=1024)  # A screen is looked at ten times a second, and most of its rows are as they were.
def _line(row: str) -> Line:
    width = len(row.rstrip())
    inner = row.lstrip(_FRAME)
    column = len(row) - len(inner)
    text = inner.rstrip(_FRAME)
    framed = not row[:column].isspace() and column > 0
    rule = bool(text) and not row.strip(_RULE)
    match = _MARKED.match(text)
    mark, after = (match["mark"], column + match.end()) if match else ("", column)
    return Line("" if rule else text, column, width, framed, rule, mark, after)

"""Status: one protected row at the bottom of our terminal, kept out of the program's reach by the scroll region."""

from collections.abc import Callable
from typing import Final

from wcwidth import wcwidth

from .text import clean

PERIOD: Final = 0.5
"""Seconds between two looks at the text."""
_SMALLEST: Final = 4
"""With fewer rows than this a program needs them all."""


class StatusRow:
    """A row that shows ``text()``. All methods give the bytes to write; nothing is written here.

    The row is drawn only while the program's output rests, because the cursor is saved and restored around it. While a
    program owns the whole screen there is no row. After a resize the row is the new lowest; where the terminal itself moved
    the old one to, nobody can know, and the program's next lines write over it.
    """

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text
        self._rows = 0
        self._columns = 0
        self._painted = ""

    @property
    def shown(self) -> bool:
        """True while the row is taken from the screen."""
        return self._rows > 0

    def stands(self, rows: int, columns: int) -> bool:
        """True if nothing is to be claimed on a screen of that size: the row is there, or there is none to spare."""
        return rows < _SMALLEST or (self._rows, self._columns) == (rows, columns)

    def claim(self, rows: int, columns: int) -> bytes:
        """Take the lowest of ``rows``; what stood there moves up. Nothing if there is none to spare."""
        if rows < _SMALLEST:
            return self.release()
        self._rows, self._columns, self._painted = rows, columns, ""
        # A line feed at the very bottom makes room; up again, so that the cursor is never in the row.
        return b"\n\x1b[A" + self.paint(again=True)

    def paint(self, *, again: bool = False) -> bytes:
        """Draw the row if its text is new, or ``again`` because the program may have drawn over it."""
        if not self.shown:
            return b""
        text = self._fitted(clean(self._text()).replace("\n", " ").replace("\t", " "))
        if text == self._painted and not again:
            return b""
        self._painted = text
        row = b"\x1b[%d;1H\x1b[0;7m%s\x1b[0m" % (self._rows, text.encode())
        return b"\x1b7" + self._region() + row + b"\x1b8"

    def release(self) -> bytes:
        """Give the row back, empty."""
        if not self.shown:
            return b""
        rows, self._rows = self._rows, 0
        return b"\x1b7\x1b[r\x1b[%d;1H\x1b[0m\x1b[2K\x1b8" % rows

    def _region(self) -> bytes:
        return b"\x1b[1;%dr" % (self._rows - 1)

    def _fitted(self, text: str) -> str:
        width, kept = 0, []
        for character in text:
            # What has no width of its own would join whatever stands before it.
            cells = max(0, wcwidth(character))
            if width + cells > self._columns:
                break
            width += cells
            kept.append(character if cells else "")
        return "".join(kept) + " " * (self._columns - width)

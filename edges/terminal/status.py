"""Status: one protected row at the bottom of our terminal, kept out of the program's reach by the scroll region."""

from collections.abc import Callable
from typing import Final

from wcwidth import wcwidth

from .cursor import Cursor
from .text import clean

PERIOD: Final = 0.5
"""Seconds between two looks at the text."""
_SMALLEST: Final = 4
"""With fewer rows than this a program needs them all."""


class StatusRow:
    """A row that shows ``text()``. All methods give the bytes to write; nothing is written here.

    The row is drawn only while the program's output rests, and leaves the terminal as the program has it: cursor, saved
    cursor, colours, character sets, origin mode and scroll region. A terminal can save one cursor; as long as that is not the
    program's it is ours. From then on the place has to be known from the output, and while it is not, drawing is put off.
    What was saved before a resize or a stop is not kept: the terminal itself may have moved what it is about.

    While a program owns the whole screen there is no row. After a resize the row is the new lowest; where the terminal itself
    moved the old one to, nobody can know, and the program's next lines write over it.
    """

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text
        self._rows = 0
        self._columns = 0
        self._painted = ""
        self._cursor = Cursor()

    @property
    def taken(self) -> bool:
        """True while the row is taken from the screen."""
        return self._rows > 0

    @property
    def shown(self) -> bool:
        """True while the row is taken, and what the program printed last leaves it alone; if not, ``mend`` is due."""
        return self.taken and not (self._upset and not self.half)

    @property
    def half(self) -> bool:
        """True if the program's output stopped inside a sequence or a character: nothing may be written now."""
        return self._cursor.half

    def stands(self, rows: int, columns: int) -> bool:
        """True if nothing is to be claimed on a screen of that size: the row is there, or there is none to spare."""
        return rows < _SMALLEST or (self._rows, self._columns) == (rows, columns)

    def hear(self, chunk: bytes) -> None:
        """The program prints this."""
        self._cursor.feed(chunk)

    def resized(self, rows: int, columns: int) -> None:
        """The screen has this size."""
        spare = self._cursor.spare
        self._cursor.resize(max(1, rows - spare), columns, spare)

    def moved(self) -> None:
        """Somebody else has written on the screen."""
        self._cursor.forget()

    def claim(self, rows: int, columns: int) -> bytes:
        """Take the lowest of ``rows``; what stood there moves up. Nothing if there is none to spare."""
        if rows < _SMALLEST:
            return self.release()
        self._rows, self._columns = rows, columns
        cursor = self._cursor
        cursor.resize(rows - 1, columns, 1)
        # A line feed at the very bottom makes room; up again, so that the cursor is never in the row.
        room = b"\x1bD\x1b[A" if cursor.high >= cursor.rows and cursor.whole_region else b""
        cursor.make_room()
        return room + self._drawn(self._row(), forced=True)

    def paint(self, *, again: bool = False) -> bytes:
        """Draw the row if its text is new, or ``again`` because the program may have drawn over it."""
        if not self.taken or self.half:
            return b""
        text = self._row()
        if text == self._painted and not (again or self._upset):
            return b""
        return self._drawn(text)

    def mend(self) -> bytes:
        """Protect the row again, if the program's output undid that."""
        return self._drawn(self._row()) if self.taken and self._upset and not self.half else b""

    def release(self) -> bytes:
        """Give the row back, empty."""
        if not self.taken:
            return b""
        given = self._around(self._given_back(), forced=True)
        self._rows = 0
        self._cursor.resize(self._cursor.rows + 1, self._columns, 0)
        return given

    def undo(self) -> bytes:
        """What would give the row back, whenever it is written; here nothing changes."""
        return b"\x1b7" + self._given_back() + b"\x1b8" if self.taken else b""

    @property
    def _upset(self) -> bool:
        return self._cursor.exposed or self._cursor.strayed

    def _drawn(self, text: str, *, forced: bool = False) -> bytes:
        top, bottom = self._cursor.region
        body = b"\x1b[%d;%dr\x1b[%d;1H\x1b[0;7m%s\x1b[0m" % (top + 1, bottom + 1, self._rows, text.encode())
        left = self._left()
        drawn = self._around(body, forced=forced)
        if drawn:
            self._cursor.come_home()
        # What was put off is still to be drawn.
        self._painted = text if drawn else ""
        return left + drawn

    def _left(self) -> bytes:
        """Leave the row for the program's last one; whoever knows the column can go there later."""
        if not self._cursor.strayed or self._cursor.known:
            return b""
        self._cursor.leave_spare()
        return b"\x1b[A"

    def _given_back(self) -> bytes:
        if self._cursor.alternate:
            # Nothing of ours was drawn there, and a region of the program's own is to stay.
            return b"\x1b[r" if self._cursor.whole_region else b""
        return b"\x1b[r\x1b[%d;1H\x1b[0m\x1b[2K" % self._rows

    def _around(self, body: bytes, *, forced: bool) -> bytes:
        """``body``, and what leaves all as it was; nothing if that can't be done now, unless ``forced``."""
        cursor = self._cursor
        body = cursor.pen.plain() + body
        if cursor.known and (cursor.strayed or cursor.saved):
            return body + cursor.back()
        if cursor.saved is None or (forced and not cursor.near_saved):
            return b"\x1b7" + body + b"\x1b8"
        return b"\x1b7" + body + b"\x1b8" + cursor.save_again() if cursor.near_saved else b""

    def _row(self) -> str:
        width, kept = 0, []
        for character in clean(self._text()).replace("\n", " ").replace("\t", " "):
            # What has no width of its own would join whatever stands before it.
            cells = max(0, wcwidth(character))
            if width + cells > self._columns:
                break
            width += cells
            kept.append(character if cells else "")
        return "".join(kept) + " " * (self._columns - width)

"""Status: one protected row at the bottom of our terminal, kept out of the program's reach by the scroll region."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from wcwidth import wcwidth

from .cursor import Cursor
from .text import clean
from .whereabouts import Whereabouts

PERIOD: Final = 0.5
"""Seconds between two looks at the text."""
_SMALLEST: Final = 4
"""With fewer rows than this a program needs them all."""
_LEAVES: Final = re.compile(
    rb"\x1b(?:\[(?P<row>[0-9]{1,9})(?:;[0-9]*[Hf]|[dHf])|(?P<switch>\[\?[0-9;]*[hl])|\[[0-9;]*r|\[!p|c)"
)
"""To a row of the screen, to another screen, or to a region that may be the whole."""


class StatusRow:
    """A row that shows ``text()``. All methods give the bytes to write; nothing is written here.

    The row is drawn only while the program's output rests, and leaves the terminal as the program has it: cursor, saved
    cursor, colours, character sets, origin mode and scroll region. A terminal can save one cursor; as long as that is not the
    program's it is ours. From then on the place has to be known from the output, and while it is not, drawing is put off.
    What was saved before a resize or a stop is not kept: the terminal itself may have moved what it is about.

    While a program owns the whole screen there is no row. After a resize the row is the new lowest. The terminal may have moved
    the old one, but together with the program's cursor: as far below that as it was, it is wiped off. For this the cursor's
    row has to be known, and where the output does not tell it, the terminal is asked.
    """

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text
        self._rows = 0
        self._columns = 0
        self._painted = ""
        self._old: int | None = None
        """How far below the cursor the row of the former size is, if it is still there."""
        self._cursor = Cursor()
        self._wonders = True
        """Something has happened since the terminal was asked where the cursor is."""
        self._believes = False
        """The answer that is under way is about the screen as it is now."""
        self.whereabouts = Whereabouts(self._learn)

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

    @property
    def alternate(self) -> bool:
        """True while the program draws on the alternate screen, which is its own."""
        return self._cursor.alternate

    @property
    def fits_screen(self) -> bool:
        """True if it is taken as it should be: not on the alternate screen, and on the other one protected."""
        return not self.taken if self.alternate else self.shown

    def stands(self, rows: int, columns: int) -> bool:
        """True if nothing is to be done on a screen of that size: the row is there, or there is none, as none is to spare."""
        return (self._rows, self._columns) == (rows, columns) or (rows < _SMALLEST and not self.taken)

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """The output, cut behind what may lead out of the program's rows: there the row is to be looked after at once."""
        begun = 0
        for found in _LEAVES.finditer(chunk):
            row = found["row"]
            within = row is not None and int(row) < self._rows
            if found["switch"] or (self.taken and not within):
                yield chunk[begun : found.end()]
                begun = found.end()
        if begun < len(chunk):
            yield chunk[begun:]

    def hear(self, chunk: bytes) -> None:
        """The program prints this."""
        asked = self._cursor.questions
        self._cursor.feed(chunk)
        self.whereabouts.overheard(self._cursor.questions - asked)
        self._wonders = True

    def resized(self, rows: int, columns: int) -> None:
        """The screen has this size."""
        cursor, spare = self._cursor, self._cursor.spare
        if (rows, columns) != (cursor.rows + spare, cursor.columns):
            # Made narrower, a line between the two may be two lines now; made lower, the lowest row may be another one.
            larger = rows >= cursor.rows + spare and columns >= cursor.columns
            self._old, self._believes = self._below() if larger else None, False
            if not cursor.alternate:
                cursor.mark()
        cursor.resize(max(1, rows - spare), columns, spare)

    def moved(self) -> None:
        """Somebody else has written on the screen."""
        self._old = None
        self._cursor.forget()

    def claim(self, rows: int, columns: int) -> bytes:
        """Take the lowest of ``rows``; what stood there moves up. Nothing if there is none to spare."""
        if rows < _SMALLEST:
            return self.release()
        cursor, wiped = self._cursor, self.wipe()
        self._rows, self._columns = rows, columns
        cursor.resize(rows - 1, columns, 1)
        # A line feed at the very bottom makes room; up again, so that the cursor is never in the row.
        room = b"\x1bD\x1b[A" if cursor.high >= cursor.rows and cursor.whole_region else b""
        cursor.make_room()
        self._wonders = True
        return wiped + room + self._drawn(self._row(), forced=True)

    def wipe(self) -> bytes:
        """Take the row of the former size off the screen, before the new one is claimed. Nothing if its place is unknown."""
        old, self._old, self._painted = self._old, None, ""
        if old is None or not self._cursor.stayed or self.half:
            return b""
        # A region would stop the move down, and to change it moves the cursor.
        return b"\x1b7\x1b[r\x1b8\x1b[0m\x1b[%dB\x1b[2K\x1b8" % old

    def ask(self) -> bytes:
        """The question where the cursor is, if that is unknown and the program has rested since it was asked last."""
        cursor = self._cursor
        if not (self._wonders and self.shown and self._fits) or cursor.alternate or cursor.certain or self.half:
            return b""
        question = self.whereabouts.ask()
        if question:
            self._wonders, self._believes = False, True
            cursor.mark()
        return question

    def paint(self, *, again: bool = False) -> bytes:
        """Draw the row if its text is new, or ``again`` because the program may have drawn over it."""
        if not self._fits or self.half:
            return b""
        text = self._row()
        if text == self._painted and not (again or self._upset):
            return b""
        return self._drawn(text)

    def mend(self) -> bytes:
        """Protect the row again, if the program's output undid that."""
        return self._drawn(self._row()) if self._fits and self._upset and not self.half else b""

    def release(self) -> bytes:
        """Give the row back, empty."""
        if not self.taken:
            return b""
        if self._cursor.alternate:
            self._old = self._below()
        given = b"" if self._fits or self._cursor.alternate else self.wipe()
        given += self._around(self._given_back(), forced=True)
        self._rows = 0
        self._cursor.resize(self._cursor.rows + 1, self._cursor.columns, 0)
        return given

    def undo(self) -> bytes:
        """What would give the row back, whenever it is written; here nothing changes."""
        return b"\x1b7" + self._given_back() + b"\x1b8" if self.taken else b""

    @property
    def _fits(self) -> bool:
        """True if the row is taken, and the screen still has the size that it had then."""
        cursor = self._cursor
        return self.taken and (self._rows, self._columns) == (cursor.rows + cursor.spare, cursor.columns)

    def _below(self) -> int | None:
        """How far below the cursor the row stands, as far as that is certain."""
        cursor = self._cursor
        if self._old is not None:
            return self._old if (cursor.main or cursor).stayed else None
        if not (self._painted and self._fits):
            return None
        row = cursor.mark_main() if cursor.alternate else cursor.low if cursor.certain else None
        return None if row is None else self._rows - 1 - row

    def _learn(self, row: int) -> None:
        if self._believes:
            self._cursor.learn(row)

    @property
    def _upset(self) -> bool:
        return self._cursor.exposed or self._cursor.strayed

    def _drawn(self, text: str, *, forced: bool = False) -> bytes:
        top, bottom = self._cursor.region
        body = b"\x1b[%d;%dr\x1b[%d;1H\x1b[0m\x1b[2K\x1b[7m%s\x1b[0m" % (top + 1, bottom + 1, self._rows, text.encode())
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
        # After a resize the row of that number may be the program's.
        return b"\x1b[r\x1b[%d;1H\x1b[0m\x1b[2K" % self._rows if self._fits else b"\x1b[r"

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
        # Nothing up to the edge: in a narrower window a full row would become two.
        return "".join(kept)

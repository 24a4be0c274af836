"""One slot: pyte's terminal, corrected where it is unlike a real one as to saved cursors, margins and scrolling."""

import codecs
import copy
from itertools import chain

import pyte
from pyte import modes
from wcwidth import wcwidth


class Terminal(pyte.Screen):
    """It saves one cursor, which a restore leaves there; a move that begins outside of the margins is not pulled in."""

    def __init__(self, columns, rows):
        super().__init__(columns, rows)
        self._slot = None
        self._main = None
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._stream = _Stream(self)
        self._stream.use_utf8 = False

    def write(self, data):
        self._stream.feed(self._decoder.decode(data))

    def draw(self, data):
        for character in data:
            if wcwidth(character) == 2 and self.cursor.x == self.columns - 1:
                self.cursor.x = self.columns
            super().draw(character)

    def save_cursor(self, *_):
        self._slot = (copy.copy(self.cursor), self.g0_charset, self.g1_charset, self.charset, modes.DECOM in self.mode)

    def restore_cursor(self, *_):
        if self._slot is None:
            self.cursor_position()
            return
        cursor, self.g0_charset, self.g1_charset, self.charset, origin = self._slot
        self.cursor = copy.copy(cursor)
        (self.mode.add if origin else self.mode.discard)(modes.DECOM)

    def cursor_up(self, count=None):
        top = self.margins.top if self.margins and self.cursor.y >= self.margins.top else 0
        self.cursor.x = min(self.cursor.x, self.columns - 1)
        self.cursor.y = max(self.cursor.y - (count or 1), top)

    def cursor_down(self, count=None):
        self.cursor.x = min(self.cursor.x, self.columns - 1)
        self._descend(count)

    def _descend(self, count=None):
        bottom = self.margins.bottom if self.margins and self.cursor.y <= self.margins.bottom else self.lines - 1
        self.cursor.y = min(self.cursor.y + (count or 1), bottom)

    def cursor_position(self, line=None, column=None):
        top, bottom = self.margins if self.margins and modes.DECOM in self.mode else (0, self.lines - 1)
        self.cursor.y = min(top + (line or 1) - 1, bottom)
        self.cursor.x = min((column or 1) - 1, self.columns - 1)

    def cursor_to_line(self, line=None):
        self.cursor_position(line, min(self.cursor.x, self.columns - 1) + 1)

    def set_margins(self, top=None, bottom=None):
        first, last = (top or 1) - 1, min(bottom or self.lines, self.lines) - 1
        if first < last:
            self.margins = pyte.screens.Margins(first, last)
            self.cursor_position()

    def index(self):
        if self.cursor.y == (self.margins.bottom if self.margins else self.lines - 1):
            super().index()
        else:
            self._descend()

    def next_line(self):
        self.carriage_return()
        self.index()

    def scroll_up(self, count=None):
        self._at_the_top(self.delete_lines, count)

    def scroll_down(self, count=None):
        self._at_the_top(self.insert_lines, count)

    def set_mode(self, *numbers, private=False):
        if private and 1049 in numbers:
            self.save_cursor()
            self._main, self._slot = (self._slot, copy.deepcopy(self.buffer)), None
            self.buffer.clear()
        super().set_mode(*numbers, private=private)

    def reset_mode(self, *numbers, private=False):
        if private and 1049 in numbers and self._main:
            (self._slot, self.buffer), self._main = self._main, None
            self.restore_cursor()
        super().reset_mode(*numbers, private=private)

    def _at_the_top(self, act, count):
        before, self.cursor = self.cursor, copy.copy(self.cursor)
        self.cursor.y = self.margins.top if self.margins else 0
        act(count)
        self.cursor = before

    def shown(self, rows):
        """All cells of the first rows, with their colours."""
        return [[self.buffer[row][column] for column in range(self.columns)] for row in range(rows)]

    def text(self, rows):
        """The first rows as they are read."""
        return ["".join(cell.data for cell in row).rstrip() for row in self.shown(rows)]

    def pen(self):
        """Where and how the next character would be drawn."""
        sets = self.g1_charset if self.charset else self.g0_charset
        return self.cursor.x, self.cursor.y, self.cursor.attrs, sets, modes.DECOM in self.mode


class _Stream(pyte.Stream):
    csi = pyte.Stream.csi | {"s": "save_cursor", "u": "restore_cursor", "S": "scroll_up", "T": "scroll_down"}
    escape = pyte.Stream.escape | {"E": "next_line"}
    events = frozenset(chain(pyte.Stream.events, ("scroll_up", "scroll_down", "next_line")))

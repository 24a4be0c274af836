"""Screen: what a person sees now, as plain rows, from the output that was fed; colours and fonts are left out."""

import codecs
import re
from collections import deque
from collections.abc import Callable
from typing import Final

from wcwidth import wcwidth

from .faint import is_faint
from .pen import Pen

_TOKEN: Final = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<params>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b(?P<string>[\]PX^_])(?:[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c))?"
    r"|\x1b(?P<short>[0-Z\\`-~])"
    r"|\x1b[ -/]+[0-~]"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])"
)
_HALF: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c]*\x1b?|[ -/]*)?\Z")
_STRING_ENDS: Final = re.compile(r"\x07|\x1b\\|\x9c")
_LONGEST_HALF: Final = 4096
_BLANK: Final = " "
_FAINT: Final = "\0"
"""Goes with a character that is written faint."""
_REMEMBERED: Final = 500


class Screen:
    """A grid of ``rows`` × ``columns`` characters and a cursor.

    It knows what programs use to draw: text, cursor moves, erasing, inserting and deleting, scroll regions, and the
    alternate screen. ``scrolled`` counts the lines that left at the top; ``gone`` holds the last of them.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.scrolled = 0
        self.gone: deque[str] = deque(maxlen=_REMEMBERED)
        self.row = 0
        self.column = 0
        self.cursor_shown = True
        self._top = 0
        self._bottom = 0
        self._pen, self._faint = Pen(), False
        self._saved = (0, 0)
        self._main: list[list[str]] | None = None
        self._cells: list[list[str]] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._half = ""
        self._in_string = False
        self._size(rows, columns)
        self._reset()

    def text(self) -> list[str]:
        """The rows from the top, without blanks at their ends."""
        return [_plain(row) for row in self._cells]

    def at_cursor(self) -> tuple[str, str]:
        """What stands before the cursor in its row, and the character at it; a faint one counts as none."""
        row, column = self._cells[self.row], min(self.column, self.columns - 1)
        at = row[column]
        return "".join(row[: self.column]).replace(_FAINT, ""), "" if _FAINT in at else at.strip()

    def resize(self, rows: int, columns: int) -> None:
        """Take a new size. The row with the cursor stays; what no longer fits is cut below it, above it, and at the right."""
        gone = max(0, self.row + 1 - max(rows, 1))
        self._size(rows, columns)
        self._cells = self._fitted(self._cells[gone:])
        self._main = self._main and self._fitted(self._main)
        self._go(self.row - gone, self.column)

    def feed(self, chunk: bytes) -> None:
        """Draw the next bytes of output; a sequence or character split over two calls is one."""
        text = self._half + self._decoder.decode(chunk)
        self._half = ""
        if self._in_string:
            text = self._after_string(text)
        half = _HALF.search(text, max(0, text.rfind("\x1b", 0, max(0, len(text) - 1))))
        if half:
            text, self._half = text[: half.start()], half.group()
        if len(self._half) > _LONGEST_HALF:
            # A picture or a clipboard: its content draws no text, only its end matters.
            self._half, self._in_string = "", True
        self._draw(text)

    def skip(self) -> None:
        """Begin anew with an empty grid: output went by that was not fed, as much as a screenful or more."""
        self._half, self._in_string = "", False
        self._decoder.reset()
        self._top, self._bottom = 0, self.rows - 1
        self._scroll(self.rows)
        self.row, self.column = self.rows - 1, 0

    def _reset(self) -> None:
        self.row = self.column = 0
        self._top, self._bottom = 0, self.rows - 1
        self._saved = (0, 0)
        self._main = None
        self._pen, self._faint = Pen(), False
        self.cursor_shown = True
        self._cells = [self._blank() for _ in range(self.rows)]

    def _after_string(self, text: str) -> str:
        end = _STRING_ENDS.search(text)
        self._in_string = end is None
        return text[end.end() :] if end else ""

    def _draw(self, text: str) -> None:
        for token in _TOKEN.finditer(text):
            match token.lastgroup:
                case "text":
                    self._write(token.group())
                case "final":
                    self._control_sequence(token["params"], token["final"])
                case "control":
                    self._control(token.group())
                case "short":
                    self._escape(token["short"])
                case _:
                    pass

    def _write(self, run: str) -> None:
        if run.isascii():
            while run:
                run = self._put(run)
            return
        for character in run:
            self._put_one(character, wcwidth(character))

    def _put(self, run: str) -> str:
        """Put narrow characters as far as the row goes; what is left over begins the next row."""
        self._wrap_if_full(1)
        part = run[: self.columns - self.column]
        self._cells[self.row][self.column : self.column + len(part)] = [c + _FAINT for c in part] if self._faint else part
        self.column += len(part)
        return run[len(part) :]

    def _put_one(self, character: str, width: int) -> None:
        if width <= 0:
            return
        self._wrap_if_full(width)
        # A wide character fills two cells, the second with nothing.
        cells = [character + _FAINT if self._faint else character, ""][:width]
        self._cells[self.row][self.column : self.column + width] = cells[: self.columns - self.column]
        self.column += width

    def _wrap_if_full(self, width: int) -> None:
        if self.column + width > self.columns and self.column:
            self.column = 0
            self._line_feed()

    def _line_feed(self) -> None:
        if self.row == self._bottom:
            self._scroll(1)
        elif self.row < self.rows - 1:
            self.row += 1

    def _reverse_line_feed(self) -> None:
        if self.row == self._top:
            self._insert_rows(self._top, 1)
        elif self.row:
            self.row -= 1

    def _scroll(self, count: int) -> None:
        count = min(count, self._bottom + 1 - self._top)
        self.gone.extend(_plain(row) for row in self._cells[self._top : self._top + count])
        self.scrolled += count
        self._delete_rows(self._top, count)

    def _delete_rows(self, at: int, count: int) -> None:
        count = min(count, self._bottom + 1 - at)
        if count > 0:
            del self._cells[at : at + count]
            self._cells[self._bottom + 1 - count : self._bottom + 1 - count] = [self._blank() for _ in range(count)]

    def _insert_rows(self, at: int, count: int) -> None:
        count = min(count, self._bottom + 1 - at)
        if count > 0:
            del self._cells[self._bottom + 1 - count : self._bottom + 1]
            self._cells[at:at] = [self._blank() for _ in range(count)]

    def _control(self, control: str) -> None:
        if control in "\n\x0b\x0c":
            self._line_feed()
        elif control == "\r":
            self.column = 0
        elif control == "\b":
            self.column = max(0, min(self.column, self.columns - 1) - 1)
        elif control == "\t":
            self.column = min(self.columns - 1, (self.column // 8 + 1) * 8)

    def _escape(self, final: str) -> None:
        if final == "7":
            self._saved = (self.row, self.column)
        elif final == "8":
            self._go(*self._saved)
        elif final == "D":
            self._line_feed()
        elif final == "E":
            self.column = 0
            self._line_feed()
        elif final == "M":
            self._reverse_line_feed()
        elif final == "c":
            self._reset()

    def _control_sequence(self, params: str, final: str) -> None:
        if params[:1] in ("<", "=", ">"):
            return
        if params[:1] == "?":
            self._private(params[1:], final)
            return
        if final == "m":
            self._pen.style(params)
            self._faint = is_faint(self._pen)
            return
        numbers = [int(part) if part.isdigit() and len(part) < 6 else 0 for part in params.split(";")]
        action = _ACTIONS.get(final)
        if action:
            action(self, numbers)

    def _private(self, params: str, final: str) -> None:
        modes = params.split(";")
        if final in "hl" and not {"47", "1047", "1049"}.isdisjoint(modes):
            self._alternate(final == "h")
        if final in "hl" and "25" in modes:
            self.cursor_shown = final == "h"

    def _alternate(self, enter: bool) -> None:
        if enter and self._main is None:
            self._main = self._cells
            self._saved = (self.row, self.column)
            self._cells = [self._blank() for _ in range(self.rows)]
        elif not enter and self._main is not None:
            self._cells, self._main = self._main, None
            self._go(*self._saved)

    def _above(self, count: int) -> int:
        # Within the scroll region a move up or down does not leave it.
        return max(self.row - count, self._top if self.row >= self._top else 0)

    def _below(self, count: int) -> int:
        return min(self.row + count, self._bottom if self.row <= self._bottom else self.rows - 1)

    def _go(self, row: int, column: int) -> None:
        self.row = min(max(row, 0), self.rows - 1)
        self.column = min(max(column, 0), self.columns - 1)

    def _erase_row(self, how: int) -> None:
        column = min(self.column, self.columns - 1)
        start, end = ((column, self.columns), (0, column + 1), (0, self.columns))[how if how < 3 else 2]
        self._cells[self.row][start:end] = [_BLANK] * (end - start)

    def _erase_screen(self, how: int) -> None:
        if how in (0, 1):
            self._erase_row(how)
        rows = (range(self.row + 1, self.rows), range(self.row), range(self.rows), range(0))[min(how, 3)]
        for row in rows:
            self._cells[row] = self._blank()

    def _shift(self, count: int, delete: bool) -> None:
        row, column = self._cells[self.row], min(self.column, self.columns - 1)
        count = min(count, self.columns - column)
        if delete:
            row[column:] = row[column + count :] + [_BLANK] * count
        else:
            row[column:] = ([_BLANK] * count + row[column:])[: self.columns - column]

    def _wipe(self, count: int) -> None:
        column = min(self.column, self.columns - 1)
        count = min(count, self.columns - column)
        self._cells[self.row][column : column + count] = [_BLANK] * count

    def _region(self, top: int, bottom: int) -> None:
        top, bottom = max(top, 1) - 1, min(bottom or self.rows, self.rows) - 1
        if top < bottom:
            self._top, self._bottom = top, bottom
            self._go(0, 0)

    def _size(self, rows: int, columns: int) -> None:
        self.rows, self.columns = max(rows, 1), max(columns, 1)
        self._top, self._bottom = 0, self.rows - 1

    def _fitted(self, cells: list[list[str]]) -> list[list[str]]:
        kept = [(row + self._blank())[: self.columns] for row in cells[: self.rows]]
        return kept + [self._blank() for _ in range(self.rows - len(kept))]

    def _blank(self) -> list[str]:
        return [_BLANK] * self.columns


def _plain(row: list[str]) -> str:
    return "".join(row).replace(_FAINT, "").rstrip()


def _first(numbers: list[int]) -> int:
    return numbers[0] or 1


def _second(numbers: list[int]) -> int:
    return (numbers[1] if len(numbers) > 1 else 0) or 1


_ACTIONS: Final[dict[str, Callable[[Screen, list[int]], None]]] = {
    "A": lambda screen, n: screen._go(screen._above(_first(n)), screen.column),
    "B": lambda screen, n: screen._go(screen._below(_first(n)), screen.column),
    "C": lambda screen, n: screen._go(screen.row, screen.column + _first(n)),
    "D": lambda screen, n: screen._go(screen.row, min(screen.column, screen.columns - 1) - _first(n)),
    "E": lambda screen, n: screen._go(screen._below(_first(n)), 0),
    "F": lambda screen, n: screen._go(screen._above(_first(n)), 0),
    "G": lambda screen, n: screen._go(screen.row, _first(n) - 1),
    "`": lambda screen, n: screen._go(screen.row, _first(n) - 1),
    "H": lambda screen, n: screen._go(_first(n) - 1, _second(n) - 1),
    "f": lambda screen, n: screen._go(_first(n) - 1, _second(n) - 1),
    "d": lambda screen, n: screen._go(_first(n) - 1, screen.column),
    "J": lambda screen, n: screen._erase_screen(n[0]),
    "K": lambda screen, n: screen._erase_row(n[0]),
    "X": lambda screen, n: screen._wipe(_first(n)),
    "P": lambda screen, n: screen._shift(_first(n), True),
    "@": lambda screen, n: screen._shift(_first(n), False),
    "L": lambda screen, n: screen._insert_rows(screen.row, _first(n)),
    "M": lambda screen, n: screen._delete_rows(screen.row, _first(n)),
    "S": lambda screen, n: screen._scroll(_first(n)),
    "T": lambda screen, n: screen._insert_rows(screen._top, _first(n)),
    "r": lambda screen, n: screen._region(n[0], n[1] if len(n) > 1 else 0),
    "s": lambda screen, n: screen._escape("7"),
    "u": lambda screen, n: screen._escape("8"),
}

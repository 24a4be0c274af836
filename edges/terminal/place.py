"""Place: where a program's cursor is, as far as that is certain; a row is a span, a column is known or is not."""

from collections.abc import Callable

from wcwidth import wcwidth


class Place:
    """A cursor among ``rows`` rows of the program's, below which ``spare`` more are ours, and the region that it scrolls.

    Rows and columns count from 0. Behind the last column, where the next character begins a row, ``column`` is ``columns``.
    """

    def __init__(self) -> None:
        self.rows = self.columns = 1
        self.spare = 0
        # A program is started at the beginning of a line, in any row.
        self.low, self.high = 0, 0
        self.column: int | None = 0
        self.shift: int | None = None
        """Rows from the saved place down to this one, where that is certain."""
        self.stayed = False
        """True if since the last ``mark`` it was certainly not moved out of its row, nor did anything scroll for it."""
        self.region = (0, 0)
        """Top and bottom row, as the program sees it."""
        self.exposed = False
        """The terminal's region goes beyond the program's rows."""
        self.wraps = True
        """What goes beyond the last column goes on in the next row."""

    @property
    def whole_region(self) -> bool:
        """True if the program's region is all of its rows."""
        return self.region == (0, self.rows - 1)

    @property
    def certain(self) -> bool:
        """True if its row is known."""
        return self.low == self.high

    @property
    def strayed(self) -> bool:
        """True if it stands for certain in a row that is not the program's."""
        return self.certain and self.low >= self.rows

    def lose(self) -> None:
        """From here on the place is unknown."""
        self.low, self.high, self.column = 0, self._last, None
        self._lose_track()

    def mark(self) -> None:
        """Note whether it stays in this row."""
        self.stayed = True

    def learn(self, row: int) -> None:
        """At the last ``mark`` it stood in this row. What can't be true after what was printed is not believed."""
        if self.stayed and self.low <= row <= self.high:
            self.low = self.high = row

    def leave_spare(self) -> None:
        """Wherever it was, it now stands in a row of the program's."""
        if self.high >= self.rows:
            self.low, self.high = min(self.low, self.rows - 1), self.rows - 1
            self._lose_track()

    def _lose_track(self) -> None:
        self.shift, self.stayed = None, False

    @property
    def _last(self) -> int:
        return self.rows + self.spare - 1

    @property
    def _bottom(self) -> int:
        return self._last if self.exposed else self.region[1]

    def _in_row(self, column: int | None) -> bool:
        return column is not None and column < self.columns

    def _advance(self, cells: int) -> None:
        if not self.wraps:
            # Some stay on the last column, some behind it.
            end = self.column + cells if self.column is not None else self.columns
            self.column = end if end < self.columns else None
        elif self.column is None:
            self.high = self._down(self.high, cells // self.columns + 1)
            self._lose_track()
        else:
            rows, rest = divmod(self.column + cells - 1, self.columns)
            self.column = rest + 1
            self._feed_lines(rows)

    def _advance_wide(self, width: int) -> None:
        if self.column is not None and self.columns - width < self.column < self.columns:
            self.column = self.columns if self.wraps else None
        self._advance(width)

    def _feed_lines(self, count: int) -> None:
        if count:
            self._step(lambda row: self._down(row, count))

    def _down(self, row: int, count: int) -> int:
        return min(row + count, self._bottom if row <= self._bottom else self._last)

    def _up(self, row: int, count: int) -> int:
        return max(row - count, self.region[0] if row >= self.region[0] else 0)

    def _step(self, to: Callable[[int], int]) -> None:
        low, high = to(self.low), to(self.high)
        # Where margins lie within the span, or stop a move at one end of it, it is not the same for every row.
        same = self.certain or (low - self.low == high - self.high and self.whole_region and self.high < self.rows)
        self.shift = self.shift + low - self.low if same and self.shift is not None else None
        self.low, self.high, self.stayed = low, high, False

    def _move(self, rows: int, column: int | None) -> None:
        """So many rows down, or up; the region's margins stop it."""
        step = self._down if rows > 0 else self._up
        self._step(lambda row: step(row, abs(rows)))
        self._to_column(column)

    def _to_column(self, column: int | None) -> None:
        self.column = None if column is None else max(0, min(column, self.columns - 1))

    def _off_edge(self) -> None:
        # Behind the last column terminals differ on whether this keeps the cursor there.
        if self.column == self.columns:
            self.column = None

    def _reverse(self) -> None:
        self._off_edge()
        self._step(lambda row: row if row == self.region[0] else max(row - 1, 0))

    def _open_region(self) -> None:
        self.region, self.exposed = (0, self.rows - 1), self.spare > 0

    def _write(self, text: str) -> None:
        if text.isascii():
            self._advance(len(text))
            return
        for character in text:
            width = wcwidth(character)
            if width > 0:
                self._advance_wide(width)
            else:
                # Terminals differ on what is joined to what stands before it.
                self.column = None

"""Cursor: what a terminal keeps for a program beside its text — the cursor, the saved cursor, pen, and scroll region.

Where the program began on the screen nobody can know, so the row is a span that narrows with what is printed. Nothing here
guesses: what terminals do differently, or what is not followed, makes the place unknown until the program says it again.
"""

from typing import Final, NamedTuple

from .pen import Pen
from .place import Place
from .sequences import Sequences

_WRAP: Final = "7"
_ORIGIN: Final = "6"
_SIDES: Final = "69"
_NEW_LINE: Final = "20"
_ALTERNATE: Final = ("47", "1047", "1049")
_NO_SIZE: Final = (1, 1)
_MOST: Final = 1_000_000
_WHERE: Final = 6


class Saved(NamedTuple):
    """What the program's last save holds."""

    low: int
    high: int
    column: int | None
    pen: Pen


class Main(NamedTuple):
    """What the main screen keeps of the cursor while the program draws on the other one."""

    low: int
    high: int
    column: int | None
    stayed: bool


class Cursor(Place):
    """Follows the output."""

    def __init__(self) -> None:
        super().__init__()
        self.pen = Pen()
        self.saved: Saved | None = None
        self._sequences = Sequences()
        self.main: Main | None = None
        """There while the program draws on the alternate screen."""
        self._modes: set[str] = set()
        self._own_stops = False
        self.questions = 0
        """How often the program asked where the cursor is."""

    @property
    def half(self) -> bool:
        """True if the output stopped inside a sequence or a character."""
        return self._sequences.half

    @property
    def alternate(self) -> bool:
        """True while the program draws on the alternate screen."""
        return self.main is not None

    @property
    def known(self) -> bool:
        """True if the place can be gone to: not so behind the last column, where the next character begins a row."""
        return self.low == self.high and self._in_row(self.column) and _SIDES not in self._modes

    @property
    def near_saved(self) -> bool:
        """True if the saved place can be reached from this one, and this one from there, by relative moves."""
        saved = self.saved
        reached = saved is not None and self.shift is not None and self._in_row(saved.column) and self._in_row(self.column)
        if saved is None or not reached or saved.pen.origin or self.pen.origin or _SIDES in self._modes:
            return False
        # A margin between the two would stop the move.
        return self.shift == 0 or self.whole_region

    def resize(self, rows: int, columns: int, spare: int) -> None:
        """The program has so many rows and columns now, and ``spare`` rows stand below them."""
        before, whole = (self.rows + self.spare, self.columns), self.whole_region
        new = before != (rows + spare, columns)
        self.rows, self.columns, self.spare = rows, columns, spare
        if new or whole or self.region[1] >= rows:
            self._open_region()
        if new:
            # Terminals move rows about in ways of their own, and break lines anew. That is no move of the program's.
            same = before[1] == columns or before == _NO_SIZE
            column, stayed = self.column if same else None, self.stayed
            self.forget()
            self.column, self.stayed = column, stayed
            if self.main:
                self.main = Main(0, self._last, self.main.column if same else None, self.main.stayed)

    def forget(self) -> None:
        """Somebody else has moved what stands on the screen: no place is known, and what was saved holds no more."""
        self.lose()
        self.saved = None

    def mark_main(self) -> int | None:
        """``mark`` on the main screen, while the program draws on the other; the row there, if it is certain."""
        if self.main is None:
            return None
        self.main = self.main._replace(stayed=True)
        return self.main.low if self.main.low == self.main.high else None

    def make_room(self) -> None:
        """What stood in the last row was moved up, and all that the program knows of moved with it."""
        self.low, self.high, self.stayed = min(self.low, self.rows - 1), min(self.high, self.rows - 1), False
        if self.saved:
            low, high = min(self.saved.low, self.rows - 1), min(self.saved.high, self.rows - 1)
            self.saved = self.saved._replace(low=low, high=high)

    def come_home(self) -> None:
        """The terminal's region was put right; a cursor in a row that is not the program's was put into the last that is."""
        self.exposed = False
        if self.strayed:
            self.leave_spare()

    def feed(self, chunk: bytes) -> None:
        """The program printed this."""
        for token in self._sequences.feed(chunk):
            match token.lastgroup:
                case "text":
                    self._write(token.group())
                case "control":
                    self._control(token.group())
                case "final":
                    self._control_sequence(token["params"], token["middle"], token["final"])
                case "short":
                    self._escape(token["short"])
                case "member":
                    self._designate(token["set"], token["member"])
                case _:
                    self._string(token["string"], token["content"])

    def back(self) -> bytes:
        """From wherever to where it stands; it must be ``known``. Goes last: switching how rows count moves the cursor."""
        row, column = min(self.low, self.rows - 1), self.column or 0
        switch = b""
        if self.pen.origin:
            switch, row = b"\x1b[?6h", max(0, row - self.region[0])
        return self.pen.again() + switch + b"\x1b[%d;%dH" % (row + 1, column + 1)

    def save_again(self) -> bytes:
        """From this place: saves again what the program saved, and comes back; it must be ``near_saved``."""
        assert self.saved is not None
        shift, saved = self.shift or 0, self.saved
        there = saved.pen.again(self.pen.sets) + _vertically(-shift) + b"\x1b[%dG" % ((saved.column or 0) + 1)
        return there + b"\x1b7" + self.pen.again(saved.pen.sets) + _vertically(shift) + b"\x1b[%dG" % ((self.column or 0) + 1)

    def _go(self, row: int) -> None:
        first, last = (self.region[0], self._bottom) if self.pen.origin else (0, self._last)
        self.low = self.high = max(first, min(first + row, last))
        self._lose_track()

    def _control(self, control: str) -> None:
        if control in "\n\x0b\x0c":
            self._off_edge()
            self.column = 0 if _NEW_LINE in self._modes else self.column
            self._feed_lines(1)
        elif control == "\r":
            self.column = 0
        elif control == "\b":
            self._to_column(None if self.column is None else min(self.column, self.columns - 1) - 1)
        elif control == "\t":
            self._tab(1)
        elif control in "\x0e\x0f":
            self.pen.shift = int(control == "\x0e")
        elif control >= "\x80":
            # Half of the terminals take it for the beginning of a sequence.
            self.lose()

    def _tab(self, count: int) -> None:
        self._off_edge()
        known = None if self._own_stops else self.column
        self._to_column(None if known is None else (known // 8 + count) * 8)

    def _escape(self, final: str) -> None:
        if final == "7":
            self._save()
        elif final == "8":
            self._restore()
        elif final in "DE":
            self._off_edge()
            self.column = 0 if final == "E" else self.column
            self._feed_lines(1)
        elif final == "M":
            self._reverse()
        elif final == "H":
            self._own_stops = True
        elif final in "no":
            self.pen.shift = "no".index(final) + 2
        elif final == "c":
            self._reset()

    def _save(self) -> None:
        self.saved, self.shift = Saved(self.low, self.high, self.column, self.pen.copy()), 0

    def _restore(self) -> None:
        if self.saved is None:
            # What an earlier program left there.
            self.lose()
            return
        self.low, self.high, self.column, pen = self.saved
        self.pen, self.shift, self.stayed = pen.copy(), 0, False
        if pen.origin and not self.region[0] <= self.low <= self.high <= self.region[1]:
            # Some terminals pull it into the region.
            self.lose()

    def _reset(self) -> None:
        self.pen, self.saved, self._modes, self._own_stops = Pen(), None, set(), False
        self.wraps = True
        self.low = self.high = self.column = 0
        self.main = None
        self._lose_track()
        self._open_region()

    def _designate(self, name: str, member: str) -> None:
        if name[0] in "()*+-./":
            self.pen.sets[name] = member
        elif name + member == "#8":
            self.low = self.high = self.column = 0
            self._open_region()

    def _string(self, kind: str, content: str) -> None:
        # A picture moves the cursor by its height.
        if kind in "P_" or (kind == "]" and content.startswith("1337;")):
            self.lose()

    def _control_sequence(self, params: str, middle: str, final: str) -> None:
        if middle or params[:1] in ("<", "=", ">", "?"):
            self._rarer(params, middle, final)
            return
        numbers = [int(part) if part.isdigit() else 0 for part in params.split(";")]
        if final == "m":
            self.pen.style(params)
        elif final == "n":
            self.questions += numbers[0] == _WHERE
        elif final == "r":
            self._set_region(numbers[0], numbers[1] if len(numbers) > 1 else 0)
        elif final in "su" and not params:
            self._escape("78"["su".index(final)])
        elif final in "hl":
            self._switch(params.split(";"), final == "h")
        else:
            self._moved(final, numbers)

    def _moved(self, final: str, numbers: list[int]) -> None:
        count = min(numbers[0] or 1, _MOST)
        across = None if self.column is None else min(self.column, self.columns - 1)
        if final in _VERTICAL:
            sign, column = _VERTICAL[final]
            self._move(sign * count, across if column is None else column)
        elif final in "Ca":
            self._to_column(None if across is None else across + count)
        elif final == "D":
            self._to_column(None if across is None else across - count)
        elif final in "G`":
            self._to_column(count - 1)
        elif final in "Hfd":
            self._go(count - 1)
            self._to_column(across if final == "d" else ((numbers[1] if len(numbers) > 1 else 0) or 1) - 1)
        elif final == "I":
            self._tab(count)
        elif final == "Z":
            self._to_column(None if self._own_stops or across is None else (-(-across // 8) - count) * 8)
        elif final in "LM":
            # To the first column, or not.
            self.column = 0 if across == 0 else None
        elif final == "b":
            self._advance(count)
        elif final == "g":
            self._own_stops = True
        elif final in "JKPX@":
            self._off_edge()

    def _rarer(self, params: str, middle: str, final: str) -> None:
        if params[:1] == "?" and final in "hl" and not middle:
            self._switch([f"?{part}" for part in params[1:].split(";")], final == "h")
        elif middle == "!" and final == "p":
            self.pen, self.saved, self.shift = Pen(), None, None
            self._open_region()

    def _switch(self, modes: list[str], on: bool) -> None:
        for mode in modes:
            name = mode.removeprefix("?")
            if mode in (_NEW_LINE, f"?{_SIDES}"):
                (self._modes.add if on else self._modes.discard)(name)
            elif mode == f"?{_WRAP}":
                self.wraps = on
            elif name == mode:
                continue
            elif name == _ORIGIN:
                self.pen.origin = on
                self._go(0)
                self.column = 0
            elif name == "1048":
                self._escape("7" if on else "8")
            elif name in _ALTERNATE:
                self._alternate(on, whole=name == "1049")

    def _alternate(self, enter: bool, *, whole: bool) -> None:
        if enter == self.alternate:
            return
        if whole:
            # That saves the cursor by itself, and restores it; on the other screen nothing is saved.
            self.saved = None
        main, stayed = self.main, self.stayed
        self._lose_track()
        if main is None:
            self.main = Main(self.low, self.high, self.column, stayed)
            return
        if whole:
            self.low, self.high, self.column, self.stayed = main
        self.main = None

    def _set_region(self, top: int, bottom: int) -> None:
        top, bottom = max(top, 1) - 1, min(bottom or self._last + 1, self._last + 1) - 1
        if top >= bottom:
            return
        self.exposed = bottom >= self.rows
        if top < self.rows - 1:
            self.region = top, min(bottom, self.rows - 1)
        self._go(0)
        self.column = 0


_VERTICAL: Final[dict[str, tuple[int, int | None]]] = {
    "A": (-1, None), "B": (1, None), "e": (1, None), "E": (1, 0), "F": (-1, 0),
}  # fmt: skip


def _vertically(rows: int) -> bytes:
    if not rows:
        return b""
    return b"\x1b[%d%c" % (abs(rows), b"BA"[rows < 0])

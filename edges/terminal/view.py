"""View: looks at the screen now and then, off the data path, and says whether anything happened that means work."""

import re
from collections import deque
from typing import Final

from .blank import AtCursor
from .dialog import dialog_in
from .screen import Screen

_NUMBERS: Final = re.compile(r"\d+")
_SPACES: Final = re.compile(r"\s+")
_MOST: Final = 16_384
"""Bytes that one look reads. When more went by, it scrolled away; only what may still be seen is read."""


class View:
    """The child's screen, brought up to date when somebody looks."""

    def __init__(self, rows: int, columns: int) -> None:
        self.screen = Screen(rows, columns)
        self.dialog = False
        self._fresh: deque[bytes] = deque()
        self._size = 0
        self._unseen = False
        """True if output was read only because the size changed; nobody has looked at it."""
        self._skipped = False
        self._shown: list[str] = []
        self._scrolled = 0

    @property
    def fresh(self) -> bool:
        """True if output came since the last look."""
        return self._size > 0 or self._unseen

    @property
    def place(self) -> AtCursor:
        """Where the cursor was at the last look."""
        before, at = self.screen.at_cursor()
        return AtCursor(before, bool(at), self.screen.cursor_shown)

    def show(self, chunk: bytes) -> None:
        """Keep output for the next look; what can't matter any more is let go."""
        self._fresh.append(chunk)
        self._size += len(chunk)
        while self._size - len(self._fresh[0]) > _MOST:
            self._size -= len(self._fresh.popleft())
            self._skipped = True

    def look(self, *, typed: bool = False) -> bool:
        """Read what came; true if the text changed by more than numbers, or moved up.

        A clock or a counter that is painted over in place is no work; a spinner's sign is. ``typed``: a line is being written,
        so that what the cursor stands behind is nobody's question.
        """
        if not self.fresh:
            return False
        self._catch_up()
        self._unseen = False
        text = self.screen.text()
        shown = [_SPACES.sub(" ", _NUMBERS.sub("0", row)) for row in text]
        changed = shown != self._shown or self.screen.scrolled != self._scrolled
        if changed:
            self._shown, self._scrolled = shown, self.screen.scrolled
        self.dialog = dialog_in(text, self.screen.row, typed=typed)
        return changed

    def resize(self, rows: int, columns: int) -> None:
        """Take a new size; what is painted for it afterwards counts as a change only if the text differs."""
        self._unseen = self.fresh
        self._catch_up()
        self.screen.resize(rows, columns)

    def _catch_up(self) -> None:
        data = b"".join(self._fresh)
        self._fresh.clear()
        self._size = 0
        if self._skipped or len(data) > _MOST:
            self._skipped = False
            self.screen.skip()
            data = data[-_MOST:]
            # Begin at a line or at a sequence, not within one.
            starts = [at for at in (data.find(b"\n"), data.find(b"\x1b")) if at >= 0]
            data = data[min(starts, default=0) :]
        self.screen.feed(data)

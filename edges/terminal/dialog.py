"""Dialog: whether a menu or question that a keystroke would answer is on the screen, judged by its lowest rows."""

from collections.abc import Sequence
from typing import Final

from .lines import Line, lines_of
from .menu import Menu, menus
from .question import asks, hints, needs_answer
from .ready import being_written, empty, tallied, written

_LOOKED_AT: Final = 40
"""Dialogs stand at the bottom of what is written; rows further up are history."""
_BELOW: Final = 8
"""Rows of text that may stand below a menu, to explain it or for other things; more were printed after it."""


def dialog_in(rows: Sequence[str], cursor: int | None = None, *, typed: bool = False) -> bool:
    """True if ``rows``, a screen from top to bottom, show a menu, a question, or a wait for any key.

    ``cursor`` is the row with the cursor, if that is known: there a question is asked, and text is taken. A prompt at or
    above it closes what stands above that prompt. ``typed`` says that a line is being written there: it is no question,
    whatever it ends with, even where no prompt tells.
    """
    end = max((at + 1 for at, row in enumerate(rows) if row.strip()), default=0)
    if cursor is not None and not 0 <= cursor < len(rows):
        cursor = None
    end = max(end, -1 if cursor is None else cursor + 1)
    first = max(0, end - _LOOKED_AT)
    lines = lines_of(rows[first:end])
    if cursor is not None:
        cursor = cursor - first if cursor >= first else None
    return bool(lines) and (_asked(lines, cursor, typed) or _offered(lines, cursor))


def _asked(lines: list[Line], cursor: int | None, typed: bool) -> bool:
    """True if the row with the cursor, or else the lowest, is a question."""
    if cursor is not None and lines[cursor].text:
        text = lines[cursor].text
        if typed or being_written(lines, cursor):
            return tallied(lines, cursor)
        return asks(text, here=True)
    at = max((at for at, line in enumerate(lines) if line.text), default=0)
    text = lines[at].text
    if being_written(lines, at):
        return False
    return needs_answer(text) or (cursor is None and asks(text, here=False))


def _offered(lines: list[Line], cursor: int | None) -> bool:
    """True if something to choose from stands below the last prompt."""
    found = menus(lines, cursor)
    lowest = [at for at, line in enumerate(lines) if line.text][-3:]
    hinting = [at for at in lowest if hints(lines[at].text)]
    if not found and not hinting:
        return False
    floor = _last_prompt(lines, len(lines) if cursor is None else cursor + 1, found)
    live = [menu for menu in found if menu.first > floor]
    return any(at > floor for at in hinting) or any(not _over(lines, menu, cursor) for menu in live)


def _last_prompt(lines: list[Line], end: int, found: Sequence[Menu]) -> int:
    of_menus = {at for menu in found for at in range(menu.first, menu.last + 1)}
    prompts = (at for at in range(end - 1, -1, -1) if at not in of_menus and _takes_text(lines[at].text))
    return next(prompts, -1)


def _takes_text(text: str) -> bool:
    return bool(text) and (empty(text) or written(text))


def _over(lines: list[Line], menu: Menu, cursor: int | None) -> bool:
    """True if other text came after the menu."""
    if not menu.sure and cursor is not None and cursor > menu.last and lines[cursor].text and not hints(lines[cursor].text):
        return True
    return sum(bool(line.text) for line in lines[menu.last + 1 :]) > _BELOW

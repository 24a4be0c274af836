"""Dialog: whether a menu or question that a keystroke would answer is on the screen, judged by its lowest rows."""

import re
from collections.abc import Sequence
from typing import Final

_LOOKED_AT: Final = 24
"""Dialogs stand at the bottom of what is written; rows further up are history."""

_POINTER: Final = r"[❯›▸▶➜➤→>●◉▌*]"
_FRAME: Final = " \t│┃|║▏▕╎┆"
_NUMBERED: Final = re.compile(rf"(?P<here>{_POINTER})?\s*\(?\d{{1,2}}[.):]\s+\S")
_CHOICE: Final = re.compile(
    rf"(?P<here>{_POINTER})?\s*(?:[○◯◻☐]|\[[ x]\])?\s*"
    r"(?:yes|no|allow|deny|approve|reject|accept|decline|proceed|cancel|continue|abort|quit|exit|skip|always|never|trust)\b",
    re.IGNORECASE,
)
_YES_NO: Final = re.compile(r"[\[(]\s*y(?:es)?\s*[/|]\s*n(?:o)?(?:\s*[/|]\s*[\w?]+)*\s*[\])]\s*[:?>]*\s*\S?$", re.IGNORECASE)
_ANY_KEY: Final = re.compile(
    r"press (?:any key|enter|return)\b.{0,40}$|^\s*-+ ?more ?-+|^\(END\)$|\bpass(?:word|phrase)\b[^:]{0,60}:$",
    re.IGNORECASE,
)
_COMPOSER: Final = re.compile(r"[>❯›»](?:\s|$)")
_GAP: Final = 3
"""Options may wrap or carry lines of explanation, but not more than these."""
_HINT: Final = re.compile(
    r"(?:enter|return|⏎|↵) to (?:select|confirm|choose|submit answer)"
    r"|(?:use|↑/?↓|arrow) .{0,12}(?:arrow keys|to navigate|to move)"
    r"|tab to (?:amend|toggle)|space to (?:select|toggle)",
    re.IGNORECASE,
)


def dialog_in(rows: Sequence[str]) -> bool:
    """True if ``rows``, a screen from top to bottom, show a menu, a yes-or-no question, or a wait for any key.

    Only signs that a plain composer or printed text does not have count: one marked line among the options, a question
    on the very last line, a hint how to choose.
    """
    low = [row.strip(_FRAME) for row in rows]
    low = [row for row in low if row.strip("─━═╭╮╰╯┌┐└┘-_ ")][-_LOOKED_AT:]
    if not low:
        return False
    last = low[-1]
    if _YES_NO.search(last) or _ANY_KEY.search(last):
        return True
    return _menu(low, _NUMBERED) or _menu(low, _CHOICE) or any(_HINT.search(row) for row in low[-3:])


def _menu(rows: Sequence[str], option: re.Pattern[str]) -> bool:
    """Two or more options close together, exactly one of them marked: a list in a text marks none or all.

    A composer below them says that they were answered.
    """
    marked = options = gap = 0
    for at, row in enumerate([*rows, *[""] * (_GAP + 1)]):
        match = option.match(row)
        if match:
            options, gap = options + 1, 0
            marked += bool(match["here"])
            continue
        gap += 1
        if gap > _GAP:
            if marked == 1 and options >= 2 and not any(_COMPOSER.match(later) for later in rows[at - _GAP :]):
                return True
            marked = options = 0
    return False

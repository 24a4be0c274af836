"""Ready: whether a row is the prompt of a program that takes text, with or without something written behind it."""

import re
from typing import Final

from .lines import Line
from .prompt import goes_on

_MARKS: Final = "$%#❯❱›»λ➜>✗"
_OF_PROMPTS_ONLY: Final = "$❯λ➜✗"
"""Marks that end no sentence."""
_RIGHT_HAND: Final = re.compile(rf"(?<=[{_MARKS}])\s{{8,}}\S.*$")
"""Shells can show the time or a branch at the far end of the row."""
_OTHER: Final = re.compile(
    r"In \[\d+\]:"
    r"|\((?!END\)|y(?:es)?\))[A-Za-z][\w-]*\)"  # debuggers
    r"|➜\s.*"
)
_SHARE: Final = re.compile(r"(?:^|[\s(])\d{1,3}%$")
_PLACE: Final = re.compile(r"[@~/\\()\[\]]")
"""Before a prompt's mark stands one word, or where one is."""
_WRITTEN: Final = re.compile(
    r"(?:>>>|\.\.\.>?|[$%#❯❱›»λ➜>→])\s"
    r"|[^\s@]*@[^?]*?[$%#>❯]\s"
    r"|(?:\(\S+\)\s*)?[\w.:-]+(?:\([^)\s]*\)[\w.:]*)?[$#>]\s"
    r"|[~/]\S*\s?[$%#❯>]\s"
    r"|(?:\(\S+\)\s+)?\S*\s?[❯λ➜]\s"
    r"|PS [A-Z/~].*?>\s"
    r"|In \[\d+\]:\s"
    r"|\([A-Za-z][\w-]*\)\s"
)
_ANSWERS: Final = re.compile(r"\b(?:what|which|select(?:ion)?|choose|choice|option|pick|enter|answer|update)\b", re.IGNORECASE)
_TALLIED: Final = re.compile(r"\d+/\d+(?:\s*\(\d+\))?(?:\s*─+)?")
_BEGINNING: Final = 120
"""Characters within which a prompt ends."""
_FULL_FROM: Final = 40
_ROWS_OF_ONE: Final = 12
"""One entry goes over more rows than this only when nobody can tell any more."""


def empty(text: str) -> bool:
    """True if ``text`` is a prompt with nothing behind it."""
    text = _RIGHT_HAND.sub("", text)
    if goes_on(text) or _OTHER.fullmatch(text):
        return True
    if not text.endswith(tuple(_MARKS)) or _SHARE.search(text):
        return False
    before = text[:-1].strip()
    if _PLACE.search(before):
        return not (text.endswith(">") and "@" not in before and _ANSWERS.search(before))
    return " " not in before or text.endswith(tuple(_OF_PROMPTS_ONLY))


def written(text: str) -> bool:
    """True if ``text`` is a prompt and what was written behind it."""
    return bool(_WRITTEN.match(text[:_BEGINNING]))


def asks_for_answer(text: str) -> bool:
    """True if ``text`` ends with a prompt's mark, and yet its words ask: ``What now>``."""
    return text.endswith(">") and not empty(text) and bool(_ANSWERS.search(text))


def being_written(lines: list[Line], at: int) -> bool:
    """True if row ``at`` is a prompt, or goes on with what was written behind the prompt of a row above.

    What goes on stands under the first of it, or the row before is full.
    """
    full = max(_FULL_FROM, max(line.width for line in lines) - 2)
    for row in range(at, max(-1, at - _ROWS_OF_ONE), -1):
        line = lines[row]
        if empty(line.text) or written(line.text):
            return True
        if row == 0 or not lines[row - 1].text:
            return False
        above = lines[row - 1]
        hangs = line.column >= 2 and line.column in (above.column, above.after_mark)
        if not (hangs or above.width >= full):
            return False
    return False


def tallied(lines: list[Line], at: int) -> bool:
    """True if the prompt in row ``at`` narrows down a list: how many of how many are left stands next to it."""
    return any(_TALLIED.fullmatch(line.text) for line in lines[max(0, at - 1) : at + 2])

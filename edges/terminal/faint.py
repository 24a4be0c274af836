"""Faint: whether a pen writes dim or grey, as programs write what is only a hint and nobody's words."""

import re
from typing import Final

from .pen import Pen

_PARTS: Final = re.compile(r"[;:]")
_BRIGHT_BLACK: Final = "90"
_GREY_INDEX: Final = frozenset({8, *range(232, 251)})
"""Of the 256 colours: bright black, and the grey ramp without its near-whites."""
_GREY_SPREAD: Final = 24
_GREY_MOST: Final = 176
"""A true colour is grey if its parts are this close together, and no brighter than this."""


def is_faint(pen: Pen) -> bool:
    """True if what it writes is not to be taken for words."""
    return pen.dim or pen.colour == _BRIGHT_BLACK or _is_grey(_PARTS.split(pen.colour))


def _is_grey(said: list[str]) -> bool:
    """``38;5;240``, ``38;2;120;120;120``, or the same with colons; there a colour space may stand before the three."""
    numbers = [int(part) if part.isdigit() and len(part) < 4 else 0 for part in said]
    if numbers[:2] == [38, 5]:
        return numbers[2:3] != [] and numbers[2] in _GREY_INDEX
    parts = numbers[-3:]
    return numbers[:2] == [38, 2] and len(numbers) >= 5 and max(parts) - min(parts) <= _GREY_SPREAD and max(parts) <= _GREY_MOST

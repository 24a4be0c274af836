"""Faint: whether what is written now is dim or grey, as programs write what is only a hint and nobody's words."""

import re
from typing import Final

_PARTS: Final = re.compile(r"[;:]")
_GREY_INDEX: Final = frozenset({8, *range(232, 251)})
"""Of the 256 colours: bright black, and the grey ramp without its near-whites."""
_GREY_SPREAD: Final = 24
_GREY_MOST: Final = 176
"""A true colour is grey if its parts are this close together, and no brighter than this."""


class Ink:
    """Follows the sequences that choose how characters look; ``faint`` is the one thing it knows."""

    def __init__(self) -> None:
        self._dim = self._grey = False

    @property
    def faint(self) -> bool:
        """True for dim or grey characters."""
        return self._dim or self._grey

    def choose(self, params: str) -> None:
        """Take the parameters of one SGR sequence."""
        numbers = [int(part) if part.isdigit() and len(part) < 4 else 0 for part in _PARTS.split(params)]
        while numbers:
            number = numbers.pop(0)
            if number == 38:
                self._grey = _takes_grey(numbers)
            elif number in (48, 58):
                _takes_grey(numbers)
            else:
                self._choose(number)

    def _choose(self, number: int) -> None:
        if number == 0:
            self._dim = self._grey = False
        elif number in (2, 22):
            self._dim = number == 2
        elif 30 <= number <= 39 or 90 <= number <= 97:
            self._grey = number == 90


def _takes_grey(numbers: list[int]) -> bool:
    """Take what names a colour off ``numbers``; true if it is a grey."""
    kind = numbers.pop(0) if numbers else 0
    if kind == 5:
        return bool(numbers) and numbers.pop(0) in _GREY_INDEX
    if kind != 2:
        return False
    # With colons there may be a colour space before the three, empty or a number.
    if len(numbers) > 3 and numbers[0] == 0:
        del numbers[0]
    parts = numbers[:3]
    del numbers[:3]
    return len(parts) == 3 and max(parts) - min(parts) <= _GREY_SPREAD and max(parts) <= _GREY_MOST

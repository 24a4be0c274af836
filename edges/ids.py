"""Ids: the one source of chance in names."""

import os
import secrets

from ..contracts.ports import Clock

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no letter is mistaken for a digit when an id is read aloud."""


def _letters(number: int, length: int) -> str:
    return "".join(_LETTERS[number >> (5 * nth) & 31] for nth in reversed(range(length)))


class RandomIds:
    """Ids that sort by the time of their making and are new everywhere: 9 letters of time, 8 of chance."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def new(self) -> str:
        """A new id, 17 letters."""
        return _letters(self._clock.now(), 9) + _letters(secrets.randbits(40), 8)

    def run(self) -> str:
        """A short name for one run of one process: 6 letters, different for runs that may meet."""
        return _letters((self._clock.now() // 1000) ^ os.getpid(), 3) + _letters(secrets.randbits(15), 3)

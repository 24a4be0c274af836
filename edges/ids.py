"""Ids: the one source of chance in names."""

import os
import secrets
import threading

from ..contracts.ports import Clock

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no letter is mistaken for a digit when an id is read aloud."""


def _letters(number: int, length: int) -> str:
    return "".join(_LETTERS[number >> (5 * nth) & 31] for nth in reversed(range(length)))


class RandomIds:
    """Ids that sort by the time of their making and are new everywhere: 9 letters of time, 8 of chance."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._at, self._chance = -1, 0

    def new(self) -> str:
        """A new id, 17 letters. Within one millisecond the later one counts on from the earlier, so that it sorts behind it."""
        with self._lock:
            now = self._clock.now()
            if now > self._at:
                self._at, self._chance = now, secrets.randbits(39)  # one bit is left to count in
            else:
                self._chance += 1 + secrets.randbits(8)
            return _letters(self._at, 9) + _letters(self._chance, 8)

    def run(self) -> str:
        """A short name for one run of one process: 6 letters, different for runs that may meet."""
        return _letters((self._clock.now() // 1000) ^ os.getpid(), 3) + _letters(secrets.randbits(15), 3)

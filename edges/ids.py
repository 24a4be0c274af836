"""Ids: the one source of chance in names."""

import base64
import os
import secrets
import threading

from ..contracts.ports import Clock

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no letter is mistaken for a digit when an id is read aloud."""


_FROM_BASE_32 = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", _LETTERS.encode())


def _letters(number: int, length: int) -> str:
    """The last ``length`` letters, 16 at most."""
    return base64.b32encode(number.to_bytes(10, "big")).translate(_FROM_BASE_32)[-length:].decode()


class RandomIds:
    """Ids that sort by the time of their making and are new everywhere: 9 letters of time, 8 of chance."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._at, self._chance = -1, 0
        self._steps = bytearray()

    def new(self) -> str:
        """A new id, 17 letters. Within one millisecond the later one counts on from the earlier, so that it sorts behind it."""
        with self._lock:
            now = self._clock.now()
            if now > self._at:
                self._at, self._chance = now, secrets.randbits(39)  # one bit is left to count in
            else:
                self._chance += 1 + self._step()
            return _letters(self._at, 9) + _letters(self._chance, 8)

    def _step(self) -> int:
        """A byte of chance; asking the system for each one alone would cost more than all else here."""
        if not self._steps:
            self._steps += os.urandom(512)
        return self._steps.pop()

    def run(self) -> str:
        """A short name for one run of one process: 6 letters, different for runs that may meet."""
        return _letters((self._clock.now() // 1000) ^ os.getpid(), 3) + _letters(secrets.randbits(15), 3)

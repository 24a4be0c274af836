"""Names: ids of commands and sources, and secrets that nobody guesses, all from the one source of chance."""

from hashlib import sha256
from typing import Final

from ...contracts.ports import Clock
from ..ids import RandomIds

_CHANCE_LETTERS: Final = 8
"""Letters of an id that are chance: 39 bits."""
_IDS: Final = 8


def secret(clock: Clock) -> str:
    """A secret of 312 bits of chance, in letters."""
    # From a maker of its own each: a maker that is asked twice within a millisecond counts on, which is no chance.
    return "".join(RandomIds(clock).new()[-_CHANCE_LETTERS:] for _ in range(_IDS))


def uuid(clock: Clock) -> str:
    """A random UUID (version 4): the id of a command or of a database."""
    digits = bytearray(sha256(secret(clock).encode()).digest()[:16])
    digits[6] = digits[6] & 0x0F | 0x40
    digits[8] = digits[8] & 0x3F | 0x80
    text = digits.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def digest(text: str) -> str:
    """What is stored in place of a secret."""
    return sha256(text.encode()).hexdigest()


def source(clock: Clock) -> str:
    """The id of a source, which is no secret."""
    return f"src-{RandomIds(clock).new()}"

"""Identity: the fingerprint, the one function that says which notices are the same."""

from hashlib import sha1
from typing import Final

from .canonical import Level, canonical

FP_VERSION: Final = 1
"""The recipe's version. It is stored with every fingerprint, so that a new recipe does not tell old news again."""

_FRAME: Final = "\0"
_KEY: Final = "\x01"
"""Canonical text holds no control character, so neither a frame nor a key can be mistaken for a message."""


def fingerprint(source: str, scope: str, message: str, level: Level = "standard", *, frame: str = "", key: str = "") -> str:
    """40 hexadecimal digits, equal for the same event whichever layer produced it.

    Without ``frame`` and ``key`` exactly ``sha1(source \\0 scope \\0 canonical(message))``.
    """
    if key:
        return digest(source, scope, _KEY + key)
    words = canonical(message, level)
    if frame:
        words += _FRAME + canonical(frame, level)
    return digest(source, scope, words)


def digest(source: str, scope: str, words: str) -> str:
    """The fingerprint of what has its canonical form already."""
    if "\0" in source or "\0" in scope:
        source, scope = source.replace("\0", "\ufffd"), scope.replace("\0", "\ufffd")
    return sha1(f"{source}\0{scope}\0{words}".encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()

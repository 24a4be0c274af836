"""Identity: the fingerprint, the one function that says which notices are the same.

What makes up the identity of a thing is the producer's choice of words: an exception is its type, its message and its top
application frame (file and function, not the line); an HTTP failure its method, route and status; a failed test its name. The
canonical form sees to it that lines, ids in a route and asserted values do not count.
"""

from hashlib import sha1
from typing import Final

from ..contracts.base import Level
from .canonical import canonical

FP_VERSION: Final = 1
"""The recipe's version, which ``tocsin fingerprint --json`` prints and the file of vectors holds. It is not hashed."""

_FRAME: Final = "\0"
_KEY: Final = "\x01"
"""A canonical form holds no control character, so neither a frame nor a key can be mistaken for a message."""


def fingerprint(source: str, scope: str, message: str, level: Level = "standard", *, frame: str = "", key: str = "") -> str:
    """40 hexadecimal digits, equal for the same thing whichever layer produced it.

    Without ``frame`` and ``key`` they are ``sha1(source \\0 scope \\0 canonical(message))`` in UTF-8. The standard form of
    ``frame`` counts as well. A ``key``, the producer's own identity, counts instead of message and frame, as it is.
    """
    if key:
        return digest(source, scope, _KEY + key)
    words = canonical(message, level)
    return digest(source, scope, f"{words}{_FRAME}{canonical(frame)}" if frame else words)


def digest(source: str, scope: str, words: str) -> str:
    """The fingerprint of what has its canonical form already. Lone surrogates count as they are, NUL in a name as U+FFFD."""
    if "\0" in source or "\0" in scope:
        source, scope = source.replace("\0", "\ufffd"), scope.replace("\0", "\ufffd")
    return sha1(f"{source}\0{scope}\0{words}".encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()

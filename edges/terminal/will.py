"""Will: what is to be put right on our terminal should we be killed, where the program's keeper finds it then."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from .spawn import Attributes

_ROOM = 4096
"""Bytes that are kept for it from the start, so that a disk that is full later does no harm."""


class Will:
    """Three lines in a file without a name, written anew whenever one of them changes; the keeper's script reads them.

    They are: what to write to the ``screen``, in hexadecimal; the attributes to set on the terminal ``keys``, as numbers;
    and those that it must still have for that, or somebody else has set it up meanwhile. An empty line: nothing.
    """

    def __init__(self, keys: int | None, screen: int | None) -> None:
        """``keys`` is the terminal that we make raw, ``screen`` the one that the program's output is shown on, if any."""
        self._keys, self._screen = keys, screen
        self._file = None if keys is None and screen is None else _file()
        self._sequences, self._found, self._made = b"", b"", b""

    @property
    def descriptors(self) -> tuple[int, int, int]:
        """The file, the terminal ``keys`` and the terminal ``screen``, for the keeper; -1 for what there is not."""
        file, keys, screen = (-1 if fd is None else fd for fd in (self._file, self._keys, self._screen))
        return file, keys, screen

    def bequeath(self, sequences: bytes) -> None:
        """From now on ``sequences`` would put the screen right."""
        if sequences != self._sequences:
            self._sequences = sequences
            self._write()

    def made(self, attributes: Attributes | None, found: Attributes) -> None:
        """The terminal ``keys``, which was as in ``found``, now has ``attributes``."""
        self._found, self._made = (_numbers(found), _numbers(attributes)) if attributes else (b"", b"")
        self._write()

    def given_back(self) -> None:
        """The terminal ``keys`` is as it was found, or somebody else's to set."""
        self._found = self._made = b""
        self._write()

    def close(self) -> None:
        """It is over by itself."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self) -> None:
        # One write, so that nobody ever reads half of it. What is behind the third line is left from longer ones.
        text = b"%s\n%s\n%s\n" % (self._sequences.hex().encode(), self._found, self._made)
        if self._file is not None:
            with suppress(OSError):
                os.pwrite(self._file, text, 0)


def _file() -> int | None:
    with suppress(OSError):
        file, path = tempfile.mkstemp(prefix="tocsin-")
        Path(path).unlink()
        os.pwrite(file, b"\n" * _ROOM, 0)
        return file
    return None


def _numbers(attributes: Attributes) -> bytes:
    *flags, characters = attributes
    return b" ".join(b"%d" % (one if isinstance(one, int) else ord(one)) for one in (*flags, *characters))

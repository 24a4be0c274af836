"""Followed: a file that grows, whichever file has its name: rotation, truncation and rewriting lose nothing."""

import os
from pathlib import Path
from typing import BinaryIO, Final

from ...contracts.base import Millis

POLLED_EVERY: Final = Millis(250)
"""How often a followed file is looked at."""
_CHUNK: Final = 65_536
_REMEMBERED: Final = 64


class Followed:
    """A file by its name, whichever file has that name at the moment."""

    def __init__(self, path: Path, *, from_start: bool) -> None:
        self._path = path
        self._from_start = from_start
        self._file: BinaryIO | None = None
        self._last = b""
        self._open()
        # A file that appears later is new from its first byte on.
        self._from_start = True

    def read(self) -> bytes:
        """More bytes, or none if there are none now."""
        if self._file is None and not self._open():
            return b""
        data = self._more()
        if not data and self._is_another():
            self.close()
            self._open()
            data = self._more()
        return data

    def close(self) -> None:
        """Close the file; the next read opens whatever has the name then."""
        if self._file is not None:
            self._file.close()
        self._file, self._last = None, b""

    def _open(self) -> bool:
        try:
            self._file = self._path.open("rb", buffering=0)
        except FileNotFoundError:
            return False
        if not self._from_start:
            self._file.seek(0, os.SEEK_END)
        return True

    def _more(self) -> bytes:
        if self._file is None:
            return b""
        if self._was_rewritten(self._file):
            self._file.seek(0)
            self._last = b""
        data = self._file.read(_CHUNK)
        self._last = (self._last + data)[-_REMEMBERED:]
        return data

    def _was_rewritten(self, file: BinaryIO) -> bool:
        """True if it is shorter than what was read, or holds something else where the last bytes were read."""
        place = file.tell()
        if os.fstat(file.fileno()).st_size < place:
            return True
        return bool(self._last) and os.pread(file.fileno(), len(self._last), place - len(self._last)) != self._last

    def _is_another(self) -> bool:
        if self._file is None:
            return False
        try:
            named = self._path.stat()
        except FileNotFoundError:
            return False
        held = os.fstat(self._file.fileno())
        return (named.st_dev, named.st_ino) != (held.st_dev, held.st_ino)

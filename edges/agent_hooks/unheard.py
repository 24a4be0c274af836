"""Unheard: what hooks said and nobody has taken note of yet, in a small file beside the database, for the next call to find.

It is written before anything is tried, so that a call that is cut off, or finds the database locked, loses nothing.
"""

# An agent waits for its hooks: nothing is imported here that a call could do without.
import fcntl
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LARGEST = 65_536
"""Bytes that are kept. What is older than so much has long been overtaken by what came after it."""


class Unheard:
    """The events of one recipient, in the order in which they came."""

    def __init__(self, store: Path, name: str) -> None:
        said = name.encode("utf-8", "surrogatepass")
        self.path = store.with_name(f"{store.name}.hooks-{zlib.crc32(said):08x}{zlib.adler32(said):08x}")

    def __bool__(self) -> bool:
        return self.path.exists()

    def add(self, event: Mapping[str, Any]) -> None:
        """Keep one more. Raises ``OSError`` if it can't be written."""
        with self._locked(os.O_CREAT) as file:
            size = os.fstat(file).st_size
            if size > LARGEST:
                os.ftruncate(file, size := 0)
            cut_off = size > 0 and os.pread(file, 1, size - 1) != b"\n"
            os.write(file, b"\n" * cut_off + json.dumps(event).encode() + b"\n")

    def read(self) -> tuple[list[dict[str, str]], int]:
        """Those that are there, and up to where that is. Only the one who has the recipient's lane reads and drops."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return [], 0
        data = data[: data.rfind(b"\n") + 1]
        return [event for line in data.splitlines() if (event := _event(line))], len(data)

    def drop(self, upto: int) -> None:
        """They have been taken note of; what came meanwhile stays."""
        if not upto or not self:
            return
        with self._locked(0) as file:
            data = self.path.read_bytes()[upto:]
            if not data:
                self.path.unlink()
                return
            os.ftruncate(file, 0)
            os.write(file, data)

    @contextmanager
    def _locked(self, flags: int) -> Iterator[int]:
        """The file that has the name, and nobody else writing to it: the one that was opened may have gone meanwhile."""
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                if self.path.exists() and os.fstat(file).st_ino == self.path.stat().st_ino:
                    yield file
                    return
            finally:
                os.close(file)


def _event(line: bytes) -> dict[str, str]:
    """An event; nothing, if that line was cut off."""
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    fits = isinstance(said, dict) and "hook_event_name" in said and all(isinstance(value, str) for value in said.values())
    return said if fits else {}

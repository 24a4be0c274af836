"""Files: the database as files on a disk. None of them is ever opened here: closing one would drop SQLite's own locks on it."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Final

from ..contracts.base import Instant
from ..contracts.errors import StoreFull

COMPANIONS: Final = ("-wal", "-shm")
"""What SQLite keeps beside a database."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def create(path: Path) -> None:
    """An empty file that only its owner may read, in a folder of the same kind; one that is there is left alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        # Exclusively: it is not opened if it is there, so the locks of a connection to it are not dropped.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def identity(path: Path) -> tuple[int, int] | None:
    """What tells this file from another one of the same name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_emptied(path: Path) -> bool:
    """True for a file of no bytes that was a database: the log that belongs to it lies beside it."""
    try:
        return not path.stat().st_size and wal_bytes(path) > 0
    except OSError:
        return False


def wal_bytes(path: Path) -> int:
    """Bytes of the write-ahead log beside this database; 0 if there is none."""
    try:
        return _beside(path, "-wal").stat().st_size
    except OSError:
        return 0


def set_aside_files(path: Path, now: Instant, is_sound: Callable[[Path], bool]) -> Path:
    """Move a database and its companions to a free name beside it; nothing if it is sound, or gone.

    Raises ``StoreFull`` if the folder can't be written.
    """
    try:
        with _folder_locked(path.parent):
            if not path.exists() or is_sound(path):
                return path
            return _move(path, _free_name(path, now))
    except OSError as error:
        raise StoreFull(f"{path}: can't be set aside ({error.strerror}). Make its folder writable, or move it away.") from error


def _move(path: Path, target: Path) -> Path:
    # The database goes last: a log without its database is harmless, but a new database beside an old log would read it.
    for companion in COMPANIONS:
        with suppress(FileNotFoundError):
            _beside(path, companion).rename(_beside(target, companion))
    return path.rename(target)


def _free_name(path: Path, now: Instant) -> Path:
    moment = (_EPOCH + timedelta(milliseconds=now)).strftime("%Y%m%dT%H%M%SZ")
    for number in count(1):
        name = path.with_name(f"{path.name}.damaged-{moment}" + (f"-{number}" if number > 1 else ""))
        if not any(os.path.lexists(_beside(name, companion)) for companion in ("", *COMPANIONS)):
            return name
    raise AssertionError("numbers do not end")


def _beside(path: Path, companion: str) -> Path:
    return path.with_name(path.name + companion)


@contextmanager
def _folder_locked(folder: Path) -> Iterator[None]:
    """Only one process at a time sets something aside here."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)

"""Private files: written whole and once, for their owner alone; and never trusted if somebody else could have written them."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from ...contracts.errors import NotYours, StoreFull
from ..clock import SteadyClock
from ..ids import RandomIds


def put_new(path: Path, content: bytes) -> bool:
    """Write a file that was not there, whole, with mode 0600. False if it was there: then it is as it was.

    Raises ``StoreFull`` if it can't be written.
    """
    try:
        part = folder(path.parent) / f".{RandomIds(SteadyClock()).new()}.part"
        try:
            _write(part, content)
            os.link(part, path)  # the only way to give a whole file a name that must be free
        except FileExistsError:
            return False
        finally:
            part.unlink(missing_ok=True)
        _keep_names(path.parent)
    except OSError as error:
        raise StoreFull(f"{path} can't be written ({error.strerror or error}): free some space, or make it writable") from error
    return True


def folder(path: Path) -> Path:
    """The folder, made for its owner alone if it is not there, as are those above it."""
    if not path.is_dir():
        folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
    return path


def read_own(path: Path) -> bytes | None:
    """What is in a file that is this user's and that no other may read or write; none if there is no file.

    Raises ``NotYours`` for any other: a link, another user's file, one with wider rights than 0600.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotYours(f"{path} can't be trusted: it can't be opened as a plain file ({error.strerror})") from error
    if fault := _fault(os.fstat(handle)):
        os.close(handle)
        raise NotYours(f"{path} can't be trusted: {fault}")
    with os.fdopen(handle, "rb") as file:
        return file.read()


def _fault(facts: os.stat_result) -> str:
    if not stat.S_ISREG(facts.st_mode):
        return "it is no plain file"
    if facts.st_uid != os.geteuid():
        return f"it belongs to user {facts.st_uid}"
    if (mode := stat.S_IMODE(facts.st_mode)) & 0o077:
        return f"others may read or write it (mode {mode:04o}). If nobody has, `chmod 600` makes it yours alone"
    return ""


def _write(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _keep_names(directory: Path) -> None:
    """The name itself must survive a power cut, where the file system can promise that."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

"""Runtime: the directory where recipients are found, and the seat that one live process holds under one name."""

import fcntl
import hashlib
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

import msgspec

from ...contracts.base import Instant, Record
from ...contracts.errors import BadInput, NameTaken, NotYours
from ..clock import SteadyClock
from ..ids import RandomIds

LONGEST_PATH: Final = 104
"""Bytes of a socket's path, its end mark included: what macOS allows."""

_SLUG: Final = 16
_LOCK_TRIES: Final = 20
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")


class Holder(Record, frozen=True, kw_only=True):
    """Who holds a name."""

    name: str
    pid: int
    session: str
    command: tuple[str, ...] = ()
    since: Instant = Instant(0)
    """When the seat was taken."""


def runtime_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where this user's sockets are. ``TOCSIN_RUNTIME_DIR`` wins, then the system's runtime directory.

    The directory is made, for its owner alone, if it is not there. Raises ``NotYours`` if it is a link or another user's.
    """
    return secured(_place(environ))


def secured(directory: Path) -> Path:
    """The directory, made if need be, and closed to all others."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    facts = directory.lstat()
    if stat.S_ISLNK(facts.st_mode) or not stat.S_ISDIR(facts.st_mode):
        raise NotYours(f"{directory} is not a plain directory; remove it, or set TOCSIN_RUNTIME_DIR to another one")
    if facts.st_uid != os.geteuid():
        raise NotYours(f"{directory} belongs to user {facts.st_uid}; set TOCSIN_RUNTIME_DIR to a directory of your own")
    if stat.S_IMODE(facts.st_mode) != 0o700:
        directory.chmod(0o700)
    return directory


def _place(environ: Mapping[str, str]) -> Path:
    if chosen := environ.get("TOCSIN_RUNTIME_DIR"):
        return Path(chosen).absolute()
    if (given := environ.get("XDG_RUNTIME_DIR")) and Path(given).is_dir():
        return Path(given) / "tocsin"
    if sys.platform == "darwin":
        from platformdirs import user_runtime_path

        return user_runtime_path("tocsin")
    session = Path(f"/run/user/{os.geteuid()}")
    # Not by TMPDIR where it can be helped: processes that are to find each other may have different ones.
    base = next((place for place in (session, Path("/tmp")) if os.access(place, os.W_OK)), Path(tempfile.gettempdir()))
    return base / ("tocsin" if base == session else f"tocsin-{os.geteuid()}")


def socket_path(directory: Path, name: str) -> Path:
    """The socket of a recipient. No two names share one, on no file system, and none leaves the directory."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    slug = _UNSAFE.sub("-", name.lower()).strip("-")[:_SLUG]
    for stem in (f"{slug}-{digest}", digest):
        path = directory / f"{stem}.sock"
        if len(os.fsencode(path)) < LONGEST_PATH:
            return path
    raise BadInput(f"{directory} is too long a path for a socket: set TOCSIN_RUNTIME_DIR to a shorter one")


class Seat:
    """A name, held by this process until ``close``: a locked file beside the socket says who holds it."""

    def __init__(self, path: Path, holder: Holder, fd: int) -> None:
        self.path = path
        self.holder = holder
        self._fd = fd

    @classmethod
    def take(cls, directory: Path, name: str, command: Sequence[str] = ()) -> Self:
        """Take the name for this process, and clear away the socket of a holder that died.

        ``command`` says to people what runs under that name. Raises ``NameTaken`` if another holder lives.
        """
        if name != _text(name):
            raise BadInput(f"{_text(name)!r} can't be a recipient's name: it is no text")
        clock = SteadyClock()
        path = socket_path(directory, name)
        fd = _locked(path.with_suffix(".lock"), name)
        words = tuple(map(_text, command))
        holder = Holder(name=name, pid=os.getpid(), session=RandomIds(clock).new(), command=words, since=clock.now())
        os.ftruncate(fd, 0)
        os.pwrite(fd, msgspec.json.encode(holder), 0)
        path.unlink(missing_ok=True)
        return cls(path, holder, fd)

    def close(self) -> None:
        """Give the name back."""
        if self._fd >= 0:
            self.path.unlink(missing_ok=True)
            # Still under the lock: whoever opened the file meanwhile sees that it is no longer the one in the directory.
            self.path.with_suffix(".lock").unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = -1


def _text(argument: str) -> str:
    """An argument that may hold bytes which are no text, as text."""
    return argument.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def holder_of(lock: Path) -> Holder | None:
    """Who says to hold the name of a lock file; none if it says nothing."""
    try:
        return msgspec.json.decode(lock.read_bytes(), type=Holder)
    except (OSError, msgspec.MsgspecError):
        return None


def _locked(path: Path, name: str) -> int:
    for _ in range(_LOCK_TRIES):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_the_one_there(fd, path):
                return fd
        except BlockingIOError:
            holder = holder_of(path)
            if holder is not None:
                os.close(fd)
                raise NameTaken(
                    f"a recipient called {name!r} is here already (pid {holder.pid}); choose another name"
                ) from None
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        # It is being taken or given back at this very moment.
        time.sleep(0.02)
    raise NameTaken(f"a recipient called {name!r} is just starting; choose another name")


def _is_the_one_there(fd: int, path: Path) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    mine = os.fstat(fd)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)

"""Store place: where the database is, and how it is opened so that a damaged one keeps nobody from working."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..contracts.errors import BadInput, StoreCorrupt, StoreTooNew, StoreUnusable

if TYPE_CHECKING:
    from ..contracts.ports import Clock
    from ..store.engine import Store

PROJECT_DIRECTORY: Final = ".tocsin"
FILE: Final = "tocsin.db"
OFF: Final = "off"


def store_path(setting: str = "", *, directory: Path | None = None, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where the database is; none if ``setting`` is ``off``.

    A path in ``setting`` wins; then ``.tocsin/`` in this directory or above it, one database for the project; then the user's
    state directory.
    """
    if setting == OFF:
        return None
    if setting:
        return Path(setting).expanduser().absolute()
    here = (directory or Path.cwd()).absolute()
    for place in (here, *here.parents):
        if (place / PROJECT_DIRECTORY).is_dir():
            return place / PROJECT_DIRECTORY / FILE
    return state_directory(environ) / FILE


def state_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own directory for what outlives a process."""
    if base := environ.get("XDG_STATE_HOME"):
        return Path(base) / "tocsin"
    from platformdirs import user_state_path

    return user_state_path("tocsin")


def open_store(path: Path, clock: "Clock", warn: Callable[[str], None]) -> "Store | None":
    """The store, whatever is found at ``path``. None if it can't be used at all: the line then works from memory.

    A damaged file is set aside and a new one begun, which takes over what can still be read. The warning names the file, and
    what could not be read; the worst is that something is told once more. Raises ``StoreTooNew`` for a file that a newer
    version wrote, ``BadInput`` for one that never was a database and has not our name: both are left alone.
    """
    from ..store.engine import Store

    try:
        try:
            return Store.open(path, now=clock.now())
        except StoreCorrupt as error:
            if not _may_be_set_aside(path):
                raise BadInput(f"{path}: is a file of another kind, and is left alone; name another one") from error
            return _begin_anew(path, clock, warn)
    except StoreTooNew:
        raise
    except StoreUnusable as error:
        warn(f"{str(error).rstrip('.')}. What is sent now is delivered from memory and does not survive a restart")
        return None


def _begin_anew(path: Path, clock: "Clock", warn: Callable[[str], None]) -> "Store":
    from ..store.engine import Store, set_aside

    aside = set_aside(path, clock.now())
    store = Store.open(path, now=clock.now())
    try:
        what_became = str(store.take_over(aside)) if aside != path else "another process has begun it"
    except StoreUnusable as error:
        what_became = f"nothing could be taken over ({error})"
    warn(f"{path}: a damaged database was set aside as {aside}, and a new one begun: {what_became}")
    return store


def _may_be_set_aside(path: Path) -> bool:
    """True for what has our file's name, or was a database once: a wrong path must not cost anybody a file of theirs."""
    if path.name == FILE:
        return True
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False

"""Handles: the file by which a work context shows who it is. Its secret is in no other place."""

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from ...contracts.attention_facts import Nobody, Seat
from ...contracts.base import Record
from ...contracts.errors import BadInput, UnknownSource
from ...store import attention_sources
from ...store.attention_schema import broker_of
from ...store.engine import View
from . import names
from .private_files import put_new, read_own

SOURCES: Final = "sources"
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")


class Handle(Record, frozen=True, kw_only=True):
    """What is in the file."""

    broker_uuid: str
    source_id: str
    handle: str
    """The secret."""
    command_id: str = ""
    """Of the enrolment: asked again with the same file, it is the same one."""


def default_source_file(state: Path, environ: Mapping[str, str], project: str, work: str) -> Path:
    """Where a session of ``tocsin run`` keeps the handle of its work, so that it need not name a file.

    Raises ``BadInput`` outside of such a session: nothing is guessed there.
    """
    session = environ.get("TOCSIN_SESSION", "")
    if not session:
        raise BadInput("this is no session of `tocsin run`, so say in which file the source's handle is")
    place = _UNSAFE.sub("-", session.lower()).strip("-")[:40]
    digest = sha256(f"{session}\0{project}\0{work}".encode()).hexdigest()[:24]
    return state / SOURCES / (place or "session") / f"{digest}.json"


def write(path: Path, handle: Handle) -> Handle:
    """The handle in this file: this one, or the one that was there before. No file is ever overwritten."""
    if put_new(path, msgspec.json.encode(handle)):
        return handle
    return read(path)


def read(path: Path) -> Handle:
    """The handle in a file. Raises ``NotYours`` if others could have read or changed it, ``BadInput`` if it holds none."""
    data = read_own(path)
    if data is None:
        raise UnknownSource(f"there is no source file {path}: bind the work first")
    try:
        return msgspec.json.decode(data, type=Handle)
    except msgspec.MsgspecError as error:
        raise BadInput(f"{path} is no source file; what is in it was left alone") from error


def seat(view: View, handle: Handle) -> Seat | Nobody:
    """Who shows it. One that was made for another database is a seat there, which the rules refuse here by name."""
    broker = broker_of(view)
    if broker is not None and broker == handle.broker_uuid:
        return attention_sources.seat_of(view, names.digest(handle.handle), handle.broker_uuid)
    return Seat(source_id=handle.source_id, broker_uuid=handle.broker_uuid) if broker is not None else Nobody()

"""Directory: who can be reached now, and whom a command means when it does not say."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path

from ...contracts.base import Record
from ...contracts.errors import NoRecipient
from ..liveness import is_stopped
from .runtime import Holder, holder_of, socket_path


class Address(Record, frozen=True, kw_only=True):
    """Where a recipient is, or will be."""

    name: str
    path: Path


def living(directory: Path) -> list[Holder]:
    """The recipients that answer, by name. What dead ones left behind is passed over."""
    found = (holder_of(lock) for lock in sorted(directory.glob("*.lock")))
    alive = [holder for holder in found if holder is not None and answers(socket_path(directory, holder.name))]
    return sorted(alive, key=lambda holder: holder.name)


def answers(path: Path) -> bool:
    """True if somebody listens there, even one that has no time now."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(path))
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True


def attends(path: Path) -> bool:
    """True if somebody listens there who is not stopped, as by Ctrl-Z: only then is an answer to be expected."""
    holder = holder_of(path.with_suffix(".lock"))
    return answers(path) and not (holder is not None and is_stopped(holder.pid))


def meant(directory: Path, to: str | None, environ: Mapping[str, str]) -> Address:
    """The recipient that ``to`` names, alive or not; without a name the one we run inside, then the only one there is.

    Raises ``NoRecipient`` if it is not clear who is meant; the text lists who is here.
    """
    if to:
        return Address(name=to, path=socket_path(directory, to))
    if (path := environ.get("TOCSIN_SOCKET")) and (name := environ.get("TOCSIN_RECIPIENT")):
        return Address(name=name, path=Path(path))
    here = living(directory)
    if len(here) == 1:
        return Address(name=here[0].name, path=socket_path(directory, here[0].name))
    raise NoRecipient(f"say with --to who is meant; {who_is_here(here)}" if here else who_is_here(here))


def present(directory: Path, to: str | None, environ: Mapping[str, str]) -> Address:
    """As ``meant``, but it must answer. Raises ``NoRecipient`` if it does not."""
    address = meant(directory, to, environ)
    if not answers(address.path):
        raise NoRecipient(f"nobody called {address.name!r} is here; {who_is_here(living(directory))}")
    return address


def who_is_here(holders: list[Holder]) -> str:
    """The recipients in words."""
    if not holders:
        return "no recipient is here: start one with `tocsin run --as NAME -- CMD`"
    return f"here: {', '.join(holder.name for holder in holders)}"

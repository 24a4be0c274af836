"""Keys: the person's credential: one file of their own, and its hash in each database that they were the first to use."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from ...actors.tables import Tables
from ...contracts.attention_facts import Operator
from ...contracts.errors import NotYours
from ...contracts.ports import Clock
from ...store import operators
from ...store.engine import View
from . import names
from .private_files import put_new, read_own

FILE: Final = "operator.key"
SHORTEST: Final = 32
"""Characters of a key: a file with less was made by somebody else."""

Key = Literal["yours", "none", "not_trusted", "damaged", "another"]


def operator(tables: Tables, state: Path, clock: Clock, environ: Mapping[str, str] = os.environ) -> Operator:
    """The person, if their key is the one that this database knows. The first key that is shown to a database is.

    It is made at its first use. Raises ``NotYours`` for a key that others could have read or written, for another one than
    the database knows, and inside a session of ``tocsin run``: what is started there is a seat, and not the person.
    """
    if environ.get("TOCSIN_DELIVERY_TOKEN"):
        name = environ.get("TOCSIN_RECIPIENT", "an agent")
        raise NotYours(f"this is {name}'s session: what is for the person is done in a terminal outside of `tocsin run`")
    known = tables.query(operators.key_hash)
    hashed = names.digest(_key(state / FILE, clock, may_make=known is None))
    standing = known or tables.change(lambda tx: operators.record(tx, hashed, clock.now()))
    if not secrets.compare_digest(standing, hashed):
        raise NotYours(f"{state / FILE} is not the key of the person whose queue is in {tables.path}")
    return Operator()


def how_it_stands(view: View, state: Path) -> Key:
    """What is to be said of the key in this state directory, without a word of it."""
    try:
        found = read_own(state / FILE)
    except NotYours:
        return "not_trusted"
    if found is None:
        return "none"
    if len(_text(found)) < SHORTEST:
        return "damaged"
    known = operators.key_hash(view)
    return "yours" if known in (None, names.digest(_text(found))) else "another"


def _key(path: Path, clock: Clock, *, may_make: bool) -> str:
    found = read_own(path)
    if found is None and may_make:
        put_new(path, names.secret(clock).encode())
        found = read_own(path)
    if found is None:
        raise NotYours(f"the queue is somebody's whose key is not in {path}: put that file back, if it is yours")
    if len(_text(found)) < SHORTEST:
        raise NotYours(f"{path} is no key: put the right file back, or remove this one if no database knows it yet")
    return _text(found)


def _text(found: bytes) -> str:
    return found.decode("ascii", "replace").strip()

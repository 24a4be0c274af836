"""Bells: who delivers to a recipient is told that an answer waits for it. A bell that nobody hears costs half a second."""

from collections.abc import Collection

from ...actors.tables import Tables
from ...store import owners
from ...store.engine import View
from ..doorbell import ring


def ring_for(tables: Tables, names: Collection[str]) -> None:
    """Ring at the owners of these recipients' lanes, those that have a socket."""

    def sockets(view: View) -> set[str]:
        found = [owners.owner_of(view, name) for name in names]
        return {owner.socket for owner, _ in (one for one in found if one is not None)}

    for socket in sorted(tables.query(sockets)):
        ring(socket)

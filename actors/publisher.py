"""Publisher: passes over the answers that are due and those that are under way. Its code is loaded when there are any."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..contracts.ports import Clock
from ..store.attention_schema import broker_of
from .tables import Alive, Tables

if TYPE_CHECKING:
    from ..contracts.attention_items import Return


class Publisher:
    """Carries answers back, pass by pass. Any number of processes may do it at the same time."""

    def __init__(
        self, clock: Clock, new_id: Callable[[], str], alive: Alive, arrived: Callable[[frozenset[str]], None]
    ) -> None:
        """``arrived`` is told, after the commit, which recipients a message waits for."""
        self._clock, self._new_id, self._alive, self._arrived = clock, new_id, alive, arrived
        self._after = 0

    def once(self, tables: Tables) -> None:
        """Look, and if there is anything to do, do it in one transaction. Nobody else's lock is taken for a look."""
        if tables.query(broker_of) is None:
            return  # the queue was never used, and none of its code is needed
        from .returns import look

        found = tables.query(lambda view: look(view, self._alive, self._clock.now(), self._after))
        if found.due or found.ended:
            self._pass(tables, found.ended)
        self._after = found.after

    def send(self, tables: Tables) -> None:
        """Send what is due, for whoever has just committed it."""
        self._pass(tables, ())

    def _pass(self, tables: Tables, ended: "tuple[Return, ...]") -> None:
        from .returns import publish

        new_id, alive = self._new_id, self._alive
        told = tables.change(lambda tx: publish(tx, ended=ended, new_id=new_id, alive=alive, now=self._clock.now()))
        if told:
            self._arrived(told)

"""Recorder: keeps the record; every stage tells it what it decided."""

from typing import Any

from ..pipeline.record import Record
from .base import LineActor
from .dispatcher import Dispatcher
from .messages import Look, Rulings
from .supervisor import Supervisor


class RecorderActor(LineActor):
    """The one writer of the record."""

    def __init__(self, dispatcher: Dispatcher, supervisor: Supervisor, record: Record) -> None:
        super().__init__(dispatcher, supervisor)
        self._record = record

    def on_receive(self, message: Any) -> Any:
        match message:
            case Rulings():
                self._record.take(message.items)
            case Look():
                return self._look(message)
        return None

    def _look(self, look: Look) -> Any:
        if look.what == "decisions":
            return self._record.decisions_after(look.after)
        seen = {
            "balance": self._record.balance,
            "counts": self._record.counts,
            "dead_letters": lambda: list(self._record.dead_letters),
            "lanes": self._record.lanes,
            "untold": self._record.untold,
        }
        return seen[look.what]() if look.what in seen else self._record.explain(look.what)

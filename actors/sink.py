"""Sinks: each lane's one writer and any number of observers. What may take its time is carried off the stage thread."""

from collections import deque
from functools import partial
from typing import Any

import msgspec
import pykka

from ..contracts.deliveries import Delivery, Receipt
from ..contracts.durable import DURABLE
from ..contracts.errors import SinkGone, TocsinError
from ..contracts.ports import Shelf, Sink
from ..pipeline.fanout import Delivered, Send
from .base import LineActor, attempt
from .dispatcher import Dispatcher
from .durable import Dispatch, Proved
from .messages import Answer, CloseLane, Courier, Look, Observe, OpenLane
from .stage import Ref
from .supervisor import Supervisor

OBSERVER_BACKLOG = 1_000
"""Deliveries that a slow observer may be behind; beyond it the oldest is passed over, and counted."""


class _Done(msgspec.Struct, frozen=True):
    """An observer finished with one."""

    observer: str


class _Spilled(msgspec.Struct, frozen=True):
    """The whole of a cut block is in its file, or could not be written."""

    delivery: Delivery


class _Recorded(msgspec.Struct, frozen=True):
    """The store knows that this is about to be written, or says why it must not be."""

    delivery: Delivery
    error: TocsinError | None


class _Observer:
    def __init__(self, sink: Sink | Shelf) -> None:
        self.sink = sink
        self.waiting: deque[Delivery] = deque(maxlen=OBSERVER_BACKLOG)
        self.busy = False
        self.missed = 0


class SinkActor(LineActor):
    """Writes what fan-out sends, lane by lane, and tells it what the sink said."""

    fanout: Ref

    def __init__(self, dispatcher: Dispatcher, supervisor: Supervisor, courier: Courier, spill: Sink | None) -> None:
        super().__init__(dispatcher, supervisor)
        self._courier, self._spill = courier, spill
        self._sinks: dict[str, Sink] = {}
        self._shelves: dict[str, Shelf] = {}
        self._observers: dict[str, _Observer] = {}
        self.journal: pykka.ActorRef[Any] | None = None
        """The store's actor, if there is a store."""

    def on_receive(self, message: Any) -> Any:
        match message:
            case Send():
                self._send(message.delivery)
            case _Spilled():
                self._record_first(message.delivery)
            case _Recorded(error=None):
                self._write(message.delivery)
            case _Recorded():
                self._answer(message.delivery, message.error)
            case Delivered():
                self._delivered(message)
            case _Done():
                self._next(message.observer)
            case OpenLane():
                self._open(message)
            case CloseLane():
                self._sinks.pop(message.name, None)
                self._shelves.pop(message.name, None)
            case Observe():
                self._observers[message.name] = _Observer(message.sink)
            case Look(what="busy"):
                return any(observer.busy or observer.waiting for observer in self._observers.values())
            case Look():
                return {name: observer.missed for name, observer in self._observers.items()}
        return None

    def _open(self, lane: OpenLane) -> None:
        """What kind of sink it is is asked once: the question costs more than all else that is done here for a delivery."""
        if isinstance(lane.sink, Shelf):
            self._shelves[lane.spec.name] = lane.sink
        else:
            self._sinks[lane.spec.name] = lane.sink

    def _send(self, delivery: Delivery) -> None:
        """What was cut is on file before anybody reads where it is."""
        if delivery.spill and self._spill is not None and delivery.attempt == 1:
            self._courier.carry(self._spill, delivery, lambda _: self.actor_ref.tell(_Spilled(delivery)))
        else:
            self._record_first(delivery)

    def _record_first(self, delivery: Delivery) -> None:
        """What may be repeated after a crash is on record before the sink gets it, so that the repeat can be recognised."""
        if self.journal is None or not _durable(delivery):
            self._write(delivery)
        else:
            self.journal.tell(Dispatch(delivery, lambda made, error: self.actor_ref.tell(_Recorded(made, error))))

    def _write(self, delivery: Delivery) -> None:
        if (shelf := self._shelves.get(delivery.lane)) is not None:
            self._answer(delivery, attempt(partial(shelf.put, delivery)))
        elif (sink := self._sinks.get(delivery.lane)) is not None:
            self._courier.carry(sink, delivery, partial(self._answer, delivery))
        else:
            self._answer(delivery, SinkGone(f"the lane {delivery.lane!r} has been closed"))

    def _answer(self, delivery: Delivery, outcome: object) -> None:
        """What is neither a receipt nor an error proves nothing: not tried again, since it may have been written."""
        if not isinstance(outcome, Receipt | TocsinError):
            outcome = SinkGone(f"the sink answered {outcome!r}, not with a Receipt")
        self.fanout.tell(Answer(delivery.lane, delivery.id, outcome))

    def _delivered(self, message: Delivered) -> None:
        if self.journal is not None and _durable(message.delivery):
            self.journal.tell(Proved(message.delivery.id, message.receipt))
        self._show(message.delivery)

    def _show(self, delivery: Delivery) -> None:
        for name, observer in self._observers.items():
            observer.missed += len(observer.waiting) == OBSERVER_BACKLOG
            observer.waiting.append(delivery)
            if not observer.busy:
                self._next(name)

    def _next(self, name: str) -> None:
        """One at a time, in order: an observer too has one writer."""
        observer = self._observers[name]
        observer.busy = False
        while observer.waiting and not observer.busy:
            delivery = observer.waiting.popleft()
            if isinstance(observer.sink, Shelf):
                attempt(partial(observer.sink.put, delivery))
            else:
                observer.busy = True
                self._courier.carry(observer.sink, delivery, lambda _: self.actor_ref.tell(_Done(name)))


def _durable(delivery: Delivery) -> bool:
    return any(entry.traffic in DURABLE for entry in delivery.entries)

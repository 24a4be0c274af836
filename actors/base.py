"""Base: the one place where a fault is caught. Every actor of the line tells, is told, and survives what it was told."""

import traceback
from collections.abc import Callable
from typing import Any

import pykka
from pykka._envelope import Envelope

from ..contracts.base import Instant
from ..contracts.errors import SinkBusy, TocsinError
from ..contracts.verdicts import Ruling
from .dispatcher import DispatchedActor, Dispatcher
from .messages import Rulings
from .supervisor import Supervisor

TRACE_CHARACTERS = 4_000
"""The tail of a traceback that goes on record."""


def trace_of(error: BaseException) -> str:
    """The traceback, its end at most."""
    return "".join(traceback.format_exception(error))[-TRACE_CHARACTERS:]


def attempt(call: Callable[[], Any]) -> Any | TocsinError:
    """What a sink answers; whatever it raises becomes an answer too, and a fault nobody foresaw is tried again.

    A sink that calls ``sys.exit`` would end the stage thread without a word, so that counts as a fault as well.
    """
    try:
        return call()
    except TocsinError as error:
        return error
    except (Exception, SystemExit) as error:
        return SinkBusy(f"the sink raised {error!r}")


class LineActor(DispatchedActor):
    """An actor of the line: knows the clock, the recorder and its supervisor."""

    def __init__(self, dispatcher: Dispatcher, supervisor: Supervisor) -> None:
        super().__init__(dispatcher)
        self.supervisor = supervisor
        self.recorder: pykka.ActorRef[Any] | None = None

    def now(self) -> Instant:
        """The present moment; read once a message."""
        return self.dispatcher.clock.now()

    def record(self, rulings: list[Ruling]) -> None:
        """Put decisions on record."""
        if rulings and self.recorder is not None:
            self.recorder.tell(Rulings(rulings))

    def caught(self, call: Callable[[], None]) -> Exception | None:
        """Run it; what it raised, if it did."""
        try:
            call()
        except Exception as error:
            return error
        return None

    def restart(self, error: Exception) -> None:
        """Start again with the state there is, and say so. A state that can't be rebuilt is kept as it stands."""
        self.caught(self.recover)
        self.supervisor.fault(type(self).__name__, trace_of(error), self.now())

    def recover(self) -> None:
        """After a fault that no single input explains. Actors with state rebuild it."""

    def _handle(self, envelope: Envelope[Any]) -> None:
        """An asked question's fault goes to the asker; any other goes to the supervisor, and the mailbox lives on."""
        try:
            super()._handle(envelope)
        except Exception as error:
            if envelope.reply_to is not None:
                envelope.reply_to.set_exception((type(error), error, error.__traceback__))
                return
            self.restart(error)

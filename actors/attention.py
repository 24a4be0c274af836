"""Attention actor: asks and commands of the person's queue one after the other, and every second the answers' way back."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import pykka

from ..contracts.base import Instant, Millis
from ..contracts.errors import NotRunning, StoreBusy, StoreUnusable
from ..contracts.ports import Clock
from ..store.engine import Transaction, View
from .base import LineActor
from .dispatcher import Dispatcher
from .durable import Change, Query
from .messages import Tick
from .publisher import Publisher
from .supervisor import Supervisor
from .tables import Direct

PERIOD: Final = Millis(1_000)
"""Between two looks for answers to send."""
PATIENCE: Final = 15.0
"""Seconds that an answer may take: longer than the store itself waits for other processes."""

T = TypeVar("T")


class AttentionActor(LineActor):
    """One connection of its own, so that neither the line nor the queue ever waits for the other's work."""

    def __init__(self, dispatcher: Dispatcher, supervisor: Supervisor, tables: Direct, publisher: Publisher | None) -> None:
        super().__init__(dispatcher, supervisor)
        self._tables, self._publisher = tables, publisher
        self._look_at = Instant(self.now() + PERIOD)

    def due(self) -> Instant | None:
        """It looks for answers to send; not at all where the queue is switched off."""
        return None if self._publisher is None else self._look_at

    def on_receive(self, message: Any) -> Any:
        """What was asked, or done; a pass, if it is time for one."""
        match message:
            case Query():
                return self._tables.query(message.call)
            case Change():
                return self._tables.change(message.call)
            case Tick():
                self._look()
        return None

    def _look(self) -> None:
        if self._publisher is None or self.now() < self._look_at:
            return
        self._look_at = Instant(self.now() + PERIOD)
        try:
            self._publisher.once(self._tables)
        except StoreUnusable:
            return  # nothing was changed, and what is due stays so; the line itself tells people of the trouble


class Attending:
    """The queue of a line that runs: any thread may ask, and each waits for its answer."""

    def __init__(
        self,
        clock: Clock,
        tables: Direct,
        publisher: Publisher | None,
        *,
        path: str,
        warn: Callable[[str], None],
        dispatcher: Dispatcher | None = None,
    ) -> None:
        """``publisher`` is none where the queue is switched off: then nothing is sent.

        With a ``dispatcher`` given, its owner runs or steps it; otherwise it has a thread of its own.
        """
        self.path = path
        self._tables = tables
        self._own = dispatcher is None
        self._dispatcher = dispatcher or Dispatcher(clock)
        self._actor = AttentionActor.launch(self._dispatcher, Supervisor(warn), tables, publisher)

    def start(self) -> None:
        """Answer from now on, and look every second."""
        if self._own:
            self._dispatcher.start()

    def stop(self, grace: float) -> None:
        """End, within ``grace`` seconds; what is not sent is sent by whoever looks next."""
        ended = not self._own or self._dispatcher.stop(grace)
        pykka.ActorRegistry.unregister(self._actor.actor_ref)
        if ended:
            self._tables.close()

    def query(self, call: Callable[[View], T]) -> T:
        """Ask, in one snapshot."""
        answer: T = self._ask(Query(call))
        return answer

    def change(self, call: Callable[[Transaction], T]) -> T:
        """Change, in one transaction. Raises ``StoreBusy`` if that took too long: whether it was done is not known then."""
        answer: T = self._ask(Change(call))
        return answer

    def _ask(self, message: object) -> Any:
        if self._dispatcher.ended:
            raise NotRunning("this line has been stopped: make a new Tocsin")
        future = self._actor.actor_ref.ask(message, block=False)
        if not self._dispatcher.threaded:
            self._dispatcher.run_until_idle()
        try:
            return future.get(timeout=PATIENCE)
        except pykka.Timeout as error:
            raise StoreBusy(f"{self.path} has not answered for {PATIENCE:g} s; another process keeps it locked") from error

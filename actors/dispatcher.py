"""Dispatcher: one thread runs all stage actors; a hop costs a function call. Stepped by hand, it is the simulation."""

import threading
from collections import deque
from typing import Any, Self

import pykka
from pykka._envelope import Envelope

from ..contracts.base import Instant
from ..contracts.ports import Clock
from .messages import Tick

LONGEST_WAIT = 3600.0
"""Seconds. A wait without a due time ends now and then, which changes nothing: a wake has no authority."""


class Mailbox:
    """pykka's inbox, without a lock: whoever fills it puts its actor on the dispatcher's run queue."""

    def __init__(self, dispatcher: "Dispatcher", actor: "DispatchedActor") -> None:
        self._dispatcher, self._actor = dispatcher, actor
        self.envelopes: deque[Envelope[Any]] = deque()
        self.scheduled = False

    def put(self, envelope: Envelope[Any], /) -> None:
        """Called from any thread."""
        self.envelopes.append(envelope)
        if not self.scheduled:
            self.scheduled = True
            self._dispatcher.schedule(self._actor)

    def get(self) -> Envelope[Any]:
        """The oldest one."""
        return self.envelopes.popleft()

    def empty(self) -> bool:
        """True if nothing is in it."""
        return not self.envelopes


class Dispatcher:
    """The run queue, the thread, and when somebody is due."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._ready: deque[DispatchedActor] = deque()
        self._lazy: deque[DispatchedActor] = deque()
        """Actors that bring new work in: they run when nobody else has anything to do, so that memory stays flat."""
        self._onlookers: deque[DispatchedActor] = deque()
        """Actors that look at all others at one instant: they run when nothing is on its way between those."""
        self._actors: list[DispatchedActor] = []
        self._awake = threading.Event()
        self._sleeping = False
        self._stopping = False
        self._thread: threading.Thread | None = None

    def adopt(self, actor: "DispatchedActor") -> None:
        """Run this actor from now on."""
        self._actors.append(actor)

    def schedule(self, actor: "DispatchedActor") -> None:
        """Put it on the run queue; wake the thread if it sleeps. Called from any thread."""
        (self._lazy if actor.lazy else self._onlookers if actor.onlooker else self._ready).append(actor)
        if self._sleeping:
            self._awake.set()

    def nudge(self) -> None:
        """Look at the clock again: somebody moved it."""
        self._awake.set()

    def start(self) -> None:
        """Run on a thread of its own until ``stop``. Twice is harmless."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="tocsin-stages", daemon=True)
            self._thread.start()

    def stop(self, grace: float) -> bool:
        """End the thread, for good. What is between the stages goes on to where it waits; no new work is brought in.

        True if the thread ended within ``grace`` seconds.
        """
        self._stopping = True
        self._awake.set()
        if self._thread is None or self._thread is threading.current_thread():
            return True
        self._thread.join(grace)
        return not self._thread.is_alive()

    @property
    def threaded(self) -> bool:
        """True while its thread runs; otherwise somebody steps it by hand."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def ended(self) -> bool:
        """True once it was stopped and nothing runs any more."""
        return self._stopping and not self.threaded

    def here(self) -> bool:
        """True on the stage thread itself, which must never wait for the stages."""
        return threading.current_thread() is self._thread

    def next_due(self) -> Instant | None:
        """When the first actor wants a tick."""
        return min((at for actor in self._actors if (at := actor.due()) is not None), default=None)

    def run_until_idle(self) -> None:
        """Run everything that can run now, ticks included."""
        while self._run_one() or self._tick_due():
            pass

    def _run_one(self) -> bool:
        """Run the actor whose turn it is. False if it is nobody's."""
        if self._ready:
            self._ready.popleft().run()
        elif self._onlookers:
            self._onlookers.popleft().run()
        elif self._lazy and not self._stopping:
            self._lazy.popleft().run()
        else:
            return False
        return True

    def _tick_due(self) -> bool:
        """Tell those that are due. False if nobody was."""
        if self._stopping:
            return False
        now = self.clock.now()
        due = [actor for actor in self._actors if (at := actor.due()) is not None and at <= now]
        for actor in due:
            actor.actor_ref.tell(Tick())
        return bool(due)

    def _run(self) -> None:
        while not self._stopping:
            self.run_until_idle()
            self._sleep()

    def _sleep(self) -> None:
        """Announce the sleep first and look again, so that what was put in between is not missed."""
        self._sleeping = True
        if not (self._ready or self._onlookers or self._lazy or self._stopping):
            due = self.next_due()
            wait = LONGEST_WAIT if due is None else (due - self.clock.now()) / 1000
            if wait > 0:
                self._awake.wait(min(wait, LONGEST_WAIT))
        self._sleeping = False
        self._awake.clear()


class DispatchedActor(pykka.Actor):
    """A pykka actor with its own mailbox and state, run by a dispatcher instead of a thread of its own."""

    lazy = False
    """True for actors that bring new work in."""
    onlooker = False
    """True for actors that look at the others, between two pieces of work."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self.mailbox = Mailbox(dispatcher, self)
        super().__init__()

    @classmethod
    def launch(cls, *args: Any, **kwargs: Any) -> Self:
        """``start``, for the composition root: answers with the actor itself, so that it can be told its neighbours."""
        actor = cls(*args, **kwargs)
        pykka.ActorRegistry.register(actor.actor_ref)
        actor._start_actor_loop()
        return actor

    # Static in pykka, whose inboxes know nothing of their actor; it is only ever called on the instance.
    def _create_actor_inbox(self) -> Mailbox:  # type: ignore[override]
        return self.mailbox

    @staticmethod
    def _create_future() -> pykka.Future[Any]:
        return pykka.ThreadingFuture()

    def _start_actor_loop(self) -> None:
        self.dispatcher.adopt(self)
        self._actor_loop_setup()

    def due(self) -> Instant | None:
        """When it wants a tick; most never do."""
        return None

    def run(self) -> None:
        """Handle what was in the mailbox when it began; what comes meanwhile waits for its turn.

        A lazy actor handles one message a turn: what that brought in goes its whole way before the next.
        """
        self.mailbox.scheduled = False
        envelopes = self.mailbox.envelopes
        for _ in range(min(len(envelopes), 1) if self.lazy else len(envelopes)):
            envelope = envelopes.popleft()
            if self.actor_stopped.is_set():
                self._refuse(envelope)
            else:
                self._handle(envelope)
        if envelopes and not self.mailbox.scheduled:
            self.mailbox.scheduled = True
            self.dispatcher.schedule(self)

    def _handle(self, envelope: Envelope[Any]) -> None:
        response = self._handle_receive(envelope.message)
        if envelope.reply_to is not None:
            envelope.reply_to.set(response)

    def _refuse(self, envelope: Envelope[Any]) -> None:
        if envelope.reply_to is not None:
            error = pykka.ActorDeadError(f"{self} has stopped")
            envelope.reply_to.set_exception((pykka.ActorDeadError, error, None))

"""Memory: how everybody else speaks to the store's actor. Each call waits until what it says is committed."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import pykka

from ..contracts.base import Instant
from ..contracts.durable import Rearmed
from ..contracts.errors import NameTaken, StoreBusy, TocsinError
from ..contracts.events import Event
from ..contracts.ports import Clock
from ..contracts.recipients import Owner, Recipient
from ..contracts.signals import RecipientDied, RecipientRevived
from ..contracts.waits import WaitState
from ..store import ledger, recipients, waits
from ..store.engine import Store, Transaction, View
from .absent import rearm_absent
from .dispatcher import Dispatcher
from .durable import Accept, Accepted, Again, Begin, Change, GiveBack, HoldBack, LookNow, Offered, Query, Take, Taken
from .store import StoreActor
from .supervisor import Supervisor
from .tree import Tree

PATIENCE = 15.0
"""Seconds that an answer may take: longer than the store itself waits for other processes."""
T = TypeVar("T")


class Memory:
    """One open store, its writer's thread, and the lanes that this process owns through it."""

    def __init__(
        self,
        store: Store,
        owner: Owner,
        clock: Clock,
        *,
        alive: Callable[[Owner, Instant], bool],
        warn: Callable[[str], None],
        dispatcher: Dispatcher | None = None,
    ) -> None:
        """``alive`` says whether another owner lives; ``warn`` is told once when the store fails, and when it works again.

        With a ``dispatcher`` given, its owner runs or steps it; otherwise it has a thread of its own.
        """
        self.owner = owner
        self._alive = alive
        self._store = store
        self._own = dispatcher is None
        self._dispatcher = dispatcher or Dispatcher(clock)
        self._actor = StoreActor.launch(self._dispatcher, Supervisor(warn), store, owner, alive, warn)

    @property
    def trouble(self) -> str:
        """Why nothing can be written at the moment; empty while all is well."""
        return self._actor.trouble

    @property
    def path(self) -> str:
        """The database file."""
        return str(self._store.path)

    def connect(self, tree: Tree, on_life: Callable[[RecipientDied | RecipientRevived], None]) -> None:
        """Let this line's decisions be kept, and what waits come into it. Once, before the first lane.

        ``on_life`` is told of a recipient of ours that was archived, or registered again, by whatever process.
        """
        self._actor.on_life = on_life
        tree.remember(self._actor)

    def start(self) -> None:
        """Write from now on."""
        if self._own:
            self._dispatcher.start()

    def stop(self, grace: float) -> None:
        """Write what was told so far, give every lane back, and close the file."""
        for name in list(self._actor.lanes.names):
            self.give_back(name)
        ended = not self._own or self._dispatcher.stop(grace)
        pykka.ActorRegistry.unregister(self._actor.actor_ref)
        if ended:
            self._store.close()

    # Messages

    def accept(self, items: Sequence[tuple[Event, str, str]]) -> Accepted:
        """Commit messages, each with its recipient and an id for those that have none. One that is refused keeps none out."""
        answer: Accepted = self._ask(Accept([Offered(*item) for item in items])) if items else Accepted([], frozenset())
        return answer

    def again(self, notice_id: str, recipient: str) -> Event | None:
        """A dead letter as it was fed, to be brought into the line again; none if there is no such letter."""
        event: Event | None = self._ask(Again(notice_id, recipient))
        return event

    # Lanes

    def take(self, recipient: Recipient, session: str = "") -> Taken:
        """The lane is ours from now on, in that session of its program.

        Raises ``NameTaken`` while another process delivers to that recipient.
        """
        answer = self._ask(Take(recipient, session))
        if isinstance(answer, Owner):
            raise _taken(answer, recipient.name)
        taken: Taken = answer
        if taken.waits is not None and not session:
            self._actor.restated[recipient.name] = self._waits_of(recipient.name, taken.waits)
        return taken

    def begin(self, name: str) -> None:
        """The lane is open: what waits for it comes in."""
        self._ask(Begin(name))

    def hold_back(self) -> None:
        """Bring nothing more into the line; what is in it goes its way."""
        self._ask(HoldBack())

    def give_back(self, name: str) -> None:
        """The lane is no longer ours; what has not ended stays in the store."""
        self._actor.restated.pop(name, None)
        self._ask(GiveBack(name))

    def look(self) -> None:
        """Another process says that it has committed something for us."""
        self._actor.actor_ref.tell(LookNow())

    def only_recipient(self) -> str:
        """The name of the only live recipient there is; empty if there is none, or a choice."""
        live = [one.name for one in self.query(recipients.every) if one.life == "live"]
        return live[0] if len(live) == 1 else ""

    def rearm(self, name: str, kind: str, cleared: Callable[[str, tuple[str, ...]], bool]) -> Rearmed:
        """Where nobody delivers at the moment, the store itself is put right. Raises ``NameTaken`` if somebody does."""
        now = self._dispatcher.clock.now()
        owner, alive = self.owner, self._alive
        answer = self.change(lambda tx: rearm_absent(tx, name, kind, cleared, owner=owner, alive=alive, now=now))
        if isinstance(answer, Owner):
            raise _taken(answer, name)
        return answer

    def save_waits(self, name: str, state: WaitState) -> None:
        """Keep what it waits for, over a restart. Trouble with the file keeps nobody from working."""
        change = self._actor.restated[name] = self._waits_of(name, state)
        self._actor.actor_ref.tell(change)

    def _waits_of(self, name: str, state: WaitState) -> Change:
        now = self._dispatcher.clock.now()
        return Change(lambda tx: waits.save(tx, name, state, now))

    # Everything else that can be asked or changed

    def query(self, call: Callable[[View], T]) -> T:
        """Ask the store, in one snapshot."""
        answer: T = self._ask(Query(call))
        return answer

    def change(self, call: Callable[[Transaction], T]) -> T:
        """Change the store, in the next transaction; ``call`` may run again if it had to be rolled back for another's fault."""
        answer: T = self._ask(Change(call))
        return answer

    def change_of(self, names: Collection[str], call: Callable[[Transaction], T]) -> T:
        """As ``change``, of what these recipients were told, or of what waits for them: their open lanes know it at once."""

        def change(tx: Transaction) -> T:
            answer = call(tx)
            for name in self._actor.lanes.begun.intersection(names):
                self._actor.learn(name, ledger.announced(tx, name))
            return answer

        return self.change(change)

    def _ask(self, message: object) -> Any:
        future = self._actor.actor_ref.ask(message, block=False)
        if not self._dispatcher.threaded:
            self._dispatcher.run_until_idle()
        try:
            answer = future.get(timeout=PATIENCE)
        except pykka.Timeout as error:
            raise StoreBusy(f"{self.path} has not answered for {PATIENCE:g} s; another process keeps it locked") from error
        if isinstance(answer, TocsinError):
            raise answer
        return answer


def _taken(owner: Owner, name: str) -> NameTaken:
    return NameTaken(f"another process (pid {owner.pid}) delivers to {name!r} already; end it, or choose another name")

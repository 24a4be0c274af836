"""Store actor: the one writer of the database. What arrives while it writes shares the next transaction."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pykka
from pykka._envelope import Envelope

from ..contracts.base import Instant, Millis
from ..contracts.durable import Acceptance, Announced
from ..contracts.errors import StoreCorrupt, StoreUnusable, TocsinError
from ..contracts.events import Event
from ..contracts.recipients import Owner
from ..contracts.signals import RecipientDied, RecipientRevived
from ..store import owners
from ..store.engine import Store, Transaction, set_aside
from . import changes
from .base import LineActor
from .dispatcher import Dispatcher
from .durable import Accept, Accepted, Begin, Change, Dispatch, GiveBack, HoldBack, LookNow, Offered, Query, Settle
from .intake import Door
from .lanes import Lanes
from .messages import Drain, Moves, Over, Restate, Seed, Tick
from .supervisor import Supervisor

MOST_AT_ONCE: Final = 1_000
"""Messages that share a transaction at most."""
BEAT: Final = Millis(5_000)
LOOK: Final = Millis(500)
"""How often it is asked whether another process has committed something; a doorbell makes it sooner."""
OWED_AT_MOST: Final = 10_000
"""What could not be written is kept in memory and tried again, so many messages of it."""


class StoreActor(LineActor):
    """Commits in groups, owns lanes for this process, and brings what waits for them into the line in its order."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        supervisor: Supervisor,
        store: Store,
        owner: Owner,
        alive: Callable[[Owner, Instant], bool],
        warn: Callable[[str], None],
    ) -> None:
        super().__init__(dispatcher, supervisor)
        self._store, self._owner, self._alive, self._warn = store, owner, alive, warn
        self.lanes = Lanes()
        self.door: Door | None = None
        self.intake: pykka.ActorRef[Any] | None = None
        self.dedup: pykka.ActorRef[Any] | None = None
        self.on_life: Callable[[RecipientDied | RecipientRevived], None] | None = None
        """Told of a recipient of ours that was archived, or registered again, by whatever process."""
        self.trouble = ""
        """Why nothing can be written at the moment; empty while all is well."""
        self._aside: Path | None = None
        """Where this process has put a damaged file, until that is told."""
        self._owed: list[Settle | Moves[Any]] = []
        self._news = False
        """True if another process has committed something since conditions were looked at."""
        self._over: list[Over] = []
        self.restated: dict[str, Change] = {}
        """What a file that takes the place of ours has to be told besides, by recipient: who waits on a human."""
        self._seen_version = store.data_version()
        self._beat_at = self._look_at = self.now()

    def due(self) -> Instant | None:
        """It looks for what others committed while it owns a lane, and shows that it lives."""
        return self._look_at if self.lanes.names or self._owed else None

    def run(self) -> None:
        """All that waits, in one transaction. Nobody is answered before it is committed."""
        self.mailbox.scheduled = False
        envelopes = self.mailbox.envelopes
        batch = [envelopes.popleft() for _ in range(min(len(envelopes), MOST_AT_ONCE))]
        self._carry_out(batch)
        if envelopes and not self.mailbox.scheduled:
            self.mailbox.scheduled = True
            self.dispatcher.schedule(self)

    def _carry_out(self, batch: Sequence[Envelope[Any]]) -> None:
        if batch and all(isinstance(envelope.message, Query) for envelope in batch):
            self._answer(batch, self._asked(batch))
            return
        if any(isinstance(envelope.message, Tick | LookNow) for envelope in batch):
            self._look()
        if any(isinstance(envelope.message, LookNow) for envelope in batch):
            self.lanes.look_at_all()  # what this process has changed for one of its own lanes shows in no version
        answers: list[Any] = []
        fetched: list[Event] = []
        error = self.caught(lambda: self._write(batch, answers, fetched))
        if error is None:
            self._recovered()
            self._tell_of_lives()
            self._rearm()  # before what was fetched: it is judged by what is so now
            self._bring(fetched)
            self._answer(batch, answers)
        else:
            self._roll_back(batch, error)

    def _roll_back(self, batch: Sequence[Envelope[Any]], error: Exception) -> None:
        """Nothing of it was written: what can be tried otherwise, is."""
        self.lanes.rolled_back()
        if isinstance(error, StoreCorrupt) and self._set_aside():
            self._carry_out(batch)
        elif isinstance(error, StoreUnusable):
            self._without_store(batch, error)
        elif len(batch) > 1:  # one of them is at fault, and the others must not pay for it
            for envelope in batch:
                self._carry_out([envelope])
        else:
            self._answer(batch, [error])
            self.supervisor.fault(type(self).__name__, repr(error), self.now())

    def _write(self, batch: Sequence[Envelope[Any]], answers: list[Any], fetched: list[Event]) -> None:
        now = self.now()
        with self._store.write() as tx:
            replaced = self._store.replaced
            taken = self._stand_again(tx, now) if replaced is not None else []
            for owed in self._owed:
                self._apply(tx, owed, now)
            for envelope in batch:
                answers.append(self._apply(tx, envelope.message, now))
            over = self._beat(tx, now) if now >= self._beat_at and self.lanes.names else []
            fetched.extend(changes.fetch(tx, self.lanes, self._owner.token, now))
            self._over = [*over, *changes.evidence(tx, self.lanes, self._evident(batch, fetched))]
        self._owed.clear()
        self._news = False
        self.lanes.committed()
        if replaced is not None:
            self._stood_again(str(replaced), taken)
        if self.lanes.thirsty():
            self.actor_ref.tell(Tick())

    def _beat(self, tx: Transaction, now: Instant) -> list[Over]:
        owners.beat(tx, self._owner.token, now)
        self._beat_at = Instant(now + BEAT)
        return changes.expire(tx, self.lanes, now)

    def _evident(self, batch: Sequence[Envelope[Any]], fetched: Sequence[Event]) -> set[str]:
        """For whom conditions may have gone: for all, if anybody may have changed anything."""
        messages = [envelope.message for envelope in batch]
        if self._news or any(isinstance(message, Change) for message in messages):
            return self.lanes.begun
        return changes.touched([*self._owed, *messages], fetched)

    def _apply(self, tx: Transaction, message: Any, now: Instant) -> Any:
        """An expected no is an answer; it has written nothing."""
        try:
            return changes.apply(tx, self.lanes, message, self._owner, self._alive, now)
        except StoreUnusable:
            raise
        except TocsinError as error:
            return error

    def _answer(self, batch: Sequence[Envelope[Any]], answers: Sequence[Any]) -> None:
        for envelope, answer in zip(batch, answers, strict=True):
            message = envelope.message
            if isinstance(message, Dispatch):
                message.done(*(answer if isinstance(answer, tuple) else (message.delivery, answer)))
            if envelope.reply_to is None:
                continue
            if isinstance(answer, Exception):
                envelope.reply_to.set_exception((type(answer), answer, answer.__traceback__))
            else:
                envelope.reply_to.set(answer)

    def _bring(self, events: Sequence[Event]) -> None:
        """Into the line, in the order in which they were committed."""
        if events and self.door is not None and self.intake is not None:
            self.door.put_from_within(events)
            self.intake.tell(Drain())

    def _tell_of_lives(self) -> None:
        dead, self.lanes.dead = self.lanes.dead, []
        back, self.lanes.back = self.lanes.back, []
        if self.on_life is not None:
            for name in dead:
                self.on_life(RecipientDied(lane=name))
            for name in back:
                self.on_life(RecipientRevived(lane=name))

    def _rearm(self) -> None:
        """Let the line know which declared conditions the store sees to be gone."""
        over, self._over = self._over, []
        for message in over:
            if self.dedup is not None:
                self.dedup.tell(message)

    def learn(self, name: str, told: Sequence[Announced]) -> None:
        """Within a transaction: from its commit on a lane of ours knows that its recipient was told this, and is looked at."""

        def committed() -> None:
            if self.dedup is not None:
                self.dedup.tell(Seed(name, told))

        self.lanes.later(committed)
        self.lanes.watch(name)
        self.lanes.arrived(name)

    def _asked(self, batch: Sequence[Envelope[Any]]) -> list[Any]:
        answers = [self._caught(self._ask, envelope.message) for envelope in batch]
        damaged = any(isinstance(answer, StoreCorrupt) for answer in answers) and self._set_aside()
        if damaged or self._store.replaced is not None:  # who is asked about stands in the new file first
            self._carry_out([])
            answers = [self._caught(self._ask, envelope.message) for envelope in batch]
        return answers

    def _ask(self, query: Query) -> Any:
        with self._store.read() as view:
            return query.call(view)

    def _caught(self, call: Callable[[Any], Any], message: Any) -> Any:
        answer: list[Any] = []
        error = self.caught(lambda: answer.append(call(message)))
        return answer[0] if error is None else error

    def _look(self) -> None:
        """Has somebody else committed anything? Then our lanes are to be looked through."""
        self._look_at = Instant(self.now() + LOOK)
        version = self._caught(lambda _: self._store.data_version(), None)
        if version != self._seen_version:
            self._seen_version = version
            self._news = True
            self.lanes.look_at_all()

    # When the file is another one than before

    def _stand_again(self, tx: Transaction, now: Instant) -> list[tuple[str, Owner]]:
        taken = changes.stand_again(tx, self.lanes, self._owner, self._alive, now)
        for name, change in list(self.restated.items()):
            if name in self.lanes.names:
                change.call(tx)
        return taken

    def _stood_again(self, what_became: str, taken: Sequence[tuple[str, Owner]]) -> None:
        """Say it once, and write down there what its recipients were told."""
        self._store.replaced = None
        aside, self._aside = self._aside, None
        how = f"was damaged, and is set aside as {aside}" if aside else "was set aside or removed while it was in use"
        self._warn(f"{self._store.path} {how}; a new one is in its place: {what_became}")
        for name, other in taken:
            self._warn(f"another process (pid {other.pid}) delivers to {name!r} now; what this one still had goes with it")
        for name in self.lanes.names:
            if self.dedup is not None:
                self.dedup.tell(Restate(name))

    def _set_aside(self) -> bool:
        """Put a damaged file out of the way, so that the next thing that is asked begins a new one. False if it can't be."""
        found: list[Path] = []
        self.caught(lambda: found.append(set_aside(self._store.path, self.now())))
        self._aside = next((path for path in found if path != self._store.path), None)
        return self._aside is not None

    # When the store can't be written

    def _without_store(self, batch: Sequence[Envelope[Any]], error: StoreUnusable) -> None:
        """Delivery goes on in memory: at worst something is told twice after a crash, but nothing is kept back for it."""
        if not self.trouble:
            what = str(error).rstrip(".")
            self._warn(f"{what}. Delivery goes on from memory, and what is decided is written as soon as it can be")
        self.trouble = str(error)
        brought: list[Event] = []
        self._answer(batch, [self._in_memory(envelope.message, error, brought) for envelope in batch])
        self._bring(brought)

    def _in_memory(self, message: Any, error: StoreUnusable, brought: list[Event]) -> Any:
        match message:
            case Accept():
                return Accepted([self._take_in(offered, error, brought) for offered in message.items], frozenset())
            case Dispatch():
                return message.delivery, None
            case Settle() | Moves():
                self._owed = [*self._owed, message][-OWED_AT_MOST:]
                return None
            case GiveBack():
                self.lanes.close(message.recipient)
                return None
            case Tick() | LookNow() | Begin() | HoldBack():
                return None
            case _:
                return error

    def _take_in(self, offered: Offered, error: StoreUnusable, brought: list[Event]) -> Acceptance | StoreUnusable:
        """A recipient of ours is told all the same; what is for somebody else's has nowhere to wait."""
        if offered.recipient not in self.lanes.begun:
            return error
        event = changes.complete(offered, self.now())
        brought.append(event)
        return Acceptance(id=event.id, seq=0, durable=False)

    def _recovered(self) -> None:
        if self.trouble:
            self.trouble = ""
            self._warn(f"{self._store.path} can be written again")

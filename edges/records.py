"""Records: what the store knows, for people and programs to ask, and the registry of recipients to change."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from ..actors.absent import archive
from ..contracts.base import Instant, Traffic
from ..contracts.deliveries import Delivery, Proof
from ..contracts.durable import Announced, Block, Held, Rearmed, State, Stored
from ..contracts.errors import BadInput, NameTaken, NoRecipient
from ..contracts.ports import Clock
from ..contracts.recipients import Owner, Recipient, Session
from ..contracts.verdicts import Decision
from ..contracts.waits import WaitState
from ..store import decisions, deliveries, inbox, intake, ledger, owners, recipients, waits
from ..store.engine import Transaction, View
from .importing import take_in, understood
from .liveness import is_alive

T = TypeVar("T")


class Asked(Protocol):
    """What answers for a store: the memory of a line that runs, or the file itself."""

    @property
    def path(self) -> str: ...
    def query(self, call: Callable[[View], T]) -> T: ...
    def change(self, call: Callable[[Transaction], T]) -> T: ...
    def change_of(self, names: Collection[str], call: Callable[[Transaction], T]) -> T: ...
    def rearm(self, name: str, kind: str, cleared: Callable[[str, tuple[str, ...]], bool]) -> Rearmed: ...
    def look(self) -> None: ...


class Mailbox(msgspec.Struct, frozen=True, kw_only=True):
    """One recipient's inbox, as a whole."""

    recipient: str
    unread: int
    acknowledged: int
    """The cursor up to which it has read."""
    waiting: int
    """Messages that have not ended; a pull brings in those that may come."""


class Records:
    """The store of one line. Every answer is what was committed at that moment."""

    def __init__(self, memory: Asked, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock
        self.path = memory.path

    # Recipients

    def recipients(self) -> list[Recipient]:
        """Everybody who is or was registered, by name."""
        return self._memory.query(recipients.every)

    def find(self, name: str) -> Recipient | None:
        """What is known of a name; none if it was never registered."""
        return self._memory.query(lambda view: recipients.find(view, name))

    def register(self, recipient: Recipient) -> Recipient:
        """Make it known, or bring it back from the archive."""
        if not is_name(recipient.name):
            raise BadInput(f"{recipient.name!r} can't be a recipient's name: use printable characters, no space at the ends")
        return self._memory.change(lambda tx: recipients.register(tx, stamped(recipient, self._clock.now())))

    def archive(self, name: str) -> None:
        """It is dead from now on, and what waits for it ends; twice is harmless.

        Raises ``NoRecipient`` if nobody has that name.
        """
        now, alive = self._clock.now(), is_alive(self._clock.now)
        if not self._memory.change(lambda tx: archive(tx, name, alive=alive, now=now)) and self.find(name) is None:
            known = ", ".join(one.name for one in self.recipients())
            raise NoRecipient(f"nobody is called {name!r}; recipients: {known or 'none'}")
        self._memory.look()

    def owner_of(self, name: str) -> Owner | None:
        """The process that delivers to it, or that did when it was last seen."""
        found = self._memory.query(lambda view: owners.owner_of(view, name))
        return found[0] if found else None

    def living_owner(self, name: str) -> Owner | None:
        """The process that delivers to it now; none if nobody does, or whoever did has ended."""
        found = self._memory.query(lambda view: owners.owner_of(view, name))
        return found[0] if found and is_alive(self._clock.now)(*found) else None

    def waits(self, name: str) -> WaitState | None:
        """What its hooks said last; none if no hook of it was ever heard."""
        return self._memory.query(lambda view: waits.load(view, name))

    def sessions(self, name: str) -> list[Session]:
        """The runs of its program, the last one first."""
        return self._memory.query(lambda view: recipients.sessions(view, name))

    def begin_session(self, session: Session) -> None:
        """Its program has been started, and waits for nothing."""

        def begin(tx: Transaction) -> None:
            recipients.begin_session(tx, session)
            waits.forget(tx, session.recipient)

        self._memory.change(begin)

    def end_session(self, session_id: str) -> None:
        """Its program has ended."""
        self._memory.change(lambda tx: recipients.end_session(tx, session_id, self._clock.now()))

    # Messages and deliveries

    def messages(
        self,
        *,
        to: str | None = None,
        states: Collection[State] | None = None,
        traffic: Traffic | None = None,
        limit: int = 100,
        after: int = 0,
    ) -> list[Stored]:
        """What was accepted, oldest first, behind the place ``after``."""
        return self._memory.query(
            lambda view: intake.listing(view, recipient=to, states=states, traffic=traffic, limit=limit, after=after)
        )

    def message(self, notice_id: str) -> list[Stored]:
        """The message of this id, for each recipient that it was accepted for."""
        return self._memory.query(lambda view: intake.find(view, notice_id))

    def retry(self, notice_id: str, to: str) -> bool:
        """Let a dead letter wait again for whoever delivers next; False if there is no such letter.

        Raises ``NameTaken`` while a process delivers to that recipient: that one has to be asked.
        """
        alive = is_alive(self._clock.now)

        def again(tx: Transaction) -> bool:
            found = owners.owner_of(tx, to)
            if found and alive(*found):
                raise NameTaken(f"a process (pid {found[0].pid}) delivers to {to!r}, and only that one can feed a letter again")
            return intake.retry(tx, notice_id, to, self._clock.now())

        return self._memory.change(again)

    def waiting(self, name: str) -> int:
        """How many messages to it have not ended."""
        return self._memory.query(lambda view: intake.pending_count(view, name))

    def deliveries(self, *, to: str | None = None, limit: int = 50) -> list[Block]:
        """Blocks that were handed over, the last one first."""
        return self._memory.query(lambda view: deliveries.blocks(view, recipient=to, limit=limit))

    def block(self, delivery_id: str) -> Block | None:
        """One delivery; none if it is not on record."""
        return self._memory.query(lambda view: deliveries.block(view, delivery_id))

    def proofs(self, delivery_id: str) -> list[tuple[Proof, Instant, str]]:
        """How far a delivery is proved to have come, step by step, with the moment and the note of each."""
        return self._memory.query(lambda view: deliveries.proofs(view, delivery_id))

    def story(self, what: str) -> list[Decision]:
        """Every decision about a message, by its id, its delivery's, or a fingerprint's first eight characters or more."""
        return self._memory.query(lambda view: decisions.story(view, what))

    # The ledger of harness notices

    def told(self, name: str) -> list[Announced]:
        """What a recipient was told and what is not re-armed."""
        return self._memory.query(lambda view: ledger.announced(view, name))

    def on_the_ledger(self) -> list[str]:
        """Recipients that were told something or that something is held for, registered or not."""
        told: dict[str, object] = msgspec.json.decode(self._memory.query(ledger.export))["delivered"]
        return sorted({*told, *(one.recipient for one in self.held())})

    def held(self, name: str | None = None) -> list[Held]:
        """What waits, as it was built."""
        return self._memory.query(lambda view: ledger.held(view, name))

    def rearm(self, name: str, kind: str, cleared: Callable[[str, tuple[str, ...]], bool]) -> Rearmed:
        """As ``Tocsin.rearm``, for a recipient that no process delivers to. Raises ``NameTaken`` if one does."""
        return self._memory.rearm(name, kind, cleared)

    def export_ledger(self, path: Path | None = None) -> bytes:
        """The ledger as ``notice-ledger.json``, version 1; also written to ``path``, whole or not at all."""
        if path is not None:
            self._memory.query(lambda view: ledger.write_export(view, path))
        return self._memory.query(ledger.export)

    def import_ledger(self, data: bytes) -> tuple[int, int]:
        """Take in such a file: how many entries of it were told, and how many held. Raises ``BadInput`` if it is none.

        What was held is accepted, and waits for its recipient as it did before; unless it has ended here already.
        """
        now = self._clock.now()
        told, held = understood(data, now)
        names = {one.recipient for one in told} | {one.recipient for one in held}
        return self._memory.change_of(names, lambda tx: take_in(tx, told, held, now))

    # The inbox

    def pull(self, name: str, *, after: int | None = None, limit: int = 100) -> list[tuple[int, Delivery]]:
        """Deliveries in a recipient's inbox with their cursors, after ``after`` or after what it acknowledged."""
        return self._memory.query(
            lambda view: inbox.pull(view, name, after=inbox.cursor(view, name) if after is None else after, limit=limit)
        )

    def acknowledge(self, name: str, upto: int) -> int:
        """It has read everything up to this cursor; how many became read by this."""
        return self._memory.change(lambda tx: inbox.ack(tx, name, upto, self._clock.now()))

    def mailboxes(self) -> list[Mailbox]:
        """The inboxes of all who live, by name."""

        def boxes(view: View) -> list[Mailbox]:
            live = [one.name for one in recipients.every(view) if one.life == "live"]
            return [
                Mailbox(
                    recipient=name,
                    unread=len(inbox.unread(view, name)),
                    acknowledged=inbox.cursor(view, name),
                    waiting=intake.pending_count(view, name),
                )
                for name in live
            ]

        return self._memory.query(boxes)

    def put_in_inbox(self, delivery: Delivery) -> int:
        """Put one into its recipient's inbox; its cursor."""
        return self._memory.change(lambda tx: inbox.put(tx, delivery, self._clock.now()))

    def unread_ids(self, name: str) -> set[str]:
        """Ids of messages in its inbox that it has not acknowledged."""
        return self._memory.query(lambda view: inbox.unread_ids(view, name))


def is_name(name: str) -> bool:
    """True if a recipient may be called that."""
    return bool(name) and name == name.strip() and name.isprintable()


def stamped(recipient: Recipient, now: Instant) -> Recipient:
    """With the moment of its registration, if it has none."""
    changed: dict[str, Any] = {"changed_at": now, "registered_at": recipient.registered_at or now}
    return msgspec.structs.replace(recipient, **changed)

"""Durable: what the line and the world tell the one writer of the store."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..contracts.deliveries import Delivery, Receipt
from ..contracts.durable import Acceptance, Announced, Held, Outcome
from ..contracts.errors import TocsinError
from ..contracts.events import Event
from ..contracts.recipients import Recipient
from ..contracts.waits import WaitState


class Offered(msgspec.Struct, frozen=True):
    """One message for one recipient. ``id`` counts where the producer gave none."""

    event: Event
    recipient: str
    id: str


class Accept(msgspec.Struct, frozen=True):
    """Commit these before anybody is told that they were taken. The answer is ``Accepted``."""

    items: Sequence[Offered]


class Accepted(msgspec.Struct, frozen=True):
    """For each message an ``Acceptance`` or why not; and where other processes listen that deliver to its recipients."""

    answers: Sequence[Acceptance | TocsinError]
    bells: frozenset[str]


class Take(msgspec.Struct, frozen=True):
    """This process would like to deliver to that recipient, in that session of its program."""

    recipient: Recipient
    session: str = ""


class Taken(msgspec.Struct, frozen=True):
    """What the store remembers of a recipient whose lane is now ours."""

    announced: Sequence[Announced]
    waits: WaitState | None


class Begin(msgspec.Struct, frozen=True):
    """The lane is open: bring what waits for it into the line, and from now on what comes."""

    recipient: str


class GiveBack(msgspec.Struct, frozen=True):
    """Nothing more is delivered to it here: what has not ended stays for whoever delivers next."""

    recipient: str


class HoldBack(msgspec.Struct, frozen=True):
    """The line is about to stop: nothing more is brought into it."""


class Dispatch(msgspec.Struct, frozen=True):
    """Note that the sink is about to get this block; ``done`` is called with it, or with why it must not."""

    delivery: Delivery
    done: Callable[[Delivery, TocsinError | None], None]


class Proved(msgspec.Struct, frozen=True):
    """How far a block is proved to have come."""

    delivery: str
    receipt: Receipt


class Settle(msgspec.Struct, frozen=True):
    """Decisions over durable messages, and what follows from them for the ledger of harness notices."""

    outcomes: Sequence[Outcome]
    announced: Sequence[Announced]
    held: Sequence[Held]


class Again(msgspec.Struct, frozen=True):
    """Bring a dead letter into the line once more. Answers True if it is one."""

    id: str
    recipient: str


class LookNow(msgspec.Struct, frozen=True):
    """Somebody else may have committed something for us."""


class Query(msgspec.Struct, frozen=True):
    """A question: ``call`` gets a view of the store."""

    call: Callable[[Any], Any]


class Change(msgspec.Struct, frozen=True):
    """A change: ``call`` gets the transaction."""

    call: Callable[[Any], Any]

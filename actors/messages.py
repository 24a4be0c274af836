"""Messages: what actors tell each other. Lists, so that the cost of a hop is shared by all that is in it."""

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec

from ..contracts.base import Instant
from ..contracts.deliveries import Delivery, Receipt
from ..contracts.durable import Announced
from ..contracts.errors import TocsinError
from ..contracts.lanes import LaneSpec
from ..contracts.ports import Shelf, Sink
from ..contracts.signals import Cleared, LaneFact, ScopeFact
from ..contracts.verdicts import Ruling

T = TypeVar("T")


class Batch(msgspec.Struct, Generic[T], frozen=True):
    """Inputs of the next stage, in order."""

    items: Sequence[T]


class Moves(msgspec.Struct, Generic[T], frozen=True):
    """Answers between stages: what was kept, dropped, settled, told, lost."""

    items: Sequence[T]


class Facts(msgspec.Struct, frozen=True):
    """A fact about a recipient."""

    fact: LaneFact | Cleared


class ScopeFacts(msgspec.Struct, frozen=True):
    """A fact about a scope, in its place in the line; ``upto``: so many admissions the pending table had taken before it."""

    fact: ScopeFact
    upto: int = 0


class Rulings(msgspec.Struct, frozen=True):
    """To the recorder."""

    items: Sequence[Ruling]


class Tick(msgspec.Struct, frozen=True):
    """A wake. It has no authority: the clock says whether anything is due."""


class Drain(msgspec.Struct, frozen=True):
    """To the intake: something was fed."""


class Flush(msgspec.Struct, frozen=True):
    """To throttle: propose now what only waits for its batch."""


class OpenLane(msgspec.Struct, frozen=True):
    """A recipient is here from now on."""

    spec: LaneSpec
    sink: Sink | Shelf


class CloseLane(msgspec.Struct, frozen=True):
    """A recipient is here no more."""

    name: str


class Observe(msgspec.Struct, frozen=True):
    """One more sees what was delivered."""

    name: str
    sink: Sink | Shelf


class Answer(msgspec.Struct, frozen=True):
    """What a sink said to a delivery."""

    lane: str
    delivery_id: str
    outcome: Receipt | TocsinError


class Rearmer(msgspec.Struct, frozen=True):
    """Asked of dedup: the harness notices of this kind (empty: of any) for whose signature and ctx ``cleared`` is true are no
    longer so. The answer is a ``Rearmed``."""

    lane: str
    kind: str
    cleared: Callable[[str, tuple[str, ...]], bool]


class Over(msgspec.Struct, frozen=True):
    """Told to dedup: the store sees that these conditions are gone: of what was told, by signature; of what waits, by id."""

    lane: str
    told: frozenset[str]
    waiting: frozenset[str]


class Restate(msgspec.Struct, frozen=True):
    """Told to dedup: the store is another one than before, and has to know what the recipient of this lane was told."""

    lane: str


class Seed(msgspec.Struct, frozen=True):
    """Asked of dedup when a lane opens: what its recipient was told before, and what is not re-armed."""

    lane: str
    told: Sequence[Announced]


class Look(msgspec.Struct, frozen=True):
    """Asked from outside: what do you see? Each actor answers with a value that nobody changes any more."""

    what: str = ""
    after: int = 0


class Courier(Protocol):
    """Carries deliveries to sinks that may take their time, off the stage thread."""

    def carry(self, sink: Sink, delivery: Delivery, done: Callable[[Receipt | TocsinError], None]) -> None:
        """Start it and return; ``done`` is called once, from any thread."""
        ...


class Broken(msgspec.Struct, frozen=True):
    """A stage gave up: why, and since when."""

    stage: str
    at: Instant
    trace: str

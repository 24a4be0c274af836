"""Trial: a burst, a recipient and settings, and what became of every event, second by second."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal

import msgspec

from ..contracts.base import Instant, Millis, Record
from ..contracts.deliveries import Delivery, Proof, Receipt
from ..contracts.events import Event
from ..contracts.signals import GoodResponse, Signal, TransportFailed
from ..contracts.status import Status
from ..contracts.verdicts import DROPS, Stage, Verdict
from ..pipeline.roster import Settings
from ..pipeline.simulate import Burst, burst_events
from .bench_recipients import RecipientKind, facts

ClockKind = Literal["simulated", "real"]
ROWS: Final = 20
"""A burst is shown in about so many steps."""
_STEPS: Final = tuple(
    Millis(step)
    for step in (
        *(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000),
        *(600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000),
    )
)
_RECORDED: Final = Receipt(proof=Proof.RECORDED)


class Plan(Record, frozen=True, kw_only=True):
    """One trial. Everything that decides its outcome under the simulated clock is in here."""

    burst: Burst
    recipient: RecipientKind = "idle"
    lanes: int = 1
    outages: tuple[tuple[Millis, Millis], ...] = ()
    """Spans from the burst's start in which its scope can't be reached."""
    settings: Settings = Settings()
    seed: int = 1
    tail: Millis = Millis(86_400_000)
    """How long to go on after the burst while something is pending."""

    def lane_names(self) -> tuple[str, ...]:
        """The recipients: ``agent``, or ``agent-1`` and so on."""
        return ("agent",) if self.lanes == 1 else tuple(f"agent-{nth}" for nth in range(1, self.lanes + 1))

    def step(self) -> Millis:
        """The length of one row of the table."""
        return next((step for step in _STEPS if step * ROWS >= self.burst.length), _STEPS[-1])

    def items(self) -> Iterator[tuple[Instant, Event | Signal]]:
        """Events, in turn for every lane, with the recipients' and the scope's signals among them; moments from 0 on."""
        from heapq import merge

        signals = sorted(self._signals(), key=lambda item: item[0])
        return merge(iter(signals), self._events(), key=lambda item: item[0])

    def _events(self) -> Iterator[tuple[Instant, Event]]:
        names = self.lane_names()
        for nth, (at, event) in enumerate(burst_events(self.burst, self.seed)):
            yield at, msgspec.structs.replace(event, to=names[nth % len(names)])

    def _signals(self) -> Iterator[tuple[Instant, Signal]]:
        for began, ended in self.outages:
            yield Instant(began), TransportFailed(scope=self.burst.scope)
            yield Instant(ended), GoodResponse(scope=self.burst.scope)
        for nth, name in enumerate(self.lane_names()):
            yield from facts(self.recipient, name, self.burst.length, self.seed + nth)


class Counts(Record, frozen=True, kw_only=True):
    """Events so far, or within one step. ``offered = told + folded + evicted + shed + dropped + pending`` over the whole."""

    offered: int = 0
    told: int = 0
    """Notices delivered, each once, whatever its count."""
    blocks: int = 0
    folded: int = 0
    evicted: int = 0
    """Suppressed: over the pending cap."""
    shed: int = 0
    """Suppressed: the line was full."""
    dropped: int = 0
    """Ended by any other verdict: an outage's echo, a dead recipient …"""
    held: int = 0
    """Times that an outage began to keep one."""
    deferred: int = 0
    """Times that its recipient's activity began to keep one."""
    over_budget: int = 0
    """Times that the limit of blocks began to keep one."""

    def since(self, before: "Counts") -> "Counts":
        """What came between two moments."""
        fields = type(self).__struct_fields__
        return Counts(**{name: getattr(self, name) - getattr(before, name) for name in fields})


class Sample(Record, frozen=True, kw_only=True):
    """The line at one moment."""

    after: Millis
    """Milliseconds since the burst began."""
    so_far: Counts
    pending: int


class Outcome(Record, frozen=True, kw_only=True):
    """What became of a trial."""

    plan: Plan
    clock: ClockKind
    samples: tuple[Sample, ...]
    """At the end of each step; the last one at the end of all."""
    blocks: tuple[tuple[Millis, int], ...]
    """Every block: when, in milliseconds since the burst began, and how many notices it had."""
    waits: tuple[int, ...]
    """For every notice told, milliseconds from its first occurrence to its delivery, in order of size."""
    own: int
    """Events that the line itself made."""
    seconds: float
    """What the trial took."""
    faults: tuple[str, ...]
    """What does not balance; empty if everything does."""

    @property
    def total(self) -> Counts:
        """Everything."""
        return self.samples[-1].so_far

    @property
    def pending(self) -> int:
        """What was not told when the trial ended."""
        return self.samples[-1].pending

    def steps(self) -> Iterator[tuple[Sample, Counts]]:
        """Each sample with what came since the one before."""
        before = Counts()
        for sample in self.samples:
            yield sample, sample.so_far.since(before)
            before = sample.so_far


class Box:
    """The recipients' sink: takes every block at once, and keeps when it came and how long its entries had waited."""

    def __init__(self) -> None:
        self.blocks: list[tuple[Instant, int]] = []
        self.entries = 0
        self.waits: list[int] = []

    def put(self, delivery: Delivery) -> Receipt:
        """Take it."""
        self.blocks.append((delivery.at, len(delivery.entries)))
        self.entries += len(delivery.entries)
        self.waits.extend(delivery.at - entry.first_at for entry in delivery.entries)
        return _RECORDED


def counts(status: Status, offered: int, blocks: int) -> Counts:
    """The line's own tallies in the words of a trial."""
    ends = status.dropped
    suppressed = {Verdict.EVICT, Verdict.SHED}
    return Counts(
        offered=offered,
        told=status.delivered,
        blocks=blocks,
        folded=status.folded,
        evicted=ends.get(Verdict.EVICT, 0),
        shed=ends.get(Verdict.SHED, 0),
        dropped=sum(ends.get(verdict, 0) for verdict in DROPS if verdict not in suppressed),
        held=_tally(status, Stage.HOLD, Verdict.HOLD),
        deferred=_tally(status, Stage.DEFER, Verdict.DEFER),
        over_budget=_tally(status, Stage.THROTTLE, Verdict.DEFER),
    )


def depth(status: Status) -> int:
    """What really stands in the tables and at the door: counted there, not by what is missing elsewhere."""
    return sum(lane.depth for lane in status.lanes) + status.at_the_door


def faults(status: Status, total: Counts, box: Box, lanes: Iterable[str]) -> tuple[str, ...]:
    """Each balance that does not come out even, in words. There are three, so that no figure stands for itself alone."""
    standing = depth(status)
    ended = total.told + total.folded + total.evicted + total.shed + total.dropped
    own = status.fed + status.at_the_door - total.offered
    found = []
    if ended + standing != total.offered + own:
        found.append(f"{ended:,} ended and {standing:,} pending are not the {total.offered + own:,} that came in")
    if box.entries != total.told:
        found.append(f"recipients have {box.entries:,} entries, the line says that it told {total.told:,}")
    if own < 0:
        found.append(f"{total.offered:,} events were offered, and {status.fed + status.at_the_door:,} came in")
    if {lane.name for lane in status.lanes} != set(lanes):
        found.append("the line's recipients are not those that were opened")
    return tuple(found)


def _tally(status: Status, stage: Stage, verdict: Verdict) -> int:
    return sum(tally.count for tally in status.tallies if tally.stage == stage and tally.verdict == verdict)

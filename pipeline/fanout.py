"""Fan-out: renders once, offers the block to the lane's sink, tries again with patience, and says what became of it."""

from collections.abc import Iterable
from enum import StrEnum
from hashlib import sha1

import msgspec

from ..contracts.base import Inbound, Instant, Length, Millis
from ..contracts.deliveries import Delivery, Entry, Receipt
from ..contracts.errors import NotNow, TocsinError
from ..contracts.moves import Dropped, Kept, Settled
from ..contracts.notices import Notice, Proposal, Proposed, notice_id
from ..contracts.severity import NAMES
from ..contracts.verdicts import Stage, Verdict
from .backoff import Backoff
from .inert import inert, whole
from .redact import redact
from .render import Policy as Layout
from .render import render
from .stage import StageBase
from .step import Step


class Policy(Inbound, frozen=True, kw_only=True):
    """How a block is written, and how often it is tried."""

    layout: Layout = Layout()
    backoff: Backoff = Backoff()
    look_again: Length = Millis(1_000)
    """When the gates look again after a sink said *not now*."""


class Reason(StrEnum):
    """What the sink said."""

    ACCEPTED = "sink_accepted"
    FAULT = "sink_failed"
    NOT_NOW = "sink_not_now"
    GONE = "sink_gone"
    ATTEMPTS = "attempts_used_up"
    CUT = "block_over_cap"


class Send(msgspec.Struct, frozen=True):
    """To the lane's sink: write this."""

    delivery: Delivery


class Delivered(msgspec.Struct, frozen=True):
    """To the observers: the recipient has this, with this proof."""

    delivery: Delivery
    receipt: Receipt


Outcome = Send | Delivered | Settled | Dropped | Kept


class _Flight(msgspec.Struct):
    proposal: Proposal
    delivery: Delivery
    retry_at: Instant | None = None

    @property
    def notices(self) -> list[Notice]:
        return [entry.notice for entry in self.proposal.entries]

    @property
    def serials(self) -> list[int]:
        return [entry.notice.serial for entry in self.proposal.entries]


class FanOut(StageBase[Policy]):
    """One delivery a lane is under way; a lane's trouble is its own."""

    def __init__(self, policy: Policy, run: str = "t", spill_dir: str = "") -> None:
        """``run`` is the first part of every id made here; the whole of a cut block is said to be in ``spill_dir``."""
        super().__init__(policy)
        self._run, self._spill_dir = run, spill_dir
        self._flights: dict[str, _Flight] = {}
        self._made = 0

    def offer(self, batch: Iterable[Proposal], now: Instant, step: Step[Outcome]) -> None:
        """A proposal that passed every gate becomes a delivery."""
        for proposal in batch:
            delivery = self._delivery(proposal, now)
            flight = self._flights[proposal.lane] = _Flight(proposal, delivery)
            if delivery.spill:
                step.rule(now, Stage.FANOUT, Verdict.SPILL, Reason.CUT, flight.notices, note=delivery.id)
            step.out.append(Send(delivery))

    def accepted(self, lane: str, delivery_id: str, receipt: Receipt, now: Instant, step: Step[Outcome]) -> None:
        """The sink took it."""
        if flight := self._landing(lane, delivery_id):
            note = f"{delivery_id} {receipt.proof}{': ' + receipt.note if receipt.note else ''}"
            step.rule(now, Stage.FANOUT, Verdict.DELIVER, Reason.ACCEPTED, flight.notices, note=note)
            step.out.append(Settled(lane, flight.proposal.number, flight.serials))
            step.out.append(Delivered(flight.delivery, receipt))

    def failed(self, lane: str, delivery_id: str, error: TocsinError, now: Instant, step: Step[Outcome]) -> None:
        """The sink did not take it: look again, try again, or put it aside for good."""
        flight = self._flights.get(lane)
        if flight is None or flight.delivery.id != delivery_id:
            return
        wait = self.policy.backoff.wait(flight.delivery.attempt) if error.retryable else None
        if isinstance(error, NotNow):
            self._give_back(lane, flight, str(error), now, step)
        elif wait is None:
            self._put_aside(lane, flight, error, now, step)
        else:
            flight.retry_at = Instant(now + wait)
            flight.delivery = msgspec.structs.replace(flight.delivery, attempt=flight.delivery.attempt + 1)
            step.rule(now, Stage.FANOUT, Verdict.RETRY, Reason.FAULT, flight.notices, flight.retry_at, str(error))

    def tick(self, now: Instant, step: Step[Outcome]) -> None:
        """Try again what is due."""
        for flight in self._flights.values():
            if flight.retry_at is not None and flight.retry_at <= now:
                flight.retry_at = None
                step.out.append(Send(flight.delivery))

    def due(self) -> Instant | None:
        """When the first attempt is due."""
        return min((f.retry_at for f in self._flights.values() if f.retry_at is not None), default=None)

    def flying(self) -> dict[str, Delivery]:
        """Lane → the delivery under way, to look at."""
        return {lane: flight.delivery for lane, flight in self._flights.items()}

    def _landing(self, lane: str, delivery_id: str) -> _Flight | None:
        flight = self._flights.get(lane)
        if flight is None or flight.delivery.id != delivery_id:
            return None
        return self._flights.pop(lane)

    def _give_back(self, lane: str, flight: _Flight, note: str, now: Instant, step: Step[Outcome]) -> None:
        del self._flights[lane]
        until = Instant(now + self.policy.look_again)
        step.rule(now, Stage.FANOUT, Verdict.DEFER, Reason.NOT_NOW, flight.notices, until, note)
        step.out.append(Kept(lane, flight.proposal.number, flight.serials, Stage.FANOUT, Reason.NOT_NOW, until))

    def _put_aside(self, lane: str, flight: _Flight, error: TocsinError, now: Instant, step: Step[Outcome]) -> None:
        del self._flights[lane]
        reason = Reason.ATTEMPTS if error.retryable else Reason.GONE
        step.rule(now, Stage.FANOUT, Verdict.DEAD_LETTER, reason, flight.notices, note=str(error))
        step.out.append(Dropped(lane, flight.proposal.number, flight.serials, Verdict.DEAD_LETTER))

    def _delivery(self, proposal: Proposal, now: Instant) -> Delivery:
        made = self._id_of(proposal)
        entries = tuple(self._entry(entry) for entry in proposal.entries)
        suppressed = {name: count for name, count in zip(NAMES, proposal.suppressed, strict=True) if count}
        block = render(
            entries,
            suppressed,
            self.policy.layout,
            delivery=made,
            overdue=proposal.overdue,
            spill_path=f"{self._spill_dir}/{made}.txt" if self._spill_dir else "no file (none is set)",
        )
        return Delivery(
            id=made,
            lane=proposal.lane,
            at=now,
            text=block.text,
            entries=entries,
            suppressed=suppressed,
            overdue=proposal.overdue,
            spill=block.whole,
        )

    def _id_of(self, proposal: Proposal) -> str:
        """After a crash the same messages come again with their ids, so a block is named after the first that has one.

        Mere events do not come again; a block of nothing else is numbered.
        """
        lasting = (entry.notice.event for entry in proposal.entries if entry.notice.event.traffic != "event")
        if first := next((event.id for event in lasting if event.id), ""):
            named = f"{proposal.lane}\0{first}".encode("utf-8", "surrogatepass")
            return f"d-{sha1(named, usedforsecurity=False).hexdigest()[:16]}"
        self._made += 1
        return f"{self._run}-d{self._made}"

    def _entry(self, proposed: Proposed) -> Entry:
        """What a program printed is made harmless; what somebody wrote is handed over as it is, and harmless in the block."""
        event = proposed.notice.event
        printed = event.traffic == "event"
        return Entry(
            id=inert(notice_id(self._run, proposed.notice)),
            fingerprint=proposed.notice.fingerprint,
            traffic=event.traffic,
            severity=NAMES[proposed.severity],
            source=inert(event.source),
            scope=inert(event.scope),
            text=redact(inert(event.text)) if printed else whole(event.text),
            count=proposed.count,
            first_at=proposed.first_at,
            last_at=proposed.last_at,
            detail=redact(inert(event.detail)) if printed else whole(event.detail),
            frame=redact(inert(event.frame)),
            category=inert(event.category),
            reminder=proposed.reminder,
        )

"""Recorder: keeps the record; every stage tells it what it decided. What concerns durable messages goes to the store too."""

from collections.abc import Iterable
from typing import Any

import pykka

from ..contracts.durable import Announced, Held, Outcome
from ..contracts.notices import Notice, notice_id
from ..contracts.verdicts import Ruling, Verdict
from ..pipeline.notice_kinds import signature_of
from ..pipeline.record import Record
from .base import LineActor
from .dispatcher import Dispatcher
from .durable import Settle
from .messages import Look, Rulings
from .supervisor import Supervisor


class RecorderActor(LineActor):
    """The one writer of the record."""

    def __init__(self, dispatcher: Dispatcher, supervisor: Supervisor, record: Record) -> None:
        super().__init__(dispatcher, supervisor)
        self._record = record
        self.journal: pykka.ActorRef[Any] | None = None
        """The store's actor, if there is a store."""

    def on_receive(self, message: Any) -> Any:
        match message:
            case Rulings():
                self._record.take(message.items)
                if self.journal is not None and (settle := durable_part(message.items)) is not None:
                    self.journal.tell(settle)
            case Look():
                return self._look(message)
        return None

    def _look(self, look: Look) -> Any:
        if look.what == "decisions":
            return self._record.decisions_after(look.after)
        seen = {
            "balance": self._record.balance,
            "counts": self._record.counts,
            "dead_letters": lambda: list(self._record.dead_letters),
            "lanes": self._record.lanes,
            "untold": self._record.untold,
        }
        return seen[look.what]() if look.what in seen else self._record.explain(look.what)


def durable_part(rulings: Iterable[Ruling]) -> Settle | None:
    """What the store has to know of these decisions; none if they are only about a machine's findings."""
    outcomes: list[Outcome] = []
    announced: list[Announced] = []
    held: list[Held] = []
    for ruling in rulings:
        for notice in ruling.notices:
            if notice.event.traffic == "event":
                continue
            outcomes.append(_outcome(ruling, notice))
            if notice.event.traffic == "notice" and ruling.verdict is Verdict.DELIVER:
                announced.append(_announced(ruling, notice))
            elif notice.event.traffic == "notice" and ruling.verdict is Verdict.DEFER:
                held.append(_held(ruling, notice))
    return Settle(outcomes, announced, held) if outcomes else None


def _outcome(ruling: Ruling, notice: Notice) -> Outcome:
    return Outcome(
        id=notice_id("", notice),
        recipient=notice.lane,
        at=ruling.at,
        stage=ruling.stage,
        verdict=ruling.verdict,
        reason=str(ruling.reason),
        fingerprint=notice.fingerprint,
        until=ruling.until,
        note=ruling.note,
    )


def _announced(ruling: Ruling, notice: Notice) -> Announced:
    event = notice.event
    signature = signature_of(notice)
    return Announced(recipient=notice.lane, signature=signature, at=ruling.at, ctx=event.ctx, cleared_when=event.cleared_when)


def _held(ruling: Ruling, notice: Notice) -> Held:
    return Held(
        recipient=notice.lane,
        signature=signature_of(notice),
        id=notice_id("", notice),
        event=notice.event,
        at=ruling.at,
        reason=str(ruling.reason),
    )

"""Untold: the end of a message that carried an answer and never will, with its reason, in the caller's transaction."""

from ..contracts.base import Instant
from ..contracts.durable import Outcome, Stored
from ..contracts.verdicts import Stage, Verdict
from ..store import deliveries
from ..store.engine import Transaction


def end(tx: Transaction, stored: Stored, verdict: Verdict, reason: str, now: Instant) -> None:
    """It will not be told, and here is why."""
    ended = Outcome(id=stored.id, recipient=stored.recipient, at=now, stage=Stage.INTAKE, verdict=verdict, reason=reason)
    deliveries.settle(tx, [ended], now)

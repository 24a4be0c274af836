"""Absent: what is done to the messages of a recipient that no process delivers to at the moment."""

from collections.abc import Callable, Sequence

from ..contracts.base import Instant
from ..contracts.durable import OPEN, Outcome, Rearmed, Stored
from ..contracts.recipients import Owner
from ..contracts.verdicts import Stage, Verdict
from ..pipeline.throttle import Reason
from ..store import deliveries, intake, ledger, owners
from ..store.engine import Transaction


def rearm_absent(
    tx: Transaction,
    name: str,
    kind: str,
    cleared: Callable[[str, tuple[str, ...]], bool],
    *,
    owner: Owner,
    alive: Callable[[Owner, Instant], bool],
    now: Instant,
) -> Rearmed | Owner:
    """Take signatures whose condition is gone from the list, and end what waits for no reason any more; or who delivers."""
    other = owners.take(tx, name, owner, now, alive=alive)
    if other is not None:
        return other

    def is_gone(signature: str, ctx: tuple[str, ...]) -> bool:
        return (not kind or signature.startswith(f"{kind}:")) and cleared(signature, ctx)

    told = [one.signature for one in ledger.announced(tx, name) if is_gone(one.signature, one.ctx)]
    waiting = intake.listing(tx, recipient=name, states=OPEN, traffic="notice", limit=1_000_000)
    stale = [stored for stored in waiting if is_gone(stored.event.key, stored.event.ctx)]
    rearmed = Rearmed(delivered=ledger.forget(tx, name, told), held=len(stale))
    end(tx, stale, Verdict.CLEAR, Reason.CLEARED, now)
    owners.give_back(tx, owner.token, name)
    return rearmed


def end(tx: Transaction, messages: Sequence[Stored], verdict: Verdict, reason: str, now: Instant) -> None:
    """They will not be told, and here is why."""
    outcomes = [
        Outcome(id=stored.id, recipient=stored.recipient, at=now, stage=Stage.THROTTLE, verdict=verdict, reason=str(reason))
        for stored in messages
    ]
    deliveries.settle(tx, outcomes, now)
    for stored in messages:
        ledger.release(tx, stored.recipient, [stored.id])

"""Absent: what is done to the messages of a recipient that no process delivers to at the moment."""

from collections.abc import Callable, Sequence

from ..contracts.base import Instant
from ..contracts.durable import OPEN, Outcome, Rearmed, Stored
from ..contracts.errors import SameId
from ..contracts.recipients import Owner
from ..contracts.verdicts import Stage, Verdict
from ..pipeline.defer import Reason as DeferReason
from ..pipeline.throttle import Reason
from ..store import deliveries, intake, ledger, owners, recipients
from ..store.engine import Transaction

_MOST = 1_000_000
"""Messages of one recipient that are looked through."""


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
    waiting = intake.listing(tx, recipient=name, states=OPEN, traffic="notice", limit=_MOST)
    stale = [stored for stored in waiting if is_gone(stored.event.key, stored.event.ctx)]
    rearmed = Rearmed(delivered=ledger.forget(tx, name, told), held=len(stale))
    end(tx, stale, Verdict.CLEAR, Reason.CLEARED, now)
    owners.give_back(tx, owner.token, name)
    return rearmed


def archive(tx: Transaction, name: str, *, alive: Callable[[Owner, Instant], bool], now: Instant) -> bool:
    """Declare it dead; False if it is unknown or was so already. What waits for it ends here, if no owner lives to end it."""
    changed = recipients.archive(tx, name, now)
    found = owners.owner_of(tx, name)
    if recipients.find(tx, name) is not None and recipients.is_dead(tx, name) and not (found and alive(*found)):
        _end_of_the_dead(tx, name, now)
    return changed


def _end_of_the_dead(tx: Transaction, name: str, now: Instant) -> None:
    """As in a line: notices are dropped, a person's words are put aside, mail goes to the coordinator, answers stay."""
    waiting = intake.listing(tx, recipient=name, states=OPEN, limit=_MOST)
    by_class = {traffic: [one for one in waiting if one.traffic == traffic] for traffic in ("notice", "user", "mail")}
    end(tx, by_class["notice"], Verdict.DROP_DEAD, DeferReason.DEAD, now, stage=Stage.DEFER)
    end(tx, by_class["user"], Verdict.DEAD_LETTER, DeferReason.DEAD, now, stage=Stage.DEFER)
    to = recipients.coordinator(tx)
    for mail in by_class["mail"]:
        note = f"bounced to {to}"
        try:
            intake.accept(tx, mail.event, recipient=to, id=mail.id, at=now)
        except SameId:
            note = f"{to} was sent something else under this id"
        end(tx, [mail], Verdict.REFUSE, DeferReason.BOUNCED, now, stage=Stage.DEFER, note=note)


def end(
    tx: Transaction,
    messages: Sequence[Stored],
    verdict: Verdict,
    reason: str,
    now: Instant,
    *,
    stage: Stage = Stage.THROTTLE,
    note: str = "",
) -> None:
    """They will not be told, and here is why."""
    outcomes = [
        Outcome(id=one.id, recipient=one.recipient, at=now, stage=stage, verdict=verdict, reason=str(reason), note=note)
        for one in messages
    ]
    deliveries.settle(tx, outcomes, now)
    for stored in messages:
        ledger.release(tx, stored.recipient, [stored.id])

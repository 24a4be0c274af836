"""Importing: a ``notice-ledger.json`` into the store: understood whole before anything is written, then taken in at once."""

from collections.abc import Sequence

from msgspec.structs import replace

from ..contracts.base import Instant
from ..contracts.durable import OPEN, Announced, Held
from ..pipeline.notice_kinds import case_of
from ..store import intake, ledger, ledger_file
from ..store.engine import Transaction


def understood(data: bytes, now: Instant) -> tuple[list[Announced], list[Held]]:
    """What was told and what is held; what the file does not say of them, the table of kinds says.

    Raises ``BadInput`` with what is wrong.
    """
    told, held = ledger_file.read(data, now)
    return [_told(one) for one in told], [_held(one) for one in held]


def take_in(tx: Transaction, told: Sequence[Announced], held: Sequence[Held], now: Instant) -> tuple[int, int]:
    """How many of them were news here. What was held waits for its recipient as it did before."""
    counts = ledger.take_in(tx, told, held, now)
    for kept in held:
        _accept(tx, kept, now)
    return counts


def _told(one: Announced) -> Announced:
    return replace(one, cleared_when=one.cleared_when or case_of(one.signature).cleared_when)


def _held(one: Held) -> Held:
    if one.reason != ledger_file.IMPORTED:  # one of ours: its sender has said what holds for it
        return one
    event, known = one.event, case_of(one.signature)
    urgent, evidence = event.urgent or known.urgent, event.cleared_when or known.cleared_when
    return replace(one, event=replace(event, urgent=urgent, cleared_when=evidence))


def _accept(tx: Transaction, kept: Held, now: Instant) -> None:
    """A held notice that was not known waits among the messages; one that has ended here is held no longer."""
    known = [one for one in intake.find(tx, kept.id) if one.recipient == kept.recipient]
    if not known:
        intake.accept(tx, kept.event, recipient=kept.recipient, id=kept.id, at=now)
    elif known[0].state not in OPEN:
        ledger.release(tx, kept.recipient, [kept.id])

"""Decisions: the journal of what was decided over durable messages, each once. Writes the table ``decisions``."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ..contracts.base import Instant
from ..contracts.durable import Outcome
from ..contracts.errors import BadInput
from ..contracts.verdicts import Decision, Stage, Verdict
from .engine import Transaction, View
from .rows import names_of, word

SHORTEST: Final = 8
"""Characters of a fingerprint that are enough to ask for it."""

_STAGES: Final = frozenset(Stage)
_COLUMNS: Final = "serial, at, recipient, id, fingerprint, stage, verdict, reason, until, note"
_INSERT: Final = (
    "INSERT INTO decisions (id, recipient, at, stage, verdict, reason, fingerprint, until, note) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)


def add(tx: Transaction, outcomes: Sequence[Outcome]) -> None:
    """Write them down; one that stands there already is not written twice. Raises ``BadInput`` for an unknown stage."""
    for outcome in outcomes:
        if outcome.stage not in _STAGES:
            raise BadInput(f"there is no stage {outcome.stage!r}")
    tx.many(_INSERT, (_values(outcome) for outcome in outcomes))


def _values(outcome: Outcome) -> tuple[Any, ...]:
    return (
        outcome.id,
        outcome.recipient,
        outcome.at,
        outcome.stage,
        outcome.verdict,
        outcome.reason,
        outcome.fingerprint,
        outcome.until,
        outcome.note,
    )


def story(view: View, what: str) -> list[Decision]:
    """What was decided, in order: over a message (its id), a block (its id), or a fingerprint (8 characters or more of it)."""
    found: dict[int, Decision] = {}
    for id in (what, *_in_block(view, what)):
        found |= _found(view, "id = ?", (id,))
    if len(what) >= SHORTEST:
        found |= _found(view, "fingerprint != '' AND fingerprint >= ? AND fingerprint < ?", (what, what + "\U0010ffff"))
    return [found[serial] for serial in sorted(found)]


def prune(tx: Transaction, before: Instant) -> int:
    """Forget what was decided before that moment over messages that are gone or have ended; how many that were."""
    still_open = "SELECT id FROM notices WHERE state IN ('pending', 'claimed', 'dispatched')"
    return tx.execute(f"DELETE FROM decisions WHERE at < ? AND id NOT IN ({still_open})", (before,)).rowcount


def _in_block(view: View, delivery: str) -> Iterable[str]:
    return (id for (data,) in view.rows("SELECT notices FROM deliveries WHERE id = ?", (delivery,)) for id in names_of(data))


def _found(view: View, where: str, values: Sequence[str]) -> dict[int, Decision]:
    rows = view.rows(f"SELECT {_COLUMNS} FROM decisions WHERE {where} ORDER BY serial", values)
    return {serial: _decision(*columns) for serial, *columns in rows}


def _decision(
    at: Instant,
    lane: str,
    id: str,
    fingerprint: str,
    stage: str,
    verdict: str,
    reason: str,
    until: Instant | None,
    note: str,
) -> Decision:
    return Decision(
        at=at,
        lane=lane,
        id=id,
        fingerprint=fingerprint,
        stage=word(Stage, stage),
        verdict=word(Verdict, verdict),
        reason=reason,
        until=until,
        note=note,
    )

"""Upkeep: once a day, what is past its time goes. Writes the table ``upkeep``, but for the registry's mark in it."""

from typing import Final

from ..contracts.base import Instant, Millis
from . import decisions, deliveries, inbox, intake, ledger, recipients
from .engine import Transaction, View

PERIOD: Final = Millis(86_400_000)
"""How often everything is checked and pruned; the ledger is also pruned before each write."""

KEPT: Final = ledger.NOTICE_LEDGER_TTL
"""How long what has ended stays on record."""

_IN_ORDER: Final = (intake.prune, deliveries.prune, decisions.prune, inbox.prune, recipients.prune)


def due(view: View, now: Instant) -> bool:
    """True if the last time is a day ago, or lies in the future because the clock has gone back."""
    last = view.rows("SELECT done_at FROM upkeep WHERE task = 'prune'")
    return not last or not last[0][0] <= now < last[0][0] + PERIOD


def prune(tx: Transaction, now: Instant) -> int:
    """Take away what ended longer ago than ``KEPT``; how many rows that were. What is open stays, whatever its age."""
    before = Instant(now - KEPT)
    gone = ledger.prune(tx, now, KEPT)
    recipients.trust_again(tx, now, PERIOD)
    gone += sum(prune_table(tx, before) for prune_table in _IN_ORDER)
    tx.execute("INSERT OR REPLACE INTO upkeep (task, done_at) VALUES ('prune', ?)", (now,))
    return gone

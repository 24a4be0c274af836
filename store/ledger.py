"""Ledger: what was announced and not re-armed, and what is held. Writes the tables ``notice_delivered`` and ``notice_held``."""

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from ..contracts.base import Instant, Millis
from ..contracts.durable import Announced, Held, Outcome
from ..contracts.errors import StoreFull
from ..contracts.verdicts import Stage, Verdict
from . import deliveries, ledger_file
from .engine import Transaction, View
from .evidence import Evidence
from .rows import encode, event_of, names_of

NOTICE_LEDGER_TTL: Final = Millis(30 * 86_400_000)
"""How long an entry stays, if no evidence ends it before."""

DAY: Final = Millis(86_400_000)

EXPIRED: Final = "expired"
"""Why one that was held has ended untold."""

_ANNOUNCE: Final = (
    "INSERT OR REPLACE INTO notice_delivered (recipient, signature, at, ctx, cleared_when) VALUES (?, ?, ?, ?, ?)"
)
_HOLD: Final = (
    "INSERT INTO notice_held (recipient, id, signature, event, at, reason) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (recipient, id) DO UPDATE SET signature = excluded.signature, event = excluded.event, "
    "at = min(at, excluded.at), reason = excluded.reason"
)


def announce(tx: Transaction, told: Announced) -> None:
    """Note that a recipient was told of a condition; what has expired by then goes."""
    prune(tx, told.at, NOTICE_LEDGER_TTL)
    tx.execute(_ANNOUNCE, _announced_values(told))


def announced(view: View, recipient: str) -> list[Announced]:
    """What this recipient was told of and what is not re-armed, the oldest first."""
    sql = "SELECT signature, at, ctx, cleared_when FROM notice_delivered WHERE recipient = ? ORDER BY at, signature"
    return [_announced(recipient, *row) for row in view.rows(sql, (recipient,))]


def declared(view: View, recipient: str) -> list[Announced]:
    """Those of them that say by what evidence their condition ends."""
    sql = "SELECT signature, at, ctx, cleared_when FROM notice_delivered WHERE recipient = ? AND cleared_when != ''"
    return [_announced(recipient, *row) for row in view.rows(sql, (recipient,))]


def forget(tx: Transaction, recipient: str, signatures: Iterable[str]) -> int:
    """Re-arm these; how many were there."""
    sql = "DELETE FROM notice_delivered WHERE recipient = ? AND signature = ?"
    return tx.many(sql, ((recipient, signature) for signature in signatures))


def hold(tx: Transaction, kept: Held) -> None:
    """Keep a notice that waits, as it was built; what has expired by then goes.

    It has waited since it was accepted, whatever process held it before this one.
    """
    prune(tx, kept.at, NOTICE_LEDGER_TTL)
    sql = "SELECT accepted_at FROM notices WHERE id = ? AND recipient = ?"
    accepted = [at for (at,) in tx.rows(sql, (kept.id, kept.recipient))]
    tx.execute(_HOLD, _held_values(replace(kept, at=min(kept.at, *accepted))) if accepted else _held_values(kept))


def held(view: View, recipient: str | None = None) -> list[Held]:
    """What waits, for one recipient or for all, in the order in which it began to."""
    where, values = ("WHERE recipient = ?", (recipient,)) if recipient is not None else ("", ())
    rows = view.rows(f"SELECT recipient, id, signature, event, at, reason FROM notice_held {where} ORDER BY serial", values)
    return [_held(*row) for row in rows]


def release(tx: Transaction, recipient: str, ids: Iterable[str]) -> int:
    """These wait no longer; how many did."""
    return tx.many("DELETE FROM notice_held WHERE recipient = ? AND id = ?", ((recipient, id) for id in ids))


def prune(tx: Transaction, now: Instant, ttl: Millis) -> int:
    """Take away what is older than ``ttl``; how many. What is held for a recipient that a process has is left to that process.

    An entry that lies more than a day in the future is set to now: a clock that was wrong once must not keep it for ever.
    """
    for table in ("notice_delivered", "notice_held"):
        tx.execute(f"UPDATE {table} SET at = ? WHERE at > ?", (now, now + DAY))
    gone = tx.execute("DELETE FROM notice_delivered WHERE at < ?", (now - ttl,)).rowcount
    return gone + len(_end(tx, _older(tx, "recipient NOT IN (SELECT recipient FROM owners)", (), now - ttl), now))


def expire(tx: Transaction, recipient: str, now: Instant, ttl: Millis) -> list[str]:
    """The same for what is held for one recipient, by its owner; which they are."""
    return _end(tx, _older(tx, "recipient = ?", (recipient,), now - ttl), now)


def _older(view: View, where: str, values: tuple[Any, ...], before: int) -> list[Held]:
    """What has been held since before that, but for that of which it can be seen that it is still so."""
    sql = f"SELECT recipient, id, signature, event, at, reason FROM notice_held WHERE at < ? AND {where}"
    old = [_held(*row) for row in view.rows(sql, (before, *values))]
    return [kept for kept in old if not Evidence(view, kept.recipient).still_holds(kept.event, kept.at)]


def _end(tx: Transaction, over: Sequence[Held], now: Instant) -> list[str]:
    """They are held no longer, and will not be told."""
    outcomes = [
        Outcome(id=kept.id, recipient=kept.recipient, at=now, stage=Stage.THROTTLE, verdict=Verdict.EVICT, reason=EXPIRED)
        for kept in over
    ]
    deliveries.settle(tx, outcomes, now)
    for kept in over:
        release(tx, kept.recipient, (kept.id,))
    return [kept.id for kept in over]


def export(view: View) -> bytes:
    """The whole ledger as a ``notice-ledger.json``, version 1."""
    sql = "SELECT recipient, signature, at, ctx, cleared_when FROM notice_delivered ORDER BY recipient, signature"
    return ledger_file.write((_announced(*row) for row in view.rows(sql)), held(view))


def load(tx: Transaction, data: bytes, now: Instant) -> tuple[int, int]:
    """Add what a ``notice-ledger.json`` holds: (announced, held) that were not here, or newer than what was.

    Raises ``BadInput``, which says what is wrong, and takes nothing. A date that can't be read counts as now.
    """
    return take_in(tx, *ledger_file.read(data, now), now)


def take_in(tx: Transaction, told: Iterable[Announced], kept: Iterable[Held], now: Instant) -> tuple[int, int]:
    """Add these: (announced, held) that were not here, or newer than what was."""
    newer = " WHERE NOT EXISTS (SELECT 1 FROM notice_delivered WHERE recipient = ?1 AND signature = ?2 AND at >= ?3)"
    announce_newer = _ANNOUNCE.replace("VALUES (?, ?, ?, ?, ?)", "SELECT ?1, ?2, ?3, ?4, ?5") + newer
    added = tx.many(announce_newer, (_announced_values(entry) for entry in told if entry.at >= now - NOTICE_LEDGER_TTL))
    waiting = tx.many(_HOLD.split(" ON CONFLICT")[0] + " ON CONFLICT DO NOTHING", (_held_values(entry) for entry in kept))
    return added, waiting


def write_export(view: View, path: Path) -> None:
    """Put the export into a file: the old one whole or the new one whole, whatever happens. Raises ``StoreFull``."""
    data = export(view)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise StoreFull(f"{path}: can't be written ({error.strerror}). Free some space or name another file.") from error


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _announced_values(told: Announced) -> tuple[Any, ...]:
    return told.recipient, told.signature, told.at, encode(told.ctx), told.cleared_when


def _announced(recipient: str, signature: str, at: Instant, ctx: bytes, cleared_when: str) -> Announced:
    return Announced(recipient=recipient, signature=signature, at=at, ctx=names_of(ctx), cleared_when=cleared_when)


def _held_values(kept: Held) -> tuple[Any, ...]:
    return kept.recipient, kept.id, kept.signature, encode(kept.event), kept.at, kept.reason


def _held(recipient: str, id: str, signature: str, event: bytes, at: Instant, reason: str) -> Held:
    return Held(recipient=recipient, id=id, signature=signature, event=event_of(event), at=at, reason=reason)

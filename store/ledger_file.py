"""Ledger file: a ``notice-ledger.json``, version 1, to and from values. It is understood or refused, and never crashes."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from ..contracts.base import Instant, Record
from ..contracts.durable import Announced, Held
from ..contracts.errors import BadInput
from ..contracts.events import Event

VERSION: Final = 1
IMPORTED: Final = "imported"
"""Why one is held that another program held."""
_LONGEST_ID: Final = 200
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400_000


class _Entry(Record, frozen=True, kw_only=True, omit_defaults=True):
    at: Any = None
    ctx: tuple[str, ...] | None = None
    cleared_when: str = ""


class _Notice(Record, frozen=True, kw_only=True):
    kind: str = ""
    key: str = ""
    urgent: bool = False
    ctx: tuple[str, ...] | None = None


class _Exact(Record, frozen=True, kw_only=True):
    """What the format has no place for, so that nothing is lost on the way out and in again."""

    id: str
    reason: str
    event: Event


class _Deferred(Record, frozen=True, kw_only=True, omit_defaults=True, rename={"sender": "from"}):
    to: str
    sig: str
    notice: _Notice | None = None
    payload: Any = None
    sender: str = ""
    at: Any = None
    tocsin: _Exact | None = None


class _Ledger(Record, frozen=True, kw_only=True):
    version: int
    delivered: dict[str, dict[str, _Entry]] = {}
    deferred: list[_Deferred] = []


class _Head(Record, frozen=True, kw_only=True):
    version: Any = None


def write(told: Iterable[Announced], kept: Iterable[Held]) -> bytes:
    """The file for these, indented for people."""
    delivered: dict[str, dict[str, _Entry]] = {}
    for entry in told:
        of_recipient = delivered.setdefault(entry.recipient, {})
        of_recipient[entry.signature] = _Entry(at=_iso(entry.at), ctx=entry.ctx or None, cleared_when=entry.cleared_when)
    ledger = _Ledger(version=VERSION, delivered=delivered, deferred=[_deferred(entry) for entry in kept])
    return msgspec.json.format(msgspec.json.encode(ledger), indent=2) + b"\n"


def _deferred(kept: Held) -> _Deferred:
    kind, _, key = kept.signature.partition(":")
    event = kept.event
    return _Deferred(
        to=kept.recipient,
        sig=kept.signature,
        notice=_Notice(kind=kind, key=key, urgent=event.urgent, ctx=event.ctx or None),
        payload={"to": kept.recipient, "subject": event.text, "body": event.detail},
        sender=event.scope or event.source,
        at=_iso(kept.at),
        tocsin=_Exact(id=kept.id, reason=kept.reason, event=event),
    )


def read(data: bytes, now: Instant) -> tuple[list[Announced], list[Held]]:
    """What a file says. Raises ``BadInput`` if it is no ledger, or of another version; the text says what is wrong."""
    try:
        version = msgspec.json.decode(data, type=_Head).version
        if isinstance(version, bool) or version != VERSION:
            raise BadInput(f"this ledger says version {version!r}, and only version {VERSION} is understood")
        ledger = msgspec.json.decode(data, type=_Ledger)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BadInput(f"this is no notice ledger: {error}") from error
    told = [
        _announced(_recipient(recipient, "delivered"), _signature(signature, f"delivered[{recipient!r}]"), entry, now)
        for recipient, entries in ledger.delivered.items()
        for signature, entry in entries.items()
    ]
    for recipient in ledger.delivered:
        _recipient(recipient, "delivered")  # also of one that was told nothing
    return told, [_held(entry, now, f"deferred[{nth}]") for nth, entry in enumerate(ledger.deferred)]


def _recipient(name: str, where: str) -> str:
    if not name or name != name.strip() or not name.isprintable():
        raise BadInput(f"this is no notice ledger: {name!r} can't be a recipient's name (at {where})")
    return name


def _signature(said: str, where: str) -> str:
    if not said:
        raise BadInput(f"this is no notice ledger: a signature is empty, where KIND:KEY was expected (at {where})")
    return said


def _announced(recipient: str, signature: str, entry: _Entry, now: Instant) -> Announced:
    at = _instant(entry.at, now)
    return Announced(recipient=recipient, signature=signature, at=at, ctx=entry.ctx or (), cleared_when=entry.cleared_when)


def _held(entry: _Deferred, now: Instant, where: str) -> Held:
    to, signature, at = _recipient(entry.to, where), _signature(entry.sig, where), _instant(entry.at, now)
    if (exact := entry.tocsin) is not None:
        if wrong := _wrong_with(exact, to):
            raise BadInput(f"this is no notice ledger: {wrong} (at {where}.tocsin)")
        return Held(recipient=to, signature=signature, id=exact.id, event=exact.event, at=at, reason=exact.reason)
    event = _event(entry)
    # The same entry gets the same id each time, so that a file may be imported twice.
    name = hashlib.sha1("\0".join((to, signature, event.text, event.detail)).encode()).hexdigest()[:16]
    return Held(recipient=to, signature=signature, id=f"imported-{name}", event=event, at=at, reason=IMPORTED)


def _wrong_with(exact: _Exact, to: str) -> str:
    """What keeps it from being a harness notice to that recipient; empty if nothing does."""
    event = exact.event
    if event.traffic != "notice":
        return f"only notices are held, and this is of class {event.traffic!r}"
    if event.to not in (None, to):
        return f"it is addressed to {event.to!r}, and held for {to!r}"
    if not exact.id or len(exact.id) > _LONGEST_ID or not exact.id.isprintable() or event.id not in ("", exact.id):
        return f"{exact.id[:40]!r} can't be its id"
    if event.at is not None and not abs(event.at) < 1 << 63:
        return f"{event.at} is no moment"
    return ""


def _event(entry: _Deferred) -> Event:
    payload = entry.payload if isinstance(entry.payload, dict) else {}
    notice = entry.notice or _Notice()
    texts = [text for text in (payload.get("subject"), payload.get("body")) if isinstance(text, str) and text]
    text, detail = (*texts, "", "")[:2]
    return Event(
        text=text or entry.sig,
        detail=detail,
        to=entry.to,
        source="harness",
        scope=entry.sender,
        traffic="notice",
        key=entry.sig,
        urgent=notice.urgent,
        ctx=notice.ctx or (),
    )


def _iso(at: Instant) -> str:
    try:
        moment = _EPOCH + timedelta(milliseconds=at)
    except OverflowError:
        moment = datetime.max.replace(tzinfo=UTC)  # no calendar goes further
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _instant(said: Any, now: Instant) -> Instant:
    """The moment that is said; now, if it can't be read or lies more than a day ahead."""
    try:
        moment = datetime.fromisoformat(said)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        at = Instant((moment - _EPOCH) // timedelta(milliseconds=1))
    except (TypeError, ValueError, OverflowError):
        return now
    return now if at > now + _DAY else at

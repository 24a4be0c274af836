"""Ledger: a harness notice is told once, until its condition is gone; what was never told is not on it."""

from collections.abc import Callable, Container, Iterable, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from ..contracts.base import Instant, Millis
from ..contracts.durable import Announced, Rearmed
from ..contracts.moves import Announce, Disarm
from ..contracts.notices import Notice
from ..contracts.verdicts import Verdict
from .notice_kinds import KINDS, kind_of, rest_of, signature_of, slot_of, without

NOTICE_LEDGER_TTL: Final = Millis(30 * 24 * 3_600_000)
"""What was told is forgotten after thirty days, whatever has become of its condition."""
MOST_TOLD: Final = 10_000
"""Signatures that are remembered of one recipient; beyond it the oldest goes."""


class Reason(StrEnum):
    """Why a harness notice passed or was folded."""

    FIRST = "not_told_yet"
    NEW_IDS = "only_new_ids"
    AGAIN = "raised_again"
    URGENT = "urgent_now"
    PENDING = "already_pending"
    NOT_REARMED = "told_and_not_rearmed"
    NOTHING_NEW = "nothing_new"


class Ruled(msgspec.Struct, frozen=True):
    """What is to be done with one notice."""

    verdict: Verdict
    reason: Reason
    notice: Notice
    """As it goes on: of a set of ids, with only the new ones."""
    other: int = 0
    """The serial of the pending one that it is counted onto, or that it replaces; 0: there is none."""


class _Waiting(msgspec.Struct):
    """One that passed and has not come to its end."""

    notice: Notice
    gone: bool = False
    """Its condition went away and has not come back: it will not count as told."""


class _Book:
    """One recipient's page."""

    __slots__ = ("ending", "sets", "slots", "told", "waiting")

    def __init__(self) -> None:
        self.told: dict[str, Announced] = {}
        """By signature, oldest first."""
        self.sets: dict[str, dict[str, Announced]] = {}
        """Those of ``told`` whose ids are counted one by one, by kind."""
        self.waiting: dict[int, _Waiting] = {}
        self.slots: dict[str, dict[int, None]] = {}
        """Slot → serials: the last one stands for it, the others are about to give way, or are under way."""
        self.ending: dict[int, _Waiting] = {}
        """What was under way, perhaps, when the lane was closed."""

    def remember(self, one: Announced) -> None:
        """It was told; its place is the youngest."""
        self.forget(one.signature)
        self.told[one.signature] = one
        kind = kind_of(one.signature)
        if one.ctx and kind in KINDS and KINDS[kind].set_key:
            self.sets.setdefault(kind, {})[one.signature] = one

    def forget(self, signature: str) -> bool:
        """It may be told again. True if it had been told."""
        if self.told.pop(signature, None) is None:
            return False
        if sets := self.sets.get(kind_of(signature)):
            sets.pop(signature, None)
        return True

    def ids(self, kind: str) -> frozenset[str]:
        """All ids that were told of under this kind."""
        return frozenset(one for announced in self.sets.get(kind, {}).values() for one in announced.ctx)

    def pending(self, slot: str) -> _Waiting | None:
        """The one that stands for this slot."""
        serials = self.slots.get(slot)
        return self.waiting[next(reversed(serials))] if serials else None

    def add(self, notice: Notice) -> None:
        """It passed."""
        self.waiting[notice.serial] = _Waiting(notice)
        self.slots.setdefault(slot_of(notice), {})[notice.serial] = None

    def take(self, serial: int) -> _Waiting | None:
        """It has come to its end."""
        one = self.waiting.pop(serial, None)
        if one is None:
            return self.ending.pop(serial, None)
        slot = slot_of(one.notice)
        del self.slots[slot][serial]
        if not self.slots[slot]:
            del self.slots[slot]
        return one

    def empty(self) -> bool:
        """Nothing is known, nothing is to come."""
        return not (self.told or self.waiting or self.ending)


class Ledger:
    """What every recipient was told, and what is pending. Each change of what was told is in ``changes``, once."""

    def __init__(self, ttl: Millis) -> None:
        """``ttl``: how long what was told is remembered; 0: for ever."""
        self._ttl = ttl
        self._books: dict[str, _Book] = {}
        self._changes: list[Announce | Disarm] = []

    def judge(self, notice: Notice, now: Instant) -> Ruled:
        """The verdict over one notice; if it passes, it is pending from now on."""
        book = self._book(notice.lane)
        self._prune(notice.lane, book, now)
        signature = signature_of(notice)
        if signature in book.told:
            return Ruled(Verdict.FOLD, Reason.NOT_REARMED, notice)
        left = without(notice, book.ids(kind_of(signature)))
        if left is None:
            return Ruled(Verdict.FOLD, Reason.NOTHING_NEW, notice)
        pending = book.pending(slot_of(left))
        reason = Reason.FIRST if left is notice else Reason.NEW_IDS
        if pending is not None and signature_of(pending.notice) == signature_of(left):
            if not pending.gone and pending.notice.event.urgent >= left.event.urgent:
                return Ruled(Verdict.FOLD, Reason.PENDING, notice, pending.notice.serial)
            reason = Reason.AGAIN if pending.gone else Reason.URGENT
            pending.gone = False  # it may be under way: then its recipient is told of what is so now
        book.add(left)
        return Ruled(Verdict.PASS, reason, left, pending.notice.serial if pending else 0)

    def told(self, lane: str, serials: Iterable[int], now: Instant) -> None:
        """The sink accepted these: they are on the ledger. Of a newer pending one only what it says besides is left."""
        book = self._book(lane)
        for serial in serials:
            if (one := book.take(serial)) is None:
                continue
            self._narrow(book, one.notice)
            if one.gone:
                self._changes.append(Disarm(lane, (signature_of(one.notice),)))
            else:
                self._announce(lane, book, one.notice, now)
        self._drop_if_empty(lane)

    def lost(self, lane: str, serials: Iterable[int]) -> None:
        """These ended untold: raised again, they are news."""
        if book := self._books.get(lane):
            for serial in serials:
                book.take(serial)
            self._drop_if_empty(lane)

    def lost_prints(self, lane: str, fingerprints: Iterable[str]) -> None:
        """The same, for pending ones that are only known by their prints."""
        if (book := self._books.get(lane)) and book.waiting:
            prints = set(fingerprints)
            self.lost(lane, [serial for serial, one in book.waiting.items() if one.notice.fingerprint in prints])

    def rearm(self, lane: str, kind: str, cleared: Callable[[str, tuple[str, ...]], bool]) -> tuple[Rearmed, list[int]]:
        """Forget what was told of this kind (empty: of any) and whose condition is gone, by signature and ctx.

        The serials are of pending ones whose condition is gone, and which need not be told any more.
        """
        book = self._books.get(lane) or _Book()
        told = [name for name, one in book.told.items() if _of_kind(name, kind) and cleared(name, one.ctx)]
        held = [
            serial
            for serial, one in book.waiting.items()
            if not one.gone and _of_kind(signature_of(one.notice), kind)
            if cleared(signature_of(one.notice), one.notice.event.ctx)
        ]
        return self._rearm(lane, book, told, held), held

    def rearm_one(self, lane: str, signature: str) -> tuple[Rearmed, list[int]]:
        """The condition behind this one signature is gone."""
        book = self._books.get(lane) or _Book()
        told = [signature] if signature in book.told else []
        held = [serial for serial, one in book.waiting.items() if not one.gone and signature_of(one.notice) == signature]
        return self._rearm(lane, book, told, held), held

    def over(self, lane: str, told: Container[str], waiting: Container[str]) -> list[int]:
        """Forget what was told under these signatures; the serials of pending ones with these ids, which are stale."""
        book = self._books.get(lane) or _Book()
        signatures = [name for name in book.told if name in told]
        stale = [serial for serial, one in book.waiting.items() if not one.gone and one.notice.event.id in waiting]
        self._rearm(lane, book, signatures, stale)
        return stale

    def seed(self, lane: str, told: Iterable[Announced], now: Instant) -> None:
        """What is remembered from before the lane was opened. What is dated in the future counts from now."""
        book = self._book(lane)
        dated = [one if one.at <= now else msgspec.structs.replace(one, at=now) for one in told]
        known = [*(one for one in dated if one.signature not in book.told), *book.told.values()]
        for one in sorted(known, key=lambda one: one.at)[-MOST_TOLD:]:
            book.remember(one)
        self._prune(lane, book, now)
        self._drop_if_empty(lane)

    def told_of(self, lane: str) -> list[Announced]:
        """What its recipient was told and what is not re-armed, oldest first."""
        book = self._books.get(lane)
        return list(book.told.values()) if book else []

    def close(self, lane: str) -> None:
        """Forget a lane that is no more. What is under way may still be told, and then it was."""
        book = self._books.pop(lane, None)
        if book and (book.waiting or book.ending):
            self._book(lane).ending = {**book.ending, **book.waiting}

    def changes(self) -> Sequence[Announce | Disarm]:
        """What became and what ceased to be told since this was last asked."""
        changes, self._changes = self._changes, []
        return changes

    # Inside

    def _book(self, lane: str) -> _Book:
        book = self._books.get(lane)
        if book is None:
            book = self._books[lane] = _Book()
        return book

    def _drop_if_empty(self, lane: str) -> None:
        if (book := self._books.get(lane)) and book.empty():
            del self._books[lane]

    def _announce(self, lane: str, book: _Book, notice: Notice, now: Instant) -> None:
        event, signature = notice.event, signature_of(notice)
        one = Announced(recipient=lane, signature=signature, at=now, ctx=event.ctx, cleared_when=event.cleared_when)
        book.remember(one)
        self._changes.append(Announce(lane, one))
        if len(book.told) > MOST_TOLD:
            self._disarm(lane, book, (next(iter(book.told)),))

    def _rearm(self, lane: str, book: _Book, told: Sequence[str], held: Sequence[int]) -> Rearmed:
        for serial in held:
            book.waiting[serial].gone = True
        self._disarm(lane, book, told)
        self._drop_if_empty(lane)
        return Rearmed(delivered=len(told), held=len(held))

    def _narrow(self, book: _Book, told: Notice) -> None:
        """A newer one came while this was under way; the table does the same with its entry, by the same rule."""
        for serial in list(book.slots.get(slot_of(told), ())):
            left = rest_of(book.waiting[serial].notice, told)
            if left is None:
                book.take(serial)
            else:
                book.waiting[serial].notice = left

    def _disarm(self, lane: str, book: _Book, signatures: Sequence[str]) -> None:
        if signatures:
            for signature in signatures:
                book.forget(signature)
            self._changes.append(Disarm(lane, tuple(signatures)))

    def _prune(self, lane: str, book: _Book, now: Instant) -> None:
        """Drop what is too old: it stands first. A clock that was set back must not keep anything for ever."""
        old: list[str] = []
        for one in book.told.values():
            if one.at > now:
                book.told[one.signature] = msgspec.structs.replace(one, at=now)
            if not self._ttl or now - one.at < self._ttl:
                break
            old.append(one.signature)
        self._disarm(lane, book, old)


def _of_kind(signature: str, kind: str) -> bool:
    return not kind or kind_of(signature) == kind


__all__ = ["MOST_TOLD", "NOTICE_LEDGER_TTL", "Ledger", "Reason", "Ruled", "signature_of"]

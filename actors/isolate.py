"""Isolate: find in an input that made a stage raise the one notice that is to blame, and what is left without it."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..contracts.base import Instant
from ..contracts.events import Event
from ..contracts.moves import Dropped, Lost
from ..contracts.notices import Admission, Notice, Proposal
from ..contracts.severity import Severity
from ..contracts.verdicts import Verdict

Input = Event | Notice | Admission | Proposal


def parts(item: Input) -> list[Input]:
    """The input taken apart: one notice each."""
    match item:
        case Admission():
            return [msgspec.structs.replace(item, passed=[notice], folds=[]) for notice in item.passed]
        case Proposal():
            return [msgspec.structs.replace(item, entries=(entry,)) for entry in item.entries]
        case _:
            return [item]


def notices(item: Input, now: Instant) -> list[Notice]:
    """The notices in it, for the record. A bare event gets none of a serial: it never came that far."""
    match item:
        case Admission():
            return list(item.passed)
        case Proposal():
            return [entry.notice for entry in item.entries]
        case Notice():
            return [item]
        case _:
            return [Notice(0, item, str(item.to or ""), Severity.ERROR, now)]


def without(item: Input, bad: Sequence[Notice]) -> Input | None:
    """What is left of it; None if nothing is."""
    gone = {notice.serial for notice in bad}
    match item:
        case Admission():
            passed = [notice for notice in item.passed if notice.serial not in gone]
            return msgspec.structs.replace(item, passed=passed) if passed or item.folds else None
        case Proposal():
            entries = tuple(entry for entry in item.entries if entry.notice.serial not in gone)
            return msgspec.structs.replace(item, entries=entries) if entries else None
        case _:
            return None


def amends(item: Input, bad: Sequence[Notice]) -> Dropped | Lost | None:
    """What the other stages must know, so that no table waits for a notice that is gone."""
    match item:
        case Admission():
            return Lost(item.lane, [notice.fingerprint for notice in bad])
        case Proposal():
            return Dropped(item.lane, item.number, [notice.serial for notice in bad], Verdict.DEAD_LETTER)
        case _:
            return None


def culprits(item: Input, raises: Callable[[Any], bool], now: Instant) -> list[Notice]:
    """The notices that make the stage raise when they come alone; all of them, if it is only their company that does."""
    bad = [notice for part in parts(item) if raises(part) for notice in notices(part, now)]
    return bad or notices(item, now)

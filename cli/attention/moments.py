"""Moments: when a person wants to see something again, in the words that people use, by the clock of this machine."""

import re
from datetime import date, datetime, time, timedelta
from typing import Final

from ...contracts.attention_time import instant, iso
from ...contracts.base import Instant
from ...contracts.errors import BadInput

INDEFINITELY: Final = "indefinitely"
MORNING: Final = time(9)
"""What ``tomorrow`` means without a time."""
HOW: Final = (
    '30s, 30m, 2h, 3d, 1w, 9:00, tomorrow, "tomorrow 9:00", "today 17:30", monday, "monday 14:00", 2026-12-01, '
    "2026-12-01T09:00, 2026-12-01T09:00:00+01:00 or indefinitely"
)
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_LENGTH: Final = re.compile(r"(\d{1,4}) ?(s|m|h|d|w)", re.ASCII)
_CLOCK: Final = r"(\d{1,2})(?::(\d{2}))?"
_DAY: Final = re.compile(rf"(today|tomorrow|{'|'.join(WEEKDAYS)})(?: (?:at )?{_CLOCK})?", re.ASCII)
_TIME: Final = re.compile(r"(?:at )?(\d{1,2}):(\d{2})", re.ASCII)
_LOCAL: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def until(text: str, now: Instant) -> str | None:
    """The moment as ISO 8601 in UTC; none for ``indefinitely``. Raises ``BadInput`` for what names no moment."""
    words = " ".join(text.lower().split())
    if words == INDEFINITELY:
        return None
    return iso(_moment(words, text, now))


def _moment(words: str, text: str, now: Instant) -> Instant:
    if found := _LENGTH.fullmatch(words):
        return Instant(now + int(found[1]) * _SECONDS[found[2]] * 1_000)
    try:
        if found := _TIME.fullmatch(words):
            return _next_time(time(int(found[1]), int(found[2])), now)
        if found := _DAY.fullmatch(words):
            return _on_day(found, text, now)
        if _LOCAL.fullmatch(words):
            return _here(words)
    except ValueError as error:
        raise BadInput(f"{text!r} says no moment: there is no such day or time of day") from error
    try:
        return instant(text.strip())
    except ValueError as error:
        raise BadInput(f"{text!r} says no moment: write {HOW}") from error


def locally(text: str) -> str:
    """An ISO moment as this machine's clock shows it: ``Tue 2026-12-01 09:00 CET``."""
    return datetime.fromtimestamp(instant(text) / 1000).astimezone().strftime("%a %Y-%m-%d %H:%M %Z").rstrip()


def shortly(text: str, now: Instant) -> str:
    """The same for a column: ``Tue 12-01 09:00 CET``; the year is said where it is another."""
    at, today = (datetime.fromtimestamp(one / 1000).astimezone() for one in (instant(text), now))
    return at.strftime("%a %m-%d %H:%M %Z" if at.year == today.year else "%Y-%m-%d %H:%M %Z").rstrip()


def _next_time(at: time, now: Instant) -> Instant:
    """Today, or tomorrow if that is over."""
    today = datetime.fromtimestamp(now / 1000).date()
    here = _at(today, at)
    return here if here > now else _at(today + timedelta(days=1), at)


def _on_day(found: re.Match[str], text: str, now: Instant) -> Instant:
    if found[2] is None and found[1] == "today":
        raise BadInput(f'{text!r} says no moment: say at what time, as in "today 17:30"')
    at = MORNING if found[2] is None else time(int(found[2]), int(found[3] or 0))
    today = datetime.fromtimestamp(now / 1000).date()
    if found[1] not in WEEKDAYS:
        return _at(today + timedelta(days=found[1] == "tomorrow"), at)
    ahead = (WEEKDAYS.index(found[1]) - today.weekday()) % 7
    here = _at(today + timedelta(days=ahead), at)
    return here if here > now else _at(today + timedelta(days=ahead + 7), at)


def _here(words: str) -> Instant:
    """ISO 8601 without an offset, by this machine's clock; a day alone means its morning."""
    found = datetime.fromisoformat(words.upper())
    return _at(found.date(), MORNING if len(words) == len("2026-12-01") else found.time())


def _at(day: date, at: time) -> Instant:
    try:
        return Instant(int(datetime.combine(day, at).timestamp() * 1000))
    except (OverflowError, OSError) as error:
        raise ValueError("outside the years that a clock knows") from error

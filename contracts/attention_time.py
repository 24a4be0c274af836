"""Attention time: an instant as text, any offset in, UTC with milliseconds out; by arithmetic alone, no clock is read."""

import re
from typing import Final

from .base import Instant

TIME_PATTERN: Final = (
    r"^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])"
    r"(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))$(?!\n)"
)
"""RFC 3339: a day, a time and an offset, which is never guessed."""

_TIME: Final = re.compile(TIME_PATTERN)
_MONTH_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAY: Final = 86_400_000
_LIMIT: Final = 253_402_300_800_000
"""The first millisecond of the year 10,000."""


def instant(text: str) -> Instant:
    """The moment that the text names. Raises ``ValueError`` for what is no moment between 1970 and 9999."""
    found = _TIME.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no time: write it like 2026-10-13T09:00:00Z or 2026-10-13T11:00:00+02:00")
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    if day > _days_in(year, month):
        raise ValueError(f"{text!r} is no time: there is no such day")
    fraction, sign, ahead_hours, ahead_minutes = found.groups()[6:]
    millis = int((fraction or "").ljust(3, "0")[:3])  # what is finer than a millisecond is dropped
    ahead = 0 if sign is None else (int(ahead_hours) * 60 + int(ahead_minutes)) * (-1 if sign == "-" else 1)
    at = _days_before(year, month, day) * _DAY + ((hour * 60 + minute - ahead) * 60 + second) * 1000 + millis
    if not 0 <= at < _LIMIT:
        raise ValueError(f"{text!r} is outside the years 1970 to 9999")
    return Instant(at)


def iso(at: Instant) -> str:
    """``2026-10-13T09:00:00.000Z``: the one form in which a moment leaves."""
    days, rest = divmod(at, _DAY)
    year, month, day = _civil(days)
    seconds, millis = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"


def iso_or_none(at: Instant | None) -> str | None:
    """As ``iso``; no moment stays none."""
    return None if at is None else iso(at)


def _days_in(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if leap and month == 2 else _MONTH_DAYS[month - 1]


# Both count years from March, so that the leap day is the last of its year (Howard Hinnant, "chrono-compatible low-level
# date algorithms"); 719,468 days lie between the first of March of the year 0 and 1970.


def _days_before(year: int, month: int, day: int) -> int:
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _civil(days: int) -> tuple[int, int, int]:
    era, of_era = divmod(days + 719_468, 146_097)
    years = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return years + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1

"""Moments: when a person wants to see something again, in the words that people use, by the clock of this machine."""

import re
from datetime import datetime, time, timedelta
from typing import Final

from ...contracts.attention_time import instant, iso
from ...contracts.base import Instant
from ...contracts.errors import BadInput

INDEFINITELY: Final = "indefinitely"
MORNING: Final = time(9)
"""What ``tomorrow`` means without a time."""
HOW: Final = '2h, tomorrow, "tomorrow 9:00", "today 17:30", 2026-12-01T09:00:00+01:00 or indefinitely'

_LENGTH: Final = re.compile(r"(\d{1,4}) ?(m|h|d|w)", re.ASCII)
_DAY: Final = re.compile(r"(today|tomorrow)(?: (\d{1,2})(?::(\d{2}))?)?", re.ASCII)
_MINUTES: Final = {"m": 1, "h": 60, "d": 1_440, "w": 10_080}


def until(text: str, now: Instant) -> str | None:
    """The moment as ISO 8601 in UTC; none for ``indefinitely``. Raises ``BadInput`` for what names no moment."""
    words = " ".join(text.lower().split())
    if words == INDEFINITELY:
        return None
    if found := _LENGTH.fullmatch(words):
        return iso(Instant(now + int(found[1]) * _MINUTES[found[2]] * 60_000))
    if found := _DAY.fullmatch(words):
        return iso(_on_day(found, text, now))
    try:
        return iso(instant(text.strip()))
    except ValueError as error:
        raise BadInput(f"{text!r} says no moment: write {HOW}") from error


def locally(text: str) -> str:
    """An ISO moment as this machine's clock shows it: ``Tue 2026-12-01 09:00``."""
    return datetime.fromtimestamp(instant(text) / 1000).astimezone().strftime("%a %Y-%m-%d %H:%M")


def _on_day(found: re.Match[str], text: str, now: Instant) -> Instant:
    if found[2] is None and found[1] == "today":
        raise BadInput(f'{text!r} says no moment: say at what time, as in "today 17:30"')
    try:
        at = MORNING if found[2] is None else time(int(found[2]), int(found[3] or 0))
    except ValueError as error:
        raise BadInput(f"{text!r} says no moment: there is no such time of day") from error
    day = datetime.fromtimestamp(now / 1000).date() + timedelta(days=found[1] == "tomorrow")
    return Instant(int(datetime.combine(day, at).timestamp() * 1000))

"""Moments: when somebody wants to see something again, as people say it, by this machine's clock."""

import os
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.cli.attention.moments import locally, shortly, until
from tocsin.contracts.attention_time import instant, iso
from tocsin.contracts.base import Instant
from tocsin.contracts.errors import BadInput

NOON = Instant(int(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp() * 1000))


@pytest.fixture
def zone(monkeypatch):
    """A machine somewhere; afterwards it is back."""

    def move(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    before = os.environ.get("TZ")
    yield move
    monkeypatch.undo()
    assert os.environ.get("TZ") == before
    time.tzset()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("30m", "2026-11-30T12:30:00.000Z"),
        ("2h", "2026-11-30T14:00:00.000Z"),
        (" 2 H ", "2026-11-30T14:00:00.000Z"),
        ("3d", "2026-12-03T12:00:00.000Z"),
        ("1w", "2026-12-07T12:00:00.000Z"),
        ("tomorrow", "2026-12-01T09:00:00.000Z"),
        ("Tomorrow 17:30", "2026-12-01T17:30:00.000Z"),
        ("tomorrow  8", "2026-12-01T08:00:00.000Z"),
        ("today 17:05", "2026-11-30T17:05:00.000Z"),
        ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00.000Z"),
        ("2026-12-24T18:00:00.5+02:00", "2026-12-24T16:00:00.500Z"),
        ("30s", "2026-11-30T12:00:30.000Z"),
        ("13:15", "2026-11-30T13:15:00.000Z"),
        ("9:00", "2026-12-01T09:00:00.000Z"),
        ("at 9:00", "2026-12-01T09:00:00.000Z"),
        ("monday", "2026-12-07T09:00:00.000Z"),
        ("Monday 17:30", "2026-11-30T17:30:00.000Z"),
        ("sunday at 8", "2026-12-06T08:00:00.000Z"),
        ("2026-12-24", "2026-12-24T09:00:00.000Z"),
        ("2026-12-24T18:00", "2026-12-24T18:00:00.000Z"),
        ("2026-12-24 18:00:30", "2026-12-24T18:00:30.000Z"),
        ("indefinitely", None),
        ("Indefinitely ", None),
    ],
)
def test_a_moment_is_said_as_people_say_it(zone, text, wanted) -> None:
    zone("UTC")
    assert until(text, NOON) == wanted


def test_days_and_times_are_those_of_this_place(zone) -> None:
    zone("Pacific/Auckland")  # 1 December, one in the morning
    assert until("tomorrow 9:00", NOON) == "2026-12-01T20:00:00.000Z"
    assert until("today 9:00", NOON) == "2026-11-30T20:00:00.000Z"
    assert until("9:00", NOON) == "2026-11-30T20:00:00.000Z"
    assert until("tuesday", NOON) == "2026-11-30T20:00:00.000Z"
    assert until("2026-12-01T09:00:00", NOON) == "2026-11-30T20:00:00.000Z"
    assert locally("2026-11-30T20:00:00.000Z") == "Tue 2026-12-01 09:00 NZDT"
    assert shortly("2026-11-30T20:00:00.000Z", NOON) == "Tue 12-01 09:00 NZDT"
    assert shortly("2027-11-30T20:00:00.000Z", NOON) == "2027-12-01 09:00 NZDT"
    zone("America/New_York")
    assert until("tomorrow", NOON) == "2026-12-01T14:00:00.000Z"


def test_a_time_stays_the_same_over_a_change_of_the_clocks(zone) -> None:
    zone("Europe/Oslo")
    evening = Instant(int(datetime(2026, 10, 24, 18, tzinfo=UTC).timestamp() * 1000))
    assert until("tomorrow 9:00", evening) == "2026-10-25T08:00:00.000Z"
    assert until("today 23:00", evening) == "2026-10-24T21:00:00.000Z"


@pytest.mark.parametrize(
    "text",
    ["", "someday", "today", "tomorrow 25:00", "tomorrow 9:60", "25:00", "2026-13-24", "2026-02-30T18:00", "-2h", "٣h", "9"],
)
def test_what_says_no_moment_is_not_guessed(text) -> None:
    with pytest.raises(BadInput, match="says no moment"):
        until(text, NOON)


@given(st.integers(0, 9_999), st.sampled_from(["m", "h", "d", "w"]))
def test_a_length_is_counted_from_now(number, unit) -> None:
    minutes = {"m": 1, "h": 60, "d": 1_440, "w": 10_080}[unit]
    assert instant(until(f"{number}{unit}", NOON)) == NOON + number * minutes * 60_000


@given(st.integers(0, 23), st.integers(0, 59))
def test_tomorrow_is_never_before_now(hour, minute) -> None:
    said = until(f"tomorrow {hour}:{minute:02}", NOON)
    assert 0 < instant(said) - NOON <= 49 * 3_600_000
    assert iso(instant(said)) == said

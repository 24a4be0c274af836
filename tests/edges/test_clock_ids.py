"""The clock never goes back; an id never comes twice, and sorts by its age."""

import os
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.edges.clock import SteadyClock, utc_offset
from tocsin.edges.ids import RandomIds

LETTERS = set("0123456789abcdefghjkmnpqrstvwxyz")


class SetClock:
    def __init__(self, *times: int) -> None:
        self.times = list(times)

    def now(self) -> int:
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


def test_the_clock_tells_the_time_of_day_in_milliseconds() -> None:
    before = time.time_ns() // 1_000_000
    now = SteadyClock().now()
    after = time.time_ns() // 1_000_000
    assert before - 1 <= now <= after + 1
    assert isinstance(now, int)


def test_the_clock_never_goes_back() -> None:
    clock = SteadyClock()
    times = [clock.now() for _ in range(10_000)]
    assert times == sorted(times)


def test_a_time_of_day_that_is_set_back_or_forward_moves_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SteadyClock()
    before = clock.now()
    for hours in (-2, 3):
        monkeypatch.setattr(time, "time_ns", lambda hours=hours: (before + hours * 3_600_000) * 1_000_000)
        monkeypatch.setattr(time, "time", lambda hours=hours: before / 1_000 + hours * 3_600)
        assert 0 <= clock.now() - before < 60_000


@pytest.mark.parametrize(
    ("zone", "minutes"), [("UTC0", 0), ("CET-1", 60), ("IST-5:30", 330), ("NST3:30", -210), ("EST5", -300)]
)
def test_the_utc_offset_is_this_machines(monkeypatch: pytest.MonkeyPatch, zone: str, minutes: int) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert utc_offset(1_700_000_000_000) == minutes
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_utc_offset_follows_summer_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        assert (utc_offset(1_704_067_200_000), utc_offset(1_719_792_000_000)) == (60, 120)
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.lists(st.integers(0, 2**45 - 1), min_size=2, max_size=50))
def test_ids_of_one_process_sort_by_age_whatever_the_clock_says(times: list[int]) -> None:
    ids = RandomIds(SetClock(*times))
    made = [ids.new() for _ in range(len(times) + 20)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(len(one) == 17 and set(one) <= LETTERS for one in made)


def test_many_ids_of_one_millisecond_differ_and_keep_their_order() -> None:
    ids = RandomIds(SetClock(1_700_000_000_000))
    made = [ids.new() for _ in range(20_000)]
    assert made == sorted(set(made))


def test_threads_never_get_the_same_id() -> None:
    ids, made = RandomIds(SetClock(1_700_000_000_000)), []
    threads = [threading.Thread(target=lambda: made.extend([ids.new() for _ in range(2_000)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8_000


def test_ids_of_two_makers_differ_in_the_same_millisecond() -> None:
    clock = SetClock(1_700_000_000_000)
    assert len({RandomIds(clock).new() for _ in range(1_000)}) == 1_000


def test_the_name_of_a_run_is_short_readable_and_new() -> None:
    clock = SteadyClock()
    names = {RandomIds(clock).run() for _ in range(50)}
    assert len(names) > 45
    assert all(len(name) == 6 and set(name) <= LETTERS for name in names)


def test_the_name_of_a_run_depends_on_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SetClock(1_700_000_000_000)
    monkeypatch.setattr("secrets.randbits", lambda bits: 0)
    here = RandomIds(clock).run()
    monkeypatch.setattr(os, "getpid", lambda: 4_242)
    assert RandomIds(clock).run() != here

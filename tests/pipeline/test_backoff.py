"""Backoff: waits double up to a bound, and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.pipeline.backoff import Backoff


def test_waits_double_from_half_a_second() -> None:
    assert [Backoff().wait(failed) for failed in range(1, 8)] == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]


def test_after_the_last_attempt_there_is_no_wait() -> None:
    assert Backoff().wait(8) is None
    assert Backoff().wait(9) is None


def test_with_one_attempt_nothing_is_tried_again() -> None:
    assert Backoff(attempts=1).wait(1) is None


@pytest.mark.parametrize("failed", [1, 63, 64, 65, 10_000])
def test_no_number_of_failures_makes_the_wait_longer_than_its_bound(failed: int) -> None:
    assert Backoff(attempts=20_000).wait(failed) == min(30_000, 500 << min(failed - 1, 40))


@given(first=st.integers(1, 100_000), most=st.integers(1, 1_000_000), failed=st.integers(1, 10_000))
def test_a_wait_is_positive_within_its_bound_and_never_shorter_than_the_one_before(first: int, most: int, failed: int) -> None:
    backoff = Backoff(first=first, most=most, attempts=20_000)
    wait, next_wait = backoff.wait(failed), backoff.wait(failed + 1)
    assert wait is not None and next_wait is not None
    assert 0 < wait <= next_wait <= most

"""Outage: from the signals of one scope, and from time, to what may be told of it now."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.signals import (
    GoodResponse,
    ProcessExited,
    ProcessStarted,
    RebuildFinished,
    RebuildStarted,
    RestartRequested,
    TransportFailed,
)
from tocsin.pipeline.outage import Mode, Outage, Span, State, Timing

START = 100_000


class Scope:
    """One scope under a clock. ``after`` lets time pass, with a wake whenever one is due, then takes in a signal."""

    def __init__(self, **timing: int) -> None:
        self.outage, self.now = Outage(Timing(**timing)), START

    def after(self, by: int, fact: type | None = None, **fields: object) -> "Scope":
        until = self.now + by
        while (due := self.outage.due()) is not None and due <= until:
            self.now = due
            self.outage.tick(due)
        self.now = until
        if fact is not None:
            self.outage.observe(fact(scope="web", **fields), self.now)
        return self

    @property
    def state(self) -> State:
        return self.outage.state

    @property
    def mode(self) -> Mode:
        return self.outage.mode


def test_a_scope_that_nothing_is_known_of_holds_nothing() -> None:
    assert (Scope().state, Scope().mode, Scope().outage.due()) == (State.HEALTHY, Mode.OFF, None)


def test_a_rebuild_holds_everything_then_errors_only_then_nothing() -> None:
    scope = Scope().after(0, RebuildStarted)
    assert (scope.state, scope.mode) == (State.REBUILD, Mode.FULL)
    assert scope.after(14_999).mode is Mode.FULL
    assert (scope.after(1).state, scope.mode) == (State.LONG, Mode.ERRORS)
    assert scope.after(14_999).mode is Mode.ERRORS
    assert (scope.after(1).state, scope.mode) == (State.EXPIRED, Mode.OFF)


def test_a_rebuild_that_ends_is_an_outage_that_recovered() -> None:
    scope = Scope().after(0, RebuildStarted).after(5_000, RebuildFinished, ok=True)
    assert (scope.state, scope.outage.last) == (State.HEALTHY, Span(START, START + 5_000, True))


def test_a_rebuild_that_fails_is_one_that_did_not_recover() -> None:
    scope = Scope().after(0, RebuildStarted).after(5_000, RebuildFinished, ok=False)
    assert (scope.state, scope.outage.last) == (State.HEALTHY, Span(START, START + 5_000, False))


def test_an_expired_rebuild_was_no_outage_that_recovered() -> None:
    scope = Scope().after(0, RebuildStarted).after(40_000, RebuildFinished, ok=True)
    assert (scope.state, scope.outage.last) == (State.HEALTHY, None)


# Exits


@pytest.mark.parametrize("code", [1, 137])
def test_an_exit_that_nothing_explains_is_a_crash_and_holds_nothing(code: int) -> None:
    scope = Scope().after(0, ProcessStarted).after(1_000, ProcessExited, code=code)
    assert (scope.state, scope.mode) == (State.CRASHED, Mode.OFF)


@pytest.mark.parametrize(
    ("code", "died_of"), [(0, ""), (129, ""), (130, ""), (143, ""), (143, "SIGTERM"), (130, "SIGINT"), (137, "SIGKILL")]
)
def test_an_end_that_is_none_of_its_own_faults_is_no_crash_and_holds_nothing(code: int, died_of: str) -> None:
    scope = Scope().after(0, ProcessStarted).after(1_000, ProcessExited, code=code, died_of=died_of)
    assert (scope.state, scope.mode) == (State.ENDED, Mode.OFF)
    assert scope.after(1_000, ProcessStarted).state is State.HEALTHY


@pytest.mark.parametrize("code", [0, 1, 137])
def test_an_exit_soon_after_a_restart_was_asked_for_is_a_rebuild(code: int) -> None:
    scope = Scope().after(0, RestartRequested).after(5_000, ProcessExited, code=code)
    assert (scope.state, scope.mode) == (State.REBUILD, Mode.FULL)


def test_a_restart_that_was_asked_for_longer_ago_explains_nothing() -> None:
    assert Scope().after(0, RestartRequested).after(5_001, ProcessExited, code=1).state is State.CRASHED
    assert Scope().after(0, RestartRequested).after(6_000, ProcessExited, code=0).state is State.ENDED


def test_an_old_restart_is_not_made_fresh_by_a_new_rebuild() -> None:
    scope = Scope().after(0, RestartRequested).after(100_000, RebuildStarted).after(1_000, ProcessExited, code=1)
    assert scope.state is State.CRASHED


def test_a_restart_explains_one_exit() -> None:
    scope = Scope().after(0, RestartRequested).after(100, ProcessExited, code=0).after(100, ProcessStarted)
    assert scope.state is State.HEALTHY
    assert scope.after(100, ProcessExited, code=1).state is State.CRASHED


@pytest.mark.parametrize("how", [{"code": 0}, {"code": 130}, {"code": 143}, {"code": -9, "died_of": "SIGKILL"}])
def test_while_it_rebuilds_an_exit_by_order_is_part_of_the_rebuild(how: dict[str, object]) -> None:
    assert Scope().after(0, RebuildStarted).after(1_000, ProcessExited, **how).state is State.REBUILD


def test_while_it_rebuilds_an_exit_with_an_error_is_a_crash() -> None:
    scope = Scope().after(0, RebuildStarted).after(1_000, ProcessExited, code=1)
    assert (scope.state, scope.outage.last) == (State.CRASHED, Span(START, START + 1_000, False))


def test_a_restart_after_a_crash_is_no_recovery() -> None:
    scope = Scope().after(0, ProcessExited, code=1).after(500, ProcessStarted)
    assert (scope.state, scope.outage.last) == (State.HEALTHY, None)


def test_a_start_ends_the_outage_of_a_restart() -> None:
    scope = Scope().after(0, RestartRequested).after(100, ProcessExited).after(2_000, ProcessStarted)
    assert (scope.state, scope.outage.last) == (State.HEALTHY, Span(START + 100, START + 2_100, True))


def test_a_crash_outranks_a_failed_connection() -> None:
    scope = Scope().after(0, TransportFailed).after(100, ProcessExited, code=1).after(100, TransportFailed)
    assert (scope.state, scope.mode) == (State.CRASHED, Mode.OFF)


# Connections


def test_a_failed_connection_holds_everything() -> None:
    scope = Scope().after(0, TransportFailed)
    assert (scope.state, scope.mode) == (State.TRANSPORT, Mode.FULL)


def test_a_good_response_ends_it_if_no_failure_follows_within_the_debounce() -> None:
    scope = Scope().after(0, TransportFailed).after(1_000, GoodResponse)
    assert scope.after(499).state is State.TRANSPORT
    assert (scope.after(1).state, scope.outage.last) == (State.HEALTHY, Span(START, START + 1_500, True))


def test_a_failure_within_the_debounce_takes_the_good_response_back() -> None:
    scope = Scope().after(0, TransportFailed).after(1_000, GoodResponse).after(400, TransportFailed)
    assert scope.after(5_000).state is State.TRANSPORT
    assert scope.after(0, GoodResponse).after(500).state is State.HEALTHY


def test_more_good_responses_do_not_make_the_debounce_longer() -> None:
    scope = Scope().after(0, TransportFailed).after(0, GoodResponse)
    for _ in range(4):
        scope.after(100, GoodResponse)
    assert scope.after(100).state is State.HEALTHY


def test_a_transport_outage_without_news_ends_and_did_not_recover() -> None:
    scope = Scope().after(0, TransportFailed).after(10_000, TransportFailed).after(29_999)
    assert scope.state is State.TRANSPORT
    assert (scope.after(1).state, scope.outage.last) == (State.HEALTHY, Span(START, START + 40_000, False))


def test_a_started_process_ends_a_transport_outage() -> None:
    scope = Scope().after(0, TransportFailed).after(700, ProcessStarted)
    assert (scope.state, scope.outage.last) == (State.HEALTHY, Span(START, START + 700, True))


def test_a_failed_connection_in_a_rebuild_is_part_of_it() -> None:
    scope = Scope().after(0, RebuildStarted).after(100, TransportFailed).after(100, RebuildFinished, ok=True)
    assert (scope.state, scope.outage.last) == (State.HEALTHY, Span(START, START + 200, True))


def test_a_rebuild_behind_a_failed_connection_is_long_by_its_own_time_and_one_outage_with_it() -> None:
    scope = Scope().after(0, TransportFailed).after(20_000, RebuildStarted)
    assert scope.after(14_999).state is State.REBUILD
    assert scope.after(1).state is State.LONG
    scope.after(0, RebuildFinished, ok=True)
    assert scope.outage.last == Span(START, START + 35_000, True)


# Loops


def test_more_than_five_outages_in_a_minute_are_a_crash_loop_and_hold_nothing() -> None:
    scope = Scope()
    for _ in range(5):
        scope.after(1_000, RebuildStarted)
        assert scope.mode is Mode.FULL
        scope.after(1_000, RebuildFinished, ok=True)
    scope.after(1_000, RebuildStarted)
    assert (scope.state, scope.mode) == (State.CRASHED, Mode.OFF)


def test_a_loop_is_over_with_the_next_good_build_and_once_it_is_slower_holds_again() -> None:
    scope = Scope()
    for _ in range(6):
        scope.after(1_000, RebuildStarted).after(1_000, RebuildFinished, ok=True)
    assert scope.state is State.HEALTHY
    assert scope.after(60_000, RebuildStarted).mode is Mode.FULL


def test_outages_more_than_a_minute_apart_are_no_loop() -> None:
    scope = Scope()
    for _ in range(20):
        scope.after(12_000, RebuildStarted)
        assert scope.mode is Mode.FULL
        scope.after(500, RebuildFinished, ok=True)


# Time

FACTS = st.sampled_from(
    [
        ProcessStarted(scope="web"),
        ProcessExited(scope="web", code=1),
        ProcessExited(scope="web", died_of="SIGTERM"),
        RestartRequested(scope="web"),
        RebuildStarted(scope="web"),
        RebuildFinished(scope="web", ok=True),
        RebuildFinished(scope="web", ok=False),
        TransportFailed(scope="web"),
        GoodResponse(scope="web"),
    ]
)


@given(st.lists(st.tuples(st.integers(0, 20_000), FACTS), max_size=20), st.integers(0, 60_000))
def test_a_late_wake_ends_where_wakes_in_time_end(story: list[tuple[int, object]], rest: int) -> None:
    in_time, late, now = Scope(), Outage(Timing()), START
    for by, fact in story:
        in_time.after(by)
        now += by
        late.tick(now)
        assert late == in_time.outage
        in_time.outage.observe(fact, now)
        late.observe(fact, now)
    in_time.after(rest)
    late.tick(now + rest)
    assert late == in_time.outage


@given(st.lists(st.tuples(st.integers(0, 20_000), FACTS), max_size=20))
def test_when_it_says_that_it_is_due_something_changes_and_not_before(story: list[tuple[int, object]]) -> None:
    scope = Scope()
    for by, fact in story:
        scope.after(by)
        scope.outage.observe(fact, scope.now)
        due = scope.outage.due()
        if due is not None:
            assert due > scope.now or scope.outage.state is State.TRANSPORT
            assert Outage(**{name: getattr(scope.outage, name) for name in Outage.__struct_fields__}).tick(due - 1) is False
            assert Outage(**{name: getattr(scope.outage, name) for name in Outage.__struct_fields__}).tick(due) is True


@given(st.lists(st.tuples(st.integers(0, 60_000), FACTS), max_size=20))
def test_what_changed_is_what_observe_says(story: list[tuple[int, object]]) -> None:
    scope = Scope()
    for by, fact in story:
        scope.after(by)
        before = scope.state
        assert scope.outage.observe(fact, scope.now) is (scope.state is not before)

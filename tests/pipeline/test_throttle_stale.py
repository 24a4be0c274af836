"""Throttle: harness notices end when their conditions are gone, and do not wait for ever."""

import runpy
from pathlib import Path

import pytest

from tocsin.contracts.events import Event
from tocsin.contracts.moves import Kept, NoticesLost, NoticesTold
from tocsin.contracts.notices import Fold, Proposal
from tocsin.contracts.severity import Severity
from tocsin.contracts.verdicts import Stage
from tocsin.pipeline import notice_kinds as kinds
from tocsin.pipeline.ledger import NOTICE_LEDGER_TTL
from tocsin.pipeline.step import Step

giving_way = runpy.run_path(str(Path(__file__).with_name("test_throttle_notices.py")))
Table, entries = giving_way["Table"], giving_way["entries"]

TTL = NOTICE_LEDGER_TTL
WHO = {"to": "dev", "text": "said"}
QUIET, STEER = kinds.heartbeat(**WHO), kinds.breaker("steer", finding="looping", **WHO)

# Conditions that are gone


def test_what_a_gate_has_kept_ends_at_once_when_its_condition_is_gone() -> None:
    table = Table().admit(STEER, QUIET)
    table.keep(table.proposal()).rearm(1)
    assert table.ends() == [("clear", "condition_gone", [1])]
    assert table.moves(NoticesLost) == [NoticesLost("dev", (1,))]
    assert entries(table.wake()) == [(2, 1, ())]


def test_what_still_gathers_ends_with_its_batch() -> None:
    table = Table().admit(STEER).rearm(1)
    assert (table.ends(), table.standing()) == ([], 1)
    table.until(150)
    assert table.ends() == [("clear", "condition_gone", [1])]
    assert table.standing() == 0


def test_what_is_raised_again_before_its_batch_goes_is_told() -> None:
    table = Table().admit(STEER, QUIET).rearm(1, 2).admit(folds=(Fold("", 1, 0, Severity.WARNING, (), 1),))
    assert entries(table.proposal()) == [(1, 2, ())]


def test_what_was_under_way_when_its_condition_went_ends_when_it_comes_back() -> None:
    table = Table().admit(STEER)
    made = table.proposal()
    table.rearm(1)
    assert table.ends() == []
    table.keep(made)
    assert table.ends() == [("clear", "condition_gone", [1])]
    assert (table.standing(), table.stage.due()) == (0, None)


def test_what_was_kept_once_and_is_under_way_again_is_not_taken_back() -> None:
    table = Table().admit(STEER)
    table.keep(table.proposal())
    made = table.wake()
    assert table.rearm(1).settle(made).ends() == []
    assert table.moves(NoticesTold) == [NoticesTold("dev", (1,))]


def test_what_ends_on_its_way_back_asks_nothing_for_the_others() -> None:
    table = Table().admit(QUIET, STEER)
    made = table.proposal()
    table.rearm(2)
    for serial, until in ((1, None), (2, 9_000)):
        table.stage.kept(Kept("dev", made.number, [serial], Stage.DEFER, "waits", until), table.now, table.step)
    assert (table.ends(), table.stage.due()) == ([("clear", "condition_gone", [2])], None)


def test_what_is_raised_again_while_it_is_under_way_stays() -> None:
    table = Table().admit(STEER)
    made = table.proposal()
    table.rearm(1).admit(folds=(Fold("", 1, 0, Severity.WARNING, (), 1),)).keep(made)
    assert entries(table.wake()) == [(1, 2, ())]


def test_a_rearm_in_a_lane_or_of_a_notice_that_is_not_there_is_nothing() -> None:
    table = Table().rearm(1).admit(STEER).rearm(7)
    assert entries(table.proposal()) == [(1, 1, ())]


# Too old


def test_a_notice_that_waited_for_thirty_days_expires_on_record() -> None:
    table = Table().admit(STEER)
    table.keep(table.proposal())
    assert table.stage.due() == TTL
    table.until(TTL - 1)
    assert table.ends() == []
    table.until(TTL)
    assert table.ends() == [("evict", "expired", [1])]
    assert table.moves(NoticesLost) == [NoticesLost("dev", (1,))]
    assert (table.standing(), table.stage.due()) == (0, None)


def test_the_age_counts_from_when_it_was_taken_in_whatever_it_says_of_itself() -> None:
    event = Event(text="said", traffic="notice", key="mine:k", at=1)
    table = Table()
    table.now = 5_000
    table.admit(event)
    table.keep(table.proposal())
    assert table.stage.due() == 5_000 + TTL


@pytest.mark.parametrize("cleared_when", ["read", "drained", "started"])
def test_one_whose_end_is_declared_waits_as_long_as_its_condition_holds(cleared_when: str) -> None:
    table = Table().admit(kinds.plain("mine", "k", cleared_when=cleared_when, **WHO), STEER)
    table.keep(table.proposal()).until(10 * TTL)
    assert (table.ends(), table.stage.due()) == ([("evict", "expired", [2])], None)
    assert entries(table.wake()) == [(1, 1, ())]


def test_with_a_ttl_of_0_a_notice_waits_for_ever() -> None:
    table = Table(notice_ttl=0).admit(STEER)
    table.keep(table.proposal())
    assert table.stage.due() is None


def test_what_is_under_way_does_not_expire_and_what_comes_back_too_late_does() -> None:
    table = Table().admit(STEER)
    made = table.proposal()
    assert table.stage.due() is None
    table.until(TTL + 5).keep(made)
    assert table.ends() == [("evict", "expired", [1])]


def test_nothing_expires_while_something_of_the_lane_is_under_way() -> None:
    table = Table().admit(STEER)
    table.keep(table.proposal()).admit(Event(text="report", traffic="mail"))
    made = table.proposal()
    table.until(2 * TTL).admit(QUIET)
    assert (table.ends(), table.stage.due()) == ([], None)
    assert table.settle(made).ends() == [("evict", "expired", [1])]
    assert entries(table.proposal()) == [(3, 1, ())]


def test_a_wake_that_comes_late_takes_things_in_the_order_of_their_times() -> None:
    for retry, late in ((TTL - 10, TTL + 10), (TTL + 10, TTL + 20)):
        table = Table().admit(STEER)
        table.keep(table.proposal(), until=retry)
        table.now = late
        table.stage.tick(late, table.step)
        assert bool(table.moves(Proposal)) == (retry < TTL)
        assert bool(table.ends()) == (retry > TTL)


def test_only_notices_expire() -> None:
    table = Table().admit(Event(text="mail", traffic="mail"), Event(text="boom"), Event(text="words", traffic="user"))
    made = [move for move in table.until(0).step.out if isinstance(move, Proposal)]
    table.step = Step()
    table.keep(made[0])
    table.keep(table.proposal()).until(2 * TTL)
    assert table.ends() == []
    assert table.standing() == 3

"""Ledger: a harness notice is told once until its condition is gone, and what was never told is not on it."""

import pytest

from tocsin.contracts.durable import Announced, Rearmed
from tocsin.contracts.events import Event
from tocsin.contracts.notices import Notice
from tocsin.contracts.severity import Severity
from tocsin.pipeline import notice_kinds as kinds
from tocsin.pipeline.ledger import NOTICE_LEDGER_TTL, Ledger
from tocsin.pipeline.notice_kinds import actionable_key

TTL = NOTICE_LEDGER_TTL
WHO = {"to": "god", "text": "said"}
QUIET = kinds.heartbeat(**WHO)
STEER = kinds.breaker("steer", finding="looping", **WHO)
STORM = kinds.breaker("steer", finding="error storm", **WHO)
KEPT, GONE = kinds.worker("preserved", "w1", **WHO), kinds.worker("reclaimed", "w1", **WHO)


def mail(*ids: str) -> Event:
    return kinds.heartbeat(unread=ids, **WHO)


class Desk:
    """A ledger; ``raised`` says what it makes of a notice, in one line."""

    def __init__(self, ttl: int = TTL) -> None:
        self.ledger, self.serial, self.now = Ledger(ttl), 0, 0

    def raised(self, event: Event, lane: str = "god") -> tuple[str, str, int]:
        self.serial += 1
        self.ruled = self.ledger.judge(Notice(self.serial, event, lane, Severity.WARNING, self.now, event.key), self.now)
        return str(self.ruled.verdict), str(self.ruled.reason), self.ruled.other

    def told(self, *serials: int, lane: str = "god") -> None:
        self.ledger.told(lane, serials or [self.serial], self.now)

    def tell(self, *events: Event) -> None:
        for event in events:
            assert self.raised(event)[0] == "pass"
            self.told()

    def rearm(self, kind: str, *gone: str, lane: str = "god") -> tuple[int, int]:
        """Re-arm what depends on nothing but what is gone: signatures or ids."""
        found, self.serials = self.ledger.rearm(lane, kind, lambda name, ctx: name in gone or (bool(ctx) and {*ctx} <= {*gone}))
        return found.delivered, found.held

    def on_it(self, lane: str = "god") -> list[str]:
        return [one.signature for one in self.ledger.told_of(lane)]


# Told once


def test_what_was_told_is_not_told_again_however_long_it_lasts() -> None:
    desk = Desk()
    assert desk.raised(STEER) == ("pass", "not_told_yet", 0)
    desk.told()
    for desk.now in (1, 3_600_000, TTL - 1):
        assert desk.raised(STEER) == ("fold", "told_and_not_rearmed", 0)


def test_what_was_not_told_yet_is_counted_onto_the_pending_one() -> None:
    desk = Desk()
    desk.raised(STEER)
    assert desk.raised(STEER) == ("fold", "already_pending", 1)
    assert desk.raised(STEER) == ("fold", "already_pending", 1)


def test_it_is_on_the_ledger_only_after_the_sink_accepted_it() -> None:
    desk = Desk()
    desk.raised(STEER)
    assert desk.on_it() == []
    desk.now = 7
    desk.told()
    assert desk.ledger.told_of("god") == [Announced(recipient="god", signature="breaker:steer:looping", at=7)]


@pytest.mark.parametrize("how", ["lost", "lost_prints"])
def test_what_ended_untold_passes_when_it_is_raised_again(how: str) -> None:
    desk = Desk()
    desk.raised(STEER)
    if how == "lost":
        desk.ledger.lost("god", [1])
    else:
        desk.ledger.lost_prints("god", ["other", STEER.key])
    assert desk.raised(STEER) == ("pass", "not_told_yet", 0)
    assert desk.on_it() == []


def test_a_print_that_is_not_pending_takes_nothing_away() -> None:
    desk = Desk()
    desk.raised(STEER)
    desk.ledger.lost_prints("god", ["other"])
    assert desk.raised(STEER) == ("fold", "already_pending", 1)


def test_two_recipients_have_two_pages() -> None:
    desk = Desk()
    desk.tell(STEER)
    assert desk.raised(STEER, lane="a7") == ("pass", "not_told_yet", 0)
    desk.told(lane="a7")
    desk.rearm("breaker", STEER.key)
    assert desk.raised(STEER, lane="a7")[1] == "told_and_not_rearmed"
    assert desk.raised(STEER)[0] == "pass"


def test_two_cases_of_one_worker_are_two_notices() -> None:
    desk = Desk()
    desk.tell(KEPT, GONE, kinds.worker("released-mail", "w1", **WHO))
    assert desk.raised(KEPT)[1] == desk.raised(GONE)[1] == "told_and_not_rearmed"


def test_a_signature_counts_whatever_source_and_scope_say() -> None:
    desk = Desk()
    desk.tell(Event(text="a", traffic="notice", key="mine:k", source="harness"))
    assert desk.raised(Event(text="b", traffic="notice", key="mine:k", source="cli", scope="x"))[1] == "told_and_not_rearmed"


def test_a_notice_without_a_key_is_told_by_its_print() -> None:
    desk, notice = Desk(), Notice(1, Event(text="hm", traffic="notice"), "god", Severity.INFO, 0, "print")
    assert desk.ledger.judge(notice, 0).verdict == "pass"
    desk.ledger.told("god", [1], 0)
    assert desk.on_it() == ["print"]
    assert desk.ledger.rearm_one("god", "print") == (Rearmed(delivered=1, held=0), [])


# Sets of ids


def test_a_subset_of_what_was_announced_is_not_news() -> None:
    desk = Desk()
    desk.tell(mail("m1", "m2"))
    assert desk.raised(mail("m2")) == ("fold", "nothing_new", 0)
    assert desk.raised(mail("m1")) == ("fold", "nothing_new", 0)
    assert desk.raised(mail("m2", "m1")) == ("fold", "told_and_not_rearmed", 0)


def test_a_superset_announces_only_what_is_new() -> None:
    desk = Desk()
    desk.tell(mail("m1", "m2"))
    assert desk.raised(mail("m3", "m2", "m1", "m4")) == ("pass", "only_new_ids", 0)
    event = desk.ruled.notice.event
    assert (event.ctx, event.key) == (("m3", "m4"), f"heartbeat:{actionable_key(['m3', 'm4'])}")
    assert (event.text, event.detail) == ("said", "new: m3, m4")
    desk.told()
    assert [one.ctx for one in desk.ledger.told_of("god")] == [("m1", "m2"), ("m3", "m4")]


def test_the_union_of_all_that_was_announced_counts() -> None:
    desk = Desk()
    for ids in (["m1"], ["m1", "m2"], ["m1", "m2", "m3"]):
        desk.tell(mail(*ids))
    assert desk.raised(mail("m3", "m1")) == ("fold", "nothing_new", 0)
    assert desk.raised(mail("m4", "m2"))[1] == "only_new_ids"
    assert desk.ruled.notice.event.ctx == ("m4",)


def test_flapping_sets_tell_each_id_once() -> None:
    desk, heard = Desk(), []
    for ids in (["a"], ["a", "b"], ["a"], ["a", "b"], ["b"], ["b", "a"]):
        if desk.raised(mail(*ids))[0] == "pass":
            heard.append(desk.ruled.notice.event.ctx)
            desk.told()
    assert heard == [("a",), ("b",)]


def test_ids_of_another_kind_are_no_news_of_this_one() -> None:
    desk = Desk()
    desk.tell(kinds.plain("mine", "k", ctx=["m1"], **WHO))
    assert desk.raised(mail("m1"))[1] == "not_told_yet"


def test_an_order_of_ids_means_nothing() -> None:
    desk = Desk()
    desk.tell(mail("m10", "m9"))
    assert desk.raised(mail("m9", "m10"))[1] == "told_and_not_rearmed"


def test_the_same_superset_again_is_counted_onto_the_pending_rest_of_it() -> None:
    desk = Desk()
    desk.tell(mail("m1"))
    assert desk.raised(mail("m1", "m2"))[1] == "only_new_ids"
    assert desk.raised(mail("m1", "m2")) == ("fold", "already_pending", 2)
    assert desk.raised(mail("m2")) == ("fold", "already_pending", 2)


# Superseding


def test_a_newer_heartbeat_takes_the_place_of_a_pending_one() -> None:
    desk = Desk()
    assert desk.raised(QUIET) == ("pass", "not_told_yet", 0)
    assert desk.raised(mail("m1")) == ("pass", "not_told_yet", 1)
    assert desk.raised(mail("m1", "m2")) == ("pass", "not_told_yet", 2)
    assert desk.raised(QUIET) == ("pass", "not_told_yet", 3)


def test_a_superset_of_what_is_pending_announces_all_that_is_not_told() -> None:
    desk = Desk()
    desk.tell(mail("m0"))
    desk.raised(mail("m0", "m1"))
    assert desk.raised(mail("m0", "m1", "m2")) == ("pass", "only_new_ids", 2)
    assert desk.ruled.notice.event.ctx == ("m1", "m2")


def test_other_kinds_do_not_take_each_others_places() -> None:
    desk = Desk()
    for event in (STEER, STORM, KEPT, GONE, QUIET):
        assert desk.raised(event)[2] == 0


def test_when_the_newer_one_is_lost_the_older_one_stands_again() -> None:
    desk = Desk()
    for event in (QUIET, mail("m1"), mail("m2")):
        desk.raised(event)
    desk.ledger.lost("god", [2])  # it gave way
    desk.ledger.lost("god", [3])  # it was evicted, while the first is under way still
    assert desk.raised(QUIET) == ("fold", "already_pending", 1)
    assert desk.raised(mail("m1"))[2] == 1


def test_what_was_under_way_and_told_leaves_of_the_newer_one_what_is_new() -> None:
    desk = Desk()
    desk.raised(mail("m1", "m2"))
    desk.raised(mail("m1", "m2", "m3"))
    desk.told(1)
    assert desk.raised(mail("m1", "m2", "m3")) == ("fold", "already_pending", 2)
    desk.told(2)
    assert [one.ctx for one in desk.ledger.told_of("god")] == [("m1", "m2"), ("m3",)]


def test_what_was_under_way_and_told_leaves_nothing_of_a_newer_one_that_says_the_same() -> None:
    desk = Desk()
    desk.raised(mail("m1", "m2"))
    desk.raised(mail("m1"))
    desk.told(1)
    assert desk.raised(mail("m1")) == ("fold", "nothing_new", 0)
    desk.ledger.lost("god", [2])  # the table says so too: nothing changes
    assert desk.raised(mail("m2", "m3"))[1:] == ("only_new_ids", 0)


def test_a_newer_heartbeat_of_another_sort_is_still_news_when_the_older_one_was_told() -> None:
    desk = Desk()
    desk.raised(QUIET)
    desk.raised(mail("m1"))
    desk.told(1, 2)
    assert len(desk.on_it()) == 2


# Urgent


def test_an_urgent_one_takes_the_place_of_a_pending_one_that_is_not() -> None:
    desk = Desk()
    slow, fast = (kinds.plain("mine", "k", urgent=urgent, **WHO) for urgent in (False, True))
    desk.raised(slow)
    assert desk.raised(fast) == ("pass", "urgent_now", 1)
    assert desk.raised(fast) == ("fold", "already_pending", 2)
    assert desk.raised(slow) == ("fold", "already_pending", 2)


def test_urgency_is_no_reason_to_tell_it_twice() -> None:
    desk = Desk()
    desk.tell(kinds.plain("mine", "k", **WHO))
    assert desk.raised(kinds.plain("mine", "k", urgent=True, **WHO))[1] == "told_and_not_rearmed"


def test_an_urgent_one_is_not_news_if_the_slow_one_was_under_way_and_told() -> None:
    desk = Desk()
    desk.raised(kinds.plain("mine", "k", **WHO))
    desk.raised(kinds.plain("mine", "k", urgent=True, **WHO))
    desk.told(1)
    assert desk.on_it() == ["mine:k"]
    assert desk.raised(kinds.plain("mine", "k", urgent=True, **WHO)) == ("fold", "told_and_not_rearmed", 0)
    desk.ledger.lost("god", [2])
    assert desk.on_it() == ["mine:k"]

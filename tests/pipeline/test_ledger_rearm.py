"""Ledger: what makes a harness notice news again, and what is remembered over a restart."""

import pickle

import pytest

from tocsin.contracts.durable import Announced, Rearmed
from tocsin.contracts.events import Event
from tocsin.contracts.moves import Announce, Disarm
from tocsin.contracts.notices import Notice
from tocsin.contracts.severity import Severity
from tocsin.pipeline import notice_kinds as kinds
from tocsin.pipeline.ledger import MOST_TOLD, NOTICE_LEDGER_TTL, Ledger
from tocsin.pipeline.notice_kinds import signature_of

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


# Re-arming


def test_on_evidence_it_may_be_told_again() -> None:
    desk = Desk()
    desk.tell(STEER)
    assert desk.rearm("breaker", STEER.key) == (1, 0)
    assert desk.raised(STEER) == ("pass", "not_told_yet", 0)


def test_only_conditions_that_are_gone_are_rearmed_and_only_of_that_kind() -> None:
    desk = Desk()
    desk.tell(STEER, STORM, KEPT, mail("m1", "m2"))
    assert desk.rearm("breaker", STEER.key) == (1, 0)  # healthy of one finding is not healthy of all
    assert desk.raised(STORM)[1] == "told_and_not_rearmed"
    assert desk.rearm("breaker", KEPT.key) == (0, 0)
    assert desk.rearm("heartbeat", "m1") == (0, 0)  # one of two is read
    assert desk.raised(mail("m2"))[1] == "nothing_new"
    assert desk.rearm("heartbeat", "m1", "m2") == (1, 0)
    assert desk.on_it() == [STORM.key, KEPT.key]


def test_without_a_kind_every_kind_is_asked() -> None:
    desk = Desk()
    desk.tell(STEER, KEPT)
    desk.raised(mail("m1"))
    assert desk.rearm("", STEER.key, "w1", "m1") == (2, 1)
    assert desk.on_it() == []


def test_an_id_that_is_unread_again_after_a_rearm_is_news() -> None:
    desk = Desk()
    desk.tell(mail("m1"))
    desk.tell(mail("m1", "m2"))
    desk.rearm("heartbeat", "m1")
    assert desk.raised(mail("m1", "m2"))[1] == "only_new_ids"
    assert desk.ruled.notice.event.ctx == ("m1",)


def test_what_is_pending_and_what_was_told_are_counted_apart() -> None:
    desk = Desk()
    desk.tell(STEER)
    desk.raised(STORM)
    assert desk.rearm("breaker", STEER.key, STORM.key) == (1, 1)
    assert desk.serials == [2]
    assert desk.rearm("breaker", STEER.key, STORM.key) == (0, 0)


def test_a_pending_one_whose_condition_is_gone_does_not_count_as_told() -> None:
    desk = Desk()
    desk.raised(STEER)
    desk.rearm("breaker", STEER.key)
    desk.told()
    assert desk.on_it() == []
    assert list(desk.ledger.changes()) == [Disarm("god", (STEER.key,))]
    assert desk.raised(STEER)[0] == "pass"


def test_raised_again_after_it_was_gone_it_passes_in_the_place_of_the_old_one() -> None:
    desk = Desk()
    desk.raised(STEER)
    desk.rearm("breaker", STEER.key)
    assert desk.raised(STEER) == ("pass", "raised_again", 1)
    assert desk.raised(STEER) == ("fold", "already_pending", 2)
    desk.told(1)  # the old one was under way: its recipient knows what is so
    assert desk.on_it() == [STEER.key]
    assert desk.raised(STEER)[1] == "told_and_not_rearmed"


def test_one_signature_can_be_rearmed_alone() -> None:
    desk = Desk()
    desk.tell(STEER, STORM)
    desk.raised(KEPT)
    assert desk.ledger.rearm_one("god", STEER.key) == (Rearmed(delivered=1, held=0), [])
    assert desk.ledger.rearm_one("god", KEPT.key) == (Rearmed(delivered=0, held=1), [3])
    assert desk.ledger.rearm_one("god", KEPT.key) == (Rearmed(delivered=0, held=0), [])
    assert desk.ledger.rearm_one("a7", STORM.key) == (Rearmed(delivered=0, held=0), [])
    assert desk.on_it() == [STORM.key]


def test_a_predicate_that_raises_changes_nothing() -> None:
    desk = Desk()
    desk.tell(STEER, STORM)

    def choosy(name: str, _: tuple[str, ...]) -> bool:
        if name == STORM.key:
            raise LookupError(name)
        return True

    with pytest.raises(LookupError):
        desk.ledger.rearm("god", "breaker", choosy)
    assert desk.on_it() == [STEER.key, STORM.key]


def test_with_a_spawn_request_a_rewritten_file_is_a_new_attempt() -> None:
    desk = Desk()
    desk.tell(kinds.spawn_rejected("r.json", 1, **WHO))
    assert desk.raised(kinds.spawn_rejected("r.json", 1, **WHO))[0] == "fold"
    assert desk.raised(kinds.spawn_rejected("r.json", 2, **WHO))[0] == "pass"


# What outlives the process


def test_every_change_is_said_once() -> None:
    desk = Desk()
    desk.raised(mail("m1"))
    desk.now = 5
    desk.told()
    told = Announced(recipient="god", signature=mail("m1").key, at=5, ctx=("m1",), cleared_when="read")
    assert list(desk.ledger.changes()) == [Announce("god", told)]
    assert list(desk.ledger.changes()) == []
    desk.rearm("heartbeat", "m1")
    assert list(desk.ledger.changes()) == [Disarm("god", (told.signature,))]


def test_what_was_told_before_the_start_is_not_told_again() -> None:
    before = Desk()
    before.tell(STEER, mail("m1", "m2"))
    after = Desk()
    after.ledger.seed("god", before.ledger.told_of("god"), 10)
    assert after.raised(STEER)[1] == "told_and_not_rearmed"
    assert after.raised(mail("m1"))[1] == "nothing_new"
    assert after.raised(mail("m1", "m3"))[1] == "only_new_ids"
    assert after.ledger.told_of("god") == before.ledger.told_of("god")
    assert list(after.ledger.changes()) == []


def test_seeding_twice_keeps_the_order_of_age_and_what_is_known_already() -> None:
    desk = Desk()
    desk.now = 50
    desk.tell(STEER)
    old = [Announced(recipient="god", signature=name, at=at) for name, at in (("b:2", 20), ("b:1", 10), (STEER.key, 1))]
    desk.ledger.seed("god", old, 60)
    assert [(one.signature, one.at) for one in desk.ledger.told_of("god")] == [("b:1", 10), ("b:2", 20), (STEER.key, 50)]


def test_what_was_told_is_forgotten_after_thirty_days() -> None:
    desk = Desk()
    desk.tell(STEER)
    desk.now = 10
    desk.tell(STORM)
    list(desk.ledger.changes())
    desk.now = TTL - 1
    assert desk.raised(STEER)[0] == "fold"
    desk.now = TTL
    assert desk.raised(STEER)[0] == "pass"
    assert list(desk.ledger.changes()) == [Disarm("god", (STEER.key,))]
    assert desk.on_it() == [STORM.key]


def test_with_a_ttl_of_0_nothing_is_forgotten() -> None:
    desk = Desk(ttl=0)
    desk.tell(STEER)
    desk.now = 100 * TTL
    assert desk.raised(STEER)[0] == "fold"


def test_what_is_too_old_when_it_is_loaded_is_forgotten_and_that_is_said() -> None:
    desk = Desk()
    old = [Announced(recipient="god", signature=name, at=at) for name, at in (("a:1", 0), ("a:2", 1))]
    desk.ledger.seed("god", old, TTL)
    assert desk.on_it() == ["a:2"]
    assert list(desk.ledger.changes()) == [Disarm("god", ("a:1",))]


def test_what_is_dated_in_the_future_counts_from_now() -> None:
    desk = Desk()
    late = [Announced(recipient="god", signature=name, at=10**15) for name in (STEER.key, STORM.key)]
    desk.ledger.seed("god", late, 100)
    assert [one.at for one in desk.ledger.told_of("god")] == [100, 100]
    desk.now = 99 + TTL
    assert desk.raised(STEER)[0] == "fold"
    desk.now = 100 + TTL
    assert desk.raised(STEER)[0] == "pass"


def test_a_clock_that_was_set_back_keeps_nothing_for_ever() -> None:
    desk = Desk()
    desk.now = 10**13
    desk.tell(STEER)
    desk.now = 0
    assert desk.raised(STEER)[0] == "fold"
    desk.now = TTL
    assert desk.raised(STEER)[0] == "pass"


def test_a_page_has_room_for_so_many_and_the_oldest_goes() -> None:
    desk = Desk()
    for number in range(MOST_TOLD + 2):
        desk.tell(kinds.plain("mine", str(number), **WHO))
    assert len(desk.on_it()) == MOST_TOLD
    assert desk.raised(kinds.plain("mine", "2", **WHO))[0] == "fold"
    assert desk.raised(kinds.plain("mine", "1", **WHO))[0] == "pass"
    assert [move for move in desk.ledger.changes() if isinstance(move, Disarm)] == [
        Disarm("god", ("mine:0",)),
        Disarm("god", ("mine:1",)),
    ]
    full = [Announced(recipient="a7", signature=f"k:{number}", at=number) for number in range(MOST_TOLD + 1)]
    desk.ledger.seed("a7", full, 10**6)
    assert (desk.on_it("a7")[0], len(desk.on_it("a7"))) == ("k:1", MOST_TOLD)


def test_a_closed_lane_is_forgotten_but_what_was_under_way_may_still_be_told() -> None:
    desk = Desk()
    desk.tell(STEER)
    desk.raised(STORM)
    list(desk.ledger.changes())
    desk.ledger.close("god")
    assert desk.on_it() == []
    assert desk.raised(STORM) == ("pass", "not_told_yet", 0)  # opened again: what the closed lane had is no longer pending
    desk.told(2)
    assert [move.announced.signature for move in desk.ledger.changes() if isinstance(move, Announce)] == [STORM.key]


def test_pages_with_nothing_on_them_are_not_kept() -> None:
    desk = Desk()
    desk.raised(STEER)
    desk.ledger.lost("god", [1])
    desk.tell(STORM)
    desk.rearm("breaker", STORM.key)
    desk.raised(KEPT)
    desk.ledger.close("god")
    desk.ledger.lost("god", [3])
    desk.told(9, lane="a7")
    assert desk.ledger._books == {}


def test_a_copy_answers_alike() -> None:
    desk, twin = Desk(), Desk()
    for event in (STEER, mail("m1", "m2"), mail("m1", "m2", "m3")):
        desk.raised(event)
    desk.told(1, 2)
    twin.ledger, twin.serial = pickle.loads(pickle.dumps(desk.ledger)), desk.serial
    for event in (STEER, mail("m3"), mail("m1", "m4"), QUIET):
        assert desk.raised(event) == twin.raised(event)
        assert signature_of(desk.ruled.notice) == signature_of(twin.ruled.notice)

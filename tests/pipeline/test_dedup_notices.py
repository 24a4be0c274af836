"""Dedup: what the harness says goes by the ledger, and whoever keeps it is told of every change."""

import pytest

from tocsin.contracts.durable import Announced, Rearmed
from tocsin.contracts.events import Event
from tocsin.contracts.moves import Announce, Disarm, Rearm
from tocsin.contracts.notices import Admission, Fold, Notice
from tocsin.contracts.severity import Severity
from tocsin.pipeline import notice_kinds as kinds
from tocsin.pipeline.dedup import Dedup, Policy
from tocsin.pipeline.step import Step

WHO = {"to": "dev", "text": "said"}
STEER = kinds.breaker("steer", finding="looping", **WHO)
DAY = 24 * 3_600_000


class Desk:
    """Dedup with a clock that the test sets. Every call has a step of its own."""

    def __init__(self, **policy: object) -> None:
        self.stage, self.serial = Dedup(Policy(**policy)), 0
        self.step: Step[object] = Step()

    def raised(self, now: int, *events: Event, lane: str = "dev", severity: Severity = Severity.WARNING) -> list[str]:
        """Offer one chunk; the reasons, in the order of the record."""
        first = self.serial + 1
        self.serial += len(events)
        notices = [Notice(nth, event, lane, severity, now, f"print of {event.key}") for nth, event in enumerate(events, first)]
        self.step = Step()
        self.stage.offer(notices, now, self.step)
        return [str(ruling.reason) for ruling in self.step.rulings for _ in ruling.notices]

    def admission(self) -> Admission:
        [made] = [move for move in self.step.out if isinstance(move, Admission)]
        return made

    def told(self, now: int, *serials: int, lane: str = "dev") -> list[object]:
        self.step = Step()
        self.stage.notices_told(lane, serials, now, self.step)
        return self.step.out

    def rearm(self, event: Event) -> tuple[bool, list[object]]:
        self.step = Step()
        return self.stage.rearm("dev", f"print of {event.key}", event.key, self.step), self.step.out


def test_a_harness_notice_is_told_once_until_it_is_rearmed() -> None:
    desk = Desk()
    assert desk.raised(0, STEER) == ["not_told_yet"]
    desk.told(150, 1)
    assert desk.raised(29 * DAY, STEER) == ["told_and_not_rearmed"]
    assert desk.step.out == []
    assert desk.rearm(STEER)[0] is True
    assert desk.raised(29 * DAY, STEER) == ["not_told_yet"]


def test_without_dedup_of_events_the_ledger_works_all_the_same() -> None:
    desk = Desk(window=0)
    assert desk.raised(0, STEER, STEER) == ["not_told_yet", "already_pending"]


def test_repeats_of_a_pending_one_are_counted_onto_it_by_its_serial() -> None:
    desk = Desk()
    desk.raised(0, STEER)
    desk.raised(100, STEER, STEER)
    assert desk.admission().folds == [Fold(f"print of {STEER.key}", 2, 100, Severity.WARNING, (), 1)]
    desk.raised(200, STEER, severity=Severity.ERROR)
    assert [(fold.count, fold.severity) for fold in desk.admission().folds] == [(1, Severity.ERROR)]


def test_within_one_chunk_a_heartbeat_replaces_the_one_before() -> None:
    desk = Desk()
    beats = [kinds.heartbeat(unread=ids, **WHO) for ids in ([], ["m1"], ["m1"], ["m1", "m2"])]
    assert desk.raised(0, *beats) == ["not_told_yet"] * 3 + ["already_pending"]
    made = desk.admission()
    assert [notice.serial for notice in made.passed] == [1, 2, 4]
    assert made.superseded == {1: 2, 2: 4}
    assert [(fold.serial, fold.count) for fold in made.folds] == [(2, 1)]


def test_what_passes_of_a_set_is_what_is_new() -> None:
    desk = Desk()
    desk.raised(0, kinds.heartbeat(unread=["m1"], **WHO))
    desk.told(0, 1)
    assert desk.raised(1, kinds.heartbeat(unread=["m1", "m2"], **WHO)) == ["only_new_ids"]
    [passed] = desk.admission().passed
    assert passed.event.ctx == ("m2",)
    assert desk.step.rulings[0].notices == [passed]


def test_notices_and_events_with_the_same_print_are_two_things() -> None:
    desk = Desk()
    event = Event(text="said", key=STEER.key, source="harness")
    assert desk.raised(0, event, STEER) == ["first_in_window", "not_told_yet"]
    desk.stage.told("dev", [(f"print of {STEER.key}", 0)], 10)
    assert desk.raised(20, event, STEER) == ["repeat_in_window", "already_pending"]


@pytest.mark.parametrize("by_print", [False, True])
def test_a_harness_notice_that_was_lost_may_be_raised_again(by_print: bool) -> None:
    desk = Desk()
    desk.raised(0, STEER)
    if by_print:
        desk.stage.lost("dev", [f"print of {STEER.key}"])
    else:
        desk.stage.notices_lost("dev", [1])
    assert desk.raised(1, STEER) == ["not_told_yet"]


# Changes


def test_what_was_told_is_announced_and_what_is_rearmed_disarmed() -> None:
    desk = Desk()
    desk.raised(0, STEER)
    told = Announced(recipient="dev", signature=STEER.key, at=150)
    assert desk.told(150, 1) == [Announce("dev", told)]
    assert desk.stage.told_of("dev") == [told]
    assert desk.rearm(STEER) == (True, [Rearm("dev", f"print of {STEER.key}", STEER.key, []), Disarm("dev", (STEER.key,))])
    assert desk.stage.told_of("dev") == []
    assert desk.rearm(STEER) == (False, [Rearm("dev", f"print of {STEER.key}", STEER.key, [])])


def test_a_rearm_names_the_pending_ones_to_the_table() -> None:
    desk = Desk()
    desk.raised(0, STEER)
    assert desk.rearm(STEER) == (False, [Rearm("dev", f"print of {STEER.key}", STEER.key, [1])])


def test_a_rearm_on_evidence_answers_with_both_counts() -> None:
    desk, kept = Desk(), kinds.worker("preserved", "w1", **WHO)
    desk.raised(0, kept, kinds.worker("reclaimed", "w1", **WHO), STEER)
    desk.told(0, 1)
    step: Step[object] = Step()
    assert desk.stage.rearm_cleared("dev", "worker", lambda _, ctx: ctx == ("w1",), step) == Rearmed(delivered=1, held=1)
    assert step.out == [Rearm("dev", "", "", [2]), Disarm("dev", (kept.key,))]
    step = Step()
    assert desk.stage.rearm_cleared("ops", "", lambda *_: True, step) == Rearmed(delivered=0, held=0)
    assert step.out == []


def test_what_expires_is_disarmed_at_the_next_decision() -> None:
    desk = Desk(notice_ttl=1_000)
    desk.raised(0, STEER)
    desk.told(0, 1)
    assert desk.raised(999, STEER) == ["told_and_not_rearmed"]
    assert desk.raised(1_000, STEER) == ["not_told_yet"]
    assert [move for move in desk.step.out if isinstance(move, Disarm)] == [Disarm("dev", (STEER.key,))]


def test_a_closed_lane_is_forgotten_and_a_seeded_one_is_not() -> None:
    desk = Desk()
    desk.raised(0, STEER)
    desk.told(0, 1)
    told = desk.stage.told_of("dev")
    desk.stage.close("dev")
    assert desk.stage.told_of("dev") == []
    desk.stage.seed("dev", told, 5)
    assert desk.raised(6, STEER) == ["told_and_not_rearmed"]


def test_an_event_with_a_key_that_is_cleared_may_be_told_again() -> None:
    desk, event = Desk(), Event(text="boom", key="k")
    desk.raised(0, event)
    assert desk.rearm(event) == (False, [Rearm("dev", "print of k", "k", [])])
    desk.stage.told("dev", [("print of k", 0)], 0)
    assert desk.raised(1, event) == ["first_in_window"]
    desk.stage.told("dev", [("print of k", 0)], 1)
    assert desk.rearm(event)[0] is True


def test_a_notice_that_makes_it_raise_leaves_the_ledger_as_it_was() -> None:
    desk, odd = Desk(), Event(text="x", traffic="notice", key="heartbeat:x", ctx=({},))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unhashable"):
        desk.raised(0, STEER, odd)
    assert [notice.serial for notice in desk.admission().passed] == [1]
    assert desk.raised(1, kinds.heartbeat(**WHO)) == ["not_told_yet"]
    assert desk.admission().superseded == {}

"""Defer: nothing lands in the middle of something, the idle edge wakes the lane, and every wait has its rule."""

import pytest

from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.contracts.moves import Dropped, Kept, WakeLane
from tocsin.contracts.notices import Notice, Proposal, Proposed
from tocsin.contracts.severity import LEVELS
from tocsin.contracts.signals import (
    DialogClosed,
    DialogOpened,
    DraftEnded,
    DraftStarted,
    LaneFact,
    Output,
    Paused,
    RecipientDied,
    RecipientRevived,
    Resumed,
    ScreenReleased,
    ScreenTaken,
    ToolClosed,
    ToolOpened,
    TurnEnded,
    TurnStarted,
    WaitEnded,
    WaitStarted,
)
from tocsin.pipeline.defer import Defer, Policy
from tocsin.pipeline.step import Step

CLASSES = ("event", "user", "notice", "mail", "return")


def entry(serial: int = 1, deferred_at: int | None = None, reason: str = "batch_window", **fields: object) -> Proposed:
    event = Event(**{"text": f"text {serial}", "id": f"id{serial}", **fields})
    notice = Notice(serial, event, "dev", LEVELS[event.severity], 0, f"fp{serial}")
    return Proposed(notice, 1, 0, 0, notice.severity, (event.text,), True, False, None, deferred_at, reason)


class Gate:
    """A defer with one lane, ``dev``, passive unless said otherwise."""

    def __init__(self, *facts: type, typing: bool = False) -> None:
        self.stage, self.step, self.number = Defer(Policy()), Step[object](), 0
        self.stage.open(LaneSpec(name="dev", typing=typing))
        for fact in facts:
            self.signal(0, fact(lane="dev"))

    def signal(self, now: int, fact: LaneFact) -> list[object]:
        self.step = Step()
        self.stage.observe(fact, now, self.step)
        return self.step.out

    def tick(self, now: int) -> list[object]:
        self.step = Step()
        self.stage.tick(now, self.step)
        return self.step.out

    def propose(self, now: int, *entries: Proposed, lane: str = "dev") -> "Gate":
        self.step, self.number = Step(), self.number + 1
        self.stage.offer([Proposal(lane, self.number, entries, (0, 0, 0, 0))], now, self.step)
        return self

    @property
    def passed(self) -> list[int]:
        return [e.notice.serial for move in self.step.out if isinstance(move, Proposal) for e in move.entries]

    @property
    def kept(self) -> list[tuple[str, list[int], int | None]]:
        return [(move.reason, list(move.serials), move.until) for move in self.step.out if isinstance(move, Kept)]

    @property
    def dropped(self) -> list[tuple[str, list[int]]]:
        return [(move.verdict, list(move.serials)) for move in self.step.out if isinstance(move, Dropped)]

    def overdue(self) -> list[bool]:
        return [move.overdue for move in self.step.out if isinstance(move, Proposal)]

    def rulings(self) -> list[tuple[str, str, list[int], int | None]]:
        return [(r.verdict, r.reason, [n.serial for n in r.notices], r.until) for r in self.step.rulings]


def passing(typing: bool, *facts: type, urgent: bool = False) -> set[str]:
    """The classes that pass in this state of the recipient."""
    found = set()
    for traffic in CLASSES:
        gate = Gate(*facts, typing=typing)
        if gate.propose(0, entry(traffic=traffic, urgent=urgent and traffic == "notice")).passed:
            found.add(traffic)
    return found


ALL = set(CLASSES)
WORDS = {"user", "return"}


@pytest.mark.parametrize("typing", [False, True], ids=["passive", "typing"])
def test_an_idle_recipient_is_told_everything(typing: bool) -> None:
    assert passing(typing) == ALL


@pytest.mark.parametrize(
    ("state", "passive", "typed"),
    [
        (TurnStarted, {"mail"}, set()),
        (WaitStarted, {"mail"}, set()),
        (Paused, WORDS, WORDS),
        (DialogOpened, ALL, set()),
        (DraftStarted, ALL, set()),
        (ScreenTaken, ALL, set()),
        (ToolOpened, ALL, set()),
        (RecipientDied, set(), set()),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_passes_in_each_state(state: type, passive: set[str], typed: set[str]) -> None:
    assert passing(False, state) == passive
    assert passing(True, state) == typed


@pytest.mark.parametrize("typing", [False, True], ids=["passive", "typing"])
def test_output_keeps_what_a_turn_keeps(typing: bool) -> None:
    for traffic in CLASSES:
        gate = Gate(typing=typing)
        gate.signal(0, Output(lane="dev", size=10))
        assert bool(gate.propose(0, entry(traffic=traffic)).passed) is (traffic == "mail" and not typing)


@pytest.mark.parametrize("state", [TurnStarted, WaitStarted, Paused])
def test_an_urgent_notice_goes_to_a_passive_sink_at_once(state: type) -> None:
    assert "notice" in passing(False, state, urgent=True)


@pytest.mark.parametrize("state", [TurnStarted, WaitStarted, Paused, DialogOpened, DraftStarted, ScreenTaken, ToolOpened])
def test_not_even_an_urgent_notice_is_typed_into_anything(state: type) -> None:
    assert "notice" not in passing(True, state, urgent=True)


def test_a_paused_lane_that_is_active_keeps_a_persons_words_too() -> None:
    assert passing(False, Paused, TurnStarted) == set()


def test_a_proposal_passes_in_part() -> None:
    gate = Gate(Paused).propose(0, entry(1), entry(2, traffic="user"), entry(3, traffic="notice"))
    assert (gate.passed, gate.kept) == ([2], [("lane_paused", [1, 3], None)])


def test_a_lane_that_was_never_opened_is_idle() -> None:
    assert Gate().propose(0, entry(1), lane="ghost").passed == [1]


# Activity is bounded


def test_bytes_keep_for_ten_seconds_then_it_goes_marked_overdue() -> None:
    gate = Gate()
    gate.signal(1_000, Output(lane="dev", size=50))
    gate.propose(1_500, entry(1))
    assert gate.kept == [("recipient_writes", [1], 11_500)]
    assert gate.rulings() == [("defer", "recipient_writes", [1], 11_500)]
    gate.signal(11_000, Output(lane="dev", size=50))
    assert gate.propose(11_499, entry(1, deferred_at=1_500)).kept == [("recipient_writes", [1], 11_500)]
    gate.propose(11_500, entry(1, deferred_at=1_500))
    assert (gate.passed, gate.overdue()) == ([1], [True])
    assert gate.rulings() == [("overdue", "still_active_at_the_limit", [1], None)]


def test_a_turn_keeps_for_half_an_hour_then_it_goes_marked_overdue() -> None:
    gate = Gate(TurnStarted).propose(0, entry(1))
    assert gate.kept == [("turn_running", [1], 1_800_000)]
    assert gate.propose(1_799_999, entry(1, deferred_at=0)).passed == []
    gate.propose(1_800_000, entry(1, deferred_at=0))
    assert (gate.passed, gate.overdue()) == ([1], [True])


def test_what_was_waiting_is_not_overdue_once_the_recipient_is_idle() -> None:
    gate = Gate(TurnStarted)
    gate.propose(0, entry(1))
    gate.signal(2_000_000, TurnEnded(lane="dev"))
    gate.propose(2_000_000, entry(1, deferred_at=0))
    assert (gate.passed, gate.overdue()) == ([1], [False])


@pytest.mark.parametrize("state", [DialogOpened, DraftStarted, ScreenTaken, ToolOpened, WaitStarted, Paused])
def test_no_bound_types_into_a_dialog_a_draft_a_screen_a_tool_call_a_wait_or_a_pause(state: type) -> None:
    gate = Gate(TurnStarted, state, typing=True)
    assert gate.propose(9_000_000, entry(1, deferred_at=0)).passed == []
    assert [until for _, _, until in gate.kept] == [None]


def test_the_same_wait_is_on_record_once_and_another_one_again() -> None:
    gate = Gate(TurnStarted, typing=True)
    assert gate.propose(0, entry(1, reason="turn_running", deferred_at=0)).rulings() == []
    gate.signal(1, DialogOpened(lane="dev"))
    assert gate.propose(1, entry(1, reason="turn_running")).rulings() == [("defer", "dialog_open", [1], None)]


# Wakes


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        (TurnStarted, TurnEnded),
        (DialogOpened, DialogClosed),
        (DraftStarted, DraftEnded),
        (ScreenTaken, ScreenReleased),
        (ToolOpened, ToolClosed),
        (WaitStarted, WaitEnded),
        (Paused, Resumed),
        (RecipientDied, RecipientRevived),
    ],
    ids=lambda fact: fact.__name__,
)
def test_the_end_of_what_kept_a_lane_wakes_it_at_once(begins: type, ends: type) -> None:
    gate = Gate(begins, typing=True)
    gate.propose(0, entry(1), entry(2, traffic="return"))
    assert gate.kept
    assert gate.signal(5_000, ends(lane="dev")) == [WakeLane("dev")]
    assert gate.propose(5_000, entry(1), entry(2, traffic="return")).passed == [1, 2]


def test_a_lane_in_which_nothing_is_kept_is_not_woken() -> None:
    gate = Gate(TurnStarted)
    assert gate.signal(1, TurnEnded(lane="dev")) == []


def test_a_lane_that_was_woken_and_told_is_not_woken_again() -> None:
    gate = Gate()
    gate.signal(0, Output(lane="dev", size=50))
    gate.propose(0, entry(1))
    assert gate.tick(2_000) == [WakeLane("dev")]
    assert gate.propose(2_000, entry(1)).passed == [1]
    assert gate.signal(3_000, Paused(lane="dev")) == []
    gate.signal(4_000, Output(lane="dev", size=50))
    assert gate.stage.due() is None


def test_what_passes_beside_it_does_not_make_a_kept_lane_forgotten() -> None:
    gate = Gate(TurnStarted)
    gate.propose(0, entry(1))
    assert gate.propose(10, entry(2, traffic="mail")).passed == [2]
    assert gate.signal(20, TurnEnded(lane="dev")) == [WakeLane("dev")]


def test_silence_wakes_a_kept_lane_at_its_edge() -> None:
    gate = Gate()
    gate.signal(1_000, Output(lane="dev", size=50))
    assert gate.stage.due() is None  # nothing is kept, so nobody needs to know
    gate.propose(1_500, entry(1))
    assert gate.stage.due() == 3_000
    gate.signal(2_500, Output(lane="dev", size=1))
    assert gate.stage.due() == 4_500
    assert gate.tick(4_499) == []
    assert gate.tick(4_500) == [WakeLane("dev")]
    assert gate.stage.due() is None


def test_an_edge_that_is_past_does_not_wake_a_lane_that_a_dialog_keeps() -> None:
    gate = Gate(typing=True)
    gate.signal(0, Output(lane="dev", size=50))
    gate.signal(0, DialogOpened(lane="dev"))
    gate.propose(0, entry(1))
    assert gate.stage.due() == 2_000
    assert gate.tick(2_000) == [WakeLane("dev")]
    gate.propose(2_000, entry(1))
    assert (gate.kept, gate.stage.due()) == ([("dialog_open", [1], None)], None)


def test_turns_have_no_idle_edge_of_bytes() -> None:
    gate = Gate()
    gate.signal(0, Output(lane="dev", size=50))
    gate.propose(0, entry(1))
    assert gate.signal(500, TurnStarted(lane="dev")) == [WakeLane("dev")]
    gate.propose(500, entry(1))
    assert gate.stage.due() is None
    assert gate.tick(2_000) == []


def test_a_closed_lane_is_not_woken() -> None:
    gate = Gate(TurnStarted)
    gate.propose(0, entry(1))
    gate.stage.close("dev")
    assert gate.signal(1, TurnEnded(lane="dev")) == []


# The dead


def test_to_the_dead_findings_and_notices_are_dropped_on_record() -> None:
    gate = Gate(RecipientDied).propose(0, entry(1), entry(2, traffic="notice", urgent=True))
    assert (gate.passed, gate.dropped) == ([], [("drop_dead", [1, 2])])
    assert gate.rulings() == [("drop_dead", "recipient_dead", [1, 2], None)]


def test_mail_to_the_dead_is_bounced_to_the_coordinator_as_it_was_written() -> None:
    gate = Gate(RecipientDied).propose(0, entry(1, traffic="mail", to="dev", key="k"))
    assert gate.rulings() == [("refuse", "bounced_to_coordinator", [1], None)]
    assert gate.dropped == [("refuse", [1])]
    assert [move for move in gate.step.out if isinstance(move, Event)] == [
        Event(text="text 1", id="id1", traffic="mail", to="god", key="k")
    ]


def test_a_persons_words_to_the_dead_are_put_aside_where_they_can_be_seen() -> None:
    gate = Gate(RecipientDied).propose(0, entry(1, traffic="user"))
    assert gate.rulings() == [("dead_letter", "recipient_dead", [1], None)]


def test_an_answer_to_the_dead_is_blocked_and_stays_visible() -> None:
    gate = Gate(RecipientDied).propose(0, entry(1, traffic="return"))
    assert (gate.kept, gate.dropped) == ([("recipient_dead", [1], None)], [])


def test_what_keeps_each_recipient_can_be_seen() -> None:
    gate = Gate(DialogOpened)
    gate.stage.open(LaneSpec(name="ops"))
    assert gate.stage.view(0) == {"dev": "dialog", "ops": "idle"}

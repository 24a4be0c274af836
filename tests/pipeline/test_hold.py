"""Hold: events of a scope in outage wait; what only told of the outage is dropped once it has recovered."""

import msgspec
import pytest

from tocsin.contracts.events import Event
from tocsin.contracts.moves import ClearScope, Dropped, Kept, WakeScope
from tocsin.contracts.notices import Notice, Proposal, Proposed
from tocsin.contracts.severity import LEVELS
from tocsin.contracts.signals import (
    GoodResponse,
    ProcessExited,
    ProcessStarted,
    RebuildFinished,
    RebuildStarted,
    TransportFailed,
)
from tocsin.pipeline.hold import Hold, Policy
from tocsin.pipeline.step import Step

NOISE = "connect ECONNREFUSED 127.0.0.1:3000"


def entry(
    serial: int, text: str = "boom", at: int = 0, last_at: int | None = None, held_at: int | None = None, **fields: object
) -> Proposed:
    event = Event(**{"scope": "web", "severity": "error", "text": text, **fields})
    notice = Notice(serial, event, "dev", LEVELS[event.severity], at, f"fp{serial}")
    last = at if last_at is None else last_at
    return Proposed(notice, 1, at, last, LEVELS[event.severity], (text,), True, False, held_at, None, "batch_window")


class Gate:
    """A hold with a clock that each call sets."""

    def __init__(self, **policy: object) -> None:
        self.stage, self.step, self.number = Hold(Policy(**policy)), Step[object](), 0

    def signal(self, now: int, fact: object, upto: int = 0) -> list[object]:
        self.step = Step()
        self.stage.observe(fact, upto, now, self.step)
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
    def kept(self) -> list[tuple[list[int], int | None]]:
        return [(list(move.serials), move.until) for move in self.step.out if isinstance(move, Kept)]

    @property
    def dropped(self) -> list[int]:
        return [serial for move in self.step.out if isinstance(move, Dropped) for serial in move.serials]

    def rulings(self) -> list[tuple[str, str, list[int], int | None]]:
        return [(r.verdict, r.reason, [n.serial for n in r.notices], r.until) for r in self.step.rulings]


def in_outage(**policy: object) -> Gate:
    gate = Gate(**policy)
    gate.signal(1_000, TransportFailed(scope="web"))
    return gate


def recovered() -> Gate:
    """A transport outage from 1,000 to 2,500."""
    gate = in_outage()
    gate.signal(2_000, GoodResponse(scope="web"))
    gate.tick(2_500)
    return gate


def test_without_an_outage_everything_passes() -> None:
    gate = Gate().propose(0, entry(1), entry(2, NOISE))
    assert (gate.passed, gate.kept, gate.dropped) == ([1, 2], [], [])
    assert gate.rulings() == [("pass", "no_outage", [1, 2], None)]


def test_in_an_outage_events_of_its_scope_wait_for_the_hold_window() -> None:
    gate = in_outage().propose(1_250, entry(1), entry(2, NOISE))
    assert (gate.passed, gate.kept, gate.dropped) == ([], [([1, 2], 4_250)], [])
    assert gate.rulings() == [("hold", "scope_in_outage", [1, 2], 4_250)]


def test_an_outage_of_one_scope_holds_no_other() -> None:
    gate = in_outage().propose(1_250, entry(1), entry(2, scope="api"), entry(3, scope=""))
    assert (gate.passed, gate.kept) == ([2, 3], [([1], 4_250)])


@pytest.mark.parametrize("traffic", ["user", "notice", "mail", "return"])
def test_only_events_are_held(traffic: str) -> None:
    assert in_outage().propose(1_250, entry(1, traffic=traffic)).passed == [1]


def test_no_entry_is_held_longer_than_the_window() -> None:
    gate = in_outage().propose(4_249, entry(1, held_at=1_250))
    assert gate.kept == [([1], 4_250)]
    gate.propose(4_250, entry(1, held_at=1_250))
    assert gate.passed == [1]
    assert gate.rulings() == [("release", "hold_window_over", [1], None)]


def test_what_is_held_is_on_record_once() -> None:
    gate = in_outage().propose(2_000, entry(1, held_at=1_250), entry(2))
    assert gate.kept == [([1], 4_250), ([2], 5_000)]
    assert gate.rulings() == [("hold", "scope_in_outage", [2], 5_000)]


def test_after_the_recovery_the_cascade_is_dropped_and_genuine_errors_pass() -> None:
    gate = recovered().propose(2_500, entry(1, at=1_100, held_at=1_250), entry(2, NOISE, at=1_200, held_at=1_250))
    assert (gate.passed, gate.dropped) == ([1], [2])
    assert gate.rulings() == [
        ("drop_cascade", "cascade_of_an_outage_that_recovered", [2], None),
        ("release", "outage_over", [1], None),
    ]


def test_the_cascade_is_dropped_even_if_it_was_never_held() -> None:
    assert recovered().propose(2_600, entry(1, NOISE, at=1_200)).dropped == [1]


def test_the_first_sign_of_an_outage_may_come_a_second_before_it_was_noticed() -> None:
    assert recovered().propose(2_600, entry(1, NOISE, at=0)).dropped == [1]
    gate = in_outage()
    gate.signal(5_000, ProcessStarted(scope="web"))
    gate.signal(6_000, TransportFailed(scope="web"))
    gate.signal(7_000, ProcessStarted(scope="web"))
    assert gate.propose(7_000, entry(1, NOISE, at=4_999)).passed == [1]


def test_an_occurrence_after_the_outage_makes_it_genuine() -> None:
    gate = recovered().propose(2_600, entry(1, NOISE, at=1_200, last_at=2_501))
    assert (gate.passed, gate.dropped) == ([1], [])


def test_every_folded_occurrence_must_be_cascade() -> None:
    mixed = msgspec.structs.replace(entry(1, NOISE, at=1_200), texts=(NOISE, "boom"))
    unknown = msgspec.structs.replace(entry(2, NOISE, at=1_200), all_texts=False)
    assert recovered().propose(2_600, mixed, unknown).passed == [1, 2]


def test_during_the_outage_nothing_is_dropped() -> None:
    assert in_outage().propose(4_300, entry(1, NOISE, at=1_200, held_at=1_250)).passed == [1]


def test_outside_of_an_outage_the_same_words_are_news() -> None:
    assert recovered().propose(60_000, entry(1, NOISE, at=59_000)).passed == [1]


def test_after_a_crash_the_cascade_is_news() -> None:
    gate = in_outage()
    gate.signal(1_500, ProcessExited(scope="web", code=1))
    assert gate.propose(1_600, entry(1, NOISE, at=1_200)).passed == [1]
    gate.signal(2_000, ProcessStarted(scope="web"))
    assert gate.propose(2_100, entry(1, NOISE, at=1_200)).passed == [1]


def test_in_a_long_rebuild_diagnostics_pass_and_errors_are_held() -> None:
    gate = Gate()
    gate.signal(0, RebuildStarted(scope="web"))
    gate.propose(14_000, entry(1), entry(2, source="diagnostic"))
    assert gate.passed == []
    gate.tick(15_000)
    gate.propose(15_000, entry(1), entry(2, source="diagnostic"))
    assert (gate.passed, gate.kept) == ([2], [([1], 18_000)])


def test_an_expired_rebuild_holds_nothing_and_warns_every_listener_once() -> None:
    gate = Gate()
    gate.signal(0, RebuildStarted(scope="web"))
    gate.propose(100, entry(1), lane="dev").propose(100, entry(2), lane="ops").propose(200, entry(3), lane="dev")
    gate.tick(15_000)
    wake, *warnings = gate.tick(30_000)
    text = "web has been rebuilding for 30 s and has not finished"
    common = {"text": text, "source": "diagnostic", "scope": "web", "severity": "warning", "at": 30_000}
    assert wake == WakeScope("web")
    assert warnings == [Event(to="dev", **common), Event(to="ops", **common)]
    assert gate.tick(31_000) == []
    assert gate.propose(31_000, entry(1)).passed == [1]


def test_a_proposal_that_comes_before_a_late_wake_is_judged_by_the_clock() -> None:
    gate = Gate()
    gate.signal(0, RebuildStarted(scope="web"))
    gate.propose(30_000, entry(1))
    assert gate.passed == [1]
    assert WakeScope("web") in gate.step.out
    assert gate.tick(30_000) == []


def test_a_signal_that_comes_before_a_late_wake_finds_the_scope_as_the_clock_has_it() -> None:
    gate = Gate()
    gate.signal(0, RebuildStarted(scope="web"))
    gate.propose(100, entry(1, NOISE))
    gate.signal(40_000, RebuildFinished(scope="web", ok=True))
    assert gate.propose(40_000, entry(1, NOISE)).passed == [1]


def test_every_change_wakes_the_scope_and_nothing_else_does() -> None:
    gate = Gate()
    assert gate.signal(0, TransportFailed(scope="web")) == [WakeScope("web")]
    assert gate.signal(1, TransportFailed(scope="web")) == []
    assert gate.signal(2, GoodResponse(scope="web")) == []
    assert gate.tick(501) == []
    assert gate.tick(502) == [WakeScope("web")]
    assert gate.signal(600, GoodResponse(scope="web")) == []


def test_a_good_build_clears_its_scope_up_to_its_place_in_the_line() -> None:
    gate = Gate()
    assert gate.signal(0, RebuildFinished(scope="web", ok=True), upto=7) == [ClearScope("web", 7)]
    assert gate.signal(1, RebuildFinished(scope="web", ok=False), upto=8) == []


def test_a_restart_after_a_crash_clears_nothing() -> None:
    gate = Gate()
    gate.signal(0, ProcessExited(scope="web", code=1))
    assert gate.signal(1, ProcessStarted(scope="web"), upto=7) == [WakeScope("web")]


def test_it_is_due_when_the_first_scope_grows_old() -> None:
    gate = Gate()
    assert gate.stage.due() is None
    gate.signal(0, RebuildStarted(scope="web"))
    gate.signal(1_000, RebuildStarted(scope="api"))
    assert gate.stage.due() == 15_000
    gate.tick(15_000)
    assert gate.stage.due() == 16_000


def test_every_scope_that_was_heard_of_says_what_it_goes_through() -> None:
    gate = in_outage()
    gate.signal(0, ProcessExited(scope="api", code=1))
    gate.signal(0, ProcessStarted(scope="db"))
    assert gate.stage.states() == {"web": "transport_outage", "api": "crashed", "db": "healthy"}


# Settings


def test_a_window_of_0_turns_holding_off() -> None:
    assert in_outage(window=0).propose(1_250, entry(1)).passed == [1]


def drops(text: str, **policy: object) -> bool:
    gate = in_outage(**policy)
    gate.signal(1_500, ProcessStarted(scope="web"))
    return gate.propose(1_600, entry(1, text, at=1_200)).dropped == [1]


def test_a_users_list_adds_to_the_built_in_one() -> None:
    assert drops("gremlins again", cascade=("gremlins",))
    assert drops(NOISE, cascade=("gremlins",))


def test_a_users_list_replaces_the_built_in_one_if_it_says_so() -> None:
    assert drops("gremlins again", cascade=("gremlins",), replace=True)
    assert not drops(NOISE, cascade=("gremlins",), replace=True)


def test_a_pattern_that_is_none_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match=r"'\(' is no regular expression"):
        Policy(cascade=("(",))

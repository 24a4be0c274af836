"""Promises: what the whole line does, seen from its two ends, on a tree that is stepped by hand under a clock of the test."""

from collections.abc import Callable

import pytest

from tocsin.actors.tree import Tree
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.errors import SinkBusy, SinkGone
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.contracts.signals import (
    Cleared,
    DialogClosed,
    DialogOpened,
    GoodResponse,
    Output,
    Paused,
    ProcessExited,
    ProcessStarted,
    RebuildFinished,
    RebuildStarted,
    RecipientDied,
    Resumed,
    TransportFailed,
    TurnEnded,
    TurnStarted,
    WaitEnded,
    WaitStarted,
)
from tocsin.contracts.status import LaneStatus
from tocsin.pipeline.roster import Settings

START = 1_700_000_000_000
NOISE = "connect ECONNREFUSED 127.0.0.1:3000"


class World:
    """A line with its own time. It is its own clock, its lanes' shelf and its courier; ``deaf`` sinks answer when told to."""

    def __init__(self, *lanes: str, typing: bool = False, threaded: bool = False, deaf: bool = False) -> None:
        self.t = START
        self.got: list[tuple[int, Delivery]] = []
        self.faults: list[Exception] = []
        self.carried: list[tuple[Delivery, Callable[[object], None]]] = []
        self.tree = Tree(Settings(), self, self)
        self.threaded = threaded
        if threaded:
            self.tree.dispatcher.start()
        for lane in lanes or ("dev",):
            self.tree.open_lane(LaneSpec(name=lane, typing=typing), Deaf() if deaf else self)

    def now(self) -> int:
        return self.t

    def put(self, delivery: Delivery) -> Receipt:
        if self.faults:
            raise self.faults.pop(0)
        self.got.append((self.t - START, delivery))
        return Receipt(proof=Proof.RECORDED)

    def carry(self, sink: object, delivery: Delivery, done: Callable[[object], None]) -> None:
        self.carried.append((delivery, done))

    def feed(self, *items: object) -> "World":
        self.tree.feed(items)
        self.settle()
        return self

    def settle(self) -> None:
        """Everything that can happen at this instant has happened."""
        if not self.threaded:
            self.tree.dispatcher.run_until_idle()
            return
        self.tree.quiesce()
        while (due := self.tree.dispatcher.next_due()) is not None and due <= self.t:
            self.tree.dispatcher.nudge()
            self.tree.quiesce()

    def after(self, by: int) -> "World":
        """So much later, with a wake whenever one is due."""
        until = self.t + by
        while (due := self.tree.dispatcher.next_due()) is not None and due <= until:
            self.t = max(self.t, due)
            self.settle()
        self.t = until
        self.settle()
        return self

    def told(self, lane: str = "dev") -> list[tuple[int, list[str]]]:
        """What the lane was told, each block with its moment: ``text`` or ``text ×count``."""
        blocks = [(at, delivery) for at, delivery in self.got if delivery.lane == lane]
        return [(at, [e.text + (f" ×{e.count}" if e.count > 1 else "") for e in one.entries]) for at, one in blocks]

    def lane(self, name: str = "dev") -> LaneStatus:
        return next(lane for lane in self.tree.status().lanes if lane.name == name)


class Deaf:
    """A sink that may take its time."""

    async def deliver(self, delivery: Delivery) -> Receipt:
        raise AssertionError("the courier of this world never calls it")


def error(text: str = "boom", **fields: object) -> Event:
    return Event(**{"text": text, "severity": "error", "scope": "web", **fields})


def warning(text: str, **fields: object) -> Event:
    return Event(**{"text": text, "severity": "warning", "scope": "web", **fields})


def person(text: str = "stop") -> Event:
    return Event(text=text, traffic="user", source="user_action")


# The list at the end of the specification


@pytest.mark.parametrize("severity", ["info", "warning", "error", "critical"])
def test_ten_identical_events_in_100_ms_are_one_delivery_with_their_count(severity: str) -> None:
    world = World()
    for _ in range(10):
        world.feed(error(severity=severity)).after(10)
    world.after(60_000)
    assert [texts for _, texts in world.told()] == [["boom ×10"]]
    assert "×10, first 22:13:20, last 22:13:20" in world.got[0][1].text


def test_an_outage_that_recovers_inside_the_window_drops_its_cascade_and_tells_the_genuine_error() -> None:
    world = World().feed(TransportFailed(scope="web"), error(NOISE), error("TypeError: x is undefined"))
    world.after(1_000)
    assert world.told() == []
    world.feed(GoodResponse(scope="web")).after(60_000)
    assert world.told() == [(1_500, ["TypeError: x is undefined"])]
    assert world.tree.status().dropped == {"drop_cascade": 1}


def test_an_outage_that_does_not_recover_tells_all_after_the_hold_window() -> None:
    world = World().feed(TransportFailed(scope="web"), error(NOISE), error("boom")).after(20_000)
    assert world.told() == [(3_250, [NOISE, "boom"])]


@pytest.mark.parametrize("typing", [False, True], ids=["passive", "typing"])
def test_an_event_during_activity_is_deferred_and_delivered_at_the_idle_edge(typing: bool) -> None:
    world = World(typing=typing).feed(Output(lane="dev", size=50), error())
    world.after(1_000).feed(Output(lane="dev", size=50)).after(1_999)
    assert (world.told(), world.lane().waits_for, world.lane().recipient) == ([], "recipient_writes", "output")
    world.after(1)
    assert world.told() == [(3_000, ["boom"])]


def test_an_event_during_a_turn_is_delivered_when_the_turn_ends() -> None:
    world = World(typing=True).feed(TurnStarted(lane="dev"), error()).after(120_000)
    assert world.told() == []
    world.feed(TurnEnded(lane="dev"))
    assert world.told() == [(120_000, ["boom"])]


def test_after_10_000_distinct_warnings_and_one_error_the_table_is_within_its_cap_and_the_error_is_told() -> None:
    world, deepest = World().feed(TurnStarted(lane="dev")), 0
    for start in range(0, 10_000, 100):
        world.feed(*(warning(f"no {word(number)} here") for number in range(start, start + 100))).after(10)
        deepest = max(deepest, world.lane().depth)
    world.feed(error("the error")).after(5_000).feed(TurnEnded(lane="dev")).after(1_000)
    assert deepest == 50
    [(_, delivery)] = world.got
    assert [entry.text for entry in delivery.entries] == [*(f"no {word(n)} here" for n in range(9_951, 10_000)), "the error"]
    assert delivery.suppressed == {"warning": 9_951}
    assert delivery.text.split("\n").count("+9951 more suppressed: 9951 warnings") == 1


def word(number: int) -> str:
    """A word for a number, because numbers in a text do not make it another one."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def a_day(world: World) -> list[tuple[object, ...]]:
    """A story with something for every stage, and every decision taken in it."""
    world.feed(error(), error(), warning("slow"), Event(text="lost", to="nobody")).after(300)
    world.feed(TurnStarted(lane="dev"), error("during"), person("hello")).after(5_000)
    world.feed(TransportFailed(scope="web"), error(NOISE), TurnEnded(lane="dev")).after(400)
    world.feed(GoodResponse(scope="web"), Event(text="report", traffic="mail", id="m1")).after(10_000)
    world.feed(*(warning(f"no {word(n)} here") for n in range(60))).after(20_000)
    world.faults = [SinkBusy("locked"), SinkGone("closed")]
    world.feed(Event(text="late", traffic="mail", id="m2"), Event(text="late", traffic="mail", id="m2")).after(60_000)
    world.feed(Event(text="quiet", traffic="notice", source="harness", key="quiet"), RecipientDied(lane="dev")).after(10_000)
    found, _ = world.tree.decisions()
    return [(d.at - START, d.lane, d.id, d.stage, d.verdict, d.reason, d.until) for d in found]


def test_the_same_day_stepped_by_hand_and_on_the_real_thread_gives_the_same_decisions() -> None:
    by_hand, by_thread = World(), World(threaded=True)
    try:
        decisions = a_day(by_hand)
        assert a_day(by_thread) == decisions
        assert by_thread.got == by_hand.got
        assert {verdict for _, _, _, _, verdict, _, _ in decisions} >= {
            "pass", "fold", "evict", "hold", "drop_cascade", "defer", "refuse", "deliver", "retry", "dead_letter", "drop_dead",
        }  # fmt: skip
    finally:
        assert by_thread.tree.stop(10.0)


# Rules that only the stages together keep


def test_a_batch_that_passed_the_activity_gate_and_waited_for_an_outage_meets_the_activity_gate_again() -> None:
    world = World(typing=True).feed(TransportFailed(scope="web"), error()).after(1_000)
    world.feed(TurnStarted(lane="dev")).after(10_000)
    assert world.told() == []
    world.feed(TurnEnded(lane="dev"))
    assert world.told() == [(11_000, ["boom"])]


def test_a_batch_that_waited_for_a_turn_meets_the_outage_gate_again() -> None:
    world = World().feed(TurnStarted(lane="dev"), error()).after(10_000)
    world.feed(TransportFailed(scope="web")).feed(TurnEnded(lane="dev")).after(2_999)
    assert world.told() == []
    assert world.after(1).told() == [(13_000, ["boom"])]


def test_a_dialog_that_opens_after_output_holds_everything_and_lets_time_go_on() -> None:
    world = World(typing=True).feed(Output(lane="dev", size=50), error()).after(1_000)
    world.feed(DialogOpened(lane="dev")).after(60_000)
    assert world.told() == []
    world.feed(DialogClosed(lane="dev"))
    assert world.told() == [(61_000, ["boom"])]


def test_a_spinner_defers_for_ten_seconds_whatever_else_comes_and_the_block_says_that_it_is_late() -> None:
    world = World(typing=True).feed(Output(lane="dev", size=50), error())
    for number in range(30):
        world.after(500).feed(Output(lane="dev", size=50), warning(f"no {word(number)} here"))
    [(at, delivery)] = world.got[:1]
    assert (at, delivery.overdue, delivery.entries[0].text) == (10_250, True, "boom")
    assert "told although you still seemed busy" in delivery.text


def test_mail_that_passes_does_not_make_what_waits_for_the_turn_forgotten() -> None:
    world = World().feed(TurnStarted(lane="dev"), error()).after(1_000)
    world.feed(Event(text="report", traffic="mail", source="mail")).after(1_000).feed(TurnEnded(lane="dev"))
    assert world.told() == [(1_000, ["report"]), (2_000, ["boom"])]


def test_what_was_evicted_passes_when_it_comes_again() -> None:
    world = World().feed(TurnStarted(lane="dev"), warning("the first"))
    world.feed(*(warning(f"no {word(n)} here") for n in range(50))).after(1)
    world.feed(warning("the first")).feed(TurnEnded(lane="dev")).after(10_000)
    assert "the first" in [text for _, texts in world.told() for text in texts]


def test_two_different_errors_a_second_apart_both_arrive_and_the_same_one_twice_arrives_once() -> None:
    world = World().feed(error("a")).after(1_000).feed(error("b")).after(1_000).feed(error("a")).after(5_000)
    assert world.told() == [(250, ["a"]), (1_250, ["b"])]


def test_an_error_does_not_wait_for_the_window_of_a_warning() -> None:
    assert World().feed(warning("slow")).after(100).feed(error()).after(5_000).told() == [(350, ["slow", "boom"])]


def test_an_error_every_50_ms_does_not_push_the_first_batch_out() -> None:
    world = World()
    for number in range(20):
        world.feed(error(f"no {word(number)} here")).after(50)
    assert [at for at, _ in world.told()] == [250, 500, 750]


def test_paused_the_alerts_wait_and_every_word_of_the_person_passes() -> None:
    world = World(typing=True).feed(Paused(lane="dev"), error()).after(1_000)
    for _ in range(3):
        world.feed(person("hello")).after(1_000)
    assert [texts for _, texts in world.told()] == [["hello"], ["hello"], ["hello"]]
    world.feed(Resumed(lane="dev"))
    assert world.told()[3:] == [(4_000, ["boom"])]


def test_a_person_is_never_folded_evicted_or_dropped_by_a_flood() -> None:
    world = World().feed(TurnStarted(lane="dev"))
    for _ in range(60):
        world.feed(person("stop"), *(warning(f"no {word(n)} here") for n in range(20)))
    world.feed(TurnEnded(lane="dev")).after(10_000)
    assert [text for _, texts in world.told() for text in texts].count("stop") == 60


def test_a_notice_is_held_while_the_recipient_waits_on_a_human() -> None:
    quiet = Event(text="quiet", traffic="notice", source="harness", key="quiet")
    world = World().feed(WaitStarted(lane="dev"), quiet).after(60_000)
    assert world.told() == []
    assert world.feed(WaitEnded(lane="dev")).told() == [(60_000, ["quiet"])]


def test_a_notice_that_is_cleared_and_raised_again_before_it_is_told_is_told_once() -> None:
    quiet = Event(text="quiet", traffic="notice", source="harness", key="quiet")
    world = World().feed(quiet, Cleared(lane="dev", key="quiet"), quiet).after(1_000).feed(quiet).after(1_000)
    assert world.told() == [(150, ["quiet ×2"])]
    world.feed(Cleared(lane="dev", key="quiet"), quiet).after(1_000)
    assert world.told() == [(150, ["quiet ×2"]), (2_150, ["quiet"])]


def test_mail_with_the_same_id_is_delivered_once_and_mail_with_another_one_always() -> None:
    def mail(number: str) -> Event:
        return Event(text="report", traffic="mail", source="mail", id=number, key="topic")

    world = World().feed(mail("m1"), mail("m2"), mail("m1")).after(1_000).feed(mail("m1"))
    assert world.told() == [(0, ["report"]), (0, ["report"])]


def test_a_good_build_clears_what_it_repaired_and_nothing_that_came_after_it() -> None:
    def build(text: str) -> Event:
        return error(text, category="build")

    good = RebuildFinished(scope="web", ok=True)
    world = World().feed(build("old"), build("again"), good, build("again"), build("new")).after(1_000)
    assert world.told() == [(250, ["again ×2", "new"])]
    assert world.tree.status().dropped == {"clear": 1}


def test_a_restart_after_a_crash_clears_nothing() -> None:
    world = World().feed(error("ts2322", category="build"), ProcessExited(scope="web", code=1), ProcessStarted(scope="web"))
    assert world.after(1_000).told() == [(250, ["ts2322"])]


def test_recovery_of_one_scope_releases_no_other() -> None:
    world = World().feed(TransportFailed(scope="web"), TransportFailed(scope="api"), error(), error("bang", scope="api"))
    world.after(1_000).feed(GoodResponse(scope="web")).after(1_000)
    assert world.told() == [(1_500, ["boom"])]
    assert world.after(10_000).told() == [(1_500, ["boom"]), (3_250, ["bang"])]


def test_an_expired_rebuild_warns_once() -> None:
    world = World().feed(RebuildStarted(scope="web"), error()).after(120_000)
    assert world.told() == [(3_250, ["boom"]), (33_000, ["web has been rebuilding for 30 s and has not finished"])]


def test_a_closed_lane_leaves_nothing_behind_and_its_name_starts_anew() -> None:
    world = World("dev", "ops").feed(error(to="dev"))
    world.tree.close_lane("dev")
    assert (world.tree.status().dropped, world.tree.status().pending) == ({"evict": 1}, 0)
    world.tree.open_lane(LaneSpec(name="dev"), world)
    assert world.feed(error(to="dev")).after(1_000).told() == [(250, ["boom"])]


@pytest.mark.parametrize("traffic", ["event", "notice", "mail", "return", "user"])
def test_when_a_recipient_dies_what_waits_for_it_ends_as_its_class_says(traffic: str) -> None:
    world = World("dev", "god", typing=True).feed(TurnStarted(lane="dev"), Event(text="x", to="dev", traffic=traffic, id="m1"))
    world.after(5_000).feed(RecipientDied(lane="dev")).after(1_000)
    ends = {"event": "drop_dead", "notice": "drop_dead", "mail": "refuse", "user": "dead_letter"}
    assert world.tree.status().dropped == ({ends[traffic]: 1} if traffic in ends else {})
    assert world.told("god") == ([(5_000, ["x"])] if traffic == "mail" else [])
    assert (world.lane().depth, world.lane().waits_for) == ((1, "recipient_dead") if traffic == "return" else (0, ""))
    assert world.told("dev") == []


def test_while_a_sink_is_busy_its_lane_has_one_delivery_under_way_and_an_error_is_not_lost_for_it() -> None:
    world = World(deaf=True).feed(*(warning(f"no {word(n)} here") for n in range(50))).after(3_000)
    world.feed(error("the error")).after(10_000)
    assert len(world.carried) == 1
    world.carried.pop()[1](Receipt(proof=Proof.OFFERED))
    world.after(1_000)
    assert [entry.text for entry in world.carried[0][0].entries] == ["the error"]


def test_what_grew_worse_while_it_was_under_way_is_told_again() -> None:
    world = World(deaf=True).feed(warning("boom")).after(3_000).feed(error("boom"))
    world.carried.pop()[1](Receipt(proof=Proof.OFFERED))
    world.after(1_000).feed(error("boom")).after(1_000)
    assert [[(e.text, e.severity) for e in delivery.entries] for delivery, _ in world.carried] == [[("boom", "error")]]

"""The tree: what its few questions and orders promise, stepped by hand and on its thread."""

import runpy
import sys
import threading
from pathlib import Path

import pytest

from tocsin.contracts.errors import NotRunning, SinkBusy, SinkGone
from tocsin.contracts.events import Event
from tocsin.contracts.signals import Output, Paused, RebuildStarted, Resumed
from tocsin.pipeline.simulate import word

stepping = runpy.run_path(str(Path(__file__).parents[1] / "simulation" / "stepping.py"))
Box, Line = stepping["Box"], stepping["Line"]


@pytest.fixture(params=[False, True], ids=["by hand", "threaded"])
def line(request: pytest.FixtureRequest):
    with Line(threaded=request.param) as line:
        yield line


class Elsewhere:
    """A sink that is carried: the test answers for it."""

    async def deliver(self, delivery):
        raise AssertionError("the courier of these tests never calls it")


def event(text: str, to: str = "dev", **fields: object) -> Event:
    return Event(text=text, to=to, **fields)


def test_quiesce_returns_when_all_that_was_fed_has_been_decided() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with Line(threaded=True) as line:
            line.open("dev")
            for round_ in range(1, 301):
                line.tree.feed([event("again and again")] * 700)
                line.tree.quiesce()
                status = line.tree.status()
                assert (status.fed, status.at_the_door) == (round_ * 700, 0)
    finally:
        sys.setswitchinterval(before)


def test_status_tells_what_each_lane_waits_for_and_until_when(line) -> None:
    line.open("a", "b", "c", "d", "e")
    line.open("f", sink=Elsewhere())
    line.feed(Paused(lane="b"), Output(lane="c", size=100), RebuildStarted(scope="web"))
    line.feed(
        event("gathers", "a"),
        event("paused", "b", severity="error"),
        event("busy", "c", severity="error"),
        event("held", "d", severity="error", scope="web"),
        event("under way", "f", traffic="mail"),
    )
    line.after(250)
    lanes = {lane.name: lane for lane in line.tree.status().lanes}
    start = line.clock.t - 250
    assert {name: (lane.depth, lane.waits_for, lane.until) for name, lane in lanes.items()} == {
        "a": (1, "batch_window", start + 3_000),
        "b": (1, "lane_paused", None),
        "c": (1, "recipient_writes", start + 250 + 10_000),
        "d": (1, "scope_in_outage", start + 250 + 3_000),
        "e": (0, "", None),
        "f": (1, "sink", None),
    }
    assert lanes["f"].under_way == line.courier.under_way[0][1].id
    assert {name: lane.recipient for name, lane in lanes.items()} == {
        "a": "idle", "b": "paused", "c": "output", "d": "idle", "e": "idle", "f": "idle",
    }  # fmt: skip
    assert line.tree.status().scopes == {"web": "rebuild"}


def test_flush_lets_go_of_what_only_gathers_and_of_nothing_that_a_gate_keeps(line) -> None:
    line.open("dev", "ops")
    line.feed(Paused(lane="ops"), event("gathers"), event("kept", "ops"))
    line.tree.flush()
    line.settle()
    assert line.boxes["dev"].texts() == ["gathers"]
    assert line.boxes["ops"].texts() == []


def test_busy_as_long_as_a_sink_or_an_observer_has_something(line) -> None:
    line.open("dev", sink=Elsewhere())
    line.tree.observe("log", Elsewhere())
    assert not line.tree.busy()
    line.feed(event("hello", traffic="mail"))
    assert line.tree.busy()
    line.courier.answer()
    line.settle()
    assert line.tree.busy(), "the observer has it now"
    line.courier.answer()
    line.settle()
    assert not line.tree.busy()


def test_an_answer_that_comes_after_the_end_moves_nothing_any_more() -> None:
    with Line(threaded=True) as line:
        line.open("dev", sink=Elsewhere())
        line.feed(event("first", traffic="mail", id="1"), event("second", traffic="mail", id="2"))
        assert line.tree.stop(10)
        before = line.tree.status()
        line.courier.answer()
        assert line.tree.status() == before
        assert (before.lanes[0].depth, line.courier.under_way) == (2, [])


def test_a_closed_lanes_pending_notices_are_dropped_on_record(line) -> None:
    line.open("dev", "ops")
    line.feed(Paused(lane="dev"), event("one", id="1"), event("two", id="2", traffic="user"), event("other", "ops"))
    line.tree.close_lane("dev")
    line.after(10_000)
    assert line.boxes["dev"].got == []
    assert line.boxes["ops"].texts() == ["other"]
    for number in ("1", "2"):
        last = line.tree.explain(number)[-1]
        assert (last.verdict, last.reason) == ("evict", "lane_closed")
    assert [lane.name for lane in line.tree.status().lanes] == ["ops"]
    assert line.balanced()


def test_what_is_under_way_when_its_lane_is_closed_has_its_own_end(line) -> None:
    line.open("dev", sink=Elsewhere())
    line.feed(event("first", traffic="mail", id="1"), event("second", traffic="mail", id="2"))
    line.tree.close_lane("dev")
    line.courier.answer()
    line.settle()
    assert line.tree.explain("1")[-1].verdict == "deliver"
    assert line.tree.explain("2")[-1].verdict == "evict"
    assert line.courier.under_way == []
    assert line.balanced()


def test_a_retry_that_finds_its_lane_closed_ends_as_a_dead_letter(line) -> None:
    line.open("dev", sink=Box(SinkBusy("later")))
    line.feed(event("hello", traffic="mail", id="1"))
    line.tree.close_lane("dev")
    line.after(600)
    (letter,) = line.tree.dead_letters()
    assert letter.decision.note == "the lane 'dev' has been closed"
    assert line.balanced()


def test_who_takes_the_name_of_a_closed_lane_is_told_what_its_predecessor_was_told(line) -> None:
    line.open("dev")
    line.feed(event("the port is taken", severity="error"))
    line.after(250)
    line.tree.close_lane("dev")
    line.open("dev", sink=(fresh := Box()))
    line.feed(event("the port is taken", severity="error"))
    line.after(250)
    assert fresh.texts() == ["the port is taken"]
    assert line.balanced()


def test_lanes_that_come_and_go_leave_nothing_in_any_stage() -> None:
    with Line() as line:
        line.open("stays")

        def lives(name: str) -> None:
            line.open(name, sink=Box(SinkGone("gone")))
            line.feed(Paused(lane=name), event("waits", name), event("mail", name, traffic="mail"))
            line.feed(Output(lane=name, size=50), Resumed(lane=name), event("again", name, severity="error", scope="web"))
            line.after(100)
            line.tree.close_lane(name)
            line.after(120_000)

        def sizes() -> dict[str, int]:
            return {type(a).__name__: len(a.stage.snapshot()) for a in line.tree._actors if hasattr(a, "stage")}

        line.feed(RebuildStarted(scope="web"))
        for number in range(3):
            lives(word(5_000 + number))
        before = sizes()
        for number in range(50):
            lives(word(6_000 + number))
        grown = {name: size - before[name] for name, size in sizes().items() if size > before[name] + 64}
        assert grown.keys() <= {"FingerprintActor"}, "its memo is bounded by itself"
        assert line.balanced()


def test_a_shelf_that_asks_the_line_is_told_that_it_cannot() -> None:
    class Curious(Box):
        def put(self, delivery):
            line.tree.status()

    with Line(threaded=True) as line:
        line.open("dev", sink=Curious())
        line.feed(event("hello", traffic="mail", id="1"))
        assert line.tree.explain("1")[-1].note.startswith("a shelf runs on the stage thread, so it can't ask the line")


def test_who_asks_while_a_shelf_blocks_the_stages_is_told_so_and_not_kept_for_ever() -> None:
    entered, release = threading.Event(), threading.Event()

    class Blocks(Box):
        def put(self, delivery):
            entered.set()
            release.wait()
            return super().put(delivery)

    with Line(threaded=True) as line:
        line.open("dev", sink=(box := Blocks()))
        line.tree.feed([event("hello", traffic="mail")])
        entered.wait()
        line.tree.patience = 0.05
        with pytest.raises(NotRunning, match=r"have not answered for 0\.05 s; a shelf must never block"):
            line.tree.status()
        line.tree.patience = 10.0
        release.set()
        line.settle()
        assert box.texts() == ["hello"]

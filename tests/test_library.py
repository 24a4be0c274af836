"""The library as a user of it sees it: feed from anywhere, get blocks, ask what became of it."""

import asyncio
import io
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import msgspec
import pytest

import tocsin
from tocsin import Delivery, Event, Proof, Receipt, Settings, Tocsin
from tocsin.contracts.signals import Paused, Resumed, TurnEnded, TurnStarted
from tocsin.contracts.verdicts import Verdict
from tocsin.edges.sinks.inbox import InboxSink
from tocsin.edges.sinks.stream import StreamSink
from tocsin.pipeline.roster import ThrottlePolicy


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Tocsin]:
    with Tocsin(state_dir=tmp_path) as line:
        yield line


class Got:
    """A plain function's memory, with a way to wait for it."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []
        self._more = threading.Condition()

    def __call__(self, delivery: Delivery) -> None:
        with self._more:
            self.deliveries.append(delivery)
            self._more.notify_all()

    @property
    def texts(self) -> list[str]:
        return [entry.text for delivery in self.deliveries for entry in delivery.entries]

    def wait(self, entries: int = 1) -> list[str]:
        with self._more:
            assert self._more.wait_for(lambda: len(self.texts) >= entries, timeout=20), self.texts
        return self.texts


def wait_for(condition) -> None:
    pause = threading.Event()
    for _ in range(2_000):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("it did not come about within 20 s")


def test_the_public_names() -> None:
    assert tocsin.__all__ == sorted(tocsin.__all__)
    assert len(tocsin.__all__) <= 15
    assert all(getattr(tocsin, name) for name in tocsin.__all__)
    assert {"Tocsin", "Event", "Delivery", "Settings", "TocsinError"} <= set(tocsin.__all__)
    assert tocsin.__version__.count(".") == 2


# Getting something told


def test_a_line_in_five_lines() -> None:
    got = []
    with Tocsin() as line:
        line.open_lane("dev", got.append)
        for _ in range(3):
            line.feed("TypeError: x is undefined", severity="error", scope="web")
    (delivery,) = got
    assert delivery.lane == "dev"
    assert [(entry.text, entry.count, entry.severity) for entry in delivery.entries] == [
        ("TypeError: x is undefined", 3, "error")
    ]
    first, *rest = delivery.text.splitlines()
    assert first.startswith(f"[tocsin {delivery.id}] web: 1 error")
    assert "  | TypeError: x is undefined" in rest


def test_what_only_gathers_is_told_at_the_end_and_what_a_gate_keeps_is_named(tmp_path: Path) -> None:
    got = Got()
    line = Tocsin(state_dir=tmp_path).start()
    line.open_lane("dev", got)
    line.open_lane("ops", got)
    line.signal(Paused(lane="ops"))
    line.feed("gathers", to="dev", severity="info")
    line.feed("kept", to="ops", severity="critical")
    line.feed("kept as well", to="ops", severity="critical")
    left = line.stop()
    assert got.texts == ["gathers"]
    assert [(lane.name, lane.depth, lane.waits_for, lane.recipient) for lane in left.lanes] == [
        ("ops", 2, "lane_paused", "paused")
    ]
    assert left.ended


def test_an_observer_has_seen_everything_when_the_line_has_stopped() -> None:
    for _ in range(20):
        seen, got = Got(), Got()
        with Tocsin() as line:
            line.open_lane("dev", got)
            line.add_observer("log", seen)
            for number in range(5):
                line.feed(f"mail {number}", traffic="mail")
        assert seen.texts == got.texts == [f"mail {number}" for number in range(5)]


def test_every_kind_of_sink_is_taken(line: Tocsin) -> None:
    got = {name: Got() for name in ("function", "coroutine", "method")}

    async def coroutine(delivery: Delivery) -> None:
        await anyio.lowlevel.checkpoint()
        got["coroutine"](delivery)

    out, inbox = io.BytesIO(), InboxSink()
    line.open_lane("function", got["function"])
    line.open_lane("coroutine", coroutine)
    line.open_lane("method", got["method"].__call__)
    line.open_lane("stream", StreamSink(out))
    line.open_lane("shelf", inbox)
    for name in ("function", "coroutine", "method", "stream", "shelf"):
        line.feed(f"for the {name}", to=name, traffic="user")
    line.stop()
    for name, one in got.items():
        assert one.texts == [f"for the {name}"]
    assert msgspec.json.decode(out.getvalue(), type=Delivery).entries[0].text == "for the stream"
    assert [delivery.entries[0].text for _, delivery in inbox.pull()] == ["for the shelf"]


def test_from_an_async_program() -> None:
    async def program() -> list[str]:
        got: list[str] = []

        async def sink(delivery: Delivery) -> None:
            await asyncio.sleep(0)  # no wait: it only shows that the loop of the sink is a running one
            got.append(delivery.entries[0].text)

        async with Tocsin() as line:
            line.open_lane("dev", sink)
            line.feed("hello", traffic="user")
        return got

    assert asyncio.run(program()) == ["hello"]
    assert anyio.run(program) == ["hello"]


def test_many_threads_feed_one_line_and_nothing_is_lost_or_mixed_up() -> None:
    got = Got()
    with Tocsin() as line:
        line.open_lane("dev", got)

        def feed(name: int) -> None:
            for number in range(100):
                line.feed(f"{name}:{number}", traffic="mail", id=f"{name}:{number}")

        threads = [threading.Thread(target=feed, args=(name,)) for name in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left = line.stop(grace=60)
        status = line.status()
    assert left.lanes == ()
    assert len(got.texts) == 500
    for name in range(5):
        assert [text for text in got.texts if text.startswith(f"{name}:")] == [f"{name}:{number}" for number in range(100)]
    assert (status.fed, status.delivered, status.pending) == (500, 500, 0)


def test_what_a_sink_feeds_goes_down_the_line_like_anything_else() -> None:
    got = Got()

    class Echo:
        def put(self, delivery: Delivery) -> Receipt:
            line.feed(f"about {delivery.entries[0].text}", to="ops", traffic="mail")
            return Receipt(proof=Proof.RECORDED)

    with Tocsin() as line:
        line.open_lane("dev", Echo())
        line.open_lane("ops", got)
        line.feed("a finding", to="dev", traffic="user")
        assert got.wait() == ["about a finding"]


def test_text_that_no_encoder_takes_poisons_no_stream() -> None:
    out = io.BytesIO()
    with Tocsin() as line:
        line.open_lane("dev", StreamSink(out))
        line.feed("x \ud83d y", id="\ud83d", scope="\udc81", category="\ud800", detail="\udc81", traffic="mail")
        line.feed("the next one", traffic="mail")
    first, second = (msgspec.json.decode(one, type=Delivery) for one in out.getvalue().splitlines())
    assert first.entries[0].text == "x \ufffd y"
    assert second.entries[0].text == "the next one"


# Signals


def test_a_busy_recipient_is_told_when_its_turn_ends(line: Tocsin) -> None:
    got = Got()
    line.open_lane("dev", got)
    line.signal(TurnStarted(lane="dev"))
    line.feed("first", traffic="user")
    line.feed("second", traffic="user")
    wait_for(lambda: line.status().lanes[0].waits_for == "turn_running")
    assert (line.status().lanes[0].recipient, got.texts) == ("turn", [])
    line.signal(TurnEnded(lane="dev"))
    assert got.wait(2) == ["first", "second"]


def test_signals_and_events_keep_their_order_in_one_feed(line: Tocsin) -> None:
    got = Got()
    line.open_lane("dev", got)
    answer = line.feed_all([Paused(lane="dev"), Event(text="mail", traffic="mail"), Resumed(lane="dev")])
    assert (answer.accepted, answer.refused) == (3, ())
    assert got.wait() == ["mail"]


# What it did


def test_explain_tells_a_notices_whole_story_and_decisions_come_behind_a_cursor(line: Tocsin) -> None:
    line.open_lane("dev", got := Got())
    line.feed("hello", traffic="user", id="m")
    got.wait()
    wait_for(lambda: str(line.explain("m")[-1].verdict) == "deliver")
    story = [f"{decision.stage} {decision.verdict}" for decision in line.explain("m")]
    assert story == ["classify pass", "fingerprint pass", "dedup pass", "hold pass", "defer pass", "fanout deliver"]
    fingerprint = line.explain("m")[-1].fingerprint
    assert line.explain(fingerprint) == line.explain(fingerprint[:8])
    decisions, cursor = line.decisions()
    assert [d.id for d in decisions] == ["m"] * 6
    assert line.decisions(cursor) == ([], cursor)
    line.feed("again", traffic="mail", id="n")
    wait_for(lambda: line.decisions(cursor)[0])
    assert {d.id for d in line.decisions(cursor)[0]} == {"n"}


def test_what_was_cut_is_whole_in_a_file_of_the_state_directory(tmp_path: Path) -> None:
    got = Got()
    with Tocsin(state_dir=tmp_path) as line:
        line.open_lane("dev", got)
        line.feed("x" * 30_000, severity="critical")
    (delivery,) = got.deliveries
    assert len(delivery.text) <= 10_000
    (file,) = (tmp_path / "spill").iterdir()
    assert str(file) in delivery.text
    assert "x" * 30_000 in file.read_text()


def test_a_status_is_the_whole_line_at_one_instant() -> None:
    with Tocsin(Settings(throttle=ThrottlePolicy(batches_per_minute=0, window=1))) as line:
        line.open_lane("dev", Got())
        feeding = threading.Thread(target=lambda: [line.feed(f"{word} failed") for word in range(1_500)])
        feeding.start()
        while feeding.is_alive():
            status = line.status()
            delivered = sum(tally.count for tally in status.tallies if tally.verdict == Verdict.DELIVER)
            [lane] = status.lanes
            assert lane.delivered == status.delivered == delivered
            assert status.fed == status.delivered + status.folded + sum(status.dropped.values()) + status.pending
            assert status.pending >= lane.depth
        feeding.join()

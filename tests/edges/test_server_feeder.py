"""The feeder: in order, once, to a recipient that may be late, gone for a while or busy; what it leaves out is counted."""

import runpy
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from hypothesis import given
from hypothesis import strategies as st

from tocsin import Event, Settings
from tocsin.contracts import wire
from tocsin.contracts.errors import Backpressure
from tocsin.contracts.severity import LEVELS
from tocsin.contracts.signals import ProcessExited, ProcessStarted
from tocsin.edges.server import feeder as feeders
from tocsin.edges.server.batches import batches, packed
from tocsin.edges.server.feeder import Feeder, Sent
from tocsin.edges.server.runtime import secured, socket_path
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

_serving = runpy.run_path(str(Path(__file__).parent / "serving.py"))
served, short_directory, until = (_serving[name] for name in ("served", "short_directory", "until"))
QUICK = Settings(throttle=ThrottlePolicy(window=0, error_window=0, prompt_window=0, batches_per_minute=0, max_pending=100_000))


@pytest.fixture
def directory():
    with short_directory() as place:
        yield secured(place)


def words(first: int, last: int) -> list[Event]:
    return [Event(text=str(number), traffic="user") for number in range(first, last)]


def running(path: Path, body, **options) -> Sent:
    """Run ``body(feeder)`` while the feeder runs; what became of everything."""

    async def main() -> Sent:
        feeder = Feeder(path, **options)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feeder.run)
            await body(feeder)
            tasks.cancel_scope.cancel()
        return feeder.sent

    return anyio.run(main)


def test_everything_is_delivered_once_and_in_order(directory: Path) -> None:
    async def body(feeder: Feeder) -> None:
        for start in range(0, 500, 50):
            feeder.put(words(start, start + 50))
        await feeder.drained()

    with served(directory, settings=QUICK) as dev:
        assert running(dev.path, body) == Sent(accepted=500)
        until(lambda: dev.texts() == [str(number) for number in range(500)], "all of them")


def test_what_was_put_before_the_recipient_came_waits_for_it(directory: Path) -> None:
    async def body(feeder: Feeder) -> None:
        feeder.put([ProcessStarted(scope="web"), *words(0, 3)])
        with anyio.move_on_after(0.3):
            await feeder.drained()
        assert feeder.sent == Sent(waiting=3)
        assert not feeder.connected
        with served(directory, settings=QUICK) as dev:
            await feeder.drained()
            assert feeder.connected
            await to_thread.run_sync(until, lambda: dev.texts() == ["0", "1", "2"])

    assert running(socket_path(directory, "dev"), body) == Sent(accepted=3, facts=1)


def test_it_finds_a_recipient_that_was_started_again(directory: Path) -> None:
    async def body(feeder: Feeder) -> None:
        with served(directory, settings=QUICK):
            feeder.put(words(0, 2))
            await feeder.drained()
        feeder.put(words(2, 4))
        with served(directory, settings=QUICK) as again:
            await feeder.drained()
            await to_thread.run_sync(until, lambda: again.texts() == ["2", "3"])

    assert running(socket_path(directory, "dev"), body) == Sent(accepted=4)


def test_an_answer_that_was_lost_does_not_make_a_person_say_it_twice(directory: Path) -> None:
    """The connection breaks after the line took the batch: the same batch goes again, and is known."""

    async def relay(from_path: Path, to_path: Path) -> None:
        async with await anyio.create_unix_listener(from_path) as listener:
            for nth in range(2):
                async with await listener.accept() as near, await anyio.connect_unix(to_path) as far:
                    while True:
                        await far.send(await near.receive())
                        answer = await far.receive()
                        if nth == 0:
                            break
                        await near.send(answer)

    async def body(feeder: Feeder) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(relay, directory / "relay.sock", dev.path)
            feeder.put(words(0, 3))
            await feeder.drained()
            tasks.cancel_scope.cancel()

    with served(directory, settings=QUICK) as dev:
        assert running(directory / "relay.sock", body) == Sent(accepted=3)
        until(lambda: dev.texts() == ["0", "1", "2"], "three messages")
        assert dev.line.status().fed == 3


def test_a_busy_recipient_is_asked_again_until_it_takes_them(directory: Path) -> None:
    class Full:
        calls = 0

        def __init__(self, line):
            self._line = line

        def __getattr__(self, name):
            return getattr(self._line, name)

        def feed_all(self, items, **how):
            Full.calls += 1
            if Full.calls < 3:
                raise Backpressure("full")
            return self._line.feed_all(items, **how)

    async def body(feeder: Feeder) -> None:
        feeder.put(words(0, 3))
        await feeder.drained()

    with served(directory, settings=QUICK, wrap=Full) as dev:
        assert running(dev.path, body) == Sent(accepted=3)
        until(lambda: dev.texts() == ["0", "1", "2"])
    assert Full.calls == 3


def test_what_the_line_refuses_is_counted_with_the_first_reason(directory: Path) -> None:
    async def body(feeder: Feeder) -> None:
        feeder.put([Event(text="a"), Event(text="b", to="x"), Event(text="c" * 2_000_000), Event(text="d")])
        await feeder.drained()

    with served(directory, settings=QUICK) as dev:
        sent = running(dev.path, body)
        assert (sent.accepted, sent.refused) == (2, 2)
        assert "at most" in sent.refusal
        until(lambda: dev.texts() == ["a", "d"])


def test_over_its_limit_the_least_severe_and_oldest_events_are_left_out(tmp_path: Path) -> None:
    async def body(feeder: Feeder) -> None:
        feeder.put([Event(text="old", severity="info"), Event(text="bad", severity="error"), Event(text="so-so")])
        feeder.put([Event(text="new", severity="info"), *words(0, 2), ProcessExited(scope="web")])
        assert [getattr(item, "text", "fact") for item in feeder._waiting] == ["bad", "0", "1", "fact"]
        assert feeder.sent == Sent(shed=3, waiting=3)

    running(tmp_path / "nobody.sock", body, limit=4)


ITEM = st.builds(
    Event, text=st.just("x"), severity=st.sampled_from(sorted(LEVELS)), traffic=st.sampled_from(["event", "user", "mail"])
)
FACT = st.just(ProcessStarted(scope="web"))


@given(st.lists(st.lists(ITEM | FACT, max_size=20), max_size=10), st.integers(1, 40))
def test_words_and_facts_are_never_left_out_and_the_count_is_right(puts: list[list[wire.Item]], limit: int) -> None:
    async def main() -> None:
        feeder = Feeder(Path("/nobody"), limit=limit)
        given_items: list[wire.Item] = []
        for items in puts:
            feeder.put(items)
            given_items += items
        kept = list(feeder._waiting)
        plain = [item for item in given_items if isinstance(item, Event) and item.traffic == "event"]
        kept_plain = [item for item in kept if isinstance(item, Event) and item.traffic == "event"]
        assert [item for item in kept if item not in plain] == [item for item in given_items if item not in plain]
        assert feeder.sent.shed == len(plain) - len(kept_plain)
        assert len(kept) <= limit or not kept_plain

    anyio.run(main)


def test_whoever_may_wait_for_room_loses_nothing(directory: Path) -> None:
    async def body(feeder: Feeder) -> None:
        await feeder.send([Event(text=f"{number} {'x' * number}") for number in range(300)])
        await feeder.drained()

    with served(directory, settings=QUICK) as dev:
        assert running(dev.path, body, limit=7) == Sent(accepted=300)


def test_lines_are_as_full_as_they_may_be_and_keep_every_items_place() -> None:
    items = [Event(text="x" * size) for size in (10, 300_000, 2_000_000, 10, 10, 250_000, 250_000)]
    refused: list[wire.Unfit] = []
    made = list(batches(packed(items, refused)))
    assert [[one.place for one in batch] for batch in made] == [[0], [1], [3, 4, 5], [6]]
    assert [unfit.index for unfit in refused] == [2]


def test_it_waits_longer_after_each_failure_but_never_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await anyio.lowlevel.checkpoint()

    async def body(feeder: Feeder) -> None:
        monkeypatch.setattr(feeders.anyio, "sleep", sleep)
        feeder.put(words(0, 1))
        while len(waits) < 8:
            await anyio.lowlevel.checkpoint()
        monkeypatch.undo()

    running(tmp_path / "nobody.sock", body)
    assert waits[:7] == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]

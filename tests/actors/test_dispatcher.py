"""The dispatcher's life: it starts once, ends within its grace whatever a sink does, and leaves nothing behind."""

import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pykka
import pytest

from tocsin import Proof, Receipt, Settings, Tocsin
from tocsin.actors.dispatcher import DispatchedActor, Dispatcher
from tocsin.contracts.errors import NotRunning
from tocsin.contracts.hooks import HookEvent
from tocsin.contracts.signals import Paused
from tocsin.pipeline.roster import IntakePolicy


class Clock:
    t = 0

    def now(self) -> int:
        return self.t


class Ticks(DispatchedActor):
    """Due at one moment; remembers when it was ticked."""

    def __init__(self, dispatcher, at: int) -> None:
        super().__init__(dispatcher)
        self.at: int | None = at
        self.ticked = threading.Event()
        self.times: list[int] = []

    def due(self) -> int | None:
        return self.at

    def on_receive(self, message):
        self.times.append(self.dispatcher.clock.now())
        self.at = None
        self.ticked.set()


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    threads, actors = set(threading.enumerate()), len(pykka.ActorRegistry.get_all())
    yield
    for thread in set(threading.enumerate()) - threads:
        thread.join(10)
    assert set(threading.enumerate()) <= threads
    assert len(pykka.ActorRegistry.get_all()) == actors


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """What a stuck function waits for; let go when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def stage_threads() -> int:
    return sum(thread.name == "tocsin-stages" for thread in threading.enumerate())


def test_a_due_actor_is_ticked_when_the_clock_is_moved_and_the_dispatcher_nudged_and_not_before() -> None:
    clock = Clock()
    dispatcher = Dispatcher(clock)
    actor = Ticks.launch(dispatcher, 60_000)
    dispatcher.start()
    actor.actor_ref.ask("a message", timeout=10)
    actor.ticked.clear()
    actor.at, actor.times = 60_000, []
    clock.t = 60_000
    dispatcher.nudge()
    assert actor.ticked.wait(10)
    assert actor.times == [60_000]
    assert dispatcher.stop(10)
    actor.stop()
    pykka.ActorRegistry.unregister(actor.actor_ref)


def test_it_stops_although_somebody_is_due_for_ever() -> None:
    class Restless(Ticks):
        def on_receive(self, message):
            self.ticked.set()

    dispatcher = Dispatcher(Clock())
    actor = Restless.launch(dispatcher, 0)
    dispatcher.start()
    assert actor.ticked.wait(10)
    assert dispatcher.stop(10)
    pykka.ActorRegistry.unregister(actor.actor_ref)


def test_started_twice_it_has_one_thread() -> None:
    line = Tocsin()
    assert line.start() is line.start()
    assert stage_threads() == 1
    assert line.stop().ended


def test_stopped_before_it_was_started_it_has_nothing_to_report_and_stays_stopped() -> None:
    line = Tocsin()
    left = line.stop()
    assert (left.lanes, left.ended) == ((), True)
    with pytest.raises(NotRunning, match="make a new Tocsin"):
        line.start()


def test_stopped_twice_it_says_once_what_was_left() -> None:
    line = Tocsin().start()
    line.open_lane("dev", print)
    line.feed("waits for its batch", to="dev", severity="info")
    assert line.stop().ended
    assert line.stop().lanes == ()


def test_a_stopped_line_takes_nothing_and_is_not_started_again_in_silence() -> None:
    line = Tocsin().start()
    line.stop()
    for use in (
        lambda: line.feed("hello"),
        lambda: line.feed_all([]),
        lambda: line.open_lane("dev", print),
        lambda: line.add_observer("log", print),
        line.start,
    ):
        with pytest.raises(NotRunning):
            use()


def test_a_stopped_line_still_answers_and_delivers_nothing_any_more() -> None:
    class Shelf:
        got = 0

        def put(self, delivery):
            self.got += 1
            return Receipt(proof=Proof.RECORDED)

    clock, shelf = Clock(), Shelf()
    line = Tocsin(clock=clock).start()
    line.open_lane("dev", shelf)
    line.signal(Paused(lane="dev"))
    line.feed("kept back", to="dev", severity="error")
    left = line.stop()
    assert [(lane.name, lane.depth, lane.waits_for) for lane in left.lanes] == [("dev", 1, "lane_paused")]
    clock.t += 3_600_000
    status = line.status()
    assert (status.pending, status.lanes[0].depth, shelf.got) == (1, 1, 0)
    assert line.decisions()[0][-1].verdict == "defer"


def stuck_sinks(released: threading.Event):
    class Sleeps:
        async def deliver(self, delivery):
            await anyio.sleep_forever()

    class Deaf:
        """Goes on although it was told to end, until the test is over."""

        async def deliver(self, delivery):
            while not released.is_set():
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(0.01)  # a sink that takes its time, so that the loop can end its other tasks
            return Receipt(proof=Proof.OFFERED)

    class Blocks:
        """A shelf that breaks its one promise, and blocks the stage thread itself."""

        def put(self, delivery):
            released.wait()
            return Receipt(proof=Proof.OFFERED)

    def function(delivery):
        released.wait()

    async def coroutine(delivery):
        await anyio.sleep_forever()

    return {"sink": Sleeps(), "deaf sink": Deaf(), "shelf": Blocks(), "function": function, "coroutine": coroutine}


@pytest.mark.parametrize("kind", ["sink", "deaf sink", "shelf", "function", "coroutine"])
def test_stop_returns_although_a_sink_never_does_and_says_that_not_all_has_ended(kind: str, released: threading.Event) -> None:
    line = Tocsin().start()
    line.open_lane("stuck", stuck_sinks(released)[kind])
    line.feed("hello", to="stuck", traffic="mail")
    left = line.stop(grace=0.3)
    assert left.ended is False
    if kind != "shelf":  # nobody can ask a stage thread that is stuck
        assert [(lane.name, lane.depth, lane.waits_for) for lane in left.lanes] == [("stuck", 1, "sink")]


def test_a_stuck_observer_does_not_keep_stop_from_returning(released: threading.Event) -> None:
    line = Tocsin().start()
    line.open_lane("dev", lambda delivery: None)
    line.add_observer("stuck", lambda delivery: released.wait())
    line.feed("hello", to="dev", traffic="mail")
    left = line.stop(grace=0.3)
    assert (left.lanes, left.ended) == ((), False)


def test_who_waits_at_the_door_is_told_when_the_line_stops(released: threading.Event) -> None:
    line = Tocsin(Settings(intake=IntakePolicy(limit=1))).start()
    line.open_lane("stuck", stuck_sinks(released)["shelf"])
    line.feed("blocks the stages", to="stuck", traffic="mail", id="1")
    raised: list[str] = []

    def keep_feeding() -> None:
        try:
            for number in range(10):
                line.feed("more", to="stuck", traffic="mail", id=f"more {number}")
        except NotRunning as error:
            raised.append(str(error))

    feeder = threading.Thread(target=keep_feeding)
    feeder.start()
    line.stop(grace=0.2)
    feeder.join(10)
    assert len(raised) == 1
    assert raised[0] in ("the line has been stopped", "the line is not running: call start(), or use it in a with statement")


def test_who_waits_at_the_door_is_told_at_once_and_not_when_the_grace_is_over(released: threading.Event) -> None:
    line = Tocsin(Settings(intake=IntakePolicy(limit=1))).start()
    line.open_lane("stuck", stuck_sinks(released)["shelf"])
    told = threading.Event()

    def keep_feeding() -> None:
        with pytest.raises(NotRunning):
            for number in range(10):
                line.feed("more", to="stuck", traffic="mail", id=f"more {number}")
        told.set()

    feeder = threading.Thread(target=keep_feeding)
    feeder.start()
    stopping = threading.Thread(target=line.stop, args=(60,))
    stopping.start()
    assert told.wait(10), "although the line goes on trying for a minute"
    released.set()
    stopping.join()
    feeder.join()


def test_a_hook_that_waits_at_the_door_does_not_keep_the_line_from_stopping(released: threading.Event) -> None:
    line = Tocsin(Settings(intake=IntakePolicy(limit=1))).start()
    line.open_lane("stuck", stuck_sinks(released)["shelf"])
    line.feed("blocks the stages", to="stuck", traffic="mail")
    raised: list[str] = []

    def keep_telling() -> None:
        try:
            for number in range(10):
                line.observe("stuck", HookEvent(hook_event_name=("UserPromptSubmit", "Stop")[number % 2]))
        except NotRunning as error:
            raised.append(str(error))

    teller = threading.Thread(target=keep_telling)
    teller.start()
    assert line.stop(grace=0.2).ended is False
    teller.join(10)
    assert len(raised) == 1


def test_two_hundred_lines_leave_no_thread_and_no_actor(tmp_path: Path) -> None:
    for number in range(200):
        line = Tocsin(state_dir=tmp_path)
        if number % 4:
            line.start()
            line.open_lane("dev", lambda delivery: None)
            line.feed("hello", to="dev", traffic=("mail", "event")[number % 2])
        assert line.stop().ended

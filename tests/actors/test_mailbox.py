"""The mailbox and the run queue: no message is lost, none is handled twice, each producer's order is kept."""

import sys
import threading

import pykka
import pytest

from tocsin.actors.dispatcher import DispatchedActor, Dispatcher

PRODUCERS, EACH = 8, 3_000


class Clock:
    def now(self) -> int:
        return 0


class Keeps(DispatchedActor):
    def __init__(self, dispatcher) -> None:
        super().__init__(dispatcher)
        self.seen: list = []

    def on_receive(self, message):
        self.seen.append(message)
        return len(self.seen)


class Passes(DispatchedActor):
    def __init__(self, dispatcher, on) -> None:
        super().__init__(dispatcher)
        self.on = on

    def on_receive(self, message):
        self.on.tell(message)


class Lazy(Passes):
    lazy = True


@pytest.fixture
def dispatcher():
    """A running one, on an interpreter that switches threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    running = Dispatcher(Clock())
    running.start()
    yield running
    sys.setswitchinterval(before)
    assert running.stop(5)
    pykka.ActorRegistry.stop_all(block=False)


def produce(references, each: int, *, ask_every: int = 0) -> None:
    def tell(producer: int) -> None:
        reference = references[producer % len(references)]
        for number in range(each):
            if ask_every and number % ask_every == 0:  # the asker waits, so the dispatcher falls asleep in between
                reference.ask((producer, number), timeout=10)
            else:
                reference.tell((producer, number))

    threads = [threading.Thread(target=tell, args=(producer,)) for producer in range(PRODUCERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_order(seen: list, each: int) -> bool:
    return all([n for p, n in seen if p == producer] == list(range(each)) for producer in range(PRODUCERS))


def test_many_producers_tell_one_actor_and_each_message_is_handled_once_in_its_producers_order(dispatcher) -> None:
    actor = Keeps.launch(dispatcher)
    produce([actor.actor_ref], EACH)
    assert actor.actor_ref.ask((0, EACH), timeout=10) == PRODUCERS * EACH + 1
    actor.seen.pop()
    assert in_order(actor.seen, EACH)


def test_no_wake_up_is_lost_when_the_dispatcher_keeps_falling_asleep(dispatcher) -> None:
    actor = Keeps.launch(dispatcher)
    produce([actor.actor_ref], 500, ask_every=1)
    assert in_order(actor.seen, 500)


def test_order_holds_over_a_hop_and_through_a_lazy_actor(dispatcher) -> None:
    end = Keeps.launch(dispatcher)
    hops = [Passes.launch(dispatcher, end.actor_ref).actor_ref, Lazy.launch(dispatcher, end.actor_ref).actor_ref]
    produce(hops, EACH)
    for hop in hops:
        hop.ask((-1, 0), timeout=10)
    end.actor_ref.ask((-1, 1), timeout=10)
    assert in_order(end.seen, EACH)
    assert len(end.seen) == PRODUCERS * EACH + 3


def test_what_a_lazy_actor_brought_in_is_through_before_its_next_message_is_handled() -> None:
    dispatcher = Dispatcher(Clock())
    end = Keeps.launch(dispatcher)
    middle = Passes.launch(dispatcher, end.actor_ref)
    seen_by_the_second = []

    class Brings(DispatchedActor):
        lazy = True

        def on_receive(self, message):
            if message == "look":
                seen_by_the_second.extend(end.seen)
            else:
                middle.actor_ref.tell(message)

    brings = Brings.launch(dispatcher)
    brings.actor_ref.tell("work")
    brings.actor_ref.tell("look")
    dispatcher.run_until_idle()
    assert seen_by_the_second == ["work"]
    pykka.ActorRegistry.stop_all(block=False)


def test_who_asks_a_stopped_actor_is_told_so(dispatcher) -> None:
    actor = Keeps.launch(dispatcher)
    actor.actor_ref.stop()
    with pytest.raises(pykka.ActorDeadError):
        actor.actor_ref.ask("anybody?", timeout=10)
    assert actor.seen == []

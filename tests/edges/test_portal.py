"""The portal: every delivery comes back with one answer, a sink's trouble is its own, and nothing outlives its end."""

import threading
from collections.abc import Iterator
from queue import Queue

import anyio
import anyio.from_thread
import pytest

from tocsin.contracts.deliveries import Proof, Receipt
from tocsin.contracts.errors import NotNow, SinkBusy, SinkGone
from tocsin.edges import portal as portal_room
from tocsin.edges.portal import Portal, in_thread
from tocsin.edges.sinks.call import CallSink
from tocsin.edges.sinks.check import delivery_of

OK = Receipt(proof=Proof.OFFERED)


class Carried:
    """Carries to a function and keeps the answers, in the order in which they come."""

    def __init__(self, portal: Portal) -> None:
        self.portal, self.answers = portal, Queue()

    def to(self, deliver, number: int = 1) -> None:
        class Sink:
            async def deliver(self, delivery):
                return await deliver(delivery)

        self.portal.carry(Sink(), delivery_of("hello", number, "dev"), self.answers.put)

    def answer(self):
        return self.answers.get(timeout=10)


@pytest.fixture
def portal() -> Iterator[Portal]:
    before = set(threading.enumerate())
    portal = Portal()
    yield portal
    assert portal.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before


@pytest.fixture
def carried(portal: Portal) -> Carried:
    return Carried(portal)


async def accepts(delivery):
    return OK


def raises(error: BaseException):
    async def deliver(delivery):
        raise error

    return deliver


def test_a_receipt_comes_back_as_it_is(carried: Carried) -> None:
    carried.to(accepts)
    assert carried.answer() is OK


@pytest.mark.parametrize("error", [SinkBusy("busy"), SinkGone("gone"), NotNow("a draft")])
def test_an_error_of_the_line_comes_back_as_it_is(carried: Carried, error: Exception) -> None:
    carried.to(raises(error))
    assert carried.answer() is error


@pytest.mark.parametrize("error", [ValueError("odd"), KeyError("k"), TimeoutError(), SystemExit(2), KeyboardInterrupt()])
def test_anything_else_is_a_fault_to_try_again_and_the_loop_lives_on(carried: Carried, error: BaseException) -> None:
    carried.to(raises(error))
    answer = carried.answer()
    assert isinstance(answer, SinkBusy)
    assert str(answer) == f"the sink raised {error!r}"
    carried.to(accepts)
    assert carried.answer() is OK


def test_a_function_that_exits_the_program_ends_neither_the_loop_nor_the_other_lanes(carried: Carried) -> None:
    def leaves(delivery):
        raise SystemExit("bye")

    carried.to(CallSink(leaves).deliver)
    assert isinstance(carried.answer(), SinkBusy)
    carried.to(CallSink(lambda delivery: OK).deliver)
    assert carried.answer() is OK


def test_a_deliver_that_is_no_coroutine_function_is_called_once_and_named(portal: Portal) -> None:
    calls, answers = [], Queue()

    class Plain:
        def deliver(self, delivery):
            calls.append(delivery)
            return OK

    portal.carry(Plain(), delivery_of("hello", 1, "dev"), answers.put)
    answer = answers.get(timeout=10)
    assert isinstance(answer, SinkGone)
    assert str(answer).startswith("Plain.deliver must be a coroutine function")
    assert len(calls) == 1


def test_a_slow_sink_keeps_no_other_waiting(carried: Carried) -> None:
    release = threading.Event()

    async def slow(delivery):
        await anyio.to_thread.run_sync(release.wait)
        return Receipt(proof=Proof.SEEN)

    carried.to(slow)
    carried.to(accepts)
    assert carried.answer() is OK
    release.set()
    assert carried.answer().proof is Proof.SEEN


def test_more_blocked_functions_than_there_are_threads_keep_no_other_waiting(carried: Carried, monkeypatch) -> None:
    monkeypatch.setattr(portal_room, "SLOW_AFTER", 0.02)
    release, blocked = threading.Event(), 100

    async def blocks(delivery):
        return await in_thread(lambda: release.wait() and OK)

    for _ in range(blocked):
        carried.to(blocks)
    carried.to(CallSink(lambda delivery: Receipt(proof=Proof.SEEN)).deliver)
    assert carried.answer().proof is Proof.SEEN
    release.set()
    assert [carried.answer() for _ in range(blocked)] == [OK] * blocked


def test_threads_that_were_lent_are_given_back(monkeypatch) -> None:
    monkeypatch.setattr(portal_room, "SLOW_AFTER", 0.0)

    async def main() -> tuple[float, float]:
        limiter = anyio.to_thread.current_default_thread_limiter()
        before, release = limiter.total_tokens, threading.Event()
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(in_thread, release.wait)
            while limiter.total_tokens < before + 5:
                await anyio.lowlevel.checkpoint()
            release.set()
        return before, limiter.total_tokens

    before, after = anyio.run(main)
    assert before == after


def test_what_a_call_in_a_thread_answers_and_raises_comes_out_as_it_is() -> None:
    def fails(words: str) -> None:
        raise LookupError(words)

    assert anyio.run(in_thread, divmod, 7, 2) == (3, 1)
    with pytest.raises(LookupError, match="odd"):
        anyio.run(in_thread, fails, "odd")


def test_a_cancelled_call_is_waited_for_unless_it_is_abandoned() -> None:
    release, done = threading.Event(), []

    def call() -> None:
        release.wait()
        done.append(True)

    async def cancelled(abandon: bool) -> list[bool]:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: in_thread(call, abandon=abandon))
            await anyio.wait_all_tasks_blocked()
            if not abandon:
                threading.Timer(0.05, release.set).start()
            group.cancel_scope.cancel()
        return done[:]

    assert anyio.run(cancelled, False) == [True]
    release.clear()
    assert anyio.run(cancelled, True) == [True], "the second call was left behind, not waited for"
    release.set()


def test_nothing_runs_before_the_first_delivery() -> None:
    before = threading.active_count()
    portal = Portal()
    assert threading.active_count() == before
    assert portal.close()


def test_at_its_end_what_still_runs_is_cancelled_and_said_to_be_gone(portal: Portal, carried: Carried) -> None:
    entered = threading.Event()

    async def for_ever(delivery):
        entered.set()
        await anyio.sleep_forever()

    carried.to(for_ever)
    entered.wait()
    assert portal.close()
    answer = carried.answer()
    assert isinstance(answer, SinkGone)
    assert str(answer) == "the delivery was cancelled"


def test_after_its_end_everything_is_said_to_be_gone_and_no_new_loop_is_started(portal: Portal, carried: Carried) -> None:
    carried.to(accepts)
    assert carried.answer() is OK
    assert portal.close()
    assert portal.close(), "twice is harmless"
    before = threading.active_count()
    carried.to(accepts)
    assert isinstance(carried.answer(), SinkGone)
    assert threading.active_count() == before


def test_close_returns_although_a_sink_will_not_end(carried: Carried, portal: Portal) -> None:
    entered, release = threading.Event(), threading.Event()

    async def deaf(delivery):
        with anyio.CancelScope(shield=True):
            entered.set()
            while not release.is_set():
                await anyio.lowlevel.checkpoint()
        return OK

    carried.to(deaf)
    entered.wait()
    assert portal.close(grace=0.05) is False
    release.set()


def test_a_lent_loop_is_used_and_is_not_ended() -> None:
    with anyio.from_thread.start_blocking_portal() as lent:
        portal = Portal(lent)
        carried, threads = Carried(portal), []

        async def where(delivery):
            threads.append(threading.current_thread())
            return OK

        carried.to(where)
        assert carried.answer() is OK
        assert portal.close()
        assert lent.call(threading.current_thread) is threads[0]


def test_a_lent_loop_that_has_ended_says_so() -> None:
    with anyio.from_thread.start_blocking_portal() as lent:
        carried = Carried(Portal(lent))
    carried.to(accepts)
    answer = carried.answer()
    assert isinstance(answer, SinkGone)
    assert str(answer).startswith("nothing can be delivered any more")

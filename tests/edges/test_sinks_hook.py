"""Blocks handed over by hooks: each once, never also typed, and never lost, whoever comes first."""

import random
import threading
import time
from collections.abc import Callable

import anyio
import msgspec
import pytest

from tocsin import NotNow, SinkGone
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.hooks import HookEvent
from tocsin.edges.sinks.agent import AgentSink, wake_line
from tocsin.edges.sinks.check import check_sink, delivery_of
from tocsin.edges.sinks.hook import LONGEST, HookSink

PROMPT = HookEvent(hook_event_name="UserPromptSubmit")
TOOL = HookEvent(hook_event_name="PostToolUse")
SOON, LATE = 0.15, 30.0
BLOCK = delivery_of("[tocsin] web: 1 error", 1, "dev")


class Typed:
    """A terminal's sink and its waker, and what they were told to type."""

    def __init__(self, on_wake: Callable[[], object] = lambda: None, refusal: Exception | None = None) -> None:
        self.blocks: list[str] = []
        self.wakes: list[str] = []
        self._on_wake, self._refusal = on_wake, refusal

    async def deliver(self, delivery: Delivery) -> Receipt:
        self.blocks.append(delivery.text)
        return Receipt(proof=Proof.SUBMITTED)

    async def wake(self, line: str) -> None:
        if self._refusal:
            raise self._refusal
        self.wakes.append(line)
        self._on_wake()


def call(hook: HookSink, event: HookEvent = PROMPT) -> str:
    """An agent's hook: what it was given, and said to have handed over."""
    context, delivery = hook.take(event)
    if context:
        hook.handed(delivery)
    return context


def deliver(sink: object, delivery: Delivery = BLOCK) -> Receipt:
    return anyio.run(sink.deliver, delivery)


class Heard(HookSink):
    """One whose hooks have called before."""

    def __init__(self, patience: float = LATE, handed_within: float = LATE) -> None:
        super().__init__(patience, handed_within)
        self.take(HookEvent(hook_event_name="SessionStart"))


class Attended:
    """A hook sink of an agent whose hook calls all the time."""

    def __init__(self) -> None:
        self.hook, self.got = HookSink(), []

    async def deliver(self, delivery: Delivery) -> Receipt:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._call)
            receipt = await self.hook.deliver(delivery)
            tasks.cancel_scope.cancel()
        return receipt

    async def _call(self) -> None:
        while True:
            await anyio.lowlevel.checkpoint()
            if context := call(self.hook):
                self.got.append(context)


def test_the_hook_sink_keeps_the_promises_of_every_sink() -> None:
    check_sink(Attended, read=lambda sink: sink.got)


def test_the_answered_call_is_the_proof_that_it_was_seen() -> None:
    hook = HookSink()
    threading.Timer(0.05, call, (hook, TOOL)).start()
    assert deliver(hook) == Receipt(proof=Proof.SEEN, note="PostToolUse hook")


def test_nothing_is_claimed_before_the_call_says_that_it_printed_it() -> None:
    hook = HookSink(patience=SOON, handed_within=SOON)
    taken = []
    threading.Timer(0.02, lambda: taken.append(hook.take(PROMPT))).start()
    with pytest.raises(NotNow):
        deliver(hook)
    assert taken == [(BLOCK.text, BLOCK.id)]


def test_what_a_call_that_was_cut_off_took_is_given_to_the_next_one() -> None:
    hook = HookSink(handed_within=0.05)
    got: list[str] = []

    def two_calls() -> None:
        got.append(hook.take(PROMPT)[0])  # killed before it printed anything
        while not (context := call(hook, TOOL)):
            time.sleep(0.005)  # nothing to wait on: the sink looks at the time by itself
        got.append(context)

    thread = threading.Thread(target=two_calls)

    async def run() -> Receipt:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, thread.start)
            return await hook.deliver(BLOCK)

    assert anyio.run(run).note == "PostToolUse hook"
    thread.join()
    assert got == [BLOCK.text, BLOCK.text]


def test_withdrawn_it_can_t_be_taken_any_more() -> None:
    hook = HookSink(patience=0.0)
    with pytest.raises(NotNow):
        deliver(hook)
    assert hook.take(PROMPT) == ("", "")


def test_of_two_calls_only_the_first_is_given_the_block() -> None:
    hook = HookSink()
    with hook.offering(BLOCK):
        assert [hook.take(PROMPT), hook.take(TOOL)] == [(BLOCK.text, BLOCK.id), ("", "")]


def test_no_call_comes_between_the_end_of_the_time_and_the_answer() -> None:
    hook = HookSink()
    with hook.offering(BLOCK) as offer:
        assert anyio.run(hook.seen, offer, 0.0) is None
        assert hook.take(PROMPT) == ("", "")


def test_what_is_still_offered_when_the_program_ends_can_t_be_taken() -> None:
    hook = HookSink()
    with hook.offering(BLOCK):
        hook.close()
        assert hook.take(PROMPT) == ("", "")


def test_a_word_of_a_call_that_was_never_given_it_proves_nothing() -> None:
    hook = HookSink(patience=0.0)
    with hook.offering(BLOCK) as offer:
        hook.handed(BLOCK.id)
        assert anyio.run(hook.seen, offer) is None


def test_at_the_end_of_the_program_nothing_is_given_and_the_sink_is_gone() -> None:
    hook = HookSink()
    threading.Timer(0.05, hook.close).start()
    with pytest.raises(SinkGone):
        deliver(hook)
    assert hook.take(PROMPT) == ("", "")


def test_a_context_is_never_longer_than_an_agent_takes() -> None:
    hook = HookSink(patience=SOON)
    got: list[str] = []
    threading.Timer(0.02, lambda: got.append(call(hook))).start()
    deliver(hook, delivery_of("x" * (LONGEST + 1), 1, "dev"))
    assert len(got[0]) == LONGEST
    assert got[0].endswith("x\n[cut here: a hook carries no more]")


def test_until_a_hook_is_heard_blocks_are_typed() -> None:
    typed = Typed()
    assert deliver(AgentSink(typed, typed.wake, HookSink())).proof is Proof.SUBMITTED
    assert (typed.blocks, typed.wakes) == ([BLOCK.text], [])


def test_then_one_short_line_wakes_the_agent_and_its_hook_takes_the_block() -> None:
    hook = Heard()
    typed = Typed(on_wake=lambda: call(hook))
    receipt = deliver(AgentSink(typed, typed.wake, hook))
    assert receipt == Receipt(proof=Proof.SEEN, note="UserPromptSubmit hook")
    assert (typed.blocks, typed.wakes) == ([], ["tocsin: 1 notice (1 error)"])


def test_woken_in_vain_it_is_withdrawn_and_then_typed() -> None:
    hook, typed = Heard(patience=0.0), Typed()
    sink = AgentSink(typed, typed.wake, hook)
    with pytest.raises(NotNow):
        deliver(sink)
    assert call(hook, TOOL) == ""
    assert deliver(sink).proof is Proof.SUBMITTED
    assert (typed.blocks, len(typed.wakes)) == ([BLOCK.text], 1)


def test_a_wake_is_tried_again_once_the_prompts_own_hook_calls() -> None:
    hook = Heard(patience=0.0)
    typed = Typed()
    with pytest.raises(NotNow):
        deliver(AgentSink(typed, typed.wake, hook))
    call(hook, TOOL)
    assert not hook.hears
    call(hook, PROMPT)
    assert hook.hears


def test_after_the_sessions_end_blocks_are_typed_again() -> None:
    hook, typed = Heard(), Typed()
    hook.hear(HookEvent(hook_event_name="SessionEnd"))
    deliver(AgentSink(typed, typed.wake, hook))
    assert (typed.blocks, typed.wakes) == ([BLOCK.text], [])


def test_a_refused_wake_is_not_now_and_nothing_is_left_to_take() -> None:
    hook, typed = Heard(), Typed(refusal=NotNow("a menu is open"))
    with pytest.raises(NotNow, match="a menu is open"):
        deliver(AgentSink(typed, typed.wake, hook))
    assert (call(hook), typed.blocks) == ("", [])


def test_a_hook_that_came_while_the_wake_was_refused_has_it() -> None:
    hook = Heard()

    class Refusing(Typed):
        async def wake(self, line: str) -> None:
            call(hook, TOOL)
            raise NotNow("a line is typed and not sent")

    typed = Refusing()
    assert deliver(AgentSink(typed, typed.wake, hook)).proof is Proof.SEEN


def test_by_hook_alone_a_block_is_never_typed_and_the_agent_is_woken_in_vain_but_once() -> None:
    hook, typed = HookSink(patience=0.0), Typed()
    sink = AgentSink(typed, typed.wake, hook, via="hook")
    for _ in range(3):
        with pytest.raises(NotNow):
            deliver(sink)
    assert (typed.blocks, len(typed.wakes)) == ([], 1)


def test_by_terminal_alone_nothing_is_offered() -> None:
    hook, typed = Heard(), Typed()
    deliver(AgentSink(typed, typed.wake, hook, via="terminal"))
    assert (typed.blocks, typed.wakes) == ([BLOCK.text], [])


@pytest.mark.parametrize(
    ("kinds", "line"),
    [
        ("e", "tocsin: 1 notice (1 error)"),
        ("ee", "tocsin: 2 notices (2 errors)"),
        ("cwi", "tocsin: 3 notices (1 critical error, 1 warning)"),
        ("i", "tocsin: 1 notice"),
        ("um", "tocsin: 2 messages"),
        ("eu", "tocsin: 1 notice (1 error), 1 message"),
        ("", "tocsin: news"),
    ],
)
def test_the_line_that_wakes_says_how_much_and_how_bad_and_no_more(kinds: str, line: str) -> None:
    severities = {"c": "critical", "e": "error", "w": "warning"}
    traffic = {"u": "user", "m": "mail"}
    entries = tuple(
        msgspec.structs.replace(BLOCK.entries[0], severity=severities.get(kind, "info"), traffic=traffic.get(kind, "event"))
        for kind in kinds
    )
    assert wake_line(msgspec.structs.replace(BLOCK, entries=entries)) == line


class Race:
    """A seeded agent: hooks call from threads at any time, some are cut off, wakes are refused, and it may end."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.hook = HookSink(patience=self.chance.choice([0.01, 0.05]), handed_within=0.2)
        self.handed: list[str] = []
        self.typed = Typed()
        self.sink = AgentSink(self.typed, self.wake, self.hook, via=self.chance.choice(["auto", "auto", "hook"]))
        self.over = threading.Event()
        self.seen: list[str] = []

    def calls(self, chance: random.Random) -> None:
        while not self.over.is_set():
            context, delivery = self.hook.take(chance.choice([PROMPT, TOOL]))
            if context and chance.random() < 0.1:
                pass  # killed before it printed
            elif context:
                self.handed.append(context)
                self.hook.handed(delivery)
            self.over.wait(chance.random() * 0.02)

    async def wake(self, line: str) -> None:
        await anyio.sleep(self.chance.random() * 0.01)
        if self.chance.random() < 0.3:
            raise NotNow("a draft")

    async def deliver_all(self, number: int) -> None:
        for nth in range(number):
            delivery = delivery_of(f"block {nth}", nth, "dev")
            while True:
                try:
                    receipt = await self.sink.deliver(delivery)
                except NotNow:
                    continue
                except SinkGone:
                    return
                if receipt.proof is Proof.SEEN:
                    self.seen.append(delivery.text)
                break
            if self.chance.random() < 0.02:
                self.hook.close()


@pytest.mark.parametrize("seed", range(30))
def test_nothing_is_told_twice_or_lost_when_hooks_wakes_and_the_end_race(seed: int) -> None:
    race = Race(seed)
    threads = [threading.Thread(target=race.calls, args=(random.Random(f"{seed}-{nth}"),)) for nth in range(2)]
    for thread in threads:
        thread.start()
    try:
        anyio.run(race.deliver_all, 12)
    finally:
        race.over.set()
        for thread in threads:
            thread.join()
    told = race.handed + race.typed.blocks
    assert len(told) == len(set(told))
    assert set(race.seen) <= set(race.handed)
    if not race.hook._closed:
        assert set(told) == {f"block {nth}" for nth in range(12)}

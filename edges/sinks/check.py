"""Check: the promises that every sink keeps, as one function that a sink of yours can run in its own tests."""

from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Final

import anyio
import anyio.lowlevel
import msgspec

from ...contracts.base import Instant
from ...contracts.deliveries import Delivery, Entry, Proof, Receipt
from ...contracts.errors import SinkBusy, TocsinError
from ...contracts.ports import Shelf, Sink

Made = Sink | Shelf
Read = Callable[[Made], Sequence[str]]
Deliver = Callable[[str, int, str], Delivery]

TEXTS: Final = (
    "one line",
    "[tocsin d-1] web: 1 error\n- error process_output (id d-1)\n  | TypeError: x is undefined\n  |     at cart.ts",
    "naïve café, 日本語, עברית, e\u0301, 🛒, 👩\u200d👩\u200d👧\u200d👦, 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "  spaces at both ends, \"quotes\", 'more', $HOME, `id`, %s, \\n, a\ttab  ",
    "€" * 10_000,
)
"""A line, a block, other scripts with emoji, what a shell or a format string would spoil, and the longest text there is."""
LANES: Final = 4
EACH: Final = 5
CANCELLED_AFTER: Final = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55)
"""How many turns of the event loop a delivery is given before it is cancelled."""


def check_sink(
    make: Callable[[], Made],
    *,
    read: Read | None = None,
    repeats_are_harmless: bool = False,
    jam: Callable[[Made], Callable[[], object]] | None = None,
    deliver: Deliver | None = None,
) -> None:
    """Raise an ``AssertionError`` that names the promise, if the sinks that ``make`` makes break one.

    ``make`` answers with a fresh sink at each call. ``read`` tells what a sink's recipient has got by now, as texts, oldest
    first; without it only the sink's answers can be checked. ``repeats_are_harmless`` if the sink says that it takes an id in
    only once. ``jam`` makes a sink busy, so that it must raise ``SinkBusy``, and answers with what frees it again.
    ``deliver`` makes a delivery of a text, a number and a lane, for a sink that needs a special one.
    """
    trial = _Trial(make, read, deliver or delivery_of)
    anyio.run(trial.answers_with_a_receipt)
    anyio.run(trial.writes_every_text_whole)
    anyio.run(trial.takes_a_second_attempt)
    anyio.run(trial.keeps_lanes_apart)
    if iscoroutinefunction(getattr(make(), "deliver", None)):
        anyio.run(trial.leaves_nothing_half_written)
    if repeats_are_harmless:
        anyio.run(trial.takes_a_repeated_id_once)
    if jam is not None:
        anyio.run(trial.works_again_after_it_was_busy, jam)


def delivery_of(text: str, number: int, lane: str) -> Delivery:
    """A delivery of one entry, as the line makes them."""
    entry = Entry(
        id=f"check-{number}",
        fingerprint=f"{number:040x}",
        traffic="event",
        severity="error",
        source="process_output",
        scope="check",
        text=text,
        count=1,
        first_at=Instant(1_700_000_000_000),
        last_at=Instant(1_700_000_000_000),
    )
    return Delivery(id=f"{lane}-d{number}", lane=lane, at=Instant(1_700_000_000_000), text=text, entries=(entry,))


class _Trial:
    """One method a promise, each on a fresh sink."""

    def __init__(self, make: Callable[[], Made], read: Read | None, deliver: Deliver) -> None:
        self._make, self._read, self._deliver = make, read, deliver

    async def answers_with_a_receipt(self) -> None:
        sink = self._make()
        is_sink, is_shelf = isinstance(sink, Sink), isinstance(sink, Shelf)
        _promise(is_sink or is_shelf, f"a sink has deliver() or put(), {type(sink).__name__} has neither")
        _promise(is_sink != is_shelf, f"a sink has deliver() or put(), {type(sink).__name__} has both: which is to be called?")
        await self._give(sink, self._deliver("a receipt, please", 1, "check"))

    async def writes_every_text_whole(self) -> None:
        sink = self._make()
        for number, text in enumerate(TEXTS):
            await self._give(sink, self._deliver(text, number, "check"))
            got = self._got(sink)
            if got is not None:
                _promise(len(got) == number + 1, f"one delivery is one record: after {number + 1} there are {len(got)}")
                _promise(got[-1] == text, f"a text is written as it is: {text[:60]!r}… came out as {got[-1][:60]!r}…")

    async def takes_a_second_attempt(self) -> None:
        """The first one may have been lost on its way back, so the sink may see the id for the first time."""
        sink = self._make()
        await self._give(sink, msgspec.structs.replace(self._deliver("again", 1, "check"), attempt=2))
        got = self._got(sink)
        _promise(got in (None, ["again"]), f"an attempt above the first is written like any other, but {got!r} is there")

    async def takes_a_repeated_id_once(self) -> None:
        sink = self._make()
        for attempt in (1, 2, 3):
            await self._give(sink, msgspec.structs.replace(self._deliver("once", 1, "check"), attempt=attempt))
        got = self._got(sink)
        _promise(got in (None, ["once"]), f"a repeated id is harmless, but the recipient got {got!r}")

    async def keeps_lanes_apart(self) -> None:
        """Calls for one lane never overlap; calls for several do."""
        sink = self._make()

        async def one_lane(lane: int) -> None:
            for number in range(EACH):
                await self._give(sink, self._deliver(_lane_text(lane, number), lane * EACH + number, f"lane-{lane}"))

        await _together([lambda lane=lane: one_lane(lane) for lane in range(LANES)])  # type: ignore[misc]
        got = self._got(sink)
        if got is None:
            return
        expected = [_lane_text(lane, number) for lane in range(LANES) for number in range(EACH)]
        odd = list((Counter(got) - Counter(expected)).elements())
        _promise(not odd, f"lanes do not mix, but the recipient got {[text[:60] for text in odd]!r}")
        _promise(len(got) == len(expected), f"every lane is written, but {len(expected) - len(got)} deliveries are missing")
        for lane in range(LANES):
            mine = [text for text in got if text.startswith(f"lane {lane}:")]
            _promise(mine == sorted(mine), f"a lane keeps its order, but lane {lane} got {[text[:12] for text in mine]!r}")

    async def leaves_nothing_half_written(self) -> None:
        sink = self._make()
        texts = {f"{turns} turns\n" + "€" * 9_000 for turns in CANCELLED_AFTER}
        for number, text in enumerate(sorted(texts)):
            await self._cancel(sink, self._deliver(text, number, "check"), CANCELLED_AFTER[number])
        await self._give(sink, self._deliver("still here", len(texts), "check"))
        got = self._got(sink)
        if got is not None:
            half = [text for text in got if text not in texts | {"still here"}]
            _promise(not half, f"a cancelled delivery leaves no half record, but there is {[text[:60] for text in half]!r}")
            _promise("still here" in got, "a sink works on after a delivery was cancelled, but the next one is missing")

    async def works_again_after_it_was_busy(self, jam: Callable[[Made], Callable[[], object]]) -> None:
        sink = self._make()
        await self._give(sink, self._deliver("before", 1, "check"))
        free = jam(sink)
        second = self._deliver("second", 2, "check")
        try:
            await _call(sink, second)
        except SinkBusy:
            pass
        else:
            raise AssertionError("a sink that is busy raises SinkBusy, but it answered")
        freed = free()
        if isawaitable(freed):
            await freed
        await self._give(sink, msgspec.structs.replace(second, attempt=2))
        got = self._got(sink)
        _promise(got is None or got[-1:] == ["second"], f"after SinkBusy it takes the next attempt, but {got!r} is there")
        _promise(got is None or got.count("second") == 1, "what raised SinkBusy was not written, but it is there twice")

    async def _give(self, sink: Made, delivery: Delivery) -> None:
        try:
            receipt = await _call(sink, delivery)
        except TocsinError as error:
            raise AssertionError(f"a sink that is free accepts a delivery, but it raised {error!r}") from error
        _promise(isinstance(receipt, Receipt), f"a sink answers with a Receipt, not with {receipt!r}")
        proof = receipt.proof if isinstance(receipt, Receipt) else None
        _promise(isinstance(proof, Proof), f"a receipt claims one of {[str(one) for one in Proof]}, not {proof!r}")

    async def _cancel(self, sink: Made, delivery: Delivery, turns: int) -> None:
        """What it raises instead of ending is no matter: the caller has turned away."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_call, sink, delivery)
                for _ in range(turns):
                    await anyio.lowlevel.checkpoint()
                group.cancel_scope.cancel()
        except* TocsinError:
            pass  # as good as not written

    def _got(self, sink: Made) -> list[str] | None:
        return None if self._read is None else list(self._read(sink))


def _promise(kept: bool, words: str) -> None:
    if not kept:
        raise AssertionError(words)


def _lane_text(lane: int, number: int) -> str:
    return f"lane {lane}: {number}\n" + f"{lane}{number}" * 2_000


async def _call(sink: Made, delivery: Delivery) -> object:
    if isinstance(sink, Shelf):
        return sink.put(delivery)
    answer = sink.deliver(delivery)
    _promise(isawaitable(answer), f"deliver() is a coroutine function, but it answered {answer!r} at once")
    return await answer


async def _together(calls: Sequence[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    """Run them at once; the first thing that goes wrong comes out as it is."""
    try:
        async with anyio.create_task_group() as group:
            for call in calls:
                group.start_soon(call)
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None

"""Check: a sink that breaks a promise is caught, and the promise is named."""

from collections.abc import Callable

import anyio
import msgspec
import pytest

from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.errors import SinkBusy
from tocsin.edges.sinks.check import check_sink, delivery_of

OK = Receipt(proof=Proof.OFFERED)


def given(text: str = "hello", number: int = 1, lane: str = "dev", **fields: object) -> Delivery:
    return msgspec.structs.replace(delivery_of(text, number, lane), **fields)


def deliver(sink, delivery: Delivery) -> Receipt:
    return anyio.run(sink.deliver, delivery)


class Good:
    """The pattern that the broken ones are cut from."""

    def __init__(self) -> None:
        self.got: list[str] = []
        self.ids: set[str] = set()
        self.busy = False

    async def deliver(self, delivery: Delivery) -> Receipt:
        await anyio.lowlevel.checkpoint()
        if self.busy:
            raise SinkBusy("later")
        if delivery.id not in self.ids:
            self.ids.add(delivery.id)
            self.got.append(delivery.text)
        return OK


def jam_good(sink: Good) -> Callable[[], object]:
    sink.busy = True

    async def free() -> None:
        sink.busy = False

    return free


def check(kind: type) -> None:
    check_sink(kind, read=lambda sink: sink.got, repeats_are_harmless=True, jam=jam_good)


def test_a_good_sink_passes() -> None:
    check(Good)


class Neither:
    got: list[str] = []


class Both(Good):
    def put(self, delivery: Delivery) -> Receipt:
        return OK


class NoReceipt(Good):
    async def deliver(self, delivery: Delivery):
        await super().deliver(delivery)


class ClaimsTooMuch(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        await super().deliver(delivery)
        return Receipt(proof="read and understood")


class AnswersAtOnce(Good):
    def deliver(self, delivery: Delivery):
        self.got.append(delivery.text)
        return OK


class AlwaysBusy(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        raise SinkBusy("never")


class OnlyAscii(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        text = delivery.text.encode("ascii", "replace").decode()
        return await super().deliver(msgspec.structs.replace(delivery, text=text))


class Strips(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        return await super().deliver(msgspec.structs.replace(delivery, text=delivery.text.strip()))


class CutsAt(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        return await super().deliver(msgspec.structs.replace(delivery, text=delivery.text[:8_191]))


class LineByLine(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        self.got += delivery.text.split("\n")
        return OK


class OnlyFirstAttempts(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        return await super().deliver(delivery) if delivery.attempt == 1 else OK


class TellsTwice(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        self.ids.clear()
        return await super().deliver(delivery)


class OneBuffer(Good):
    """Gathers a text in a place that all lanes share."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = ""

    async def deliver(self, delivery: Delivery) -> Receipt:
        self.buffer = ""
        for half in (delivery.text[:50], delivery.text[50:]):
            self.buffer += half
            await anyio.lowlevel.checkpoint()
        return await super().deliver(msgspec.structs.replace(delivery, text=self.buffer))


class Overtakes(Good):
    """Accepts at once and writes later, so that a lane's second text may come first."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[str] = []

    async def deliver(self, delivery: Delivery) -> Receipt:
        if "lane 2: 0" in delivery.text:
            self.late.append(delivery.text)
            return OK
        answer = await super().deliver(delivery)
        self.got += self.late if "lane 2" in delivery.text else []
        self.late = [] if "lane 2" in delivery.text else self.late
        return answer


class ForgetsALane(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        return OK if delivery.lane == "lane-3" else await super().deliver(delivery)


class LeavesHalf(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        if delivery.id in self.ids:
            return await super().deliver(delivery)
        self.ids.add(delivery.id)
        self.got.append(delivery.text[:50])
        place = len(self.got) - 1
        await anyio.lowlevel.checkpoint()
        self.got[place] = delivery.text
        return OK


class DiesOfCancellation(Good):
    dead = False

    async def deliver(self, delivery: Delivery) -> Receipt:
        try:
            return OK if self.dead else await super().deliver(delivery)
        except anyio.get_cancelled_exc_class():
            self.dead = True
            raise


class SaysYesWhileBusy(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        try:
            return await super().deliver(delivery)
        except SinkBusy:
            return OK


class NeverRecovers(Good):
    broken = False

    async def deliver(self, delivery: Delivery) -> Receipt:
        self.broken = self.broken or self.busy
        if self.broken:
            raise SinkBusy("still")
        return await super().deliver(delivery)


class WritesAndSaysBusy(Good):
    async def deliver(self, delivery: Delivery) -> Receipt:
        if self.busy:
            self.got.append(delivery.text)
        return await super().deliver(delivery)


BROKEN = {
    Neither: r"has deliver\(\) or put\(\), Neither has neither",
    Both: r"Both has both",
    NoReceipt: "answers with a Receipt, not with None",
    ClaimsTooMuch: "not 'read and understood'",
    AnswersAtOnce: r"deliver\(\) is a coroutine function",
    AlwaysBusy: r"a sink that is free accepts a delivery, but it raised SinkBusy\('never'\)",
    OnlyAscii: "a text is written as it is: 'naïve",
    Strips: "a text is written as it is: '  spaces",
    CutsAt: "a text is written as it is: '€€€",
    LineByLine: "one delivery is one record",
    OnlyFirstAttempts: "an attempt above the first",
    TellsTwice: r"a repeated id is harmless, but the recipient got \['once', 'once', 'once'\]",
    OneBuffer: "lanes do not mix",
    Overtakes: "a lane keeps its order, but lane 2",
    ForgetsALane: "5 deliveries are missing",
    LeavesHalf: "a cancelled delivery leaves no half record",
    DiesOfCancellation: "works on after a delivery was cancelled",
    SaysYesWhileBusy: "a sink that is busy raises SinkBusy",
    NeverRecovers: r"a sink that is free accepts a delivery, but it raised SinkBusy\('still'\)",
    WritesAndSaysBusy: "was not written, but it is there twice",
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_promise_is_named(kind: type) -> None:
    with pytest.raises(AssertionError, match=BROKEN[kind]):
        check(kind)


def test_without_a_reader_at_least_the_answers_are_checked() -> None:
    check_sink(Strips)
    with pytest.raises(AssertionError, match="not with None"):
        check_sink(NoReceipt)

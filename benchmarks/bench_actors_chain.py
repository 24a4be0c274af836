"""The same seven stages as an ordinary pykka chain: a thread for each actor, one message for each event and hop.

Method: each stage is wrapped in a stock ``pykka.ThreadingActor`` with its stock mailbox. An event is told to the first;
what a stage puts out is told to the next one piece by piece, what the table has to know is told back, and every ruling
is told to an actor that counts. So both competitors take the same decisions with the same stages; only the way in which
they are moved differs. The chain gets fewer events than the line, because it is slow and its mailboxes have no bound;
both costs are per event. The chain is measured until every mailbox is empty, the line until all is decided, on the same
texts.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import pykka
from figures import Row, at_least, median, parser, report, told
from line import LineUnderTest, SkippingClock, timed
from work import Shape, events, lists, texts

from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Proof, Receipt
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.contracts.moves import Dropped, Kept, Lost, Missed, Settled, Told
from tocsin.contracts.notices import Proposal
from tocsin.contracts.verdicts import Ruling
from tocsin.pipeline.fanout import Delivered, Send
from tocsin.pipeline.roster import ROSTER, Settings
from tocsin.pipeline.step import Step

GOALS: Final[dict[Shape, float]] = {"equal": 30, "varied": 12, "distinct": 6}
Ref = pykka.ActorRef[Any]


class Counting(pykka.ThreadingActor):
    """Counts decisions, as the recorder does."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[tuple[str, str, str]] = Counter()

    def on_receive(self, message: Any) -> Any:
        if not isinstance(message, Ruling):
            return sum(self.counts[key] for key in self.counts if key[0] == "classify")
        self.counts[message.stage, message.verdict, message.reason] += len(message.notices)
        return None


class Hop(pykka.ThreadingActor):
    """One stage; tells the next, the recorder, and back to the table and to dedup."""

    def __init__(self, stage: Any, clock: SkippingClock, recorder: Ref) -> None:
        super().__init__()
        self.stage, self.clock, self.recorder = stage, clock, recorder
        self.next: Ref | None = None
        self.back: Ref | None = None

    def on_receive(self, message: Any) -> Any:
        if message == "ready?":
            return True
        if isinstance(message, tuple):  # told once, before the first event
            self.next, self.back = message
            return None
        now, step = self.clock.now(), Step[Any]()
        self._take(message, now, step)
        due = self.stage.due()
        if due is not None and due <= now:
            self.stage.tick(now, step)
        for ruling in step.rulings:
            self.recorder.tell(ruling)
        for out in step.out:
            self._tell(out, now)
        return None

    def _take(self, message: Any, now: Instant, step: Step[Any]) -> None:
        match message:
            case Kept():
                self.stage.kept(message, now, step)
            case Dropped():
                self.stage.dropped(message, now, step)
            case Settled():
                self.stage.settled(message, now, step)
            case Told():
                self.stage.told(message.lane, message.told, now)
            case Missed():
                self.stage.missed(message.lane, message.missed)
            case Lost():
                self.stage.lost(message.lane, message.fingerprints)
            case _:
                self.stage.offer(iter((message,)), now, step)

    def _tell(self, out: Any, now: Instant) -> None:
        match out:
            case Told() | Missed() | Lost() | Kept() | Dropped() | Settled():
                assert self.back is not None
                self.back.tell(out)
            case Send():  # the recipient takes it at once
                step = Step[Any]()
                self.stage.accepted(out.delivery.lane, out.delivery.id, Receipt(proof=Proof.RECORDED), now, step)
                for ruling in step.rulings:
                    self.recorder.tell(ruling)
                for move in step.out:
                    self._tell(move, now)
            case Delivered():
                pass  # nobody observes
            case _:
                assert self.next is not None or isinstance(out, Proposal)
                if self.next is not None:
                    self.next.tell(out)


class Chain:
    """The seven hops, wired."""

    def __init__(self) -> None:
        settings, clock = Settings(), SkippingClock()
        self.recorder = Counting.start()
        stages: list[Any] = [stage(getattr(settings, str(name))) for name, stage in ROSTER.items()]
        stages[0].open(LaneSpec(name="dev"))
        stages[5].open(LaneSpec(name="dev"))
        self.hops = [Hop.start(stage, clock, self.recorder) for stage in stages]
        table, dedup = self.hops[3], self.hops[2]
        for nth, hop in enumerate(self.hops):
            following = self.hops[nth + 1] if nth + 1 < len(self.hops) else None
            hop.tell((following, dedup if hop is table else table))

    def decide(self, items: Sequence[Event]) -> None:
        """Tell every event; return when every mailbox is empty."""
        for item in items:
            self.hops[0].tell(item)
        for hop in (*self.hops, *reversed(self.hops), *self.hops):
            hop.ask("ready?")
        counted = self.recorder.ask("counted")
        if counted != len(items):
            raise SystemExit(f"the chain decided over {counted} events of {len(items)}")

    def stop(self) -> None:
        """End its threads."""
        for hop in self.hops:
            hop.stop()
        self.recorder.stop()


def chain_cost(shape: Shape, count: int) -> float:
    """Microseconds an event."""
    chain = Chain()
    work = events(texts(shape, count))
    spent = timed(lambda: chain.decide(work))
    chain.stop()
    return spent.seconds / count * 1e6


def line_cost(shape: Shape, count: int) -> float:
    """Microseconds an event."""
    with LineUnderTest() as line:
        work = lists(events(texts(shape, count)))
        return timed(lambda: line.decide(work)).seconds / count * 1e6


def rows(shape: Shape, count: int, runs: int) -> list[Row]:
    """The ratio, and both costs."""
    pairs = [(chain_cost(shape, count), line_cost(shape, count)) for _ in range(runs)]
    ratio = median(chain / line for chain, line in pairs)
    method = f"{count:,} events; median of {runs} runs; chain and line take turns"
    return [
        at_least(f"a pykka chain, {shape}", ratio, GOALS[shape], "× chain", method),
        told(f"a pykka chain, {shape}: chain", median(chain for chain, _ in pairs), "µs/event", "eight threads"),
        told(f"a pykka chain, {shape}: line", median(line for _, line in pairs), "µs/event", "one thread"),
    ]


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--events", type=int, default=50_000)
    options.add_argument("--runs", type=int, default=3)
    given = options.parse_args()
    report([row for shape in GOALS for row in rows(shape, given.events, given.runs)], as_json=given.json)


if __name__ == "__main__":
    main()

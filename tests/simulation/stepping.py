"""Stepping: one line under a clock that a test sets, stepped by hand or run by its real thread, with the same few moves."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import groupby

from tocsin.actors.tree import Tree
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.lanes import LaneSpec
from tocsin.pipeline.roster import Settings

START = 1_700_049_600_000
"""Noon, UTC: the times in blocks are easy to read."""


class FakeClock:
    def __init__(self) -> None:
        self.t = START

    def now(self) -> int:
        return self.t


class Box:
    """A shelf that keeps what it is given. ``answers`` are used up first: what is an exception is raised."""

    def __init__(self, *answers: object) -> None:
        self.got: list[Delivery] = []
        self.tried: list[Delivery] = []
        self.answers = list(answers)

    def put(self, delivery: Delivery) -> Receipt:
        self.tried.append(delivery)
        answer = self.answers.pop(0) if self.answers else Receipt(proof=Proof.RECORDED)
        if isinstance(answer, BaseException):
            raise answer
        self.got.append(delivery)
        return answer

    def texts(self) -> list[str]:
        return [entry.text for delivery in self.got for entry in delivery.entries]


class HandCourier:
    """Carries nothing by itself: the test answers for each sink when it likes."""

    def __init__(self) -> None:
        self.under_way: list[tuple[object, Delivery, Callable[[object], None]]] = []

    def carry(self, sink: object, delivery: Delivery, done: Callable[[object], None]) -> None:
        self.under_way.append((sink, delivery, done))

    def answer(self, outcome: object = None) -> Delivery:
        _, delivery, done = self.under_way.pop(0)
        done(Receipt(proof=Proof.OFFERED) if outcome is None else outcome)
        return delivery


class Line:
    """Feed it, let time pass, look. ``threaded`` runs the same actors on the dispatcher's own thread."""

    def __init__(self, settings: Settings | None = None, *, threaded: bool = False, spill_dir: str = "") -> None:
        self.clock, self.courier = FakeClock(), HandCourier()
        self.tree = Tree(settings or Settings(), self.clock, self.courier, spill_dir=spill_dir)
        self.boxes: dict[str, Box] = defaultdict(Box)
        self.threaded = threaded
        if threaded:
            self.tree.dispatcher.start()

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.tree.stop(10.0)

    @property
    def elapsed(self) -> int:
        return self.clock.t - START

    def open(self, *names: str, sink: object = None, typing: bool = False) -> Box:
        for name in names:
            self.tree.open_lane(LaneSpec(name=name, typing=typing), sink or self.boxes[name])
        return self.boxes[names[0]]

    def feed(self, *items: object) -> None:
        self.tree.feed(items)
        self.settle()

    def settle(self) -> None:
        """Everything that can happen at this moment has happened when this returns."""
        dispatcher = self.tree.dispatcher
        if not self.threaded:
            dispatcher.run_until_idle()
            return
        quiet = 0
        while quiet < 2:
            dispatcher.nudge()
            self.tree.quiesce()
            due = dispatcher.next_due()
            quiet = quiet + 1 if due is None or due > self.clock.t else 0

    def until(self, elapsed: int) -> None:
        """Let time pass, stopping wherever some stage is due."""
        self.settle()
        end = START + elapsed
        while (due := self.tree.dispatcher.next_due()) is not None and due <= end:
            assert due >= self.clock.t, "a stage is due in the past and does nothing about it"
            self.clock.t = due
            self.settle()
        self.clock.t = max(self.clock.t, end)
        self.settle()

    def after(self, millis: int) -> None:
        self.until(self.elapsed + millis)

    def play(self, world: Iterable[tuple[int, object]]) -> None:
        """Feed what happens, each at its moment; what happens at one moment is fed together."""
        for at, together in groupby(world, key=lambda timed: timed[0]):
            self.until(at)
            self.feed(*(what for _, what in together))

    def story(self) -> list[tuple[int, str, str, str, str, str]]:
        """Every decision that is remembered, times from the start."""
        return [
            (d.at - START, d.lane, d.id, str(d.stage), str(d.verdict), d.reason, d.until, d.note)
            for d in self.tree.decisions()[0]
        ]

    def verdicts(self, what: str) -> list[str]:
        return [str(decision.verdict) for decision in self.tree.explain(what)]

    def balance(self) -> tuple[int, int, int, int, int]:
        """Fed, delivered, folded, dropped, pending as the tables say; the caller checks that they add up."""
        status = self.tree.status()
        depth = sum(lane.depth for lane in status.lanes)
        return status.fed, status.delivered, status.folded, sum(status.dropped.values()), depth

    def balanced(self) -> bool:
        fed, delivered, folded, dropped, depth = self.balance()
        return fed == delivered + folded + dropped + depth

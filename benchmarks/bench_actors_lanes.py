"""10,000 lanes: what they cost against one, in time, in threads and in memory.

Method, processor time: the same events twice, all for one lane, and spread over 10,000: each of the 1,000 texts that
come again and again belongs to ten lanes in turn, and what comes once to any. Real dispatcher thread; slices as in
``bench_pipeline_burst``; the two take turns, so that the machine's moods meet both. While the burst lasts, the clock
stands still: what is compared is the deciding of all events. After it time goes on, and the second figure has in it
what only many recipients need: a block is rendered for each of them, where the one lane's cap leaves 50 entries in all.
Counts are balanced. Method, memory: no decisions are kept, which are bounded for all lanes together; tracemalloc counts
what stays allocated after 10,000 lanes were opened, and after each was told one block and has been quiet for an hour.
"""

import gc
import threading
import tracemalloc
from typing import Final

from figures import Row, at_least, below, median, parser, report, told
from line import SLICE, LineUnderTest, balance, timed
from work import SCOPE, SOURCE, events, known, lists, texts

from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.pipeline.record import Policy as RecordPolicy
from tocsin.pipeline.roster import Settings

GOAL: Final = 0.7
THREADS_GOAL: Final = 17
LANE_GOAL: Final = 4_096


def spread(contents: list[str], lanes: list[str]) -> list[Event]:
    """The texts as events: a text that comes again belongs to one of ten lanes that are its own."""
    homes = {text: nth for nth, text in enumerate(known())}
    share = max(1, len(lanes) // len(homes))
    where = [homes.get(text, nth) * share + nth % share for nth, text in enumerate(contents)]
    return [
        Event(text=text, to=lanes[place % len(lanes)], source=SOURCE, scope=SCOPE)
        for text, place in zip(contents, where, strict=True)
    ]


class Cost:
    """Seconds of processor time of one run: until all was decided, and until all was told."""

    def __init__(self, count: int, lanes: list[str]) -> None:
        self.count = count
        self.line = LineUnderTest(lanes=lanes)
        self.line.clock.stand_still()
        self._lanes = lanes
        self.decided = self.told = 0.0
        self.threads = 0

    def go_on(self, first: int) -> None:
        """The next slice."""
        size = min(SLICE, self.count - first)
        parts = lists(spread(texts("equal", size, first), self._lanes))
        self.decided += timed(lambda: self.line.decide(parts)).cpu
        self.threads = max(self.threads, threading.active_count())

    def finish(self) -> None:
        """To the last delivery."""
        self.line.clock.go_on()
        self.told = self.decided + timed(self.line.finish).cpu
        balance(self.line.tree.status(), self.count)
        self.line.tree.stop(5)


def run(count: int, lanes: int) -> tuple[Cost, Cost]:
    """One lane and many, slice by slice in turn."""
    one, many = Cost(count, ["r0"]), Cost(count, [f"r{nth}" for nth in range(lanes)])
    for first in range(0, count, SLICE):
        one.go_on(first)
        many.go_on(first)
    one.finish()
    many.finish()
    return one, many


def lane_bytes(lanes: int) -> tuple[float, float]:
    """Bytes a lane that was only opened, and that was told one block and is idle again."""
    with LineUnderTest(Settings(record=RecordPolicy(decisions=0)), lanes=()) as line:
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        names = [f"recipient-{nth}" for nth in range(lanes)]
        for name in names:
            line.tree.open_lane(LaneSpec(name=name), line.box)
        gc.collect()
        opened = tracemalloc.get_traced_memory()[0] - before
        line.decide(lists(events(texts("equal", lanes), lanes=names)))
        line.finish()
        line.clock.skip_to(Instant(line.clock.now() + 3_600_000))
        line.tree.dispatcher.nudge()
        line.finish()
        gc.collect()
        used = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    return opened / lanes, used / lanes


def rows(lanes: int, runs: list[tuple[Cost, Cost]], opened: float, used: float) -> list[Row]:
    """The goals, and the figures behind them."""
    to_last = median(one.told / many.told for one, many in runs)
    decided = median(one.decided / many.decided for one, many in runs)
    one, many = runs[-1]
    blocks = f"{many.line.box.blocks:,} blocks against {one.line.box.blocks}"
    method = f"{one.count:,} events, 95 % of 1,000 texts; median of {len(runs)}; {blocks}"
    traced = f"tracemalloc over {lanes:,} lanes"
    return [
        at_least(f"{lanes:,} lanes, until all is decided", decided, GOAL, "× one lane", method),
        told(f"{lanes:,} lanes, to the last delivery", to_last, "× one lane", "with the rendering of every lane's blocks"),
        told("one lane", one.told / one.count * 1e6, "µs/event", "to the last delivery"),
        told(f"{lanes:,} lanes", many.told / many.count * 1e6, "µs/event", "to the last delivery"),
        below("threads", many.threads, THREADS_GOAL, "threads", "the whole process, this benchmark's included"),
        below("an idle lane, opened", opened, LANE_GOAL, "B", traced),
        below("an idle lane, once told a block", used, LANE_GOAL, "B", f"{traced}, with what dedup remembers of it"),
    ]


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--events", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--lanes", type=int, default=10_000)
    given = options.parse_args()
    runs = [run(given.events, given.lanes) for _ in range(given.runs)]
    report(rows(given.lanes, runs, *lane_bytes(given.lanes)), as_json=given.json)


if __name__ == "__main__":
    main()

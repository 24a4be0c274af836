"""A person's word in the middle of a 1,000,000-event burst: from ``feed`` to the sink, windows excluded.

Method: one thread feeds the burst (95 % of 1,000 texts) in lists of 500 as fast as the line takes it, keeping the door
half full; the main thread feeds a ``user`` message every 5 ms. Real dispatcher thread, ``prompt_window`` 0, a sink that
answers at once. Latency runs from just before ``feed`` to the first line of the sink, so it has in it the wait for the
interpreter that three threads share; at the switch interval that our own programs set (0.5 ms), and for information at
Python's default (5 ms). Only messages fed while the burst was under way count. Messages and events are balanced at the
end.
"""

import threading
import time
from typing import Final

from bench_actors_latency import AT_ONCE, OUR_INTERVAL, Stopwatch, switch_interval
from figures import Row, below, parser, percentile, report, told
from line import LineUnderTest, balance
from work import events, lists, texts

from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec

GOAL: Final = 5.0
PAUSE: Final = 0.005
HALF_FULL: Final = 50_000
REUSED: Final = 100_000
"""So many events are made beforehand and fed again and again: making them is not what is measured."""


def feed_burst(line: LineUnderTest, count: int, started: threading.Event) -> None:
    """Feed it all; wait a moment whenever the door is half full, so that nothing is shed."""
    parts = lists(events(texts("equal", min(REUSED, count)), to="flood"))
    started.set()
    fed = 0
    while fed < count:
        for part in parts:
            while line.tree.door.depth() > HALF_FULL:
                time.sleep(0.001)
            line.tree.feed(part)
            fed += len(part)


def latencies(count: int) -> tuple[list[float], float]:
    """Milliseconds of every message, and the seconds that the burst took."""
    watch, found, started = Stopwatch(), list[float](), threading.Event()
    with LineUnderTest(AT_ONCE, lanes=("flood",)) as line:
        line.tree.open_lane(LaneSpec(name="dev"), watch)
        burst = threading.Thread(target=feed_burst, args=(line, count, started))
        burst.start()
        started.wait()
        began = time.perf_counter()
        while burst.is_alive() or line.tree.door.depth():
            time.sleep(PAUSE)
            found.append(_one(line, watch, len(found)))
        took = time.perf_counter() - began
        balance(line.finish(), count + len(found))
    return found, took


def _one(line: LineUnderTest, watch: Stopwatch, nth: int) -> float:
    watch.came.clear()
    message = [Event(text=f"message {nth}", to="dev", traffic="user", source="user_action")]
    began = time.perf_counter()
    line.tree.feed(message)
    watch.came.wait(30)
    return (watch.came_at - began) * 1000


def rows(count: int) -> list[Row]:
    """The goal, and the same at the default interval."""
    with switch_interval(OUR_INTERVAL):
        ours, took = latencies(count)
    default, _ = latencies(count)
    method = f"{len(ours):,} messages during {count:,} events in {took:.1f} s; switch interval 0.5 ms, as in our own programs"
    return [
        below("user message within a burst, p99", percentile(ours, 99), GOAL, "ms", method),
        told("user message within a burst, p50", percentile(ours, 50), "ms", "switch interval 0.5 ms"),
        told("within a burst, default interval, p99", percentile(default, 99), "ms", "switch interval 5 ms"),
        told("within a burst, default interval, p50", percentile(default, 50), "ms", "switch interval 5 ms"),
    ]


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--events", type=int, default=1_000_000)
    given = options.parse_args()
    report(rows(given.events), as_json=given.json)


if __name__ == "__main__":
    main()

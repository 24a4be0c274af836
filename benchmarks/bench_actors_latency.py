"""A person's word on an idle line: from ``feed`` to the sink, windows excluded.

Method: real dispatcher thread, real clock, ``prompt_window`` 0, a sink that answers at once on the stage thread. One
event of class ``user`` is fed every 2 ms; its latency runs from just before ``feed`` to the first line of the sink.
Then the same beside a thread that computes all the time and never lets go of the interpreter by itself, at the switch
interval that our own programs set (0.5 ms) and, for information, at Python's default (5 ms), which a library must leave
as it is.
"""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from figures import Row, below, parser, percentile, report, told
from line import LineUnderTest

from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.pipeline.roster import Settings
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

OUR_INTERVAL: Final = 0.0005
PAUSE: Final = 0.002
_accepted = Receipt(proof=Proof.RECORDED)
AT_ONCE: Final = Settings(throttle=ThrottlePolicy(prompt_window=0))  # type: ignore[arg-type]


class Stopwatch:
    """A sink that notes when it was called."""

    def __init__(self) -> None:
        self.came_at = 0.0
        self.came = threading.Event()

    def put(self, delivery: Delivery) -> Receipt:
        self.came_at = time.perf_counter()
        self.came.set()
        return _accepted


def latencies(count: int) -> list[float]:
    """Milliseconds from feed to sink, one for each message."""
    watch, found = Stopwatch(), []
    with LineUnderTest(AT_ONCE, lanes=()) as line:
        line.tree.open_lane(LaneSpec(name="dev"), watch)
        for nth in range(count):
            time.sleep(PAUSE)
            watch.came.clear()
            message = [Event(text=f"message {nth}", to="dev", traffic="user", source="user_action")]
            began = time.perf_counter()
            line.tree.feed(message)
            watch.came.wait(10)
            found.append((watch.came_at - began) * 1000)
    return found[count // 20 :]  # the first ones warm up what is used for the first time


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """A thread that computes until the block ends."""
    ended = threading.Event()

    def compute() -> None:
        total = 0
        while not ended.is_set():
            for number in range(10_000):
                total += number

    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def switch_interval(seconds: float) -> Iterator[None]:
    """Let threads take turns this often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def rows(idle: Sequence[float], ours: Sequence[float], default: Sequence[float]) -> list[Row]:
    """The goals, and the figures that explain them."""
    method = f"{len(idle):,} messages, one each {PAUSE * 1000:g} ms"
    return [
        below("user message, idle line, p50", percentile(idle, 50), 0.1, "ms", method),
        below("user message, idle line, p99", percentile(idle, 99), 0.5, "ms", method),
        below("beside a busy thread, p99", percentile(ours, 99), 1.5, "ms", "switch interval 0.5 ms, as in our own programs"),
        told("beside a busy thread, p50", percentile(ours, 50), "ms", "switch interval 0.5 ms"),
        told("beside a busy thread, default interval, p50", percentile(default, 50), "ms", "switch interval 5 ms"),
        told("beside a busy thread, default interval, p99", percentile(default, 99), "ms", "switch interval 5 ms"),
    ]


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--events", type=int, default=2_000)
    given = options.parse_args()
    idle = latencies(given.events)
    with busy_neighbour():
        default = latencies(given.events)
        with switch_interval(OUR_INTERVAL):
            ours = latencies(given.events)
    report(rows(idle, ours, default), as_json=given.json)


if __name__ == "__main__":
    main()

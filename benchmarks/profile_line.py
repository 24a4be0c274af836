"""Profile: where a burst's time goes, actor by actor. No sampling: each message is timed, and a message is
hundreds of events. All in processor time, so that other programs on the machine disturb it little.

What an actor does between taking a message and returning is its own, because telling the next one only queues. What is
left of the whole is the dispatcher, the door and the producer's ``feed``. With ``--functions`` cProfile shows what
happens inside the stages, at the price of figures that are too high for small functions; the line is then stepped by
hand, on one thread.
"""

import argparse
import cProfile
import pstats
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, get_args

from figures import number
from line import SLICE, LineUnderTest, timed
from work import Shape, bare_loop, events, lists, texts


def watch(line: LineUnderTest) -> dict[str, float]:
    """Seconds of processor time by actor, filled while the line runs."""
    spent: dict[str, float] = defaultdict(float)
    for actor in line.tree.dispatcher._actors:
        actor.on_receive = _timed(type(actor).__name__, actor.on_receive, spent)  # type: ignore[assignment, method-assign]
    return spent


def _timed(name: str, receive: Callable[[Any], Any], spent: dict[str, float]) -> Callable[[Any], Any]:
    def on_receive(message: Any) -> Any:
        began = time.thread_time()
        try:
            return receive(message)
        finally:
            spent[name] += time.thread_time() - began

    return on_receive


def by_actor(shape: Shape, count: int) -> None:
    """Print microseconds an event, actor by actor, and the bare loop's beside them."""
    bare = whole = 0.0
    with LineUnderTest() as line:
        spent = watch(line)
        for first in range(0, count, SLICE):
            size = min(SLICE, count - first)
            contents = texts(shape, size, first)
            bare += timed(lambda contents=contents: bare_loop(contents, {})).cpu  # type: ignore[misc]
            parts = lists(events(texts(shape, size, first)))
            whole += timed(lambda parts=parts: line.decide(parts)).cpu  # type: ignore[misc]
    spent["dispatcher, door, feed"] = whole - sum(spent.values())
    print(f"\n{shape}: {count:,} events, µs an event")
    for name, seconds in (*spent.items(), ("the whole line", whole), ("the bare loop", bare)):
        print(f"  {name:<24}{number(seconds / count * 1e6):>8}")


def by_function(shape: Shape, count: int, most: int) -> None:
    """Print cProfile's view of the stages."""
    with LineUnderTest(threaded=False) as line:
        profile = cProfile.Profile()
        for first in range(0, count, SLICE):
            parts = lists(events(texts(shape, min(SLICE, count - first), first)))
            profile.runcall(line.decide, parts)
    print(f"\n{shape}: {count:,} events, by function")
    pstats.Stats(profile).sort_stats("tottime").print_stats(most)


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--shape", choices=get_args(Shape), action="append")
    parser.add_argument("--functions", type=int, metavar="N", help="show the N functions that take the most, by cProfile")
    given = parser.parse_args()
    for shape in given.shape or get_args(Shape):
        if given.functions:
            by_function(shape, given.events, given.functions)
        else:
            by_actor(shape, given.events)


if __name__ == "__main__":
    main()

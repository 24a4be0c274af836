"""What an event costs from 10⁴ to 10⁷ events, and what the line keeps in memory.

Method, cost, in processor time of the whole process: each size is sent through a line of its own in slices of 10,000
that are made outside the measured time; small sizes are repeated until about a million events went through, and their
median counts. Before the clock runs each line gets 10,000 events, so that the first sight of every text does not weigh
more in a small burst than in a large one. Flat means that the dearest size costs at most 10 % more than the cheapest.
Method, memory: one process for each figure. Events are made as they are fed, 10,000 at a time, and resident memory is
read after every slice, when all of it is decided; the figure is the highest reading above the one that was taken before
the line was built, when the generator had already made (and dropped) a slice. 10⁷ only with ``--full``.
"""

import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from figures import Row, below, median, parser, report, told
from line import LineUnderTest, balance, timed
from work import Shape, events, lists, texts

SIZES: Final = (10_000, 100_000, 1_000_000)
FULL: Final = 10_000_000
STEP: Final = 10_000
MEMORY_GOAL: Final = 48.0
FLAT_GOAL: Final = 1.10


def cost(shape: Shape, count: int) -> float:
    """Microseconds of processor time an event, to the last delivery."""
    with LineUnderTest() as line:
        line.decide(lists(events(texts(shape, STEP))))
        spent = 0.0
        for first in range(STEP, STEP + count, STEP):
            parts = lists(events(texts(shape, STEP, first)))
            spent += timed(lambda parts=parts: line.decide(parts)).cpu  # type: ignore[misc]
        spent += timed(line.finish).cpu
        balance(line.tree.status(), STEP + count)
    return spent / count * 1e6


def costs(shape: Shape, sizes: tuple[int, ...]) -> dict[int, float]:
    """Size → microseconds an event."""
    return {size: median(cost(shape, size) for _ in range(max(1, min(15, 1_000_000 // size)))) for size in sizes}


def resident() -> float:
    """MiB of this process that are in memory now."""
    gc.collect()
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, text=True, check=True)
    return int(shown.stdout) / 1024


def memory(shape: Shape, count: int) -> tuple[float, float]:
    """MiB above start at the highest, and at the end."""
    lists(events(texts(shape, STEP)))
    start = resident()
    highest = 0.0
    with LineUnderTest() as line:
        for first in range(0, count, STEP):
            line.decide(lists(events(texts(shape, min(STEP, count - first), first))))
            highest = max(highest, resident() - start)
        balance(line.finish(), count)
        return highest, resident() - start


def memory_elsewhere(shape: Shape, count: int) -> tuple[float, float]:
    """The same in a process of its own, so that nothing measured before is in it."""
    command = [sys.executable, __file__, "--memory", shape, "--events", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    highest, end = map(float, done.stdout.split())
    return highest, end


def cost_rows(shape: Shape, sizes: tuple[int, ...]) -> list[Row]:
    """Every size's cost, and how flat they are."""
    found = costs(shape, sizes)
    flat = max(found.values()) / min(found.values())
    method = f"dearest ÷ cheapest of {', '.join(f'10^{len(str(size)) - 1}' for size in sizes)}"
    each = [
        told(f"cost at {size:,} events, {shape}", value, "µs/event", "to the last delivery") for size, value in found.items()
    ]
    return [below(f"cost is flat, {shape}", flat, FLAT_GOAL, "×", method), *each]


def memory_rows(shape: Shape, most: int) -> list[Row]:
    """The highest at the largest size, and at a tenth of it: memory that grows with the burst would show."""
    (least, _), (highest, end) = memory_elsewhere(shape, most // 10), memory_elsewhere(shape, most)
    method = f"resident, highest of {most // STEP} readings; {end:.1f} at the end; {least:.1f} with a tenth of the events"
    return [below(f"memory above start, {shape}, {most:,} events", highest, MEMORY_GOAL, "MiB", method)]


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--full", action="store_true", help="also 10,000,000 events")
    options.add_argument("--events", type=int, default=0, help="the largest size")
    options.add_argument("--memory", choices=("equal", "distinct"), help="only print MiB above start: highest, at the end")
    given = options.parse_args()
    most = given.events or (FULL if given.full else SIZES[-1])
    if given.memory:
        print(*memory(given.memory, most))
        return
    sizes = tuple(size for size in (*SIZES, FULL) if size <= most)
    shapes: tuple[Shape, ...] = ("equal", "distinct")
    found = [row for shape in shapes for row in (*cost_rows(shape, sizes), *memory_rows(shape, most))]
    report(found, as_json=given.json)


if __name__ == "__main__":
    main()

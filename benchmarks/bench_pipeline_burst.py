"""A burst of 1,000,000 events through all seven actors, against the bare loop.

Method: events are made in slices of 50,000, outside the measured time and anew for each competitor, so that no text
object, and no hash that Python keeps in it, is shared. The line gets a slice in lists of 500, on its own thread with
real time, and is measured until all of it is decided; the bare loop (canonical form, sha1, one dictionary look-up for
each event, nothing else) gets the same slice before or after it, in turn. At the end the line's clock skips the windows
that are still open, and the work up to the last delivery counts. Every decision is recorded and counted; the balance is
checked. Of the events, 95 % are one of 1,000 texts and the others come once. The figure is the median of the ratios of
several runs.
"""

from collections.abc import Sequence
from typing import Final

from figures import Row, at_least, median, parser, report, told
from line import LineUnderTest, Race, Side, race
from work import Shape, bare_loop, events, lists, texts

GOALS: Final[dict[Shape, tuple[str, float]]] = {
    "equal": ("burst, 95 % duplicates of 1,000 texts", 4.0),
    "varied": ("burst, a time stamp, line or id in every text", 1.6),
    "distinct": ("burst, all distinct", 0.85),
}


def run(shape: Shape, count: int) -> Race:
    """One run of one shape."""
    seen: dict[str, int] = {}
    bare = Side(lambda size, first: texts(shape, size, first), lambda work: bare_loop(work, seen))
    with LineUnderTest() as line:
        through = Side(lambda size, first: lists(events(texts(shape, size, first))), line.decide)
        return race(count, line, through, bare)


def rows(shape: Shape, races: Sequence[Race]) -> list[Row]:
    """The ratio, and the microseconds behind it."""
    name, goal = GOALS[shape]
    line, bare = (median(getattr(one, who).seconds / one.events * 1e6 for one in races) for who in ("line", "bare"))
    ended = races[-1].status
    method = (
        f"{races[-1].events:,} events; median of {len(races)}; {races[-1].blocks} blocks, {ended.delivered:,} told,"
        f" {ended.folded:,} folded, {sum(ended.dropped.values()):,} dropped by a verdict; balanced"
    )
    return [
        at_least(name, median(one.ratio for one in races), goal, "× bare loop", method),
        told(f"{shape}, in processor time", median(one.cpu_ratio for one in races), "× bare loop", "the same runs"),
        told(f"{shape}: line", line, "µs/event", "the whole line, to the last delivery"),
        told(f"{shape}: bare loop", bare, "µs/event", "canonical form, sha1, look-up"),
    ]


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--events", type=int, default=1_000_000, help="events in one run")
    options.add_argument("--runs", type=int, default=3, help="runs of each shape; their median counts")
    options.add_argument("--shape", choices=GOALS, action="append", help="only this shape; may be given again")
    given = options.parse_args()
    shapes: Sequence[Shape] = given.shape or tuple(GOALS)
    found = {shape: [run(shape, given.events) for _ in range(given.runs)] for shape in shapes}
    report([row for shape, races in found.items() for row in rows(shape, races)], as_json=given.json)


if __name__ == "__main__":
    main()

"""From JSON bytes to a decision, in lists of 500, against a loop that also decodes.

Method: each list of 500 events is one JSON array in bytes, as a producer posts it. Both competitors decode it into
``Event`` Structs with the same msgspec decoder, so fields and severities are checked; the line then feeds the list and
is measured until all is decided, the loop takes canonical form, sha1 and one look-up for each event. Slices, order and
balance as in ``bench_pipeline_burst``. The figure is the median of the ratios of several runs.
"""

from collections.abc import Sequence

import msgspec
from figures import Row, at_least, median, parser, report, told
from line import LineUnderTest, Race, Side, race
from work import SHAPES, Shape, bare_loop, events, lists, texts

from tocsin.contracts.events import Event

GOAL = 0.8
_decoder = msgspec.json.Decoder(list[Event])


def posts(shape: Shape, count: int, first: int) -> list[bytes]:
    """The bodies of the posts."""
    return [msgspec.json.encode(part) for part in lists(events(texts(shape, count, first)))]


def run(shape: Shape, count: int) -> Race:
    """One run of one shape."""
    seen: dict[str, int] = {}

    def decode_and_loop(bodies: Sequence[bytes]) -> None:
        for body in bodies:
            bare_loop([event.text for event in _decoder.decode(body)], seen)

    with LineUnderTest() as line:

        def decode_and_feed(bodies: Sequence[bytes]) -> None:
            for body in bodies:
                line.tree.feed(_decoder.decode(body))
            line.tree.quiesce()

        def make(size: int, first: int) -> list[bytes]:
            return posts(shape, size, first)

        return race(count, line, Side(make, decode_and_feed), Side(make, decode_and_loop))


def rows(shape: Shape, races: Sequence[Race]) -> list[Row]:
    """The ratio, and what an event costs."""
    ratio = median(one.ratio for one in races)
    cost = median(one.line.seconds / one.events * 1e6 for one in races)
    size = len(posts(shape, 500, 0)[0])
    return [
        at_least(f"JSON → decision, {shape}", ratio, GOAL, "× loop that decodes", f"lists of 500, {size / 500:.0f} B an event"),
        told(f"JSON → decision, {shape}, in processor time", median(one.cpu_ratio for one in races), "×", "the same runs"),
        told(f"JSON → decision, {shape}: line", cost, "µs/event", f"median of {len(races)} runs of {races[-1].events:,}"),
    ]


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--events", type=int, default=500_000)
    options.add_argument("--runs", type=int, default=3)
    given = options.parse_args()
    found = {shape: [run(shape, given.events) for _ in range(given.runs)] for shape in SHAPES}
    report([row for shape, races in found.items() for row in rows(shape, races)], as_json=given.json)


if __name__ == "__main__":
    main()

"""What a canonical form costs, at each level, on lines as programs print them and on text made to be slow.

Method: ten lines of 150 characters, as dev servers, compilers, test runners and browsers print them: with and without
colour, time stamp, ids, durations and URLs, and two that hold no digit. Each is brought into its form many thousand times,
without a memo, in turns of 50; the best turn counts for each line (what else the machine does only ever adds), and the figure
is the median of the ten. The hostile texts repeat one piece up to 64 KiB; every piece is tried at every level, and the figure
is the slowest. The memo is asked for 1,000 texts that it knows, in lists of 500.
"""

import time
from collections.abc import Callable
from typing import Final, get_args

from figures import Row, below, median, parser, report, told

from tocsin.pipeline.canonical import Level, canonical
from tocsin.pipeline.memo import Memo

GOAL: Final = 6.0
HOSTILE_GOAL: Final = 50.0
LEVELS: Final[tuple[Level, ...]] = get_args(Level)

LINES: Final = (
    "Warning: Each child in a list should have a unique key prop. Check the render method of Cart. See the documentation",
    "error: could not resolve the module that the cart needs; is it installed, is its name spelled as in the package",
    "2031-05-01 10:00:00,123 ERROR worker: KeyError: 'price' in job 7f3c2a10-9b1e-4c55-8a77-0c1d2e3f4a5b while handling it",
    "9:41:07 AM [vite] http proxy error: /api/me Error: connect ECONNREFUSED 127.0.0.1:8000 while the page waited for data",
    "src/components/cart/summary.ts(12,7): error TS2322: Type 'string' is not assignable to type 'number'. The expected",
    "GET http://localhost:8000/api/orders/8812?ts=17 500 Internal Server Error (132 ms) while the dashboard was loading",
    "\x1b[2m9:44:59 PM\x1b[22m \x1b[31m[vite]\x1b[39m Internal server error: Failed to resolve import ./Cart from src/App",
    "FAILED tests/test_cart.py::test_total_of_an_empty_cart - AssertionError: assert 3 == 4 where 3 was the last total seen",
    "TypeError: Cannot read properties of undefined (reading 'map') at http://localhost:5173/src/App.tsx?t=17000000:50:19",
    "process web exited with code 137 after 12.4s; it was started by the watcher and will be started again after a change",
)
PIECES: Final = (
    "a", "1", "a ", "1 ", "/", "/1", "'", "(1", "[1", ":", ":1", "1:1 ", "10:10:10 ", "\x1b[1", "\x1b]8;;a", "x1", "0x1 ",
    "id=1",
    "http://a/1/", "a.py:1", "get /1", "at a (node:", "assert '", "expected 1 to ", "data:a/a;", "1m1", "1 of ", "<1.",
    "1 error ", "a.b.",
    "a={", "/tmp/a/", "e\u0301", "aa:", "0a0a", "1 |\n",
)  # fmt: skip


def padded(line: str) -> str:
    """The line with 150 characters."""
    return (line + " and so on" * 15)[:149] + "."


def cost(action: Callable[[], object], times: int, turns: int) -> float:
    """Seconds that one call takes, in the best of the turns."""
    best = float("inf")
    for _ in range(turns):
        began = time.perf_counter()
        for _ in range(times):
            action()
        best = min(best, time.perf_counter() - began)
    return best / times


def of_lines(level: Level, times: int) -> list[float]:
    """Microseconds for each of the lines."""
    return [cost(lambda line=line: canonical(line, level), 50, times // 50) * 1e6 for line in map(padded, LINES)]


def of_hostile_texts() -> tuple[float, str]:
    """Milliseconds for the slowest piece and level, and which they were."""
    texts = {piece: (piece * 65_536)[:65_536] for piece in PIECES}
    costs = {
        (level, piece): cost(lambda t=text, lv=level: canonical(t, lv), 1, 3)
        for level in LEVELS
        for piece, text in texts.items()
    }
    (level, piece), worst = max(costs.items(), key=lambda item: item[1])
    return worst * 1e3, f"the slowest of {len(costs)}: {piece!r} again and again, {level}"


def of_memo(times: int) -> float:
    """Microseconds for a text that the memo knows."""
    memo = Memo()
    texts = [f"{padded(LINES[nth % len(LINES)])} {nth}" for nth in range(1_000)]
    lists = [texts[:500], texts[500:]]
    for known in lists:
        memo.prints("process_output", "web", known)
    return cost(lambda: [memo.prints("process_output", "web", known) for known in lists], 1, times) / 1_000 * 1e6


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--times", type=int, default=20_000, help="calls for each line")
    given = options.parse_args()
    standard = of_lines("standard", given.times)
    hostile, which = of_hostile_texts()
    rows: list[Row] = [
        below(
            "standard canonical form, 150 characters", median(standard), GOAL, "µs", f"median of {len(LINES)} lines, no memo"
        ),
        told("the cheapest and the dearest of the lines", max(standard), "µs", f"the cheapest {min(standard):.3g} µs"),
        told("strict canonical form, 150 characters", median(of_lines("strict", given.times)), "µs", "the same lines"),
        told("loose canonical form, 150 characters", median(of_lines("loose", given.times)), "µs", "the same lines"),
        below("64 KiB of hostile text", hostile, HOSTILE_GOAL, "ms", which),
        told("a text that the memo knows", of_memo(max(1, given.times // 100)), "µs", "1,000 texts in lists of 500"),
    ]
    report(rows, as_json=given.json)


if __name__ == "__main__":
    main()

"""Process lines: what reading findings out of a process's output costs, alone and with the process around it.

Work: 1,000,000 lines of ordinary logs of five kinds (worker, access log, service, compose, SQL; 79 bytes a line), every number
in them different, and every 1,000th line begins a finding: a stated error, a Python traceback or a JavaScript error with its
stack, in turn. Built before the clock runs.

Method: *reader* feeds the bytes to a ``Reader`` in pieces of 64 KiB, as a pipe gives them. *watch* runs ``cat`` on a file of
them under ``watch_process``, its output passed through to /dev/null, to the end of the process. The *loop* is what a scanner
without a prefilter does: split, lower nothing, try each pattern of the catalogue on each line; it gets every 100th piece, just
after the reader did, so that whatever else the machine does hits both. Medians of several runs; findings are counted, and a run
that does not find all of them is an error.
"""

import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
from figures import Row, at_least, median, parser, report, told

from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.edges.clock import SteadyClock
from tocsin.edges.sources.process import watch_process
from tocsin.edges.sources.reader import Reader
from tocsin.edges.sources.rules import Catalogue

PIECE = 65_536
GOAL, LOOP_GOAL = 250_000, 10
EVERY = 1_000
NOW = Instant(0)

FINDINGS = (
    ("2031-05-01 10:00:00,123 ERROR worker.3: price is missing in job {n}",),
    (
        "Traceback (most recent call last):",
        '  File "/srv/app/cart.py", line {n}, in total',
        "    return items['price']",
        "KeyError: 'price {n}'",
    ),
    ("TypeError: no price {n}", "    at total (/srv/app/cart.js:{n}:11)", "    at run (/srv/app/main.js:9:1)"),
)


def healthy(n: int) -> str:
    """One line of an ordinary log."""
    match n % 5:
        case 0:
            user = n * 7919 % 100_003
            return f"2031-05-01 10:{n % 60:02d}:00,123 INFO worker.{n % 7}: handled job {n} in {n % 97} ms for user {user}"
        case 1:
            return (
                f'127.0.0.1 - - [01/May/2031:10:00:{n % 60:02d}] "GET /api/orders/{n} HTTP/1.1" 200 {n % 400} "-" "Mozilla/5.0"'
            )
        case 2:
            return f"[api] cache hit for key product:{n} ttl {n % 9} s in Button{n % 50}.tsx"
        case 3:
            return f"web-1  | GET /static/app.js 200 {n % 90}ms - request id {n * 104729:x}"
        case _:
            return f"DEBUG sqlalchemy.engine SELECT orders.id, orders.total FROM orders WHERE orders.id = {n} LIMIT 1"


def output(lines: int, colour: str = "") -> bytes:
    """That many lines, findings among them; with ``colour`` each begins with an escape sequence and one ends it."""
    text: list[str] = []
    while len(text) < lines:
        n = len(text)
        if n % EVERY < len(FINDINGS[n // EVERY % len(FINDINGS)]):
            text += [line.format(n=n) for line in FINDINGS[n // EVERY % len(FINDINGS)]]
        else:
            text.append(healthy(n))
    return "".join(f"{colour}{line}\x1b[0m\n" if colour else f"{line}\n" for line in text[:lines]).encode()


def pieces(data: bytes) -> list[bytes]:
    """As a pipe gives them."""
    return [data[place : place + PIECE] for place in range(0, len(data), PIECE)]


class Measured:
    """Seconds for the reader on everything, and for the loop on its share."""

    def __init__(self, catalogue: Catalogue, data: bytes) -> None:
        reader = Reader(catalogue, scope="web", to=None)
        patterns = [re.compile(pattern) for rule in catalogue.rules for pattern in rule.patterns]
        self.reader, self.loop, self.loop_lines, self.found = 0.0, 0.0, 0, 0
        for number, piece in enumerate(pieces(data)):
            began = time.perf_counter()
            self.found += len(reader.read("stdout", piece, NOW))
            self.reader += time.perf_counter() - began
            if patterns and number % 100 == 50:
                self._loop(patterns, piece)
        self.found += len(reader.close(NOW))

    def _loop(self, patterns: Sequence[re.Pattern[str]], piece: bytes) -> None:
        began = time.perf_counter()
        lines = piece.decode().split("\n")
        for line in lines:
            for pattern in patterns:
                if pattern.search(line):
                    break
        self.loop += time.perf_counter() - began
        self.loop_lines += len(lines)


def check(found: int, lines: int) -> None:
    """Every finding must have been found."""
    if found != lines // EVERY:
        raise SystemExit(f"{found} findings instead of {lines // EVERY}")


async def watched(catalogue: Catalogue, path: Path) -> tuple[float, int]:
    """Seconds from start to end of a process that prints a file, and the findings in it."""
    found: list[object] = []

    async def emit(batch: list[object]) -> None:
        found.extend(one for one in batch if isinstance(one, Event))

    with Path("/dev/null").open("wb", buffering=0) as nowhere:
        reader = Reader(catalogue, scope="web", to=None)
        began = time.perf_counter()
        await watch_process(("cat", str(path)), reader, emit, SteadyClock(), out=nowhere, err=nowhere)
        return time.perf_counter() - began, len(found)


def watch(catalogue: Catalogue, data: bytes, lines: int) -> float:
    """Lines a second, the process's start and end included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "output.txt"
        path.write_bytes(data)
        seconds, found = anyio.run(watched, catalogue, path)
    check(found, lines)
    return lines / seconds


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--lines", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=3)
    given = options.parse_args()
    catalogue = Catalogue.load()
    data = output(given.lines)
    plain = [Measured(catalogue, data) for _ in range(given.runs)]
    coloured = Measured(catalogue, output(given.lines // 10, colour="\x1b[32m"))
    for measured in plain:
        check(measured.found, given.lines)
    check(coloured.found, given.lines // 10)
    rates = [watch(catalogue, data, given.lines) for _ in range(given.runs)]
    ratio = median(one.loop / one.loop_lines / (one.reader / given.lines) for one in plain)
    rows: list[Row] = [
        at_least(
            "process lines, the whole watch path",
            median(rates),
            GOAL,
            "lines/s",
            f"{given.lines:,} lines of `cat`, 0.1 % findings",
        ),
        at_least(
            "process lines, reader alone", median(given.lines / one.reader for one in plain), GOAL, "lines/s", "64 KiB pieces"
        ),
        at_least("process lines beside a loop over the patterns", ratio, LOOP_GOAL, "×", f"{len(catalogue.rules)} rules"),
        told("process lines with colours, reader alone", given.lines / 10 / coloured.reader, "lines/s", "two sequences a line"),
    ]
    report(rows, as_json=given.json)


if __name__ == "__main__":
    main()

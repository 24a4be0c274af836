"""Terminal: what passing a program's bytes through a wrapped terminal costs, beside the bare program and `script -q`.

Method. Each way to run a program (bare, under `script -q`, under WrappedTerminal) is started in a fresh pseudo-terminal that
this process reads as fast as it can. The ways take turns, so that whatever else the machine does hits all of them alike.

Bulk: a program writes 16 MiB of text lines in blocks of 64 KiB. The clock runs from its first byte to its last as they arrive
here, so start-up does not count. The figure is our rate divided by that of `script -q` in the same round, the median of 15.

Keys: a program in raw mode writes back every key it reads. All ways run at once; one key is sent to each in turn, 3 ms apart,
3000 times, and its round trip is measured. The figure is the 99th percentile of our round trips less that of the bare
program's: what wrapping adds. On a machine that is busy with other things both are mostly the time that processes wait for
a processor, of which a wrapper needs one turn more.

Run: python benchmarks/bench_terminal.py [--json]. Without the `script` program its columns are left out and the bulk
goal is reported as not measured.
"""

import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from figures import Row, at_least, below, median, missing, parser, percentile, report, told

BULK = 16 * 1024 * 1024
ROUNDS = 15
KEYS = 3000
PAUSE = 0.003

WRITER = f"""
import os, sys
block = (b"%078d\\n" * 830 % tuple(range(830)))[:65536]
os.write(1, b"BEGIN")
left = {BULK}
while left > 0: left -= os.write(1, block)
os.write(1, b"THE-END")
os.read(0, 1)
"""
ECHO = """
import os, termios, tty
tty.setraw(0, termios.TCSANOW)
os.write(1, b"BEGIN")
while True:
    key = os.read(0, 100)
    if not key or key == b"q": break
    os.write(1, key)
"""
WRAP = """
import os, sys, time, anyio
from tocsin.edges.terminal.wrapped import WrappedTerminal
class Clock:
    def now(self): return int(time.time() * 1000)
terminal = WrappedTerminal(sys.argv[1:], lane="a", env=dict(os.environ), signal=lambda fact: None, clock=Clock())
sys.exit(anyio.run(terminal.run).code)
"""


def ways(program: str) -> dict[str, list[str]]:
    """How to start the Python text ``program`` in each way."""
    bare = [sys.executable, "-c", program]
    found = {"bare": bare, "ours": [sys.executable, "-c", WRAP, *bare]}
    if shutil.which("script"):
        quoted = " ".join(f"'{word}'" if "'" not in word else subprocess.list2cmdline([word]) for word in bare)
        linux = sys.platform == "linux"
        found["script"] = ["script", "-q", "-c", quoted, "/dev/null"] if linux else ["script", "-q", "/dev/null", *bare]
    return found


@contextmanager
def running(argv: list[str]) -> Iterator[int]:
    """The master side of a terminal in which ``argv`` runs."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    tty.setraw(slave)
    process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    try:
        yield master
    finally:
        process.terminate()
        process.wait()
        os.close(master)


def output(master: int) -> bytes:
    """What was printed; ends the benchmark if the program is gone."""
    try:
        return os.read(master, 262_144)
    except OSError:
        sys.exit("a program under test ended too early; run one by hand to see why")


def bulk(argv: list[str]) -> float:
    """Bytes a second from the first byte to the last."""
    with running(argv) as master:
        got, tail, began = 0, b"", 0.0
        while not tail.endswith(b"THE-END"):
            chunk = output(master)
            began = began or time.perf_counter()
            got += len(chunk)
            tail = (tail + chunk)[-16:]
        took = time.perf_counter() - began
        os.write(master, b"q")
    return got / took


def keys(found: dict[str, list[str]]) -> dict[str, list[float]]:
    """The round trips of single keys in milliseconds, the ways taking turns key by key."""
    trips: dict[str, list[float]] = {name: [] for name in found}
    with ExitStack() as stack:
        masters = {name: stack.enter_context(running(argv)) for name, argv in found.items()}
        for master in masters.values():
            seen = b""
            while b"BEGIN" not in seen:
                seen += output(master)
        for number in range(KEYS):
            for name, master in masters.items():
                time.sleep(PAUSE)
                began = time.perf_counter()
                os.write(master, b"abcdefgh"[number % 8 : number % 8 + 1])
                os.read(master, 16)
                trips[name].append((time.perf_counter() - began) * 1000)
        for master in masters.values():
            os.write(master, b"q")
    return trips


def measure_bulk() -> dict[str, list[float]]:
    """The rates of each way, in MB a second, round by round."""
    found = ways(WRITER)
    rates: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(ROUNDS):
        for name, argv in found.items():
            rates[name].append(bulk(argv) / 1e6)
    return rates


def rows() -> list[Row]:
    """What was measured against what was aimed at, and the figures behind it."""
    rates, trips = measure_bulk(), keys(ways(ECHO))
    p99 = {name: percentile(found, 99) for name, found in trips.items()}
    behind = [told(f"PTY pass-through, bulk, {name}", median(found), "MB/s", "a median") for name, found in rates.items()]
    behind += [told(f"PTY key, {name}, p50", median(found), "ms", f"p99 {p99[name]:.3g} ms") for name, found in trips.items()]
    return [
        _bulk_row(rates),
        below(
            "PTY pass-through, added latency of a key, p99", p99["ours"] - p99["bare"], 2, "ms", "less the bare program's p99"
        ),
        *behind,
    ]


def _bulk_row(rates: dict[str, list[float]]) -> Row:
    name = "PTY pass-through, bulk, beside script -q"
    if "script" not in rates:
        return missing(name, "≥ 0.9 ×", "there is no script program here")
    ratio = median(ours / theirs for ours, theirs in zip(rates["ours"], rates["script"], strict=True))
    return at_least(name, ratio, 0.9, "×", "round by round")


def main() -> None:
    """Measure and print."""
    given = parser(__doc__).parse_args()
    report(rows(), as_json=given.json)


if __name__ == "__main__":
    main()

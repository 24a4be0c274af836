"""Terminal: what passing a program's bytes through a wrapped terminal costs, beside the bare program and `script -q`.

Method. Each way to run a program (bare, under `script -q`, under WrappedTerminal) is started in a fresh pseudo-terminal
that this process reads as fast as it can. The ways take turns within one run, so that whatever else the machine does
hits all of them; every figure is a median over the rounds.

Bulk: a program writes 32 MiB of text lines in blocks of 64 KiB. The clock runs from its first byte to its last as they
arrive here, so start-up does not count. The figure is our rate divided by that of `script -q` in the same round.

Keys: a program in raw mode writes back every key it reads. One key is sent every 3 ms, and its round trip is measured.
The figure is the 99th percentile of our round trips less that of the bare program's: what wrapping adds.

Run: python benchmarks/bench_terminal.py [--json]. Without the `script` program its columns are left out and the bulk
goal is reported as not measured.
"""

import argparse
import fcntl
import json
import os
import pty
import shutil
import statistics
import struct
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

BULK = 32 * 1024 * 1024
ROUNDS = 9
KEYS = 1000
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


def keys(argv: list[str]) -> list[float]:
    """The round trips of single keys, in milliseconds."""
    trips = []
    with running(argv) as master:
        seen = b""
        while b"BEGIN" not in seen:
            seen += output(master)
        for number in range(KEYS):
            time.sleep(PAUSE)
            began = time.perf_counter()
            os.write(master, b"abcdefgh"[number % 8 : number % 8 + 1])
            os.read(master, 16)
            trips.append((time.perf_counter() - began) * 1000)
        os.write(master, b"q")
    return trips


def percentile(values: list[float], share: float) -> float:
    """The value below which that share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measure_bulk() -> dict[str, list[float]]:
    """The rates of each way, in MB a second, round by round."""
    found = ways(WRITER)
    rates: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(ROUNDS):
        for name, argv in found.items():
            rates[name].append(bulk(argv) / 1e6)
    return rates


def measure_keys() -> dict[str, tuple[float, float]]:
    """The median and the 99th percentile of each way's round trips, each the median of three rounds."""
    found = ways(ECHO)
    trips: dict[str, list[list[float]]] = {name: [] for name in found}
    for _ in range(3):
        for name, argv in found.items():
            trips[name].append(keys(argv))
    return {
        name: tuple(statistics.median(percentile(run, share) for run in runs) for share in (0.5, 0.99))  # type: ignore[misc]
        for name, runs in trips.items()
    }


def rows(rates: dict[str, list[float]], trips: dict[str, tuple[float, float]]) -> list[dict[str, object]]:
    """What was measured against what was aimed at."""
    pairs = zip(rates["ours"], rates.get("script", []), strict=False)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs) if "script" in rates else None
    added = trips["ours"][1] - trips["bare"][1]
    return [
        {
            "name": "PTY pass-through, bulk, beside script -q",
            "figure": "not measured: no script program here" if ratio is None else f"{ratio:.2f}",
            "goal": ">= 0.9",
            "reached": ratio is not None and ratio >= 0.9,
        },
        {
            "name": "PTY pass-through, added latency of a key, p99",
            "figure": f"{added:.2f} ms",
            "goal": "< 2 ms",
            "reached": added < 2.0,
        },
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure what a wrapped terminal costs.")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    as_json = parser.parse_args().json
    rates, trips = measure_bulk(), measure_keys()
    found = rows(rates, trips)
    if as_json:
        print(json.dumps({"rows": found}, indent=2))
        return
    print(f"{'':8}{'bulk MB/s':>12}{'key p50 ms':>12}{'key p99 ms':>12}")
    for name, rate in rates.items():
        print(f"{name:8}{statistics.median(rate):12.1f}{trips[name][0]:12.3f}{trips[name][1]:12.3f}")
    print()
    for row in found:
        print(f"{row['name']:50}{row['figure']:>12}  goal {row['goal']:8}{'reached' if row['reached'] else 'NOT reached'}")


if __name__ == "__main__":
    main()

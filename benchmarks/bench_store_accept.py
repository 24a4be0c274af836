"""What it costs to commit a message before ``feed`` answers: one at a time, and in lists from several threads.

Method: on the same disk, in turns, round by round. *One commit* is SQLite alone: a table in a file of its own, WAL,
``synchronous=FULL``, one row of the same size in a transaction of its own. *Single* is ``Tocsin.send_mail`` to a recipient that
nobody delivers to, from one thread: the desk, the store's actor, the commit, the answer. *In groups* is ``feed_all`` with lists
of 100 from four threads at a time. The median of the rounds counts. Every round checks that what was answered is in the file.
"""

import sqlite3
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

from figures import Row, at_least, below, median, parser, report, told

from tocsin import Tocsin
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Recipient

TEXT: Final = "x" * 150
THREADS: Final = 4
LIST: Final = 100


def bare(path: Path, number: int) -> float:
    """Seconds for one synchronous commit."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = full")
    connection.execute("CREATE TABLE IF NOT EXISTS rows (id TEXT PRIMARY KEY, text TEXT)")
    began = time.perf_counter()
    for nth in range(number):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", (f"{began}-{nth}", TEXT))
        connection.execute("COMMIT")
    spent = time.perf_counter() - began
    connection.close()
    return spent / number


def single(line: Tocsin, number: int) -> float:
    """Seconds for one message."""
    began = time.perf_counter()
    for _ in range(number):
        line.send_mail("dev", TEXT)
    return (time.perf_counter() - began) / number


def in_groups(line: Tocsin, number: int) -> float:
    """Messages a second, fed by all threads together."""
    events = [Event(text=TEXT, to="dev", traffic="mail") for _ in range(LIST)]
    taken: list[int] = []

    def feed() -> None:
        for _ in range(number // LIST // THREADS):
            taken.append(line.feed_all(events).accepted)

    before = line.records.waiting("dev")
    threads = [threading.Thread(target=feed) for _ in range(THREADS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - began
    if line.records.waiting("dev") - before != sum(taken):
        raise SystemExit("not everything that was answered is in the file")
    return sum(taken) / spent


def rows(rounds: int, number: int) -> list[Row]:
    """The goals of ``spec/speed``: a single one at most 1.5 commits, groups at least 50,000 a second."""
    commits, singles, groups = [], [], []
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as place, Tocsin(store=Path(place) / "tocsin.db") as line:
        line.records.register(Recipient(name="dev"))
        for _ in range(rounds):
            commits.append(bare(Path(place) / "bare.db", number))
            singles.append(single(line, number))
            groups.append(in_groups(line, number * 50))
    method = f"median of {rounds} rounds of {number}"
    ratio = median(one / commit for one, commit in zip(singles, commits, strict=True))
    return [
        below("durable accept, single", ratio, 1.5, "× one synchronous commit", f"round by round; {method}"),
        at_least("durable accept, in groups", median(groups), 50_000, "/s", f"{THREADS} threads, lists of {LIST}; {method}"),
        told("one synchronous commit", median(commits) * 1_000, "ms", method),
        told("durable accept, single, by the clock", median(singles) * 1_000, "ms", method),
    ]


def main() -> None:
    """Run it from the command line."""
    given = parser(__doc__)
    given.add_argument("--rounds", type=int, default=7)
    given.add_argument("--number", type=int, default=400)
    options = given.parse_args()
    report(rows(options.rounds, options.number), as_json=options.json)


if __name__ == "__main__":
    main()

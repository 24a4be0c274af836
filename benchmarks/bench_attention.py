"""What the person's queue costs: a summons, the next item, an answer with the next item; in a program, and from a shell.

Method: a queue is filled with so many items, half of them waiting, the others answered, each with its history. Then, round by
round on the same disk: *one commit* is SQLite alone (WAL, ``synchronous=FULL``, one row in a transaction of its own); then one
of each command through ``AttentionDesk.act``, from bytes to the committed answer, an answer with its first try to send it.
The 95th percentile of all rounds counts, and is divided by the one of the commits between them. *Flat* compares the medians of
the largest queue with those of the smallest, each as a multiple of its commits. *From a shell* is a whole process, ``tocsin
attention next``, in turns with a bare ``python -c pass``. Every queue is asked at the end whether it holds what was answered.
"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

from figures import Row, as_installed, below, median, missing, parser, percentile, report, told

from tocsin.contracts.attention_answers import Receipt
from tocsin.contracts.attention_facts import Policy, Principal
from tocsin.contracts.recipients import Recipient
from tocsin.edges.attention.desk import AttentionDesk, ByHand, attention
from tocsin.edges.attention.names import uuid
from tocsin.edges.clock import SteadyClock
from tocsin.edges.opened import opened
from tocsin.store.engine import Store

CLOCK: Final = SteadyClock()
WORK: Final = {"project_id": "film", "work_id": "likeness-2"}
PACKET: Final = {
    "human_id": "human",
    **WORK,
    "intervention_key": "k",
    "kind": "selection",
    "title": "Choose the next render",
    "requested_action": "Select candidate A, B, C or D for the next batch. " * 5,
    "context": "Round 2. Same lighting and composition. " * 10,
    "unblocks": "The next batch.",
}
COMMANDS: Final = ("summon", "next", "resolve --next")

FILL: Final = (
    """WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < :count)
    INSERT INTO attention_items (item_id, human_id, owner_principal, project_id, work_id, intervention_key, source_id, state,
        revision, packet, submitted, standing, ready_sequence, created_at, updated_at, claimed_at, resolved_at, outcome,
        response)
    SELECT x, 'human', 'seat:dev', 'film', 'likeness-2', 'filled-' || x, :source, iif(x % 2, 'queued', 'resolved'),
        1, :packet, 'h' || x, 'h' || x, x, x, x, iif(x % 2, NULL, x), iif(x % 2, NULL, x), iif(x % 2, NULL, 'answered'),
        iif(x % 2, NULL, 'yes') FROM n""",
    """WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < :count)
    INSERT INTO attention_events (event_id, item_id, source_id, principal, kind, at, payload)
    SELECT x + 10, x, :source, 'source:bench', 'added', x, '{}' FROM n""",
    """WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < :count)
    INSERT INTO attention_events (item_id, source_id, principal, kind, at, payload)
    SELECT x, :source, 'operator', 'amended', x, '{}' FROM n""",
)


class Queue:
    """A queue of so many items, and who may do what in it."""

    def __init__(self, place: Path, desk: AttentionDesk) -> None:
        self.desk = desk
        self.person: Principal = desk.operator()
        self.seat = desk.seat(place / "source.json")
        self.answered = 0

    def act(self, action: str, **payload: Any) -> tuple[float, Receipt]:
        """Seconds of one command, and its receipt."""
        said = {"schema_version": 1, "command_id": uuid(CLOCK), "action": action, "payload": payload}
        data, who = json.dumps(said).encode(), self.seat if action == "summon" else self.person
        began = time.perf_counter()
        answer = self.desk.act(data, who)
        spent = time.perf_counter() - began
        if not isinstance(answer, Receipt):
            raise SystemExit(f"{action} was refused: {answer.message}")
        return spent, answer

    def round(self, spent: dict[str, list[float]]) -> None:
        """One of each: an item is taken, answered with the next, and that one is answered alone."""
        seconds, _ = self.act("summon", **{**PACKET, "intervention_key": uuid(CLOCK)})
        spent["summon"].append(seconds)
        seconds, taken = self.act("next", human_id="human")
        spent["next"].append(seconds)
        seconds, following = self._resolve(taken, select_next=True)
        spent["resolve --next"].append(seconds)
        self._resolve(following)

    def _resolve(self, receipt: Receipt, *, select_next: bool = False) -> tuple[float, Receipt]:
        item = receipt.active
        assert item is not None
        self.answered += 1
        about = {"item_id": item.item_id, "expected_revision": item.revision, "select_next": select_next}
        return self.act("resolve", outcome="answered", response="Take C.", **about)

    def check(self) -> None:
        """Everything that was answered is there."""
        counts = self.desk.counts()
        sent = sum(counts.returns.values())
        if sent != self.answered or counts.active_item_id is not None:
            raise SystemExit(f"{self.answered} items were answered, and {sent} answers are on record")


@contextmanager
def filled(place: Path, count: int) -> Iterator[Queue]:
    """A queue on a disk."""
    place.mkdir()
    with opened(place / "tocsin.db", CLOCK, print) as records:
        records.register(Recipient(name="dev"))
    with _desk(place) as desk:
        evidence = ByHand(actor="dev")
        bound = desk.bind("film", "likeness-2", mode="actor_context", out=place / "source.json", evidence=evidence)
        assert isinstance(bound, Receipt)
    store = Store.open(place / "tocsin.db", now=CLOCK.now())
    with store.write() as tx:
        for statement in FILL:
            tx.execute(statement, {"count": count, "source": bound.source_id, "packet": json.dumps(PACKET).encode()})  # type: ignore[arg-type]
    store.close()  # nobody else has it open, so its log is folded in before anything is measured
    with _desk(place) as desk:
        yield Queue(place, desk)


def _desk(place: Path) -> AbstractContextManager[AttentionDesk]:
    return attention(place / "tocsin.db", state=place / "state", clock=CLOCK, policy=Policy(), warn=print)


def one_commit(connection: sqlite3.Connection, nth: int) -> float:
    """Seconds of one synchronous commit."""
    began = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", (nth, "x" * 300))
    connection.execute("COMMIT")
    return time.perf_counter() - began


def bare(place: Path) -> sqlite3.Connection:
    """A database with one table."""
    connection = sqlite3.connect(place / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = full")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
    return connection


def progress(text: str) -> None:
    """What is done now, on standard error: a queue of a million takes its time to fill."""
    print(f"bench_attention: {text}", file=sys.stderr, flush=True)


Figures = dict[str, list[float]]


def measured(place: Path, count: int, rounds: int) -> tuple[Figures, list[float]]:
    """Seconds of each command, and of the commits between them."""
    spent: Figures = {name: [] for name in COMMANDS}
    with filled(place / str(count), count) as queue:
        connection = bare(place / str(count))
        queue.round({name: [] for name in COMMANDS})  # what is loaded once is loaded
        commits = []
        for nth in range(rounds):
            commits.append(one_commit(connection, nth))
            queue.round(spent)
        queue.check()
        connection.close()
    return spent, commits


def rows(sizes: list[int], rounds: int, shells: int) -> list[Row]:
    """The figures of ``spec/attention``."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as root:
        by_size = {}
        for count in sizes:
            progress(f"filling and measuring a queue of {count:,} items")
            by_size[count] = measured(Path(root), count, rounds)
        progress(f"{shells} commands from a shell")
        for count, (spent, commits) in by_size.items():
            found += _of_size(count, spent, commits)
        found += _flat(by_size, min(sizes), max(sizes))
        found += _from_a_shell(Path(root) / str(max(sizes)), shells)
    return found


def _of_size(count: int, spent: Figures, commits: list[float]) -> list[Row]:
    method = f"{count:,} items with history; 95th percentiles of {len(commits)}"
    found = []
    for name, seconds in spent.items():
        slow = percentile(seconds, 95)
        found.append(below(f"{name}, {count:,} items", slow / percentile(commits, 95), 8, "× one commit", method))
        found.append(below(f"{name}, {count:,} items, by the clock", slow * 1_000, 5, "ms", method))
    found.append(told(f"one commit beside {count:,} items", median(commits) * 1_000, "ms", "median"))
    return found


def _flat(by_size: dict[int, tuple[Figures, list[float]]], small: int, large: int) -> list[Row]:
    found = []
    for name in COMMANDS:
        ratios = [median(by_size[count][0][name]) / median(by_size[count][1]) for count in (large, small)]
        found.append(below(f"{name}, flat", ratios[0] / ratios[1], 1.5, f"× from {small:,} to {large:,} items", "of medians"))
    return found


def _from_a_shell(place: Path, shells: int) -> list[Row]:
    """A whole command: the interpreter, the imports, the database, the answer on standard output."""
    environ = {**as_installed(), "XDG_STATE_HOME": str(place / "xdg"), "XDG_CONFIG_HOME": str(place / "none")}
    command = [sys.executable, "-m", "tocsin", "attention", "next", "--human", "human", "--json"]
    command += ["--store", str(place / "shell.db")]
    if subprocess.run(command, env=environ, capture_output=True, check=False).returncode:
        return [missing("next from a shell", "< 200 ms", "`tocsin attention next` does not work here")]
    whole, empty = [], []
    for _ in range(shells):
        whole.append(_seconds(lambda: subprocess.run(command, env=environ, capture_output=True, check=True)))
        empty.append(_seconds(lambda: subprocess.run([sys.executable, "-c", "pass"], env=environ, check=True)))
    method = f"95th percentile of {shells} processes"
    return [
        below("next from a shell", percentile(whole, 95) * 1_000, 200, "ms", method),
        told("next from a shell, against an empty Python", median(whole) / median(empty), "×", f"medians of {shells}"),
    ]


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def main() -> None:
    """Run it from the command line."""
    given = parser(__doc__)
    given.add_argument("--items", type=int, nargs="+", default=[1_000, 100_000, 1_000_000], help="sizes of the queues")
    given.add_argument("--rounds", type=int, default=300)
    given.add_argument("--shells", type=int, default=20)
    options = given.parse_args()
    report(rows(options.items, options.rounds, options.shells), as_json=options.json)


if __name__ == "__main__":
    main()

"""Real processes that end at every point, without a word: nothing that was answered is lost, at most one block comes twice."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tocsin.store import intake
from tocsin.store.engine import Store

DYING = Path(__file__).parent / "dying.py"
DIED = "9"


def read(journal: Path) -> tuple[set[str], list[tuple[str, int, tuple[str, ...]]]]:
    """What was answered, and what was told: the block, its attempt, its messages."""
    lines = [line.split() for line in journal.read_text(encoding="utf-8").splitlines()] if journal.exists() else []
    answered = {line[1] for line in lines if line[0] == "answered"}
    return answered, [(line[1], int(line[2]), tuple(line[3:])) for line in lines if line[0] == "told"]


def open_ones(path: Path) -> list[str]:
    store = Store.open(path, now=1_700_100_000_000)
    try:
        with store.read() as view:
            return [one.id for one in intake.listing(view, states=intake.OPEN)]
    finally:
        store.close()


@pytest.fixture
def place() -> Iterator[Path]:
    """In memory, where there is such a place: the processes die, the machine doesn't, and a disk takes its time."""
    shared = Path("/dev/shm")
    with TemporaryDirectory(dir=shared if shared.is_dir() and os.access(shared, os.W_OK) else None) as folder:
        yield Path(folder)


def test_a_process_that_ends_at_any_point_loses_nothing_and_repeats_at_most_one_block_under_its_id(place: Path) -> None:
    done = subprocess.run([sys.executable, str(DYING), str(place)], capture_output=True, text=True, timeout=300, check=True)
    assert done.stderr == ""
    points = [line.split() for line in done.stdout.splitlines()]
    assert len(points) > 50
    assert [(died, again) for _, died, again in points[:-1]] == [(DIED, "0")] * (len(points) - 1)
    repeated = 0
    for point, _, _ in points:
        answered, told = read(place / point / "journal")
        ids = Counter(id for _, _, some in told for id in some)
        assert answered <= set(ids), f"lost, ended at point {point}"
        again = [attempt for block, times in Counter(block for block, _, _ in told).items() if times > 1 for attempt in [times]]
        assert again in ([], [2]), f"ended at point {point}"
        assert max(ids.values(), default=0) <= 2
        twice = {id for id, times in ids.items() if times > 1}
        blocks = {block: some for block, _, some in told}
        assert twice <= {id for block in blocks for id in blocks[block] if Counter(one for one, _, _ in told)[block] > 1}
        assert all(attempt > 1 for block, attempt, _ in told[len(blocks) :] if block in blocks)
        assert open_ones(place / point / "tocsin.db") == []
        repeated += bool(again)
    assert 0 < repeated < len(points), "the points between a sink and the record of it are among them"

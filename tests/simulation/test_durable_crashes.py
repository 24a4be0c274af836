"""Crashes of the durable line: killed at every point between two steps and started again, it loses nothing that was accepted
and tells at most one block twice, under the same ids."""

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tocsin.contracts.durable import OPEN
from tocsin.contracts.recipients import Recipient
from tocsin.store import intake, recipients

remembering = runpy.run_path(str(Path(__file__).parent / "remembering.py"))
Fate, Killed, Life, Reader, words = (remembering[name] for name in ("Fate", "Killed", "Life", "Reader", "words"))

SAID = [
    words("mail", "one"),
    words("user", "two"),
    words("notice", "three", key="breaker:steer:looping", source="harness"),
    words("return", "four", key="q1@1"),
    words("mail", "five"),
    words("notice", "six", key="heartbeat:quiet", source="harness"),
]


def live(path: Path, reader: Any, fate: Any, number: int, *, said: bool) -> list[str]:
    """One process's life: what it was told was accepted. It may end by ``Killed``."""
    accepted: list[str] = []
    life = Life(path, reader, fate, number, at=1_700_049_600_000 + number * 3_600_000)
    try:
        life.open()
        for nth, event in enumerate(SAID if said else []):
            accepted.append(life.feed(event, f"m{nth}"))
            life.pass_time(100)
        life.pass_time(5_000)
    except Killed:
        pass
    finally:
        life.bury()
    return accepted


def open_ones(path: Path) -> list[str]:
    reader, fate = Reader(), Fate()
    life = Life(path, reader, fate, 99)
    try:
        return life.memory.query(lambda view: [one.id for one in intake.listing(view, states=OPEN)])
    finally:
        life.bury()


def points(tmp_path: Path) -> int:
    """How many points a whole life passes."""
    fate = Fate()
    reader = Reader()
    assert live(tmp_path / "whole.db", reader, fate, 1, said=True) == [f"m{n}" for n in range(6)]
    assert sorted(reader.ids()) == [f"m{n}" for n in range(6)]
    return fate.point


def test_a_death_at_any_point_loses_nothing_that_was_accepted_and_repeats_at_most_one_block(tmp_path: Path) -> None:
    wheres = Counter[str]()
    most = points(tmp_path)
    assert most > 30
    for die_at in range(1, most + 1):
        path, reader, fate = tmp_path / f"{die_at}.db", Reader(), Fate(die_at)
        accepted = live(path, reader, fate, 1, said=True)
        wheres[fate.where] += 1
        before = list(reader.got)
        live(path, reader, Fate(), 2, said=False)
        told = Counter(reader.ids())
        assert set(accepted) <= set(told), f"lost, dead {fate.where} at point {die_at}"
        assert max(told.values(), default=0) <= 2
        again = [delivery for delivery in reader.got[len(before) :] if delivery.id in {one.id for one in before}]
        assert len(again) <= 1, f"more than one block was repeated, dead {fate.where}"
        assert all(delivery.attempt > 1 for delivery in again)
        repeated = {id for id, times in told.items() if times > 1}
        assert repeated <= {entry.id for delivery in again for entry in delivery.entries}, "a repeat has another block's id"
        assert open_ones(path) == []
    assert set(wheres) == {"before a transaction", "before a commit", "after a commit", "before the sink", "after the sink"}


def test_two_deaths_in_a_row_lose_nothing_either(tmp_path: Path) -> None:
    most = points(tmp_path)
    for first in range(1, most, 5):
        for second in range(1, 14, 3):
            path, reader = tmp_path / f"{first}-{second}.db", Reader()
            accepted = live(path, reader, Fate(first), 1, said=True)
            live(path, reader, Fate(second), 2, said=False)
            live(path, reader, Fate(), 3, said=False)
            told = Counter(reader.ids())
            assert set(accepted) <= set(told)
            assert max(told.values(), default=0) <= 3
            assert open_ones(path) == []


def test_a_harness_notice_that_was_told_is_not_told_again_by_the_next_process(tmp_path: Path) -> None:
    path, reader = tmp_path / "a.db", Reader()
    live(path, reader, Fate(), 1, said=True)
    life = Life(path, reader, Fate(), 2)
    life.open()
    life.feed(words("notice", "three again", key="breaker:steer:looping", source="harness"), "later")
    life.pass_time(5_000)
    assert "later" not in reader.ids()
    [row] = life.memory.query(lambda view: intake.find(view, "later"))
    assert (row.verdict, row.reason) == ("fold", "told_and_not_rearmed")
    life.bury()


def test_wherever_it_dies_a_told_notice_is_on_the_ledger_or_comes_again_under_its_own_id(tmp_path: Path) -> None:
    most = points(tmp_path)
    for die_at in range(1, most + 1):
        path, reader = tmp_path / f"{die_at}.db", Reader()
        live(path, reader, Fate(die_at), 1, said=True)
        life = Life(path, reader, Fate(), 2)
        life.open()
        life.pass_time(5_000)
        life.feed(words("notice", "three again", key="breaker:steer:looping", source="harness"), "later")
        life.pass_time(5_000)
        told = [entry.id for delivery in reader.got for entry in delivery.entries if entry.text.startswith("three")]
        assert Counter(told) <= Counter({"m2": 2, "later": 1})
        assert ("later" in told) is ("m2" not in told), f"told {told}, died at {die_at}"
        life.bury()


@pytest.mark.parametrize("gap", [0, 1, 7])
def test_order_is_kept_over_a_takeover(tmp_path: Path, gap: int) -> None:
    path, reader = tmp_path / "a.db", Reader()
    life = Life(path, reader, Fate(), 1)
    life.memory.change(lambda tx: recipients.register(tx, Recipient(name="dev")))
    for nth in range(40):
        life.feed(words("mail", f"mail {nth}"), f"m{nth}")
    life.open()
    fate = life._fate
    fate.die_at = fate.point + 20 + gap
    with pytest.raises(Killed):
        life.pass_time(10_000)
    life.bury()
    live(path, reader, Fate(), 2, said=False)
    first_told = list(dict.fromkeys(reader.ids()))
    assert first_told == [f"m{nth}" for nth in range(40)]

"""Field cases F07, F09 and F11: what counts as work, a person's draft, and keys beside an injection."""

import os
import random
import runpy
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

AGENTS = Path(__file__).parents[1] / "agents"
_outer = runpy.run_path(str(AGENTS / "outer_terminal.py"))
OuterTerminal, until = _outer["OuterTerminal"], _outer["until"]
ROUNDS = int(os.environ.get("TOCSIN_TERMINAL_RUNS", "20"))


def test_f07_a_clock_that_ticks_in_place_is_no_work(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, agent=["ink", "idle"]) as outer:
        outer.sees(b"up 2 ticks")
        before = len(outer.facts("output"))
        outer.sees(b"up 12 ticks")
        assert len(outer.facts("output")) == before


@pytest.mark.parametrize("scene", ["thinking", "streaming"])
def test_f07_a_spinner_and_running_text_are_work(tmp_path: Path, scene: str) -> None:
    with OuterTerminal(tmp_path, agent=["ink", scene]) as outer:
        outer.fact("output", 20)
        at = [line["at"] for line in _outer["lines_of"](outer.log) if line.get("fact") == "output"]
        assert all(later - earlier >= 95 for earlier, later in pairwise(at)), "at most ten a second"


def test_f09_a_draft_is_never_typed_over(tmp_path: Path) -> None:
    with OuterTerminal(tmp_path, agent=["composer"]) as outer:
        outer.sees(b"> ")
        outer.keys(b"merge only af")
        outer.fact("draft_started")
        assert outer.submit("build failed") == "not_now"
        outer.keys(b"ter tests")
        assert outer.submit("build failed") == "not_now"
        outer.keys(b"\r")
        outer.fact("draft_ended")
        assert outer.submit_when_free("build failed") == "submitted"
        assert outer.submitted(2) == ["merge only after tests", "build failed"]


@pytest.mark.parametrize("clear", [b"\x03", b"\x15", b"\x7f" * 4])
def test_f09_a_draft_that_was_cleared_is_none(tmp_path: Path, clear: bytes) -> None:
    with OuterTerminal(tmp_path, agent=["composer"]) as outer:
        outer.sees(b"> ")
        outer.keys(b"oops")
        outer.fact("draft_started")
        assert outer.submit("build failed") == "not_now"
        outer.keys(clear)
        outer.fact("draft_ended")
        assert outer.submit_when_free("build failed") == "submitted"
        assert outer.submitted(1) == ["build failed"]


@pytest.mark.timeout(1800)
def test_f11_body_and_enter_are_one_whatever_keys_race(tmp_path: Path) -> None:
    chance = random.Random(11)
    with OuterTerminal(tmp_path, agent=["composer"]) as outer:
        outer.sees(b"> ")
        expected: list[str] = []
        for round_number in range(ROUNDS):
            texts = [f"first of {round_number}\nwith two lines", f"second of {round_number}"]
            keyed = [f"key {round_number} {n}" for n in range(10)]
            orders = [outer.order(text) for text in texts]
            typist = threading.Thread(target=type_keys, args=(outer, keyed, chance.random()))
            typist.start()
            answers = [outer.answer(order) for order in orders]
            typist.join()
            expected += keyed + [text for text, answer in zip(texts, answers, strict=True) if answer != "not_now"]
            assert sorted(outer.submitted(len(expected))) == sorted(expected)
        assert sum(text.startswith("first") for text in outer.submitted()) > 0


def type_keys(outer, lines: list[str], pace: float) -> None:
    for line in lines:
        # Twenty bursts of keys: half a line, then the rest and Enter.
        for part in (line[:5], line[5:] + "\r"):
            outer.keys(part.encode())
            time.sleep(pace / 100)  # a person types at some pace; the race is to be tried at many

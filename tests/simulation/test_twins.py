"""Twins: a world played by hand and the same world on the dispatcher's real thread give the same decisions."""

import os
import runpy
from itertools import groupby
from pathlib import Path

import msgspec
import pytest

from tocsin.actors.messages import Tick
from tocsin.contracts.errors import NotNow, SinkBusy, SinkGone
from tocsin.pipeline.record import Policy as RecordPolicy
from tocsin.pipeline.roster import IntakePolicy, Settings
from tocsin.pipeline.simulate import Chance, World, world

stepping = runpy.run_path(str(Path(__file__).parent / "stepping.py"))
Box, Line = stepping["Box"], stepping["Line"]

SEEDS = range(int(os.environ.get("TOCSIN_SEEDS", "25")))
SETTINGS = Settings(record=RecordPolicy(decisions=1_000_000), intake=IntakePolicy(limit=100))
PLAN = World(length=300_000, stories=40)


class Elsewhere:
    """A sink that takes its time: its answers come from the test, between two moments of the world."""

    async def deliver(self, delivery):
        raise AssertionError("the courier of these tests never calls it")


def answered(line, chance: Chance) -> None:
    """Some of the deliveries that are under way come back, one way or another."""
    while line.courier.under_way and chance.happens(0.7):
        line.courier.answer(chance.pick((None, None, None, SinkBusy("later"), NotNow("a draft"), SinkGone("gone"))))
        line.settle()


def played(seed: int, *, threaded: bool):
    chance = Chance(seed)
    with Line(SETTINGS, threaded=threaded) as line:
        line.open("dev", typing=True)
        line.open("ops", sink=Elsewhere())
        line.boxes["docs"] = Box(*(SinkBusy("not yet") for _ in range(seed % 4)))
        line.open("docs")
        for at, together in groupby(world(PLAN, seed), key=lambda timed: timed[0]):
            line.until(at)
            line.feed(*(what for _, what in together))
            answered(line, chance)
        for _ in range(500):
            line.after(2_000)
            answered(line, chance)
        assert line.balanced(), line.balance()
        return line.story(), [box.tried for box in line.boxes.values()], line.tree.status()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_thread_decides_as_the_hand_does(seed: int) -> None:
    by_hand, by_thread = played(seed, threaded=False), played(seed, threaded=True)
    assert by_hand[0] == by_thread[0]
    assert msgspec.json.encode(by_hand[1]) == msgspec.json.encode(by_thread[1])
    assert by_hand[2] == by_thread[2]


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_the_same_calls_give_the_same_bytes(seed: int) -> None:
    one, two = played(seed, threaded=False), played(seed, threaded=False)
    assert msgspec.json.encode(one) == msgspec.json.encode(two)


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_a_wake_that_comes_early_late_or_twice_changes_nothing(seed: int) -> None:
    def told(nudged: bool) -> list:
        with Line(SETTINGS) as line:
            line.open("dev", "ops", "docs")
            for at, what in world(PLAN, seed):
                line.until(at)
                line.feed(what)
                if nudged:
                    for actor in line.tree._actors:
                        if hasattr(actor, "stage"):
                            actor.actor_ref.tell(Tick())
                    line.settle()
            line.after(400_000)
            return line.story()

    assert told(nudged=False) == told(nudged=True)

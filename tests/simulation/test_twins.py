"""Twins: a world played by hand and the same world on the dispatcher's real thread give the same decisions."""

import os
import runpy
from pathlib import Path

import msgspec
import pytest

from tocsin.contracts.errors import SinkBusy
from tocsin.pipeline.record import Policy as RecordPolicy
from tocsin.pipeline.roster import Settings
from tocsin.pipeline.simulate import World, world

stepping = runpy.run_path(str(Path(__file__).parent / "stepping.py"))
Box, Line = stepping["Box"], stepping["Line"]

SEEDS = range(int(os.environ.get("TOCSIN_SEEDS", "25")))
SETTINGS = Settings(record=RecordPolicy(decisions=1_000_000))
PLAN = World(length=300_000, stories=40)


def played(seed: int, *, threaded: bool):
    with Line(SETTINGS, threaded=threaded) as line:
        line.open("dev", typing=True)
        line.open("ops")
        line.boxes["docs"] = Box(*(SinkBusy("not yet") for _ in range(seed % 4)))
        line.open("docs")
        line.play(world(PLAN, seed))
        line.after(400_000)
        status = line.tree.status()
        assert line.balanced(), line.balance()
        return line.story(), {name: box.tried for name, box in line.boxes.items()}, status


@pytest.mark.parametrize("seed", SEEDS)
def test_the_thread_decides_as_the_hand_does(seed: int) -> None:
    by_hand, by_thread = played(seed, threaded=False), played(seed, threaded=True)
    assert by_hand[0] == by_thread[0]
    assert msgspec.json.encode(by_hand[1]) == msgspec.json.encode(by_thread[1])
    assert by_hand[2] == by_thread[2]

"""Stories: JSON lines in, expected text out. Each ``NAME.jsonl`` is played and what comes of it compared with ``NAME.txt``.

The first line of a story has a title, the lanes and, if need be, settings; every further line has ``at`` (milliseconds) and an
``event`` or a ``signal``, and may have ``times`` and ``every`` (milliseconds). ``{word}`` in a text is another word each time.
After a change that is meant, write the texts anew with TOCSIN_WRITE_STORIES=1 and read the difference.
"""

import json
import os
import runpy
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tocsin.contracts.deliveries import Delivery
from tocsin.contracts.errors import NotNow, SinkBusy, SinkGone
from tocsin.contracts.events import Event
from tocsin.contracts.signals import Signal
from tocsin.pipeline.roster import Settings
from tocsin.pipeline.simulate import word

HERE = Path(__file__).parent
STORIES = sorted(HERE.glob("*.jsonl"))
ANSWERS = {"busy": SinkBusy("it is busy"), "not now": NotNow("a menu is open"), "gone": SinkGone("its terminal was closed")}
stepping = runpy.run_path(str(HERE.parent / "simulation" / "stepping.py"))
Line, Box, START = stepping["Line"], stepping["Box"], stepping["START"]


def happenings(line: dict) -> Iterator[tuple[int, Event | Signal]]:
    for nth in range(line.get("times", 1)):
        at = line["at"] + nth * line.get("every", 0)
        if "signal" in line:
            yield at, msgspec.convert(line["signal"], Signal)
        else:
            yield at, msgspec.convert({**line["event"], "text": line["event"]["text"].replace("{word}", word(nth + 70))}, Event)


def moment(at: int) -> str:
    seconds, millis = divmod(at, 1_000)
    return f"{seconds // 60:02}:{seconds % 60:02}.{millis:03}"


def told(at: int, delivery: Delivery) -> Iterator[str]:
    again = f", attempt {delivery.attempt}" if delivery.attempt > 1 else ""
    yield f"=== {moment(at)} to {delivery.lane}{again}"
    yield delivery.text
    if delivery.spill:
        yield f"--- the file {delivery.id}.txt, {len(delivery.spill)} characters"
        yield delivery.spill
    yield ""


def what_came_of_it(path: Path) -> str:
    head, *lines = (json.loads(line) for line in path.read_text().splitlines() if line.strip())
    out = [f"# {head['title']}", ""]

    class Told(Box):
        def put(self, delivery: Delivery):
            answer = super().put(delivery)
            out.extend(told(line.elapsed, delivery))
            return answer

    with Line(msgspec.convert(head.get("settings", {}), Settings), spill_dir="spill") as line:
        for name, lane in head["lanes"].items():
            answers = [ANSWERS[answer] for answer in lane.get("answers", ())]
            line.open(name, sink=Told(*answers), typing=lane.get("typing", False))
        line.play(sorted((one for story in lines for one in happenings(story)), key=lambda timed: timed[0]))
        line.after(60_000)
        assert line.balanced(), line.balance()
        status, decisions = line.tree.status(), [letter.decision for letter in line.tree.dead_letters()]
    out += [f"left in {lane.name}: {lane.depth}, waits for {lane.waits_for}" for lane in status.lanes if lane.depth]
    out += [f"dead letter for {d.lane}: {d.id}, {d.reason}{d.note and ': ' + d.note}" for d in decisions]
    kinds = [tally for tally in status.tallies if tally.verdict != "pass"]
    out += [f"{kind.count:>6} {kind.stage} {kind.verdict} {kind.reason}" for kind in kinds]
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("path", STORIES, ids=[path.stem for path in STORIES])
def test_the_story_ends_as_it_is_written(path: Path) -> None:
    came, written = what_came_of_it(path), path.with_suffix(".txt")
    if os.environ.get("TOCSIN_WRITE_STORIES"):
        written.write_text(came)
    assert came == written.read_text()


def test_no_text_is_without_its_story() -> None:
    assert {path.stem for path in HERE.glob("*.txt")} == {path.stem for path in STORIES}
    assert len(STORIES) >= 6

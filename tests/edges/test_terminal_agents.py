"""Agents: whatever a person does meanwhile, each notice comes once, whole, as one submission, when nobody is at work."""

import os
import random
import runpy
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

AGENTS = Path(__file__).parents[1] / "agents"
_outer = runpy.run_path(str(AGENTS / "outer_terminal.py"))
OuterTerminal, lines_of, until = _outer["OuterTerminal"], _outer["lines_of"], _outer["until"]
RUNS = int(os.environ.get("TOCSIN_TERMINAL_RUNS", "40"))
"""Seeded runs for each agent."""

EVERY_AGENT = (
    ("composer",),
    ("ink", "idle"),
    ("ink", "thinking"),
    ("ink", "streaming"),
    ("slow_reader",),
    ("permission",),
    ("guesses_paste",),
    ("guesses_paste", "bracketed"),
    ("empty_line",),
    ("switcher",),
)
BEGINS, WORDS = "[tocsin ", ("alpha", "bravo", "delta", "echo", "hotel", "lima", "oscar", "tango", "victor", "zulu")


class Desk(OuterTerminal):  # type: ignore[misc, valid-type]
    """A person at an agent that gets its notices from a line of its own."""

    wrapper = "line.py"

    def __init__(self, folder: Path, agent: tuple[str, ...]) -> None:
        folder.mkdir()
        super().__init__(folder, agent=agent)
        self.agent = agent
        self.told, self.read = Lines(self.log), Lines(self.agent_log)
        self.lines: list[str] = []

    def feed(self, text: str) -> None:
        os.write(self.control, text.encode() + b"\n")

    def see(self) -> None:
        """Look at the screen as a person does: until it has shown something new, or does not."""
        size, end = len(self.shown), time.monotonic() + 0.2
        while len(self.shown) == size and time.monotonic() < end:
            time.sleep(0.01)  # a person waits as well

    def enter(self, line: str) -> None:
        self.see()
        self.keys(b"\r")
        self.lines.append(line)


class Lines:
    """The JSON lines of a log that grows, each read once."""

    def __init__(self, path: str) -> None:
        self._path, self._at = Path(path), 0
        self.all: list[dict[str, Any]] = []

    def of(self, name: str) -> list[Any]:
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._at)
                new = file.read()
            new = new[: new.rfind(b"\n") + 1]
            self._at += len(new)
            self.all += [_outer["json"].loads(line) for line in new.splitlines()]
        return [line[name] for line in self.all if name in line]


def type_a_line(desk: Desk, chance: random.Random) -> None:
    """In pieces, with slips that are rubbed out, and pauses in which it is half typed."""
    words = [chance.choice(WORDS) for _ in range(chance.randint(1, 3))]
    for word in words:
        desk.keys(word.encode())
        if chance.random() < 0.3 and desk.agent[0] != "switcher":
            desk.keys(b"qx")
            time.sleep(chance.random() * 0.03)  # a slip is seen before it is mended
            desk.keys(b"\x7f\x7f")
        time.sleep(chance.random() * 0.06)  # between words
    desk.enter("".join(words))


def clear_a_line(desk: Desk, chance: random.Random) -> None:
    desk.keys(chance.choice(WORDS).encode() + b" half")
    time.sleep(chance.random() * 0.15)  # a person thinks better of it
    desk.keys(chance.choice((b"\x15", b"\x03")))


def move(desk: Desk, chance: random.Random) -> None:
    desk.keys(chance.choice((b"\x1b[C", b"\x1b[D", b"\x1bOC")))


def resize(desk: Desk, chance: random.Random) -> None:
    desk.resize(chance.randint(15, 40), chance.randint(60, 120))


def work(desk: Desk, chance: random.Random) -> None:
    text = f"work {chance.randint(50, 250)}"
    desk.keys(text.encode())
    desk.enter(text)


def ask(desk: Desk, chance: random.Random) -> None:
    asked, answered = desk.read.of("submitted").count("ask"), len(desk.read.of("answered"))
    desk.keys(b"ask")
    desk.enter("ask")
    until(lambda: desk.read.of("submitted").count("ask") > asked, "the question")
    time.sleep(chance.random() * 0.3)  # it is read, or the answer was known
    desk.keys(b"1")
    until(lambda: len(desk.read.of("answered")) > answered, "the answer")


def run(desk: Desk, seed: int) -> None:
    """One notice among what a person does in a second or two; then all must be there."""
    chance = random.Random(f"{desk.agent} {seed}")
    deeds: list[Callable[[Desk, random.Random], None]] = [type_a_line, type_a_line, resize, move, move]
    deeds += [clear_a_line, work] if desk.agent[0] != "switcher" else []
    deeds += [ask, ask] if desk.agent[0] == "permission" else []
    told, read, desk.lines = len(desk.told.of("told")), len(submitted(desk)), []
    script = [*(chance.choice(deeds) for _ in range(chance.randint(1, 4))), None]
    chance.shuffle(script)
    for deed in script:
        if deed is None:
            detail = "\n".join(" ".join(chance.choices(WORDS, k=5)) for _ in range(chance.randint(0, 30)))
            desk.feed(f"{''.join(chance.choices('bcdfghklmnprstvwz', k=12))}Error {detail}".replace("\n", " "))
        else:
            deed(desk, chance)
        time.sleep(chance.random() * 0.05)  # the next deed races with what comes of the last
    if desk.agent[0] == "switcher":
        # It has its full-screen turn between two messages; a person goes on there.
        for _ in range(4):
            if len(desk.told.of("told")) == told:
                type_a_line(desk, chance)
                time.sleep(0.5)  # its line has as long to tell
    until(lambda: len(desk.told.of("told")) > told, "the notice")
    until(lambda: len(submitted(desk)) >= read + len(desk.lines) + 1, f"{desk.lines} in {submitted(desk)[read:]}")
    check(desk, desk.told.of("told")[told:], submitted(desk)[read:])


def check(desk: Desk, told: list[str], read: list[str]) -> None:
    assert len(told) == 1, told
    notices = [text for text in read if BEGINS in text]
    flat = " ".join(told[0].split())
    assert [" ".join(text.split()) for text in notices] == [flat], (notices, told)
    assert [text for text in read if BEGINS not in text] == desk.lines
    assert not [text for text in desk.read.of("read_at_work") if BEGINS in text]
    assert not [text for text in desk.read.of("answered") if text != "1"]


def submitted(desk: Desk) -> list[str]:
    """What was sent to the agent; one that logs the raw bytes of it is read as a composer would."""
    if desk.agent[0] != "switcher":
        return desk.read.of("submitted")
    composer = _composing["Composer"]()
    return [text for raw in desk.read.of("raw") for text in composer.feed(raw.encode())]


sys.path.insert(0, str(AGENTS))
_composing = runpy.run_path(str(AGENTS / "composing.py"))
sys.path.remove(str(AGENTS))


def runs(folder: Path, agent: tuple[str, ...]) -> list[str]:
    """What went wrong, with the agent and the seed; an agent that got something wrong is not asked again."""
    with Desk(folder / "-".join(agent), agent) as desk:
        desk.sees(b">")
        for seed in range(RUNS):
            try:
                run(desk, seed)
            except AssertionError as error:
                os.write(desk.control, b"?\n")
                waits = until(lambda: desk.told.of("waits"))
                state = f"the lane waits for {waits}; submitted at last: {submitted(desk)[-3:]}; {bytes(desk.shown[-300:])!r}"
                return [f"{' '.join(agent)}, seed {seed}: {error}; {state}"]
    return []


@pytest.mark.timeout(1800)
def test_each_notice_arrives_once_whole_and_at_an_idle_moment(tmp_path: Path) -> None:
    # They mostly wait, each for its own agent: together they take little longer than one.
    with ThreadPoolExecutor(len(EVERY_AGENT)) as pool:
        wrong = [fault for faults in pool.map(partial(runs, tmp_path), EVERY_AGENT) for fault in faults]
    assert not wrong, "\n".join(wrong)

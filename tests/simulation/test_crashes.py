"""Crashes: a stage that raises loses nothing but the input that broke it, which is put aside with its traceback."""

import os
import runpy
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tocsin.contracts.errors import NotRunning
from tocsin.contracts.events import Event
from tocsin.contracts.notices import Admission, Notice, Proposal
from tocsin.contracts.signals import Output, Paused, ProcessExited, RebuildStarted, Resumed
from tocsin.contracts.verdicts import ENDS, Stage
from tocsin.pipeline.record import Policy as RecordPolicy
from tocsin.pipeline.roster import ROSTER, Settings
from tocsin.pipeline.simulate import Chance, World, word, world
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

stepping = runpy.run_path(str(Path(__file__).parent / "stepping.py"))
Line = stepping["Line"]

SEEDS = range(int(os.environ.get("TOCSIN_SEEDS", "25")))
POISON = "\N{SKULL}"


class PoisonError(Exception):
    """What a stage raises that reads the poison."""


def texts(item: object) -> Iterator[str]:
    match item:
        case Event():
            yield item.text
        case Notice():
            yield item.event.text
        case Admission():
            yield from (notice.event.text for notice in item.passed)
        case Proposal():
            yield from (entry.notice.event.text for entry in item.entries)


def chokes_on_poison(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> None:
    """From now on this stage raises when it reads an input that holds the poison."""
    offer = ROSTER[stage].offer

    def reading(batch: Iterable[object]) -> Iterator[object]:
        for item in batch:
            if any(POISON in text for text in texts(item)):
                raise PoisonError(stage)
            yield item

    monkeypatch.setattr(ROSTER[stage], "offer", lambda self, batch, now, step: offer(self, reading(batch), now, step))


def fails_now_and_then(monkeypatch: pytest.MonkeyPatch, owner: type, method: str, chance: Chance, share: float) -> list[str]:
    """From now on the method raises at random moments, before it does anything; below a share of 1 never twice running."""
    original, raised, calls = getattr(owner, method), [], [0]

    def wrapped(self, *args):
        calls[0] += 1
        if chance.happens(share) and (share == 1 or calls[0] not in (1, *raised[-1:])):
            raised.append(calls[0] + 1)
            raise PoisonError(f"{owner.__name__}.{method}")
        return original(self, *args)

    monkeypatch.setattr(owner, method, wrapped)
    return raised


def event(text: str, **fields: object) -> Event:
    return Event(text=text, to="dev", scope="web", **fields)


@pytest.mark.parametrize("stage", list(ROSTER))
def test_only_the_poisoned_of_a_batch_is_lost_and_the_others_keep_their_order(monkeypatch, stage: Stage) -> None:
    chokes_on_poison(monkeypatch, stage)
    with Line() as line:
        box = line.open("dev")
        good = [event(f"good {'abcdefghi'[n]}") for n in range(9)]
        line.feed(good[0], event(f"{POISON} one"), *good[1:5], event(f"{POISON} two"), event(f"{POISON} three"), *good[5:])
        line.after(3_000)
        line.feed(event("after it"))
        line.after(3_000)
        assert box.texts() == [*(e.text for e in good), "after it"]
        letters = line.tree.dead_letters()
        assert [letter.notice.event.text for letter in letters] == [f"{POISON} one", f"{POISON} two", f"{POISON} three"]
        for letter in letters:
            assert (letter.decision.stage, letter.decision.reason) == (stage, "PoisonError")
            assert "Traceback" in letter.decision.note
            assert letter.decision.note.rstrip().endswith(f"PoisonError: {stage}")
        assert line.balance() == (13, 10, 0, 3, 0)
        assert line.tree.status().restarts == 0


@pytest.mark.parametrize("stage", list(ROSTER))
def test_a_batch_of_nothing_but_poison_ends_aside(monkeypatch, stage: Stage) -> None:
    chokes_on_poison(monkeypatch, stage)
    with Line() as line:
        box = line.open("dev")
        line.feed(*(event(f"{POISON} {letter}") for letter in "abcde"))
        line.after(3_000)
        assert box.got == []
        assert len(line.tree.dead_letters()) == 5
        assert line.balance() == (5, 0, 0, 5, 0)


@pytest.mark.parametrize("stage", list(ROSTER))
def test_what_was_put_aside_is_not_remembered_as_told(monkeypatch, stage: Stage) -> None:
    with monkeypatch.context() as patch:
        chokes_on_poison(patch, stage)
        with Line() as line:
            box = line.open("dev")
            line.feed(event(f"{POISON} a"), event("b"))
            line.after(3_000)
            patch.undo()
            line.feed(event(f"{POISON} a"))
            line.after(3_000)
            assert box.texts() == ["b", f"{POISON} a"]


NATURAL = {
    "a text that is a number": ({"text": 5}, "classify"),
    "a severity that is none": ({"severity": "catastrophe"}, "classify"),
    "a recipient that is a list": ({"to": ["dev"]}, "classify"),
    "a frame that is a number": ({"frame": 7}, "fingerprint"),
    "a scope that is a list": ({"scope": []}, "fingerprint"),
    "a class that is none": ({"traffic": "gossip"}, "dedup"),
    "a time that is a word": ({"at": "yesterday"}, "throttle"),
    "a detail that is a number": ({"detail": 3.5}, "fanout"),
    "a detail that can't be copied": ({"detail": lambda: None}, "fanout"),
}


@pytest.mark.parametrize("name", NATURAL)
def test_an_event_made_with_the_wrong_types_is_put_aside_alone(name: str) -> None:
    fields, stage = NATURAL[name]
    bad = Event(**{"text": "odd", "to": "dev", "scope": "web", **fields})
    with Line() as line:
        box = line.open("dev")
        line.feed(event("before"), bad, event("behind"))
        line.after(3_000)
        assert box.texts() == ["before", "behind"]
        (letter,) = line.tree.dead_letters()
        assert letter.notice.event is bad
        assert str(letter.decision.stage) == stage
        assert "Traceback" in letter.decision.note
        assert line.balance() == (3, 2, 0, 1, 0)


def test_a_poisoned_event_in_a_flood_leaves_what_is_evicted_counted_once() -> None:
    with Line() as line:
        box = line.open("dev")
        flood = [event(f"{word(number)} went wrong", severity="warning") for number in range(200)]
        line.feed(*flood[:199], Event(text="odd", to="dev", scope="web", at="yesterday"), flood[199])
        line.after(3_000)
        (delivery,) = box.got
        assert [entry.text for entry in delivery.entries] == [e.text for e in flood[150:]]
        assert delivery.suppressed == {"warning": 150}
        assert [letter.notice.event.text for letter in line.tree.dead_letters()] == ["odd"]
        assert line.balanced(), line.balance()


@pytest.mark.parametrize("threaded", [False, True], ids=["by hand", "threaded"])
@pytest.mark.parametrize("stage", list(ROSTER))
@pytest.mark.parametrize("seed", SEEDS[:2])
def test_a_whole_world_with_poison_in_it_loses_only_the_poison(monkeypatch, stage: Stage, seed: int, threaded: bool) -> None:
    chokes_on_poison(monkeypatch, stage)
    chance = Chance(seed)
    with Line(Settings(record=RecordPolicy(decisions=1_000_000, dead_letters=100_000)), threaded=threaded) as line:
        line.open("dev", typing=True)
        line.open("ops", "docs")
        poisons = 0
        for at, what in world(World(length=200_000, stories=25), seed):
            line.until(at)
            line.feed(what)
            if chance.happens(0.1):
                poisons += 1
                line.feed(poison(f"poison-{poisons}", word(poisons), chance.pick(("dev", "ops", "docs"))))
        line.after(2_000_000)
        assert line.balanced(), line.balance()
        assert all(POISON not in text for box in line.boxes.values() for text in box.texts())
        decisions = [decision for decision in line.tree.decisions()[0] if decision.id.startswith("poison-")]
        ends = Counter(decision.id for decision in decisions if decision.verdict in ENDS)
        assert ends == {f"poison-{number}": 1 for number in range(1, poisons + 1)}
        aside = [decision for decision in decisions if decision.verdict == "dead_letter"]
        assert {decision.stage for decision in aside} == {stage}
        assert len(aside) > poisons / 2, "few ends come before they reach the stage that chokes"
        assert line.tree.status().restarts == 0


def poison(name: str, about: str, to: str) -> Event:
    return Event(text=f"{POISON} {about}", to=to, id=name, severity="error")


METHODS = {
    Stage.CLASSIFY: ("offer", "observe"),
    Stage.FINGERPRINT: ("offer",),
    Stage.DEDUP: ("offer", "told", "lost", "missed", "rearm", "notices_told", "notices_lost"),
    Stage.THROTTLE: ("offer", "tick", "kept", "dropped", "settled", "wake_lane", "wake_scope", "clear", "rearm"),
    Stage.HOLD: ("offer", "tick", "observe"),
    Stage.DEFER: ("offer", "tick", "observe"),
    Stage.FANOUT: ("offer", "tick", "accepted"),
}


@pytest.mark.parametrize("stage", list(ROSTER))
@pytest.mark.parametrize("seed", SEEDS)
def test_faults_at_random_moments_lose_nothing(monkeypatch, stage: Stage, seed: int) -> None:
    """The same world with and without faults: the same notices are told to the same recipients, each once."""
    plan, told = World(length=120_000, stories=15), []
    for faulty in (False, True):
        with monkeypatch.context() as patch, Line() as line:
            line.open("dev", "ops", "docs")
            if faulty:
                chance = Chance(seed)
                patch.setattr("tocsin.actors.supervisor.INTENSITY", 1_000)  # what is borne is another test's business
                raised = [fails_now_and_then(patch, ROSTER[stage], name, chance, 0.1) for name in METHODS[stage]]
            line.play(world(plan, seed))
            line.after(2_000_000)
            assert line.balanced(), line.balance()
            assert line.tree.dead_letters() == [] or not faulty
            told.append({name: [(e.id, e.count) for d in box.got for e in d.entries] for name, box in line.boxes.items()})
            if faulty:
                assert line.tree.status().broken == "", raised
    assert told[0] == told[1]


def test_a_fault_without_a_culprit_restarts_the_stage_with_its_state(monkeypatch) -> None:
    with Line() as line:
        box = line.open("dev")
        throttle = next(actor for actor in line.tree._actors if type(actor).__name__ == "ThrottleActor")
        line.feed(*(event(f"pending {letter}") for letter in "abc"))
        before = throttle.stage
        raised = fails_now_and_then(monkeypatch, ROSTER[Stage.THROTTLE], "tick", Once(), 1.0)
        line.after(3_000)
        assert len(raised) == 1
        assert throttle.stage is not before
        assert box.texts() == ["pending a", "pending b", "pending c"]
        status = line.tree.status()
        assert (status.restarts, status.broken) == (1, "")


@pytest.mark.parametrize("times", [1, 2])
def test_a_stage_whose_state_cannot_be_copied_goes_on_with_the_state_it_has(monkeypatch, times: int) -> None:
    with Line() as line:
        box = line.open("dev")
        line.feed(event("fine"), event("odd", detail=lambda: None))
        fails_now_and_then(monkeypatch, ROSTER[Stage.THROTTLE], "tick", Once(times), 1.0)
        line.after(3_000)
        assert box.texts() == ["fine"]
        assert [letter.notice.event.text for letter in line.tree.dead_letters()] == ["odd"]
        assert line.balanced(), line.balance()
        assert line.tree.status().restarts == 1


class Once:
    """A chance that comes true once, or so many times, and never again."""

    def __init__(self, times: int = 1) -> None:
        self.left = times

    def happens(self, share: float) -> bool:
        self.left -= 1
        return self.left >= 0


@pytest.mark.parametrize(
    ("stage", "method", "signal"),
    [
        (Stage.HOLD, "observe", RebuildStarted(scope="web")),
        (Stage.DEFER, "observe", Paused(lane="dev")),
    ],
)
def test_a_signal_that_a_stage_can_not_bear_leaves_its_state_and_the_line_as_they_were(
    monkeypatch, stage, method, signal
) -> None:
    with Line() as line:
        box = line.open("dev")
        line.feed(Paused(lane="dev"), event("kept", severity="error"))
        line.after(1_000)
        with monkeypatch.context() as patch:
            fails_now_and_then(patch, ROSTER[stage], method, Chance(1), 1.0)
            line.feed(signal)
        assert box.got == []
        line.feed(Resumed(lane="dev"))
        assert box.texts() == ["kept"]
        status = line.tree.status()
        assert (status.restarts, status.broken) == (1, "")


@pytest.mark.parametrize(
    ("stage", "signal"),
    [(Stage.HOLD, ProcessExited(scope="web", code=1)), (Stage.DEFER, Output(lane="dev", size=50))],
)
def test_a_stage_that_keeps_failing_makes_the_line_refuse_with_the_reason(monkeypatch, stage: Stage, signal) -> None:
    with Line() as line:
        line.open("dev")
        fails_now_and_then(monkeypatch, ROSTER[stage], "observe", Chance(1), 1.0)
        for _ in range(5):
            line.feed(signal)
        line.feed(event("the last that is let in"))
        line.tree.feed([signal])
        line.settle()
        with pytest.raises(NotRunning, match=rf"(?is)the line gave up, {stage}Actor kept failing: Traceback.*PoisonError"):
            line.feed(event("refused"))
        assert "PoisonError" in line.tree.status().broken


@pytest.mark.parametrize("threaded", [False, True], ids=["by hand", "threaded"])
@pytest.mark.parametrize("stage", [Stage.THROTTLE, Stage.HOLD, Stage.FANOUT])
def test_a_tick_that_always_raises_ends_in_a_refusal_and_not_in_an_endless_loop(monkeypatch, stage, threaded: bool) -> None:
    with Line(Settings(throttle=ThrottlePolicy(window=1_000)), threaded=threaded) as line:
        box = line.open("dev")
        if stage is Stage.FANOUT:
            box.answers.append(ValueError("try again"))
        fails_now_and_then(monkeypatch, ROSTER[stage], "tick", Chance(1), 1.0)
        line.feed(RebuildStarted(scope="web"), Event(text="waits", to="dev", traffic="event"))
        line.feed(Event(text="now", to="dev", traffic="mail"))
        line.after(40_000)
        with pytest.raises(NotRunning, match="kept failing"):
            line.feed(event("refused"))
        assert line.balanced(), line.balance()

"""Laws that every stage on the roster keeps: same calls, same answers; an honest ``due``; wakes without authority; copies.

A random story is played on the whole line, and every call that a stage gets is put on its tape. The laws are then shown by
playing the tapes again, so a new gate on the roster is covered without a word about it here.
"""

import inspect
import operator
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.actors.messages import Rearmer, Seed
from tocsin.actors.stage import StageActor
from tocsin.actors.tree import Tree
from tocsin.contracts import signals as s
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.durable import Announced
from tocsin.contracts.errors import NotNow, SinkBusy, SinkGone
from tocsin.contracts.events import Event
from tocsin.contracts.lanes import LaneSpec
from tocsin.contracts.moves import NoticesLost
from tocsin.contracts.notices import Proposal
from tocsin.contracts.verdicts import Stage
from tocsin.pipeline.dedup import Policy as DedupPolicy
from tocsin.pipeline.roster import ROSTER, Settings
from tocsin.pipeline.step import Step
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

START = 1_700_000_000_000
SETTINGS = Settings(
    dedup=DedupPolicy(notice_ttl=300_000), throttle=ThrottlePolicy(max_pending=5, max_notices=3, notice_ttl=20_000)
)
QUESTIONS = {"due", "snapshot", "decided", "view", "states", "flying", "print_of", "recipients", "told_of"}
LANES = {"dev": True, "ops": False}
"""Lane → whether it types. ``ops`` has a sink that takes its time."""


class Call(NamedTuple):
    """One call that a stage got: its name, its arguments as they were, when it came, and what it answered."""

    name: str
    arguments: bytes
    now: int | None
    answer: str


def ask(stage: Any, name: str, arguments: bytes) -> str:
    """Make a call; everything that it answered, to the letter."""
    step: Step[Any] = Step()
    given_arguments = [step if argument == "<step>" else argument for argument in pickle.loads(arguments)]
    returned = getattr(stage, name)(*given_arguments)
    return repr((returned, step.out, step.rulings))


class Taped:
    """Stands where the stage stands and notes every call. The calls go on to a stage of its own."""

    def __init__(self, stage: Any, tape: list[Call]) -> None:
        self._stage, self._tape = stage, tape

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._stage, name)
        if not callable(attribute) or name in QUESTIONS:
            return attribute

        def call(*arguments: Any) -> Any:
            given_arguments = [list(a) if isinstance(a, Iterator) else a for a in arguments]
            noted = pickle.dumps(["<step>" if isinstance(a, Step) else a for a in given_arguments])
            places = dict(zip(inspect.signature(attribute).parameters, given_arguments, strict=False))
            step: Step[Any] = Step()
            returned = attribute(*(step if isinstance(a, Step) else a for a in given_arguments))
            self._tape.append(Call(name, noted, places.get("now"), repr((returned, step.out, step.rulings))))
            for theirs in (a for a in given_arguments if isinstance(a, Step)):
                theirs.out.extend(step.out)
                theirs.rulings.extend(step.rulings)
            return returned

        return call


class World:
    """A line under a clock of its own, with a tape beside every stage. ``ops`` answers when the story says so."""

    def __init__(self) -> None:
        self.t, self.carried = START, list[tuple[Delivery, Callable[[Any], None]]]()
        self.tree, self.tapes = Tree(SETTINGS, self, self), {stage: list[Call]() for stage in ROSTER}
        for actor in self.tree._actors:
            if isinstance(actor, StageActor):
                actor.stage = Taped(actor.stage, self.tapes[actor.name])
        for lane, typing in LANES.items():
            self.tree.open_lane(LaneSpec(name=lane, typing=typing), self if typing else Slow())

    def now(self) -> int:
        return self.t

    def put(self, delivery: Delivery) -> Receipt:
        return Receipt(proof=Proof.RECORDED)

    def carry(self, sink: Any, delivery: Delivery, done: Callable[[Any], None]) -> None:
        self.carried.append((delivery, done))

    def play(self, story: list[Any]) -> "World":
        for item in story:
            if isinstance(item, int):
                self.after(item)
            elif isinstance(item, Receipt | Exception):
                if self.carried:
                    self.carried.pop(0)[1](item)
            elif isinstance(item, Rearmer | Seed):
                self.tree.ask(self.tree._dedup, item)
            else:
                self.tree.feed([item] if not isinstance(item, list) else item)
            self.tree.dispatcher.run_until_idle()
        return self

    def after(self, by: int) -> None:
        until = self.t + by
        while (due := self.tree.dispatcher.next_due()) is not None and due <= until:
            self.t = max(self.t, due)
            self.tree.dispatcher.run_until_idle()
        self.t = until


class Slow:
    """A sink that takes its time."""

    async def deliver(self, delivery: Delivery) -> Receipt:
        raise AssertionError("the courier of this world never calls it")


NOISE = "connect ECONNREFUSED 127.0.0.1:80"
SCOPES = {"boom": "web", "bang": "api", "slow query": "", "ts2322": "web", NOISE: "web"}
"""Text → its scope. Few, so that they repeat."""
WORDS = ["lost", "late", "odd", "gone", "torn", "mad", "bad"]
LANE = st.sampled_from([*LANES])


def said(text: str, **fields: Any) -> Event:
    key = text if fields["traffic"] in ("notice", "return") else ""
    return Event(text=text, key=key, scope=SCOPES.get(text, "db"), **fields)


EVENTS = st.builds(
    said,
    st.sampled_from([*SCOPES]),
    to=st.sampled_from([*LANES] * 4 + [None, "ghost"]),
    source=st.sampled_from(["process_output"] * 3 + ["diagnostic"]),
    severity=st.sampled_from(["info", "warning", "error", "critical"]),
    traffic=st.sampled_from(["event"] * 6 + ["user", "notice", "mail", "return"]),
    category=st.sampled_from(["", "build"]),
    id=st.sampled_from(["", "", "m1", "m2"]),
    urgent=st.booleans(),
)
KEYS = ["heartbeat:quiet", "heartbeat:mail", "heartbeat:mail", "breaker:steer:looping", "mine:k", "plain"]
NOTICES = st.builds(
    Event,
    text=st.sampled_from(["boom", "again"]),
    to=LANE,
    traffic=st.just("notice"),
    source=st.just("harness"),
    key=st.sampled_from(KEYS),
    ctx=st.lists(st.sampled_from(["m1", "m2", "m3"]), max_size=3, unique=True).map(tuple),
    urgent=st.sampled_from([False, False, True]),
    cleared_when=st.sampled_from(["", "", "read", "drained", "started"]),
)
REARMS = st.one_of(
    st.builds(Rearmer, LANE, st.sampled_from(["", "heartbeat", "breaker"]), st.just(operator.ne)),  # all of that kind is gone
    st.builds(
        lambda lane, key, ids: Seed(lane, [Announced(recipient=lane, signature=key, at=START, ctx=ids)]),
        LANE, st.sampled_from(KEYS), st.sampled_from([(), ("m1",), ("m1", "m2")]),
    ),
)  # fmt: skip
FLOODS = st.builds(lambda lane: [said(word, to=lane, traffic="event", severity="error") for word in WORDS], LANE)
OUTAGES = st.builds(
    lambda lane: [s.TransportFailed(scope="web"), said(NOISE, to=lane, traffic="event"), s.GoodResponse(scope="web")], LANE
)
PLAIN = [
    s.TurnStarted, s.TurnEnded, s.DraftStarted, s.DraftEnded, s.DialogOpened, s.DialogClosed, s.ToolOpened, s.ToolClosed,
    s.WaitStarted, s.WaitEnded, s.Paused, s.Resumed, s.RecipientDied, s.RecipientRevived,
]  # fmt: skip
FACTS = st.one_of(
    st.builds(lambda kind, lane: kind(lane=lane), st.sampled_from(PLAIN), LANE),
    st.builds(s.Output, lane=LANE, size=st.sampled_from([4, 50])),
    st.builds(s.Cleared, lane=LANE, key=st.just("boom"), source=st.just("process_output"), scope=st.just("web")),
    st.builds(s.Cleared, lane=LANE, key=st.sampled_from(KEYS)),
    st.builds(
        lambda kind, scope: kind(scope=scope),
        st.sampled_from([s.ProcessStarted, s.RestartRequested, s.RebuildStarted, s.TransportFailed, s.GoodResponse]),
        st.sampled_from(["web", "api"]),
    ),
    st.builds(s.ProcessExited, scope=st.just("web"), code=st.sampled_from([0, 1])),
    st.builds(s.RebuildFinished, scope=st.just("web"), ok=st.booleans()),
)
ANSWERS = st.sampled_from([Receipt(proof=Proof.OFFERED)] * 4 + [SinkBusy("locked"), NotNow("a draft"), SinkGone("closed")])
TIMES = st.sampled_from([0, 1, 100, 250, 250, 500, 1_000, 2_000, 3_000, 3_000, 10_000, 31_000, 61_000, 400_000, 1_900_000])
CHAPTERS = st.one_of(EVENTS, EVENTS, EVENTS, NOTICES, NOTICES, REARMS, FLOODS, OUTAGES, FACTS, FACTS, TIMES, TIMES, ANSWERS)
STORIES = st.lists(CHAPTERS, min_size=15, max_size=50)

WAKEFUL = [stage for stage in ROSTER if hasattr(ROSTER[stage], "tick")]
every_stage = pytest.mark.parametrize("stage", ROSTER, ids=str)
every_wakeful_stage = pytest.mark.parametrize("stage", WAKEFUL, ids=str)


def fresh(stage: Stage) -> Any:
    policy = getattr(SETTINGS, stage)
    return ROSTER[stage](policy, "t", "") if stage is Stage.FANOUT else ROSTER[stage](policy)


def copy(stage: Any) -> Any:
    return type(stage).restore(stage.snapshot())


def tick(stage: Any, now: int) -> tuple[list[Any], list[Any]]:
    step: Step[Any] = Step()
    stage.tick(now, step)
    return step.out, step.rulings


@every_stage
@settings(max_examples=40, deadline=None)
@given(story=STORIES)
def test_the_same_calls_give_the_same_answers(stage: Stage, story: list[Any]) -> None:
    tape, twin = World().play(story).tapes[stage], fresh(stage)
    for call in tape:
        assert ask(twin, call.name, call.arguments) == call.answer


@every_stage
@settings(max_examples=25, deadline=None)
@given(story=STORIES)
def test_a_stage_restored_from_its_snapshot_answers_alike_from_there_on(stage: Stage, story: list[Any]) -> None:
    tape, twin = World().play(story).tapes[stage], fresh(stage)
    for call in tape:
        twin = copy(twin)
        assert ask(twin, call.name, call.arguments) == call.answer


@every_stage
@settings(max_examples=25, deadline=None)
@given(story=STORIES)
def test_a_snapshot_is_a_copy_that_later_calls_do_not_touch(stage: Stage, story: list[Any]) -> None:
    tape, twin = World().play(story).tapes[stage], fresh(stage)
    half = len(tape) // 2
    for call in tape[:half]:
        ask(twin, call.name, call.arguments)
    kept = twin.snapshot()
    for call in tape[half:]:
        ask(twin, call.name, call.arguments)
    again = type(twin).restore(kept)
    for call in tape[half:]:
        assert ask(again, call.name, call.arguments) == call.answer


@every_wakeful_stage
@settings(max_examples=25, deadline=None)
@given(story=STORIES)
def test_nothing_happens_before_it_is_due_and_something_at_it(stage: Stage, story: list[Any]) -> None:
    twin = fresh(stage)
    now = START
    for call in World().play(story).tapes[stage]:
        ask(twin, call.name, call.arguments)
        now = call.now or now
        due = twin.due()
        if due is None:
            assert tick(copy(twin), now + 10**9) == ([], [])
            continue
        early = copy(twin)
        for moment in (now, (now + due) // 2, due - 1):
            if moment < due:
                assert tick(early, moment) == ([], [])
        assert early.due() == due
        in_time = copy(twin)
        at_it = tick(in_time, due)
        assert tick(early, due) == at_it
        assert early.due() == in_time.due()
        # Something is said; or, where what was ready has gone meanwhile, the next moment is set. It never asks in vain twice.
        assert at_it != ([], []) or (in_time.due() or due + 1) > due


@every_stage
@settings(max_examples=40, deadline=None)
@given(story=STORIES)
def test_early_and_double_wakes_change_nothing(stage: Stage, story: list[Any]) -> None:
    twin = fresh(stage)
    for call in World().play(story).tapes[stage]:
        if stage in WAKEFUL and call.now is not None and ((due := twin.due()) is None or due > call.now):
            assert tick(twin, call.now) == ([], [])
        assert ask(twin, call.name, call.arguments) == call.answer
        if call.name == "tick" and ((due := twin.due()) is None or due > call.now):
            assert tick(twin, call.now) == ([], [])


def timeless(value: Any) -> str:
    """What is said, but for the moment at which it is said. Of several batches that are ready by then, the first may be
    another one, so of a proposal only its lane counts."""
    if isinstance(value, Proposal):
        return f"a proposal for {value.lane}"
    return repr(msgspec.structs.replace(value, at=None) if isinstance(value, Event) else value)


def one_by_one(moves: list[Any]) -> set[str]:
    """What is said, whether of several at once or of each alone."""
    alone = [NoticesLost(m.lane, (n,)) for m in moves if isinstance(m, NoticesLost) for n in m.serials]
    return {timeless(move) for move in [*alone, *(move for move in moves if not isinstance(move, NoticesLost))]}


@every_wakeful_stage
@settings(max_examples=40, deadline=None)
@given(story=STORIES, late=st.sampled_from([1, 700, 5_000, 40_000]))
def test_a_late_wake_says_what_wakes_in_time_would_have_said(stage: Stage, story: list[Any], late: int) -> None:
    twin = fresh(stage)
    for call in World().play(story).tapes[stage]:
        if call.name == "tick":
            in_time, too_late, end = copy(twin), copy(twin), call.now + late
            said: list[Any] = tick(in_time, call.now)[0]
            while (due := in_time.due()) is not None and due <= end:
                said += tick(in_time, due)[0]
            assert one_by_one(tick(too_late, end)[0]) == one_by_one(said)
            assert too_late.due() == in_time.due()
        ask(twin, call.name, call.arguments)


def test_the_story_reaches_every_stage_and_every_kind_of_wake() -> None:
    busy = [
        s.TurnStarted(lane="dev"), [Event(text="boom", to=lane, severity="error", scope="web") for lane in LANES], 250,
        s.TransportFailed(scope="web"), s.TurnEnded(lane="dev"), SinkBusy("locked"), 60_000, Receipt(proof=Proof.OFFERED),
        s.Output(lane="ops", size=50), Event(text="bang", to="ops", severity="critical"), 60_000,
    ]  # fmt: skip
    tapes = World().play(busy).tapes
    assert all(tapes.values())
    for stage in WAKEFUL:
        assert "tick" in {call.name for call in tapes[stage]}, stage


PROGRAM = """
import runpy, sys
laws = runpy.run_path(sys.argv[1])
Event, Receipt, s = laws["Event"], laws["Receipt"], laws["s"]
story = [Event(text=word, to=lane, scope=scope, severity="error") for word in laws["WORDS"] for lane in laws["LANES"]
         for scope in ("web", "api", "db", "")]
world = laws["World"]()
world.play([s.TransportFailed(scope="web"), story, 300, s.GoodResponse(scope="web"), 500, story, 70_000, story])
world.play([s.RebuildStarted(scope="web"), laws["Receipt"](proof="recorded"), 70_000, story, 40_000])
print([(str(stage), call.name, call.now, call.answer) for stage, tape in world.tapes.items() for call in tape])
"""


def test_another_process_with_another_order_of_hashes_answers_the_same_bytes() -> None:
    def played(seed: str) -> bytes:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, __file__], env=environment, capture_output=True, check=True
        ).stdout

    first = played("1")
    assert len(first) > 10_000
    assert played("2") == played("3") == first

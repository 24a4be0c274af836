"""Several processes at one queue: one item at a time, and no command that was carried out is ever lost or done twice."""

import json
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tocsin.contracts.attention_answers import Code, Refusal, Result
from tocsin.contracts.attention_items import EventKind, Phase
from tocsin.contracts.base import Instant
from tocsin.edges.attention.desk import attention
from tocsin.edges.attention.names import uuid
from tocsin.edges.opened import opened

_summoned = runpy.run_path(str(Path(__file__).parent / "store" / "summoned.py"))
NAMES = ("Place", "packet", "without_settings", "command", "done", "resolve", "CLOCK", "POLICY", "attending")
Summoned, packet, without_settings, command, done, resolve, CLOCK, POLICY, attending = (_summoned[name] for name in NAMES)
PATIENCE = 100.0

TAKER = """
    import json, sys
    from pathlib import Path
    from tocsin.contracts.attention_facts import Policy
    from tocsin.edges.attention.desk import attention
    from tocsin.edges.attention.names import uuid
    from tocsin.edges.clock import SteadyClock

    clock = SteadyClock()
    def ask(action, **payload):
        data = json.dumps({"schema_version": 1, "command_id": uuid(clock), "action": action, "payload": payload}).encode()
        return desk.act(data, me)
    root = Path(sys.argv[1])
    with attention(root / "tocsin.db", state=root / "state", clock=clock, policy=Policy(human_id="hakon"), warn=print) as desk:
        me = desk.operator()
        print("ready", flush=True)
        sys.stdin.readline()
        while (answer := ask("next", human_id="hakon")).active is not None:
            item = answer.active
            done = ask("resolve", item_id=item.item_id, expected_revision=item.revision, outcome="answered", response="x")
            print(json.dumps([item.item_id, answer.result, getattr(done, "result", ""), getattr(done, "code", "")]), flush=True)
"""
DIES = """
    import os, sys
    from pathlib import Path
    from tocsin.actors.tables import Direct
    from tocsin.contracts.attention_facts import Policy
    from tocsin.edges.attention.desk import AttentionDesk
    from tocsin.edges.clock import SteadyClock
    from tocsin.store.engine import Store

    clock, root = SteadyClock(), Path(sys.argv[1])
    class Dies(Direct):
        armed = False
        def change(self, call):
            answer = super().change(call)
            if self.armed:
                os._exit(9)
            return answer
    tables = Dies(lambda: Store.open(root / "tocsin.db", now=clock.now()))
    desk = AttentionDesk.over(tables, state=root / "state", clock=clock, policy=Policy(human_id="hakon"))
    who = desk.seat(root / "source.json") if sys.argv[2] == "seat" else desk.operator()
    tables.armed = True
    desk.act(sys.stdin.buffer.read(), who)
"""


class Place(Summoned):
    """One in which processes die."""

    def dies(self, who: str, data: bytes) -> None:
        """Somebody sends this command, and is dead before the answer."""
        argv = [sys.executable, "-c", textwrap.dedent(DIES), str(self.root), who]
        assert subprocess.run(argv, input=data, timeout=PATIENCE, check=False).returncode == 9


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    without_settings(monkeypatch)
    return Place(tmp_path)


# One item at a time


def test_A04_H01_many_processes_that_take_and_answer_at_once_never_have_two_items(place: Place) -> None:
    number = 40
    place.summoned(*(f"k{nth}" for nth in range(number)))
    with place.desk() as desk:
        desk.operator()
    argv = [sys.executable, "-c", textwrap.dedent(TAKER), str(place.root)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    takers = [subprocess.Popen(argv, **pipes) for _ in range(6)]
    for taker in takers:
        assert taker.stdout.readline() == "ready\n"
    for taker in takers:
        taker.stdin.write("go\n")
        taker.stdin.flush()
    said = [json.loads(line) for taker in takers for line in taker.communicate(timeout=PATIENCE)[0].splitlines()]
    claimed = [item for item, result, _, _ in said if result == "claimed"]
    assert sorted(claimed) == list(range(1, number + 1)), "each was taken once, by whomever"
    resolved = [item for item, _, result, _ in said if result == "resolved"]
    assert sorted(resolved) == list(range(1, number + 1))
    assert {code for _, _, _, code in said if code} <= {"stale_revision", "wrong_state"}
    with place.desk() as desk:
        happenings = [event for item in range(1, number + 1) for event in desk.history(item).events]
    taken = [event for event in sorted(happenings, key=lambda one: one.event_id) if event.kind in TURNS]
    assert [event.kind for event in taken] == [EventKind.CLAIMED, EventKind.RESOLVED] * number
    assert [event.item_id for event in taken[::2]] == [event.item_id for event in taken[1::2]] == list(range(1, number + 1))


TURNS = {EventKind.CLAIMED, EventKind.RESOLVED}


# Dead between the commit and the answer


def test_H05_A11_a_summons_whose_answer_was_lost_is_one_item_also_if_its_source_was_revoked_meanwhile(place: Place) -> None:
    data = command("summon", **packet())
    place.dies("seat", data)
    with place.desk() as desk:
        [listed] = desk.queue().items
        source_id = desk.sources().sources[0].source_id
        done(desk.act(command("source_revoke", source_id=source_id, reason="over"), desk.operator()))
        answer = done(desk.act(data, desk.seat(place.source)))
        assert (answer.item_id, answer.result, answer.replayed) == (listed.item_id, Result.CREATED, True)
        kept = done(desk.command(answer.command_id, desk.operator()))
        assert msgspec.json.encode(msgspec.structs.replace(answer, replayed=False)) == msgspec.json.encode(kept)
        assert len(desk.queue().items) == 1


def test_H05_A05_a_claim_whose_answer_was_lost_stays_and_is_answered_again(place: Place) -> None:
    place.summoned("one", "two")
    data = command("next", human_id="hakon")
    place.dies("person", data)
    with place.desk() as desk:
        assert desk.counts().active_item_id == 1
        answer = done(desk.act(data, desk.operator()))
        assert (answer.result, answer.replayed, answer.active.item_id) == (Result.CLAIMED, True, 1)  # type: ignore[union-attr]
        fresh = done(desk.act(command("next", human_id="hakon"), desk.operator()))
        assert (fresh.result, fresh.active.item_id) == (Result.ALREADY_ACTIVE, 1)  # type: ignore[union-attr]


def test_H05_A06_an_answer_with_the_next_item_is_given_once_and_leads_to_the_same_item(place: Place) -> None:
    place.summoned("one", "two", "three")
    with place.desk() as desk:
        done(desk.act(command("next", human_id="hakon"), desk.operator()))
    data = resolve(1, select_next=True)
    place.dies("person", data)
    with place.desk() as desk:
        assert [row.phase for row in desk.returns(1)] == [Phase.PENDING], "it died before anything was sent"
    place.summoned("four")
    with place.desk() as desk:
        first = done(desk.act(data, desk.operator()))
        assert (first.replayed, first.active.item_id) == (True, 2)  # type: ignore[union-attr]
        assert [(row.generation, row.phase) for row in desk.returns(1)] == [(1, Phase.MINTED)]
        done(desk.act(resolve(2, select_next=True), desk.operator()))
        second = done(desk.act(data, desk.operator()))
        assert second == first, "also when another item has the person by now"
        assert desk.counts().active_item_id == 3
    with opened(place.path, CLOCK, print) as records:
        assert [one.event.key[-2:] for one in records.messages(traffic="return")] == [":1", ":1"]


# The same and the other


def test_H06_an_id_stands_for_one_content_in_whatever_spelling(place: Place) -> None:
    with place.desk() as desk:
        seat = desk.seat(place.source)
        id = uuid(CLOCK)
        said = attending["envelope"]("summon", id, packet())
        first = done(desk.act(json.dumps(said).encode(), seat))
        other = {**said, "payload": {**said["payload"], "title": "Choose the render j"}}
        answer = desk.act(json.dumps(other).encode(), seat)
        assert isinstance(answer, Refusal)
        assert answer.code is Code.COMMAND_ID_CONFLICT
        answer = desk.act(command("summon", **packet(context="Round 3.")), seat)
        assert isinstance(answer, Refusal)
        assert answer.code is Code.ITEM_EXISTS
        turned = {name: said[name] for name in reversed(said)}
        spelt = json.dumps(turned, indent=3).replace("Choose", "\\u0043hoose").encode()
        assert done(desk.act(spelt, seat)) == msgspec.structs.replace(first, replayed=True)
        assert len(desk.queue().items) == 1


def test_H11_A07_a_decision_about_what_has_been_amended_changes_nothing(place: Place) -> None:
    place.summoned("one", "two")
    with place.desk() as desk:
        me = desk.operator()
        done(desk.act(command("next", human_id="hakon"), me))
        amend = {"item_id": 1, "expected_revision": 2, "title": "Choose again"}
        done(desk.act(command("amend", **amend), desk.seat(place.source)))
        answer = desk.act(resolve(1, revision=2, select_next=True), me)
        assert isinstance(answer, Refusal)
        assert (answer.code, answer.numbers, answer.revision) == (Code.STALE_REVISION, (409, 5), 3)
        assert desk.counts().active_item_id == 1
        assert desk.returns(1) == []
        assert done(desk.act(resolve(1, revision=3), me)).result is Result.RESOLVED


def test_H08_a_clock_that_goes_back_reorders_nothing_and_sends_nothing_twice(place: Place) -> None:
    hands = Hands(Instant(1_796_055_300_000))
    with attention(place.path, state=place.state, clock=hands, policy=POLICY, warn=print) as desk:
        me, seat = desk.operator(), desk.seat(place.source)
        for key in ("a", "b"):
            done(desk.act(command("summon", **packet(key)), seat))
        hands.at = Instant(hands.at - 2 * HOUR)
        done(desk.act(command("summon", **packet("c")), seat))
        assert [item.title[-1] for item in desk.queue().items] == ["a", "b", "c"]
        done(desk.act(command("defer", item_id=1, expected_revision=1, reason="later", until="2026-11-30T14:25:00Z"), me))
        assert done(desk.act(command("next", human_id="hakon"), me)).active.item_id == 2  # type: ignore[union-attr]
        done(desk.act(resolve(2), me))
        hands.at = Instant(hands.at + 3 * HOUR)
        assert done(desk.act(command("next", human_id="hakon"), me)).active.item_id == 3  # type: ignore[union-attr]
        done(desk.act(resolve(3), me))
        assert done(desk.act(command("next", human_id="hakon"), me)).active.item_id == 1  # type: ignore[union-attr]
        kinds = [event.kind for event in desk.history(1).events]
        assert kinds == [EventKind.ADDED, EventKind.DEFERRED, EventKind.PROMOTED, EventKind.CLAIMED]
    with opened(place.path, CLOCK, print) as records:
        assert len(records.messages(traffic="return")) == 2


HOUR = 3_600_000


class Hands:
    """A clock that is set."""

    def __init__(self, at: Instant) -> None:
        self.at = at

    def now(self) -> Instant:
        return self.at

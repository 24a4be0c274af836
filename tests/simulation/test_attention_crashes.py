"""Crashes on an answer's way back: killed between any two steps from the question to the asker's reading, it arrives,
as one logical answer, and the person is never asked again."""

import random
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tocsin.actors.carrying import carry_out
from tocsin.actors.publisher import Publisher
from tocsin.actors.tables import Direct
from tocsin.contracts.attention_answers import Receipt
from tocsin.contracts.attention_facts import Enrolment, Operator, Policy, Seat
from tocsin.contracts.attention_items import Phase, State
from tocsin.contracts.recipients import Recipient
from tocsin.pipeline.attention_requests import read_command
from tocsin.store import attention_reads, attention_returns, attention_sources, intake, recipients
from tocsin.store.engine import Store

HERE = Path(__file__).parent
remembering = runpy.run_path(str(HERE / "remembering.py"))
attending = runpy.run_path(str(HERE.parent / "store" / "attending.py"))
Fate, Killed, Life, Reader, MortalStore = (remembering[name] for name in ("Fate", "Killed", "Life", "Reader", "MortalStore"))
POLICY = Policy(human_id="hakon")
PERSON = Operator()
BROKER = attending["BROKER"]


def command(number: int, action: str, **payload: Any) -> bytes:
    return msgspec.json.encode(attending["envelope"](action, attending["command_id"](number), payload))


class World:
    """The processes of one machine in turn: each does what is left of the day's work, until it dies."""

    def __init__(self, path: Path) -> None:
        self.path, self.reader = path, Reader()
        self.lives = 0
        self.answers: dict[int, Receipt] = {}
        """By the number of the command: what somebody was told was done."""

    def live(self, fate: Any) -> None:
        """One process's life. It may end by ``Killed``; what it had told others stays told."""
        self.lives += 1
        life = Life(self.path, self.reader, fate, self.lives, at=1_700_049_600_000 + self.lives * 3_600_000)
        second = MortalStore(Store.open(self.path, now=life.now()), fate)
        try:
            self._work(life, Direct(lambda: second))  # type: ignore[arg-type]
        except Killed:
            pass
        finally:
            second.close()
            life.bury()

    def _work(self, life: Any, tables: Any) -> None:
        ids = iter(f"life{self.lives}-{number}" for number in range(100))
        publisher = Publisher(life, lambda: next(ids), lambda *_: True, lambda _: life.memory.look())
        life.open()
        self._bound(life, tables)
        for number, action, payload in DAY:
            if number not in self.answers:
                self.answers[number] = self._asked(life, tables, number, action, payload)
            publisher.once(tables)
            life.pass_time(500)
        for _ in range(3):
            publisher.once(tables)
            life.pass_time(1_000)

    def _bound(self, life: Any, tables: Any) -> None:
        enrolment = Enrolment(
            source_id="s1",
            handle_hash=attending["handle"]("s1"),
            edge="mac",
            actor="dev",
            provenance="operator_binding",
        )
        tables.change(lambda tx: recipients.register(tx, Recipient(name="dev")))
        payload = {"project_id": "film", "work_id": "likeness-2", "return_mode": "actor_context"}
        self._carry(life, tables, command(1, "source_bind", **payload), PERSON, enrolment)

    def _asked(self, life: Any, tables: Any, number: int, action: str, payload: dict[str, Any]) -> Receipt:
        principal = Seat(source_id="s1", broker_uuid=BROKER) if action == "summon" else PERSON
        return self._carry(life, tables, command(number, action, **payload), principal)

    def _carry(self, life: Any, tables: Any, data: bytes, principal: Any, enrolment: Any = None) -> Receipt:
        request = read_command(data)
        answer = tables.change(
            lambda tx: carry_out(
                tx,
                request,
                principal=principal,
                policy=POLICY,
                broker_uuid=BROKER,
                now=life.now(),
                enrolment=enrolment,
            )
        )
        assert isinstance(answer, Receipt), answer
        return answer

    # What is on record in the end

    def see(self, call: Any) -> Any:
        store = Store.open(self.path, now=1_700_149_600_000)
        try:
            with store.read() as view:
                return call(view)
        finally:
            store.close()

    def returns(self) -> list[Any]:
        return self.see(lambda view: [one for item in (1, 2) for one in attention_returns.of_item(view, item)])

    def notices(self) -> list[Any]:
        return self.see(lambda view: intake.listing(view, traffic="return"))


PACKET = attending["packet"]
RESOLVE = {"expected_revision": 2, "outcome": "answered", "select_next": True}
DAY = [
    (2, "summon", PACKET("one")),
    (3, "summon", PACKET("two")),
    (4, "next", {"human_id": "hakon"}),
    (5, "resolve", {**RESOLVE, "item_id": 1, "response": "Take A."}),
    (6, "resolve", {**RESOLVE, "item_id": 2, "response": "Take B."}),
]


def whole(world: World, where: str) -> None:
    """Nothing was lost, nothing was done twice, and both answers were told."""
    rows, notices = world.returns(), world.notices()
    assert [(row.item_id, row.generation, row.phase) for row in rows] == [
        (1, 1, Phase.PROCESSED),
        (2, 1, Phase.PROCESSED),
    ], where
    assert [one.id for one in notices] == [row.delivery_id for row in rows], where
    assert len({one.event.key for one in notices}) == 2, where
    told = Counter(entry.id for delivery in world.reader.got for entry in delivery.entries)
    assert set(told) == {one.id for one in notices}, where
    assert max(told.values()) <= 1 + world.lives, where
    texts = [entry.text for delivery in world.reader.got for entry in delivery.entries]
    assert {text.rpartition("\n")[2] for text in texts} == {"Take A.", "Take B."}, where
    assert [world.answers[number].item_id for number in (2, 3)] == [1, 2], where
    shown = [world.see(lambda view, item=item: attention_reads.item(view, item, 0)) for item in (1, 2)]
    assert [(one.item.state, one.item.revision) for one in shown] == [(State.RESOLVED, 3), (State.RESOLVED, 3)], where


def points(tmp_path: Path) -> int:
    world, fate = World(tmp_path / "whole.db"), Fate()
    world.live(fate)
    whole(world, "without a death")
    assert Counter(entry.id for one in world.reader.got for entry in one.entries).most_common(1)[0][1] == 1
    return int(fate.point)


def test_A05_A22_A30_a_death_at_any_point_loses_no_answer_and_what_is_told_twice_can_be_known_by_it(tmp_path: Path) -> None:
    wheres = Counter[str]()
    repeated = 0
    most = points(tmp_path)
    assert most > 30
    for die_at in range(1, most + 1):
        world, fate = World(tmp_path / f"{die_at}.db"), Fate(die_at)
        world.live(fate)
        world.live(Fate())
        wheres[fate.where] += 1
        whole(world, f"dead {fate.where} at point {die_at}")
        repeated += told_twice(world)
    assert set(wheres) == {"before a transaction", "before a commit", "after a commit", "before the sink", "after the sink"}
    assert repeated > 0


def told_twice(world: World) -> int:
    """How many answers were; each time under the same coordinate, in the same words, and with a higher attempt."""
    by_id = Counter(entry.id for one in world.reader.got for entry in one.entries)
    twice = [id for id, times in by_id.items() if times > 1]
    for id in twice:
        attempts = [one.attempt for one in world.reader.got if id in {entry.id for entry in one.entries}]
        assert attempts == sorted(set(attempts))
        texts = {entry.text for one in world.reader.got for entry in one.entries if entry.id == id}
        assert len(texts) == 1
        assert "attention-return:" in texts.pop()
    return len(twice)


@pytest.mark.parametrize("seed", range(3))
def test_any_number_of_deaths_in_a_row_lose_nothing_either(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(6):
        world = World(tmp_path / f"{seed}-{number}.db")
        for _ in range(chance.randrange(1, 6)):
            world.live(Fate(chance.randrange(1, 40)))
        world.live(Fate())
        whole(world, f"seed {seed}, run {number}")


def test_sources_are_known_again_after_every_death(tmp_path: Path) -> None:
    world = World(tmp_path / "a.db")
    world.live(Fate(12))
    world.live(Fate())
    seat = world.see(lambda view: attention_sources.seat_of(view, attending["handle"]("s1"), BROKER))
    assert seat == Seat(source_id="s1", broker_uuid=BROKER)

"""Laws of the store, over any order of calls."""

import json
from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Delivery, Proof
from tocsin.contracts.durable import Announced, Held, Outcome, State
from tocsin.contracts.errors import BadInput
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Owner
from tocsin.contracts.verdicts import Verdict
from tocsin.store import deliveries, intake, ledger, owners
from tocsin.store.engine import Store, Transaction

NOW = Instant(1_796_055_300_000)
ENDED = {State.PROCESSED, State.FAILED, State.UNDELIVERABLE}
worlds = count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store.open(tmp_path_factory.mktemp("laws") / "tocsin.db", now=NOW)
    yield store
    store.close()


def dump(tx: Transaction) -> list[list[tuple[object, ...]]]:
    return [tx.rows(f"SELECT * FROM {table} ORDER BY rowid") for table in ("notices", "deliveries", "decisions", "proofs")]


NAMES = st.sampled_from(["x0", "x1"])
TRAFFIC = st.sampled_from(["mail", "return", "user", "notice"])
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("accept"), NAMES, TRAFFIC),
        st.tuples(st.just("claim"), NAMES, st.none()),
        st.tuples(st.just("dispatch"), NAMES, st.sampled_from(["d0", "d1"])),
        st.tuples(st.just("settle"), NAMES, st.sampled_from(list(Verdict))),
        st.tuples(st.just("retry"), NAMES, st.none()),
        st.tuples(st.just("finish"), st.sampled_from(["d0", "d1"]), st.sampled_from(sorted(ENDED))),
        st.tuples(st.just("prove"), st.sampled_from(["d0", "d1"]), st.sampled_from(list(Proof))),
    ),
    min_size=4,
    max_size=25,
).map(lambda operations: [("accept", "x0", "mail"), ("accept", "x1", "user"), *operations])


class World:
    """One recipient of its own, so that examples share a database without meeting."""

    def __init__(self, tx: Transaction) -> None:
        self.tx = tx
        self.name = f"world-{next(worlds)}"
        owners.take(tx, self.name, Owner(token="t", pid=1, started="s", host="h"), NOW, alive=lambda *_: False)

    def do(self, what: str, name: str, more: object, at: Instant) -> None:
        id = f"{self.name}-{name}"
        match what:
            case "accept":
                event = Event(text="hello", traffic=str(more), key=f"k-{name}")  # type: ignore[arg-type]
                try:
                    intake.accept(self.tx, event, recipient=self.name, id=id, at=at)
                except BadInput:  # the same id in another class
                    assert intake.find(self.tx, id)
            case "claim":
                seqs = [stored.seq for stored in intake.find(self.tx, id)]
                intake.claim(self.tx, "t", seqs, at)
            case "dispatch":
                block = Delivery(id=f"{self.name}-{more}", lane=self.name, at=at, text="", entries=())
                deliveries.dispatch(self.tx, block, [id], token="t", at=at)
            case "settle":
                told = Outcome(id=id, recipient=self.name, at=at, stage="fanout", verdict=Verdict(str(more)), reason="r")
                deliveries.settle(self.tx, [told], at)
            case "retry":
                intake.retry(self.tx, id, self.name, at)
            case "finish":
                deliveries.finish(self.tx, id, State(str(more)), at)
            case "prove":
                deliveries.prove(self.tx, id, Proof(str(more)), at)

    def states(self) -> dict[str, State]:
        return {stored.id: stored.state for stored in intake.listing(self.tx, recipient=self.name)}


@given(OPERATIONS)
@settings(max_examples=150, deadline=None)
def test_an_end_is_for_good_but_for_a_dead_letter_that_is_retried(
    store: Store, operations: list[tuple[str, str, object]]
) -> None:
    with store.write() as tx:
        world = World(tx)
        for number, (what, name, more) in enumerate(operations):
            before = world.states()
            world.do(what, name, more, Instant(NOW + number))
            after = world.states()
            for id, was in before.items():
                if was in ENDED and after[id] is not was:
                    assert (was, what, after[id], id) == (State.FAILED, "retry", State.PENDING, f"{world.name}-{name}")


@given(OPERATIONS)
@settings(max_examples=100, deadline=None)
def test_the_order_is_that_of_acceptance_whatever_happens(store: Store, operations: list[tuple[str, str, object]]) -> None:
    with store.write() as tx:
        world = World(tx)
        order: list[str] = []
        for number, (what, name, more) in enumerate(operations):
            world.do(what, name, more, Instant(NOW - number))
            order += [id for id in world.states() if id not in order]
            waiting = [stored.id for stored in intake.waiting(tx, world.name, after=0, limit=99)]
            assert waiting == [id for id in order if world.states()[id] not in ENDED]


@given(OPERATIONS, st.lists(st.tuples(NAMES, st.sampled_from(list(Verdict))), max_size=5))
@settings(max_examples=100, deadline=None)
def test_settling_twice_changes_nothing(
    store: Store, operations: list[tuple[str, str, object]], verdicts: list[tuple[str, Verdict]]
) -> None:
    with store.write() as tx:
        world = World(tx)
        for what, name, more in operations:
            world.do(what, name, more, NOW)
        told = [
            Outcome(id=f"{world.name}-{name}", recipient=world.name, at=NOW, stage="fanout", verdict=verdict, reason="r")
            for name, verdict in verdicts
        ]
        deliveries.settle(tx, told, NOW)
        before = dump(tx)
        deliveries.settle(tx, told, Instant(NOW + 1))
        assert dump(tx) == before


@given(st.lists(st.tuples(NAMES, TRAFFIC), max_size=12))
@settings(max_examples=100, deadline=None)
def test_accepting_again_adds_nothing_and_answers_the_same(store: Store, events: list[tuple[str, str]]) -> None:
    with store.write() as tx:
        world = World(tx)

        def accept(name: str, traffic: str, at: Instant) -> tuple[str, int] | None:
            event = Event(text="hello", traffic=traffic, key=f"k-{name}")  # type: ignore[arg-type]
            try:
                answer = intake.accept(tx, event, recipient=world.name, id=f"{world.name}-{name}", at=at)
            except BadInput:
                return None
            return answer.id, answer.seq

        first = [accept(name, traffic, NOW) for name, traffic in events]
        before = tx.rows("SELECT * FROM notices ORDER BY seq")
        assert [accept(name, traffic, Instant(NOW + 9)) for name, traffic in events] == first
        assert tx.rows("SELECT * FROM notices ORDER BY seq") == before


@given(st.lists(st.sampled_from(list(Proof)), max_size=10))
@settings(max_examples=60, deadline=None)
def test_the_ladder_of_proofs_only_rises(store: Store, proofs: list[Proof]) -> None:
    with store.write() as tx:
        world = World(tx)
        world.do("dispatch", "x0", "d0", NOW)
        ranks = [list(Proof).index(proof) for proof in proofs]
        for number, proof in enumerate(proofs):
            world.do("prove", "d0", proof, Instant(NOW + number))
        kept = deliveries.proofs(tx, f"{world.name}-d0")
        rising = [number for number, rank in enumerate(ranks) if rank > max(ranks[:number], default=-1)]
        assert kept == [(proofs[number], NOW + number, "") for number in rising]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SIGNATURE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
NAME = SIGNATURE.filter(lambda text: text == text.strip() and text.isprintable())
MOMENT = st.integers(NOW - 29 * 86_400_000, NOW).map(Instant)
WORDS = st.lists(TEXT, max_size=3).map(tuple)
ANNOUNCED = st.builds(Announced, recipient=NAME, signature=SIGNATURE, at=MOMENT, ctx=WORDS, cleared_when=TEXT)
EVENT = st.builds(
    Event,
    text=TEXT,
    to=NAME,
    traffic=st.just("notice"),
    source=TEXT,
    scope=TEXT,
    detail=TEXT,
    key=TEXT,
    urgent=st.booleans(),
    ctx=WORDS,
    cleared_when=TEXT,
)
HELD = st.builds(Held, recipient=NAME, signature=SIGNATURE, id=NAME, event=EVENT, at=MOMENT, reason=TEXT).map(
    lambda held: replace(held, event=replace(held.event, to=held.recipient))
)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store.open(tmp_path_factory.mktemp("laws") / "other.db", now=NOW)
    yield store
    store.close()


def contents(tx: Transaction) -> tuple[list[tuple[object, ...]], list[Held]]:
    return tx.rows("SELECT * FROM notice_delivered ORDER BY recipient, signature"), ledger.held(tx)


@given(st.lists(ANNOUNCED, max_size=5), st.lists(HELD, max_size=5))
@settings(max_examples=150, deadline=None)
def test_exporting_and_loading_is_the_identity(store: Store, other: Store, told: list[Announced], kept: list[Held]) -> None:
    with store.write() as tx, other.write() as copy:
        for each in (tx, copy):
            each.execute("DELETE FROM notice_delivered")
            each.execute("DELETE FROM notice_held")
        for announced in told:
            ledger.announce(tx, announced)
        for held in kept:
            ledger.hold(tx, held)
        exported = ledger.export(tx)
        ledger.load(copy, exported, NOW)
        assert contents(copy) == contents(tx)
        assert ledger.export(copy) == exported


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "at", "ctx", "to", "sig", "notice"]), inner)
    ),
    max_leaves=12,
)


@given(st.binary(max_size=40) | st.fixed_dictionaries({"version": st.just(1), "delivered": JSON, "deferred": JSON}))
@settings(max_examples=200, deadline=None)
def test_any_bytes_load_or_are_refused(store: Store, data: object) -> None:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    with store.write() as tx:
        try:
            ledger.load(tx, raw, NOW)
        except BadInput as error:
            assert "notice ledger" in str(error) or "this ledger says" in str(error)
        ledger.export(tx)

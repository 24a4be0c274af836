"""Deliveries and decisions: fenced by the owner, settled once, proved upwards only, and told as a story."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Delivery, Proof
from tocsin.contracts.durable import Block, Outcome, State
from tocsin.contracts.errors import BadInput, NotOwner
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Owner
from tocsin.contracts.verdicts import DROPS, ENDS, Decision, Stage, Verdict
from tocsin.store import decisions, deliveries, intake, owners
from tocsin.store.engine import Store, Transaction

NOW, LATER = Instant(1_000), Instant(2_000)
BLOCK = Delivery(id="d1", lane="a", at=Instant(900), text="a block", entries=())


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[Transaction]:
    store = Store.open(tmp_path / "tocsin.db", now=NOW)
    with store.write() as tx:
        for number in range(4):
            intake.accept(tx, Event(text="hello", traffic="mail"), recipient="a", id=f"m{number}", at=NOW)
        owners.take(tx, "a", Owner(token="t", pid=1, started="s", host="h"), NOW, alive=lambda *_: False)
        yield tx
    store.close()


def outcome(id: str, verdict: Verdict, **more: object) -> Outcome:
    return replace(Outcome(id=id, recipient="a", at=LATER, stage="fanout", verdict=verdict, reason="because"), **more)


def state(tx: Transaction, id: str) -> State:
    return intake.find(tx, id)[0].state


def dump(tx: Transaction) -> list[list[tuple[object, ...]]]:
    return [tx.rows(f"SELECT * FROM {table} ORDER BY rowid") for table in ("notices", "deliveries", "decisions", "proofs")]


def test_a_dispatch_is_on_record_with_its_text_and_its_messages(tx: Transaction) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0", "m1", "unknown"], token="t", at=NOW)
    block = Block(
        id="d1", recipient="a", at=Instant(900), text="a block", notices=("m0", "m1", "unknown"), state=State.DISPATCHED
    )
    assert deliveries.block(tx, "d1") == block
    assert deliveries.unresolved(tx, "a") == [block]
    assert [(s.state, s.attempts, s.delivery) for s in intake.listing(tx)] == [
        (State.DISPATCHED, 1, "d1"),
        (State.DISPATCHED, 1, "d1"),
        (State.PENDING, 0, ""),
        (State.PENDING, 0, ""),
    ]


def test_a_block_of_a_former_owner_is_refused_and_nothing_is_noted(tx: Transaction) -> None:
    before = dump(tx)
    for token, block in (("old", BLOCK), ("t", replace(BLOCK, lane="b"))):
        with pytest.raises(NotOwner):
            deliveries.dispatch(tx, block, ["m0"], token=token, at=NOW)
    assert dump(tx) == before


def test_a_block_that_is_handed_over_again_keeps_its_id_and_counts(tx: Transaction) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0"], token="t", at=NOW)
    deliveries.dispatch(tx, replace(BLOCK, attempt=2, text="a block again"), ["m0", "m1"], token="t", at=LATER)
    block = deliveries.block(tx, "d1")
    assert block is not None
    assert (block.attempt, block.text, block.notices) == (2, "a block again", ("m0", "m1"))
    assert [stored.attempts for stored in intake.listing(tx, limit=2)] == [2, 1]


def test_a_settled_block_and_its_messages_stay_settled(tx: Transaction) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0"], token="t", at=NOW)
    deliveries.settle(tx, [outcome("m0", Verdict.DELIVER)], LATER)
    before = dump(tx)
    deliveries.dispatch(tx, replace(BLOCK, attempt=2), ["m0"], token="t", at=LATER)
    deliveries.finish(tx, "d1", State.FAILED, LATER)
    assert dump(tx) == before


EXPECTED = {
    Verdict.DELIVER: State.PROCESSED,
    Verdict.FOLD: State.PROCESSED,
    Verdict.DEAD_LETTER: State.FAILED,
    Verdict.EVICT: State.UNDELIVERABLE,
    Verdict.SHED: State.UNDELIVERABLE,
    Verdict.DROP_CASCADE: State.UNDELIVERABLE,
    Verdict.CLEAR: State.UNDELIVERABLE,
    Verdict.DROP_DEAD: State.UNDELIVERABLE,
    Verdict.REFUSE: State.UNDELIVERABLE,
}


@pytest.mark.parametrize("verdict", list(Verdict))
def test_each_verdict_ends_a_message_as_it_says_or_only_becomes_a_decision(tx: Transaction, verdict: Verdict) -> None:
    assert set(EXPECTED) == {*ENDS, *DROPS}
    deliveries.settle(tx, [outcome("m0", verdict, note="said", until=Instant(9))], LATER)
    stored = intake.find(tx, "m0")[0]
    assert stored.state is EXPECTED.get(verdict, State.PENDING)
    ended = verdict in EXPECTED
    assert (stored.verdict, stored.reason) == ((verdict.value, "because") if ended else ("", ""))
    assert decisions.story(tx, "m0") == [
        Decision(
            at=LATER,
            lane="a",
            id="m0",
            fingerprint="",
            stage=Stage.FANOUT,
            verdict=verdict,
            reason="because",
            until=Instant(9),
            note="said",
        )
    ]


def test_an_end_is_never_taken_back_and_settling_twice_changes_nothing(tx: Transaction) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0", "m1"], token="t", at=NOW)
    told = [outcome("m0", Verdict.DELIVER), outcome("m1", Verdict.FOLD), outcome("m2", Verdict.HOLD)]
    deliveries.settle(tx, told, LATER)
    before = dump(tx)
    deliveries.settle(tx, told, Instant(3_000))
    assert dump(tx) == before
    for verdict in Verdict:
        deliveries.settle(tx, [outcome("m0", verdict, at=Instant(3_000))], Instant(3_000))
        assert state(tx, "m0") is State.PROCESSED


def test_a_block_ends_when_nothing_in_it_is_open(tx: Transaction) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0", "m1"], token="t", at=NOW)
    deliveries.settle(tx, [outcome("m0", Verdict.DEAD_LETTER)], LATER)
    assert [block.id for block in deliveries.unresolved(tx, "a")] == ["d1"]
    deliveries.settle(tx, [outcome("m1", Verdict.DELIVER)], LATER)
    assert deliveries.unresolved(tx, "a") == []
    block = deliveries.block(tx, "d1")
    assert block is not None
    assert block.state is State.PROCESSED


@pytest.mark.parametrize(
    ("verdict", "end"),
    [(Verdict.DEAD_LETTER, State.FAILED), (Verdict.CLEAR, State.UNDELIVERABLE), (Verdict.FOLD, State.PROCESSED)],
)
def test_a_block_ends_as_the_best_of_its_messages_did(tx: Transaction, verdict: Verdict, end: State) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0", "m1"], token="t", at=NOW)
    deliveries.settle(tx, [outcome("m0", Verdict.CLEAR), outcome("m1", verdict)], LATER)
    block = deliveries.block(tx, "d1")
    assert block is not None
    assert block.state is end


def test_a_message_that_moved_to_another_block_leaves_the_first_resolved(tx: Transaction) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0"], token="t", at=NOW)
    deliveries.dispatch(tx, replace(BLOCK, id="d2"), ["m0", "m1"], token="t", at=NOW)
    assert [block.id for block in deliveries.unresolved(tx, "a")] == ["d2"]
    deliveries.finish(tx, "d2", State.PROCESSED, LATER)
    assert deliveries.unresolved(tx, "a") == []


def test_a_failed_block_may_be_tried_again(tx: Transaction) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0"], token="t", at=NOW)
    deliveries.settle(tx, [outcome("m0", Verdict.DEAD_LETTER)], LATER)
    intake.retry(tx, "m0", "a", LATER)
    deliveries.dispatch(tx, replace(BLOCK, attempt=2), ["m0"], token="t", at=LATER)
    assert [block.id for block in deliveries.unresolved(tx, "a")] == ["d1"]


def test_a_proof_only_rises_and_each_step_keeps_its_time(tx: Transaction) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0"], token="t", at=NOW)
    steps = [(Proof.OFFERED, 1), (Proof.RECORDED, 2), (Proof.OFFERED, 3), (Proof.SEEN, 4), (Proof.SUBMITTED, 5)]
    assert [deliveries.prove(tx, "d1", proof, Instant(at), f"note {at}") for proof, at in steps] == [
        True,
        False,
        False,
        True,
        False,
    ]
    assert deliveries.proofs(tx, "d1") == [(Proof.OFFERED, 1, "note 1"), (Proof.SEEN, 4, "note 4")]
    block = deliveries.block(tx, "d1")
    assert block is not None
    assert (block.proof, block.proved_at, block.note) == (Proof.SEEN, 4, "note 4")
    assert not deliveries.prove(tx, "unknown", Proof.SEEN, NOW)
    assert deliveries.proofs(tx, "unknown") == []


def test_blocks_are_shown_newest_first(tx: Transaction) -> None:
    owners.take(tx, "b", Owner(token="t", pid=1, started="s", host="h"), NOW, alive=lambda *_: False)
    for number, lane in enumerate("aba"):
        deliveries.dispatch(tx, replace(BLOCK, id=f"d{number}", lane=lane), [], token="t", at=NOW)
    assert [block.id for block in deliveries.blocks(tx)] == ["d2", "d1", "d0"]
    assert [block.id for block in deliveries.blocks(tx, recipient="a")] == ["d2", "d0"]
    assert [block.id for block in deliveries.blocks(tx, limit=1)] == ["d2"]
    assert deliveries.block(tx, "d9") is None


def test_a_story_is_found_by_message_block_and_fingerprint(tx: Transaction) -> None:
    print_0, print_1 = "0123456789abcdef", "0123456700000000"
    deliveries.dispatch(tx, BLOCK, ["m0", "m1"], token="t", at=NOW)
    deliveries.settle(
        tx,
        [
            outcome("m0", Verdict.PASS, stage="dedup", at=Instant(1), fingerprint=print_0),
            outcome("m2", Verdict.PASS, stage="dedup", at=Instant(2), fingerprint=print_1),
            outcome("m1", Verdict.DELIVER, at=Instant(3)),
            outcome("m0", Verdict.DELIVER, at=Instant(4), fingerprint=print_0),
        ],
        LATER,
    )

    def told(what: str) -> list[tuple[str, int]]:
        return [(decision.id, decision.at) for decision in decisions.story(tx, what)]

    assert told("m0") == [("m0", 1), ("m0", 4)]
    assert told("d1") == [("m0", 1), ("m1", 3), ("m0", 4)]
    assert told(print_0) == told(print_0[:9]) == [("m0", 1), ("m0", 4)]
    assert told(print_0[:8]) == [("m0", 1), ("m2", 2), ("m0", 4)]
    assert told(print_0[:7]) == told("nothing") == told("") == told("%") == told("________") == []


def test_a_stage_that_there_is_not_is_refused(tx: Transaction) -> None:
    with pytest.raises(BadInput, match="kitchen"):
        decisions.add(tx, [outcome("m0", Verdict.PASS, stage="kitchen")])


def test_pruning_keeps_what_belongs_to_open_messages(tx: Transaction) -> None:
    deliveries.dispatch(tx, BLOCK, ["m0"], token="t", at=NOW)
    deliveries.dispatch(tx, replace(BLOCK, id="d2"), ["m1"], token="t", at=NOW)
    for id in ("d1", "d2"):
        deliveries.prove(tx, id, Proof.OFFERED, NOW)
    deliveries.settle(tx, [outcome("m0", Verdict.RETRY), outcome("m1", Verdict.DELIVER)], LATER)
    later = Instant(LATER + 1)
    assert (deliveries.prune(tx, later), decisions.prune(tx, later)) == (1, 1)
    assert [block.id for block in deliveries.blocks(tx)] == ["d1"]
    assert (len(deliveries.proofs(tx, "d1")), deliveries.proofs(tx, "d2")) == (1, [])
    assert (len(decisions.story(tx, "m0")), decisions.story(tx, "m1")) == (1, [])

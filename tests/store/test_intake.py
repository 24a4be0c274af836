"""Intake: accepted once, kept in order, ended once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Delivery
from tocsin.contracts.durable import Acceptance, Outcome, State, Stored
from tocsin.contracts.errors import BadInput, NotOwner, SameId
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Owner
from tocsin.contracts.verdicts import Verdict
from tocsin.store import deliveries, intake, owners
from tocsin.store.engine import Store, Transaction

NOW, LATER = Instant(1_000), Instant(2_000)
MAIL = Event(text="hello", traffic="mail")
USER = Event(text="look here", traffic="user")
RETURN = Event(text="yes", traffic="return", key="queue/7/answer")


@pytest.fixture
def tx(tmp_path: Path) -> Iterator[Transaction]:
    store = Store.open(tmp_path / "tocsin.db", now=NOW)
    with store.write() as tx:
        yield tx
    store.close()


def accept(tx: Transaction, event: Event, id: str, recipient: str = "a", at: Instant = NOW) -> Acceptance:
    return intake.accept(tx, event, recipient=recipient, id=id, at=at)


def own(tx: Transaction, recipient: str = "a", token: str = "t") -> None:
    assert owners.take(tx, recipient, Owner(token=token, pid=1, started="s", host="h"), NOW, alive=lambda *_: False) is None


def ends(tx: Transaction, id: str, verdict: Verdict, at: Instant = LATER) -> None:
    outcome = Outcome(id=id, recipient="a", at=at, stage="fanout", verdict=verdict, reason="because")
    deliveries.settle(tx, [outcome], at)


def state(tx: Transaction, id: str) -> State:
    return intake.find(tx, id)[0].state


def test_what_is_stored_is_the_event_with_its_id_recipient_and_time(tx: Transaction) -> None:
    assert accept(tx, MAIL, "made") == Acceptance(id="made", seq=1)
    assert intake.find(tx, "made") == [
        Stored(
            seq=1,
            id="made",
            recipient="a",
            traffic="mail",
            state=State.PENDING,
            event=replace(MAIL, id="made", to="a", at=NOW),
            accepted_at=NOW,
            changed_at=NOW,
        )
    ]
    said = replace(MAIL, id="said", at=Instant(5), to="somebody else")
    assert accept(tx, said, "made too").id == "said"
    assert intake.find(tx, "said")[0].event == replace(said, to="a")


@pytest.mark.parametrize("event", [MAIL, RETURN, replace(RETURN, key="")])
def test_mail_and_returns_are_the_same_by_their_id_whatever_their_text(tx: Transaction, event: Event) -> None:
    first = accept(tx, event, "m1")
    again = accept(tx, replace(event, text="another text"), "m1", at=LATER)
    assert again == Acceptance(id="m1", seq=first.seq, replayed=True)
    assert intake.find(tx, "m1")[0].event.text == event.text


def test_a_return_is_the_same_by_its_coordinate(tx: Transaction) -> None:
    first = accept(tx, RETURN, "r1")
    assert accept(tx, replace(RETURN, text="no"), "r2") == Acceptance(id="r1", seq=first.seq, replayed=True)
    assert not accept(tx, RETURN, "r3", recipient="b").replayed
    assert not accept(tx, replace(RETURN, key="queue/8/answer"), "r4").replayed
    with pytest.raises(SameId):
        accept(tx, replace(RETURN, key="queue/9/answer"), "r1")


def test_returns_without_a_coordinate_and_mail_with_the_same_key_are_apart(tx: Transaction) -> None:
    events = [replace(RETURN, key=""), replace(RETURN, key=""), replace(MAIL, key="k"), replace(MAIL, key="k")]
    assert [accept(tx, event, f"x{number}").seq for number, event in enumerate(events)] == [1, 2, 3, 4]


@pytest.mark.parametrize("traffic", ["user", "notice"])
def test_the_same_words_of_a_person_or_the_harness_are_replayed_others_are_refused(tx: Transaction, traffic: str) -> None:
    event = replace(USER, traffic=traffic)
    first = accept(tx, event, "u1")
    assert accept(tx, event, "u1", at=LATER) == Acceptance(id="u1", seq=first.seq, replayed=True)
    for other in (replace(event, text="something else"), replace(event, at=Instant(7)), replace(event, scope="web")):
        with pytest.raises(SameId, match="u1"):
            accept(tx, other, "u1", at=LATER)
    assert [stored.event.text for stored in intake.listing(tx)] == ["look here"]


def test_one_id_in_two_classes_is_refused(tx: Transaction) -> None:
    accept(tx, USER, "x")
    with pytest.raises(SameId):
        accept(tx, MAIL, "x")


def test_one_id_for_two_recipients_is_two_messages(tx: Transaction) -> None:
    assert [accept(tx, MAIL, "m1", recipient).seq for recipient in "ab"] == [1, 2]
    assert [stored.recipient for stored in intake.find(tx, "m1")] == ["a", "b"]


def test_machine_findings_and_nameless_messages_are_not_stored(tx: Transaction) -> None:
    with pytest.raises(BadInput, match="mail, notice, return, user"):
        accept(tx, Event(text="boom"), "e1")
    with pytest.raises(BadInput, match="an id and a recipient"):
        accept(tx, MAIL, "")
    with pytest.raises(BadInput, match="an id and a recipient"):
        accept(tx, MAIL, "m1", recipient="")


def test_a_message_that_has_ended_is_still_the_same_message(tx: Transaction) -> None:
    accept(tx, MAIL, "m1")
    ends(tx, "m1", Verdict.DELIVER)
    assert accept(tx, MAIL, "m1").replayed
    assert state(tx, "m1") is State.PROCESSED


def test_what_waits_is_in_the_order_of_acceptance_and_behind_a_place(tx: Transaction) -> None:
    for number, recipient in enumerate("abaaab"):
        accept(tx, MAIL, f"m{number}", recipient, at=Instant(1_000 - number))  # H08: the clock goes back, the order does not
    ends(tx, "m2", Verdict.DELIVER)
    assert [stored.id for stored in intake.waiting(tx, "a", after=0, limit=10)] == ["m0", "m3", "m4"]
    assert [stored.id for stored in intake.waiting(tx, "a", after=1, limit=1)] == ["m3"]
    assert intake.pending_count(tx, "a") == 3
    assert intake.pending_count(tx, "nobody") == 0


def test_only_the_owner_claims(tx: Transaction) -> None:
    seqs = [accept(tx, MAIL, f"m{number}").seq for number in range(3)]
    with pytest.raises(NotOwner):
        intake.claim(tx, "t", seqs, LATER)
    own(tx)
    assert intake.claim(tx, "t", seqs[:2], LATER) == 2
    assert [state(tx, f"m{number}") for number in range(3)] == [State.CLAIMED, State.CLAIMED, State.PENDING]
    assert [stored.id for stored in intake.waiting(tx, "a", after=0, limit=9)] == ["m0", "m1", "m2"]
    ends(tx, "m2", Verdict.DELIVER)
    assert intake.claim(tx, "t", seqs, LATER) == 0
    assert state(tx, "m2") is State.PROCESSED
    foreign = accept(tx, MAIL, "m9", recipient="b").seq
    with pytest.raises(NotOwner):
        intake.claim(tx, "t", [foreign], LATER)


def test_a_dead_letter_waits_again_at_its_old_place(tx: Transaction) -> None:
    own(tx)
    for number in range(3):
        accept(tx, MAIL, f"m{number}")
    deliveries.dispatch(tx, Delivery(id="d1", lane="a", at=NOW, text="", entries=()), ["m1"], token="t", at=NOW)
    ends(tx, "m1", Verdict.DEAD_LETTER)
    assert state(tx, "m1") is State.FAILED
    assert intake.retry(tx, "m1", "a", LATER)
    assert not intake.retry(tx, "m1", "a", LATER)
    again = intake.waiting(tx, "a", after=0, limit=9)[1]
    assert (again.id, again.seq, again.state, again.attempts, again.delivery) == ("m1", 2, State.PENDING, 1, "")
    ends(tx, "m2", Verdict.EVICT)
    assert not intake.retry(tx, "m2", "a", LATER)
    assert not intake.retry(tx, "m0", "b", LATER)


def test_a_listing_fits_all_that_is_asked(tx: Transaction) -> None:
    for number, (event, recipient) in enumerate([(MAIL, "a"), (USER, "a"), (MAIL, "b"), (USER, "b")]):
        accept(tx, event, f"x{number}", recipient)
    ends(tx, "x0", Verdict.DELIVER)

    def listed(**wanted: object) -> list[str]:
        return [stored.id for stored in intake.listing(tx, **wanted)]  # type: ignore[arg-type]

    assert listed() == ["x0", "x1", "x2", "x3"]
    assert listed(recipient="a") == ["x0", "x1"]
    assert listed(traffic="user") == ["x1", "x3"]
    assert listed(states={State.PROCESSED}) == ["x0"]
    assert listed(states=[State.PENDING, State.PROCESSED], recipient="a", traffic="mail") == ["x0"]
    assert listed(states=[]) == []
    assert listed(limit=2, after=1) == ["x1", "x2"]


def test_only_what_has_ended_is_pruned(tx: Transaction) -> None:
    for id in ("open", "old", "young"):
        accept(tx, MAIL, id)
    ends(tx, "old", Verdict.DELIVER, at=Instant(1_500))
    ends(tx, "young", Verdict.DELIVER, at=Instant(2_500))
    assert intake.prune(tx, LATER) == 1
    assert [stored.id for stored in intake.listing(tx)] == ["open", "young"]


def test_many_new_ones_are_accepted_as_each_alone_would_be(tmp_path: Path) -> None:
    said = [
        (Event(text=f"text {nth}", to="other", traffic="mail", at=None if nth % 2 else 5), "dev", f"i{nth}") for nth in range(9)
    ]
    found = []
    for name in ("together", "alone"):
        store = Store.open(tmp_path / f"{name}.db", now=Instant(1))
        with store.write() as tx:
            intake.accept(tx, Event(text="before", traffic="mail"), recipient="dev", id="first", at=Instant(1))
            if name == "together":
                answers = intake.accept_new(tx, said, Instant(7))
            else:
                answers = [intake.accept(tx, event, recipient=to, id=id, at=Instant(7)) for event, to, id in said]
        with store.read() as view:
            found.append((answers, intake.waiting(view, "dev", after=0, limit=99)))
        store.close()
    assert found[0] == found[1]


def test_a_new_id_that_is_taken_undoes_the_transaction(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "a.db", now=Instant(1))
    event = Event(text="x", traffic="mail")
    with pytest.raises(RuntimeError, match="taken already"), store.write() as tx:
        intake.accept_new(tx, [(event, "dev", "one"), (event, "dev", "one")], Instant(1))
    with store.read() as view:
        assert intake.waiting(view, "dev", after=0, limit=9) == []
    store.close()

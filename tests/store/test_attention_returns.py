"""Attention returns: recorded with the decision, under way at most once at a time, sent again only by the person."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from tocsin.contracts.attention_answers import numbers
from tocsin.contracts.attention_items import EventKind, Phase
from tocsin.contracts.base import Instant
from tocsin.contracts.events import Event
from tocsin.pipeline.attention_continuation import continuation, coordinate
from tocsin.store import attention_reads as reads
from tocsin.store import attention_returns as returns
from tocsin.store import intake

attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
packet, MINUTE, BROKER, desk = (attending[name] for name in ("packet", "MINUTE", "BROKER", "desk"))


def answered(desk: Any, key: str = "k", seat: Any = None) -> Any:
    """An item that was asked, taken and answered; the receipt of the answer."""
    item_id = desk.do("summon", seat or desk.bind(), **packet(key)).item_id
    desk.next(item_id=item_id)
    return desk.do("resolve", item_id=item_id, expected_revision=2, outcome="selected", response=f"C for {key}")


def send(desk: Any, crash: bool = False) -> list[str]:
    """What a publisher does in one pass; the ids of the notices it made. It may die right before its commit."""
    sent = []
    with desk.store.write() as tx:
        for planned in returns.due(tx, desk.now):
            row = planned.row
            key = coordinate(row.resolution_command_id, row.generation)
            event = Event(text=continuation(planned, BROKER), traffic="return", source="attention_return", key=key)
            assert returns.mint(tx, row.return_id, delivery_id=key, at=desk.now)
            sent.append(intake.accept(tx, event, recipient=planned.route.actor, id=key, at=desk.now).id)
        if crash:
            raise SystemExit
    return sent


def last(desk: Any, item_id: int = 1) -> Any:
    return desk.shown(item_id).item.returned


def test_A21_an_answer_is_saved_and_the_next_item_claimed_without_anything_being_sent(desk: Any) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet("a"))
    desk.do("summon", seat, **packet("b"))
    desk.next()
    done = desk.do("resolve", item_id=1, expected_revision=2, outcome="selected", response="C", select_next=True)
    assert (done.return_effect.phase, done.active.item_id) == ("pending", 2)
    with desk.store.read() as view:
        assert intake.listing(view) == []
        assert [planned.item.item_id for planned in returns.due(view, desk.now)] == [1]


def test_A22_a_crash_while_a_return_is_minted_leaves_one_notice_or_none(desk: Any) -> None:
    answered(desk)
    with pytest.raises(SystemExit):
        send(desk, crash=True)
    desk.reopen()
    assert last(desk).phase is Phase.PENDING
    with desk.store.read() as view:
        assert intake.listing(view) == []
    (id,) = send(desk)
    assert send(desk) == []
    with desk.store.read() as view:
        assert [stored.id for stored in intake.listing(view)] == [id]
    assert (last(desk).phase, last(desk).delivery_id) == (Phase.MINTED, id)


def test_what_is_not_waiting_can_not_be_minted(desk: Any) -> None:
    answered(desk)
    send(desk)
    with desk.store.write() as tx:
        assert not returns.mint(tx, 1, delivery_id="again", at=desk.now)
        assert not returns.mint(tx, 99, delivery_id="x", at=desk.now)
        assert not returns.block(tx, 1, "too late", desk.now)


def test_A24_two_answers_for_one_actor_are_two_notices_each_with_its_own_identity(desk: Any) -> None:
    seat = desk.bind()
    first, second = answered(desk, "a", seat), answered(desk, "b", seat)
    ids = send(desk)
    assert ids == [f"attention-return:{done.command_id}:1" for done in (first, second)]
    with desk.store.write() as tx:
        intake.accept(tx, Event(text="C for a", traffic="return"), recipient="ariadne", id="ordinary", at=desk.now)
        stored = intake.listing(tx, recipient="ariadne")
    assert [notice.event.key for notice in stored] == [*ids, ""]
    assert "C for a" in stored[0].event.text
    assert "C for a" not in stored[1].event.text


def test_a_blocked_return_is_looked_at_again_after_a_minute_and_says_why(desk: Any) -> None:
    answered(desk)
    with desk.store.write() as tx:
        assert returns.block(tx, 1, "nobody is there", desk.now)
    assert (last(desk).phase, last(desk).reason) == (Phase.BLOCKED, "nobody is there")
    desk.later(MINUTE - 1)
    assert send(desk) == []
    desk.later(1)
    assert len(send(desk)) == 1
    assert last(desk).reason == ""


def test_a_blocked_return_does_not_wait_for_a_clock_that_was_set_back(desk: Any) -> None:
    answered(desk)
    with desk.store.write() as tx:
        returns.block(tx, 1, "nobody is there", desk.now)
    desk.later(-120 * MINUTE)
    assert len(send(desk)) == 1


def test_a_look_that_finds_the_same_reason_writes_no_history(desk: Any) -> None:
    answered(desk)
    for reason in ("nobody is there", "nobody is there", "another session"):
        with desk.store.write() as tx:
            returns.block(tx, 1, reason, desk.now)
        desk.later(MINUTE)
    with desk.store.read() as view:
        kinds = [event.kind for event in reads.history(view, 1, desk.now).events]
    assert kinds.count(EventKind.RETURN_BLOCKED) == 2


def test_a_return_whose_way_is_lost_waits_for_the_person(desk: Any) -> None:
    answered(desk)
    with desk.store.write() as tx:
        assert returns.block_for_person(tx, 1, "the session has ended", desk.now)
    desk.later(10**9)
    assert send(desk) == []
    assert desk.shown(1).item.response == "C for k"
    desk.bind("s2")
    done = desk.do(
        "reroute_return", item_id=1, expected_revision=3, return_generation=1, source_id="s2", reason="it lives on in s2"
    )
    assert (done.result, done.return_effect.generation, done.revision) == ("return_rerouted", 2, 3)
    with desk.store.read() as view:
        first, second = returns.of_item(view, 1)
    assert (first.phase, first.reason, second.phase, second.source_id) == (
        Phase.SUPERSEDED,
        "it lives on in s2",
        Phase.PENDING,
        "s2",
    )
    assert send(desk) == [f"attention-return:{second.resolution_command_id}:2"]


def test_at_most_25_returns_are_looked_at_in_a_pass(desk: Any) -> None:
    seat = desk.bind()
    for nth in range(27):
        answered(desk, f"k{nth}", seat)
    with desk.store.read() as view:
        assert len(returns.due(view, desk.now, limit=1_000)) == 25
    assert (len(send(desk)), len(send(desk)), len(send(desk))) == (25, 2, 0)
    with desk.store.read() as view:
        first = returns.minted(view)
        assert [len(first), len(returns.minted(view, after=first[-1].return_id))] == [25, 2]


def retry(desk: Any, generation: int) -> Any:
    return desk.ask("retry_return", item_id=1, expected_revision=3, return_generation=generation)


def test_A29_a_return_under_way_is_neither_retried_nor_sent_another_way(desk: Any) -> None:
    answered(desk)
    desk.bind("s2")
    other = {"item_id": 1, "expected_revision": 3, "return_generation": 1, "source_id": "s2", "reason": "r"}
    assert (retry(desk, 1).result, retry(desk, 1).return_effect.phase) == ("return_active", "pending")
    send(desk)
    assert (retry(desk, 1).result, retry(desk, 1).return_effect.phase) == ("return_active", "minted")
    refused = desk.no("reroute_return", **other)
    assert (refused.code, refused.return_generation, numbers(refused)) == ("return_under_way", 1, (409, 5))
    with desk.store.read() as view:
        assert len(returns.of_item(view, 1)) == 1


def test_A29_a_return_that_has_arrived_is_never_sent_again(desk: Any) -> None:
    answered(desk)
    desk.bind("s2")
    send(desk)
    with desk.store.write() as tx:
        assert returns.process(tx, 1, {"state": "processed", "proof": "seen"}, desk.now)
        assert not returns.fail(tx, 1, "late", {}, desk.now)
    assert retry(desk, 1).code == "return_processed"
    other = {"item_id": 1, "expected_revision": 3, "return_generation": 1, "source_id": "s2", "reason": "r"}
    assert desk.no("reroute_return", **other).code == "return_processed"
    assert last(desk).outcome == {"state": "processed", "proof": "seen"}


def test_A29_a_failed_return_is_retried_as_the_next_generation_over_the_same_way(desk: Any) -> None:
    answered(desk)
    send(desk)
    with desk.store.write() as tx:
        assert returns.fail(tx, 1, "transport_record_missing", {"state": "unknown"}, desk.now)
    assert (last(desk).phase, last(desk).reason) == (Phase.FAILED, "transport_record_missing")
    assert send(desk) == [], "what has failed is not sent again by itself"
    done = retry(desk, 1)
    assert (done.result, done.return_effect.generation, done.return_effect.phase) == ("return_retried", 2, "pending")
    stale = retry(desk, 1)
    assert (stale.code, stale.return_generation) == ("stale_generation", 2)
    (id,) = send(desk)
    assert id.endswith(":2")
    with desk.store.read() as view:
        first, second = returns.of_item(view, 1)
        assert (first.phase, first.outcome, first.delivery_id[-2:]) == (Phase.SUPERSEDED, {"state": "unknown"}, ":1")
        assert returns.of_resolution(view, second.resolution_command_id, 2).route.source_id == "s1"


def test_a_retry_keeps_to_the_way_that_the_person_chose_last(desk: Any) -> None:
    answered(desk)
    with desk.store.write() as tx:
        returns.fail(tx, 1, "gone", {}, desk.now)
    desk.bind("s2")
    desk.do("reroute_return", item_id=1, expected_revision=3, return_generation=1, source_id="s2", reason="r")
    with desk.store.write() as tx:
        returns.fail(tx, 2, "gone", {}, desk.now)
    retry(desk, 2)
    assert (last(desk).generation, last(desk).source_id) == (3, "s2")


@pytest.mark.parametrize(
    ("source", "code"),
    [({"mode": "none"}, "no_route"), ({"project_id": "other"}, "out_of_scope"), ({"work_id": "w9"}, "out_of_scope")],
)
def test_an_answer_is_not_sent_where_none_is_taken_or_to_other_work(desk: Any, source: dict[str, str], code: str) -> None:
    answered(desk)
    desk.bind("s2", **source)
    other = {"item_id": 1, "expected_revision": 3, "return_generation": 1, "reason": "r"}
    assert desk.no("reroute_return", **other, source_id="s2").code == code
    assert desk.no("reroute_return", **other, source_id="s9").code == "unknown_source"
    desk.do("source_revoke", source_id="s2", reason="over")
    assert desk.no("reroute_return", **other, source_id="s2").code == "source_revoked"


def test_an_answer_that_nobody_waits_for_has_no_return(desk: Any) -> None:
    done = answered(desk, seat=desk.bind(mode="none"))
    assert done.return_effect is None
    refused = retry(desk, 1)
    assert (refused.code, numbers(refused)) == ("no_return", (404, 4))


def test_a_pinned_return_keeps_its_session_whatever_becomes_of_the_source(desk: Any) -> None:
    answered(desk, seat=desk.bind(mode="pinned_session", session_id="6f0e"))
    desk.do("source_revoke", source_id="s1", reason="over")
    with desk.store.read() as view:
        (planned,) = returns.due(view, Instant(desk.now))
    assert (planned.row.mode, planned.route.session_id, planned.route.revoked_at) == ("pinned_session", "6f0e", None)


def test_the_return_and_its_phases_move_no_revision_of_the_item(desk: Any) -> None:
    answered(desk)
    send(desk)
    with desk.store.write() as tx:
        returns.fail(tx, 1, "gone", {}, desk.now)
    retry(desk, 1)
    assert desk.revision(1) == 3

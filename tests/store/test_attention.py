"""Attention: the queue's scenarios, each with a real database: one active item, first in first out, answers that are kept."""

import runpy
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tocsin.contracts.attention_answers import numbers
from tocsin.contracts.attention_items import State
from tocsin.contracts.attention_time import iso

attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
Desk, packet, command_id, MINUTE, HUMAN, NOW, desk, kinds, resolve = (
    attending[name] for name in ("Desk", "packet", "command_id", "MINUTE", "HUMAN", "NOW", "desk", "kinds", "resolve")
)


def test_A01_a_summons_leaves_the_active_item_as_it_is(desk: Any) -> None:
    seat = desk.bind()
    desk.do("add", **packet("a"))
    before = desk.next().active
    summoned = desk.do("summon", seat, **packet("b"))
    assert (summoned.result, summoned.state, summoned.revision, summoned.source_id) == ("created", "queued", 1, "s1")
    assert summoned.active is None
    assert desk.shown(before.item_id).item == before


def test_A02_the_line_is_first_in_first_out_and_an_amendment_keeps_its_place(desk: Any) -> None:
    for key in "abc":
        desk.do("add", **packet(key))
    sequence = desk.shown(1).item.ready_sequence
    amended = desk.do("amend", item_id=1, expected_revision=1, title="Another title")
    assert (amended.result, amended.revision) == ("amended", 2)
    assert desk.shown(1).item.ready_sequence == sequence
    assert desk.line() == [1, 2, 3]
    assert desk.next().item_id == 1


def test_A03_a_picked_item_comes_first_and_the_others_keep_their_order(desk: Any) -> None:
    for key in "abc":
        desk.do("add", **packet(key))
    taken = desk.next(item_id=2)
    assert (taken.item_id, taken.result, taken.selection_reason) == (2, "claimed", "explicit_pick")
    assert desk.line() == [1, 3]


def test_the_order_of_the_line_is_that_of_becoming_ready_not_of_the_clock(desk: Any) -> None:
    """H08: the clock goes back two hours between two items."""
    desk.do("add", **packet("a"))
    desk.do("add", **packet("b"))
    desk.later(-120 * MINUTE)
    desk.do("add", **packet("c"))
    until = iso(desk.now + 10 * MINUTE)
    desk.do("defer", item_id=1, expected_revision=1, reason="later", until=until)
    desk.later(9 * MINUTE)
    assert desk.next().item_id == 2
    desk.later(180 * MINUTE)
    again = desk.next()
    assert (again.result, again.item_id) == ("already_active", 2)
    assert kinds(desk, 1) == ["added", "deferred", "promoted"]
    desk.later(-120 * MINUTE)
    desk.next()
    assert kinds(desk, 1) == ["added", "deferred", "promoted"], "promoted once, whatever the clock does"
    assert desk.line() == [3, 1]


def test_A04_next_returns_the_active_item_as_often_as_it_is_asked(desk: Any) -> None:
    desk.do("add", **packet("a"))
    desk.do("add", **packet("b"))
    first = desk.next()
    other = Desk(desk.path)
    second = other.next()
    other.store.close()
    assert (first.result, second.result) == ("claimed", "already_active")
    assert second.active == first.active
    assert (second.selection_reason, second.revision) == (None, 2)


def test_next_returns_the_active_item_also_when_another_is_picked(desk: Any) -> None:
    desk.do("add", **packet("a"))
    desk.do("add", **packet("b"))
    desk.next()
    taken = desk.next(item_id=2)
    assert (taken.result, taken.item_id, taken.active.item_id) == ("already_active", 1, 1)
    assert desk.no("next", human_id=HUMAN, item_id=99).code == "unknown_item"


def test_no_two_items_are_active_even_by_raw_sql(desk: Any) -> None:
    desk.do("add", **packet("a"))
    desk.do("add", **packet("b"))
    desk.next()
    connection = sqlite3.connect(desk.path)
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        connection.execute("UPDATE attention_items SET state = 'active', claimed_at = 1 WHERE item_id = 2")
    connection.close()


def test_A05_an_item_claimed_before_a_crash_is_still_claimed(desk: Any) -> None:
    desk.do("add", **packet("a"))
    desk.do("add", **packet("b"))
    told = desk.ask("next", id=command_id(0xA05), human_id=HUMAN)
    desk.reopen()
    replay = desk.ask("next", id=command_id(0xA05), human_id=HUMAN)
    assert msgspec.structs.replace(replay, replayed=False) == told
    assert replay.replayed
    assert desk.next().active == told.active
    desk.later(365 * 24 * 60 * MINUTE)
    assert desk.next().result == "already_active", "a claim has no end of its own"


def test_A06_resolve_and_next_are_one_and_a_replay_returns_the_item_of_that_time(desk: Any) -> None:
    seat = desk.bind()
    for key in "abc":
        desk.do("summon", seat, **packet(key))
    desk.next()
    answer = {"item_id": 1, "expected_revision": 2, "outcome": "selected", "response": "C", "select_next": True}
    told = desk.ask("resolve", id=command_id(0xA06), **answer)
    assert (told.result, told.selection, told.active.item_id, told.selection_reason) == ("resolved", "claimed", 2, "fifo")
    assert (told.return_effect.phase, told.return_effect.generation) == ("pending", 1)
    resolve(desk, 2, select_next=True)
    before = desk.dump()
    replay = desk.ask("resolve", id=command_id(0xA06), **answer)
    assert desk.dump() == before
    assert replay.active.item_id == 2
    assert msgspec.json.encode(replay) == msgspec.json.encode(told).replace(b'"replayed":false', b'"replayed":true')


def test_A07_a_stale_resolve_does_none_of_the_three(desk: Any) -> None:
    """H11: the seat amended what the person was looking at."""
    seat = desk.bind()
    desk.do("summon", seat, **packet("a"))
    desk.do("summon", seat, **packet("b"))
    desk.next()
    desk.do("amend", seat, item_id=1, expected_revision=2, context="New facts.")
    before = desk.dump()
    refused = desk.no("resolve", item_id=1, expected_revision=2, outcome="approved", response="ok", select_next=True)
    assert (refused.code, refused.revision, refused.state, refused.item_id) == ("stale_revision", 3, "active", 1)
    assert numbers(refused) == (409, 5)
    assert desk.dump() == before


def test_A08_a_deferred_item_joins_the_tail_when_it_is_due_and_not_before(desk: Any) -> None:
    for key in "abc":
        desk.do("add", **packet(key))
    first = desk.shown(1).item.ready_sequence
    desk.do("defer", item_id=1, expected_revision=1, reason="tomorrow", until=iso(desk.now + MINUTE))
    desk.do("defer", item_id=2, expected_revision=1, reason="some day", until=None)
    desk.later(MINUTE - 1)
    taken = desk.next()
    assert (taken.item_id, taken.next_deferred_at) == (3, iso(NOW + MINUTE))
    desk.later(1)
    desk.do("add", **packet("d"))
    received = resolve(desk, 3, select_next=True)
    assert (received.active.item_id, received.next_deferred_at) == (4, None)
    assert desk.line() == [1]
    assert desk.shown(1).item.ready_sequence > first
    desk.later(10**12)
    resolve(desk, 4, select_next=True)
    empty = resolve(desk, 1, select_next=True)
    assert (empty.selection, empty.active, empty.deferred) == ("empty", None, 1), "what waits without a time is not promoted"
    assert desk.shown(2).item.state is State.DEFERRED


def test_due_items_are_promoted_in_the_order_of_their_moments_then_of_their_ids(desk: Any) -> None:
    for key in "abcd":
        desk.do("add", **packet(key))
    for item_id, minutes in ((1, 3), (2, 1), (3, 3), (4, 2)):
        desk.do("defer", item_id=item_id, expected_revision=1, reason="later", until=iso(desk.now + minutes * MINUTE))
    desk.later(5 * MINUTE)
    assert desk.next().item_id == 2
    assert desk.line() == [4, 1, 3]


def test_a_picked_item_that_is_just_due_is_promoted_and_taken_at_once(desk: Any) -> None:
    desk.do("add", **packet("a"))
    desk.do("add", **packet("b"))
    desk.do("defer", item_id=2, expected_revision=1, reason="later", until=iso(desk.now + MINUTE))
    assert desk.no("next", human_id=HUMAN, item_id=2).code == "not_eligible"
    desk.later(MINUTE)
    taken = desk.next(item_id=2)
    assert (taken.item_id, taken.revision, kinds(desk, 2)) == (2, 4, ["added", "deferred", "promoted", "claimed"])


def test_A09_a_person_works_without_any_agent(desk: Any) -> None:
    started = desk.do("start", **packet("grant", kind="human_work"))
    assert (started.result, started.state, started.active.item_id) == ("started", "active", 1)
    assert numbers(started) == (201, 0)
    done = resolve(desk, 1)
    assert (done.result, done.return_effect, done.active, done.selection) == ("resolved", None, None, None)
    item = desk.shown(1).item
    assert (item.owner, item.source_id, item.outcome, item.response) == ("human:hakon", None, "selected", "C")


def test_start_is_refused_while_an_item_is_active_and_adds_nothing(desk: Any) -> None:
    desk.do("start", **packet("a"))
    before = desk.dump()
    refused = desk.no("start", **packet("b"))
    assert (refused.code, refused.item_id) == ("another_active", 1)
    assert desk.dump() == before


def test_A10_an_empty_queue_says_so_with_what_is_deferred(desk: Any) -> None:
    empty = desk.next()
    assert (empty.result, empty.item_id, empty.deferred, empty.next_deferred_at) == ("empty", None, 0, None)
    assert numbers(empty) == (200, 0)
    desk.do("add", **packet("a"))
    desk.do("defer", item_id=1, expected_revision=1, reason="r", until="2026-12-24T19:00:00+02:00")
    empty = desk.next()
    assert (empty.deferred, empty.next_deferred_at) == (1, "2026-12-24T17:00:00.000Z")

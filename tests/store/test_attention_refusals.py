"""Attention refusals: every command in every state, and every no: with its reason, its numbers, and nothing changed."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from tocsin.contracts.attention_answers import Refusal, numbers
from tocsin.contracts.attention_facts import Edge, Enrolment, Nobody, Operator, Policy, Seat
from tocsin.contracts.attention_items import State
from tocsin.contracts.attention_time import iso
from tocsin.pipeline.attention import TRANSITIONS

attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
Desk, packet, handle, MINUTE, HUMAN, BROKER, desk = (
    attending[name] for name in ("Desk", "packet", "handle", "MINUTE", "HUMAN", "BROKER", "desk")
)
HASH = handle("new")


def bring(desk: Any, state: State) -> int:
    """Item 1, brought into this state by commands; its revision."""
    desk.do("summon", desk.bind(), **packet())
    steps = {
        State.QUEUED: [],
        State.ACTIVE: ["next"],
        State.DEFERRED: ["defer"],
        State.RESOLVED: ["next", "resolve"],
        State.CANCELLED: ["cancel"],
    }[state]
    more = {"defer": {"reason": "r", "until": None}, "cancel": {"reason": "r"}}
    more["resolve"] = {"outcome": "approved", "response": "ok"}
    for step in steps:
        if step == "next":
            desk.next()
        else:
            desk.do(step, item_id=1, expected_revision=desk.revision(1), **more[step])
    assert desk.shown(1).item.state is state
    return int(desk.revision(1))


ACTS: dict[str, dict[str, Any]] = {
    "amend": {"title": "Another"},
    "withdraw": {"reason": "r"},
    "resolve": {"outcome": "approved", "response": "ok"},
    "defer": {"reason": "r", "until": None},
    "requeue": {"reason": "r"},
    "cancel": {"reason": "r"},
    "retry_return": {"return_generation": 1},
    "reroute_return": {"return_generation": 1, "source_id": "s2", "reason": "r"},
}


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("act", ACTS)
def test_what_the_table_does_not_allow_in_a_state_is_refused_and_the_rest_is_done(desk: Any, act: str, state: State) -> None:
    revision = bring(desk, state)
    desk.bind("s2")
    before = desk.dump()
    principal = Seat(source_id="s1", broker_uuid=BROKER) if act == "withdraw" else Operator()
    answer = desk.ask(act, principal, item_id=1, expected_revision=revision, **ACTS[act])
    to = TRANSITIONS[act].get(state)  # type: ignore[index]
    if to is None:
        assert (answer.code, answer.state, answer.revision, numbers(answer)) == ("wrong_state", state, revision, (409, 5))
        assert desk.dump() == before
    else:
        assert not isinstance(answer, Refusal)
        moved = act not in ("retry_return", "reroute_return")
        assert (answer.item_id, answer.state, answer.revision) == (1, to, revision + moved)


@pytest.mark.parametrize("act", ACTS)
def test_a_revision_that_was_not_read_is_refused(desk: Any, act: str) -> None:
    state = next(iter(TRANSITIONS[act]))  # type: ignore[index]
    revision = bring(desk, state)
    before = desk.dump()
    principal = Seat(source_id="s1", broker_uuid=BROKER) if act == "withdraw" else Operator()
    for wrong in (revision + 1, revision - 1) if revision > 1 else (revision + 1,):
        refused = desk.no(act, principal, item_id=1, expected_revision=wrong, **ACTS[act])
        assert (refused.code, refused.revision, refused.state) == ("stale_revision", revision, state)
    assert desk.no(act, principal, item_id=9, expected_revision=1, **ACTS[act]).code == "unknown_item"
    assert desk.dump() == before


def test_a_deferral_needs_a_moment_that_is_yet_to_come(desk: Any) -> None:
    desk.do("add", **packet())
    for until in (desk.now, desk.now - 1):
        refused = desk.no("defer", item_id=1, expected_revision=1, reason="r", until=iso(until))
        assert (refused.code, numbers(refused)) == ("not_in_future", (422, 2))
    assert desk.no("defer", item_id=1, expected_revision=1, reason="r").code == "invalid", "no hold without saying so"
    # Two hours ahead of UTC: this is a minute from now, and would be in the past if the offset were not heeded
    assert desk.do("defer", item_id=1, expected_revision=1, reason="r", until="2026-11-30T18:16:00+02:00").result == "deferred"
    assert desk.shown(1).item.deferred_until == "2026-11-30T16:16:00.000Z"


def test_deferring_a_waiting_item_and_asking_for_the_next_never_returns_that_item(desk: Any) -> None:
    desk.do("add", **packet("a"))
    done = desk.do("defer", item_id=1, expected_revision=1, reason="r", until=iso(desk.now + MINUTE), select_next=True)
    assert (done.result, done.selection, done.deferred) == ("deferred", "empty", 1)
    desk.later(MINUTE)
    done = desk.do("cancel", item_id=1, expected_revision=2, reason="r", select_next=True)
    assert (done.result, done.state, done.selection) == ("cancelled", "cancelled", "empty"), "also when it has just become due"


def test_asking_for_the_next_while_another_is_active_returns_that_one(desk: Any) -> None:
    for key in "abc":
        desk.do("add", **packet(key))
    desk.next()
    done = desk.do("cancel", item_id=2, expected_revision=1, reason="r", select_next=True)
    assert (done.selection, done.active.item_id, done.item_id) == ("already_active", 1, 2)


def test_defer_and_next_moves_on_and_without_next_nothing_is_selected(desk: Any) -> None:
    for key in "abc":
        desk.do("add", **packet(key))
    desk.next()
    done = desk.do("defer", item_id=1, expected_revision=2, reason="r", until=None, select_next=True)
    assert (done.state, done.selection, done.active.item_id) == ("deferred", "claimed", 2)
    done = desk.do("cancel", item_id=2, expected_revision=2, reason="r")
    assert (done.selection, done.active) == (None, None)
    with desk.store.read() as view:
        assert view.rows("SELECT count(*) FROM attention_items WHERE state = 'active'") == [(0,)]


def test_a_requeued_item_waits_at_the_end(desk: Any) -> None:
    for key in "ab":
        desk.do("add", **packet(key))
    desk.do("defer", item_id=1, expected_revision=1, reason="r", until=None)
    assert desk.do("requeue", item_id=1, expected_revision=2, reason="back").revision == 3
    assert desk.line() == [2, 1]


def test_an_item_of_another_persons_queue_can_not_be_picked(desk: Any) -> None:
    other = Desk(desk.path, policy=Policy(human_id="runa"))
    other.do("add", **packet(human_id="runa"))
    desk.do("add", **packet())
    assert desk.no("next", human_id=HUMAN, item_id=1).code == "unknown_item"
    assert other.do("next", human_id="runa").item_id == 1
    assert desk.next().item_id == 2, "each person has one active item of their own"
    other.store.close()


def test_only_a_queued_item_can_be_picked(desk: Any) -> None:
    desk.do("add", **packet("a"))
    desk.do("defer", item_id=1, expected_revision=1, reason="r", until=None)
    refused = desk.no("next", human_id=HUMAN, item_id=1)
    assert (refused.code, refused.state, numbers(refused)) == ("not_eligible", "deferred", (409, 5))
    assert desk.no("next", human_id=HUMAN, item_id=2).code == "unknown_item"


def test_an_amendment_that_changes_nothing_moves_no_revision(desk: Any) -> None:
    desk.do("add", **packet())
    before = desk.dump()
    same = desk.do("amend", item_id=1, expected_revision=1, title=packet()["title"], deadline_at=None)
    assert (same.result, same.revision) == ("unchanged", 1)
    assert desk.dump()["items"] == before["items"]


def test_an_amendment_with_null_takes_the_value_away(desk: Any) -> None:
    desk.do("add", **packet(estimate_minutes=8, deadline_at="2026-12-24T18:00:00+01:00"))
    assert desk.shown(1).item.packet.deadline_at == "2026-12-24T17:00:00.000Z"
    desk.do("amend", item_id=1, expected_revision=1, estimate_minutes=None)
    item = desk.shown(1).item.packet
    assert (item.estimate_minutes, item.deadline_at) == (None, "2026-12-24T17:00:00.000Z")


def test_a_queue_belongs_to_the_human_it_is_set_up_for(desk: Any) -> None:
    seat = desk.bind()
    for answer in (
        desk.no("add", **packet(human_id="hakn")),
        desk.no("summon", seat, **packet(human_id="hakn")),
        desk.no("next", human_id="hakn"),
    ):
        assert (answer.code, numbers(answer)) == ("unknown_human", (404, 4))


def test_work_that_a_source_is_not_bound_to_is_refused(desk: Any) -> None:
    seat = desk.bind()
    for changed in ({"project_id": "other"}, {"work_id": "likeness-3"}):
        refused = desk.no("summon", seat, **packet(**changed))
        assert (refused.code, numbers(refused)) == ("out_of_scope", (403, 3))
        assert desk.no("add", **packet(**changed, source_id="s1")).code == "out_of_scope"


def test_the_person_may_name_an_enrolled_source_for_the_answer(desk: Any) -> None:
    assert desk.no("add", **packet(source_id="s1")).code == "unknown_source"
    desk.bind()
    desk.do("start", **packet(source_id="s1"))
    done = desk.do("resolve", item_id=1, expected_revision=1, outcome="delegated", response="Go on.")
    assert done.return_effect.phase == "pending"
    assert desk.no("add", **packet()).code == "item_exists_use_amend", "where the answer goes is part of what is asked"
    desk.do("add", **packet("c", source_id="s1"))
    desk.do("amend", item_id=2, expected_revision=1, title="Better")
    assert desk.do("add", **packet("c", source_id="s1", title="Better")).result == "existing", "an amendment keeps the way"
    desk.do("source_revoke", source_id="s1", reason="over")
    assert desk.no("add", **packet("b", source_id="s1")).code == "source_revoked"


def test_A20_nobody_and_the_handle_of_another_database_are_refused_also_for_a_replay(desk: Any) -> None:
    seat = desk.bind()
    id = attending["command_id"](0xA20)
    desk.ask("summon", seat, id=id, **packet())
    for principal, code, status in (
        (Nobody(), "unauthenticated", (401, 3)),
        (Seat(source_id="s9", broker_uuid=BROKER), "unauthenticated", (401, 3)),
        (Seat(source_id="s1", broker_uuid=BROKER[:-1] + "2"), "wrong_broker", (403, 3)),
    ):
        refused = desk.no("summon", principal, id=id, **packet())
        assert (refused.code, numbers(refused)) == (code, status)


def test_A20_who_asks_can_not_be_said_in_a_command(desk: Any) -> None:
    for field in ("actor", "owner", "source_id", "delivery_id", "principal", "state", "revision", "ready_sequence"):
        assert desk.request("summon", {**packet(), field: "x"}).code == "invalid"


def test_A20_a_source_survives_a_restart(desk: Any) -> None:
    seat = desk.bind()
    desk.reopen()
    assert desk.do("summon", seat, **packet()).source_id == "s1"


def seen(**changes: Any) -> Enrolment:
    named = {"source_id": "new", "handle_hash": HASH}
    return Enrolment(**{**named, "edge": "mac", "actor": "a", "provenance": "dispatch", **changes})


WORK = {"project_id": "film", "work_id": "w", "return_mode": "actor_context"}


@pytest.mark.parametrize(
    ("principal", "enrolment", "code"),
    [
        (Edge(edge_id="mac"), seen(provenance="operator_binding"), "unauthenticated"),
        (Edge(edge_id="other"), seen(), "unauthenticated"),
        (Operator(), seen(), "unauthenticated"),
        (Operator(), seen(provenance="live_registration"), "unauthenticated"),
        (Edge(edge_id="mac"), None, "unauthenticated"),
        (Edge(edge_id="mac"), seen(actor=""), "invalid"),
        (Edge(edge_id="mac"), seen(handle_hash="the handle itself"), "invalid"),
        (Edge(edge_id="mac"), seen(session_id=""), "invalid"),
        (Edge(edge_id="mac"), seen(cwd="/" * 4_097), "invalid"),
    ],
)
def test_a_source_is_enrolled_by_who_verified_it_alone(desk: Any, principal: Any, enrolment: Any, code: str) -> None:
    assert desk.no("source_bind", principal, enrolment=enrolment, **WORK).code == code


@pytest.mark.parametrize("provenance", ["dispatch", "live_registration"])
def test_an_answer_is_pinned_to_a_verified_session_only(desk: Any, provenance: str) -> None:
    pinned = {**WORK, "return_mode": "pinned_session"}
    edge = Edge(edge_id="mac")
    refused = desk.no("source_bind", edge, enrolment=seen(provenance=provenance), **pinned)
    assert (refused.code, numbers(refused)) == ("unverified_session", (403, 3))
    bound = desk.do("source_bind", edge, enrolment=seen(provenance=provenance, session_id="6f0e"), **pinned)
    assert (bound.result, bound.source_id, numbers(bound)) == ("bound", "new", (201, 0))


def test_an_enrolment_never_takes_the_name_of_another(desk: Any) -> None:
    desk.bind("new")
    refused = desk.no("source_bind", Edge(edge_id="mac"), enrolment=seen(handle_hash=handle("else")), **WORK)
    assert refused.code == "source_exists"


def test_a_replayed_enrolment_answers_with_the_source_of_the_first_time(desk: Any) -> None:
    id, edge = attending["command_id"](0xB1), Edge(edge_id="mac")
    first = desk.do("source_bind", edge, id=id, enrolment=seen(), **WORK)
    again = desk.do("source_bind", edge, id=id, enrolment=seen(source_id="second", handle_hash=handle("second")), **WORK)
    assert (again.source_id, again.replayed, first.source_id) == ("new", True, "new")
    assert len(desk.dump()["sources"]) == 1


def test_an_edge_may_enrol_and_nothing_else(desk: Any) -> None:
    assert desk.no("next", Edge(edge_id="mac"), human_id=HUMAN).code == "forbidden"
    assert desk.no("source_revoke", source_id="s9", reason="r").code == "unknown_source"

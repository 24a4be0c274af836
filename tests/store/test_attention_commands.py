"""Attention commands: the same one twice, who may send which, and what is kept of them all."""

import runpy
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tocsin.contracts.attention_answers import Code, Refusal, Result, numbers
from tocsin.contracts.attention_items import Phase, State
from tocsin.contracts.attention_time import iso
from tocsin.store import attention_reads as reads
from tocsin.store import attention_returns as returns

attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
packet, command_id, MINUTE, HUMAN, NOW, desk, kinds, resolve = (
    attending[name] for name in ("packet", "command_id", "MINUTE", "HUMAN", "NOW", "desk", "kinds", "resolve")
)


def test_A11_a_command_whose_answer_was_lost_is_answered_again_also_when_its_source_is_revoked(desk: Any) -> None:
    """H05."""
    seat = desk.bind()
    told = desk.ask("summon", seat, id=command_id(0xA11), **packet())
    desk.reopen()
    desk.do("source_revoke", source_id="s1", reason="over")
    desk.next()
    desk.later(MINUTE)
    replay = desk.ask("summon", seat, id=command_id(0xA11), **packet())
    assert msgspec.json.encode(replay) == msgspec.json.encode(told).replace(b'"replayed":false', b'"replayed":true')
    assert numbers(told) == (201, 0)
    assert numbers(replay) == (200, 0)
    assert desk.no("summon", seat, **packet("new")).code == "source_revoked"
    with desk.store.read() as view:
        assert reads.command(view, command_id(0xA11).upper(), seat, desk.now) == told


def test_A12_the_same_command_id_with_another_content_is_a_conflict_and_changes_nothing(desk: Any) -> None:
    """H06."""
    seat = desk.bind()
    desk.ask("summon", seat, id=command_id(0xA12), **packet())
    before = desk.dump()
    changed = packet(title="Choose the render l")
    assert desk.no("summon", seat, id=command_id(0xA12), **changed).code == "command_id_conflict"
    assert desk.no("summon", desk.bind("s2"), id=command_id(0xA12), **packet()).code == "command_id_conflict"
    assert desk.no("add", id=command_id(0xA12), **packet()).code == "command_id_conflict"
    assert desk.dump()["items"] == before["items"]


def test_A13_the_same_round_in_other_words_has_to_be_amended_whatever_its_state(desk: Any) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet())
    for expected in ("queued", "active", "resolved"):
        again = desk.do("summon", seat, **packet())
        assert (again.result, again.item_id, again.state) == ("existing", 1, expected)
        refused = desk.no("summon", seat, **packet(context="Another context."))
        assert (refused.code, refused.item_id, refused.state) == ("item_exists_use_amend", 1, expected)
        if expected == "queued":
            desk.next()
        elif expected == "active":
            resolve(desk, 1)
    assert kinds(desk, 1) == ["added", "claimed", "resolved", "return_recorded"]


def test_a_round_asked_again_in_its_first_words_is_told_that_it_was_amended_since(desk: Any) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet())
    desk.do("amend", seat, item_id=1, expected_revision=1, title="Better")
    first, second = desk.do("summon", seat, **packet()), desk.do("summon", seat, **packet(title="Better"))
    assert (first.result, first.revision, second.result) == ("existing_amended", 2, "existing")
    assert desk.no("summon", seat, **packet(title="Third")).code == "item_exists_use_amend"


def test_A14_a_new_round_has_its_own_item_and_names_the_one_before(desk: Any) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet("round-1"))
    second = desk.do("summon", seat, **packet("round-2", predecessor_item_id=1))
    assert desk.shown(second.item_id).item.packet.predecessor_item_id == 1
    assert desk.no("summon", seat, **packet("round-3", predecessor_item_id=77)).code == "unknown_item"


def test_A15_a_source_touches_nothing_of_another_source(desk: Any) -> None:
    seat, peer, renewed = desk.bind(), desk.bind("s2", actor="bert"), desk.bind("s3")
    desk.do("summon", seat, **packet())
    for other in (peer, renewed):
        assert desk.no("amend", other, item_id=1, expected_revision=1, title="Mine").code == "not_yours"
        assert desk.no("withdraw", other, item_id=1, expected_revision=1, reason="mine").code == "not_yours"
    assert desk.do("summon", renewed, **packet()).result == "existing", "the actor's round stays the same when bound anew"
    assert desk.do("summon", peer, **packet()).result == "created", "another actor's round is another"


OF_THE_PERSON: list[tuple[str, dict[str, Any]]] = [
    ("add", packet("x")),
    ("start", packet("x")),
    ("next", {"human_id": HUMAN}),
    ("resolve", {"item_id": 1, "expected_revision": 1, "outcome": "approved", "response": "ok"}),
    ("defer", {"item_id": 1, "expected_revision": 1, "reason": "r", "until": None}),
    ("requeue", {"item_id": 1, "expected_revision": 1, "reason": "r"}),
    ("cancel", {"item_id": 1, "expected_revision": 1, "reason": "r"}),
    ("retry_return", {"item_id": 1, "expected_revision": 1, "return_generation": 1}),
    ("reroute_return", {"item_id": 1, "expected_revision": 1, "return_generation": 1, "source_id": "s1", "reason": "r"}),
    ("source_revoke", {"source_id": "s1", "reason": "r"}),
    ("source_revoke", {"source_id": "s8", "reason": "r"}),
    ("source_bind", {"project_id": "film", "work_id": "w", "return_mode": "none"}),
]


@pytest.mark.parametrize(
    ("action", "payload"), OF_THE_PERSON, ids=[f"{nth}-{action}" for nth, (action, _) in enumerate(OF_THE_PERSON)]
)
def test_A15_a_seat_may_not_act_for_the_person(desk: Any, action: str, payload: dict[str, Any]) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet())
    before = desk.dump()
    unknown = type(seat)(source_id="s9", broker_uuid=seat.broker_uuid)
    assert desk.no(action, unknown, **payload).code == "unauthenticated"
    refused = desk.no(action, seat, **payload)
    assert (refused.code, numbers(refused)) == ("forbidden", (403, 3))
    assert desk.dump() == before


def test_the_person_neither_summons_nor_withdraws(desk: Any) -> None:
    desk.do("add", **packet())
    assert desk.no("summon", **packet("b")).code == "forbidden"
    assert desk.no("withdraw", item_id=1, expected_revision=1, reason="r").code == "forbidden"


def test_A16_an_active_item_can_be_amended_but_not_withdrawn_by_its_source(desk: Any) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet())
    desk.next()
    refused = desk.no("withdraw", seat, item_id=1, expected_revision=2, reason="done without you")
    assert (refused.code, refused.state) == ("wrong_state", "active")
    desk.do("amend", seat, item_id=1, expected_revision=2, title="Look at D, too")
    assert desk.next().active.packet.title == "Look at D, too"


@pytest.mark.parametrize("deferred", [False, True])
def test_a_source_withdraws_its_own_waiting_item(desk: Any, deferred: bool) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet())
    if deferred:
        desk.do("defer", item_id=1, expected_revision=1, reason="later", until=None)
    done = desk.do("withdraw", seat, item_id=1, expected_revision=desk.revision(1), reason="done without you")
    assert (done.result, done.state) == ("withdrawn", "cancelled")
    item = desk.shown(1).item
    assert (item.reason, item.resolved_at, item.returned) == ("done without you", iso(NOW), None)


def test_A30_a_return_has_the_same_coordinate_in_every_attempt(desk: Any) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet())
    desk.next()
    done = resolve(desk, 1)
    with desk.store.read() as view:
        first, second = returns.due(view, desk.now), returns.due(view, desk.now)
        assert first == second
        assert first[0].row.resolution_command_id == done.command_id


def test_A33_a_queue_that_is_switched_off_takes_no_command_and_can_be_read(desk: Any) -> None:
    desk.ask("add", id=command_id(0xA33), **packet())
    desk.policy = msgspec.structs.replace(desk.policy, enabled=False)
    before = desk.dump()
    refused = desk.no("next", human_id=HUMAN)
    assert (refused.code, numbers(refused)) == ("disabled", (404, 4))
    assert desk.dump() == before
    assert desk.shown(1).item.state is State.QUEUED
    assert desk.ask("add", id=command_id(0xA33), **packet()).replayed


def test_A35_what_is_recorded_of_a_source_outlives_its_revocation(desk: Any) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet())
    desk.next()
    desk.do("source_revoke", source_id="s1", reason="retired")
    done = resolve(desk, 1)
    assert done.return_effect.phase is Phase.PENDING, "an answer to a revoked source still has its way back"
    shown = desk.shown(1)
    assert (shown.source.actor, shown.source.revoked_reason, shown.item.returned.phase) == ("ariadne", "retired", "pending")
    assert desk.do("source_revoke", source_id="s1", reason="again").result is Result.ALREADY_REVOKED


@pytest.mark.parametrize("table", ["items", "events", "commands", "returns", "sources"])
def test_nothing_of_the_history_can_be_deleted_even_by_raw_sql(desk: Any, table: str) -> None:
    seat = desk.bind()
    desk.do("summon", seat, **packet())
    desk.next()
    resolve(desk, 1)
    connection = sqlite3.connect(desk.path)
    with pytest.raises(sqlite3.IntegrityError, match="history"):
        connection.execute(f"DELETE FROM attention_{table}")
    connection.close()


def test_an_answer_is_kept_to_the_letter(desk: Any) -> None:
    desk.do("start", **packet())
    said = "Use C;\n\x1b[31mred\x1b[0m <b>e\u0301</b> [x](y) \u202e \U0001f3ac"
    desk.do("resolve", item_id=1, expected_revision=1, outcome="answered", response=said)
    assert desk.shown(1).item.response == said


def test_a_refusal_says_who_was_asked_and_leaves_its_id_free(desk: Any) -> None:
    refused = desk.no("cancel", id=command_id(0xF), item_id=1, expected_revision=1, reason="r")
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.command_id, refused.action) == (Code.UNKNOWN_ITEM, command_id(0xF), "cancel")
    assert (refused.broker_uuid, refused.as_of) == (desk.broker, iso(NOW))
    desk.do("add", **packet())
    assert desk.do("cancel", id=command_id(0xF), item_id=1, expected_revision=1, reason="r").result == "cancelled"

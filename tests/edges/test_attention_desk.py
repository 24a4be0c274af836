"""The attention desk: commands and questions without a daemon, requests that are kept, and no secret anywhere."""

import json
import os
import runpy
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tocsin.actors.tables import Direct
from tocsin.contracts.attention_answers import Code, Result
from tocsin.contracts.attention_commands import Next
from tocsin.contracts.attention_facts import Operator, Policy
from tocsin.contracts.attention_items import Phase
from tocsin.contracts.base import Instant
from tocsin.contracts.errors import BadInput, NotYours, SameId, StoreBusy, StoreFull, UnknownCommand
from tocsin.edges.attention.desk import AttentionDesk, attention, load_request, save_request
from tocsin.edges.attention.names import uuid
from tocsin.edges.opened import opened
from tocsin.store.engine import Store

desks = runpy.run_path(str(Path(__file__).parent / "desks.py"))
CLOCK, HUMAN, command, done, made, no_post, packet, refused = (
    desks[name] for name in ("CLOCK", "HUMAN", "command", "done", "made", "no_post", "packet", "refused")
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with made(tmp_path, monkeypatch) as one:
        yield one


# Without a daemon


def test_the_whole_loop_works_with_nothing_running(place: Any) -> None:
    desk = place.desk()
    place.by_hand(desk)
    seat, me = desk.seat(place.root / "source.json"), desk.operator()
    item_id = done(desk.act(command("summon", **packet()), seat)).item_id
    assert item_id == 1
    taken = done(desk.act(command("next", human_id=HUMAN), me))
    assert taken.active is not None
    payload = {"item_id": 1, "expected_revision": 2, "outcome": "selected", "response": "Take C."}
    resolved = done(desk.act(command("resolve", **payload), me))
    assert (resolved.result, resolved.return_effect.phase) == (Result.RESOLVED, Phase.PENDING)  # type: ignore[union-attr]
    [returned] = desk.returns(1)
    assert returned.phase is Phase.MINTED, "the answer is on its way at once"
    with opened(place.path, CLOCK, print) as records:
        [stored] = records.messages(to="ariadne")
    assert (stored.id, stored.traffic) == (returned.delivery_id, "return")


def test_a_desk_over_a_line_lets_that_know_of_an_answer_it_has_sent(place: Any) -> None:
    looked: list[str] = []
    tables = Direct(lambda: Store.open(place.path, now=CLOCK.now()))
    policy = Policy(human_id=HUMAN)
    desk = AttentionDesk.over(tables, state=place.state, clock=CLOCK, policy=policy, look=lambda: looked.append("look"))
    place.by_hand(desk)
    done(desk.act(command("summon", **packet()), desk.seat(place.root / "source.json")))
    done(desk.act(command("next", human_id=HUMAN), desk.operator()))
    assert looked == []
    payload = {"item_id": 1, "expected_revision": 2, "outcome": "selected", "response": "C."}
    done(desk.act(command("resolve", **payload), desk.operator()))
    assert looked == ["look"]
    tables.close()


def test_a_queue_that_was_never_used_answers_every_question_and_is_not_made_by_it(place: Any) -> None:
    desk = place.desk()
    assert desk.queue().items == ()
    assert desk.item(1) is None
    assert desk.history(1).events == ()
    assert refused(desk.command(uuid(CLOCK), Operator())) is Code.UNKNOWN_COMMAND
    assert desk.counts().queued == 0
    assert desk.sources().sources == ()
    assert desk.source("s") is None
    assert desk.returns(1) == []
    assert desk.doctor().broker_uuid is None
    with place.desk()._tables._there().read() as view:  # type: ignore[attr-defined]
        assert view.rows("SELECT name FROM sqlite_master WHERE name LIKE 'attention%'") == []


def test_two_desks_at_one_database_see_each_other_at_once(place: Any) -> None:
    one, two = place.desk(), place.desk()
    done(one.act(command("add", **packet()), one.operator()))
    assert [item.item_id for item in two.queue().items] == [1]
    done(two.act(command("next", human_id=HUMAN), two.operator()))
    assert done(one.act(command("next", human_id=HUMAN), one.operator())).result is Result.ALREADY_ACTIVE
    assert one.counts().active_item_id == 1


def test_a_locked_database_is_busy_and_nothing_was_changed(place: Any) -> None:
    desk = place.desk()
    me = desk.operator()
    data = command("add", **packet())
    desk._tables._there()._connection.execute("PRAGMA busy_timeout = 50")  # type: ignore[attr-defined]
    other = Store.open(place.path, now=Instant(0))
    with other.write(), pytest.raises(StoreBusy):
        desk.act(data, me)
    other.close()
    answer = done(desk.act(data, me))
    assert (answer.result, answer.replayed) == (Result.CREATED, False)


def test_A21_a_resolution_stands_although_its_answer_could_not_be_sent(place: Any) -> None:
    desk = place.desk()
    place.by_hand(desk)
    me = desk.operator()
    for key in ("one", "two"):
        done(desk.act(command("summon", **packet(key)), desk.seat(place.root / "source.json")))
    done(desk.act(command("next", human_id=HUMAN), me))
    payload = {"item_id": 1, "expected_revision": 2, "outcome": "selected", "response": "C.", "select_next": True}
    data = command("resolve", **payload)
    with no_post(place):
        answer = done(desk.act(data, me))
    assert (answer.result, answer.active.item_id) == (Result.RESOLVED, 2)  # type: ignore[union-attr]
    assert [row.phase for row in desk.returns(1)] == [Phase.PENDING]
    off = place.desk(enabled=False)
    assert done(off.act(data, me)).replayed
    assert [row.phase for row in desk.returns(1)] == [Phase.PENDING], "what is switched off sends nothing"
    assert done(desk.act(data, me)).replayed
    assert [row.phase for row in desk.returns(1)] == [Phase.MINTED]


def test_where_no_line_runs_the_next_command_sees_what_became_of_an_answer(place: Any) -> None:
    with attention(place.path, state=place.state, clock=CLOCK, policy=Policy(human_id=HUMAN), warn=print) as desk:
        place.by_hand(desk)
        done(desk.act(command("summon", **packet()), desk.seat(place.root / "source.json")))
        done(desk.act(command("next", human_id=HUMAN), desk.operator()))
        payload = {"item_id": 1, "expected_revision": 2, "outcome": "selected", "response": "C."}
        done(desk.act(command("resolve", **payload), desk.operator()))
    store = Store.open(place.path, now=Instant(0))
    with store.write() as tx:
        tx.execute("UPDATE notices SET state = 'processed'")
    store.close()
    desk = place.desk()
    assert [row.phase for row in desk.returns(1)] == [Phase.MINTED], "a question changes nothing"
    retry = {"item_id": 1, "expected_revision": 3, "return_generation": 1}
    assert refused(desk.act(command("retry_return", **retry), desk.operator())) is Code.RETURN_PROCESSED
    assert [row.phase for row in desk.returns(1)] == [Phase.PROCESSED]


def test_a_desk_that_has_done_something_notes_what_became_of_answers_before_it_closes(place: Any) -> None:
    first = place.desk()
    place.by_hand(first)
    done(first.act(command("summon", **packet()), first.seat(place.root / "source.json")))
    done(first.act(command("next", human_id=HUMAN), first.operator()))
    payload = {"item_id": 1, "expected_revision": 2, "outcome": "selected", "response": "C."}
    done(first.act(command("resolve", **payload), first.operator()))
    store = Store.open(place.path, now=Instant(0))
    with store.write() as tx:
        tx.execute("UPDATE notices SET state = 'processed'")
    store.close()
    here = {"state": place.state, "clock": CLOCK, "policy": Policy(human_id=HUMAN), "warn": print}
    with attention(place.path, **here) as reader:  # type: ignore[arg-type]
        reader.queue()
    assert [row.phase for row in first.returns(1)] == [Phase.MINTED]
    with attention(place.path, **here) as actor:  # type: ignore[arg-type]
        done(actor.act(command("add", **packet("mine")), actor.operator()))
    assert [row.phase for row in first.returns(1)] == [Phase.PROCESSED]


def test_what_is_no_command_is_refused_with_words(place: Any) -> None:
    desk = place.desk()
    assert refused(desk.act(b"{", desk.operator())) is Code.MALFORMED
    assert refused(desk.act(b" " * 70_000, desk.operator())) is Code.TOO_LARGE
    assert refused(desk.act(command("next", human_id=HUMAN, actor="ariadne"), desk.operator())) is Code.INVALID
    built = Next(
        schema_version=1, command_id="no uuid", payload=msgspec.convert({"human_id": HUMAN}, Next.__annotations__["payload"])
    )
    assert refused(desk.act(built, desk.operator())) is Code.INVALID


def test_switched_off_it_takes_no_command_sends_nothing_and_can_be_read(place: Any) -> None:
    desk = place.desk()
    place.by_hand(desk)
    done(desk.act(command("summon", **packet()), desk.seat(place.root / "source.json")))
    off = place.desk(enabled=False)
    assert refused(off.act(command("next", human_id=HUMAN), off.operator())) is Code.DISABLED
    assert refused(off.bind("film", "likeness-2", **place.binding("other.json"))) is Code.DISABLED
    assert not (place.root / "other.json").exists()
    assert [item.item_id for item in off.queue().items] == [1]
    assert not off.doctor().enabled


# The journal


def test_a_command_is_kept_to_the_letter_for_its_owner_alone(place: Any) -> None:
    data = b'{ "schema_version": 1, "command_id": "8BA99410-c894-4632-aea6-b33a06a6b015", "action": "next" }'
    path = save_request(place.state, data)
    assert path == place.state / "requests" / "8ba99410-c894-4632-aea6-b33a06a6b015.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert load_request(place.state, "8ba99410-c894-4632-AEA6-b33a06a6b015") == data
    assert save_request(place.state, data) == path
    with pytest.raises(SameId, match="make a new id"):
        save_request(place.state, data.replace(b"next", b"start"))
    assert load_request(place.state, "8ba99410-c894-4632-aea6-b33a06a6b015") == data


def test_a_command_that_was_not_kept_or_could_have_been_changed_is_not_sent(place: Any) -> None:
    id = uuid(CLOCK)
    with pytest.raises(UnknownCommand):
        load_request(place.state, id)
    for bad in ("../operator.key", "", "x"):
        with pytest.raises(BadInput, match="no command's id"):
            load_request(place.state, bad)
    with pytest.raises(BadInput):
        save_request(place.state, b"{")
    save_request(place.state, json.dumps({"command_id": id}).encode()).chmod(0o620)
    with pytest.raises(NotYours):
        load_request(place.state, id)


def test_the_journal_forgets_what_is_old_and_keeps_what_was_kept_last(place: Any) -> None:
    old, new = (save_request(place.state, json.dumps({"command_id": uuid(CLOCK)}).encode()) for _ in range(2))
    month = 31 * 86_400
    os.utime(old, (old.stat().st_atime - month, old.stat().st_mtime - month))
    last = save_request(place.state, json.dumps({"command_id": uuid(CLOCK)}).encode())
    assert sorted(place.state.glob("requests/*")) == sorted([new, last])


def test_what_can_not_be_written_is_said_before_anything_is_done(place: Any) -> None:
    (place.root / "blocked").write_text("a file")
    with pytest.raises(StoreFull, match="can't be written"):
        save_request(place.root / "blocked", command("next", human_id=HUMAN))


# Doctor, and no secrets anywhere


def test_the_doctor_says_how_everything_stands(place: Any) -> None:
    desk = place.desk()
    place.by_hand(desk)
    gone = place.by_hand(desk, "gone.json")
    done(desk.act(command("source_revoke", source_id=gone.source_id, reason="over"), desk.operator()))
    health = desk.doctor()
    assert (health.enabled, health.human_id, health.operator_recorded, health.operator_key) == (True, HUMAN, True, "yours")
    assert (health.schema_version, health.tables_known, health.protocol) == (1, 1, 1)
    assert [(one.actor, one.return_mode, one.valid) for one in health.sources] == [("ariadne", "actor_context", True)]
    assert health.here == ()
    assert health.wal_bytes > 0
    with opened(place.path, CLOCK, print) as records:
        records.archive("ariadne")
    assert [(one.valid, one.reason) for one in desk.doctor().sources] == [(False, "recipient_archived")]


def test_no_secret_leaves_its_file(place: Any) -> None:
    desk = place.desk()
    bound = place.by_hand(desk)
    me, seat = desk.operator(), desk.seat(place.root / "source.json")
    save_request(place.state, command("next", human_id=HUMAN))
    answers: list[Any] = [bound, me, seat, desk.act(command("summon", **packet()), seat)]
    answers += [desk.act(command("next", human_id=HUMAN), me), desk.queue(), desk.item(1), desk.history(1), desk.sources()]
    payload = {"item_id": 1, "expected_revision": 2, "outcome": "selected", "response": "C."}
    answers += [desk.act(command("resolve", **payload), me), desk.returns(1), desk.doctor(), desk.counts()]
    shown = msgspec.json.encode(answers)
    secrets = {
        "key": (place.state / "operator.key").read_bytes(),
        "handle": json.loads((place.root / "source.json").read_bytes())["handle"].encode(),
    }
    places = {file for file in place.root.rglob("*") if file.is_file()}
    holders = {place.state / "operator.key": "key", place.root / "source.json": "handle"}
    for name, hidden in secrets.items():
        assert len(hidden) >= 32
        assert hidden not in shown
        assert [file for file in places if hidden in file.read_bytes() and holders.get(file) != name] == []

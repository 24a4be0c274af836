"""The attention desk: commands and questions without a daemon, who is believed to be whom, and files that hold secrets."""

import json
import os
import runpy
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tocsin.contracts.attention_answers import Code, Receipt, Refusal, Result
from tocsin.contracts.attention_commands import Next
from tocsin.contracts.attention_facts import Nobody, Operator, Policy, Seat
from tocsin.contracts.attention_items import Phase
from tocsin.contracts.base import Instant
from tocsin.contracts.errors import BadInput, NotFound, NotRunning, NotYours, SameId, StoreBusy, StoreFull
from tocsin.contracts.recipients import Recipient
from tocsin.edges.attention.desk import (
    AttentionDesk,
    ByHand,
    Dispatch,
    Live,
    attention,
    default_source_file,
    load_request,
    save_request,
)
from tocsin.edges.attention.names import secret, uuid
from tocsin.edges.clock import SteadyClock
from tocsin.edges.opened import opened
from tocsin.store.engine import Store

attending = runpy.run_path(str(Path(__file__).parents[1] / "store" / "attending.py"))
packet = attending["packet"]
HUMAN = attending["HUMAN"]
CLOCK = SteadyClock()


class Place:
    """A database, a person's state directory, and desks over them."""

    def __init__(self, root: Path, desks: ExitStack) -> None:
        self.root, self.path, self.state = root, root / "tocsin.db", root / "state"
        self._desks = desks
        with opened(self.path, CLOCK, print) as records:
            records.register(Recipient(name="ariadne", provider="claude"))

    def desk(self, state: Path | None = None, *, path: Path | None = None, **policy: Any) -> AttentionDesk:
        chosen = Policy(human_id=HUMAN, **policy)
        where = state or self.state
        return self._desks.enter_context(attention(path or self.path, state=where, clock=CLOCK, policy=chosen, warn=print))

    def by_hand(self, desk: AttentionDesk, name: str = "source.json", **more: Any) -> Receipt:
        answer = desk.bind("film", "likeness-2", **self.binding(name, **more))
        assert isinstance(answer, Receipt), answer
        return answer

    def binding(self, name: str = "source.json", **more: Any) -> dict[str, Any]:
        return {"mode": "actor_context", "out": self.root / name, "evidence": ByHand(actor="ariadne"), **more}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    for name in [name for name in os.environ if name.startswith("TOCSIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TOCSIN_RUNTIME_DIR", str(tmp_path / "run"))
    with ExitStack() as desks:
        yield Place(tmp_path, desks)


def command(action: str, **payload: Any) -> bytes:
    return json.dumps(attending["envelope"](action, uuid(CLOCK), payload)).encode()


def done(answer: Receipt | Refusal) -> Receipt:
    assert isinstance(answer, Receipt), answer
    return answer


def refused(answer: Receipt | Refusal) -> Code:
    assert isinstance(answer, Refusal), answer
    return answer.code


# Without a daemon


def test_the_whole_loop_works_with_nothing_running(place: Place) -> None:
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


def test_a_queue_that_was_never_used_answers_every_question_and_is_not_made_by_it(place: Place) -> None:
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
    with Store.open(place.path, now=Instant(0)).read() as view:
        assert view.rows("SELECT name FROM sqlite_master WHERE name LIKE 'attention%'") == []


def test_two_desks_at_one_database_see_each_other_at_once(place: Place) -> None:
    one, two = place.desk(), place.desk()
    done(one.act(command("add", **packet()), one.operator()))
    assert [item.item_id for item in two.queue().items] == [1]
    done(two.act(command("next", human_id=HUMAN), two.operator()))
    assert done(one.act(command("next", human_id=HUMAN), one.operator())).result is Result.ALREADY_ACTIVE
    assert one.counts().active_item_id == 1


def test_a_locked_database_is_busy_and_nothing_was_changed(place: Place) -> None:
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


@contextmanager
def no_post(place: Place) -> Iterator[None]:
    """Nothing can be handed to the line for a while."""
    store = Store.open(place.path, now=Instant(0))
    with store.write() as tx:
        tx.execute("CREATE TRIGGER no_post BEFORE INSERT ON notices BEGIN SELECT RAISE(ABORT, 'no post today'); END")
    yield
    with store.write() as tx:
        tx.execute("DROP TRIGGER no_post")
    store.close()


def test_A21_a_resolution_stands_although_its_answer_could_not_be_sent(place: Place) -> None:
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


def test_what_is_no_command_is_refused_with_words(place: Place) -> None:
    desk = place.desk()
    assert refused(desk.act(b"{", desk.operator())) is Code.MALFORMED
    assert refused(desk.act(b" " * 70_000, desk.operator())) is Code.TOO_LARGE
    assert refused(desk.act(command("next", human_id=HUMAN, actor="ariadne"), desk.operator())) is Code.INVALID
    built = Next(
        schema_version=1, command_id="no uuid", payload=msgspec.convert({"human_id": HUMAN}, Next.__annotations__["payload"])
    )
    assert refused(desk.act(built, desk.operator())) is Code.INVALID


def test_switched_off_it_takes_no_command_sends_nothing_and_can_be_read(place: Place) -> None:
    desk = place.desk()
    place.by_hand(desk)
    done(desk.act(command("summon", **packet()), desk.seat(place.root / "source.json")))
    off = place.desk(enabled=False)
    assert refused(off.act(command("next", human_id=HUMAN), off.operator())) is Code.DISABLED
    assert refused(off.bind("film", "likeness-2", **place.binding("other.json"))) is Code.DISABLED
    assert not (place.root / "other.json").exists()
    assert [item.item_id for item in off.queue().items] == [1]
    assert not off.doctor().enabled


# The person


def test_the_person_is_who_has_the_key_that_the_database_has_seen_first(place: Place) -> None:
    desk = place.desk()
    assert desk.operator() == Operator()
    key = place.state / "operator.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert desk.operator() == Operator()
    another = place.desk(place.root / "seat-state")
    with pytest.raises(NotYours, match="the queue is somebody's whose key is not in"):
        another.operator()
    assert not (place.root / "seat-state").exists()
    forged = place.root / "seat-state" / "operator.key"
    forged.parent.mkdir()
    forged.touch(0o600)
    forged.write_text(secret(CLOCK))
    with pytest.raises(NotYours, match="is not the key of the person"):
        another.operator()
    assert another.doctor().operator_key == "another"
    assert desk.doctor().operator_key == "yours"


def test_one_key_serves_all_databases_of_its_person(place: Place) -> None:
    assert place.desk().operator() == place.desk(path=place.root / "other.db").operator()
    assert len(list(place.state.iterdir())) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
def test_a_key_that_others_could_have_read_or_written_is_not_used(place: Place, mode: int) -> None:
    desk = place.desk()
    desk.operator()
    (place.state / "operator.key").chmod(mode)
    with pytest.raises(NotYours, match=f"mode {mode:04o}"):
        desk.operator()
    assert desk.doctor().operator_key == "not_trusted"


def test_a_key_that_is_a_link_a_directory_or_too_short_is_not_used(place: Place) -> None:
    desk = place.desk()
    key = place.state / "operator.key"
    desk.operator()
    elsewhere = key.rename(place.root / "elsewhere")
    key.symlink_to(elsewhere)
    with pytest.raises(NotYours, match="can't be trusted"):
        desk.operator()
    key.unlink()
    key.mkdir()
    with pytest.raises(NotYours, match="no plain file"):
        desk.operator()
    key.rmdir()
    key.touch(0o600)
    with pytest.raises(NotYours, match="is no key"):
        desk.operator()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_key_of_another_user_is_not_used(place: Place) -> None:
    desk = place.desk()
    desk.operator()
    os.chown(place.state / "operator.key", 12_345, 12_345)
    with pytest.raises(NotYours, match="it belongs to user 12345"):
        desk.operator()


def test_A15_inside_a_session_of_run_nobody_is_the_person(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = place.desk()
    desk.operator()
    monkeypatch.setenv("TOCSIN_DELIVERY_TOKEN", "t")
    monkeypatch.setenv("TOCSIN_RECIPIENT", "ariadne")
    with pytest.raises(NotYours, match="this is ariadne's session"):
        desk.operator()


# Seats


def test_A20_a_handle_is_known_again_by_any_later_process_and_by_no_other_database(place: Place) -> None:
    desk = place.desk()
    bound = place.by_hand(desk)
    source_file = place.root / "source.json"
    assert stat.S_IMODE(source_file.stat().st_mode) == 0o600
    assert place.desk().seat(source_file) == Seat(source_id=str(bound.source_id), broker_uuid=bound.broker_uuid)
    other = place.desk(path=place.root / "other.db")
    assert other.seat(source_file) == Nobody()
    other.act(command("add", **packet()), other.operator())
    assert refused(other.act(command("summon", **packet()), other.seat(source_file))) is Code.WRONG_BROKER


def test_A20_nobody_says_for_themselves_who_they_are(place: Place) -> None:
    desk = place.desk()
    place.by_hand(desk)
    source_file = place.root / "source.json"
    handle = json.loads(source_file.read_bytes())
    source_file.write_text(json.dumps({**handle, "handle": secret(CLOCK)}))
    assert desk.seat(source_file) == Nobody()
    assert refused(desk.act(command("summon", **packet()), desk.seat(source_file))) is Code.UNAUTHENTICATED
    source_file.write_text(json.dumps({**handle, "source_id": "src-somebody-else"}))
    assert desk.seat(source_file) == Seat(source_id=handle["source_id"], broker_uuid=handle["broker_uuid"])
    data = command("summon", **packet(), actor="ariadne")
    assert refused(desk.act(data, desk.seat(source_file))) is Code.INVALID


def test_A11_a_revoked_source_has_its_receipts_and_asks_for_nothing_new(place: Place) -> None:
    desk = place.desk()
    bound = place.by_hand(desk)
    seat = desk.seat(place.root / "source.json")
    data = command("summon", **packet())
    first = done(desk.act(data, seat))
    done(desk.act(command("source_revoke", source_id=bound.source_id, reason="over"), desk.operator()))
    again = done(desk.act(data, desk.seat(place.root / "source.json")))
    assert again == msgspec.structs.replace(first, replayed=True)
    assert done(desk.command(first.command_id, seat)) == first
    assert refused(desk.act(command("summon", **packet("k2")), seat)) is Code.SOURCE_REVOKED
    assert place.by_hand(desk).replayed, "the file is the same source, and stays revoked"
    assert place.by_hand(desk, "new.json").source_id != bound.source_id


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622])
def test_a_handle_that_others_could_have_is_not_used(place: Place, mode: int) -> None:
    desk = place.desk()
    place.by_hand(desk)
    (place.root / "source.json").chmod(mode)
    with pytest.raises(NotYours, match=f"mode {mode:04o}"):
        desk.seat(place.root / "source.json")


def test_a_file_that_holds_no_handle_is_named_and_left_alone(place: Place) -> None:
    desk = place.desk()
    with pytest.raises(NotFound, match="bind the work first"):
        desk.seat(place.root / "none.json")
    mine = place.root / "mine.json"
    mine.touch(0o600)
    mine.write_text('{"my": "notes"}')
    with pytest.raises(BadInput, match="is no source file; what is in it was left alone"):
        desk.bind("film", "likeness-2", **place.binding("mine.json"))
    assert mine.read_text() == '{"my": "notes"}'


# Enrolment


def test_A19_the_person_binds_a_recipient_and_no_session_is_claimed_that_nobody_saw(place: Place) -> None:
    desk = place.desk()
    bound = place.by_hand(desk)
    source = desk.source(str(bound.source_id))
    assert source is not None
    assert (source.actor, source.provider, source.session_id, source.provenance) == (
        "ariadne",
        "claude",
        None,
        "operator_binding",
    )
    pinned = place.binding("pinned.json", mode="pinned_session")
    assert refused(desk.bind("film", "likeness-2", **pinned)) is Code.UNVERIFIED_SESSION
    pinned["evidence"] = ByHand(actor="ariadne", session="s1")
    assert refused(desk.bind("film", "likeness-2", **pinned)) is Code.UNVERIFIED_SESSION
    assert not (place.root / "pinned.json").exists()


def test_only_the_person_binds_by_hand(place: Place) -> None:
    place.desk().operator()
    other = place.desk(place.root / "seat-state")
    with pytest.raises(NotYours):
        other.bind("film", "likeness-2", **place.binding())
    assert not (place.root / "source.json").exists()


def test_nothing_is_guessed_about_who_asks(place: Place) -> None:
    desk = place.desk()
    with pytest.raises(BadInput, match="nothing here says who asks"):
        desk.bind("film", "likeness-2", **place.binding(evidence=Dispatch(environ={})))
    environ = {"TOCSIN_SOCKET": str(place.root / "none.sock"), "TOCSIN_DELIVERY_TOKEN": "t", "TOCSIN_RECIPIENT": "ariadne"}
    with pytest.raises(NotRunning):
        desk.bind("film", "likeness-2", **place.binding(evidence=Dispatch(environ=environ)))
    live = place.binding(evidence=Live(actor="ariadne", session="s1"))
    assert refused(desk.bind("film", "likeness-2", **live)) is Code.UNVERIFIED_SESSION
    with pytest.raises(NotFound, match="'nobody' is not registered"):
        desk.bind("film", "likeness-2", **place.binding(evidence=ByHand(actor="nobody")))
    assert list(place.root.glob("*.json")) == []
    assert desk.sources().sources == ()


def test_the_same_file_is_the_same_source_and_never_that_of_other_work(place: Place) -> None:
    desk = place.desk()
    first = place.by_hand(desk)
    content = (place.root / "source.json").read_bytes()
    again = place.by_hand(desk)
    assert (again.source_id, again.replayed) == (first.source_id, True)
    for project, work, more in (
        ("film", "other", {}),
        ("other", "likeness-2", {}),
        ("film", "likeness-2", {"mode": "none"}),
    ):
        answer = desk.bind(project, work, **place.binding(**more))
        assert refused(answer) is Code.COMMAND_ID_CONFLICT
    with opened(place.path, CLOCK, print) as records:
        records.register(Recipient(name="theseus"))
    answer = desk.bind("film", "likeness-2", **place.binding(evidence=ByHand(actor="theseus")))
    assert refused(answer) is Code.COMMAND_ID_CONFLICT
    assert (place.root / "source.json").read_bytes() == content
    assert len(desk.sources().sources) == 1


def test_a_file_of_another_database_is_not_taken_over(place: Place) -> None:
    place.by_hand(place.desk())
    with opened(place.root / "other.db", CLOCK, print) as records:
        records.register(Recipient(name="ariadne"))
    other = place.desk(path=place.root / "other.db")
    assert refused(other.bind("film", "likeness-2", **place.binding())) is Code.WRONG_BROKER


def test_a_refused_enrolment_leaves_no_file(place: Place) -> None:
    desk = place.desk()
    assert refused(desk.bind("No Slug", "likeness-2", **place.binding())) is Code.INVALID
    assert list(place.root.glob("*.json")) == []


def test_the_file_of_a_session_is_its_own_and_its_works_own(place: Place) -> None:
    one = default_source_file(place.state, {"TOCSIN_SESSION": "s1"}, "film", "a/b")
    assert one == default_source_file(place.state, {"TOCSIN_SESSION": "s1"}, "film", "a/b")
    others = {
        default_source_file(place.state, {"TOCSIN_SESSION": session}, project, work)
        for session, project, work in (
            ("s2", "film", "a/b"),
            ("s1", "film", "a"),
            ("s1", "film/a", "b"),
            ("../s1", "film", "a/b"),
        )
    }
    assert len(others | {one}) == 5
    assert {place.state / "sources"} == {file.parent.parent for file in others | {one}}
    with pytest.raises(BadInput, match="no session of `tocsin run`"):
        default_source_file(place.state, {}, "film", "a/b")


# The journal


def test_a_command_is_kept_to_the_letter_for_its_owner_alone(place: Place) -> None:
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


def test_a_command_that_was_not_kept_or_could_have_been_changed_is_not_sent(place: Place) -> None:
    id = uuid(CLOCK)
    with pytest.raises(NotFound):
        load_request(place.state, id)
    for bad in ("../operator.key", "", "x"):
        with pytest.raises(BadInput, match="no command's id"):
            load_request(place.state, bad)
    with pytest.raises(BadInput):
        save_request(place.state, b"{")
    save_request(place.state, json.dumps({"command_id": id}).encode()).chmod(0o620)
    with pytest.raises(NotYours):
        load_request(place.state, id)


def test_the_journal_forgets_what_is_old_and_keeps_what_was_kept_last(place: Place) -> None:
    old, new = (save_request(place.state, json.dumps({"command_id": uuid(CLOCK)}).encode()) for _ in range(2))
    month = 31 * 86_400
    os.utime(old, (old.stat().st_atime - month, old.stat().st_mtime - month))
    last = save_request(place.state, json.dumps({"command_id": uuid(CLOCK)}).encode())
    assert sorted(place.state.glob("requests/*")) == sorted([new, last])


def test_what_can_not_be_written_is_said_before_anything_is_done(place: Place) -> None:
    (place.root / "blocked").write_text("a file")
    with pytest.raises(StoreFull, match="can't be written"):
        save_request(place.root / "blocked", command("next", human_id=HUMAN))


# Doctor, and no secrets anywhere


def test_the_doctor_says_how_everything_stands(place: Place) -> None:
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


def test_no_secret_leaves_its_file(place: Place) -> None:
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

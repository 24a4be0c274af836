"""Who asks at the attention desk: the person by their key, seats by their handles, and nobody by saying so."""

import json
import os
import runpy
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tocsin.contracts.attention_answers import Code
from tocsin.contracts.attention_facts import Nobody, Operator, Seat
from tocsin.contracts.errors import BadInput, NoRecipient, NotRunning, NotYours, UnknownSource
from tocsin.contracts.recipients import Recipient
from tocsin.edges.attention.desk import ByHand, Dispatch, Live, default_source_file
from tocsin.edges.attention.names import secret
from tocsin.edges.opened import opened

desks = runpy.run_path(str(Path(__file__).parent / "desks.py"))
CLOCK, command, done, made, packet, refused = (
    desks[name] for name in ("CLOCK", "command", "done", "made", "packet", "refused")
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with made(tmp_path, monkeypatch) as one:
        yield one


# The person


def test_the_person_is_who_has_the_key_that_the_database_has_seen_first(place: Any) -> None:
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


def test_one_key_serves_all_databases_of_its_person(place: Any) -> None:
    assert place.desk().operator() == place.desk(path=place.root / "other.db").operator()
    assert len(list(place.state.iterdir())) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o666])
def test_a_key_that_others_could_have_read_or_written_is_not_used(place: Any, mode: int) -> None:
    desk = place.desk()
    desk.operator()
    (place.state / "operator.key").chmod(mode)
    with pytest.raises(NotYours, match=f"mode {mode:04o}"):
        desk.operator()
    assert desk.doctor().operator_key == "not_trusted"


def test_a_key_that_is_a_link_a_directory_or_too_short_is_not_used(place: Any) -> None:
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
def test_a_key_of_another_user_is_not_used(place: Any) -> None:
    desk = place.desk()
    desk.operator()
    os.chown(place.state / "operator.key", 12_345, 12_345)
    with pytest.raises(NotYours, match="it belongs to user 12345"):
        desk.operator()


def test_A15_inside_a_session_of_run_nobody_is_the_person(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = place.desk()
    desk.operator()
    monkeypatch.setenv("TOCSIN_DELIVERY_TOKEN", "t")
    monkeypatch.setenv("TOCSIN_RECIPIENT", "ariadne")
    with pytest.raises(NotYours, match="this is ariadne's session"):
        desk.operator()


# Seats


def test_A20_a_handle_is_known_again_by_any_later_process_and_by_no_other_database(place: Any) -> None:
    desk = place.desk()
    bound = place.by_hand(desk)
    source_file = place.root / "source.json"
    assert stat.S_IMODE(source_file.stat().st_mode) == 0o600
    assert place.desk().seat(source_file) == Seat(source_id=str(bound.source_id), broker_uuid=bound.broker_uuid)
    other = place.desk(path=place.root / "other.db")
    assert other.seat(source_file) == Nobody()
    other.act(command("add", **packet()), other.operator())
    assert refused(other.act(command("summon", **packet()), other.seat(source_file))) is Code.WRONG_BROKER


def test_A20_nobody_says_for_themselves_who_they_are(place: Any) -> None:
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


def test_A11_a_revoked_source_has_its_receipts_and_asks_for_nothing_new(place: Any) -> None:
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
    renewed = place.by_hand(desk)
    assert (renewed.replayed, renewed.source_id == bound.source_id) == (False, False)
    assert place.by_hand(desk).source_id == renewed.source_id
    assert done(desk.act(command("summon", **packet("k2")), desk.seat(place.root / "source.json"))).item_id == 2
    (earlier,) = place.root.glob("source.json.*.revoked")
    assert done(desk.command(first.command_id, desk.seat(earlier))) == first


def test_a_revoked_source_makes_room_for_the_same_work_only_and_for_any_way_back(place: Any) -> None:
    desk = place.desk()
    bound = place.by_hand(desk)
    answer = desk.bind("film", "likeness-2", **place.binding(mode="none"))
    assert refused(answer) is Code.COMMAND_ID_CONFLICT
    assert "bound already with --return actor-context" in answer.message
    assert f"source revoke {bound.source_id}" in answer.message
    done(desk.act(command("source_revoke", source_id=bound.source_id, reason="over"), desk.operator()))
    assert refused(desk.bind("film", "other", **place.binding())) is Code.COMMAND_ID_CONFLICT
    with opened(place.path, CLOCK, print) as records:
        records.register(Recipient(name="theseus"))
    theirs = place.binding(evidence=ByHand(actor="theseus"))
    assert refused(desk.bind("film", "likeness-2", **theirs)) is Code.COMMAND_ID_CONFLICT
    assert done(desk.bind("film", "likeness-2", **place.binding(mode="none"))).source_id != bound.source_id


def test_a_revoked_source_stays_where_nobody_may_bind_anew(place: Any) -> None:
    desk = place.desk()
    bound = place.by_hand(desk)
    content = (place.root / "source.json").read_bytes()
    done(desk.act(command("source_revoke", source_id=bound.source_id, reason="over"), desk.operator()))
    for evidence in (Live(actor="ariadne", session="s1"), ByHand(actor="ariadne", session="s1")):
        answer = desk.bind("film", "likeness-2", **place.binding(evidence=evidence))
        assert refused(answer) is Code.UNVERIFIED_SESSION
    assert (place.root / "source.json").read_bytes() == content


@pytest.mark.parametrize("kind", [Live, ByHand])
def test_a_session_of_run_names_nobody_else_than_itself(place: Any, kind: Any) -> None:
    desk = place.desk()
    desk.operator()
    inside = {"TOCSIN_RECIPIENT": "eve", "TOCSIN_DELIVERY_TOKEN": "t", "TOCSIN_RUNTIME_DIR": str(place.root / "run")}
    answer = desk.bind("film", "likeness-2", **place.binding(evidence=kind(actor="ariadne", session="s1", environ=inside)))
    assert refused(answer) is Code.UNAUTHENTICATED
    assert answer.message.startswith("this is eve's session")
    assert not (place.root / "source.json").exists()


def test_a_live_session_is_vouched_for_by_its_token_or_by_the_person(place: Any) -> None:
    place.desk().operator()
    stranger = place.desk(place.root / "seat-state")
    with pytest.raises(NotYours, match="the queue is somebody's"):
        stranger.bind("film", "likeness-2", **place.binding(evidence=Live(actor="ariadne", session="s1")))
    assert not (place.root / "source.json").exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622])
def test_a_handle_that_others_could_have_is_not_used(place: Any, mode: int) -> None:
    desk = place.desk()
    place.by_hand(desk)
    (place.root / "source.json").chmod(mode)
    with pytest.raises(NotYours, match=f"mode {mode:04o}"):
        desk.seat(place.root / "source.json")


def test_every_folder_that_is_made_for_a_secret_is_its_owners_alone(place: Any) -> None:
    desk = place.desk()
    file = default_source_file(place.state, {"TOCSIN_SESSION": "s1"}, "film", "likeness-2")
    desk.bind("film", "likeness-2", **place.binding(out=file))
    made_by_it = [folder for folder in file.parents if place.root in folder.parents]
    assert [folder.name for folder in made_by_it] == ["s1", "sources", "state"]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in made_by_it} == {0o700}


def test_a_file_that_holds_no_handle_is_named_and_left_alone(place: Any) -> None:
    desk = place.desk()
    with pytest.raises(UnknownSource, match="bind the work first"):
        desk.seat(place.root / "none.json")
    mine = place.root / "mine.json"
    mine.touch(0o600)
    mine.write_text('{"my": "notes"}')
    with pytest.raises(BadInput, match="is no source file; what is in it was left alone"):
        desk.bind("film", "likeness-2", **place.binding("mine.json"))
    assert mine.read_text() == '{"my": "notes"}'


# Enrolment


def test_A19_the_person_binds_a_recipient_and_no_session_is_claimed_that_nobody_saw(place: Any) -> None:
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


def test_only_the_person_binds_by_hand(place: Any) -> None:
    place.desk().operator()
    other = place.desk(place.root / "seat-state")
    with pytest.raises(NotYours):
        other.bind("film", "likeness-2", **place.binding())
    assert not (place.root / "source.json").exists()


def test_nothing_is_guessed_about_who_asks(place: Any) -> None:
    desk = place.desk()
    with pytest.raises(BadInput, match="nothing here says who asks"):
        desk.bind("film", "likeness-2", **place.binding(evidence=Dispatch(environ={})))
    environ = {"TOCSIN_SOCKET": str(place.root / "none.sock"), "TOCSIN_DELIVERY_TOKEN": "t", "TOCSIN_RECIPIENT": "ariadne"}
    with pytest.raises(NotRunning):
        desk.bind("film", "likeness-2", **place.binding(evidence=Dispatch(environ=environ)))
    live = place.binding(evidence=Live(actor="ariadne", session="s1"))
    assert refused(desk.bind("film", "likeness-2", **live)) is Code.UNVERIFIED_SESSION
    with pytest.raises(NoRecipient, match="'nobody' is not registered"):
        desk.bind("film", "likeness-2", **place.binding(evidence=ByHand(actor="nobody")))
    assert list(place.root.glob("*.json")) == []
    assert desk.sources().sources == ()


def test_the_same_file_is_the_same_source_and_never_that_of_other_work(place: Any) -> None:
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


def test_a_file_of_another_database_is_not_taken_over(place: Any) -> None:
    place.by_hand(place.desk())
    with opened(place.root / "other.db", CLOCK, print) as records:
        records.register(Recipient(name="ariadne"))
    other = place.desk(path=place.root / "other.db")
    assert refused(other.bind("film", "likeness-2", **place.binding())) is Code.WRONG_BROKER


def test_a_refused_enrolment_leaves_no_file(place: Any) -> None:
    desk = place.desk()
    assert refused(desk.bind("No Slug", "likeness-2", **place.binding())) is Code.INVALID
    assert list(place.root.glob("*.json")) == []


def test_the_file_of_a_session_is_its_own_and_its_works_own(place: Any) -> None:
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

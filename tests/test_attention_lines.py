"""The queue beside a line that runs: answers come to who asked, to no other session, and neither waits for the other."""

import os
import runpy
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tocsin import Tocsin
from tocsin.contracts.attention_answers import Result
from tocsin.contracts.attention_facts import Edge, Enrolment, Policy
from tocsin.contracts.attention_items import Phase, State
from tocsin.contracts.deliveries import Delivery, Proof
from tocsin.contracts.deliveries import Receipt as Delivered
from tocsin.contracts.errors import NotRunning
from tocsin.contracts.recipients import Recipient, Session
from tocsin.contracts.wire import Look, read_request
from tocsin.edges.attention.desk import AttentionDesk
from tocsin.edges.attention.names import uuid
from tocsin.edges.attention.running import attend
from tocsin.edges.liveness import this_owner
from tocsin.pipeline.attention_decide import decide
from tocsin.pipeline.attention_requests import read_command
from tocsin.pipeline.roster import Settings
from tocsin.store import attention as rules
from tocsin.store import owners
from tocsin.store.engine import Store

_summoned = runpy.run_path(str(Path(__file__).parent / "store" / "summoned.py"))
NAMES = ("Place", "packet", "without_settings", "command", "done", "resolve", "CLOCK", "POLICY", "attending")
Summoned, packet, without_settings, command, done, resolve, CLOCK, POLICY, attending = (_summoned[name] for name in NAMES)


class Place(Summoned):
    """One whose post can fail."""

    @contextmanager
    def without_post(self) -> Iterator[None]:
        """Nobody can hand an answer to the line for a while."""
        store = Store.open(self.path, now=CLOCK.now())
        only = "WHEN NEW.traffic = 'return' BEGIN SELECT RAISE(ABORT, 'no post today'); END"
        with store.write() as tx:
            tx.execute(f"CREATE TRIGGER no_post BEFORE INSERT ON notices {only}")
        yield
        with store.write() as tx:
            tx.execute("DROP TRIGGER no_post")
        store.close()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    without_settings(monkeypatch)
    return Place(tmp_path)


class Reader:
    """A recipient that can be waited for."""

    def __init__(self) -> None:
        self.got: list[Delivery] = []
        self._more = threading.Condition()

    def put(self, delivery: Delivery) -> Delivered:
        with self._more:
            self.got.append(delivery)
            self._more.notify_all()
        return Delivered(proof=Proof.SUBMITTED)

    def answers(self, count: int) -> list[str]:
        with self._more:
            assert self._more.wait_for(lambda: len(self.texts()) >= count, 30), self.texts()
        return self.texts()

    def texts(self) -> list[str]:
        return [entry.text.rpartition("\n")[2] for delivery in self.got for entry in delivery.entries]


def until(condition: Any) -> None:
    """Wait for what another thread or process does."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)  # another thread's work


@pytest.fixture
def line(place: Place) -> Iterator[Tocsin]:
    with Tocsin(Settings(attention=POLICY), store=place.path, state_dir=place.state) as line:
        yield line


def phases(desk: AttentionDesk, *items: int) -> list[Phase]:
    return [row.phase for item in items for row in desk.returns(item)]


def test_a_line_has_a_desk_of_its_own_and_brings_the_answer_to_its_recipient(place: Place, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    desk = line.attention
    done(desk.act(command("summon", **packet()), desk.seat(place.source)))
    done(desk.act(command("next", human_id="hakon"), desk.operator()))
    done(desk.act(resolve(1), desk.operator()))
    assert reader.answers(1) == ["Take C."]
    until(lambda: phases(desk, 1) == [Phase.PROCESSED])


def test_a_line_without_a_store_has_no_desk() -> None:
    with Tocsin() as line, pytest.raises(NotRunning, match="no store, so no queue"):
        assert line.attention


def test_a_line_sends_what_others_have_committed_and_could_not_send(place: Place, line: Tocsin) -> None:
    place.summoned("one")
    with place.without_post(), place.desk() as desk:
        done(desk.act(command("next", human_id="hakon"), desk.operator()))
        done(desk.act(resolve(1), desk.operator()))
    reader = Reader()
    line.open_lane("dev", reader)
    assert reader.answers(1) == ["Take C."]
    assert len(line.records.messages(traffic="return")) == 1


def test_an_answer_waits_for_a_recipient_that_is_away_and_says_that_context_is_restored(place: Place) -> None:
    place.summoned("one")
    with place.desk() as desk:
        done(desk.act(command("next", human_id="hakon"), desk.operator()))
        done(desk.act(resolve(1), desk.operator()))
        assert phases(desk, 1) == [Phase.MINTED]
    reader = Reader()
    with Tocsin(store=place.path) as line:
        line.open_lane("dev", reader, session=Session(id="s9", recipient="dev"))
        assert reader.answers(1) == ["Take C."]
    assert "Context is restored here: this need not be the session that asked" in reader.got[0].entries[0].text


def test_A35_what_was_asked_and_answered_stays_readable_when_its_recipient_is_archived(place: Place, line: Tocsin) -> None:
    place.summoned("one")
    desk = line.attention
    done(desk.act(command("next", human_id="hakon"), desk.operator()))
    line.records.archive("dev")
    done(desk.act(resolve(1), desk.operator()))
    [row] = desk.returns(1)
    assert (row.phase, row.reason, row.retry_at) == (Phase.BLOCKED, "recipient_archived", None)
    shown = desk.item(1)
    assert shown is not None
    assert shown.source is not None
    assert (shown.item.state, shown.item.response, shown.source.actor) == (State.RESOLVED, "Take C.", "dev")
    line.records.register(Recipient(name="dev"))
    retry = {"item_id": 1, "expected_revision": 3, "return_generation": 1}
    assert done(desk.act(command("retry_return", **retry), desk.operator())).result is Result.RETURN_RETRIED
    reader = Reader()
    line.open_lane("dev", reader)
    assert reader.answers(1) == ["Take C."]


def test_A34_neither_the_line_nor_the_queue_waits_for_the_others_trouble(place: Place, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    place.summoned("one", "two")
    desk = line.attention
    me = desk.operator()
    done(desk.act(command("next", human_id="hakon"), me))
    with place.without_post():
        assert done(desk.act(resolve(1, select_next=True), me)).active.item_id == 2  # type: ignore[union-attr]
        line.send_mail("dev", "meanwhile")
        assert reader.answers(1) == ["meanwhile"]
    assert reader.answers(2) == ["meanwhile", "Take C."]


def test_a_line_whose_queue_is_switched_off_sends_nothing(place: Place) -> None:
    place.summoned("one")
    with place.without_post(), place.desk() as desk:
        done(desk.act(command("next", human_id="hakon"), desk.operator()))
        done(desk.act(resolve(1), desk.operator()))
    reader, off = Reader(), Policy(human_id="hakon", enabled=False)
    with Tocsin(Settings(attention=off), store=place.path) as line:
        line.open_lane("dev", reader)
        time.sleep(1.5)  # longer than its period: it is shown that nothing comes
        assert phases(line.attention, 1) == [Phase.PENDING]
    assert reader.texts() == []


def test_whoever_delivers_to_the_asker_is_rung_at_once(place: Place) -> None:
    place.summoned("one")
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    heard.bind(str(place.path.parent / "bell.sock"))
    heard.listen()
    heard.settimeout(30)
    owned(place, str(place.path.parent / "bell.sock")).close()
    with place.desk() as desk:
        done(desk.act(command("next", human_id="hakon"), desk.operator()))
        done(desk.act(resolve(1), desk.operator()))
    bell, _ = heard.accept()
    assert read_request(bell.recv(1_000)) == Look()
    bell.close()
    heard.close()


def test_the_line_itself_is_told_when_it_has_sent_an_answer_and_nothing_of_it_is_left_running(place: Place) -> None:
    before = set(threading.enumerate())
    looked = threading.Event()
    running = attend(POLICY, place.path, place.state, CLOCK, print, looked.set)
    place.summoned("one")
    with place.without_post(), place.desk() as desk:
        done(desk.act(command("next", human_id="hakon"), desk.operator()))
        done(desk.act(resolve(1), desk.operator()))
    assert looked.wait(30)
    running.stop(5.0)
    with Tocsin(store=place.path):
        pass
    assert set(threading.enumerate()) <= before


# For one session and no other


def pinned(line: Tocsin, place: Place, session: str) -> None:
    """An item that this session asked for, and that the person has taken."""
    desk = line.attention
    seen = {"edge": "mac", "actor": "dev", "session_id": session, "provenance": "dispatch"}
    enrolment = Enrolment(source_id="pinned", handle_hash=attending["handle"]("pinned"), **seen)
    request = read_command(command("source_bind", project_id="film", work_id="w", return_mode="pinned_session"))
    store = Store.open(place.path, now=CLOCK.now())
    with store.write() as tx:
        who = {"principal": Edge(edge_id="mac"), "policy": POLICY, "now": CLOCK.now(), "broker_uuid": uuid(CLOCK)}
        answer = rules.execute(tx, request, decide=decide, enrolment=enrolment, **who)  # type: ignore[arg-type]
        done(answer)
    store.close()
    done(desk.act(command("add", **{**packet(), "work_id": "w", "source_id": "pinned"}), desk.operator()))
    done(desk.act(command("next", human_id="hakon"), desk.operator()))


def session(name: str) -> Session:
    return Session(id=name, recipient="dev", pid=os.getpid(), started_at=CLOCK.now())


def test_A25_a_session_that_took_the_place_of_the_one_that_asked_is_told_nothing(place: Place, line: Tocsin) -> None:
    first, second = Reader(), Reader()
    line.open_lane("dev", first, session=session("s1"))
    pinned(line, place, "s1")
    line.records.end_session("s1")
    line.close_lane("dev")
    line.open_lane("dev", second, session=session("s2"))
    desk = line.attention
    done(desk.act(resolve(1), desk.operator()))
    [row] = desk.returns(1)
    assert (row.phase, row.reason) == (Phase.BLOCKED, "another_session_runs")
    line.send_mail("dev", "the end")
    assert second.answers(1) == ["the end"]
    assert first.got == []


def test_A25_a_session_that_comes_between_sending_and_reading_is_told_nothing(place: Place, line: Tocsin) -> None:
    first, second = Reader(), Reader()
    line.open_lane("dev", first, session=session("s1"))
    pinned(line, place, "s1")
    line.close_lane("dev")  # its process has died: the end of the session was never written
    store = owned(place, "")  # sent while it seemed to live
    desk = line.attention
    done(desk.act(resolve(1), desk.operator()))
    assert phases(desk, 1) == [Phase.MINTED]
    with store.write() as tx:
        tx.execute("DELETE FROM owners")
    store.close()
    line.open_lane("dev", second, session=session("s2"))
    line.send_mail("dev", "the end")
    assert second.answers(1) == ["the end"]
    until(lambda: phases(desk, 1) == [Phase.FAILED])
    [row] = desk.returns(1)
    assert row.reason == "for_another_session"
    assert first.got == []


def owned(place: Place, socket_path: str) -> Store:
    """Another owner of the lane, one that lives as long as this test."""
    me = this_owner("old", socket_path)
    store = Store.open(place.path, now=CLOCK.now())
    with store.write() as tx:
        owners.take(tx, "dev", me, CLOCK.now(), alive=lambda *_: False)
    return store


def test_the_session_that_asked_is_told(place: Place, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader, session=session("s1"))
    pinned(line, place, "s1")
    desk = line.attention
    done(desk.act(resolve(1), desk.operator()))
    assert reader.answers(1) == ["Take C."]
    until(lambda: phases(desk, 1) == [Phase.PROCESSED])

"""A line with a store: what is accepted survives, is told once, and who is told what can be looked up afterwards."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tocsin import Tocsin
from tocsin.contracts.base import Millis
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.durable import OPEN, State
from tocsin.contracts.errors import BadInput, NameTaken, NoRecipient, NotRunning, RecipientDead, SinkGone
from tocsin.contracts.hooks import HookEvent
from tocsin.contracts.recipients import Recipient, Session
from tocsin.contracts.signals import RecipientDied
from tocsin.pipeline.backoff import Backoff
from tocsin.pipeline.fanout import Policy as FanOutPolicy
from tocsin.pipeline.roster import Settings


class Reader:
    """A recipient that can be waited for."""

    def __init__(self) -> None:
        self.got: list[Delivery] = []
        self._more = threading.Condition()

    def put(self, delivery: Delivery) -> Receipt:
        with self._more:
            self.got.append(delivery)
            self._more.notify_all()
        return Receipt(proof=Proof.SUBMITTED)

    def texts(self) -> list[str]:
        return [entry.text for delivery in self.got for entry in delivery.entries]

    def wait_for(self, *texts: str) -> None:
        with self._more:
            assert self._more.wait_for(lambda: set(texts) <= set(self.texts()), 30), self.texts()


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread or process does."""
    pause = threading.Event()
    for _ in range(1_500):
        if condition():
            return
        pause.wait(0.02)
    raise AssertionError("waited in vain")


class Gone:
    def put(self, delivery: Delivery) -> Receipt:
        raise SinkGone("the program has ended")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tocsin.db"


@pytest.fixture
def line(path: Path) -> Iterator[Tocsin]:
    with Tocsin(store=path) as line:
        yield line


def another(path: Path) -> Tocsin:
    """As another process has it: an owner of its own over the same file."""
    return Tocsin(store=path)


def test_what_waits_for_a_recipient_comes_when_it_is_here_in_the_order_of_acceptance(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev"))
    for nth in range(5):
        line.send_mail("dev", f"mail {nth}")
    reader = Reader()
    line.open_lane("dev", reader)
    reader.wait_for("mail 4")
    assert reader.texts() == [f"mail {nth}" for nth in range(5)]


def test_the_answer_to_a_feed_says_under_which_id_it_was_committed(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev"))
    first = line.send_mail("dev", "hello", id="m1")
    again = line.send_mail("dev", "hello", id="m1")
    assert first is not None
    assert again is not None
    assert (first.id, first.replayed, first.durable, first.recipient) == ("m1", False, True, "dev")
    assert (again.id, again.seq, again.replayed) == ("m1", first.seq, True)
    assert [stored.id for stored in line.records.messages()] == ["m1"]


def test_mail_of_one_id_is_told_once_also_by_another_process(path: Path, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    line.send_mail("dev", "once", id="m1")
    with another(path) as other:
        other.send_mail("dev", "once", id="m1")
        other.send_mail("dev", "the end", id="m2")
    reader.wait_for("the end")
    assert reader.texts() == ["once", "the end"]


def test_a_closed_lane_keeps_what_is_durable_and_drops_what_is_not(line: Tocsin) -> None:
    line.open_lane("dev", Gone())
    line.send_mail("dev", "kept")
    line.feed("a finding", to="dev", severity="error")
    line.close_lane("dev")
    assert [(one.event.text, one.state in OPEN) for one in line.records.messages(to="dev")] == [("kept", True)]
    reader = Reader()
    line.open_lane("dev", reader)
    reader.wait_for("kept")
    assert reader.texts() == ["kept"]


def test_the_end_of_a_program_is_not_the_death_of_its_recipient(path: Path, line: Tocsin) -> None:
    line.open_lane("dev", Reader())
    line.signal(RecipientDied(lane="dev"))
    line.send_mail("dev", "for the next session")
    with another(path) as other:
        reader = Reader()
        other.open_lane("dev", reader)
        reader.wait_for("for the next session")


def test_a_recipient_has_one_owner(path: Path, line: Tocsin) -> None:
    line.open_lane("dev", Reader())
    with another(path) as other, pytest.raises(NameTaken, match=r"another process \(pid \d+\) delivers to 'dev' already"):
        other.open_lane("dev", Reader())


def test_whoever_refused_a_second_owner_goes_on(path: Path, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    with another(path) as other:
        with pytest.raises(NameTaken):
            other.open_lane("dev", Reader())
        other.open_lane("ops", Reader())
        other.send_mail("dev", "from the other")
    reader.wait_for("from the other")


def test_the_dead_are_told_nothing_and_everybody_learns_of_it(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev"))
    line.records.archive("dev")
    with pytest.raises(RecipientDead, match="'dev' is archived"):
        line.feed("a click", to="dev", traffic="user")
    with pytest.raises(NoRecipient, match="nobody is called 'nobody'"):
        line.feed("a click", to="nobody", traffic="user")
    dropped = line.send_notice("dev", "breaker", "steer:looping", "you loop")
    assert dropped is not None
    assert dropped.verdict == "drop_dead"
    bounced = line.send_mail("dev", "are you there?")
    assert bounced is not None
    assert bounced.recipient == "god"
    states = {(one.recipient, one.traffic): (one.state, one.verdict) for one in line.records.messages()}
    assert states == {
        ("dev", "notice"): (State.UNDELIVERABLE, "drop_dead"),
        ("dev", "mail"): (State.UNDELIVERABLE, "refuse"),
        ("god", "mail"): (State.PENDING, ""),
    }


def test_the_coordinator_is_never_dead_also_before_anybody_is_registered(line: Tocsin) -> None:
    line.send_notice("god", "heartbeat", "quiet", "the floor is quiet")
    reader = Reader()
    line.open_lane("god", reader)
    reader.wait_for("the floor is quiet")


def test_one_who_is_archived_while_things_wait_is_told_nothing_more(path: Path, line: Tocsin) -> None:
    line.open_lane("dev", Reader())
    line.observe("dev", HookEvent(hook_event_name="PermissionRequest"))
    line.send_notice("dev", "breaker", "steer:looping", "you loop")
    with another(path) as other:
        other.records.archive("dev")
    line.look()

    until(lambda: [one.verdict for one in line.records.messages(to="dev")] == ["drop_dead"])


def test_a_wait_survives_a_restart_until_there_is_evidence(path: Path) -> None:
    with Tocsin(store=path) as line:
        line.open_lane("dev", Reader())
        line.observe("dev", HookEvent(hook_event_name="PreToolUse", tool_name="AskUserQuestion"))
    with Tocsin(store=path) as line:
        reader = Reader()
        line.open_lane("dev", reader)
        line.send_notice("dev", "breaker", "steer:looping", "you loop")
        line.drain()
        assert reader.texts() == []
        assert [(held.signature, held.reason) for held in line.records.held("dev")] == [
            ("breaker:steer:looping", "recipient_waits_on_a_human")
        ]
        line.observe("dev", HookEvent(hook_event_name="PostToolUse", tool_name="AskUserQuestion"))
        line.observe("dev", HookEvent(hook_event_name="Stop"))
        reader.wait_for("you loop")
    with Tocsin(store=path) as line:
        assert line.records.held("dev") == []


def test_a_new_session_of_its_program_waits_for_nothing(path: Path) -> None:
    with Tocsin(store=path) as line:
        line.open_lane("dev", Reader())
        line.observe("dev", HookEvent(hook_event_name="PermissionRequest"))
    with Tocsin(store=path) as line:
        reader = Reader()
        line.open_lane("dev", reader, session=Session(id="s2", recipient="dev"))
        line.send_notice("dev", "breaker", "steer:looping", "you loop")
        reader.wait_for("you loop")


def test_a_notice_that_was_told_is_not_told_again_until_it_is_rearmed(path: Path) -> None:
    with Tocsin(store=path) as line:
        reader = Reader()
        line.open_lane("dev", reader)
        line.send_notice("dev", "breaker", "steer:looping", "you loop")
        reader.wait_for("you loop")
    with Tocsin(store=path) as line:
        reader = Reader()
        line.open_lane("dev", reader)
        line.send_notice("dev", "breaker", "steer:looping", "you loop")
        line.drain()
        assert reader.texts() == []
        found = line.rearm("dev", "breaker")
        assert (found.delivered, found.held) == (1, 0)
        line.send_notice("dev", "breaker", "steer:looping", "you loop again")
        reader.wait_for("you loop again")


def test_a_rearm_reaches_a_recipient_that_is_not_here(path: Path) -> None:
    with Tocsin(store=path) as line:
        reader = Reader()
        line.open_lane("dev", reader)
        line.send_notice("dev", "breaker", "steer:looping", "you loop")
        reader.wait_for("you loop")
    with Tocsin(store=path) as line:
        line.send_notice("dev", "worker", "idle:w3", "w3 is idle", ctx=["w3"])
        found = line.rearm("dev", "worker", lambda signature, ctx: ctx == ("w3",))
        assert (found.delivered, found.held) == (0, 1)
        found = line.rearm("dev", "breaker")
        assert (found.delivered, found.held) == (1, 0)
        reader = Reader()
        line.open_lane("dev", reader)
        line.drain()
        assert reader.texts() == []


def test_a_condition_that_the_store_can_see_rearms_by_itself(path: Path, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("god", reader)
    worker = {"ctx": ["w3"], "cleared_when": "started"}
    line.send_notice("god", "worker", "reaped-idle:w3", "w3 was reaped", **worker)
    reader.wait_for("w3 was reaped")
    with another(path) as other:
        other.records.register(Recipient(name="w3", kind="worker"))
        other.records.begin_session(Session(id="s9", recipient="w3", started_at=line.clock.now() + 1))
    line.look()
    until(lambda: not line.records.told("god"))
    line.send_notice("god", "worker", "reaped-idle:w3", "w3 was reaped again", **worker)
    reader.wait_for("w3 was reaped again")


def test_agent_mail_at_the_boundary_is_delivered_exactly_once_and_unchanged(line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("god", reader)
    line.observe("god", HookEvent(hook_event_name="PermissionRequest"))
    line.send_notice("god", "heartbeat", "quiet", "the floor is quiet")
    bodies = ["Subject: same\n\n  body one\twith a tab", "Subject: same\n\nbody two – ünïcode 日本"]
    for body in bodies:
        line.send_mail("god", body)
    reader.wait_for(*bodies)
    line.drain()
    assert reader.texts() == bodies
    assert [held.event.text for held in line.records.held("god")] == ["the floor is quiet"]


def test_a_dead_letter_can_be_tried_again_in_its_place(path: Path) -> None:
    class Refuses(Reader):
        refuses = True

        def put(self, delivery: Delivery) -> Receipt:
            if self.refuses:
                raise ValueError("a fault of the sink's")
            return super().put(delivery)

    settings = Settings(fanout=FanOutPolicy(backoff=Backoff(first=Millis(1), attempts=2)))
    with Tocsin(settings, store=path) as line:
        reader = Refuses()
        line.open_lane("dev", reader)
        answer = line.send_mail("dev", "try me")
        assert answer is not None
        until(lambda: [one.state for one in line.records.messages()] == [State.FAILED])
        reader.refuses = False
        line.retry(answer.id)
        reader.wait_for("try me")
        until(lambda: [one.state for one in line.records.messages()] == [State.PROCESSED])
        assert [stored.attempts > 1 for stored in line.records.messages()] == [True]


def test_the_ladder_of_proofs_is_kept_for_each_delivery(line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    answer = line.send_mail("dev", "prove it")
    reader.wait_for("prove it")
    line.drain()
    [block] = line.records.deliveries()
    assert answer is not None
    assert (block.notices, block.state, block.proof) == ((answer.id,), State.PROCESSED, Proof.SUBMITTED)
    assert [proof for proof, _, _ in line.records.proofs(block.id)] == [Proof.SUBMITTED]
    stages = [decision.stage for decision in line.records.story(answer.id)]
    assert stages == ["classify", "fingerprint", "dedup", "hold", "defer", "fanout"]


def test_bad_messages_get_an_answer_and_keep_no_other_out(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev"))
    with pytest.raises(BadInput, match="can't be an id"):
        line.send_mail("dev", "x", id="a\nb")
    with pytest.raises(BadInput, match="no message"):
        line.send_mail("dev", "  ")
    with pytest.raises(BadInput, match="another message"):
        line.feed("one", to="dev", traffic="user", id="u1")
        line.feed("two", to="dev", traffic="user", id="u1")


def test_without_a_store_there_are_no_records() -> None:
    with Tocsin() as line, pytest.raises(NotRunning, match="no store"):
        assert line.records


def test_what_is_for_one_session_is_told_to_no_other(path: Path) -> None:
    with Tocsin(store=path) as line:
        line.records.register(Recipient(name="dev"))
        line.feed("for s1", to="dev", traffic="return", key="a@1", session="s1")
        line.feed("for whoever is here", to="dev", traffic="return", key="b@1")
        reader = Reader()
        line.open_lane("dev", reader, session=Session(id="s2", recipient="dev"))
        reader.wait_for("for whoever is here")
        line.drain()
        assert reader.texts() == ["for whoever is here"]
        [refused] = line.records.messages(states={State.UNDELIVERABLE})
        assert (refused.event.text, refused.reason) == ("for s1", "for_another_session")


def test_the_session_that_it_is_for_is_told(line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader, session=Session(id="s1", recipient="dev"))
    line.feed("for s1", to="dev", traffic="return", key="a@1", session="s1")
    reader.wait_for("for s1")


def test_one_who_is_registered_again_is_told_again(path: Path, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    with another(path) as other:
        other.records.archive("dev")
        until(lambda: line.status().lanes[0].recipient == "dead")
        other.records.register(Recipient(name="dev"))
        other.send_mail("dev", "welcome back")
    reader.wait_for("welcome back")
    assert line.status().lanes[0].recipient == "idle"

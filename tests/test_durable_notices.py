"""Notices that are news: each is judged by its own occasion, is told again on evidence only, and doesn't wait for ever."""

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from tocsin import Tocsin
from tocsin.contracts.base import Instant
from tocsin.contracts.durable import OPEN, State
from tocsin.contracts.hooks import HookEvent
from tocsin.contracts.recipients import Recipient, Session
from tocsin.edges.clock import SteadyClock
from tocsin.edges.sinks.inbox import StoredInbox
from tocsin.pipeline.throttle import Reason as ThrottleReason
from tocsin.store import ledger

_durable = runpy.run_path(str(Path(__file__).parent / "test_durable.py"))
Reader, until, another = _durable["Reader"], _durable["until"], _durable["another"]
DAY = 86_400_000


class Later:
    """A clock that goes as the real one, so many milliseconds off."""

    def __init__(self, off: int) -> None:
        self.off, self._real = off, SteadyClock()

    def now(self) -> Instant:
        return Instant(self._real.now() + self.off)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tocsin.db"


@pytest.fixture
def line(path: Path) -> Iterator[Tocsin]:
    with Tocsin(store=path) as line:
        yield line


def pulled(line: Tocsin, name: str = "dev", *, ack: bool = True) -> list[str]:
    """What a recipient fetches, as `tocsin inbox pull` does it."""
    line.open_lane(name, StoredInbox(line.records), kind="inbox")
    until(lambda: not line.records.messages(to=name, states=OPEN))
    found = line.records.pull(name)
    line.close_lane(name)
    if ack and found:
        line.records.acknowledge(name, found[-1][0])
    return [entry.text for _, delivery in found for entry in delivery.entries]


def preserved(line: Tocsin, text: str) -> None:
    line.send_notice("dev", "worker", "preserved:w9", text, ctx=["w9"], cleared_when="started")


def start(line: Tocsin, nth: int) -> None:
    line.records.begin_session(Session(id=f"s{nth}", recipient="w9", started_at=line.clock.now()))


def pause(line: Tocsin) -> None:
    """Until the clock shows another millisecond: what happens in one and the same is not told apart."""
    before = line.clock.now()
    until(lambda: line.clock.now() > before)


def test_what_comes_after_the_evidence_is_news_also_to_one_who_is_not_here(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev", kind="inbox"))
    for nth, text in enumerate(("FIRST", "SECOND", "THIRD")):
        pause(line)
        preserved(line, text)
        assert pulled(line) == [text]
        pause(line)
        start(line, nth)
    pause(line)
    preserved(line, "FOURTH")
    preserved(line, "FOURTH again")
    assert pulled(line) == ["FOURTH"]


def test_what_waited_before_the_evidence_is_stale_and_what_came_after_it_is_not(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev", kind="inbox"))
    preserved(line, "stale")
    pause(line)
    start(line, 1)
    pause(line)
    preserved(line, "news")
    assert pulled(line) == ["news"]
    ended = {one.event.text: (one.state, one.verdict, one.reason) for one in line.records.messages(to="dev")}
    assert ended["stale"] == (State.UNDELIVERABLE, "clear", "condition_gone")


def test_a_live_line_looks_at_the_evidence_before_it_judges_what_came_right_after_it(path: Path, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    told = []
    with another(path) as other:
        for nth in range(5):
            preserved(line, f"number {nth}")
            told.append(f"number {nth}")
            reader.wait_for(*told)
            until(lambda: line.records.told("dev"))
            pause(line)
            start(other, nth)
            pause(line)
    assert reader.texts() == told


def test_one_that_waits_on_a_human_is_dropped_by_its_own_evidence_and_the_next_is_told(path: Path, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    line.observe("dev", HookEvent(hook_event_name="PermissionRequest"))
    preserved(line, "stale")
    until(lambda: line.records.held("dev"))
    pause(line)
    with another(path) as other:
        start(other, 1)
    line.look()
    until(lambda: not line.records.held("dev"))
    pause(line)
    preserved(line, "news")
    until(lambda: line.records.held("dev"))
    line.observe("dev", HookEvent(hook_event_name="Stop"))
    reader.wait_for("news")
    assert reader.texts() == ["news"]


def quiet(line: Tocsin, text: str) -> None:
    line.send_notice("dev", "heartbeat", "quiet", text, cleared_when="drained")


def test_a_quiet_heartbeat_is_told_each_time_once_the_one_before_was_read(path: Path, line: Tocsin) -> None:
    line.records.register(Recipient(name="dev", kind="inbox"))
    for nth in range(4):
        quiet(line, f"beat {nth}")
        with another(path) as other:
            assert pulled(other) == [f"beat {nth}"]


def test_a_quiet_heartbeat_is_folded_while_the_one_before_is_unread_and_told_after_the_acknowledgement(line: Tocsin) -> None:
    line.open_lane("dev", StoredInbox(line.records), kind="inbox")
    told = lambda: [entry.text for _, one in line.records.pull("dev", after=0) for entry in one.entries]  # noqa: E731
    quiet(line, "first")
    until(lambda: told() == ["first"])
    quiet(line, "folded")
    until(lambda: not line.records.messages(to="dev", states=OPEN))
    assert told() == ["first"]
    line.records.acknowledge("dev", line.records.pull("dev")[-1][0])
    quiet(line, "second")
    until(lambda: told() == ["first", "second"])


def test_what_settles_is_evidence_by_itself(line: Tocsin) -> None:
    """What a terminal took is read; nothing else has to happen before the next one may be told."""
    reader = Reader()
    line.open_lane("dev", reader)
    for nth in range(3):
        quiet(line, f"beat {nth}")
        reader.wait_for(f"beat {nth}")
        until(lambda: not line.records.messages(to="dev", states=OPEN) and not line.records.told("dev"))


def actionable(line: Tocsin, *ids: str) -> None:
    line.send_notice("dev", "heartbeat", "actionable:1234", "act on it", ctx=ids, cleared_when="read")


def test_a_heartbeat_about_ids_that_are_not_known_here_is_told_once_until_somebody_rearms_it(path: Path, line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    for nth in range(5):
        with another(path) as other:
            actionable(other, "mail-1", "mail-2")
            other.records.register(Recipient(name=f"somebody {nth}"))
        line.look()
        until(lambda: not line.records.messages(to="dev", states=OPEN))
    line.send_mail("dev", "something else")
    reader.wait_for("something else")
    actionable(line, "mail-1", "mail-2")
    until(lambda: not line.records.messages(to="dev", states=OPEN))
    assert reader.texts().count("act on it") == 1
    assert line.rearm("dev", "heartbeat").delivered == 1
    actionable(line, "mail-1", "mail-2")
    until(lambda: reader.texts().count("act on it") == 2)


def test_one_about_unknown_ids_that_waits_is_told_to_whoever_fetches_it(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev", kind="inbox"))
    actionable(line, "mail-1")
    assert pulled(line) == ["act on it"]
    line.rearm("dev", "heartbeat")
    actionable(line, "mail-1")
    assert pulled(line) == ["act on it"]


def test_a_heartbeat_about_known_mail_may_be_told_again_when_all_of_it_was_read(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev", kind="inbox"))
    line.send_mail("dev", "the mail", id="m1")
    pulled(line, ack=False)
    actionable(line, "m1")
    assert pulled(line, ack=False) == ["the mail", "act on it"]
    assert [one.signature for one in line.records.told("dev")] == ["heartbeat:actionable:1234"]
    line.records.acknowledge("dev", 1)
    pulled(line, ack=False)
    assert line.records.told("dev") == []


# What waits too long


def held_since(path: Path, off: int) -> None:
    """A process, so long ago, in which a notice was held; it ended well."""
    with Tocsin(store=path, clock=Later(off)) as line:
        line.open_lane("dev", Reader())
        line.observe("dev", HookEvent(hook_event_name="PermissionRequest"))
        line.send_notice("dev", "breaker", "steer:looping", "you loop", id="n1")
        until(lambda: line.records.held("dev"))


def test_what_was_held_for_thirty_days_has_ended_with_its_message(path: Path) -> None:
    held_since(path, -31 * DAY)
    with Tocsin(store=path) as line:
        assert line.records.held() == []
        [message] = line.records.message("n1")
        assert (message.state, message.verdict, message.reason) == (State.UNDELIVERABLE, "evict", "expired")
        assert line.records.story("n1")[-1].reason == ThrottleReason.EXPIRED == ledger.EXPIRED
        reader = Reader()
        line.open_lane("dev", reader)
        line.observe("dev", HookEvent(hook_event_name="Stop"))
        line.send_mail("dev", "the end")
        reader.wait_for("the end")
        assert reader.texts() == ["the end"]


def test_its_age_counts_from_when_it_was_accepted_through_any_number_of_processes(path: Path) -> None:
    held_since(path, -31 * DAY)
    with Tocsin(store=path, clock=Later(-2 * DAY)) as line:  # two days before its time is over
        line.open_lane("dev", Reader())
        until(lambda: line.records.message("n1")[0].state is State.CLAIMED)
        until(lambda: line.records.held("dev"))
    with Tocsin(store=path) as line:
        assert (line.records.held(), line.records.message("n1")[0].reason) == ([], "expired")


def test_it_expires_in_the_line_that_holds_it_too(path: Path) -> None:
    held_since(path, -31 * DAY)
    clock = Later(-2 * DAY)
    with Tocsin(store=path, clock=clock) as line:
        line.open_lane("dev", reader := Reader())
        until(lambda: line.records.held("dev"))
        clock.off = 0
        line.look()
        until(lambda: not line.records.held("dev"))
        assert line.records.message("n1")[0].reason == "expired"
        until(lambda: not line.status().lanes[0].depth)
        line.observe("dev", HookEvent(hook_event_name="Stop"))
        line.send_mail("dev", "the end")
        reader.wait_for("the end")
        assert reader.texts() == ["the end"]


# One who is archived


def test_what_waits_for_one_who_is_archived_while_nobody_delivers_ends_there(path: Path, line: Tocsin) -> None:
    with another(path) as other:
        other.open_lane("dev", Reader())
        other.observe("dev", HookEvent(hook_event_name="PermissionRequest"))
        other.send_notice("dev", "breaker", "steer:looping", "you loop", id="n1")
        other.feed("a person's words", to="dev", traffic="user", id="u1")
        until(lambda: other.records.held("dev"))
    line.records.register(Recipient(name="lead", coordinator=True))
    line.send_mail("dev", "for dev", id="m1")
    line.feed("an answer", to="dev", traffic="return", key="q@1", id="r1")
    line.records.archive("dev")
    ends = {one.id: (one.state, one.verdict, one.reason) for one in line.records.messages(to="dev")}
    assert ends == {
        "n1": (State.UNDELIVERABLE, "drop_dead", "recipient_dead"),
        "u1": (State.FAILED, "dead_letter", "recipient_dead"),
        "m1": (State.UNDELIVERABLE, "refuse", "bounced_to_coordinator"),
        "r1": (State.PENDING, "", ""),
    }
    assert line.records.held() == []
    reader, lead = Reader(), Reader()
    line.open_lane("lead", lead)
    lead.wait_for("for dev")
    line.open_lane("dev", reader)
    line.observe("dev", HookEvent(hook_event_name="Stop"))
    reader.wait_for("an answer")
    assert reader.texts() == ["an answer"]


def test_an_owner_that_lives_ends_it_itself_and_the_coordinator_is_never_dead(path: Path, line: Tocsin) -> None:
    line.open_lane("dev", Reader())
    line.observe("dev", HookEvent(hook_event_name="PermissionRequest"))
    line.send_notice("dev", "breaker", "steer:looping", "you loop", id="n1")
    until(lambda: line.records.held("dev"))
    with another(path) as other:
        other.records.register(Recipient(name="lead", coordinator=True))
        other.send_mail("lead", "for the coordinator", id="m1")
        other.records.archive("lead")
        assert other.records.message("m1")[0].state in OPEN
        other.records.archive("dev")
    until(lambda: line.records.message("n1")[0].verdict == "drop_dead")

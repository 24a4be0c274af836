"""Returns of the person's answers, pass by pass: sent once, to nobody else, and what became of each is on record."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tocsin.actors.changes import OTHER_SESSION
from tocsin.actors.returns import FORSAKEN_AFTER, look, publish
from tocsin.actors.tables import Direct
from tocsin.contracts.attention_answers import Receipt
from tocsin.contracts.attention_items import BLOCKED_PERIOD, Phase
from tocsin.contracts.base import Instant
from tocsin.contracts.deliveries import Proof
from tocsin.contracts.durable import State
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Owner
from tocsin.contracts.verdicts import Verdict
from tocsin.store import attention_returns, intake, recipients
from tocsin.store.engine import Store

posting = runpy.run_path(str(Path(__file__).parent / "posting.py"))
attending, LIVING, Post = (posting[name] for name in ("attending", "LIVING", "Post"))


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Any]:
    post = Post(tmp_path / "tocsin.db")
    yield post
    post.desk.store.close()


# Sending


def test_an_answer_becomes_one_message_to_its_actor_and_whoever_delivers_is_told(post: Any) -> None:
    row = post.answered()
    assert row.phase is Phase.PENDING
    post.once()
    [stored] = post.notices()
    coordinate = f"attention-return:{row.resolution_command_id}:1"
    assert (stored.id, stored.recipient, stored.state) == ("n1", "ariadne", State.PENDING)
    event = stored.event
    assert (event.traffic, event.key, event.source, event.severity, event.session) == (
        "return",
        coordinate,
        "attention_return",
        "info",
        "",
    )
    assert event.text.startswith("Attention item 1 is resolved: answered\n")
    assert event.text.endswith("\nTake C.")
    assert (post.again(row).phase, post.again(row).delivery_id) == (Phase.MINTED, "n1")
    assert post.told == [frozenset({"ariadne"})]


def test_passes_of_any_number_of_processes_send_it_once(post: Any, tmp_path: Path) -> None:
    row = post.answered()
    other = Direct(lambda: Store.open(tmp_path / "tocsin.db", now=post.now()))
    with post.desk.store.read() as view:
        assert look(view, post.alive, post.now(), 0).due  # what the slower one has seen before it gets the lock
    post.once()
    told = other.change(lambda tx: publish(tx, new_id=lambda: "twice", alive=post.alive, now=post.now()))
    other.close()
    assert told == frozenset()
    assert [stored.id for stored in post.notices()] == ["n1"]
    assert post.again(row).generation == 1


def test_A22_a_death_before_the_commit_leaves_neither_message_nor_mark(post: Any) -> None:
    row = post.answered()
    with pytest.raises(KeyboardInterrupt):
        post.change(lambda tx: _publish_and_die(tx, post))
    assert post.notices() == []
    assert post.again(row).phase is Phase.PENDING
    post.once()
    assert len(post.notices()) == 1
    with post.desk.store.read() as view:
        assert len(attention_returns.of_item(view, row.item_id)) == 1


def _publish_and_die(tx: Any, post: Any) -> None:
    publish(tx, new_id=lambda: "lost", alive=post.alive, now=post.now())
    raise KeyboardInterrupt


def test_work_without_a_way_back_sends_nothing(post: Any) -> None:
    item_id = post.desk.do("start", **attending["packet"]("mine")).item_id
    post.desk.do("resolve", item_id=item_id, expected_revision=1, outcome="completed", response="done")
    seat = post.desk.bind("s-none", mode="none")
    item_id = post.desk.do("summon", seat, **attending["packet"]("k")).item_id
    post.desk.next()
    post.desk.do("resolve", item_id=item_id, expected_revision=2, outcome="completed", response="done")
    post.once()
    assert post.notices() == []
    assert post.told == []


def test_a_revoked_source_still_gets_the_answer_to_what_it_asked(post: Any) -> None:
    row = post.answered()
    post.desk.do("source_revoke", source_id=row.source_id, reason="the work is over")
    post.once()
    assert post.again(row).phase is Phase.MINTED


def test_a_pass_sends_at_most_twenty_five(post: Any) -> None:
    for number in range(30):
        post.answered(f"k{number}")
    post.once()
    assert len(post.notices()) == 25
    post.once()
    assert len(post.notices()) == 30


def test_a_message_that_somebody_else_has_sent_under_our_coordinate_is_never_taken_for_the_answer(post: Any) -> None:
    row = post.answered()
    forged = Event(text="Take A.", traffic="return", key=f"attention-return:{row.resolution_command_id}:1")
    post.change(lambda tx: intake.accept(tx, forged, recipient="ariadne", id="forged", at=post.now()))
    post.once()
    assert (post.again(row).phase, post.again(row).reason) == (Phase.FAILED, "coordinate_is_taken")
    assert post.told == []
    assert isinstance(post.ask("retry_return", row), Receipt)
    post.once()
    assert [stored.event.key[-2:] for stored in post.notices()] == [":1", ":2"]


# Ways that can't be used


def test_the_answer_to_an_archived_recipient_waits_for_the_person(post: Any) -> None:
    row = post.answered()
    post.change(lambda tx: recipients.archive(tx, "ariadne", post.now()))
    post.once()
    blocked = post.again(row)
    assert (blocked.phase, blocked.reason, blocked.retry_at) == (Phase.BLOCKED, "recipient_archived", None)
    post.desk.later(10 * BLOCKED_PERIOD)
    with post.desk.store.read() as view:
        assert not look(view, post.alive, post.now(), 0).due
    assert post.notices() == []


def test_a_pinned_answer_goes_to_its_session_while_that_runs(post: Any) -> None:
    post.runs("s1")
    post.answered(mode="pinned_session", provenance="dispatch", session_id="s1")
    post.once()
    [stored] = post.notices()
    assert stored.event.session == "s1"
    assert "pinned_session, for session s1 of ariadne and no other" in stored.event.text


def never(post: Any) -> str:
    return "another_session_runs"


def died(post: Any) -> str:
    post.runs("s1")
    post.dead.add(LIVING.token)
    return "session_does_not_run"


def ended(post: Any) -> str:
    post.runs("s1")
    post.ends("s1")
    return "session_has_ended"


def killed_and_followed(post: Any) -> str:
    post.runs("s1")  # its end was never written
    post.dead.add(LIVING.token)
    post.runs("s2", owner=Owner(token="t2", pid=2, started="y", host="here"))
    return "another_session_runs"


@pytest.mark.parametrize("lose", [never, died, ended, killed_and_followed])
def test_a_pinned_answer_is_given_to_no_other_session_and_looked_at_again_after_a_minute(post: Any, lose: Any) -> None:
    reason = lose(post)
    row = post.answered(mode="pinned_session", provenance="dispatch", session_id="s1")
    post.once()
    assert (post.again(row).phase, post.again(row).reason) == (Phase.BLOCKED, reason)
    post.dead.clear()
    post.runs("s1")  # the same session is back
    if lose is killed_and_followed:
        return  # another one is newer: it is never s1's turn again
    post.desk.later(BLOCKED_PERIOD - 1)
    post.once()
    assert post.notices() == []
    post.desk.later(1)
    post.once()
    assert [stored.event.session for stored in post.notices()] == ["s1"]


# What became of it


def test_what_was_told_is_processed_with_what_is_known_of_it(post: Any) -> None:
    post.runs("s1")
    row = post.answered()
    post.once()
    [stored] = post.notices()
    post.hand_over(stored, None)
    post.once()
    assert post.again(row).phase is Phase.MINTED
    post.hand_over(stored, Verdict.DELIVER, Proof.SUBMITTED)
    post.once()
    done = post.again(row)
    assert done.phase is Phase.PROCESSED
    kept = {name: done.outcome[name] for name in ("notice", "recipient", "state", "verdict", "delivery", "proof")}
    assert kept == {
        "notice": "n1",
        "recipient": "ariadne",
        "state": "processed",
        "verdict": "deliver",
        "delivery": "d-n1",
        "proof": "submitted",
    }


@pytest.mark.parametrize("verdict", [Verdict.DEAD_LETTER, Verdict.REFUSE, Verdict.DROP_DEAD])
def test_what_was_not_told_has_failed_and_says_why(post: Any, verdict: Verdict) -> None:
    post.runs("s1")
    row = post.answered()
    post.once()
    post.hand_over(post.notices()[0], verdict)
    post.once()
    assert (post.again(row).phase, post.again(row).reason) == (Phase.FAILED, f"because_{verdict}")
    assert post.again(row).outcome["maybe_read"] is True


def test_a_message_without_a_record_is_missing_and_never_taken_for_told(post: Any) -> None:
    row = post.answered()
    post.once()
    post.change(lambda tx: tx.execute("DELETE FROM notices"))
    post.once()
    assert (post.again(row).phase, post.again(row).reason) == (Phase.FAILED, "transport_record_missing")


def test_an_answer_for_any_session_waits_as_long_as_its_recipient_is_away(post: Any) -> None:
    row = post.answered()
    post.once()
    post.desk.later(100 * FORSAKEN_AFTER)
    post.once()
    assert post.again(row).phase is Phase.MINTED


def test_an_answer_under_way_to_a_recipient_that_is_archived_ends(post: Any) -> None:
    row = post.answered()
    post.once()
    post.change(lambda tx: recipients.archive(tx, "ariadne", post.now()))
    post.once()
    assert (post.again(row).phase, post.again(row).reason) == (Phase.FAILED, "recipient_archived")
    assert [(one.state, one.verdict) for one in post.notices()] == [(State.UNDELIVERABLE, "drop_dead")]


def test_a_pinned_answer_under_way_ends_when_its_session_is_over(post: Any) -> None:
    post.runs("s1")
    row = post.answered(mode="pinned_session", provenance="dispatch", session_id="s1")
    post.once()
    post.ends("s1")
    post.once()
    assert (post.again(row).phase, post.again(row).reason) == (Phase.FAILED, OTHER_SESSION)
    assert [(one.state, one.reason) for one in post.notices()] == [(State.UNDELIVERABLE, OTHER_SESSION)]


def test_a_pinned_answer_whose_process_died_waits_a_minute_for_the_session_to_come_back(post: Any) -> None:
    post.runs("s1")
    row = post.answered(mode="pinned_session", provenance="dispatch", session_id="s1")
    post.once()
    post.dead.add(LIVING.token)
    post.desk.later(FORSAKEN_AFTER - 1)
    post.once()
    assert post.again(row).phase is Phase.MINTED
    post.desk.later(1)
    post.once()
    assert (post.again(row).phase, post.again(row).reason) == (Phase.FAILED, "session_does_not_run")


def test_who_delivers_now_decides_alone_what_becomes_of_it(post: Any) -> None:
    post.runs("s1")
    row = post.answered(mode="pinned_session", provenance="dispatch", session_id="s1")
    post.once()
    post.change(lambda tx: recipients.end_session(tx, "s1", post.now()))  # its process still tidies up
    post.desk.later(10 * FORSAKEN_AFTER)
    post.once()
    assert post.again(row).phase is Phase.MINTED


def test_what_is_under_way_keeps_no_other_end_from_being_seen(post: Any) -> None:
    post.runs("s1")
    rows = [post.answered(f"k{number}") for number in range(60)]
    for _ in range(3):
        post.once()
    post.hand_over(post.notices()[-1], Verdict.DELIVER)
    for _ in range(4):
        post.once()
    assert [post.again(row).phase for row in rows].count(Phase.PROCESSED) == 1


# What it costs nobody


def test_a_look_takes_no_lock_where_there_is_nothing_to_do(tmp_path: Path) -> None:
    unused = Store.open(tmp_path / "unused.db", now=Instant(0))
    used = Post(tmp_path / "used.db")
    used.answered()
    used.once()
    for path, store in ((tmp_path / "unused.db", unused), (tmp_path / "used.db", used.desk.store)):
        tables = Direct(lambda path=path: Store.open(path, now=Instant(0), patience=0.05))
        with store.write():
            used.publisher.once(tables)  # it would raise StoreBusy if it wanted the lock
        tables.close()
        store.close()

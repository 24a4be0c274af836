"""Returns again and another way: what the person may send anew, and that no earlier answer comes after it."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tocsin.contracts.attention_answers import Code, Receipt, Refusal, Result
from tocsin.contracts.attention_items import Phase, Return
from tocsin.contracts.durable import State
from tocsin.contracts.verdicts import Verdict
from tocsin.store import attention_returns, intake

posting = runpy.run_path(str(Path(__file__).parent / "posting.py"))
attending, LIVING, Post = (posting[name] for name in ("attending", "LIVING", "Post"))


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Any]:
    post = Post(tmp_path / "tocsin.db")
    yield post
    post.desk.store.close()


def failed(post: Any) -> Return:
    post.runs("s1")
    row = post.answered()
    post.once()
    post.hand_over(post.notices()[0], Verdict.DEAD_LETTER)
    post.once()
    assert post.again(row).phase is Phase.FAILED
    return row


def test_A29_a_letter_that_was_tried_again_gets_no_second_generation_beside_it(post: Any) -> None:
    row = failed(post)
    post.change(lambda tx: intake.retry(tx, "n1", "ariadne", post.now()))
    answer = post.ask("retry_return", row)
    assert isinstance(answer, Refusal)
    assert (answer.code, answer.return_generation) == (Code.RETURN_UNDER_WAY, 1)
    post.hand_over(post.notices()[0], Verdict.DELIVER)
    answer = post.ask("retry_return", row)
    assert isinstance(answer, Refusal)
    assert answer.code is Code.RETURN_PROCESSED
    assert len(post.notices()) == 1


def test_A26_a_letter_whose_answer_went_out_anew_can_be_fed_by_nobody(post: Any) -> None:
    row = failed(post)
    answer = post.ask("retry_return", row)
    assert isinstance(answer, Receipt)
    assert answer.result is Result.RETURN_RETRIED
    assert not post.change(lambda tx: intake.retry(tx, "n1", "ariadne", post.now()))
    post.once()
    states = [(one.id, one.state, one.reason) for one in post.notices()]
    assert states == [("n1", State.UNDELIVERABLE, "superseded"), ("n2", State.PENDING, "")]


def test_the_same_command_again_is_answered_as_the_first_time_whatever_the_letter_does(post: Any) -> None:
    row = failed(post)
    revision = post.desk.revision(row.item_id)
    request = post.desk.request("retry_return", {"item_id": row.item_id, "expected_revision": revision, "return_generation": 1})
    first = post.change(lambda tx: post._carry(tx, request))
    post.once()
    post.hand_over(post.notices()[1], Verdict.DEAD_LETTER)
    post.once()
    post.change(lambda tx: intake.retry(tx, "n2", "ariadne", post.now()))
    assert isinstance(post.ask("retry_return", post.again(row)), Refusal)
    again = post.change(lambda tx: post._carry(tx, request))
    assert isinstance(again, Receipt)
    assert again.replayed
    assert (again.result, again.return_effect) == (first.result, first.return_effect)


def test_A29_a_lost_route_is_mended_by_the_person_alone(post: Any) -> None:
    row = post.answered(mode="pinned_session", provenance="dispatch", session_id="s1")
    post.once()
    assert post.again(row).phase is Phase.BLOCKED
    post.desk.bind("s-new", mode="actor_context")
    answer = post.ask("reroute_return", row, source_id="s-new", reason="it is gone")
    assert isinstance(answer, Receipt)
    assert answer.result is Result.RETURN_REROUTED
    post.once()
    assert [(one.event.session, one.event.key[-2:]) for one in post.notices()] == [("", ":2")]
    with post.desk.store.read() as view:
        assert [one.phase for one in attention_returns.of_item(view, row.item_id)] == [Phase.SUPERSEDED, Phase.MINTED]

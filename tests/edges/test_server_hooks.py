"""Hooks that call over the socket: each call once, none of another session, and each block to one call only."""

import json
import runpy
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tocsin.contracts import wire
from tocsin.contracts.hooks import HookEvent
from tocsin.edges.server.hearing import REPEAT_WITHIN, Hearing

_serving = runpy.run_path(str(Path(__file__).parent / "serving.py"))
served, short_directory, Raw = (_serving[name] for name in ("served", "short_directory", "Raw"))


class Now:
    at = 0.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def now() -> Now:
    return Now()


def said(name: str, digest: str = "", session: str = "s1", **fields: str) -> wire.Hook:
    return wire.Hook(event=HookEvent(hook_event_name=name, session_id=session, **fields), digest=digest)


def test_the_same_payload_again_at_the_same_time_is_the_same_call(now: Now) -> None:
    hearing = Hearing(now)
    assert [hearing.counts(said("Notification", "a")) for _ in range(3)] == [True, False, False]
    assert hearing.counts(said("Notification", "b"))


def test_the_same_payload_later_is_another_call(now: Now) -> None:
    hearing = Hearing(now)
    assert hearing.counts(said("Notification", "a"))
    now.at += REPEAT_WITHIN
    assert hearing.counts(said("Notification", "a"))


def test_the_same_prompt_in_the_next_turn_is_another_call(now: Now) -> None:
    hearing = Hearing(now)
    calls = [
        said("UserPromptSubmit", "p"),
        said("Stop", "e"),
        said("Stop", "e"),
        said("UserPromptSubmit", "p"),
        said("Stop", "e"),
    ]
    assert [hearing.counts(call) for call in calls] == [True, True, False, True, True]


def test_without_a_digest_every_call_counts(now: Now) -> None:
    hearing = Hearing(now)
    assert all(hearing.counts(said("Notification")) for _ in range(3))


def test_an_agent_that_runs_within_a_turn_of_ours_is_not_heard(now: Now) -> None:
    hearing = Hearing(now)
    for call, counts in [
        (said("UserPromptSubmit"), True),
        (said("PreToolUse", tool_name="Bash"), True),
        (said("SessionStart", session="inner"), False),
        (said("UserPromptSubmit", session="inner"), False),
        (said("Stop", session="inner"), False),
        (said("PostToolUse", tool_name="Bash"), True),
        (said("Stop"), True),
        (said("UserPromptSubmit", session="next"), True),
        (said("PostToolUse"), False),
    ]:
        assert hearing.counts(call) is counts, call


@pytest.mark.parametrize(
    "end", [said("SessionEnd"), said("StopFailure"), said("Notification", notification_type="idle_prompt")]
)
def test_once_our_turn_is_over_another_session_may_be_ours(now: Now, end: wire.Hook) -> None:
    hearing = Hearing(now)
    for call in (said("UserPromptSubmit"), end, said("SessionStart", session="next"), said("UserPromptSubmit", session="next")):
        assert hearing.counts(call)


class Hooks:
    """One block to hand over, and what was heard."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.given: list[str] = []
        self.blocks = ["the block"]

    def hear(self, event: HookEvent) -> None:
        self.heard.append(event.hook_event_name)

    def take(self, event: HookEvent) -> tuple[str, str]:
        return (self.blocks.pop(), "x-d1") if self.blocks else ("", "")

    def handed(self, delivery: str) -> None:
        self.given.append(delivery)


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


@pytest.fixture
def path(hooks: Hooks) -> Iterator[Path]:
    with short_directory() as place, served(place, hooks=hooks) as one:
        yield one.path


def ask(path: Path, *requests: wire.Request) -> list[dict[str, object]]:
    with Raw(path) as raw:
        return [raw.ask(wire.line_of(request)[:-1]) for request in requests]


def test_f01_a_hook_registered_twice_is_one_state_change_and_one_of_its_calls_is_given_the_block(
    path: Path, hooks: Hooks
) -> None:
    request = wire.line_of(
        wire.Hook(event=HookEvent(hook_event_name="Notification", session_id="s1", message="m"), carries=True, digest="d")
    )
    answers, start = [], threading.Barrier(2)

    def call() -> None:
        with Raw(path) as raw:
            start.wait()
            answers.append(raw.ask(request[:-1]))

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(json.dumps(answer, sort_keys=True) for answer in answers) == [
        '{"answer": "hook", "context": "", "delivery": "", "v": 1}',
        '{"answer": "hook", "context": "the block", "delivery": "x-d1", "v": 1}',
    ]
    assert hooks.heard == ["Notification"]


def test_a_call_that_can_carry_nothing_is_given_nothing(path: Path, hooks: Hooks) -> None:
    [answer] = ask(path, said("Stop"))
    assert (answer["context"], hooks.blocks) == ("", ["the block"])


def test_what_is_handed_over_is_told(path: Path, hooks: Hooks) -> None:
    assert [answer["answer"] for answer in ask(path, wire.Handed(delivery="x-d1"))] == ["done"]
    assert hooks.given == ["x-d1"]


def test_without_anybody_to_hand_over_a_call_is_answered_all_the_same() -> None:
    with short_directory() as place, served(place) as one:
        answers = ask(one.path, said("UserPromptSubmit"), wire.Handed(delivery="x"))
    assert [answer["answer"] for answer in answers] == ["hook", "done"]

"""A hook's call: what it passes on, what it is answered with, and that it speaks the wire as everybody else does."""

import json
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts import wire
from tocsin.contracts.hooks import HookEvent
from tocsin.edges.agent_hooks import call as calling
from tocsin.edges.agent_hooks.agents import AGENTS
from tocsin.edges.agent_hooks.dialect import CARRYING, answer_of, carries, event_of


class Recipient(threading.Thread):
    """Somebody who answers one call as told, and keeps what was said."""

    def __init__(self, path: str, answer: bytes) -> None:
        super().__init__(daemon=True)
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(path)
        self._socket.listen()
        self.said: list[bytes] = []

    def run(self) -> None:
        connection, _ = self._socket.accept()
        with self._socket, connection, connection.makefile("rb") as lines:
            self.said.append(lines.readline())
            connection.sendall(self._answer)
            self.said += lines.readlines()


@contextmanager
def recipient(answer: wire.Answer | bytes) -> Iterator[tuple[Recipient, str]]:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="tc-") as place:
        path = str(Path(place) / "s")
        one = Recipient(path, answer if isinstance(answer, bytes) else wire.line_of(answer))
        one.start()
        yield one, path
        one.join(30)


def printed(said: bytes, path: str, agent: str = "claude") -> bytes:
    read, write = os.pipe()
    try:
        calling.call(said, path, agent=agent, out=write)
    finally:
        os.close(write)
    with os.fdopen(read, "rb") as file:
        return file.read()


PAYLOAD = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "hi", "cwd": "/"}


def test_the_context_is_printed_and_then_said_to_be_handed_over() -> None:
    with recipient(wire.HookAnswer(context='one\n"block" 🔔', delivery="x-d1")) as (one, path):
        out = printed(json.dumps(PAYLOAD).encode(), path)
    assert json.loads(out) == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": 'one\n"block" 🔔'}
    }
    asked, handed = map(wire.read_request, one.said)
    assert isinstance(asked, wire.Hook)
    assert asked.event == HookEvent(hook_event_name="UserPromptSubmit", session_id="s1")
    assert asked.carries
    assert handed == wire.Handed(delivery="x-d1")


def test_it_speaks_the_protocol_of_the_wire() -> None:
    assert calling.PROTOCOL == wire.PROTOCOL


def test_without_a_context_nothing_is_printed_and_nothing_more_is_said() -> None:
    with recipient(wire.HookAnswer()) as (one, path):
        assert printed(json.dumps(PAYLOAD).encode(), path) == b""
    assert len(one.said) == 1


@pytest.mark.parametrize("answer", [wire.Failed(code="not_running", text="it has ended"), b"", b"{}\n", b"no json\n", b"[1]\n"])
def test_an_answer_that_is_none_prints_nothing(answer: wire.Answer | bytes) -> None:
    with recipient(answer) as (_, path), pytest.raises((ValueError, OSError)):
        printed(json.dumps(PAYLOAD).encode(), path)


def test_what_could_not_be_printed_is_not_said_to_be_handed_over() -> None:
    with recipient(wire.HookAnswer(context="block", delivery="d")) as (one, path):
        read, write = os.pipe()
        os.close(read)
        with pytest.raises(OSError):
            calling.call(json.dumps(PAYLOAD).encode(), path, out=write)
        os.close(write)
    assert len(one.said) == 1


def test_the_same_payload_has_the_same_digest_and_another_has_another() -> None:
    digests = []
    for payload in (PAYLOAD, PAYLOAD, {**PAYLOAD, "prompt": "ho"}):
        with recipient(wire.HookAnswer()) as (one, path):
            printed(json.dumps(payload).encode(), path)
        digests.append(wire.read_request(one.said[0]).digest)
    assert digests[0] == digests[1] != digests[2]


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())), st.text(min_size=1))
def test_whatever_else_a_payload_holds_what_is_passed_on_is_an_event(payload: dict[str, object], name: str) -> None:
    event = msgspec.convert(event_of({**payload, "hook_event_name": name}), HookEvent)
    assert event.hook_event_name


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        ({"hook_event_name": "BeforeAgent"}, HookEvent(hook_event_name="UserPromptSubmit")),
        ({"hook_event_name": "BeforeTool", "tool_name": "a"}, HookEvent(hook_event_name="PreToolUse", tool_name="a")),
        ({"hook_event_name": "AfterTool", "tool_name": "a"}, HookEvent(hook_event_name="PostToolUse", tool_name="a")),
        ({"hook_event_name": "AfterAgent"}, HookEvent(hook_event_name="Stop")),
        ({"hook_event_name": "Interrupt"}, HookEvent(hook_event_name="Stop")),
        (
            {"hook_event_name": "Notification", "notification_type": "ToolPermission", "details": {}},
            HookEvent(hook_event_name="Notification", notification_type="permission_prompt"),
        ),
    ],
)
def test_other_agents_words_mean_the_same(payload: dict[str, object], event: HookEvent) -> None:
    assert msgspec.convert(event_of(payload), HookEvent) == event


@pytest.mark.parametrize("payload", [{}, [], "x", {"hook_event_name": 7}, {"hook_event_name": ""}])
def test_what_is_no_payload_is_refused(payload: object) -> None:
    with pytest.raises(ValueError, match="no hook_event_name"):
        event_of(payload)


def test_context_goes_only_where_this_agent_reads_it_itself() -> None:
    assert carries({"hook_event_name": "PostToolUse"}, "claude")
    assert not carries({"hook_event_name": "PostToolUse", "agent_id": "sub"}, "claude")
    assert not carries({"hook_event_name": "PostToolUse"}, "kimi")
    assert not carries({"hook_event_name": "Stop"}, "claude")
    assert carries({"hook_event_name": "AfterTool"})
    for name, events in CARRYING.items():
        assert events - {"PostToolBatch"} <= set(AGENTS[name].events)
    assert CARRYING.keys() == AGENTS.keys()


def test_an_agent_is_answered_in_its_own_words() -> None:
    for agent, event in (
        ("claude", "PostToolUse"),
        ("gemini", "AfterTool"),
        ("codex", "SessionStart"),
        ("qwen", "PostToolUse"),
    ):
        answer = json.loads(answer_of({"hook_event_name": event}, "x", agent))
        assert answer == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": "x"}}
    assert answer_of({"hook_event_name": "UserPromptSubmit"}, "x\ny", "kimi") == b"x\ny\n"

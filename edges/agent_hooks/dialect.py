"""Dialect: what an agent's hook says, in one agent's words, and an answer in the words of the agent that asked."""

# An agent waits for its hooks: nothing is imported here that a call could do without.
import json
from collections.abc import Mapping
from typing import Any

_FIELDS = ("session_id", "tool_name", "tool_use_id", "notification_type", "message")
_LONGEST = 2_000
"""Characters of a field that are passed on: more says nothing about waits."""

_SAME_AS = {
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "PreCompress": "PreCompact",
    "Interrupt": "Stop",
}
"""Events under the names that Claude Code gives them; those that are not here are called so already."""
_NOTIFICATIONS = {"ToolPermission": "permission_prompt"}

_OF_THE_FAMILY = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolBatch"})
CARRYING: Mapping[str, frozenset[str]] = {
    "claude": _OF_THE_FAMILY,
    "codex": frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse"}),
    "qwen": frozenset({"UserPromptSubmit", "PostToolUse"}),
    "gemini": frozenset({"SessionStart", "BeforeAgent", "AfterTool"}),
    "kimi": frozenset({"UserPromptSubmit"}),
}
"""Agent → the events, in its own words, whose answer it reads a context from."""


def event_of(payload: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a ``HookEvent``. Raises ``ValueError`` if the payload is none of a hook."""
    name = payload.get("hook_event_name") if isinstance(payload, dict) else None
    if not isinstance(name, str) or not name:
        raise ValueError("that is no hook's payload: it has no hook_event_name")
    event = {"hook_event_name": _SAME_AS.get(name, name)}
    event |= {field: value[:_LONGEST] for field in _FIELDS if isinstance(value := payload.get(field), str)}
    if (kind := event.get("notification_type")) in _NOTIFICATIONS:
        event["notification_type"] = _NOTIFICATIONS[str(kind)]
    return event


def carries(payload: Mapping[str, Any], agent: str = "") -> bool:
    """True if a context in the answer to this call is read by the agent itself.

    What a sub-agent's call is answered with is read by the sub-agent alone.
    """
    known = CARRYING.get(agent) or _OF_THE_FAMILY | CARRYING["gemini"]
    return payload.get("hook_event_name") in known and not payload.get("agent_id")


def answer_of(payload: Mapping[str, Any], context: str, agent: str = "") -> bytes:
    """What to print so that the agent takes ``context`` in."""
    if agent == "kimi":
        return context.encode("utf-8", "replace") + b"\n"
    output = {"hookEventName": payload["hook_event_name"], "additionalContext": context}
    return json.dumps({"hookSpecificOutput": output}).encode() + b"\n"

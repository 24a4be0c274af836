"""Hooks: what an agent program tells of itself, in the JSON that Claude Code's hooks, and others of that shape, write."""

from .base import Record


class HookEvent(Record, frozen=True, kw_only=True):
    """One call of a hook. Unknown fields are passed over: agents add some with every version."""

    hook_event_name: str
    session_id: str = ""
    tool_name: str = ""
    tool_use_id: str = ""
    notification_type: str = ""
    message: str = ""

"""Hearing: which calls of hooks count — each once, and none of another session that runs within the recipient's own."""

import threading
import time
from collections.abc import Callable

from ...contracts import wire
from ...contracts.hooks import HookEvent

REPEAT_WITHIN = 2.0
"""Seconds in which the same payload again is the same call: a hook that is registered twice runs twice, at the same time."""

_BEGINS_TURN = frozenset({"UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"})
_ENDS_TURN = frozenset({"Stop", "StopFailure", "SessionEnd"})
_BETWEEN_TURNS = _ENDS_TURN | {"UserPromptSubmit", "SessionStart"}


class Hearing:
    """One recipient's. Called from several threads."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """``now``: seconds that never go back."""
        self._now = now
        self._lock = threading.Lock()
        self._recent: dict[str, float] = {}
        self._session = ""
        self._working = False

    def counts(self, call: wire.Hook) -> bool:
        """True if this call is news of the recipient itself."""
        with self._lock:
            if self._is_repeat(call.digest, call.event):
                return False
            if self._is_nested(call.event):
                return False
            self._follow(call.event)
            return True

    def _is_repeat(self, digest: str, event: HookEvent) -> bool:
        now = self._now()
        self._recent = {known: at for known, at in self._recent.items() if now - at < REPEAT_WITHIN}
        if not digest:
            return False
        if digest in self._recent:
            return True
        if event.hook_event_name in _BETWEEN_TURNS:
            # What is said word for word again in the next turn is new.
            self._recent.clear()
        self._recent[digest] = now
        return False

    def _is_nested(self, event: HookEvent) -> bool:
        """An agent that works may start another one, which inherits where to call; its turns and dialogs are not ours."""
        return self._working and bool(event.session_id) and event.session_id != self._session

    def _follow(self, event: HookEvent) -> None:
        if event.hook_event_name in _ENDS_TURN or event.notification_type == "idle_prompt":
            self._working = False
        elif event.hook_event_name in _BEGINS_TURN and event.session_id:
            self._working = True
        self._session = event.session_id or self._session

"""Waiting: from an agent's hooks to what it is doing — in a turn, in a tool call, or waiting on a human's decision.

Source: the rules of the notice gate, "Who is waiting". Permission waits and question waits are separate facts.
"""

from collections.abc import Iterator
from typing import Final

from ..contracts.hooks import HookEvent
from ..contracts.signals import LaneFact, ToolClosed, ToolOpened, TurnEnded, TurnStarted, WaitEnded, WaitStarted
from ..contracts.waits import WaitState

QUESTION_TOOLS: Final = frozenset({"AskUserQuestion", "ExitPlanMode"})
ASKING: Final = frozenset({"permission_prompt", "elicitation_dialog", "elicitation_url_dialog", "agent_needs_input"})
"""Types of a ``Notification`` that say: a human has to decide."""
IDLE: Final = frozenset({"idle_prompt"})
OTHER: Final = frozenset({"auth_success", "agent_completed", "elicitation_complete", "elicitation_response"})
"""Types that say neither: something has happened, and the agent is as it was."""
ASKING_WORDS: Final = ("permission", "approve", "confirm", "needs your")
"""Only read where the notification has no type that is known."""
IDLE_WORDS: Final = ("waiting for your input",)
"""Only read where it has no type at all: of a type that is not known nobody can say that the agent is free."""

_ASKS = frozenset({"PermissionRequest", "Elicitation"})
_ANSWERS_PERMISSION = frozenset(
    {
        "PostToolUse", "PostToolUseFailure", "PermissionDenied", "ElicitationResult", "UserPromptSubmit", "Stop",
        "StopFailure", "SessionStart", "SessionEnd", "PreCompact",
    }
)  # fmt: skip
_ANSWERS_QUESTION = frozenset({"UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"})
_PROVES_TURN = frozenset(
    {"UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop"}
)
_ENDS_TURN = frozenset({"Stop", "StopFailure", "SessionEnd"})
_TOOL_OVER = frozenset({"PostToolUse", "PostToolUseFailure", "PermissionDenied"})
_TOOLS_OVER = frozenset({"Stop", "StopFailure", "SessionStart", "SessionEnd", "UserPromptSubmit"})


class WaitTracker:
    """One recipient. Told hook events, it answers with the facts that changed; unknown events change nothing."""

    def __init__(self, lane: str) -> None:
        self._lane = lane
        self._turn = False
        self._permission = False
        self._questions: dict[str, str] = {}
        """Question tools that are open: call → tool, oldest first. Each is among the open calls too."""
        self._dismissed = False
        """The last dialog was closed without an answer, as far as the terminal could see."""
        self._tools: set[str] = set()

    @property
    def waiting(self) -> bool:
        """True while a human has to decide something."""
        return self._permission or bool(self._questions)

    def observe(self, event: HookEvent) -> list[LaneFact]:
        """Take in one hook event."""
        waited, worked, in_tool = self.waiting, self._turn, bool(self._tools)
        self._follow_turn(event)
        self._follow_questions(event)
        self._follow_tools(event)
        self._follow_permission(event)
        return list(self._changes(waited, worked, in_tool))

    def dismiss(self) -> None:
        """A person closed the dialog with Esc: agents send nothing then, so the next idle notification ends the wait."""
        self._dismissed = self.waiting

    def forget(self) -> list[LaneFact]:
        """The session is gone: nobody waits any more."""
        return self.resume(WaitState())

    def state(self) -> WaitState:
        """All that is known, to be kept over a restart."""
        return WaitState(
            turn=self._turn,
            permission=self._permission,
            question=next(reversed(self._questions.values()), ""),
            questions=tuple(self._questions.items()),
            dismissed=self._dismissed,
            tools=tuple(sorted(self._tools)),
        )

    def resume(self, state: WaitState) -> list[LaneFact]:
        """Go on from what was known: whoever waited still waits, until evidence says otherwise. The facts that changed."""
        waited, worked, in_tool = self.waiting, self._turn, bool(self._tools)
        self._turn, self._permission, self._dismissed = state.turn, state.permission, state.dismissed
        self._questions = dict(state.questions or (((state.question, state.question),) if state.question else ()))
        self._tools = {*state.tools, *self._questions}
        return list(self._changes(waited, worked, in_tool))

    def _follow_turn(self, event: HookEvent) -> None:
        if event.hook_event_name in _PROVES_TURN:
            self._turn = True
        elif event.hook_event_name in _ENDS_TURN or _is_idle(event):
            self._turn = False

    def _follow_questions(self, event: HookEvent) -> None:
        if event.hook_event_name == "PreToolUse" and event.tool_name in QUESTION_TOOLS:
            self._questions[_call_of(event)], self._dismissed = event.tool_name, False
        elif event.hook_event_name in ("PostToolUse", "PostToolUseFailure"):
            own = self._own_question(event)
            if self._questions.pop(own, None):
                self._tools.discard(own)
        # The idle notification also fires for a menu left open in silence: it ends the wait only if that is known to be gone.
        elif event.hook_event_name in _ANSWERS_QUESTION or (_is_idle(event) and self._dismissed):
            self._questions.clear()

    def _own_question(self, event: HookEvent) -> str:
        """The open call that this is the end of; where only one of the two was named, the oldest that it can be."""
        if event.tool_use_id in self._questions or event.tool_name not in QUESTION_TOOLS:
            return event.tool_use_id
        return next((call for call, tool in self._questions.items() if tool == event.tool_name and _may_be(call, event)), "")

    def _follow_tools(self, event: HookEvent) -> None:
        """While a call is open a dialog may be, whether or not a hook says so (some say so late, some never)."""
        call = _call_of(event)
        if event.hook_event_name == "PreToolUse" and call:
            self._tools.add(call)
        elif event.hook_event_name in _TOOL_OVER:
            self._tools.discard(call)
        # It is silent about a dialog that it has not told of, so an idle notification alone is no proof that a call is over.
        elif event.hook_event_name in _TOOLS_OVER or (_is_idle(event) and self._dismissed):
            self._tools.clear()
        self._tools |= self._questions.keys()

    def _follow_permission(self, event: HookEvent) -> None:
        if event.hook_event_name in _ASKS or _is_asking(event):
            self._permission, self._dismissed = True, False
        elif event.hook_event_name in _ANSWERS_PERMISSION or _is_idle(event) or _is_other_tool(event):
            self._permission = False
        self._dismissed = self._dismissed and self.waiting

    def _changes(self, waited: bool, worked: bool, in_tool: bool) -> Iterator[LaneFact]:
        if self._turn != worked:
            yield TurnStarted(lane=self._lane) if self._turn else TurnEnded(lane=self._lane)
        if bool(self._tools) != in_tool:
            yield ToolOpened(lane=self._lane) if self._tools else ToolClosed(lane=self._lane)
        if self.waiting != waited:
            yield WaitStarted(lane=self._lane) if self.waiting else WaitEnded(lane=self._lane)


def _call_of(event: HookEvent) -> str:
    return event.tool_use_id or event.tool_name


def _may_be(call: str, event: HookEvent) -> bool:
    """True if a call began under that name, or ends without an id: nothing then says that it is another one."""
    return not event.tool_use_id or call == event.tool_name


def _is_asking(event: HookEvent) -> bool:
    if event.hook_event_name != "Notification" or event.notification_type in IDLE | OTHER:
        return False
    return event.notification_type in ASKING or _says(event, ASKING_WORDS)


def _is_idle(event: HookEvent) -> bool:
    if event.hook_event_name != "Notification" or _is_asking(event):
        return False
    return event.notification_type in IDLE or (not event.notification_type and _says(event, IDLE_WORDS))


def _says(event: HookEvent, words: tuple[str, ...]) -> bool:
    said = event.message.lower()
    return any(word in said for word in words)


def _is_other_tool(event: HookEvent) -> bool:
    """A named tool that is no question: had a permission been refused, the agent would not have gone on to it."""
    return event.hook_event_name == "PreToolUse" and bool(event.tool_name) and event.tool_name not in QUESTION_TOOLS

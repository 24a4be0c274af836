"""Waiting: what an agent's hooks say of it, event by event."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.hooks import HookEvent
from tocsin.contracts.signals import ToolClosed, ToolOpened, TurnEnded, TurnStarted, WaitEnded, WaitStarted
from tocsin.contracts.waits import WaitState
from tocsin.pipeline.waiting import WaitTracker


def hook(name: str, **fields: str) -> HookEvent:
    return HookEvent(hook_event_name=name, **fields)


def tracker(*events: HookEvent) -> WaitTracker:
    made = WaitTracker("dev")
    for event in events:
        made.observe(event)
    return made


ASK = hook("PreToolUse", tool_name="AskUserQuestion")
PERMISSION = hook("PermissionRequest", tool_name="Bash")
IDLE = hook("Notification", notification_type="idle_prompt")


@pytest.mark.parametrize(
    "event",
    [
        PERMISSION,
        hook("Elicitation"),
        hook("Notification", notification_type="permission_prompt"),
        hook("Notification", notification_type="elicitation_dialog"),
        hook("Notification", notification_type="elicitation_url_dialog"),
        hook("Notification", notification_type="agent_needs_input"),
        hook("Notification", message="Claude needs your permission to use Bash"),
        hook("Notification", message="Please APPROVE the plan"),
        hook("Notification", message="confirm to go on"),
        hook("Notification", message="Codex needs your attention"),
        ASK,
        hook("PreToolUse", tool_name="ExitPlanMode"),
    ],
)
def test_it_waits_on_a_human_after(event: HookEvent) -> None:
    assert tracker(event).waiting


@pytest.mark.parametrize(
    "event",
    [
        IDLE,
        hook("Notification", message="Claude is waiting for your input"),
        hook("Notification", notification_type="idle_prompt", message="needs your permission"),
        hook("PreToolUse", tool_name="Bash"),
        hook("SomethingNew", message="permission"),
        hook("Stop"),
    ],
)
def test_it_does_not_wait_after(event: HookEvent) -> None:
    assert not tracker(event).waiting


@pytest.mark.parametrize(
    "name",
    [
        "PostToolUse", "PostToolUseFailure", "PermissionDenied", "ElicitationResult", "UserPromptSubmit", "Stop",
        "StopFailure", "SessionStart", "SessionEnd", "PreCompact",
    ],
)  # fmt: skip
def test_a_permission_wait_ends_with(name: str) -> None:
    assert not tracker(PERMISSION, hook(name)).waiting


def test_a_permission_wait_ends_when_another_named_tool_begins() -> None:
    assert not tracker(PERMISSION, hook("PreToolUse", tool_name="Read")).waiting
    assert tracker(PERMISSION, hook("PreToolUse")).waiting  # without a name nothing is known


def test_a_permission_wait_outlasts_the_end_of_a_sub_agent() -> None:
    assert tracker(PERMISSION, hook("SubagentStop")).waiting


@pytest.mark.parametrize("event", [hook("PostToolUse", tool_name="AskUserQuestion"), *map(hook, ("UserPromptSubmit", "Stop"))])
def test_a_question_wait_ends_with_its_own_tool_or_a_new_turn(event: HookEvent) -> None:
    assert not tracker(ASK, event).waiting


@pytest.mark.parametrize(
    "event", [hook("PostToolUse", tool_name="Bash"), hook("SubagentStop"), hook("PreToolUse", tool_name="Read"), IDLE]
)
def test_a_question_wait_outlasts(event: HookEvent) -> None:
    assert tracker(ASK, event).waiting


def test_a_dismissed_question_ends_with_the_next_idle_notification() -> None:
    dismissed = tracker(ASK)
    dismissed.dismiss()
    assert dismissed.waiting
    assert WaitEnded(lane="dev") in dismissed.observe(IDLE)


def test_a_question_and_a_permission_are_separate_waits() -> None:
    both = tracker(ASK, PERMISSION)
    both.observe(hook("PostToolUse", tool_name="Bash"))
    assert both.waiting
    both.observe(hook("PostToolUse", tool_name="AskUserQuestion"))
    assert not both.waiting


def test_what_changed_is_told_once() -> None:
    made = WaitTracker("dev")
    call = hook("PreToolUse", tool_name="Bash", tool_use_id="1")
    assert made.observe(call) == [TurnStarted(lane="dev"), ToolOpened(lane="dev")]
    assert made.observe(call) == []
    assert made.observe(PERMISSION) == [WaitStarted(lane="dev")]
    assert made.observe(hook("PostToolUse", tool_name="Bash", tool_use_id="1")) == [
        ToolClosed(lane="dev"),
        WaitEnded(lane="dev"),
    ]
    assert made.observe(hook("Stop")) == [TurnEnded(lane="dev")]


@pytest.mark.parametrize("name", ["SessionStart", "Notification"])
def test_it_proves_no_turn(name: str) -> None:
    assert TurnStarted(lane="dev") not in WaitTracker("dev").observe(hook(name))


def test_one_of_two_tool_calls_leaves_the_other_open() -> None:
    made = tracker(hook("PreToolUse", tool_name="Bash", tool_use_id="1"), hook("PreToolUse", tool_name="Bash", tool_use_id="2"))
    assert made.observe(hook("PostToolUse", tool_name="Bash", tool_use_id="1")) == []
    assert made.observe(hook("PostToolUse", tool_name="Bash", tool_use_id="2")) == [ToolClosed(lane="dev")]


NAMES = st.sampled_from(
    [
        "PreToolUse",
        "PostToolUse",
        "PermissionRequest",
        "Notification",
        "Stop",
        "UserPromptSubmit",
        "SubagentStop",
        "SessionEnd",
        "New",
    ]
)
EVENTS = st.builds(
    HookEvent,
    hook_event_name=NAMES,
    tool_name=st.sampled_from(["", "Bash", "AskUserQuestion", "ExitPlanMode"]),
    tool_use_id=st.sampled_from(["", "1", "2"]),
    notification_type=st.sampled_from(["", "idle_prompt", "permission_prompt", "other"]),
    message=st.sampled_from(["", "needs your permission", "waiting for your input"]),
)


@given(st.lists(EVENTS, max_size=40))
def test_whatever_came_the_end_of_the_session_ends_every_wait(events: list[HookEvent]) -> None:
    made = tracker(*events)
    made.observe(hook("SessionEnd"))
    assert not made.waiting
    assert made.forget() == []


# Over a restart


@given(st.lists(EVENTS, max_size=40), st.lists(EVENTS, max_size=20), st.booleans())
def test_a_tracker_that_goes_on_from_a_kept_state_answers_alike(
    before: list[HookEvent], after: list[HookEvent], esc: bool
) -> None:
    made, twin = tracker(*before), WaitTracker("dev")
    if esc:
        made.dismiss()
    twin.resume(msgspec.json.decode(msgspec.json.encode(made.state()), type=WaitState))
    assert twin.state() == made.state()
    assert [twin.observe(event) for event in after] == [made.observe(event) for event in after]


def test_whoever_waited_before_a_restart_waits_after_it_until_evidence_says_otherwise() -> None:
    again = WaitTracker("dev")
    assert again.resume(tracker(ASK, PERMISSION).state()) == [
        TurnStarted(lane="dev"), ToolOpened(lane="dev"), WaitStarted(lane="dev"),
    ]  # fmt: skip
    assert again.observe(hook("SubagentStop")) == []
    assert again.observe(hook("PostToolUse", tool_name="Bash")) == []
    assert again.observe(hook("PostToolUse", tool_name="AskUserQuestion"))[-1] == WaitEnded(lane="dev")


def test_the_state_says_all_that_is_known() -> None:
    made = tracker(hook("PreToolUse", tool_name="Bash", tool_use_id="2"), ASK, PERMISSION)
    made.dismiss()
    assert made.state() == WaitState(
        turn=True,
        permission=True,
        question="AskUserQuestion",
        questions=(("AskUserQuestion", "AskUserQuestion"),),
        dismissed=True,
        tools=("2", "AskUserQuestion"),
    )


def test_going_on_from_nothing_is_no_news() -> None:
    assert WaitTracker("dev").resume(WaitState()) == []
    assert tracker(PERMISSION).resume(WaitState()) == [WaitEnded(lane="dev")]


# Clause by clause


@pytest.mark.parametrize(
    ("notification_type", "message", "waits"),
    [
        ("permission_prompt", "all is well", True),
        ("idle_prompt", "please approve", False),
        ("something_else", "please confirm", True),
        ("something_else", "done", False),
        ("", "", False),
    ],
)
def test_a_known_type_wins_over_the_text(notification_type: str, message: str, waits: bool) -> None:
    assert tracker(hook("Notification", notification_type=notification_type, message=message)).waiting is waits


@pytest.mark.parametrize("end", ["Stop", "StopFailure", "SessionEnd"])
@pytest.mark.parametrize(
    "begin", ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop"]
)
def test_a_turn_is_proved_and_ended_by(begin: str, end: str) -> None:
    made = WaitTracker("dev")
    assert TurnStarted(lane="dev") in made.observe(hook(begin))
    assert TurnEnded(lane="dev") in made.observe(hook(end))


def test_forgetting_ends_both_waits() -> None:
    assert tracker(ASK, PERMISSION).forget()[-1] == WaitEnded(lane="dev")


@pytest.mark.parametrize("name", ["SessionStart", "SessionEnd", "UserPromptSubmit", "Stop"])
def test_a_question_ends_with(name: str) -> None:
    assert not tracker(ASK, hook(name)).waiting


@pytest.mark.parametrize("name", ["StopFailure", "PreCompact", "PermissionDenied", "ElicitationResult", "SubagentStart"])
def test_a_question_outlasts_what_only_answers_a_permission(name: str) -> None:
    assert tracker(ASK, hook(name)).waiting


def test_a_question_ends_when_its_own_tool_failed() -> None:
    assert not tracker(ASK, hook("PostToolUseFailure", tool_name="AskUserQuestion")).waiting
    assert tracker(ASK, hook("PostToolUseFailure", tool_name="Bash")).waiting


def test_an_idle_notification_ends_a_permission_wait() -> None:
    assert not tracker(PERMISSION, IDLE).waiting


def test_unknown_events_change_nothing() -> None:
    made = tracker(ASK, PERMISSION)
    before = made.state()
    for name in ("Status", "CostSample", "PostCompact", "Unknown", ""):
        assert made.observe(hook(name, tool_name="Bash", message="permission")) == []
    assert made.state() == before


def test_the_end_of_a_call_without_a_name_closes_no_other_call() -> None:
    made = tracker(hook("PreToolUse", tool_name="Bash", tool_use_id="1"), hook("PreToolUse", tool_name="Read", tool_use_id="2"))
    assert made.observe(hook("PostToolUse", tool_use_id="1")) == []
    assert made.state().tools == ("2",)


# Notifications that are about something else


OTHERS = [
    hook("Notification", notification_type="auth_success"),
    hook("Notification", notification_type="auth_success", message="Login confirmed"),
    hook("Notification", notification_type="agent_completed", message="it needs your review"),
    hook("Notification", notification_type="elicitation_complete"),
    hook("Notification", notification_type="of_a_later_version", message="Claude is waiting for your input"),
    hook("Notification", message="the build is done"),
    hook("Notification"),
]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize(
    "before",
    [
        [],
        [hook("UserPromptSubmit")],
        [hook("UserPromptSubmit"), hook("PreToolUse", tool_name="Bash", tool_use_id="1")],
        [hook("UserPromptSubmit"), PERMISSION],
        [hook("UserPromptSubmit"), ASK],
    ],
)
def test_a_notification_about_something_else_changes_nothing(before: list[HookEvent], other: HookEvent) -> None:
    made = tracker(*before)
    state = made.state()
    assert made.observe(other) == []
    assert made.state() == state


@pytest.mark.parametrize("idle", [IDLE, hook("Notification", message="Claude is waiting for your input")])
def test_an_idle_notification_ends_the_turn_and_no_call_whose_dialog_may_be_open(idle: HookEvent) -> None:
    assert tracker(hook("UserPromptSubmit")).observe(idle) == [TurnEnded(lane="dev")]
    made = tracker(hook("PreToolUse", tool_name="Bash", tool_use_id="1"))
    assert ToolClosed(lane="dev") not in made.observe(idle)
    assert made.state().tools == ("1",)
    assert ToolClosed(lane="dev") in made.observe(hook("Stop"))


def test_after_a_permission_dialog_was_closed_with_esc_an_idle_notification_ends_its_call_too() -> None:
    made = tracker(hook("PreToolUse", tool_name="Bash", tool_use_id="1"), PERMISSION)
    made.dismiss()
    assert made.observe(IDLE) == [TurnEnded(lane="dev"), ToolClosed(lane="dev"), WaitEnded(lane="dev")]


@pytest.mark.parametrize("asked", [PERMISSION, hook("Notification", notification_type="permission_prompt")])
def test_that_an_earlier_dialog_was_closed_says_nothing_about_the_next_one(asked: HookEvent) -> None:
    made = tracker(hook("PreToolUse", tool_name="Bash", tool_use_id="1"), PERMISSION)
    made.dismiss()
    made.observe(asked)
    assert ToolClosed(lane="dev") not in made.observe(IDLE)


def test_with_no_dialog_to_close_nothing_is_dismissed() -> None:
    made = tracker(hook("PreToolUse", tool_name="Bash", tool_use_id="1"))
    made.dismiss()
    made.observe(PERMISSION)
    assert made.state().dismissed is False


# Several calls, several questions


def question(call: str, tool: str = "AskUserQuestion", event: str = "PreToolUse") -> HookEvent:
    return hook(event, tool_name=tool, tool_use_id=call)


def test_the_end_of_a_question_closes_its_own_call_and_no_other() -> None:
    made = tracker(hook("PreToolUse", tool_name="Bash", tool_use_id="1"), question("2"))
    assert made.observe(question("2", event="PostToolUse")) == [WaitEnded(lane="dev")]
    assert made.state().tools == ("1",)
    assert made.observe(hook("PostToolUse", tool_name="Bash", tool_use_id="1")) == [ToolClosed(lane="dev")]


@pytest.mark.parametrize("second", ["AskUserQuestion", "ExitPlanMode"])
@pytest.mark.parametrize("ended", ["PostToolUse", "PostToolUseFailure"])
def test_of_two_questions_the_end_of_one_leaves_the_other_also_after_a_restart(second: str, ended: str) -> None:
    made = tracker(question("1"), question("2", second))
    again = WaitTracker("dev")
    again.resume(msgspec.structs.replace(made.state(), turn=False, tools=()))
    for one in (made, again):
        assert WaitEnded(lane="dev") not in one.observe(question("1", event=ended))
        assert (one.waiting, one.state().question, one.state().tools) == (True, second, ("2",))
        assert one.observe(question("2", second, ended)) == [ToolClosed(lane="dev"), WaitEnded(lane="dev")]


def test_a_question_ends_also_where_only_one_of_its_two_events_names_the_call() -> None:
    for began, ended in (("1", ""), ("", "1")):
        made = tracker(question(began))
        assert made.observe(question(ended, event="PostToolUse")) == [ToolClosed(lane="dev"), WaitEnded(lane="dev")]


def test_a_question_kept_by_an_earlier_version_is_still_open_and_so_is_its_call() -> None:
    again = WaitTracker("dev")
    assert again.resume(WaitState(question="ExitPlanMode")) == [ToolOpened(lane="dev"), WaitStarted(lane="dev")]
    assert again.observe(question("7", "ExitPlanMode", "PostToolUse"))[-1] == WaitEnded(lane="dev")


@given(st.lists(EVENTS, max_size=40))
def test_an_open_question_is_an_open_call(events: list[HookEvent]) -> None:
    state = tracker(*events).state()
    assert {call for call, _ in state.questions} <= set(state.tools)
    assert state.question == (state.questions[-1][1] if state.questions else "")

"""Field cases F01, F03, F04, F05, F07 and F12: what an agent's hooks say decides when it is told, and how."""

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from tocsin.actors.tree import Tree
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.errors import TocsinError
from tocsin.contracts.events import Event
from tocsin.contracts.hooks import HookEvent
from tocsin.contracts.lanes import LaneSpec
from tocsin.contracts.signals import Output
from tocsin.edges.sinks.agent import AgentSink
from tocsin.edges.sinks.hook import HookSink
from tocsin.pipeline.roster import Settings
from tocsin.pipeline.waiting import WaitTracker

SECOND = 1_000
START = 1_700_000_000_000


class Clock:
    at = START

    def now(self) -> int:
        return self.at


class Terminal:
    """A lane that types, told hook events, stepped by hand."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.told: list[tuple[float, Delivery]] = []
        self.tree = Tree(Settings(), self.clock, courier=self)
        self.tracker = WaitTracker("dev")
        self.tree.open_lane(LaneSpec(name="dev", typing=True), self)

    def put(self, delivery: Delivery) -> Receipt:
        self.told.append(((self.clock.at - START) / SECOND, delivery))
        return Receipt(proof=Proof.OFFERED)

    def carry(self, *_: object) -> None:
        raise AssertionError("a shelf needs no courier")

    def at(self, seconds: float) -> "Terminal":
        """Let time pass, stopping wherever somebody wants to be woken."""
        until = START + round(seconds * SECOND)
        self.tree.dispatcher.run_until_idle()
        while (due := self.tree.dispatcher.next_due()) is not None and due <= until:
            self.clock.at = max(self.clock.at, due)
            self.tree.dispatcher.run_until_idle()
        self.clock.at = until
        return self

    def hook(self, name: str, **fields: str) -> None:
        self.tree.feed(self.tracker.observe(HookEvent(hook_event_name=name, **fields)))
        self.tree.dispatcher.run_until_idle()

    def feed(self, *events: Event) -> None:
        self.tree.feed(events)
        self.tree.dispatcher.run_until_idle()

    def texts(self) -> Sequence[str]:
        return [entry.text for _, delivery in self.told for entry in delivery.entries]

    def why(self) -> str:
        return self.tree.status().lanes[0].waits_for


ERROR = Event(text="TypeError: x is undefined", severity="error", scope="web")
WORDS = Event(text="the cart page first", traffic="user", source="user_action")


def test_f03_a_question_closed_with_esc_ends_with_the_idle_notice() -> None:
    terminal = Terminal()
    terminal.hook("UserPromptSubmit")
    terminal.hook("PreToolUse", tool_name="AskUserQuestion")
    terminal.feed(WORDS)
    terminal.tracker.dismiss()  # the wrapped terminal saw the Esc; the agent itself sends nothing
    terminal.at(60)
    assert terminal.told == []
    terminal.hook("Notification", message="Claude is waiting for your input", notification_type="idle_prompt")
    assert terminal.texts() == ["the cart page first"]
    assert terminal.told[0][0] == 60


def test_f03_without_any_sign_of_esc_a_menu_left_open_is_never_typed_into() -> None:
    terminal = Terminal()
    terminal.hook("PreToolUse", tool_name="AskUserQuestion")
    terminal.feed(WORDS)
    terminal.at(60)
    terminal.hook("Notification", notification_type="idle_prompt")
    terminal.at(3 * 3_600)
    assert terminal.told == []
    assert terminal.why() == "tool_call_open"


def test_f04_an_idle_prompt_is_no_wait() -> None:
    terminal = Terminal()
    terminal.hook("UserPromptSubmit")
    terminal.hook("Stop")
    terminal.hook("Notification", message="Claude is waiting for your input")
    terminal.feed(ERROR)
    terminal.at(1)
    assert terminal.texts() == ["TypeError: x is undefined"]
    assert terminal.told[0][0] == 0.25


def test_f05_nothing_is_typed_while_a_permission_dialog_may_be_open_though_its_hook_comes_late() -> None:
    terminal = Terminal()
    terminal.hook("UserPromptSubmit")
    terminal.hook("PreToolUse", tool_name="Bash", tool_use_id="1")  # the menu is on the screen 0.2 s later
    terminal.at(3).feed(ERROR, WORDS)
    terminal.at(8).hook("Notification", notification_type="permission_prompt")
    terminal.at(600)
    assert terminal.told == []
    terminal.hook("PostToolUse", tool_name="Bash", tool_use_id="1")
    assert terminal.told == []  # the turn goes on
    terminal.hook("Stop")
    assert sorted(terminal.texts()) == ["TypeError: x is undefined", "the cart page first"]


def test_f05_nothing_is_typed_for_hours_if_the_dialogs_hook_never_comes() -> None:
    terminal = Terminal()
    terminal.hook("PreToolUse", tool_name="Bash")
    terminal.at(3).feed(
        ERROR, WORDS, Event(text="w3 loops", traffic="notice", key="steer:looping", urgent=True, source="harness")
    )
    terminal.at(6 * 3_600)
    assert terminal.told == []
    assert terminal.tree.status().lanes[0].depth == 3
    assert terminal.why() == "tool_call_open"


def test_f05_a_notification_about_something_else_opens_no_gate() -> None:
    for before in (
        [("PreToolUse", "Bash")],
        [("PreToolUse", "Bash"), ("PermissionRequest", "Bash")],
        [("UserPromptSubmit", "")],
    ):
        terminal = Terminal()
        terminal.hook("UserPromptSubmit")
        for event, tool in before:
            terminal.hook(event, tool_name=tool)
        terminal.feed(WORDS, Event(text="w3 loops", traffic="notice", key="breaker:steer:looping", source="harness"))
        for kind in ("auth_success", "agent_completed"):
            terminal.hook("Notification", notification_type=kind)
        terminal.at(600)
        assert terminal.told == []
        terminal.hook("Stop")
        assert sorted(terminal.texts()) == ["the cart page first", "w3 loops"]


def test_f12_an_agent_active_for_ten_minutes_loses_nothing_and_is_not_typed_into() -> None:
    terminal = Terminal()
    terminal.hook("UserPromptSubmit")
    terminal.feed(ERROR, WORDS)
    for second in range(600):
        terminal.at(second)
        terminal.feed()
        terminal.tree.feed([Output(lane="dev", size=40)])
    terminal.at(600)
    assert terminal.told == []
    assert terminal.tree.status().lanes[0].depth == 2
    assert terminal.why() == "turn_running"
    terminal.hook("Stop")
    assert sorted(terminal.texts()) == ["TypeError: x is undefined", "the cart page first"]
    assert [delivery.overdue for _, delivery in terminal.told] == [False]


# Handed over: the same agent, whose hooks also take what is due


class Handing(Terminal):
    """An agent whose prompt's hook takes what is offered; it is told by ``AgentSink``, at once."""

    def __init__(self) -> None:
        super().__init__()
        self.hooks = HookSink(patience=0.0)
        self.handed: list[str] = []
        self.wakes: list[float] = []
        sink = AgentSink(self, self.wake, self.hooks)
        self.tree = Tree(Settings(), self.clock, courier=self)
        self.tree.open_lane(LaneSpec(name="dev", typing=True), sink)
        self.hook("SessionStart")

    async def deliver(self, delivery: Delivery) -> Receipt:
        return self.put(delivery)

    def carry(self, sink: AgentSink, delivery: Delivery, done: Callable[[Receipt | TocsinError], None]) -> None:
        try:
            done(anyio.run(sink.deliver, delivery))
        except TocsinError as error:
            done(error)

    async def wake(self, line: str) -> None:
        self.wakes.append((self.clock.at - START) / SECOND)
        self.tree.feed(self.tracker.observe(HookEvent(hook_event_name="UserPromptSubmit")))
        self._take(HookEvent(hook_event_name="UserPromptSubmit"))

    def hook(self, name: str, **fields: str) -> None:
        if name in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
            self._take(HookEvent(hook_event_name=name))
        super().hook(name, **fields)

    def _take(self, event: HookEvent) -> None:
        context, delivery = self.hooks.take(event)
        if context:
            self.handed.append(context)
            self.hooks.handed(delivery)


def test_f03_when_the_question_was_closed_with_esc_the_idle_notice_hands_over_what_was_held() -> None:
    agent = Handing()
    agent.hook("UserPromptSubmit")
    agent.hook("PreToolUse", tool_name="AskUserQuestion")
    agent.feed(WORDS)
    agent.tracker.dismiss()
    agent.at(60)
    assert (agent.wakes, agent.handed) == ([], [])
    agent.hook("Notification", message="Claude is waiting for your input", notification_type="idle_prompt")
    assert (agent.wakes, agent.told) == ([60.0], [])
    assert "the cart page first" in agent.handed[0]


def test_f04_an_agent_at_its_idle_prompt_is_woken() -> None:
    agent = Handing()
    agent.hook("UserPromptSubmit")
    agent.hook("Stop")
    agent.hook("Notification", message="Claude is waiting for your input")
    agent.feed(ERROR)
    agent.at(1)
    assert (agent.wakes, len(agent.handed), agent.told) == ([0.25], 1, [])


def test_f05_not_even_the_line_that_wakes_is_typed_while_a_permission_dialog_may_be_open() -> None:
    agent = Handing()
    agent.hook("UserPromptSubmit")
    agent.hook("PreToolUse", tool_name="Bash", tool_use_id="1")
    agent.at(3).feed(ERROR, WORDS)
    agent.at(600)
    assert (agent.wakes, agent.handed, agent.told) == ([], [], [])
    agent.hook("PostToolUse", tool_name="Bash", tool_use_id="1")
    agent.hook("Stop")
    assert (agent.wakes, len(agent.handed), agent.told) == ([600.0], 1, [])


def test_f07_hooks_win_over_the_screen_whichever_of_them_says_that_it_works() -> None:
    agent = Handing()
    agent.hook("UserPromptSubmit")
    agent.hook("Stop")
    for tenth in range(40):  # a screen that never rests, of an agent that is idle
        agent.at(tenth / 10)
        agent.tree.feed([Output(lane="dev", size=400)])
    agent.feed(ERROR)
    agent.at(5)
    assert len(agent.handed) == 1
    agent.hook("UserPromptSubmit")
    agent.feed(WORDS)
    agent.at(600)  # a screen at rest, of one that thinks
    assert len(agent.handed) == 1
    assert agent.why() == "turn_running"


def test_f12_an_agent_active_for_ten_minutes_is_not_woken_and_then_handed_everything() -> None:
    agent = Handing()
    agent.hook("UserPromptSubmit")
    agent.feed(ERROR, WORDS)
    agent.at(600)
    assert (agent.wakes, agent.handed) == ([], [])
    agent.hook("Stop")
    assert len(agent.wakes) == 1
    assert all(text in "".join(agent.handed) for text in ("TypeError: x is undefined", "the cart page first"))


_serving = runpy.run_path(str(Path(__file__).parents[1] / "edges" / "serving.py"))


def test_f01_a_hook_registered_twice_changes_the_state_once_and_takes_a_block_once() -> None:
    payload = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "hi"}).encode()
    hooks, heard = HookSink(), []
    hooks.hear = lambda event: heard.append(event.hook_event_name)  # type: ignore[method-assign]
    offered = Delivery(id="k-d1", lane="dev", at=START, text="the block", entries=())
    with _serving["short_directory"]() as place, _serving["served"](place, hooks=hooks) as served, hooks.offering(offered):
        environ = {**os.environ, "TOCSIN_SOCKET": str(served.path)}
        argv = [sys.executable, "-m", "tocsin", "hook", "--agent", "claude"]
        calls = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) for _ in range(2)]
        for call in calls:
            call.stdin.write(payload)
        printed = sorted(call.communicate(timeout=30)[0] for call in calls)
    assert printed[0] == b""
    assert json.loads(printed[1])["hookSpecificOutput"]["additionalContext"] == "the block"
    assert heard == ["UserPromptSubmit"]

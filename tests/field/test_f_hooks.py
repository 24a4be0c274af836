"""Field cases F03, F04, F05 and F12: what an agent's hooks say decides when its terminal may be typed into."""

from collections.abc import Sequence

from tocsin.actors.tree import Tree
from tocsin.contracts.deliveries import Delivery, Proof, Receipt
from tocsin.contracts.events import Event
from tocsin.contracts.hooks import HookEvent
from tocsin.contracts.lanes import LaneSpec
from tocsin.contracts.signals import Output
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

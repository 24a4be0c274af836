"""Signals: facts that open and close the gates. They travel the same line as events, so their order is kept."""

from .base import Inbound, Instant


class _Signal(Inbound, frozen=True, kw_only=True, tag_field="signal"):
    at: Instant | None = None
    """When it happened; when it was fed, if absent."""


class ScopeSignal(_Signal, frozen=True, kw_only=True):
    """A fact about one scope (a dev server, a proxy): it drives the outage classifier."""

    scope: str


class ProcessStarted(ScopeSignal, frozen=True, kw_only=True, tag="process_started"):
    """The process behind the scope runs (again)."""


class ProcessExited(ScopeSignal, frozen=True, kw_only=True, tag="process_exited"):
    """The process ended: ``code`` as a shell tells it, ``died_of`` the signal's name if one killed it."""

    code: int = 0
    died_of: str = ""


class RestartRequested(ScopeSignal, frozen=True, kw_only=True, tag="restart_requested"):
    """Somebody restarts it on purpose; an exit soon after this is no crash."""


class RebuildStarted(ScopeSignal, frozen=True, kw_only=True, tag="rebuild_started"):
    """It is rebuilding or reloading."""


class RebuildFinished(ScopeSignal, frozen=True, kw_only=True, tag="rebuild_finished"):
    """A rebuild ended. A good one clears build errors that are still pending and came before it."""

    ok: bool


class TransportFailed(ScopeSignal, frozen=True, kw_only=True, tag="transport_failed"):
    """A connection to it failed: refused, timed out, reset."""


class GoodResponse(ScopeSignal, frozen=True, kw_only=True, tag="good_response"):
    """It answered; what was a transport outage is over."""


class LaneSignal(_Signal, frozen=True, kw_only=True):
    """A fact about one recipient: it drives deferral."""

    lane: str


class TurnStarted(LaneSignal, frozen=True, kw_only=True, tag="turn_started"):
    """The agent works on a turn (from a hook: the best evidence)."""


class TurnEnded(LaneSignal, frozen=True, kw_only=True, tag="turn_ended"):
    """The agent's turn is over."""


class Output(LaneSignal, frozen=True, kw_only=True, tag="output"):
    """The recipient's program wrote ``size`` bytes that count as activity (repaints already discounted)."""

    size: int


class DraftStarted(LaneSignal, frozen=True, kw_only=True, tag="draft_started"):
    """A person has typed a line and not sent it."""


class DraftEnded(LaneSignal, frozen=True, kw_only=True, tag="draft_ended"):
    """The half-typed line was sent or cleared."""


class DialogOpened(LaneSignal, frozen=True, kw_only=True, tag="dialog_opened"):
    """A permission or question dialog may be open: typing now would answer it."""


class DialogClosed(LaneSignal, frozen=True, kw_only=True, tag="dialog_closed"):
    """No dialog is open any more."""


class ScreenTaken(LaneSignal, frozen=True, kw_only=True, tag="screen_taken"):
    """A full-screen program owns the terminal: typing now would be commands to it."""


class ScreenReleased(LaneSignal, frozen=True, kw_only=True, tag="screen_released"):
    """The full-screen program is gone."""


class ToolOpened(LaneSignal, frozen=True, kw_only=True, tag="tool_opened"):
    """The agent began a tool call; until it ends a permission dialog may be on the screen, told or not."""


class ToolClosed(LaneSignal, frozen=True, kw_only=True, tag="tool_closed"):
    """No tool call is open any more."""


class WaitStarted(LaneSignal, frozen=True, kw_only=True, tag="wait_started"):
    """The recipient waits on a human's decision."""


class WaitEnded(LaneSignal, frozen=True, kw_only=True, tag="wait_ended"):
    """It no longer waits on a human."""


class Paused(LaneSignal, frozen=True, kw_only=True, tag="paused"):
    """A person paused the lane; ``user`` and ``return`` traffic still pass."""


class Resumed(LaneSignal, frozen=True, kw_only=True, tag="resumed"):
    """The pause is over."""


class RecipientDied(LaneSignal, frozen=True, kw_only=True, tag="recipient_died"):
    """The recipient is gone for good (its program ended, it was archived)."""


class RecipientRevived(LaneSignal, frozen=True, kw_only=True, tag="recipient_revived"):
    """A recipient of that name is alive (again)."""


class Cleared(LaneSignal, frozen=True, kw_only=True, tag="cleared"):
    """The condition that a harness notice told of is gone: the same notice may be told again."""

    key: str
    """Its signature, ``kind:key``; or the key of an event, and then source and scope are the event's."""
    source: str = "harness"
    scope: str = ""


ScopeFact = (
    ProcessStarted | ProcessExited | RestartRequested | RebuildStarted | RebuildFinished | TransportFailed | GoodResponse
)
LaneFact = (
    TurnStarted
    | TurnEnded
    | Output
    | DraftStarted
    | DraftEnded
    | DialogOpened
    | DialogClosed
    | ScreenTaken
    | ScreenReleased
    | ToolOpened
    | ToolClosed
    | WaitStarted
    | WaitEnded
    | Paused
    | Resumed
    | RecipientDied
    | RecipientRevived
)
Signal = ScopeFact | LaneFact | Cleared

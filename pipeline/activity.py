"""Activity: from turns and output bytes to one question's answer: is this recipient in the middle of something?"""

from enum import StrEnum

import msgspec

from ..contracts.base import Count, Inbound, Instant, Length, Millis
from ..contracts.signals import (
    DialogClosed,
    DialogOpened,
    DraftEnded,
    DraftStarted,
    LaneFact,
    Output,
    Paused,
    RecipientDied,
    RecipientRevived,
    Resumed,
    ScreenReleased,
    ScreenTaken,
    ToolClosed,
    ToolOpened,
    TurnEnded,
    TurnStarted,
    WaitEnded,
    WaitStarted,
)


class Timing(Inbound, frozen=True, kw_only=True):
    """What counts as active, and for how long that may keep news back."""

    active_bytes: Count = 10
    """Output since the last idle moment that makes a recipient active."""
    idle_after: Length = Millis(2_000)
    """Silence that makes it idle again."""
    retries: Count = 5
    """With bytes as the only evidence, deferral lasts at most so many idle periods: a spinner looks active for ever."""
    turn_limit: Length = Millis(1_800_000)
    """With turn signals it lasts until the turn ends, at most this long."""


class Evidence(StrEnum):
    """What makes us believe that the recipient is active."""

    NONE = "idle"
    BYTES = "output"
    TURN = "turn"


class Recipient(msgspec.Struct):
    """All that is known of one recipient's state."""

    timing: Timing
    dead: bool = False
    paused: bool = False
    waiting: bool = False
    dialog: bool = False
    draft: bool = False
    screen: bool = False
    tool: bool = False
    turns: bool = False
    """It has sent turn signals: from then on bytes prove nothing."""
    turn: bool = False
    written: int = 0
    """Bytes since it was last idle."""
    wrote_at: Instant = Instant(0)

    def observe(self, fact: LaneFact, now: Instant) -> None:
        """Take in one fact."""
        match fact:
            case TurnStarted():
                self.turns = self.turn = True
            case TurnEnded():
                self.turns, self.turn, self.written = True, False, 0
            case Output():
                self._wrote(fact.size, now)
            case DraftStarted() | DraftEnded():
                self.draft = isinstance(fact, DraftStarted)
            case DialogOpened() | DialogClosed():
                self.dialog = isinstance(fact, DialogOpened)
            case ScreenTaken() | ScreenReleased():
                self.screen = isinstance(fact, ScreenTaken)
            case ToolOpened() | ToolClosed():
                self.tool = isinstance(fact, ToolOpened)
            case WaitStarted() | WaitEnded():
                self.waiting = isinstance(fact, WaitStarted)
            case Paused() | Resumed():
                self.paused = isinstance(fact, Paused)
            case RecipientDied():
                self.dead = True
            case RecipientRevived():
                self.dead = self.waiting = self.dialog = self.draft = self.screen = self.tool = self.turn = False

    def evidence(self, now: Instant) -> Evidence:
        """The best evidence there is that it is active now."""
        if self.turns:
            return Evidence.TURN if self.turn else Evidence.NONE
        active = self.written >= self.timing.active_bytes and now < self.idle_at()
        return Evidence.BYTES if active else Evidence.NONE

    def word(self, now: Instant) -> str:
        """Its state in one word, the hardest obstacle first."""
        for name in ("dead", "dialog", "draft", "screen", "tool", "waiting", "paused"):
            if getattr(self, name):
                return name
        return str(self.evidence(now))

    def idle_at(self) -> Instant:
        """When silence will have made it idle, if nothing more is written."""
        return Instant(self.wrote_at + self.timing.idle_after)

    def limit(self, evidence: Evidence) -> Millis:
        """How long this evidence may defer an entry."""
        if evidence is Evidence.TURN:
            return self.timing.turn_limit
        return Millis(self.timing.retries * self.timing.idle_after)

    def _wrote(self, size: int, now: Instant) -> None:
        if now >= self.idle_at():
            self.written = 0
        self.written += size
        self.wrote_at = now

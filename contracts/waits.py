"""Waits: what is known of a recipient from its hooks, as it is kept over a restart."""

from .base import Record


class WaitState(Record, frozen=True, kw_only=True):
    """Permission waits and question waits are separate facts; a turn and its open tool calls stand beside them."""

    turn: bool = False
    permission: bool = False
    question: str = ""
    """The question tool that was opened last, of those that are open."""
    questions: tuple[tuple[str, str], ...] = ()
    """Each call of a question tool that is open, with its tool, the oldest first."""
    dismissed: bool = False
    """The last dialog was closed without an answer, as far as the terminal could see."""
    tools: tuple[str, ...] = ()
    """Tool calls that are open."""

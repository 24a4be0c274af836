"""Recipients: who may be told, whether they live, and what runs under their names."""

from typing import Final, Literal

from .base import Instant, Record

Kind = Literal["agent", "inbox", "worker", "person"]
"""``agent`` runs in a terminal or calls in by hooks, ``inbox`` only pulls, ``worker`` is started and ended by a harness."""

Life = Literal["live", "archived"]
"""A recipient whose program has ended is still live: what is durable waits for it. One that is archived is dead."""

COORDINATOR: Final = "god"
"""The name that is never dead, even before anybody is registered."""


class Recipient(Record, frozen=True, kw_only=True):
    """One name in the registry."""

    name: str
    kind: Kind = "agent"
    provider: str = ""
    """The program behind it: ``claude``, ``codex``, ``bash``."""
    life: Life = "live"
    coordinator: bool = False
    """True for the one that bounced mail goes to; it is never dead."""
    registered_at: Instant = Instant(0)
    changed_at: Instant = Instant(0)


class Session(Record, frozen=True, kw_only=True):
    """One run of a recipient's program."""

    id: str
    recipient: str
    pid: int = 0
    command: tuple[str, ...] = ()
    started_at: Instant = Instant(0)
    ended_at: Instant | None = None


class Owner(Record, frozen=True, kw_only=True):
    """The process that delivers to a recipient. No two processes have the same, also after a restart of the machine."""

    token: str
    """Made anew each time a process takes lanes; what is written under an older one is refused."""
    pid: int
    started: str
    """What tells this process from another one that gets the same number: the system's start mark of it."""
    host: str
    socket: str = ""
    """Where it can be told that something waits; empty if nowhere."""

"""Status: what a person sees of the line when they ask why something has not come yet."""

from .base import Instant, Record
from .severity import SeverityName


class LaneStatus(Record, frozen=True, kw_only=True):
    """One recipient's queue."""

    name: str
    depth: int = 0
    """Notices pending."""
    waits_for: str = ""
    """Why the oldest of them waits; empty if nothing is pending."""
    held: int = 0
    """Of those pending, kept for an outage."""
    held_for: str = ""
    """Why the oldest of these is."""
    deferred: int = 0
    """Of those pending, kept for a recipient that is active, or for its budget."""
    deferred_for: str = ""
    """Why the oldest of these is."""
    until: Instant | None = None
    """When the line looks again at the latest; None: when something changes."""
    under_way: str = ""
    """The id of the delivery that the sink is writing."""
    suppressed: dict[SeverityName, int] = {}
    """Occurrences that will not be told, to be mentioned in the next block."""
    recipient: str = "idle"
    """``idle``, or what keeps it: ``output turn dialog draft screen tool paused waiting dead``, the hardest first."""
    delivered: int = 0
    dropped: int = 0


class Tally(Record, frozen=True, kw_only=True):
    """How often one stage gave one verdict for one reason."""

    stage: str
    verdict: str
    reason: str
    count: int


class Status(Record, frozen=True, kw_only=True):
    """The whole line. ``fed = delivered + folded + dropped + pending`` (in notices)."""

    at: Instant
    fed: int
    delivered: int
    folded: int
    dropped: dict[str, int]
    pending: int
    at_the_door: int
    """Fed, and not looked at yet (not part of ``fed``)."""
    lanes: tuple[LaneStatus, ...]
    scopes: dict[str, str]
    """Scope → what it goes through: healthy, rebuild, transport_outage, crashed …"""
    tallies: tuple[Tally, ...]
    untold: dict[str, int]
    """Source → notices from it that ended untold (evicted, shed, dropped …)."""
    dead_letters: int
    restarts: int
    """Stage restarts after faults that no input explained."""
    broken: str = ""
    """Why the line gave up; empty while it works."""
    trouble: str = ""
    """Why the store can't be written at the moment; empty while it can, or if there is none."""

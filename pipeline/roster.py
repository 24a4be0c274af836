"""Roster: the stages in their one order. A new gate is one line here, and everything else follows."""

from typing import Final

from ..contracts.attention_facts import Policy as AttentionPolicy
from ..contracts.base import Count, Inbound
from ..contracts.verdicts import Stage
from .classify import Classify
from .classify import Policy as ClassifyPolicy
from .dedup import Dedup
from .dedup import Policy as DedupPolicy
from .defer import Defer
from .defer import Policy as DeferPolicy
from .fanout import FanOut
from .fanout import Policy as FanOutPolicy
from .fingerprint import Fingerprint
from .fingerprint import Policy as FingerprintPolicy
from .hold import Hold
from .hold import Policy as HoldPolicy
from .record import Policy as RecordPolicy
from .throttle import Policy as ThrottlePolicy
from .throttle import Throttle


class IntakePolicy(Inbound, frozen=True, kw_only=True):
    """How much may wait at the door."""

    limit: Count = 100_000
    """Events; and as many again of the classes that are never shed."""


class StorePolicy(Inbound, frozen=True, kw_only=True):
    """Where what must survive a crash is kept."""

    path: str = ""
    """The database file; ``off`` for none. Empty: ``.tocsin/`` of the project if there is such a directory, else the user's."""


class Settings(Inbound, frozen=True, kw_only=True):
    """Every setting of a line: one section for each stage, in the order of the line."""

    intake: IntakePolicy = IntakePolicy()
    classify: ClassifyPolicy = ClassifyPolicy()
    fingerprint: FingerprintPolicy = FingerprintPolicy()
    dedup: DedupPolicy = DedupPolicy()
    throttle: ThrottlePolicy = ThrottlePolicy()
    hold: HoldPolicy = HoldPolicy()
    defer: DeferPolicy = DeferPolicy()
    fanout: FanOutPolicy = FanOutPolicy()
    record: RecordPolicy = RecordPolicy()
    store: StorePolicy = StorePolicy()
    attention: AttentionPolicy = AttentionPolicy()


StageClass = type[Classify] | type[Fingerprint] | type[Dedup] | type[Throttle] | type[Hold] | type[Defer] | type[FanOut]

ROSTER: Final[dict[Stage, StageClass]] = {
    Stage.CLASSIFY: Classify,
    Stage.FINGERPRINT: Fingerprint,
    Stage.DEDUP: Dedup,
    Stage.THROTTLE: Throttle,
    Stage.HOLD: Hold,
    Stage.DEFER: Defer,
    Stage.FANOUT: FanOut,
}

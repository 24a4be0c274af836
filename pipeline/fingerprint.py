"""Fingerprint: one function says which notices are the same, and everything after it believes it."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import groupby

from ..contracts.base import Inbound, Instant
from ..contracts.events import Event
from ..contracts.notices import Notice
from ..contracts.verdicts import Stage, Verdict
from .canonical import Level
from .identity import fingerprint
from .memo import Memo
from .stage import StageBase
from .step import Step


class Policy(Inbound, frozen=True, kw_only=True):
    """How much of a message counts as noise."""

    level: Level = "standard"


class Reason(StrEnum):
    """What the identity was made of."""

    MESSAGE = "message"
    FRAME = "message_and_frame"
    KEY = "producers_key"


def _key(event: Event) -> str:
    """The producer's own identity; mail and returns are the same when their ids are."""
    return event.key or (event.id if event.traffic in ("mail", "return") else "")


def _kind(notice: Notice) -> tuple[Reason, str, str]:
    event = notice.event
    reason = Reason.KEY if _key(event) else Reason.FRAME if event.frame else Reason.MESSAGE
    return reason, event.source, event.scope


class Fingerprint(StageBase[Policy]):
    """Gives every notice its print: ``sha1(source \\0 scope \\0 canonical message)``, or the producer's own key."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._memo = Memo(policy.level)

    def offer(self, batch: Iterable[Notice], now: Instant, step: Step[Notice]) -> None:
        """Notices in, the same notices with their prints out, in order."""
        for (reason, source, scope), alike in groupby(batch, _kind):
            notices = list(alike)
            printed = [
                Notice(n.serial, n.event, n.lane, n.severity, n.at, fp)
                for n, fp in zip(notices, self._prints(reason, source, scope, notices), strict=True)
            ]
            step.out.extend(printed)
            step.rule(now, Stage.FINGERPRINT, Verdict.PASS, reason, printed)

    def decided(self, consumed: int, step: Step[Notice]) -> int:
        """It works group by group and answers one for one, so what is in ``out`` is what was decided."""
        return len(step.out)

    def print_of(self, source: str, scope: str, key: str) -> str:
        """The print that a notice with this producer's key has."""
        return fingerprint(source, scope, "", self.policy.level, key=key)

    def _prints(self, reason: Reason, source: str, scope: str, notices: list[Notice]) -> list[str]:
        if reason is Reason.MESSAGE:
            return self._memo.prints(source, scope, [notice.event.text for notice in notices])
        level = self.policy.level
        return [fingerprint(source, scope, n.event.text, level, frame=n.event.frame, key=_key(n.event)) for n in notices]

"""Fingerprint: one function says which notices are the same, and everything after it believes it."""

from collections.abc import Iterable
from enum import StrEnum

from ..contracts.base import Inbound, Instant, Level
from ..contracts.events import Event
from ..contracts.notices import Notice
from ..contracts.verdicts import Stage, Verdict
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
    """The producer's own identity; of mail its id above all, of an answer its coordinate or else its id."""
    if event.traffic == "mail":
        return event.id or event.key
    return event.key or (event.id if event.traffic == "return" else "")


class Fingerprint(StageBase[Policy]):
    """Gives every notice its print: ``sha1(source \\0 scope \\0 canonical message)``, or the producer's own key."""

    def __init__(self, policy: Policy) -> None:
        # Its rules are half of what there is to load, and whoever only reads settings has no use for them.
        from .identity import fingerprint
        from .memo import Memo

        super().__init__(policy)
        self._memo = Memo(policy.level)
        self._fingerprint = fingerprint

    def offer(self, batch: Iterable[Notice], now: Instant, step: Step[Notice]) -> None:
        """Notices in, the same notices with their prints out, in order."""
        run: list[Notice] = []
        source, scope = "", ""
        for notice in batch:
            event = notice.event
            if event.frame or event.key or event.traffic != "event":
                self._print_run(run, now, step)
                run = []
                self._print_one(notice, now, step)
                continue
            if run and (event.source != source or event.scope != scope):
                self._print_run(run, now, step)
                run = []
            source, scope = event.source, event.scope
            run.append(notice)
        self._print_run(run, now, step)

    def _print_run(self, run: list[Notice], now: Instant, step: Step[Notice]) -> None:
        """Events that share source and scope and have nothing but their text: many at once."""
        if run:
            event = run[0].event
            prints = self._memo.prints(event.source, event.scope, [notice.event.text for notice in run])
            printed = [Notice(n.serial, n.event, n.lane, n.severity, n.at, fp) for n, fp in zip(run, prints, strict=True)]
            step.out += printed
            step.rule(now, Stage.FINGERPRINT, Verdict.PASS, Reason.MESSAGE, printed)

    def _print_one(self, notice: Notice, now: Instant, step: Step[Notice]) -> None:
        event, key = notice.event, _key(notice.event)
        print_ = self._fingerprint(event.source, event.scope, event.text, self.policy.level, frame=event.frame, key=key)
        printed = Notice(notice.serial, event, notice.lane, notice.severity, notice.at, print_)
        step.out.append(printed)
        reason = Reason.KEY if key else Reason.FRAME if event.frame else Reason.MESSAGE
        step.rule(now, Stage.FINGERPRINT, Verdict.PASS, reason, (printed,))

    def decided(self, consumed: int, step: Step[Notice]) -> int:
        """It works group by group and answers one for one, so what is in ``out`` is what was decided."""
        return len(step.out)

    def print_of(self, source: str, scope: str, key: str) -> str:
        """The print that a notice with this producer's key has."""
        return self._fingerprint(source, scope, "", self.policy.level, key=key)

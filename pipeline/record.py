"""Record: every decision, counted for ever and shown for a while; what ended badly stays until it is looked at."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from operator import attrgetter

import msgspec

from ..contracts.base import Count, Inbound
from ..contracts.notices import Notice, notice_id
from ..contracts.verdicts import DROPS, Decision, Ruling, Stage, Verdict

_source = attrgetter("event.source")
_lane = attrgetter("lane")


class Policy(Inbound, frozen=True, kw_only=True):
    """How much is remembered."""

    decisions: Count = 10_000
    """The last decisions that can be shown. Rulings over many notices are kept whole, so it may be somewhat more."""
    dead_letters: Count = 1_000
    """What could not be told and can be fed again; the oldest goes first."""


_COMMON = (Verdict.PASS, Verdict.FOLD, Verdict.EVICT, Verdict.SHED)


class _Ring:
    """The last rulings with their numbers, so many that they hold at least ``most`` notices."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._notices = 0
        self.numbered: deque[tuple[int, Ruling]] = deque()

    def add(self, number: int, ruling: Ruling) -> None:
        """One more; the oldest go."""
        self.numbered.append((number, ruling))
        self._notices += len(ruling.notices)
        while self.numbered and self._notices - len(self.numbered[0][1].notices) >= self._most:
            self._notices -= len(self.numbered.popleft()[1].notices)


class DeadLetter(msgspec.Struct, frozen=True):
    """A notice that nobody could be told of, and why."""

    decision: Decision
    notice: Notice


class Balance(msgspec.Struct, frozen=True):
    """``fed = delivered + folded + dropped + pending`` holds at every instant that nothing is on its way between stages."""

    fed: int
    delivered: int
    folded: int
    dropped: dict[str, int]
    """Verdict → notices that ended by it."""

    @property
    def pending(self) -> int:
        """What has been fed and has not ended."""
        return self.fed - self.delivered - self.folded - sum(self.dropped.values())


class Record:
    """Takes rulings, which are decisions over many notices, and answers in decisions over one."""

    def __init__(self, policy: Policy, run: str) -> None:
        self._policy, self._run = policy, run
        self._rulings = _Ring(policy.decisions)
        self._rare = _Ring(policy.decisions)
        """Rulings that are more than passing, folding or suppressing: a flood of those must not push these out."""
        self._fed = 0
        self._taken = 0
        self._counts: Counter[tuple[Stage, Verdict, str]] = Counter()
        self._lanes: dict[str, Counter[Verdict]] = {}
        self._untold: Counter[str] = Counter()
        self.dead_letters: deque[DeadLetter] = deque(maxlen=policy.dead_letters)

    def take(self, rulings: Iterable[Ruling]) -> None:
        """Count them, remember them."""
        for ruling in rulings:
            number = len(ruling.notices)
            self._counts[ruling.stage, ruling.verdict, ruling.reason] += number
            if ruling.stage is Stage.CLASSIFY or ruling.verdict is Verdict.SHED:
                self._fed += number
            if ruling.verdict in DROPS:
                self._untold.update(map(str, map(_source, ruling.notices)))
            if ruling.verdict in _COUNTED_BY_LANE:
                self._count_lanes(ruling)
            if ruling.verdict is Verdict.DEAD_LETTER:
                self.dead_letters.extend(DeadLetter(self._decision(ruling, notice), notice) for notice in ruling.notices)
            self._taken += 1
            self._rulings.add(self._taken, ruling)
            if ruling.verdict not in _COMMON:
                self._rare.add(self._taken, ruling)

    def balance(self) -> Balance:
        """Where everything that was fed is."""
        ends: Counter[Verdict] = Counter()
        for (_, verdict, _), number in self._counts.items():
            ends[verdict] += number
        dropped = {str(verdict): ends[verdict] for verdict in DROPS if ends[verdict]}
        return Balance(self._fed, ends[Verdict.DELIVER], ends[Verdict.FOLD], dropped)

    def counts(self) -> dict[tuple[Stage, Verdict, str], int]:
        """Every kind of decision so far, and how often."""
        return dict(self._counts)

    def untold(self) -> dict[str, int]:
        """Source → notices from it that ended untold, so that nobody has to guess what was withheld."""
        return dict(self._untold)

    def lanes(self) -> dict[str, dict[Verdict, int]]:
        """What became of every lane's notices so far."""
        return {name: dict(counts) for name, counts in self._lanes.items()}

    def decisions_after(self, number: int) -> tuple[list[Decision], int]:
        """The decisions of the rulings after the ``number``-th that are still remembered, and the number to ask after next."""
        fresh = [ruling for nth, ruling in self._rulings.numbered if nth > number]
        return [self._decision(ruling, notice) for ruling in fresh for notice in ruling.notices], self._taken

    def decisions(self) -> Iterator[Decision]:
        """The last decisions, oldest first; the rarer ones go back further."""
        both = {**dict(self._rare.numbered), **dict(self._rulings.numbered)}
        for _, ruling in sorted(both.items(), key=lambda numbered: numbered[0]):
            for notice in ruling.notices:
                yield self._decision(ruling, notice)

    def explain(self, what: str) -> list[Decision]:
        """A notice's whole story, by its id, that of its block, or (the first eight or more characters of) a fingerprint."""
        decisions = list(self.decisions())
        ids = {what} | {d.id for d in decisions if d.note.split(" ", 1)[0] == what and d.verdict is Verdict.DELIVER}
        return [d for d in decisions if d.id in ids or (len(what) >= 8 and d.fingerprint.startswith(what))]

    def _count_lanes(self, ruling: Ruling) -> None:
        lanes = Counter(map(_lane, ruling.notices))
        for lane, number in lanes.items():
            self._lanes.setdefault(lane, Counter())[ruling.verdict] += number

    def _decision(self, ruling: Ruling, notice: Notice) -> Decision:
        return Decision(
            at=ruling.at,
            lane=notice.lane,
            id=notice_id(self._run, notice),
            fingerprint=notice.fingerprint,
            stage=ruling.stage,
            verdict=ruling.verdict,
            reason=ruling.reason,
            until=ruling.until,
            note=ruling.note,
        )


_COUNTED_BY_LANE = (Verdict.DELIVER, Verdict.EVICT, Verdict.DROP_CASCADE, Verdict.CLEAR, Verdict.DEAD_LETTER, Verdict.DROP_DEAD)

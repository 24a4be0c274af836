"""Canonical: the words of a message without what changes from one occurrence to the next."""

from collections.abc import Callable
from typing import Final

from ..contracts.base import Level
from .canonical_loose import loosen
from .canonical_strict import collapse, core
from .canonical_trace import Replacement, Trace
from .volatile import mask_standard

__all__ = ["Replacement", "canonical", "core", "explain", "finisher"]


def _loose(text: str) -> str:
    return loosen(mask_standard(text))


_FINISHERS: Final[dict[Level, Callable[[str], str]]] = {"strict": collapse, "standard": mask_standard, "loose": _loose}


def canonical(text: str, level: Level = "standard") -> str:
    """What two occurrences of one message have in common. Empty only if the text has nothing to show."""
    return _FINISHERS[level](core(text))


def finisher(level: Level) -> Callable[[str], str]:
    """The second half of ``canonical``: from a core (see ``core``) to the canonical form. ``KeyError`` for no level."""
    return _FINISHERS[level]


def explain(text: str, level: Level = "standard") -> tuple[Replacement, ...]:
    """What ``canonical`` replaced, in the order in which the rules ran. Empty if the text is its own canonical form."""
    return tuple(_traced(text, level).replacements)


def _traced(text: str, level: Level) -> Trace:
    trace = Trace(text)
    trace.to_core()
    if level == "strict":
        trace.to_strict()
        return trace
    trace.to_standard()
    if level == "loose":
        trace.to_loose()
    return trace

"""Attention ways: how far an answer is on its way, and what stands in it, in words; what is not proved is not claimed."""

from typing import Final

from ..contracts.attention_items import Obstacle, Phase, Return, Route
from .attention_lines import one_line

_OBSTACLES: Final = {
    Obstacle.ARCHIVED: "{actor} is archived",
    Obstacle.OTHER_RUNS: "another session of {actor} runs now, and that one does not",
    Obstacle.SESSION_ENDED: "that session has ended",
    Obstacle.NOT_RUNNING: "that session does not run now",
}
_PROOFS: Final = {
    "recorded": "put where {actor} can read it, not proved read",
    "offered": "typed, not proved read",
    "submitted": "taken by the program of {actor}, not proved read",
    "seen": "seen",
}


def in_words(reason: str, actor: str) -> str:
    """A reason why an answer does not get through."""
    found = {str(one): text for one, text in _OBSTACLES.items()}.get(reason)
    return reason.replace("_", " ") if found is None else found.format(actor=actor)


def way(route: Route | None, obstacle: str = "") -> str:
    """Where an answer goes: ``to dev, only session 7``, and why it can't now."""
    if route is None or route.return_mode == "none":
        return "nowhere"
    actor = one_line(route.actor)
    if route.return_mode == "pinned_session":
        said = f"to {actor}, only session {one_line(route.session_id or '')}"
    else:
        said = f"to {actor}, any session of it; the context is told again"
    return f"{said}; but {in_words(obstacle, actor)}" if obstacle else said


def how_far(row: Return, route: Route | None, proof: str | None) -> str:
    """``processed, generation 1: typed, not proved read``."""
    actor = one_line(route.actor) if route else "who asked"
    said = f"{row.phase}, generation {row.generation}"
    if row.reason:
        said += f" ({row.reason}: {in_words(row.reason, actor)})" if row.reason in list(Obstacle) else f" ({row.reason})"
    known = proof or row.outcome.get("proof")
    if row.phase is Phase.PROCESSED or (row.phase is Phase.FAILED and row.outcome.get("maybe_read")):
        said += f": {_PROOFS.get(str(known), 'how far it came is not known').format(actor=actor)}"
    return said

"""Claims: what a work context says of itself. It proves nothing: what can be checked is, elsewhere."""

from collections.abc import Mapping

from ...contracts.base import Record


class Dispatch(Record, frozen=True, kw_only=True):
    """A program that was started by ``tocsin run``: its environment has the token that only its recipient knows."""

    environ: Mapping[str, str]


class Live(Record, frozen=True, kw_only=True):
    """A session that runs, named exactly. The names select it, and prove nothing: its token does, or the person's key."""

    actor: str
    session: str
    environ: Mapping[str, str] = {}
    """Where its socket is found, and its token."""


class ByHand(Record, frozen=True, kw_only=True):
    """The person's own word for a recipient. A session can only be named if it runs here and is seen."""

    actor: str
    session: str | None = None
    cwd: str = ""
    environ: Mapping[str, str] = {}


Evidence = Dispatch | Live | ByHand


def claimed_actor(evidence: Evidence) -> str:
    """Whose work it says to be: unproved, and only good for telling that it is not."""
    return evidence.environ.get("TOCSIN_RECIPIENT", "") if isinstance(evidence, Dispatch) else evidence.actor

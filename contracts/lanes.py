"""Lanes: who can be told, and through what kind of sink."""

from .base import Record


class LaneSpec(Record, frozen=True, kw_only=True):
    """One recipient's ordered queue."""

    name: str
    typing: bool = False
    """True if its sink types into a terminal: it then never speaks into a dialog, a draft or an answer."""


class Route(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Events without an explicit recipient go to ``to`` if source and scope match (``*`` and ``?`` as in file names)."""

    to: tuple[str, ...]
    source: str = "*"
    scope: str = "*"

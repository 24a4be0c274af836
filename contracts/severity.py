"""Severities in their one order: info < warning < error < critical."""

from enum import IntEnum
from typing import Final, Literal, get_args

SeverityName = Literal["info", "warning", "error", "critical"]


class Severity(IntEnum):
    """How bad it is. An integer, because stages compare and index by it once per event."""

    INFO = 0
    WARNING = 1
    ERROR = 2
    CRITICAL = 3


NAMES: Final[tuple[SeverityName, ...]] = get_args(SeverityName)
"""Severity → the word that JSON and people see."""

LEVELS: Final[dict[str, Severity]] = {name: Severity(rank) for rank, name in enumerate(NAMES)}
"""The word → its rank."""

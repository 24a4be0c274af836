"""Diff: what a hunk of a unified diff shows is text that somebody edits, and no news whatever it says."""

import re
from collections.abc import Sequence
from typing import Final

from ...contracts.base import Millis
from .blocks import Block, Step, Told

_HUNK: Final = re.compile(r"^@@ -\d+(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@")


class Diff(Block):
    """``@@ -11,7 +11,16 @@`` and as many old and new lines as it counts."""

    quiet = Millis(1_000)
    is_news = False

    def begin(self, line: str, before: Sequence[str]) -> None:
        """A count that is not there is 1."""
        del before
        found = _HUNK.match(line)
        old, new = found.group("old", "new") if found else ("0", "0")
        self._old, self._new = int(old or 1), int(new or 1)

    def step(self, line: str) -> Step:
        """Removed lines count as old, added ones as new, the others as both; an empty one may lack its space."""
        mark = line[:1] or " "
        if mark == "\\":  # "No newline at end of file"
            return Step.OURS
        if mark not in " +-" or (self._old <= 0 and self._new <= 0):
            return Step.OVER
        self._old -= mark != "+"
        self._new -= mark != "-"
        return Step.OURS

    def told(self) -> list[Told]:
        """Nothing."""
        return []

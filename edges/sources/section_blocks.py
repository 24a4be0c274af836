"""Sections: outputs that a header, a ruler or the same words on each line hold together, and lines of an access log."""

import re
from collections.abc import Sequence
from typing import Final

from .blocks import FIRST_LINES, Block, Lead, Step, Told

_LITTLE: Final = re.compile(r"^(?:code|errno|syscall|path|dest|command|signal|A complete log|stack)\b|^-?\d+$")
_RACE_MORE: Final = re.compile(
    r"^(?:\s|(?:Previous )?(?:[Aa]tomic )?(?:[Rr]ead|[Ww]rite) (?:at|by)|Goroutine |Mutex |Location |\[failed to restore)"
)


class Run(Block):
    """Lines that all begin with the same words (``npm error``), or what is indented below the first."""

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The pattern's group ``lead`` has the words."""
        del before
        self._words = self.match.groups.get("lead", "")
        self._named = ""
        self._name(line)

    def step(self, line: str) -> Step:
        """Whatever begins alike belongs."""
        if self._words and line.startswith(self._words):
            self._name(line)
            return Step.OURS
        if self._words:
            return Step.OVER
        return Step.OURS if line[:1] in (" ", "\t") and line.strip() and len(self.lines) < FIRST_LINES else Step.OVER

    def told(self) -> list[Told]:
        """The first line that says what is wrong: codes, numbers and paths alone do not."""
        if not self._words:
            return [Told(text=self.title.strip())]
        return [Told(text=f"{self._words} {self._named}".strip(), detail=self.printed)]

    def _name(self, line: str) -> None:
        said = line.removeprefix(self._words).strip()
        if said and not self._named and not _LITTLE.match(said):
            self._named = said


class Race(Block):
    """Go's race detector, to its closing ruler."""

    def step(self, line: str) -> Step:
        """A ruler ends it; what the program itself prints is no part of it."""
        if line.startswith("===="):
            return Step.LAST
        if not line.strip():
            return Step.ASIDE if not self.aside else Step.OVER
        return Step.OURS if _RACE_MORE.match(line) and len(self.lines) < 400 else Step.OVER

    def told(self) -> list[Told]:
        """The first function of the report."""
        function = next((line.strip() for line in self.lines if line.startswith("  ") and "(" in line), "")
        return [Told(text="WARNING: DATA RACE", frame=function.split("(")[0].rsplit("/", 1)[-1])]


class Gradle(Block):
    """``FAILURE: Build failed``: what went wrong, where, and what to try, between blank lines."""

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The reason stands below ``What went wrong``."""
        del line, before
        self._reasons: list[str] = []
        self._reading = False

    def step(self, line: str) -> Step:
        """Headers begin with a star, the rest of a section with ``>`` or white space."""
        if line.startswith(("BUILD FAILED", "Deprecated Gradle", "FAILURE: ")):
            return Step.OVER
        if not line.strip():
            return Step.ASIDE if not self.aside else Step.OVER
        if line.startswith("* "):
            self._reading = line.startswith("* What went wrong")
            return Step.OURS
        if self.aside or len(self.lines) == 1 or len(self.lines) > FIRST_LINES:
            return Step.OVER  # behind a blank line comes the next header
        if self._reading and len(self._reasons) < 3:
            self._reasons.append(line.strip().removeprefix("> "))
        return Step.OURS

    def told(self) -> list[Told]:
        """The reasons, outer to inner."""
        return [Told(text=f"Gradle: {' '.join(self._reasons)}" if self._reasons else self.title, detail=self.printed)]


class Request(Lead):
    """A line of an access log: its client, its duration and its size change every time and are no part of it."""

    def told(self) -> list[Told]:
        """Method, path without query, and status."""
        groups = self.match.groups
        return [
            Told(text=f"{groups['method']} {groups['path'].split('?')[0]} answered {groups['status']}", detail=self.printed)
        ]

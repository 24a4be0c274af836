"""Blocks: lines that belong to one finding are gathered, told once, and given back if they turn out not to belong."""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final

from ...contracts.base import Millis, Record
from ...contracts.severity import SeverityName
from .rules import Match

FIRST_LINES: Final = 60
"""Lines from the beginning of a block that its detail keeps."""
LAST_LINES: Final = 60
"""Lines from the end of a block that its detail keeps."""
WIDEST: Final = 1_000
"""Characters of one line that a detail keeps."""
LOOKED_AT: Final = 2_000
"""Characters of a line that decide whether it belongs to a block."""
_LITTLE: Final = re.compile(r"^(?:code|errno|syscall|path|dest|command|signal|A complete log|stack)\b|^-?\d+$")
RECORD: Final = re.compile(r"^ {1,2}(?:[○✓✔⨯⚠▲◯✗×] |(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) )")
"""Lines of their own that Next.js and others indent, though they belong to nothing above."""
ASIDE_LINES: Final = 24
"""Lines that may wait for the next one to say whether they belong."""


class Step(Enum):
    """What a block says of the next line."""

    OURS = "ours"
    LAST = "last"
    """It belongs, and nothing after it does."""
    ASIDE = "aside"
    """The next line will tell; given back if that one does not belong."""
    OVER = "over"
    """It does not belong; the block is whole."""


class Told(Record, frozen=True, kw_only=True):
    """One event's worth of a block."""

    text: str
    frame: str = ""
    key: str = ""
    detail: str | None = None
    """The block as printed, if None."""
    severity: SeverityName | None = None
    """The rule's, if None."""
    category: str | None = None
    """The rule's, if None."""
    kept_back: bool = False
    """True: told only when the stream ends, and only if nothing else with this key was."""


class Block:
    """The lines of one finding so far. A kind of block says in ``step`` what belongs and in ``told`` what it means."""

    quiet = Millis(300)
    """A block to which nothing was added for so long is whole."""
    takes_lead = False
    """True if a log line just before it is its announcement (``ERROR: Exception in …``) and belongs to it."""

    looks_back = False
    """True if ``begin`` wants the lines before the one that opened it."""

    def __init__(self, match: Match, before: Sequence[str] = ()) -> None:
        self.match: Final = match
        self.title = match.start
        """The line that names the finding."""
        self.lines: list[str] = []
        self.aside: list[str] = []
        self._left_out = 0
        self.lead: tuple[str, ...] = ()
        """Lines before the one that opened it which belong to it as printed."""
        self.of_test = ""
        """The failing test that announced it, if one did."""
        self.add(match.start)
        self.begin(match.start, before)

    def begin(self, line: str, before: Sequence[str]) -> None:
        """Look at the line that opened the block, and at the lines before it."""

    def step(self, line: str) -> Step:
        """Say of the next line whether it belongs. Nothing may change for one that does not."""
        del line
        return Step.OVER

    def told(self) -> list[Told]:
        """What the block means, now that it is whole."""
        return [Told(text=self.match.start)]

    def offer(self, line: str) -> Step:
        """Take the next line if it belongs: ``OVER`` says that it does not, ``LAST`` that the block is whole with it."""
        line = line[:LOOKED_AT]
        step = self.step(line)
        if step is Step.ASIDE and len(self.aside) < ASIDE_LINES:
            self.aside.append(line)
            return step
        if step in (Step.OURS, Step.LAST):
            for waiting in self.aside:
                self.add(waiting)
            self.aside.clear()
            self.add(line)
            return step
        return Step.OVER

    @property
    def is_announcement(self) -> bool:
        """True if it may be no more than the log line before a stack."""
        return False

    def add(self, line: str) -> None:
        """Keep a line for the detail, within the bounds."""
        self.lines.append(line if len(line) <= WIDEST else line[: WIDEST - 1] + "…")
        if len(self.lines) > FIRST_LINES + LAST_LINES:
            del self.lines[FIRST_LINES]
            self._left_out += 1

    @property
    def printed(self) -> str:
        """The block as printed; where it is too long, a line says how many are left out."""
        lines = [*self.lead, *self.lines]
        if self._left_out:
            lines.insert(len(self.lead) + FIRST_LINES, f"… {self._left_out} lines left out …")
        return "\n".join(lines).rstrip()


class Lead(Block):
    """One line and what is indented below it: the block of every rule that names no other kind."""

    @property
    def is_announcement(self) -> bool:
        """A log record of an error, or what its rule calls one, with nothing much below it yet."""
        states_error = self.match.line.level in ("error", "critical")
        return len(self.lines) <= 3 and (states_error or self.match.rule.announces)

    def step(self, line: str) -> Step:
        """Indented lines belong, up to a bound: a log that is indented for other reasons must end somewhere."""
        if not line.strip():
            # A stack may follow its announcement behind one blank line.
            return Step.ASIDE if not self.aside and self.is_announcement else Step.OVER
        if line[0] in " \t" and len(self.lines) < 40 and not RECORD.match(line):
            return Step.OURS
        # asyncio names the task between its announcement and the traceback.
        return Step.OURS if line.startswith("future: <") else Step.OVER


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
        """A ruler ends it."""
        return Step.LAST if line.startswith("====") else Step.OURS

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
            return Step.ASIDE
        if line.startswith("* "):
            self._reading = line.startswith("* What went wrong")
            return Step.OURS
        if self._reading and len(self._reasons) < 3:
            self._reasons.append(line.strip().removeprefix("> "))
        return Step.OURS if line[:1] in (" ", ">", "\t") or self._reading or len(self.lines) > 1 else Step.OVER

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

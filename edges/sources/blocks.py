"""Blocks: lines that belong to one finding are gathered, told once, and given back if they turn out not to belong."""

import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final

from ...contracts.base import Millis, Record
from ...contracts.severity import SeverityName
from .kept import Kept
from .rules import Match

FIRST_LINES: Final = 60
"""Lines from the beginning of a block that its detail keeps."""
LAST_LINES: Final = 60
"""Lines from the end of a block that its detail keeps."""
WIDEST: Final = 1_000
"""Characters of one line that a detail keeps."""
LOOKED_AT: Final = 2_000
"""Characters of a line that decide whether it belongs to a block."""
_NET_LOGGER: Final = re.compile(r"^[\w.`]+\[\d+\]$")
_CPP_WHAT: Final = re.compile(r"^\s+what\(\): +(?P<text>\S.*)$")
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
    GUESS = "guess"
    """It belongs unless it begins a finding of its own: nothing in the line itself says that it does."""
    OVER = "over"
    """It does not belong; the block is whole."""


Begins = Callable[[str, Step], bool]
"""Says of a line that is no more than guessed to belong, or set aside, whether it begins another finding."""


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

    is_news = True
    """False if nothing that is gathered is ever told."""

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
        self.file = ""
        """The file whose tests are told of, if a line named it before."""
        self.fault = ""
        """What reading it raised: it is then told as the plain line that opened it."""
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

    def whole(self) -> list[Told]:
        """What the block means; if that can't be said, the line that opened it, as any finding of one line."""
        with Kept() as kept:
            if not self.fault:
                return self.told()
        fault = self.fault or kept.words
        return [Told(text=self.match.start, detail=f"{self.printed}\n(tocsin could not read more into this: {fault})")]

    def offer(self, line: str, begins: Begins | None = None) -> Step:
        """Take the next line if it belongs: ``OVER`` says that it does not, ``LAST`` that the block is whole with it."""
        line = line[:LOOKED_AT]
        with Kept() as kept:
            return self._take(line, self._settled(line, self.step(line), begins))
        self.fault = kept.words
        return Step.OVER

    def _settled(self, line: str, step: Step, begins: Begins | None) -> Step:
        """What is guessed, or waits, is given up where another finding begins."""
        if step not in (Step.GUESS, Step.ASIDE) or not line.strip():
            return Step.OURS if step is Step.GUESS else step
        if begins is not None and begins(line, step):
            return Step.OVER
        return Step.OURS if step is Step.GUESS else step

    def _take(self, line: str, step: Step) -> Step:
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

    def told(self) -> list[Told]:
        """.NET names the logger, C++ the type of the exception, and both say what is wrong in the next line."""
        below = self.lines[1] if len(self.lines) > 1 else ""
        what = _CPP_WHAT.match(below)
        if what is not None or (below and self.match.line.level and _NET_LOGGER.match(self.match.start)):
            return [Told(text=f"{self.match.start}: {what['text'] if what else below.strip()}", detail=self.printed)]
        return super().told()


def opened(kind: type[Block], match: Match, before: Sequence[str] = ()) -> Block:
    """A block of that kind; one that can't be made costs no more than itself: its line is then told as a plain one."""
    with Kept() as kept:
        return kind(match, before)
    block = Lead(match)
    block.fault = kept.words
    return block

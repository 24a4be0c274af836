"""Gathering: the lines of one stream are sorted into blocks, one open block for each service that prints to the stream."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from ...contracts.base import Instant
from .blocks import Begins, Block, Step, opened
from .js_block import JavaScript
from .kinds import KINDS
from .prefix import service_of, without_time
from .rules import Catalogue, Match
from .telling import Finding, Teller
from .test2json import unwrapped
from .trace import Trace

_BEFORE: Final = 4_096
_LINES_BEFORE: Final = 60
_MOST_OPEN: Final = 64
"""Services of one stream with an open block; one more, and the oldest block is told as it is."""
_VERDICT: Final = re.compile(r"(?: -- |  )Time elapsed: .*$| <<< (?:FAILURE|ERROR)!.*$")


class _Open:
    """A block that may go on, with the times that it needs."""

    __slots__ = ("_stamped", "block", "number", "opened_at", "touched_at", "waiting")

    def __init__(self, block: Block, number: int, now: Instant) -> None:
        self.block = block
        self.number = number
        self.opened_at = now
        self.touched_at = now
        self.waiting: list[str] = []
        self._stamped: bool | None = None

    @property
    def due(self) -> Instant:
        """When it has been quiet for so long that it is whole."""
        return Instant(self.touched_at + self.block.quiet)

    def offer(self, line: str, begins: Begins) -> Step:
        """Offer the line without what its stream puts before each line.

        The second line tells whether there is such a stream: if it bears the service and time that the first did, all do.
        If it does not, a later line that does is a record of its own.
        """
        opened_by = self.block.match.line
        service, rest = service_of(line)
        if service != opened_by.service:
            rest = line
        bare = without_time(rest) if opened_by.timed else rest
        marked = bare != line
        if self._stamped is None and (opened_by.timed or opened_by.service):
            self._stamped = marked
        if marked and not self._stamped:
            return Step.OVER
        step = self.block.offer(bare, begins)
        if step is Step.ASIDE:
            self.waiting.append(line)
        elif step is not Step.OVER:
            self.waiting.clear()
        return step


class Gathering:
    """One stream's open blocks. It is told the time, and gives findings when blocks are whole."""

    def __init__(self, catalogue: Catalogue, teller: Teller, trace: Trace | None) -> None:
        self._catalogue = catalogue
        self._teller = teller
        self._trace = trace
        self._open: dict[str, _Open] = {}
        self._latest = ""
        self._file_of_tests = ""
        self._before = ""
        self._opened = 0

    def text(self, text: str, now: Instant) -> list[Finding]:
        """Read whole lines. Without an open block, only lines that can hold a finding are looked at."""
        found: list[Finding] = []
        scan = self._catalogue.prefilter.scan(text)
        place = 0
        while place < len(text):
            if not self._open:
                place = scan.next(place)
                if place < 0:
                    break
            end = text.index("\n", place)
            at = place
            line = unwrapped(text[place:end])
            if line is not None:
                found += self._line(line, lambda: self._lines_before(text, at), now)  # noqa: B023 - used at once
            place = end + 1
        self._before = text[-_BEFORE:] if len(text) >= _BEFORE else (self._before + text)[-_BEFORE:]
        return found

    def due(self) -> Iterable[Instant]:
        """When each open block is whole if nothing is added."""
        return (held.due for held in self._open.values())

    def tick(self, now: Instant) -> list[Finding]:
        """Tell the blocks whose quiet time is over."""
        quiet = [service for service, held in self._open.items() if held.due <= now]
        return [finding for service in quiet for finding in self._finish(service, now)]

    def close(self, now: Instant) -> list[Finding]:
        """Tell every block, whole or not."""
        found: list[Finding] = []
        while self._open:
            found += self._finish(next(iter(self._open)), now)
        return found

    def _line(self, line: str, before: Callable[[], list[str]], now: Instant) -> list[Finding]:
        service = self._held_by(line)
        if service is None:
            match = self._catalogue.match(line)
            return self._begin(match, before, now) if match is not None else []
        held = self._open[service]
        step = held.offer(line, self._begins_another)
        if step is not Step.OVER:
            return self._joined(service, step, now)
        match = self._catalogue.match(line)
        if match is not None and self._takes_over(service, match, now):
            return []
        found = self._finish(service, now)
        if self._open:
            # Lines that were given back may have begun a block to which this line belongs.
            return found + self._line(line, before, now)
        return found + self._begin(match, before, now) if match is not None else found

    def _held_by(self, line: str) -> str | None:
        """The service whose open block the line may belong to.

        A line that names no service belongs to the latest; where lines without one are printed, one that does ends them.
        """
        if not self._open:
            return None
        service = service_of(line)[0]
        if service in self._open:
            return service
        if not service and self._latest in self._open:
            return self._latest
        return "" if "" in self._open else None

    def _joined(self, service: str, step: Step, now: Instant) -> list[Finding]:
        held = self._open[service]
        held.touched_at = now
        if self._trace is not None:
            if step is Step.ASIDE:
                self._trace.waits(held.number)
            else:
                self._trace.joined(held.number)
        return self._finish(service, now) if step is Step.LAST else []

    def _begin(self, match: Match, before: Callable[[], list[str]], now: Instant) -> list[Finding]:
        signal = self._teller.signal(match, now)
        told_by_line: list[Finding] = [] if signal is None else [signal]
        if match.rule.severity == "info":
            if match.rule.category == "test":
                self._file_of_tests = match.groups.get("file", self._file_of_tests)
            if self._trace is not None:
                self._trace.signalled(match, signal)
            return told_by_line
        kind = KINDS[match.rule.opens]
        block = opened(kind, match, _of_service(match.line.service, before()) if kind.looks_back else ())
        block.file = self._file_of_tests
        found = self._finish(next(iter(self._open)), now) if len(self._open) >= _MOST_OPEN else []
        self._hold(self._with_stack(block, match.line.stack) if match.line.stack else block, match, now)
        return found + told_by_line

    def _begins_another(self, line: str, step: Step) -> bool:
        """True if the line begins a finding that what is open may not swallow.

        A line that waits for the next one may be part of a message, which may say anything: only a stack or a failing test
        that begins there is surely another finding, and a message of JavaScript's form is not.
        """
        match = self._catalogue.match(line)
        if match is None or step is Step.GUESS:
            return match is not None
        kind = KINDS[match.rule.opens]
        return match.rule.category == "test" or (kind.takes_lead and not issubclass(kind, JavaScript))

    def _hold(self, block: Block, match: Match, now: Instant) -> None:
        self._opened += 1
        self._latest = match.line.service
        self._open[self._latest] = _Open(block, self._opened, now)
        if self._trace is not None:
            self._trace.opened(self._opened, match)

    def _with_stack(self, block: Block, stack: str) -> Block:
        """A structured line carries its stack along: it becomes the block that its first line begins."""
        first, *rest = stack.split("\n")
        inner = self._catalogue.match(first)
        if inner is None or not KINDS[inner.rule.opens].takes_lead:
            for line in (first, *rest):
                block.add(line)
            return block
        whole = opened(KINDS[inner.rule.opens], inner)
        whole.lead = (block.title,)
        for line in rest:
            whole.offer(line)
        return whole

    def _takes_over(self, service: str, match: Match, now: Instant) -> bool:
        """A log line directly before a stack is its announcement: both are one finding."""
        held = self._open[service]
        kind = KINDS[match.rule.opens]
        if not (kind.takes_lead and held.block.is_announcement and match.rule.severity != "info"):
            return False
        block = opened(kind, match)
        block.lead = (*held.block.printed.split("\n"), *block.lead)
        block.of_test = _VERDICT.sub("", held.block.title).strip() if held.block.match.rule.category == "test" else ""
        taken = self._open[service] = _Open(block, held.number, held.opened_at)
        taken.touched_at = now
        if self._trace is not None:
            self._trace.joined(held.number)
        return True

    def _finish(self, service: str, now: Instant) -> list[Finding]:
        held = self._open.pop(service)
        events = self._teller.events(held.block, held.opened_at, now)
        if self._trace is not None:
            self._trace.returned(held.number, len(held.waiting))
            for event in events:
                self._trace.told(held.number, event)
            for key in self._teller.withheld:
                self._trace.withheld(held.number, key)
        found: list[Finding] = [*events]
        for line in held.waiting:
            if self._trace is not None:
                self._trace.again(True)
            found += self._line(line, list, now)
        if held.waiting and self._trace is not None:
            self._trace.again(False)
        return found

    def _lines_before(self, text: str, place: int) -> list[str]:
        """The last lines before a place, for blocks whose first line is not their beginning."""
        seen = (self._before + text[max(0, place - _BEFORE) : place])[-_BEFORE:]
        return [line for raw in seen.split("\n")[-_LINES_BEFORE - 1 : -1] if (line := unwrapped(raw)) is not None]


def _of_service(service: str, lines: list[str]) -> list[str]:
    return [rest for name, rest in map(service_of, lines) if name == service] if service else lines

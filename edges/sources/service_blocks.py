"""Services: failed requests of a development proxy, and database errors of Prisma, each with the line that names the cause."""

import re
from collections.abc import Sequence
from typing import Final

from .blocks import Block, Step, Told
from .frames import is_own, named

_FRAME: Final = re.compile(r"^\s+at ")
_OWN_FRAME: Final = re.compile(r"^\s+at (?:async )?(?:(?P<function>[^()]+?) \()?(?P<file>[^\s()]+?):\d+:\d+\)?$")
_REPEATED: Final = re.compile(r"\s*\(x\d+\)$")
_CAUSE: Final = re.compile(r"^(?:Error|AggregateError)(?: \[\w+\])?: ?(?P<text>.*)$")
_CODE: Final = re.compile(r"^(?:→|\s*\d+ |\s|Invalid `|/|[A-Za-z]:\\|\}|\))")


class Proxy(Block):
    """``http proxy error: /path`` and the error below it."""

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The cause may stand in the first line already."""
        del before
        self._text = _REPEATED.sub("", line.strip())
        self._cause = ""

    def step(self, line: str) -> Step:
        """One error line, then frames or the properties of the error."""
        if not self._cause and (found := _CAUSE.match(line)):
            self._cause = _REPEATED.sub("", found["text"]) or "connection failed"
            return Step.OURS
        if _FRAME.match(line) or (self._cause and line[:1] in (" ", "}", "]") and line.strip()):
            return Step.OURS
        return Step.OURS if line.startswith("See https://nodejs.org/") else Step.OVER

    def told(self) -> list[Told]:
        """Path and cause."""
        return [Told(text=f"{self._text}: {self._cause}" if self._cause else self._text, detail=self.printed)]


class Prisma(Block):
    """A Prisma error: header, invocation and code frame say where, one line below them says why."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The type stands in the first line, the cause sometimes too."""
        del before
        head = re.search(r"(?P<type>(?:PrismaClient\w*|NotFound)Error)(?: \[\w+\])?:? ?(?P<text>.*)$", line)
        self._type = head["type"] if head else "Prisma error"
        self._cause = head["text"].strip() if head and not head["text"].startswith("Invalid `") else ""
        self._operation = ""
        self._frame = ""
        self._in_stack = False
        self._operation_in(line)

    def step(self, line: str) -> Step:
        """The last line at the margin before the stack is the cause."""
        if (found := _OWN_FRAME.match(line)) and not self._frame and is_own(found["file"]):
            self._frame = named(found["file"], found["function"] or "")
        if _FRAME.match(line):
            self._in_stack = True
            return Step.OURS
        if self._in_stack:
            return Step.OURS if line.startswith(("  ", "}")) else Step.OVER
        self._operation_in(line)
        if not line.strip():
            return Step.ASIDE
        if not _CODE.match(line) and not self._cause:
            self._cause = line.strip()
        return Step.OURS if len(self.lines) < 40 else Step.OVER

    def told(self) -> list[Told]:
        """Type, operation and cause."""
        where = f" in {self._operation}" if self._operation else ""
        return [Told(text=f"{self._type}{where}: {self._cause}".rstrip(": "), frame=self._frame, detail=self.printed)]

    def _operation_in(self, line: str) -> None:
        if found := re.search(r"Invalid `(?P<operation>[\w.]+)\(", line):
            self._operation = self._operation or found["operation"]

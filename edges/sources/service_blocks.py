"""Services: failed requests of a development proxy, and database errors of Prisma, each with the line that names the cause."""

import re
from collections.abc import Sequence
from typing import Final

from .blocks import RECORD, Block, Step, Told
from .frames import is_own, named

_FRAME: Final = re.compile(r"^\s+at ")
_OWN_FRAME: Final = re.compile(r"^\s+at (?:async )?(?:(?P<function>[^()]+?) \()?(?P<file>[^\s()]+?):\d+:\d+\)?$")
_REPEATED: Final = re.compile(r"\s*\(x\d+\)$")
_CAUSE: Final = re.compile(r"^(?:Error|AggregateError)(?: \[\w+\])?: ?(?P<text>.*)$")
_CODE: Final = re.compile(
    r"^(?:→|\s*\d+ |\s|Invalid `|/\S+:\d|[A-Za-z]:\\|\}|\)|Error code: P\d|error: |Please |Prisma (?:CLI|Client|schema) "
    r"|Validation Error Count|\[Context: |Migration |The `.+` migration |Read more |See |Database error|DbError"
    r"|Underlying|Location: )"
)
"""Lines that Prisma prints below the head: the invocation, its place, a code frame, advice, and details under a name."""
_PRISMA_HEAD: Final = re.compile(
    r"(?P<type>(?:PrismaClient\w*|NotFound)Error)(?: \[\w+\])?:? ?(?P<text>.*)$"
    r"|(?:^|: )(?:Error: |Error code: )(?P<code>P\d{4}):? ?(?P<said>.*)$"
    r"|^(?:(?:⨯ )?Error: |prisma:error )(?!Invalid `)(?P<cause>.+)$"
)
_VAGUE: Final = re.compile(r"^(?:Invalid `|Prisma schema validation|Get Config|$)")
_CAUSE_LINES: Final = 24
"""Lines between the head and its cause: the longest code frame has fewer."""


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
        """The type or code stands in the first line, and often the cause."""
        del before
        head = _PRISMA_HEAD.search(line)
        said = (head["text"] or head["said"] or head["cause"] or "").strip() if head else ""
        self._type = (head["type"] or (f"Prisma {head['code']}" if head["code"] else "")) if head else ""
        self._cause = "" if _VAGUE.match(said) else said
        self._operation = ""
        self._frame = ""
        self._in_stack = False
        self._operation_in(line)

    def step(self, line: str) -> Step:
        """The first line at the margin below the code frame is the cause; behind it, only what Prisma is known to add."""
        if (found := _OWN_FRAME.match(line)) and not self._frame and is_own(found["file"]):
            self._frame = named(found["file"], found["function"] or "")
        if _FRAME.match(line):
            self._in_stack = True
            return Step.OURS
        if self._in_stack:
            return Step.OURS if line.startswith(("  ", "}")) else Step.OVER
        if not line.strip():
            return Step.ASIDE if sum(not waiting.strip() for waiting in self.aside) < 3 else Step.OVER
        return self._below(line)

    def _below(self, line: str) -> Step:
        """Once the cause is known, a line that is no code and no advice is somebody else's."""
        code = re.match(r"Error code: (P\d{4})", line)
        known = bool(_CODE.match(line))
        if not known and (self._cause or not self._awaits or len(self.lines) > _CAUSE_LINES or RECORD.match(line)):
            return Step.OVER
        self._operation_in(line)
        if code:
            self._type = self._type or f"Prisma {code[1]}"
        elif not self._cause and (not known or line.startswith("error: ")):
            self._cause = line.removeprefix("error: ").strip()
        return Step.OURS if len(self.lines) < 40 else Step.OVER

    def told(self) -> list[Told]:
        """Type, operation and cause."""
        where = f" in {self._operation}" if self._operation else ""
        text = f"{self._type or 'Prisma error'}{where}: {self._cause}".rstrip(": ")
        return [Told(text=text, frame=self._frame, detail=self.printed)]

    @property
    def _awaits(self) -> bool:
        """True where a cause is to come: below a type, an invocation, or a blank line."""
        return bool(self._operation or self.aside or self._type.endswith("Error"))

    def _operation_in(self, line: str) -> None:
        if found := re.search(r"Invalid `(?P<operation>[\w.]+)\(", line):
            self._operation = self._operation or found["operation"]

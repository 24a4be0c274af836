"""Compilers, linters and bundlers: one diagnostic with its code frame and notes is one finding.

The text names the file and the message without line and column, so that an edit above it makes no new finding; the detail
shows it as printed.
"""

import re
from collections.abc import Sequence
from typing import Final

from .blocks import RECORD, Block, Step, Told

_CODE: Final = re.compile(r"^(?:[ \t]+\S|\d+(?:\s+\||\s{2,}\S| \S)|[>→] ?\d+ ?[|│]|[ \t]*[|│╵╷╭╰─┬·])")
_COUNTS: Final = re.compile(r"^\s*\d+ (?:error|warning|problem|issue|fail)")
_NOTE: Final = re.compile(r"^\S+?:\d+(?::\d+)?: (?:note|remark|help): |^(?:compilation terminated\.|  symbol: |  location: )")
_LONGEST: Final = 80

_ESLINT_PROBLEM: Final = re.compile(
    r"^\s+\d+:\d+\s+(?P<level>error|warning)\s+(?P<message>.+?)(?:\s{2,}(?P<rule>[@\w/-]+))?\s*$"
)
_ESLINT_FILE: Final = re.compile(r"^(?:[A-Za-z]:\\|/|\.{0,2}/?)[^\s:][^:]*\.\w+$")

_RUFF_MORE: Final = re.compile(r"^(?:\s+\S|\d+ +[-+|]|(?:help|info|note): )")
_POSITION: Final = re.compile(r"\s*[(:]\d+:\d+(?:-\d+)?\)?|\s+\d+:\d+(?:-\d+)?\b")
_BUNDLER_CODE: Final = re.compile(r"^\[(?P<code>[A-Z][A-Z_]+)\] (?P<text>.+)$")
_BUNDLER_PLACE: Final = re.compile(
    r"^\s*(?:[Ff]ile: |╭─+\[ ?|┌─+ ?|, ?-\[)?(?P<file>[\w@./\\-]+\.\w+)(?::\d+){1,2}:?(?: ?\])?\s*$|^\s*[Ff]ile: (?P<only>\S+)$"
)
_BUNDLER_VAGUE: Final = re.compile(
    r"^(?:Build failed with|[✗x✖×] Build failed in|Transform failed with|error during build|error when starting"
    r"|error while updating|Failed to compile|Error: Build failed)"
)
_BUNDLER_MORE: Final = re.compile(
    r"^(?:\[?(?:[A-Z]\w*Error|Error|vite|plugin|commonjs|esbuild|rollup)\b|Module |Caused by|Import trace"
    r"|Require(?:d|Stack)|You may|Could not|Can't|Syntax|Type |Expected|Unexpected|See |https?:|x |×|\.{1,2}/|file: |\}"
    r"|Does the file|Parsing |Ecmascript|`|'|\"|File was |This |Field |resolve |using |BREAKING|If you|Consider|The |Did you"
    r"|Pass |at )"
)


class Diagnostic(Block):
    """``file:line:column: error: message`` in whatever layout, with indented lines, code frames and notes."""

    def step(self, line: str) -> Step:
        """A blank line may part the message from its code frame."""
        if not line.strip():
            return Step.ASIDE if not self.aside else Step.OVER
        if _COUNTS.match(line) or len(self.lines) > _LONGEST:
            return Step.OVER
        return Step.OURS if _CODE.match(line) or _NOTE.match(line) else Step.OVER

    def told(self) -> list[Told]:
        """File and message, where the rule's pattern names them."""
        groups = self.match.groups
        if "message" not in groups:
            return [Told(text=self.match.start.strip())]
        file = groups.get("file", "")
        return [Told(text=f"{file}: {groups['message']}" if file else groups["message"], detail=self.printed)]


class Javac(Diagnostic):
    """A javac diagnostic: the source line is printed as it is, indented or not, to the caret below it."""

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The caret is still to come."""
        del line, before
        self._caret = False
        self._symbol = ""

    def step(self, line: str) -> Step:
        """What stands above the caret is source or more of the message."""
        if line.strip() == "^":
            self._caret = True
            return Step.OURS
        if found := re.match(r"\s+symbol:\s+(?P<symbol>.+)$", line):
            self._symbol = found["symbol"]
        if self._caret:
            return Step.OURS if line[:1] in (" ", "\t") and line.strip() else Step.OVER
        if _COUNTS.match(line) or len(self.aside) > 6 or not line.strip():
            return Step.OVER
        return Step.ASIDE

    def told(self) -> list[Told]:
        """Two missing symbols are two findings, though their first lines are alike."""
        told = super().told()[0]
        return [Told(text=f"{told.text}: {self._symbol}" if self._symbol else told.text, detail=self.printed)]


class Eslint(Block):
    """All problems of one file, one event for each error; warnings are shown beside it but are none."""

    looks_back = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The file stands above its problems."""
        self._problems: list[tuple[str, str]] = []
        self._file = ""
        for earlier in reversed(before):
            if _ESLINT_FILE.match(earlier):
                self._file = earlier
                break
            if not _ESLINT_PROBLEM.match(earlier):
                break
        self._problem(line)

    def step(self, line: str) -> Step:
        """A blank line ends the file."""
        return Step.OURS if self._problem(line) else Step.OVER

    def told(self) -> list[Told]:
        """Message and rule of each error, once if the file has it more than once."""
        texts: dict[str, list[str]] = {}
        for text, printed in self._problems:
            texts.setdefault(text, [self._file] if self._file else []).append(printed)
        return [Told(text=text, frame=self._file, detail="\n".join(lines)) for text, lines in texts.items()]

    def _problem(self, line: str) -> bool:
        found = _ESLINT_PROBLEM.match(line)
        if found is not None and found["level"] == "error":
            rule = f" ({found['rule']})" if found["rule"] else ""
            self._problems.append((f"eslint: {found['message']}{rule}", line))
        return found is not None


class Ruff(Block):
    """The place of a problem below its code and message, with the source and a remedy below both."""

    looks_back = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """What is wrong stands in the line before."""
        del line
        self._said = before[-1].strip() if before and before[-1][:1].strip() else "a problem"
        self.lead = tuple(before[-1:])

    def step(self, line: str) -> Step:
        """A blank line ends it."""
        return Step.OURS if _RUFF_MORE.match(line) and len(self.lines) < _LONGEST else Step.OVER

    def told(self) -> list[Told]:
        """File and message; code that can't be parsed is more than a matter of taste."""
        wrong = self._said.startswith(("invalid-syntax", "error"))
        text = f"{self.match.groups['file']}: {self._said.replace(' [*] ', ' ', 1)}"
        return [Told(text=text, detail=self.printed, severity="error" if wrong else None)]


class Webpack(Block):
    """``ERROR in …`` with the message below it and, behind a blank line, its code frame."""

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The file stands in the first line, with a position."""
        del before
        self._head = _POSITION.sub("", line).strip()
        self._message = ""

    def step(self, line: str) -> Step:
        """The first line below the head is the message."""
        if not line.strip():
            return Step.ASIDE if not self.aside else Step.OVER
        if line.startswith(("ERROR in ", "WARNING in ", "webpack ")) or re.match(r"^(?:found|Found) \d+ error", line):
            return Step.OVER
        if self.aside:
            return Step.OURS if _CODE.match(line) else Step.OVER
        if len(self.lines) >= _LONGEST:
            return Step.OVER
        if not self._message or self._message.endswith(":"):
            self._message = _POSITION.sub("", line).strip()
            return Step.OURS
        return Step.OURS if line[0].isspace() else Step.GUESS

    def told(self) -> list[Told]:
        """File and message."""
        return [Told(text=f"{self._head}: {self._message}" if self._message else self._head, detail=self.printed)]


class Bundler(Block):
    """Vite, esbuild, Rollup, Rolldown and Next: a message, boxes and code frames, blank lines between them, a stack below."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """A first line that only says that something failed leaves the message to what follows."""
        del before
        self._message = ""
        self._file = ""
        self._announced = line.strip()
        head = re.sub(r"^(?:.*?Internal server error: |✘ \[ERROR\] |\[!\] |⨯ |Build Error: )", "", self._announced)
        if place := _BUNDLER_PLACE.match(head):
            self._file = place["file"] or place["only"]
        elif not _BUNDLER_VAGUE.match(head):
            self._message = _POSITION.sub("", head)

    def step(self, line: str) -> Step:
        """Messages, places, frames."""
        if not line.strip():
            return Step.ASIDE
        if (
            line.startswith(("✘ [ERROR]", "▲ [WARNING]"))
            or RECORD.match(line)
            or _COUNTS.match(line)
            or len(self.lines) > _LONGEST
        ):
            return Step.OVER
        place = _BUNDLER_PLACE.match(line)
        if place and not self._file:
            self._file = place["file"] or place["only"]
        if found := _BUNDLER_CODE.match(line):
            self._message = f"{found['text']} ({found['code']})"
            return Step.OURS
        if place or _CODE.match(line) or _BUNDLER_VAGUE.match(line):
            return Step.OURS
        if not self._message:
            self._message = _POSITION.sub("", line).strip()
            return Step.OURS
        return Step.GUESS if _BUNDLER_MORE.match(line) else Step.OVER

    def told(self) -> list[Told]:
        """The message, and the file as it is printed."""
        return [Told(text=self._message or self._announced, frame=self._file, detail=self.printed)]

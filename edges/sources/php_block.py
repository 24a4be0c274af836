"""PHP: a fatal error with its stack and all that it wraps is one finding, named by its root cause and where that was thrown."""

import re
from collections.abc import Sequence
from typing import Final

from .blocks import Block, Step, Told
from .frames import is_own, named

_PHP_HEAD: Final = re.compile(
    r"(?:PHP )?(?P<kind>Fatal error|Parse error|Recoverable fatal error): +(?:Uncaught )?(?P<text>.+?)"
    r"(?: in (?P<file>\S+?)(?::| on line )(?P<line>\d+))?$"
)
_PHP_FRAME: Final = re.compile(r"^#\d+ (?:(?P<file>\S.*?)\((?P<line>\d+)\): |\[internal function\]: )?(?P<function>[^(]*)")
_PHP_NEXT: Final = re.compile(r"^Next (?P<text>.+?)(?: in (?P<file>\S+?):(?P<line>\d+))?$")
_PHP_FRAMES: Final = 100


class Php(Block):
    """A PHP fatal error with its stack trace; the innermost of a chain comes first, each outer one behind ``Next``."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The place stands in the first line, after the message."""
        del before
        found = _PHP_HEAD.search(line)
        self._chain = [found["text"] if found else line]
        self._kind = found["kind"] if found else ""
        self._places: list[tuple[str, str]] = [(found["file"], found["line"])] if found and found["file"] else []
        self._functions: list[str] = []

    def step(self, line: str) -> Step:
        """``Stack trace:``, numbered frames, the next of the chain, and where it was thrown."""
        if found := _PHP_FRAME.match(line):
            self._frame(found)
            return Step.OURS
        if found := _PHP_NEXT.match(line):
            self._chain.append(found["text"])
            return Step.OURS
        if line.startswith("Stack trace:"):
            return Step.OURS
        if not line.strip():
            return Step.ASIDE if not self.aside and len(self.lines) > 1 else Step.OVER
        return Step.LAST if line.startswith("  thrown in ") else Step.OVER

    def told(self) -> list[Told]:
        """Outer exception and root cause, or the kind of error where PHP names no type."""
        typed = re.match(r"[\w\\]+(?:Error|Exception)\b", self._chain[0])
        text = self._chain[-1] if typed or not self._kind else f"{self._kind}: {self._chain[-1]}"
        text = f"{text} (caused by {self._chain[0]})" if len(self._chain) > 1 else text
        return [Told(text=text, frame=self._where())]

    def _frame(self, found: re.Match[str]) -> None:
        """Frames of the root cause: each names the function that was called, and the place of the call."""
        if len(self._chain) == 1 and len(self._functions) < _PHP_FRAMES:
            self._functions.append("" if found["function"].startswith("{") else found["function"])
            self._places.append((found["file"] or "", found["line"] or ""))

    def _where(self) -> str:
        """The first own place that is not the call of a function of PHP itself, with the function that it is in."""
        functions = [*self._functions, ""]
        frames = [
            named(file, function)
            for (file, line), function, after in zip(self._places, functions, [*self._places[1:], ("", "")], strict=False)
            if file and is_own(file) and (file, line) != after
        ]
        return frames[0] if frames else named(self._places[0][0]) if self._places else ""

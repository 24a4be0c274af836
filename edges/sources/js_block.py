"""JavaScript: an error with its stack and its causes, from Node, Deno, Bun or a browser, is one finding."""

import re
from collections.abc import Sequence
from typing import Final

from .blocks import RECORD, Block, Step, Told
from .frames import is_internal, is_own, named

_FRAME: Final = re.compile(
    r"^\s+at (?:async )?(?:new )?(?:(?P<function>[^()]+?(?: \[as [^\]]+\])?) \()?"
    r"(?P<file>(?:\([^)]*\)|[^\s()])+?)(?::\d+){0,2}\)?(?: \{)?$"
)
_ANY_FRAME: Final = re.compile(r"^\s+(?:at \S|\.{3} \d+ lines? matching )")
_HEAD: Final = re.compile(r"(?P<text>(?:[A-Z][\w$.]*)?(?:Error|Exception|Rejection)(?: \[[\w-]+\])?(?:: .*)?)$")
_CAUSE: Final = re.compile(r"^\s*(?:\[cause\]|Caused by|\[errors\]): (?P<text>[A-Z][\w$]*(?: \[[\w-]+\])?(?:: .*?)?)(?: \{)?$")
_ENDING: Final = re.compile(r"^(?:Node\.js v\d|Bun v\d)")
_MORE: Final = re.compile(r"^(?:Emitted '\w+' event |Require stack:|- /)")
_PLACE: Final = re.compile(r"^(?:file:|/|node:|[A-Za-z]:\\)\S*:\d+$")
_REPEATED: Final = re.compile(r" ?\(x\d+\)$")
_MESSAGE_LINES: Final = 12


class JavaScript(Block):
    """An error line, the rest of its message, ``at`` frames, causes and the properties that Node prints below."""

    takes_lead = True
    looks_back = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """Node prints the place and the source line before the error: they are part of the block as printed."""
        self._own, self._any, self._cause = "", "", ""
        self._in_stack, self._in_object = False, False
        self.lead = _place_before(before)
        del line

    def step(self, line: str) -> Step:
        """Frames decide: what stands between the error line and the first of them is its message."""
        if _ANY_FRAME.match(line):
            return self._frame(line)
        if cause := _CAUSE.match(line):
            self._cause = cause["text"]
            self._in_object = self._in_object or line.rstrip().endswith("{")
            # The frames of a cause are nearer to the fault than those of what it became.
            self._own = ""
            return Step.OURS
        if self._in_object:
            return self._property(line)
        if _MORE.match(line):
            return Step.OURS
        return self._after_stack(line) if self._in_stack else self._message(line)

    def told(self) -> list[Told]:
        """Type and message, the cause, and the first own frame."""
        text = _REPEATED.sub("", self.title)
        if found := _HEAD.search(text):
            text = found["text"].removesuffix(" {") if found.start() == 0 or _announced(text[: found.start()]) else text
        text = text.removesuffix(" {")
        return [Told(text=f"{text} (caused by {self._cause})" if self._cause else text, frame=self._own or self._any)]

    def _after_stack(self, line: str) -> Step:
        if _ENDING.match(line):
            return Step.LAST
        return Step.ASIDE if not line.strip() and not self.aside else Step.OVER

    def _frame(self, line: str) -> Step:
        self._in_stack = True
        if line.rstrip().endswith("{"):
            self._in_object = True
        found = _FRAME.match(line)
        if found is not None:
            function = (found["function"] or "").split(" [as ")[0]
            name = named(found["file"], "" if function in ("<anonymous>", "eval", "Object.<anonymous>") else function)
            if not is_internal(found["file"]):
                self._any = self._any or name
            if not self._own and is_own(found["file"]):
                self._own = name
        return Step.OURS

    def _property(self, line: str) -> Step:
        if line.startswith("}"):
            self._in_object = False
            return Step.OURS
        return Step.OURS if line[:1] in (" ", "\t", "]") or not line.strip() else Step.OVER

    def _message(self, line: str) -> Step:
        if self.title.rstrip().endswith(":") and len(self.lines) == 1 and not self.aside and _HEAD.match(line):
            self.title = line
            return Step.OURS
        if RECORD.match(line) or _HEAD.match(line) or len(self.aside) >= _MESSAGE_LINES:
            return Step.OVER
        if not self.aside and (line.startswith("{") or (line[:1] == " " and line.strip())):
            return Step.OURS if len(self.lines) < _MESSAGE_LINES else Step.OVER
        return Step.ASIDE


def _announced(before: str) -> bool:
    return bool(re.search(r"(?i)(?:uncaught|unhandled|internal server error|exception|error)[^:]*:? $|^\W*$", before))


def _place_before(before: Sequence[str]) -> tuple[str, ...]:
    for index in range(len(before) - 1, max(len(before) - 7, -1), -1):
        if _PLACE.match(before[index]):
            return tuple(before[index:])
    return ()

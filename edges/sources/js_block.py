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
# Rust's anyhow and eyre number the causes below a heading, outermost first; one alone has no number.
_CAUSES: Final = re.compile(r"^Caused by:$")
_NUMBERED_CAUSE: Final = re.compile(r"^\s+(?:\d+: )?(?P<text>\S.*)$")
_BELOW_CAUSES: Final = re.compile(r"^(?:Location:|Stack backtrace:)$")
_RUST_FILE: Final = re.compile(r"\.rs:\d+(?::\d+)?$")
_ENDING: Final = re.compile(r"^(?:Node\.js v\d|Bun v\d)")
_MORE: Final = re.compile(r"^(?:Emitted '\w+' event |Require stack:|- /|\(Use `node --trace-)")
_PLACE: Final = re.compile(r"^(?:file:|/|node:|[A-Za-z]:\\)\S*:\d+$")
_REPEATED: Final = re.compile(r" ?\(x\d+\)$")
_MESSAGE_LINES: Final = 12
_OBJECT_LINES: Final = 200
_NO_MESSAGE: Final = re.compile(r"^\s*(?:\^+|Uncaught:?|Thrown:)?\s*$")


class JavaScript(Block):
    """An error line, the rest of its message, ``at`` frames, causes and the properties that Node prints below."""

    takes_lead = True
    looks_back = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """Node prints the place and the source line before the error: they are part of the block as printed."""
        self._own, self._any, self._cause = "", "", ""
        self._in_stack, self._in_object, self._in_causes = False, False, False
        self.lead = _place_before(before)
        del line

    def step(self, line: str) -> Step:
        """Frames decide: what stands between the error line and the first of them is its message."""
        if self._in_causes or (_CAUSES.match(line) and not self._in_stack):
            return self._numbered_cause(line)
        # Threads of a program in Rust print between each other's lines: those frames belong to a panic.
        if _ANY_FRAME.match(line) and not _RUST_FILE.search(line):
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
        frame = self._own or self._place or self._any
        return [Told(text=f"{text} (caused by {self._cause})" if self._cause else text, frame=frame)]

    @property
    def _place(self) -> str:
        """The file that Node names above the error: of one that can't be parsed no frame does."""
        file = self.lead[0].rpartition(":")[0] if self.lead else ""
        return named(file) if file and is_own(file) else ""

    def _numbered_cause(self, line: str) -> Step:
        """The last of the causes is the root."""
        if not line.strip():
            return Step.ASIDE if not self.aside else Step.OVER
        if _CAUSES.match(line) or _BELOW_CAUSES.match(line):
            self._in_causes = True
            self._in_stack = not _CAUSES.match(line)
            return Step.OURS
        found = _NUMBERED_CAUSE.match(line)
        if found is None or (self.aside and not self._in_stack):
            return Step.OVER
        if not self._in_stack:
            self._cause = found["text"]
        elif not self._own and _RUST_FILE.search(line):
            file = _RUST_FILE.sub("", line).split()[-1]
            self._own = named(f"{file}.rs") if is_own(line) else ""
        return Step.OURS

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
        if len(self.lines) > _OBJECT_LINES:
            return Step.OVER
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


class Thrown(Block):
    """What is thrown need not be an error: Node prints its place and the thing itself, and then how to find out more."""

    looks_back = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """All of it stands before."""
        del line
        self.lead = _place_before(before)
        below = [said.strip() for said in self.lead[2:] if not _NO_MESSAGE.match(said)]
        self._said = below[0].strip("'\"") if below else ""

    def step(self, line: str) -> Step:
        """The version ends it."""
        if _ENDING.match(line):
            return Step.LAST
        return Step.ASIDE if not line.strip() and not self.aside else Step.OVER

    def told(self) -> list[Told]:
        """The thing, and the file."""
        file = self.lead[0].rpartition(":")[0] if self.lead else ""
        return [Told(text=f"Uncaught {self._said}".strip(), frame=named(file) if file else "")]


def _announced(before: str) -> bool:
    return bool(re.search(r"(?i)(?:uncaught|unhandled|internal server error|exception|error)[^:]*:? $|^\W*$", before))


def _place_before(before: Sequence[str]) -> tuple[str, ...]:
    for index in range(len(before) - 1, max(len(before) - 7, -1), -1):
        if _PLACE.match(before[index]):
            return tuple(before[index:])
    return ()

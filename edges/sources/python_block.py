"""Python: one traceback with all its causes is one finding, named by its exception and its root cause."""

import re
from collections.abc import Sequence
from typing import Final

from .blocks import Block, Step, Told
from .frames import is_own, named

_FRAME: Final = re.compile(r'^\s*File "(?P<file>[^"]+)", line \d+(?:, in (?P<function>.+))?$')
_HEAD: Final = re.compile(r"^(?:\s*[|+]\s*)*\s*(?:Exception Group )?Traceback \(most recent call last\):")
_EXCEPTION: Final = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*)|:|)$")
_LEVEL: Final = re.compile(r"^(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|NOTICE)\b")
_CAUSE: Final = "The above exception was the direct cause of the following exception:"
_CONTEXT: Final = "During handling of the above exception, another exception occurred:"
_GROUP: Final = re.compile(r"^\s*(?:[|+][-+ \d.|]*)(?P<text>.*)$")
_MORE: Final = re.compile(
    r"^(?:DETAIL: |HINT: |CONTEXT: |LINE \d+: |\[SQL: |\[parameters: |\[generated in |\(Background on this error"
    r"|For further information visit|Did you mean)"
)
_FIELD: Final = re.compile(r"^[\w.\[\]'-]+$")


class Python(Block):
    """A traceback, or the ``File … line …`` head of a syntax error, to the exception line of the last in the chain."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The head is no frame, unless it is that of a syntax error."""
        del before
        self._chain: list[str] = []
        self._own_frames, self._any_frames = [""], [""]
        self._joint = ""
        self._in_frames = True
        self._linked = False
        self._group = bool(re.match(r"\s*\+", line))
        self._frame(line)

    def step(self, line: str) -> Step:
        """Indented lines are frames; the first that is not names the exception; a chain goes on behind a blank line."""
        if self._group and re.match(r"\s+[|+]", line):
            return self._group_line(line)
        if self._linked:
            return self._after_link(line)
        if self._in_frames:
            return self._frame_or_exception(line)
        return self._after_exception(line)

    def told(self) -> list[Told]:
        """Type and message of the exception, its root cause, and where the root cause was raised."""
        frame = next(filter(None, [*self._own_frames, *self._any_frames]), "")
        if not self._chain:
            return [Told(text="Python traceback, cut off before its exception", frame=frame)]
        text = self._chain[-1]
        if text.partition(":")[0] == "KeyboardInterrupt":
            return []  # a person ended it, and knows
        if len(self._chain) > 1:
            text = f"{text} ({self._joint} {self._chain[0]})"
        return [Told(text=text, frame=frame)]

    def _frame(self, line: str) -> None:
        found = _FRAME.match(line)
        if found is None:
            return
        # The innermost frame is the last printed; one of a library only stands in where no own frame is.
        name = named(found["file"], found["function"] or "")
        self._any_frames[-1] = name
        if is_own(found["file"]):
            self._own_frames[-1] = name

    def _frame_or_exception(self, line: str) -> Step:
        if line[:1] in (" ", "\t") or not line.strip():
            self._frame(line)
            return Step.OURS if line.strip() else Step.ASIDE
        found = _EXCEPTION.match(line)
        if found is None or _LEVEL.match(line):
            return Step.OVER
        self._chain.append(_said(found))
        self._in_frames = False
        return Step.OURS

    def _after_exception(self, line: str) -> Step:
        text = line.strip()
        if not text:
            return Step.ASIDE if not any(self.aside) and len(self.aside) < 3 else Step.OVER
        if text in (_CAUSE, _CONTEXT):
            self._joint = self._joint or ("caused by" if text == _CAUSE else "while handling")
            self._linked = True
            return Step.OURS
        if _HEAD.match(line):
            return Step.OVER
        if line[:1] in (" ", "\t") or _MORE.match(text):
            return Step.OURS
        if "validation error" in self._chain[-1] and _FIELD.match(text):
            return Step.ASIDE
        return Step.OVER

    def _after_link(self, line: str) -> Step:
        if not line.strip():
            return Step.OURS
        if not _HEAD.match(line):
            return Step.OVER
        self._linked, self._in_frames = False, True
        self._own_frames.append("")
        self._any_frames.append("")
        return Step.OURS

    def _group_line(self, line: str) -> Step:
        found = _GROUP.match(line)
        text = found["text"].strip() if found else ""
        self._frame(text)
        exception = _EXCEPTION.match(text)
        if exception is not None and exception["message"] and not text.startswith("File "):
            said = _said(exception)
            if len(self._chain) < 2:
                # The group comes first and what it holds after it; the chain is told from its other end.
                self._chain.insert(0, said)
                self._joint = "first of them"
        return Step.OURS


def _said(found: re.Match[str]) -> str:
    return f"{found['type']}: {found['message']}" if found["message"] else found["type"]

"""Go and Rust: a panic with its stack, all goroutines of it, is one finding; so is a diagnostic of rustc with its code."""

import re
from collections.abc import Sequence
from typing import Final

from .blocks import Block, Step, Told
from .frames import is_own, named
from .js_block import JavaScript

_GO_FUNCTION: Final = re.compile(r"^(?:created by )?(?P<function>\S+?)(?:\([^()]*\))?(?: in goroutine \d+)?$")
_GO_FILE: Final = re.compile(r"^\t(?P<file>\S.*?):\d+(?: \+0x[0-9a-f]+)?$")
_GO_OTHER: Final = re.compile(
    r"^(?:goroutine \d+|\[signal |\[recovered|created by |\.\.\.additional frames|r\w{1,6}\s+0x|[cdefgs]s\s+0x|\tpanic: )"
)
_GO_END: Final = re.compile(r"^exit status \d+$")
_GO_NOISE: Final = re.compile(r" \[recovered\b.*$")

_RUST_PLACE: Final = re.compile(r"^\s*--> (?P<file>[^:]+):\d+:\d+")
_RUST_MORE: Final = re.compile(r"^(?:\s+\S|\d+ +\||\.\.\.$|= |help: |note: )")
_RUST_HEAD: Final = re.compile(
    r"thread '(?P<thread>[^']*)' (?:\(\d+\) )?panicked at (?:'(?P<message>.*)', )?(?P<file>[^\s:][^:]*):\d+:\d+:?$"
)
_RUST_NOTE: Final = re.compile(r"^note: (?:run with|Some details|some details)")
_RUST_FRAME: Final = re.compile(r"^\s+(?:\d+:|at )")
_RUST_MESSAGE_LINES: Final = 40


class Go(Block):
    """``panic:`` or ``fatal error:`` to ``exit status``: signal line, blank lines and every goroutine between."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The panic line is the title."""
        del line, before
        self._function, self._own, self._any = "", "", ""
        self._in_stack = False

    def step(self, line: str) -> Step:
        """Function lines stand in pairs with the tab-indented file below them; blank lines part the goroutines."""
        if not line.strip():
            return Step.ASIDE
        if _GO_END.match(line):
            return Step.LAST
        if _GO_OTHER.match(line):
            self._in_stack = self._in_stack or line.startswith("goroutine")
            return Step.OURS
        if line.startswith(("\t", " ")):
            if file := _GO_FILE.match(line):
                self._name(file["file"])
            return Step.OURS
        return self._function_line(line) if self._in_stack else Step.ASIDE

    def told(self) -> list[Told]:
        """The panic line and the first own frame."""
        return [Told(text=_GO_NOISE.sub("", self.title), frame=self._own or self._any)]

    def _function_line(self, line: str) -> Step:
        found = _GO_FUNCTION.match(line)
        if found is None or not ("." in line or line.startswith("panic(")):
            return Step.OVER
        self._function = found["function"]
        return Step.OURS

    def _name(self, file: str) -> None:
        if not self._function or self._own:
            return
        name = named(file, self._function.rsplit("/", 1)[-1])
        if self._function.startswith(("runtime.", "panic", "testing.")):
            return
        self._any = self._any or name
        if is_own(file):
            self._own = name


class ErrorLine(JavaScript):
    """``error: …`` may be said by anything: a place below it makes it a compiler's, frames a program's."""

    def begin(self, line: str, before: Sequence[str]) -> None:
        """What comes next decides."""
        super().begin(line, before)
        self._file = ""

    def step(self, line: str) -> Step:
        """rustc puts the place directly below, and a blank line at the end."""
        if len(self.lines) == 1 and not self.aside and (found := _RUST_PLACE.match(line)):
            self._file = found["file"].strip()
            return Step.OURS
        if self._file:
            return _of_rustc(line)
        return super().step(line)

    def told(self) -> list[Told]:
        """A compiler's message has a file, and a good build takes it back."""
        if self._file:
            return [Told(text=self.title.strip(), frame=self._file, category="build")]
        return super().told()


class Rustc(Block):
    """A rustc diagnostic: it ends with a blank line."""

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The place stands in the second line."""
        del line, before
        self._file = ""

    def step(self, line: str) -> Step:
        """Places, code, notes and helps."""
        if (found := _RUST_PLACE.match(line)) and not self._file:
            self._file = found["file"].strip()
        return _of_rustc(line)

    def told(self) -> list[Told]:
        """The first line, and the file."""
        return [Told(text=self.title.strip(), frame=self._file)]


def _of_rustc(line: str) -> Step:
    if not line.strip():
        return Step.LAST
    return Step.OURS if _RUST_MORE.match(line) else Step.OVER


class Rust(Block):
    """``thread … panicked at`` with its message and, if there is one, its backtrace."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """Older compilers print the message within the first line."""
        del before
        found = _RUST_HEAD.search(line)
        self._message = (found["message"] or "") if found else ""
        self._file = found["file"] if found else ""
        self._new_form = not self._message
        self._in_trace = False

    def step(self, line: str) -> Step:
        """The message goes to the note or the backtrace."""
        if _RUST_NOTE.match(line):
            return Step.LAST
        if line.startswith("stack backtrace:"):
            self._in_trace = True
            return Step.OURS
        if self._in_trace:
            return Step.OURS if _RUST_FRAME.match(line) else Step.OVER
        if self._new_form and not self._message and line.strip():
            self._message = line.strip()
            return Step.OURS
        if line[:1] in (" ", "\t") and not self.aside and len(self.lines) < _RUST_MESSAGE_LINES:
            return Step.OURS
        return Step.ASIDE if line.strip() and len(self.aside) < 6 else Step.OVER

    def told(self) -> list[Told]:
        """The message and the file that panicked; thread names carry numbers and are no part of it."""
        text = f"panicked: {self._message}" if self._message else "panicked"
        return [Told(text=text, frame=named(self._file))]

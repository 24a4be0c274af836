"""Test runners: one event for each failing test, whatever its output says about it and however often."""

import re
from collections.abc import Sequence
from typing import Final

from ...contracts.base import Millis
from .blocks import Block, Step, Told
from .native_blocks import Go

_PYTEST_TITLE: Final = re.compile(
    r"^_{2,} (?:(?P<error>ERROR) (?:at (?:setup|teardown) of |collecting ))?(?P<name>\S.*?) _{2,}$"
)
_PYTEST_HEADER: Final = re.compile(r"^={3,} (?P<what>.+?) ={3,}$")
_PYTEST_FAILED: Final = ("FAILURES", "ERRORS")
_PYTEST_PARTS: Final = (*_PYTEST_FAILED, "PASSES", "XPASSES", "XFAILURES", "short test summary info")
"""What a failing test prints may look like a header: only these are."""
_PYTEST_SHORT: Final = re.compile(r"^(?P<what>FAILED|ERROR) (?P<id>\S+?\.py(?:::.+?)?)(?: - (?P<message>.*))?$")
_PYTEST_END: Final = re.compile(
    r"^(?:=+ )?(?:\d+ \w+, )*\d+ (?:failed|passed|error|errors|skipped|warnings?|rerun)\b.* in [\d.:]+"
)
_PYTEST_LISTED: Final = re.compile(r"^(?:\s|(?:FAILED|ERROR|SKIPPED|XFAIL|XPASS|PASSED|SUBFAIL\w*|RERUN)\b|[!=])")
_PYTEST_ERROR: Final = re.compile(r"^E\s{3,}(?P<text>\S.*)$")
_PYTEST_PLACE: Final = re.compile(r"^(?P<file>[^\s:][^:]*\.py):\d+: ?(?:[A-Z]\w*.*|in .*)?$")

_UNITTEST_HEAD: Final = 3
"""The head, and what a test says of itself, before the first ruler."""
_UNITTEST_LINES: Final = 1_000
_RULER: Final = re.compile(r"^(?:={20,}|-{20,})$")
_EXCEPTION: Final = re.compile(r"^(?P<text>[A-Za-z_][\w.]*(?:Error|Exception|Failure|Exit|Interrupt|Warning)\b(?:: .*)?)$")

_GO_FAIL: Final = re.compile(r"^(?P<indent>\s*)--- FAIL: (?P<name>\S+) \(")
_GO_OTHER_END: Final = re.compile(r"^(?:FAIL|PASS|ok|\?)\b|^=== |^--- ")


class Pytest(Block):
    """FAILURES, ERRORS and the short summary: what they say of one test is one event; tests that did well have sections too."""

    quiet = Millis(2_000)

    def begin(self, line: str, before: Sequence[str]) -> None:
        """A header, or a line of the summary."""
        del before
        self._sections: list[_Section] = []
        self._reading: _Section | None = None
        self._short: list[tuple[str, str, str]] = []
        header = _PYTEST_HEADER.match(line)
        self._part = header["what"] if header else "short test summary info"
        self._read_short(line)

    def step(self, line: str) -> Step:
        """Everything to the last line of the session belongs."""
        if _PYTEST_END.match(line):
            return Step.LAST
        header = _PYTEST_HEADER.match(line)
        if header is not None:
            self._reading = None
            self._part = header["what"] if header["what"] in _PYTEST_PARTS else self._part
            return Step.OVER if "test session starts" in header["what"] else Step.OURS
        if self._part == _PYTEST_PARTS[-1]:
            self._read_short(line)
            # Where the last line is left out (-qq), only what follows says that the summary is over.
            return Step.OURS if _PYTEST_LISTED.match(line) or not line.strip() else Step.GUESS
        if self._part in _PYTEST_FAILED and (title := _PYTEST_TITLE.match(line)):
            self._reading = _Section(title["name"], bool(title["error"]))
            self._sections.append(self._reading)
        elif self._reading is not None:
            self._reading.read(line)
        return Step.OURS

    def told(self) -> list[Told]:
        """The summary's tests with the sections that belong to them, then the sections that no summary named."""
        left = list(self._sections)
        found = []
        for what, test, message in self._short:
            name = test.split("::", 1)[-1].replace("::", ".")
            section = next((section for section in left if section.name == name), None)
            if section is not None:
                left.remove(section)
            found.append(_test(what, test, _whole(message, section), section.printed if section else ""))
        return found + [
            _test("ERROR" if section.is_error else "FAILED", section.id, section.message, section.printed) for section in left
        ]

    def _read_short(self, line: str) -> None:
        if found := _PYTEST_SHORT.match(line):
            self._short.append((found["what"], found["id"], found["message"] or ""))


class _Section:
    def __init__(self, name: str, is_error: bool) -> None:
        self.name = name
        self.is_error = is_error
        self.message = ""
        self._file = ""
        self._lines: list[str] = []

    @property
    def id(self) -> str:
        if self.name.endswith(".py") or not self._file:
            return self.name
        return f"{self._file}::{self.name.replace('.', '::')}"

    @property
    def printed(self) -> str:
        return "\n".join(self._lines).strip("\n")

    def read(self, line: str) -> None:
        if len(self._lines) < 200:
            self._lines.append(line)
        if (error := _PYTEST_ERROR.match(line)) and not self.message:
            self.message = error["text"]
        if (place := _PYTEST_PLACE.match(line)) and not self._file:
            self._file = place["file"]


def _whole(message: str, section: _Section | None) -> str:
    """The summary cuts a message off where the terminal ends; the section has it whole."""
    if section is None or (message and not message.endswith("...")):
        return message
    return section.message if section.message.startswith(message.removesuffix("...")) else message


def _test(what: str, test: str, message: str, detail: str) -> Told:
    return Told(text=f"{what} {test} - {message}" if message else f"{what} {test}", key=f"{what} {test}", detail=detail)


class Unittest(Block):
    """``FAIL: test (case)`` to the next ruler behind its traceback."""

    quiet = Millis(1_000)

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The first ruler below the head belongs."""
        del before
        self._title = line.strip()
        self._rulers = 0
        self._exception = ""

    def step(self, line: str) -> Step:
        """The last unindented exception line is what went wrong."""
        if len(self.lines) > (_UNITTEST_LINES if self._rulers else _UNITTEST_HEAD):
            return Step.OVER
        if _RULER.match(line):
            self._rulers += 1
            return Step.OURS if self._rulers == 1 else Step.OVER
        if not self._rulers:
            return Step.GUESS
        if found := _EXCEPTION.match(line):
            self._exception = found["text"]
        return Step.OURS

    def told(self) -> list[Told]:
        """Test and exception."""
        text = f"{self._title} - {self._exception}" if self._exception else self._title
        return [Told(text=text, key=self._title, detail=self.printed)]


class GoTest(Block):
    """``--- FAIL: TestX`` with its subtests; the innermost failing ones are told, a panic with them."""

    looks_back = True
    quiet = Millis(1_000)

    def begin(self, line: str, before: Sequence[str]) -> None:
        """With ``-v`` the messages stand before the verdict, below ``=== RUN``."""
        self._failed: list[str] = []
        self._messages: dict[str, list[str]] = {}
        self._panic: Go | None = None
        self._read_verbose(before)
        self._name = ""
        self._read(line)

    def step(self, line: str) -> Step:
        """Indented lines are messages and subtests; a panic may follow at once."""
        if self._panic is not None:
            return self._panic.step(line) if not line.startswith("FAIL") else Step.OVER
        if line.startswith("panic: "):
            self._panic = Go(self.match)
            self._panic.title = line
            return Step.OURS
        if line[:1] in (" ", "\t") and line.strip():
            self._read(line)
            return Step.OURS
        return Step.OVER

    def told(self) -> list[Told]:
        """A parent fails because a subtest does: only the subtest is told."""
        parents = {name[:place] for name in self._failed for place, letter in enumerate(name) if letter == "/"}
        leaves = [name for name in self._failed if name not in parents]
        frame = self._panic.told()[0].frame if self._panic is not None else ""
        return [
            Told(text=f"FAIL {name}{self._message(name)}", key=f"FAIL {name}", frame=frame, detail=self._printed(name))
            for name in leaves
        ]

    def _message(self, name: str) -> str:
        if self._panic is not None:
            return f": {self._panic.told()[0].text}"
        first = next((line.strip() for line in self._messages.get(name, ()) if line.strip()), "")
        placeless = re.sub(r"^([\w./-]+):\d+: ", r"\1: ", first)
        return f": {placeless}" if first else ""

    def _printed(self, name: str) -> str:
        return "\n".join([*(line for line in self._messages.get(name, ()) if line not in self.lines), self.printed])

    def _read(self, line: str) -> None:
        if found := _GO_FAIL.match(line):
            self._name = found["name"]
            self._failed.append(self._name)
        elif not re.match(r"\s*--- (?:PASS|SKIP)", line):
            self._messages.setdefault(self._name, []).append(line)

    def _read_verbose(self, before: Sequence[str]) -> None:
        name = ""
        for line in before:
            if found := re.match(r"^=== (?:RUN|CONT|NAME)\s+(?P<name>\S+)", line):
                name = found["name"]
            elif name and line[:1] in (" ", "\t"):
                self._messages.setdefault(name, []).append(line)
            else:
                name = ""

"""More test runners: Jest, Vitest, node:test, and those that number their failures: Mocha, RSpec, PHPUnit, ExUnit, minitest."""

import re
from collections.abc import Sequence
from typing import Final

from ...contracts.base import Millis
from .blocks import Block, Step, Told
from .frames import named

_JEST_HEAD: Final = re.compile(r"^\s*● (?P<name>.+)$")
_JEST_SUITE: Final = "Test suite failed to run"
_JEST_END: Final = re.compile(
    r"^(?:Test Suites:|Tests:|Summary of all failing tests|\s?(?:FAIL|PASS|RUNS) |Snapshot Summary| › \d+ )"
)
_INDENTED: Final = re.compile(r"^\s+\S")
_RULE: Final = re.compile(r"^\s*⎯{3,}")
_VITEST_HEAD: Final = re.compile(r"^\s*FAIL\s+(?P<name>.+?(?: > .+?| \[ .+? \]))\s*$")
_VITEST_LINES: Final = 1_000
_QUOTES: Final = "'\""
_TAP_FIELD: Final = re.compile(r"^\s*(?P<name>error|message|location|failureType): ?(?P<value>.*)$")
_ITEM: Final = re.compile(r"^\s*(?P<number>\d+)\) (?P<title>.+?)$")
_LOCATION: Final = re.compile(r"^\S+:\d+$")
_STACK: Final = re.compile(r"^\s+at |^\s+# \S+:\d+|^\s*\S+\.\w+:\d+(?::in .*)?$")
"""What a failure ends with: its stack, or where the test stands."""
_NUMBERED_MORE: Final = re.compile(r"^(?:Caused by$|--$|There (?:was|were) \d+ )")
_TITLE_COLUMN: Final = 5
_BLANK_LINES: Final = 6
_ITEM_LINES: Final = 120
_NUMBERED_END: Final = re.compile(
    r"^(?:Finished in|FAILURES!|ERRORS!|Failed examples:|\d+ (?:runs|tests|examples), |Tests: \d+|npm |error Command)"
)


class Jest(Block):
    """``● suite › test`` with its message, code frame and stack."""

    quiet = Millis(1_000)

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The name stands behind the bullet."""
        del before
        found = _JEST_HEAD.match(line)
        self._name = found["name"].strip() if found else line
        self._message = ""

    def step(self, line: str) -> Step:
        """The next bullet or the totals end it."""
        if _JEST_HEAD.match(line) or _JEST_END.match(line):
            return Step.OVER
        if not line.strip():
            return Step.ASIDE if len(self.aside) < 2 else Step.OVER
        if not _INDENTED.match(line):
            return Step.OVER
        self._message = self._message or line.strip()
        return Step.OURS

    def told(self) -> list[Told]:
        """Test, its file and the first line of the message. Two files may have tests of one name."""
        name = f"{self.file} › {self._name}" if self._name == _JEST_SUITE and self.file else self._name
        text = f"FAIL {name}: {self._message}" if self._message else f"FAIL {name}"
        key = f"FAIL {self.file} › {self._name}" if self.file else f"FAIL {name}"
        return [Told(text=text, key=key, frame=named(self.file), detail=self.printed)]


class Vitest(Block):
    """``FAIL file > suite > test``: equal failures of several tests are printed once below all their names."""

    quiet = Millis(1_000)

    def begin(self, line: str, before: Sequence[str]) -> None:
        """More names may follow."""
        del before
        self._names: list[str] = []
        self._message = ""
        self._name(line)

    def step(self, line: str) -> Step:
        """A ruler ends it."""
        if _RULE.match(line):
            return Step.LAST
        if not self._message and self._name(line):
            return Step.OURS
        if _VITEST_HEAD.match(line) or len(self.lines) > _VITEST_LINES:
            return Step.OVER
        self._message = self._message or line.strip()
        return Step.OURS

    def told(self) -> list[Told]:
        """One event for each name."""
        message = f": {self._message}" if self._message else ""
        return [Told(text=f"FAIL {name}{message}", key=f"FAIL {name}", detail=self.printed) for name in self._names]

    def _name(self, line: str) -> bool:
        found = _VITEST_HEAD.match(line)
        if found is not None:
            self._names.append(found["name"])
        return found is not None


class Tap(Block):
    """``not ok 1 - test`` with the YAML below it, or ``✖ test (1 ms)`` with the error below it."""

    quiet = Millis(1_000)

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The rule's pattern has the name."""
        del before
        self._name = self.match.groups.get("name", line.strip())
        self._indent = len(line) - len(line.lstrip())
        self._fields: dict[str, str] = {}
        self._field = ""
        self._first = ""

    def step(self, line: str) -> Step:
        """What is indented deeper belongs; ``...`` ends it."""
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= self._indent:
            return Step.OVER
        if line.strip() == "...":
            return Step.LAST
        if found := _TAP_FIELD.match(line):
            self._field = found["name"]
            self._fields[self._field] = found["value"].strip(_QUOTES).removeprefix("|-")
        elif self._field and not self._fields[self._field]:
            self._fields[self._field] = line.strip()
        if line.strip() not in ("", "---"):
            self._first = self._first or line.strip()
        return Step.OURS

    def told(self) -> list[Told]:
        """A parent fails because a subtest does: only the subtest is told. Behind a cross, a parent has no error."""
        if self._fields.get("failureType") == "subtestsFailed" or (self.title.lstrip().startswith("✖") and not self._first):
            return []
        message = self._fields.get("error") or ("" if self._fields else self._first)
        if message.startswith("name: "):  # Vitest parts type and message
            message = f"{message[6:].strip(_QUOTES)}: {self._fields.get('message', '')}"
        text = f"FAIL {self._name}: {message}" if message else f"FAIL {self._name}"
        return [Told(text=text, key=f"FAIL {self._name}", detail=self.printed)]


class Numbered(Block):
    """A list of failures: ``1) title`` with message and stack below each."""

    quiet = Millis(1_000)

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The first line is the header of the list, or the first item of it."""
        del before
        self._items: list[tuple[str, list[str]]] = []
        self._placed = False
        self._item(line)

    def step(self, line: str) -> Step:
        """Everything to the totals, or until it is quiet; not all runners have totals: Mocha ends with the last stack."""
        if _NUMBERED_END.match(line):
            return Step.LAST
        if not line.strip():
            return Step.ASIDE if len(self.aside) < _BLANK_LINES else Step.OVER
        if self._item(line):
            self._placed = False
            return Step.OURS
        if self._placed and self.aside and not line[0].isspace() and not _NUMBERED_MORE.match(line):
            return Step.OVER
        if not self._items:
            return Step.GUESS
        self._keep(line)
        return Step.OURS

    def _keep(self, line: str) -> None:
        self._placed = bool(_STACK.match(line))
        lines = self._items[-1][1]
        if len(lines) < _ITEM_LINES:
            lines += [*self.aside, line]

    def told(self) -> list[Told]:
        """One event for each item."""
        return [_numbered(title, lines) for title, lines in self._items]

    def _item(self, line: str) -> bool:
        found = _ITEM.match(line)
        expected = len(self._items) + 1
        # The numbers go up by one: a list in a message does not start an item.
        if found is None or int(found["number"]) != expected:
            return False
        self._items.append((found["title"].strip(), []))
        return True


def _numbered(title: str, lines: list[str]) -> Told:
    """What names the test may go on below the number: Mocha's parts end with a colon, minitest's begin with the kind."""
    rest = [line.strip() for line in lines]
    if title in ("Failure:", "Error:") and rest:
        title, rest = re.sub(r" \[[^\]]*\]:?$", "", rest[0]).rstrip(":"), rest[1:]
    elif parts := _title_parts(title, lines):
        title, rest = " ".join([title, *rest[:parts]]), rest[parts:]
    message = next((line for line in rest if line and not _LOCATION.match(line)), "").removeprefix("Failure/Error: ")
    title = title.rstrip(":")
    printed = "\n".join([title, *lines]).rstrip()
    return Told(text=f"FAIL {title}: {message}" if message else f"FAIL {title}", key=f"FAIL {title}", detail=printed)


def _title_parts(title: str, lines: list[str]) -> int:
    """How many lines belong to Mocha's title: each part is two columns further in, and the last ends with a colon."""
    if title.endswith(":"):
        return 0
    for parts, line in enumerate(lines, start=1):
        if len(line) - len(line.lstrip()) != _TITLE_COLUMN + 2 * parts:
            return 0
        if line.rstrip().endswith(":"):
            return parts
    return 0

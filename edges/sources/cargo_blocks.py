"""Cargo test: a failing test by its section, and by progress and lists of names where nothing says more of it."""

import re
from collections.abc import Sequence
from typing import Final

from ...contracts.base import Millis
from .blocks import Block, Step, Told

_CARGO_HEAD: Final = re.compile(r"^---- (?P<name>.+) stdout ----$")
_CARGO_NAME: Final = re.compile(r"^    (?P<name>[A-Za-z_][\w:<>]*(?: - .+)?)$")
_CARGO_PANIC: Final = re.compile(r"panicked at (?:'(?P<message>.*)', )?\S+?:\d+:\d+:?$")


class CargoTest(Block):
    """``---- name stdout ----`` with the panic below it."""

    quiet = Millis(1_000)

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The name stands between the dashes."""
        del before
        found = _CARGO_HEAD.match(line.strip())
        self._name = found["name"] if found else line
        self._message, self._error = "", ""
        self._next_is_message = False

    def step(self, line: str) -> Step:
        """The next head, or the list of failures, ends it."""
        if _CARGO_HEAD.match(line) or line == "failures:" or line.startswith("test result:"):
            return Step.OVER
        if self._next_is_message and line.strip():
            self._message, self._next_is_message = self._message or line.strip(), False
        if found := _CARGO_PANIC.search(line):
            self._message = self._message or found["message"] or ""
            self._next_is_message = not self._message
        elif line.startswith("Error: "):
            self._error = line  # what a test returns is printed after all that it printed itself
        return Step.OURS

    def told(self) -> list[Told]:
        """Test and message of the panic, or the error that it returned."""
        message = self._message or self._error
        text = f"FAILED {self._name}: {message}" if message else f"FAILED {self._name}"
        return [Told(text=text, key=f"FAILED {self._name}", detail=self.printed)]


class Names(Block):
    """``failures:`` and the names below it: where threads print into each other's lines, no other line names a test whole."""

    def begin(self, line: str, before: Sequence[str]) -> None:
        """No name yet."""
        del line, before
        self._names: list[str] = []

    def step(self, line: str) -> Step:
        """Indented by four, a name alone."""
        if not line.strip():
            return Step.ASIDE if not self.aside and not self._names else Step.OVER
        if not (found := _CARGO_NAME.match(line)):
            return Step.OVER
        self._names.append(found["name"])
        return Step.OURS

    def told(self) -> list[Told]:
        """Each is told only if nothing says more of it."""
        keys = [f"FAILED {name}" for name in self._names]
        return [Told(text=key, key=key, detail="", kept_back=True) for key in keys]


class Progress(Block):
    """A failing test in a runner's progress. It is told only if nothing says more of it: the key is that of the summary."""

    def told(self) -> list[Told]:
        """Status and test, kept back until the stream ends."""
        groups = self.match.groups
        key = f"{groups.get('what', 'FAILED')} {groups.get('id', self.title.strip())}"
        return [Told(text=key, key=key, kept_back=True)]

"""Trace: what the rules did to one text, one record each. The slow way to the same canonical form."""

import re
from collections.abc import Callable
from typing import Final

from ..contracts.base import Record
from . import canonical_strict as strict
from .canonical_loose import LOOSE
from .canonical_rules import Leave, Rules
from .volatile import BUNDLED, GUTTER, STANDARD, leave_bundled, put_away, put_back

_CODES: Final = (
    ("escape-sequence", strict.COLOUR, ""),
    ("escape-sequence", strict.FORWARD, " "),
    ("escape-sequence", strict.ESCAPES, ""),
    ("escape-sequence", strict.BARE_OSC, ""),
    ("invisible-character", strict.INVISIBLE, ""),
    ("white-space", strict.RARE_SPACE, " "),
)


class Replacement(Record, frozen=True, kw_only=True):
    """One thing that was replaced: which rule did it, what stood there, what stands there now."""

    rule: str
    before: str
    after: str


class Trace:
    """A text on its way through the rules, and what they did to it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.replacements: list[Replacement] = []
        self._shelved = False

    def to_core(self) -> None:
        """What ``canonical_strict.core`` does."""
        if not self.text.isascii() or not self.text.isprintable():
            for rule, pattern, leave in _CODES:
                self._each(rule, pattern, leave)
        self._whole("unicode-form", strict.composed)
        if "[" in self.text:
            self._each("left-over-colour", strict.SPELT_COLOUR, "")
            self._each("left-over-colour", strict.BARE_COLOUR, "")
        if self.text[:1] in strict.DIGITS:
            self._each("left-over-colour", strict.GLUED_COLOUR, r"\1")
        self._whole("white-space", str.strip)
        before, known = self.text, len(self.replacements)
        self._whole("line-column", strict.drop_tail)
        self._whole("time-stamp", strict.drop_prefix)
        if not self.text:  # a text that is nothing but a time stamp keeps it
            self.text = before
            del self.replacements[known:]

    def to_strict(self) -> None:
        """From a core to its strict form."""
        self._whole("case-and-space", strict.collapse)

    def to_standard(self) -> None:
        """From a core to its standard form."""
        whole, known = self.text, len(self.replacements)
        self._put_away()
        if "\n" in self.text:
            self._each("source-line-number", GUTTER, "|")
        if ".js" in self.text or ".css" in self.text:
            self._each("asset-hash", BUNDLED, leave_bundled)
        self.to_strict()
        self._rules(STANDARD)
        self.text, self._shelved = self._shown(self.text), False
        if not self.text:
            self.text = whole
            del self.replacements[known:]
            self.to_strict()

    def to_loose(self) -> None:
        """From a standard form to its loose form."""
        self._rules(LOOSE)
        self._whole("white-space", lambda text: " ".join(text.split()))

    def _put_away(self) -> None:
        seen = put_away(self.text)
        self._shelved = seen != self.text
        self._whole("case-and-space", lambda _: seen)

    def _shown(self, text: str) -> str:
        return put_back(text) if self._shelved else text

    def _rules(self, rules: Rules) -> None:
        for each in rules.needed(self.text):
            if not each.start:
                self._each(each.name, each.pattern, each.leave)
            elif found := each.pattern.match(self.text):
                self._note(each.name, found[0], _left(found, each.leave))
                self.text = _left(found, each.leave) + self.text[found.end() :]
        self._whole("white-space", lambda text: " ".join(text.split()))

    def _each(self, rule: str, pattern: re.Pattern[str], leave: Leave) -> None:
        for found in pattern.finditer(self.text):
            self._note(rule, found[0], _left(found, leave))
        self.text = pattern.sub(leave, self.text)

    def _whole(self, rule: str, step: Callable[[str], str]) -> None:
        text = step(self.text)
        self._difference(rule, self._shown(self.text), self._shown(text))
        self.text = text

    def _difference(self, rule: str, before: str, after: str) -> None:
        same = _shared(before, after)
        end = _shared(before[same:][::-1], after[same:][::-1])
        self._note(rule, before[same : len(before) - end], after[same : len(after) - end])

    def _note(self, rule: str, before: str, after: str) -> None:
        if before != after:
            self.replacements.append(Replacement(rule=rule, before=self._shown(before), after=self._shown(after)))


def _left(found: re.Match[str], leave: Leave) -> str:
    return leave(found) if callable(leave) else found.expand(leave)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))

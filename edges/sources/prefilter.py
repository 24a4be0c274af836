"""Prefilter: says in one pass over a text which of its lines can hold a finding at all.

Every matching line holds one of a few stems: an everyday word of trouble, or a literal of a rule that does without one. Of
each stem only its end from its rarest letter on is searched for, so that the search seldom has to look closer than at one
character. Letters with few stems go by substring search, which costs 0.05 µs a line and stem, the others by one expression
factored by common beginnings. On ordinary logs (80 characters a line) that takes 2.2 µs a line for 150 stems; the plain
alternation of all 600 literals takes 30 µs, one factored expression of them 9 µs.
"""

import re
from collections.abc import Iterable
from typing import Final

# fmt: off
COMMON: Final = (
    "error", "fail", "exception", "panic", "fatal", "traceback", "refused", "denied", "unable", "cannot", "can't",
    "could not", "couldn't", "not found", "no such", "missing", "invalid", "unknown", "undefined", "unexpected",
    "timed out", "timeout", "exceeded", "abort", "killed", "crash", "conflict", "violat", "unhandled", "uncaught",
    "in use", "memory", "broken", "reject", "mismatch", "expired", "unresolved", "not exist", "no space", "critical",
    "severe", "unsupported", "exited", "overflow", "forbidden", "unauthorized", "err!", "err_", "threshold",
    "stdout ----", "● ", "short test summary", "not ok ", "✖ ", "✘ ", "› ", "dubious", "data race", "is taken",
    "occupied", "unavailable", "not available", "too many", ".php line ", "require", 'file "', "non-zero", "must be",
    "not allowed", "no package", "not in ", ".go:", ".py:", "incompatible", "ruby version", "occurred", "no solution",
    "⨯ ", "** (", "no rule", "corrupt", "smashing", "double free", "terminat", "unapplied", "already running",
    "went wrong", "bad ", "no module", "unbound", "too long", " fault", "dumped", "sigsegv", "sigabrt", "sigbus",
    "illegal", "not set", " 500", " 502", " 503", " 504", "attempt to", "errno", ".pl line ", ".pm line ",
    "exit status", "limit reached", "inotify", "lost", "closed", "unhealthy", "depends on", "1) test", "emfile",
    "enfile", "enospc", "did not",
    # What loggers write for error and worse: cut short, in one letter, as a number.
    "erro", "eror", "[err", "err ", "err]", "=err", '"err"', "[e]", "[e ", "fata", "ftl", "crit", "pani", "emerg", "alert",
    '"level":50', '"level": 50', '"level":60', '"level": 60', '"level":"e"', '"level":"f"', '"s":"e"', '"s":"f"', ".cc:",
)
# fmt: on
"""Words of which every line holds one that a rule with ``common = true`` can match."""

# How often a character stands in logs, in thousandths, counted over the outputs that the tests keep.
_OFTEN: Final = {
    character: thousandths
    for thousandths, characters in {
        113: " ", 59: "e", 45: "t", 41: "rios", 36: "01", 32: ".na/", 25: "dpl2", 18: "-m3ch:", 15: "fg=", 13: "yu",
        11: "5b764", 8: '"8', 6: "wk9q", 4: ",()j[", 3: "']_", 2: ">xz", 1: "|?v",
    }.items()
    for character in characters
}  # fmt: skip
_SHORTEST: Final = 4
_SEARCHED_ALONE: Final = 6
"""A letter this often (in thousandths) in a text costs the expression as much as one substring search."""
_BEGINNING: Final = 3
_END: Final = ""
_Tree = dict[str, "_Tree"]


class Prefilter:
    """Finds the lines of a text that can match a rule. ``literals`` are those of the rules that are not ``common``."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.stems: Final = _fewest({*COMMON, *(literal.lower() for literal in literals)})
        """The texts of which every matching line holds one."""
        by_letter: dict[str, list[str]] = {}
        for ending in _fewest({_rarest_ending(stem) for stem in self.stems}):
            by_letter.setdefault(ending[0], []).append(ending)
        alone = {letter for letter, endings in by_letter.items() if len(endings) * _SEARCHED_ALONE < _OFTEN.get(letter, 0)}
        self.alone: Final = tuple(ending for letter in sorted(alone) for ending in by_letter[letter])
        together = [ending for letter, endings in by_letter.items() if letter not in alone for ending in endings]
        self.expression: Final = re.compile(_expression(_tree(together)) if together else r"(?!)")

    def scan(self, text: str) -> "Scan":
        """A search over whole lines, to be asked place by place."""
        return Scan(self, lowered(text))

    def holds(self, line: str) -> bool:
        """True if a line, in lower case, holds a whole stem and not only the end of one."""
        return any(stem in line for stem in self.stems)


class Literals:
    """Finds which of many literals a line holds, by the first characters of each: a line has few of all beginnings."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._by_beginning: dict[str, list[str]] = {}
        self._short: list[str] = []
        for literal in literals:
            if len(literal) < _BEGINNING:
                self._short.append(literal)
            else:
                self._by_beginning.setdefault(literal[:_BEGINNING], []).append(literal)
        self._beginnings = self._by_beginning.keys()

    def within(self, line: str) -> list[str]:
        """The literals that a line, in lower case, holds."""
        beginnings = {line[place : place + _BEGINNING] for place in range(len(line) - _BEGINNING + 1)}
        found = [literal for begin in beginnings & self._beginnings for literal in self._by_beginning[begin] if literal in line]
        return found + [literal for literal in self._short if literal in line]


class Scan:
    """Where in one text the next line stands that can hold a finding."""

    __slots__ = ("_alone", "_found", "_search", "_text")

    def __init__(self, prefilter: Prefilter, text: str) -> None:
        self._text = text
        self._search = prefilter.expression.search
        self._alone = {ending: at for ending in prefilter.alone if (at := text.find(ending)) >= 0}
        self._found = -1

    def next(self, place: int) -> int:
        """The beginning of the first such line at or behind ``place``, itself the beginning of a line; -1 if there is none."""
        if self._found < place:
            found = self._search(self._text, place)
            self._found = found.start() if found is not None else len(self._text)
        first = self._found
        for ending, at in list(self._alone.items()):
            if at < place:
                at = self._text.find(ending, place)  # noqa: PLW2901 - the place moves on
                if at < 0:
                    del self._alone[ending]
                    continue
                self._alone[ending] = at
            first = min(first, at)
        return self._text.rfind("\n", place, first) + 1 or place if first < len(self._text) else -1


def lowered(text: str) -> str:
    """Lower case, each character in its place: the few whose lower case is longer (a Turkish capital I) stay."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(one if len(one := character.lower()) == 1 else character for character in text)


def _rarest_ending(stem: str) -> str:
    begin = min(range(max(1, len(stem) - _SHORTEST + 1)), key=lambda place: _OFTEN.get(stem[place], 0))
    return stem[begin:]


def _fewest(literals: set[str]) -> tuple[str, ...]:
    """Without those that hold another one."""
    fewest: list[str] = []
    for literal in sorted(literals, key=lambda text: (len(text), text)):
        if not any(shorter in literal for shorter in fewest):
            fewest.append(literal)
    return tuple(sorted(fewest))


def _tree(words: Iterable[str]) -> _Tree:
    root: _Tree = {}
    for word in words:
        node = root
        for character in word:
            node = node.setdefault(character, {})
        node[_END] = {}
    return root


def _expression(node: _Tree) -> str:
    if _END in node:
        return ""
    branches = [re.escape(character) + _expression(below) for character, below in sorted(node.items())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"

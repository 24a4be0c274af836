"""Rules: the catalogue of what a line of process output can mean, kept as data and checked when it is loaded."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from ...contracts.errors import BadInput
from ...contracts.severity import SeverityName
from . import regex_cost, rulefile, structured
from .prefilter import Literals, Prefilter, lowered
from .prefix import Prefixed, parse
from .rule import Rule

MATCHED: Final = regex_cost.SEEN
"""Characters of a line that patterns see; the rest of a longer line is told but not searched."""

_QUIET: Final = frozenset({"debug", "info"})
# What stands in front of a bar that parts alternatives, or hides one: an escape, a class, a bracket.
_TOKEN: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)
_RANKS: Final = {"": 0, "debug": 0, "info": 0, "warning": 1, "error": 2, "critical": 3}


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A line and the rule that it matched."""

    rule: Rule
    line: Prefixed
    start: str
    """The message as the rule saw it: the line behind the part of its prefix where the pattern held."""
    severity: SeverityName
    groups: dict[str, str] = {}
    """The named groups of the pattern."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a line is a finding or not, for people."""

    line: Prefixed
    literals: tuple[str, ...]
    """The literals of rules that the line holds; without one, no rule was tried."""
    match: Match | None
    passed_over: tuple[tuple[str, str], ...]
    """Rule id and reason for each rule that was tried before and did not match."""


class _Compiled:
    """A rule with its expressions, made ready when the rule is first tried: most never are."""

    __slots__ = ("_is_own", "_ready", "rule")

    def __init__(self, rule: Rule, *, is_own: bool) -> None:
        self.rule = rule
        self._is_own = is_own
        self._ready: _Expressions | None = None

    @property
    def expressions(self) -> "_Expressions":
        if self._ready is None:
            self._ready = _Expressions(self.rule, is_own=self._is_own)
        return self._ready


class _Expressions:
    __slots__ = ("anchored", "floating", "seen", "unless")

    def __init__(self, rule: Rule, *, is_own: bool) -> None:
        self.seen = min(map(regex_cost.seen, (*rule.patterns, *rule.unless))) if is_own else MATCHED
        self.anchored = [re.compile(pattern) for pattern in rule.patterns if _is_anchored(pattern)]
        self.floating = [re.compile(pattern) for pattern in rule.patterns if not _is_anchored(pattern)]
        self.unless = [re.compile(pattern) for pattern in rule.unless]

    def find(self, line: Prefixed) -> tuple[str, re.Match[str]] | None:
        """The start of the message and the match. The shortest first: what stands before the message is not told."""
        starts = line.starts[::-1]
        for pattern in self.anchored:
            for start in starts:
                if found := pattern.match(start, 0, self.seen):
                    return start, found
        for pattern in self.floating:
            for start in starts:
                if found := pattern.search(start, 0, self.seen):
                    return line.body, found
        return None

    def taken_back(self, line: Prefixed) -> str:
        """The expression that takes a match back, if one does."""
        return next(
            (pattern.pattern for pattern in self.unless if any(pattern.search(start, 0, self.seen) for start in line.starts)),
            "",
        )


class Catalogue:
    """All rules, in the order in which they are tried."""

    def __init__(self, rules: Iterable[Rule], own: Collection[str] = ()) -> None:
        self.rules: Final = tuple(sorted(rules, key=lambda rule: (rule.priority, rule.id)))
        """Every rule, disabled ones too."""
        self._compiled = [_Compiled(rule, is_own=rule.id in own) for rule in self.rules if rule.enabled]
        self._by_literal: dict[str, list[int]] = {}
        for place, compiled in enumerate(self._compiled):
            for literal in compiled.rule.literals:
                self._by_literal.setdefault(literal.lower(), []).append(place)
        self._own_literals = Literals(self._by_literal)
        searched = (literal for compiled in self._compiled if not compiled.rule.common for literal in compiled.rule.literals)
        self.prefilter: Final = Prefilter(searched)
        """Finds the lines that are worth a closer look."""

    @classmethod
    def load(cls, extra: Iterable[Path] = ()) -> "Catalogue":
        """The rules that come with tocsin, then those of ``extra``: a known id overrides, a new one adds.

        :raises BadInput: with file, line and what is wrong
        """
        read = rulefile.load(extra)
        loaded = cls(read.rules, read.own)
        for example in read.examples:
            loaded._run(example)
        return loaded

    def _run(self, example: rulefile.Example) -> None:
        """An example that fails tells more of what is wrong with a rule than silence at the first real line would."""
        match = self.match(example.line)
        found = match.rule.id if match is not None else ""
        if (found == example.rule) == (example.field == "matches"):
            return
        does = (
            "is matched by it" if found == example.rule else f"is matched by {found} before it" if found else "is not matched"
        )
        raise BadInput(f"{example.where}: {example.rule}: the line {example.line!r} of {example.field} {does}")

    def match(self, line: str) -> Match | None:
        """The first rule that the line matches, or None if it is no finding."""
        shown = line[:MATCHED]
        literals = self._literals(shown)
        if not literals:
            return None
        parsed = self._parsed(line, shown)
        for place in self._places(literals):
            found = self._try(self._compiled[place], parsed)
            if isinstance(found, Match):
                return found
        return None

    def explain(self, line: str) -> Explanation:
        """The same as ``match``, with what was taken off, what was tried, and why it did not match."""
        shown = line[:MATCHED]
        literals = self._literals(shown)
        parsed = self._parsed(line, shown)
        passed: list[tuple[str, str]] = []
        for place in self._places(literals):
            found = self._try(self._compiled[place], parsed)
            if isinstance(found, Match):
                return Explanation(line=parsed, literals=literals, match=found, passed_over=tuple(passed))
            passed.append((self._compiled[place].rule.id, found))
        return Explanation(line=parsed, literals=literals, match=None, passed_over=tuple(passed))

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id."""
        return next((rule for rule in self.rules if rule.id == rule_id), None)

    def _literals(self, line: str) -> tuple[str, ...]:
        low = lowered(line)
        found = self._own_literals.within(low)
        return tuple(sorted(found)) if found and self.prefilter.holds(low) else ()

    def _parsed(self, line: str, shown: str) -> Prefixed:
        parsed = parse(shown)
        if not parsed.body.startswith("{"):
            return parsed
        record = structured.parse(line[len(parsed.taken_off) :])
        return parsed if record is None else msgspec.structs.replace(record, service=parsed.service)

    def _places(self, literals: Sequence[str]) -> list[int]:
        return sorted({place for literal in literals for place in self._by_literal[literal]})

    def _try(self, compiled: _Compiled, line: Prefixed) -> Match | str:
        rule = compiled.rule
        if line.level in _QUIET and rule.level_counts:
            return f"the line says that it is {line.level}"
        if _RANKS[line.level] < _RANKS[rule.states]:
            return f"the line states no level as bad as {rule.states}"
        found = compiled.expressions.find(line)
        if found is None:
            return "no pattern fits"
        if taken_back := compiled.expressions.taken_back(line):
            return f"taken back by {taken_back}"
        start, match = found
        start = line.stated or start if rule.states else start
        groups = {name: text for name, text in match.groupdict().items() if text}
        return Match(rule=rule, line=line, start=start, severity=_severity(rule, line, match[0]), groups=groups)


def _severity(rule: Rule, line: Prefixed, found: str) -> SeverityName:
    """A line that says it is a warning is no more than that, unless that word is what the rule looks for."""
    is_capped = line.level == "warning" and rule.severity in ("error", "critical") and not found.upper().startswith("WARN")
    return "warning" if is_capped else rule.severity


def _is_anchored(pattern: str) -> bool:
    """True if every alternative of the pattern begins with ``^``, so that it need only be tried at the start."""
    pattern = pattern.removeprefix("(?i)")
    depth, begins = 0, [0]
    for token in _TOKEN.finditer(pattern):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if token[0] == "|" and not depth:
            begins.append(token.end())
    return all(pattern.startswith("^", begin) for begin in begins)

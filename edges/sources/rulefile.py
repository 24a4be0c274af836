"""Rule files: TOML becomes checked rules; what is wrong is told with file and line."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from ...contracts.errors import BadInput
from . import regex_cost
from .prefilter import COMMON
from .rule import GROUPS, Rule

_HEADER: Final = re.compile(r"^[ \t]*\[\[\s*(?:rule|\"rule\"|'rule')\s*\]\]", re.MULTILINE)
_PLACE: Final = re.compile(r"\$(?:\.(?P<field>\w+))?")
_SHORTEST: Final = 3
_OF_PATTERNS: Final = ("literals", "common", "matches", "ignores")
"""Fields that say something of the patterns: where those are new, what was said of the old ones no longer holds."""


class Example(NamedTuple):
    """A line of ``matches`` or ``ignores`` in a file of one's own."""

    where: str
    """File and line, for the error."""
    rule: str
    field: str
    line: str


class Loaded(NamedTuple):
    """What the files say."""

    rules: list[Rule]
    examples: list[Example]
    """Those of the extra files: of the rules that come with tocsin they are its own tests."""
    own: frozenset[str] = frozenset()
    """The rules with patterns of an extra file: what those see of a line is bounded by what they may cost."""


class _Table(NamedTuple):
    """One table of a file, and where it stands."""

    name: str
    text: str
    number: int
    fields: dict[str, Any]
    is_extra: bool

    def bad(self, problem: str, field: str | None = None) -> BadInput:
        return BadInput(f"{self.where(field)}: {problem}")

    def where(self, field: str | None = None) -> str:
        return f"{self.name}:{_field_line(self.text, self.number, field)}"


def load(extra: Iterable[Path]) -> Loaded:
    """The rules of the package, then those of the files in ``extra``.

    A file holds tables ``[[rule]]``. One with a known id changes only the fields that it names, so two lines disable a rule;
    new patterns also take away what was said of the old ones.

    :raises BadInput: with file, line and what is wrong
    """
    whole: dict[str, dict[str, Any]] = {}
    rules: dict[str, Rule] = {}
    seen: dict[tuple[str, str], int] = {}
    examples: list[Example] = []
    own: set[str] = set()
    for table in _tables(extra):
        rule_id = _id(table)
        if earlier := seen.get((table.name, rule_id)):
            raise table.bad(f"{rule_id}: line {earlier} of this file has a rule of that id; one table says all of it", "id")
        seen[table.name, rule_id] = table.number
        whole[rule_id] = _merged(whole.get(rule_id, {}), table.fields)
        rules[rule_id] = _rule(table, whole[rule_id], rules)
        if table.is_extra and not {"patterns", "unless"}.isdisjoint(table.fields):
            own.add(rule_id)
        if table.is_extra and rules[rule_id].enabled:
            examples += _examples(table)
    return Loaded(list(rules.values()), examples, frozenset(own))


def _texts(extra: Iterable[Path]) -> Iterator[tuple[str, str, bool]]:
    folder = files(__package__).joinpath("catalogue")
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            yield entry.name, entry.read_text(encoding="utf-8"), False
    for path in extra:
        try:
            yield str(path), path.read_text(encoding="utf-8"), True
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: can't be read: {error}") from error


def _tables(extra: Iterable[Path]) -> Iterator[_Table]:
    for name, text, is_extra in _texts(extra):
        for number, fields in _in_file(name, text):
            yield _Table(name, text, number, fields, is_extra)


def _in_file(name: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise BadInput(f"{name}:{line[1] if line else 1}: {error}") from error
    unknown = set(content) - {"rule"}
    tables = content.get("rule", [])
    if unknown or not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        key = min(unknown, default="rule")
        number = _key_line(text, key)
        raise BadInput(f"{name}:{number}: only tables [[rule]] are known here, not {', '.join(sorted(unknown)) or 'rule = …'}")
    numbers = [text.count("\n", 0, header.start()) + 1 for header in _HEADER.finditer(text)]
    if len(numbers) != len(tables):
        numbers = [_key_line(text, "rule")] * len(tables)
    yield from zip(numbers, tables, strict=True)


def _id(table: _Table) -> str:
    rule_id = table.fields.get("id")
    if rule_id is None:
        raise table.bad("a rule needs an id")
    if not isinstance(rule_id, str) or not re.fullmatch(r"\S+", rule_id):
        raise table.bad(f"the id of a rule is a word such as sold-out, not {rule_id!r}", "id")
    return rule_id


def _merged(known: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    if "patterns" in fields:
        known = {name: value for name, value in known.items() if name not in _OF_PATTERNS}
    return known | fields


def _rule(table: _Table, whole: dict[str, Any], known: Iterable[str]) -> Rule:
    whole = {**whole, "literals": whole.get("literals") or _own_literals(whole.get("patterns"))}
    rule_id = whole["id"]
    try:
        rule = msgspec.convert(whole, Rule)
    except msgspec.ValidationError as error:
        place = _PLACE.search(str(error))
        said = f"{rule_id}: {error}"
        raise table.bad(said + _not_known(rule_id, known, str(error)), place and place["field"]) from error
    for field, problem in _problems(table, rule):
        raise table.bad(f"{rule_id}: {problem}", field)
    return rule


def _not_known(rule_id: str, known: Iterable[str], error: str) -> str:
    """A table that names little is most often meant to change a rule that there is."""
    if not error.startswith("Object missing required field"):
        return ""
    near = get_close_matches(rule_id, list(known), 1)
    return f"; no rule is called {rule_id} yet, and a new one needs it" + (f" (did you mean {near[0]}?)" if near else "")


def _problems(table: _Table, rule: Rule) -> Iterator[tuple[str, str]]:
    for field in ("patterns", "unless"):
        for pattern in getattr(rule, field):
            yield from ((field, problem) for problem in _pattern_problems(table, rule, field, pattern))
    if not rule.patterns:
        yield "patterns", "at least one pattern is needed"
    if not rule.literals:
        yield (
            "literals",
            "name texts of which each matching line holds at least one (literals = […]); they make the search fast",
        )
    for literal in rule.literals:
        if len(literal.encode()) < _SHORTEST:
            yield "literals", f"{literal!r} is shorter than {_SHORTEST} bytes"
        elif table.is_extra and table.fields.get("common") and not any(word in literal.lower() for word in COMMON):
            yield "common", f"{literal!r} holds no everyday word of trouble, so no line would be found by it: leave common out"


def _pattern_problems(table: _Table, rule: Rule, field: str, pattern: str) -> Iterator[str]:
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, OverflowError, RecursionError) as error:
        yield f"{pattern!r} is no regular expression: {error}"
        return
    needed = GROUPS.get(rule.opens, ()) if field == "patterns" else ()
    if missing := [name for name in needed if name not in groups]:
        yield f"{pattern!r} opens {rule.opens}, which needs the named group (?P<{missing[0]}>…)"
    if table.is_extra and field in table.fields and (why := regex_cost.too_costly(pattern)):
        yield f"{pattern!r} could take very long on some lines: {why}"


def _examples(table: _Table) -> Iterator[Example]:
    for field in ("matches", "ignores"):
        for line in table.fields.get(field, ()):
            yield Example(table.where(field), table.fields["id"], field, line)


def _own_literals(patterns: object) -> list[str]:
    """Patterns that are plain text are literals themselves."""
    if not isinstance(patterns, list):
        return []
    plain = [pattern.removeprefix("(?i)").lstrip("^").rstrip("$") for pattern in patterns if isinstance(pattern, str)]
    return [text.lower() for text in plain] if all(re.escape(text).replace("\\ ", " ") == text for text in plain) else []


def _key_line(text: str, key: str) -> int:
    """The line where a key of the file itself stands; the first if it is not found."""
    found = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(key)}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _field_line(text: str, number: int, field: str | None) -> int:
    """The line of a field within the table that begins at a line; that line if it is not there."""
    for offset, line in enumerate(text.split("\n")[number:], start=number + 1):
        if line.lstrip().startswith("[["):
            break
        if field and re.match(rf"\s*{re.escape(field)}\s*=", line):
            return offset
    return number

"""Rule files: TOML becomes checked rules; what is wrong is told with file and line."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import msgspec

from ...contracts.errors import BadInput
from .rule import Rule

_HEADER: Final = re.compile(r"^[ \t]*\[\[\s*rule\s*\]\]", re.MULTILINE)
_PLACE: Final = re.compile(r"\$(?:\.(?P<field>\w+))?")
_SHORTEST: Final = 3


def load(extra: Iterable[Path]) -> list[Rule]:
    """The rules of the package, then those of the files in ``extra``.

    A file holds tables ``[[rule]]``. One with a known id changes only the fields that it names, so two lines disable a rule.

    :raises BadInput: with file, line and what is wrong
    """
    tables: dict[str, dict[str, Any]] = {}
    rules: dict[str, Rule] = {}
    for name, text in _texts(extra):
        for number, table in _tables(name, text):
            rule_id = table.get("id")
            if not isinstance(rule_id, str):
                raise BadInput(f"{name}:{number}: a rule needs an id")
            tables[rule_id] = tables.get(rule_id, {}) | table
            rules[rule_id] = _rule(name, text, number, tables[rule_id])
    return list(rules.values())


def _texts(extra: Iterable[Path]) -> Iterator[tuple[str, str]]:
    folder = files(__package__).joinpath("catalogue")
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            yield entry.name, entry.read_text(encoding="utf-8")
    for path in extra:
        try:
            yield str(path), path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: can't be read: {error}") from error


def _tables(name: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise BadInput(f"{name}:{line[1] if line else 1}: {error}") from error
    unknown = set(content) - {"rule"}
    tables = content.get("rule", [])
    if unknown or not isinstance(tables, list):
        raise BadInput(f"{name}:1: only tables [[rule]] are known here, not {', '.join(sorted(unknown)) or 'rule'}")
    numbers = [text.count("\n", 0, header.start()) + 1 for header in _HEADER.finditer(text)]
    if len(numbers) != len(tables):
        numbers = [1] * len(tables)
    yield from zip(numbers, tables, strict=True)


def _rule(name: str, text: str, number: int, table: dict[str, Any]) -> Rule:
    table = {**table, "literals": table.get("literals") or _own_literals(table.get("patterns"))}
    try:
        rule = msgspec.convert(table, Rule)
    except msgspec.ValidationError as error:
        place = _PLACE.search(str(error))
        raise BadInput(f"{name}:{_field_line(text, number, place and place['field'])}: {table.get('id')}: {error}") from error
    for field, problem in _problems(table):
        raise BadInput(f"{name}:{_field_line(text, number, field)}: {table['id']}: {problem}")
    return rule


def _problems(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field in ("patterns", "unless"):
        for pattern in table.get(field, ()):
            try:
                re.compile(pattern)
            except re.error as error:
                yield field, f"{pattern!r} is no regular expression: {error}"
    if not table.get("patterns"):
        yield "patterns", "at least one pattern is needed"
    if not table["literals"]:
        yield "literals", "name texts of which each matching line holds at least one; they make the search fast"
    for literal in table["literals"]:
        if len(literal.encode()) < _SHORTEST:
            yield "literals", f"{literal!r} is shorter than {_SHORTEST} bytes"


def _own_literals(patterns: object) -> list[str]:
    """Patterns that are plain text are literals themselves."""
    if not isinstance(patterns, list):
        return []
    plain = [pattern.removeprefix("(?i)").lstrip("^").rstrip("$") for pattern in patterns if isinstance(pattern, str)]
    return [text.lower() for text in plain] if all(re.escape(text).replace("\\ ", " ") == text for text in plain) else []


def _field_line(text: str, number: int, field: str | None) -> int:
    """The line of a field within the table that begins at a line; that line if it is not there."""
    for offset, line in enumerate(text.split("\n")[number:], start=number + 1):
        if line.lstrip().startswith("[["):
            break
        if field and re.match(rf"\s*{re.escape(field)}\s*=", line):
            return offset
    return number

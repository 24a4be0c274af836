"""TOML places: the line of a key in a TOML text, for whoever has to mend it."""

import re
import tomllib
from collections.abc import Iterator
from typing import Final

_HEADER: Final = re.compile(r"\s*\[\[?([^\]]*)\]")
_KEY: Final = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


def line_of(text: str, key: str) -> int:
    """The line of a dotted key, or of what holds it; 1 if it is not there."""
    best, found = 0, 1
    for number, named in _names(text.splitlines()):
        if len(named) > best and (key == named or key.startswith(f"{named}.")):
            best, found = len(named), number
    return found


def _names(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Every line that begins a table or a value, and the dotted name of that."""
    table = ""
    for number, line in enumerate(lines, start=1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if not (header or key) or not _stands_alone(lines[: number - 1]):
            continue
        if header:
            table = _plain(header[1])
            yield number, table
        elif key:
            yield number, f"{table}.{_plain(key[1])}" if table else _plain(key[1])


def _plain(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def _stands_alone(before: list[str]) -> bool:
    """False for what is within a text or a list that began in the lines before."""
    try:
        tomllib.loads("\n".join(before))
    except tomllib.TOMLDecodeError:
        return False
    return True

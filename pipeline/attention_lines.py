"""Attention lines: text from others, inert and in lines of so many columns; wide and combining letters count as they show."""

from typing import Final
from unicodedata import category, east_asian_width

from .inert import inert

_TAB: Final = "    "


def one_line(text: str) -> str:
    """The text without control characters, on one line."""
    return " ".join(inert(text).split())


def wrapped(text: str, columns: int) -> list[str]:
    """Lines no wider than ``columns``; at least one. Line breaks of the text stay; a word that is too long is broken."""
    lines: list[str] = []
    for paragraph in inert(text).replace("\t", _TAB).strip("\n").split("\n"):
        lines += _wrapped_paragraph(paragraph.rstrip(), columns)
    return lines


def _wrapped_paragraph(text: str, columns: int) -> list[str]:
    words = text.lstrip(" ")
    indent = text[: min(len(text) - len(words), columns // 2)]
    lines, line, width = [], indent, len(indent)
    for word in words.split(" "):
        joint = " " if line.strip() else ""
        if width + len(joint) + cells(word) <= columns:
            line, width = line + joint + word, width + len(joint) + cells(word)
            continue
        if line.strip():
            lines.append(line)
        *full, line = _pieces(word, columns)
        lines += full
        width = cells(line)
    return [*lines, line]


def _pieces(word: str, columns: int) -> list[str]:
    pieces, start, width = [], 0, 0
    for place, letter in enumerate(word):
        wide = cells(letter)
        if width + wide > columns:
            pieces.append(word[start:place])
            start, width = place, 0
        width += wide
    return [*pieces, word[start:]]


def cells(text: str) -> int:
    """Columns that a terminal gives the text."""
    return len(text) if text.isascii() else sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in ("W", "F") else 1

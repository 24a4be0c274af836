"""Regex cost: says of a regular expression whether some line could keep the matcher busy for very long.

Two things cost: a repetition within a repetition of which the same text can be read in many ways (``(a+)+``) takes time that
doubles with each character; several repetitions in a row that can take the same characters (``.*a.*b.*c``) take a power of the
line's length. A repetition that the next character surely ends (``[^:]*:``) costs nothing.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final

SEEN: Final = 8_192
"""Characters of a line that a pattern sees which has at most one open repetition."""
_MOST: Final = 3
_SEEN_WITH: Final = {2: 4_000, 3: 800, 4: 250}
"""Characters that one sees with so many, the search for its beginning counted in: about the same work in the worst case."""

# The parser of ``re`` has been where it is since 3.11, and its tree as it is for far longer.
_parser: Final[Any] = import_module("re._parser")
_ALL: Final = frozenset(range(129))
"""Every character of ASCII, and one that stands for all others."""
_OTHER: Final = 0x2603
_Items = Sequence[tuple[Any, Any]]


def too_costly(pattern: str) -> str:
    """Why the pattern may take very long, and what to do; empty if it may not."""
    items = _parser.parse(pattern)
    if nested := next(_nested(items), ""):
        return (
            f"{nested} repeats what is itself repeated; bound one of them, or end the inner one by a character that it can't be"
        )
    if len(list(_open(items))) > _MOST:
        return f"more than {_MOST} repetitions in a row can take the same characters; say [^:]* instead of .* before a colon"
    return ""


@cache
def seen(pattern: str) -> int:
    """How many characters of a line the pattern may see, so that a search ends soon whatever the line says."""
    items = _parser.parse(pattern)
    begins_anywhere = str(items[0][1] if items else "") != "AT_BEGINNING"
    return _SEEN_WITH.get(len(list(_open(items))) + begins_anywhere, SEEN)


def _nested(items: _Items) -> Iterator[str]:
    """Repetitions whose text can be cut into turns in more than one way."""
    for kind, value in items:
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            low, high, body = value
            if high > 1 and high > low and _is_ambiguous(list(body)):
                yield "a group"
        for part in _parts(name, value):
            yield from _nested(part)


def _is_ambiguous(body: list[tuple[Any, Any]]) -> bool:
    """True if a turn may be longer or shorter, and nothing in it says how many turns there are."""
    flat = _flat(body)
    if flat is None:
        return True
    varying = [item for item in flat if _varies(*item)]
    taken = frozenset[int]().union(*(_characters(*item) for item in varying))
    marks = (_characters(*item) for item in flat if item[0] != "AT" and not _varies(*item))
    return bool(varying) and not any(mark.isdisjoint(taken) for mark in marks)


def _varies(name: str, value: Any) -> bool:
    return name.endswith("_REPEAT") and bool(value[1] > value[0])


def _open(items: _Items) -> Iterator[int]:
    """The repetitions without a near bound that what comes behind them may take back character by character."""
    flat = _flat(list(items))
    if flat is None:
        yield from (place for part in _branches(items) for place in _open(part))
        return
    for place, (name, value) in enumerate(flat):
        last = place == len(flat) - 1 or (place == len(flat) - 2 and flat[-1][0] == "AT")
        if name.endswith("_REPEAT") and value[1] > 100 and not last and not _is_ended(flat, place):
            yield place


def _is_ended(flat: list[tuple[str, Any]], place: int) -> bool:
    """True if what must follow the repetition is nothing that it can take itself."""
    taken = _characters(*flat[place])
    for name, value in flat[place + 1 :]:
        if name == "AT":
            continue
        if _characters(name, value) & taken:
            return False
        if not name.endswith("_REPEAT") or value[0] > 0:
            return True
    return True


def _flat(items: list[tuple[Any, Any]]) -> list[tuple[str, Any]] | None:
    """The items with groups opened; None if there is a choice that may be read in more than one way."""
    flat: list[tuple[str, Any]] = []
    for kind, value in items:
        name = str(kind)
        inner = _flat(list(value[3])) if name == "SUBPATTERN" else [(name, value)]
        if inner is None or (name == "BRANCH" and not _is_clear(value[1])):
            return None
        flat += inner
    return flat


def _is_clear(choices: Sequence[_Items]) -> bool:
    """True if the first character says which of the alternatives it is, and each has one length."""
    begun: frozenset[int] = frozenset()
    for choice in choices:
        flat = _flat(list(choice))
        if not flat or any(_varies(*item) for item in flat) or _characters(*flat[0]) & begun:
            return False
        begun |= _characters(*flat[0])
    return True


def _branches(items: _Items) -> Iterator[_Items]:
    """One way through: of each choice the alternative with the most repetitions, the rest as it is."""
    way: list[tuple[Any, Any]] = []
    for kind, value in items:
        name = str(kind)
        if name == "SUBPATTERN":
            way += [item for part in _branches(list(value[3])) for item in part]
        elif name == "BRANCH":
            ways = [[item for part in _branches(list(choice)) for item in part] for choice in value[1]]
            way += max(ways, key=lambda one: sum(str(kind).endswith("_REPEAT") for kind, _ in one))
        else:
            way.append((kind, value))
    yield way


def _parts(name: str, value: Any) -> Iterator[_Items]:
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        yield list(value[2])
    elif name == "SUBPATTERN":
        yield list(value[3])
    elif name == "BRANCH":
        yield from (list(choice) for choice in value[1])
    elif name in ("ASSERT", "ASSERT_NOT"):
        yield list(value[1])
    elif name == "ATOMIC_GROUP":
        yield list(value)
    elif name == "GROUPREF_EXISTS":
        yield from (list(choice) for choice in value[1:] if choice is not None)


def _characters(name: str, value: Any) -> frozenset[int]:
    """What one step of an item can take: exact for characters and classes, everything for what is more than that."""
    if name.endswith("_REPEAT"):
        body = _flat(list(value[2]))
        return _characters(*body[0]) if body is not None and len(body) == 1 else _ALL
    if name == "LITERAL":
        return _both_cases({min(value, 128)})
    if name == "NOT_LITERAL":
        return _ALL - {value}
    if name == "IN":
        return _both_cases({code for code in _ALL if _is_in(value, _OTHER if code == 128 else code)})
    return _ALL


def _both_cases(codes: set[int]) -> frozenset[int]:
    """A pattern may be told to ignore letter case."""
    return frozenset(codes | {ord(chr(code).swapcase()) for code in codes if code < 128})


def _is_in(members: _Items, code: int) -> bool:
    negated = bool(members) and str(members[0][0]) == "NEGATE"
    return any(_is_member(str(kind), value, code) for kind, value in members) != negated


def _is_member(name: str, value: Any, code: int) -> bool:
    if name == "LITERAL":
        return bool(value == code)
    if name == "RANGE":
        return bool(value[0] <= code <= value[1] or (code == _OTHER and value[1] > 127))
    if name == "CATEGORY":
        sign = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[str(value).rpartition("_")[2]]
        # A character beyond ASCII may be of any category.
        return code == _OTHER or (re.match(sign, chr(code)) is None) == ("_NOT_" in str(value))
    return False

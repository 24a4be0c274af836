"""JSON text: values with their places in a text, so that one can be put in or taken out and nothing else changes."""

import json
import re
from typing import Any, Final, NamedTuple

_BLANK: Final = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
"""White space and the comments that some agents allow."""
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_PLAIN: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class Malformed(ValueError):
    """The text is no JSON."""

    def __init__(self, text: str, at: int, wanted: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        found = repr(text[at : at + 12]) if at < len(text) else "the end"
        super().__init__(f"{wanted} was expected, not {found}")


class Node(NamedTuple):
    """A value and where it stands."""

    start: int
    end: int
    value: Any
    items: tuple["Item", ...] = ()

    @property
    def kind(self) -> type:
        """``dict``, ``list``, ``str`` or whatever the value is."""
        return type(self.value)

    def member(self, key: str) -> "Item | None":
        """The member of an object; of several with one name the last, as parsers have it."""
        return next((item for item in reversed(self.items) if item.key == key), None) if self.kind is dict else None


class Item(NamedTuple):
    """A member of an object, from its key on, or an element of an array."""

    start: int
    node: Node
    key: str = ""

    @property
    def end(self) -> int:
        """Behind its value."""
        return self.node.end


def scan(text: str) -> Node:
    """The value that the whole text is. Comments and a comma before a closing bracket are passed over.

    Raises ``Malformed`` with the line.
    """
    node = _value(text, _skip(text, 0))
    if (rest := _skip(text, node.end)) != len(text):
        raise Malformed(text, rest, "the end")
    return node


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _value(text: str, at: int) -> Node:
    head = text[at : at + 1]
    if head == "{":
        return _container(text, at, "}")
    if head == "[":
        return _container(text, at, "]")
    match = _STRING.match(text, at) or _PLAIN.match(text, at)
    if match is None:
        raise Malformed(text, at, "a value")
    return Node(at, match.end(), json.loads(match.group()))


def _container(text: str, start: int, closing: str) -> Node:
    items: list[Item] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != closing:
        item = _member(text, at) if closing == "}" else Item(at, _value(text, at))
        items.append(item)
        at = _skip(text, item.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closing:
            raise Malformed(text, at, f"a comma or {closing}")
    value: Any = {item.key: item.node.value for item in items} if closing == "}" else [item.node.value for item in items]
    return Node(start, at + 1, value, tuple(items))


def _member(text: str, at: int) -> Item:
    key = _STRING.match(text, at)
    if key is None:
        raise Malformed(text, at, "a name in quotes")
    colon = _skip(text, key.end())
    if text[colon : colon + 1] != ":":
        raise Malformed(text, colon, "a colon")
    return Item(at, _value(text, _skip(text, colon + 1)), json.loads(key.group()))

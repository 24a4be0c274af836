"""JSON hooks: our entries put into the text of an agent's settings and taken out again, to the byte, and nothing else touched.

Where a container was empty before, what we put into it begins right behind its bracket; where we made the container, it does
not. That is how taking out knows whether the container was there before.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .agents import is_ours
from .json_text import Item, Malformed, Node, scan

Wanted = Mapping[str, Any]
"""Event → the entry that stands for it."""

_EMPTY: Final = "{}\n"


def merged(text: str, wanted: Wanted) -> str:
    """The settings with our entries, each once. Raises ``Malformed``."""
    if found(text) == {event: [entry] for event, entry in wanted.items()}:
        return text
    text = without(text) if text.strip() else _EMPTY
    for event, entry in wanted.items():
        text = _with(text, event, entry)
    return text


def without(text: str) -> str:
    """The settings without any entry of ours: before ``merged`` they were the same, to the byte. Raises ``Malformed``."""
    while text.strip() and (path := next(_paths_to_ours(text, _root(text)), None)) is not None:
        text = _cut(text, path)
    return text


def found(text: str) -> dict[str, list[Any]]:
    """Event → our entries, as they stand there. Raises ``Malformed``."""
    if not text.strip():
        return {}
    ours: dict[str, list[Any]] = {}
    for path in _paths_to_ours(text, _root(text)):
        ours.setdefault(path[1][1].key, []).append(path[2][1].node.value)
    return ours


Path = list[tuple[Node, Item]]
"""From the root to an item: each container with the item in it."""


def _root(text: str) -> Node:
    root = scan(text)
    if root.kind is not dict:
        raise Malformed(text, root.start, "an object")
    return root


def _paths_to_ours(text: str, root: Node) -> Iterator[Path]:
    """To each entry that is all ours, or to our hook in an entry that also holds others."""
    hooks = root.member("hooks")
    for event in _items(text, hooks and hooks.node, dict):
        for entry in _items(text, event.node, list):
            inner = entry.node.member("hooks")
            ours = [one for one in _of(inner) if _is_ours(one)]
            if hooks is None or inner is None or not ours:
                continue
            path = [(root, hooks), (hooks.node, event), (event.node, entry)]
            if len(ours) == len(inner.node.items):
                yield path
            else:
                yield [*path, (entry.node, inner), (inner.node, ours[0])]


def _of(inner: Item | None) -> tuple[Item, ...]:
    return inner.node.items if inner is not None and inner.node.kind is list else ()


def _is_ours(hook: Item) -> bool:
    return hook.node.kind is dict and is_ours(hook.node.value.get("command"))


def _items(text: str, node: Node | None, kind: type) -> tuple[Item, ...]:
    if node is None:
        return ()
    if node.kind is not kind:
        raise Malformed(text, node.start, "an object" if kind is dict else "an array")
    return node.items


def _cut(text: str, path: Path) -> str:
    container, item = path[-1]
    at = container.items.index(item)
    if at > 0:
        return text[: container.items[at - 1].end] + text[item.end :]
    if len(container.items) > 1:
        return text[: item.start] + text[container.items[1].start :]
    end = item.end
    if text[end:].lstrip().startswith(","):
        end = text.index(",", end) + 1
    if item.start == container.start + 1:
        return text[: item.start] + text[end:]
    if len(path) > 1:
        return _cut(text, path[:-1])
    made_by_us = not (text[container.start + 1 : item.start] + text[end : container.end - 1]).strip()
    return text[: container.start + 1] + text[container.end - 1 :] if made_by_us else text[: item.start] + text[end:]


def _with(text: str, event: str, entry: Any) -> str:
    root = _root(text)
    hooks = root.member("hooks")
    if hooks is None:
        return _put(text, root, "hooks", {event: [entry]}, root)
    _items(text, hooks.node, dict)
    there = hooks.node.member(event)
    if there is None:
        return _put(text, hooks.node, event, [entry], root)
    _items(text, there.node, list)
    return _put(text, there.node, "", entry, root)


def _put(text: str, container: Node, key: str, value: Any, root: Node) -> str:
    """Put a member (or, without a key, an element) at the end of a container."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if container.items:
        first, last = container.items[0], container.items[-1]
        blank = text[container.start + 1 : first.start]
        if "\n" not in blank or blank.strip():
            return f"{text[: last.end]}, {_compact(key, value)}{text[last.end :]}"
        indent = blank.rpartition("\n")[2]
        item = _spread(key, value, indent, _unit(text, root), newline)
        return f"{text[: last.end]},{newline}{indent}{item}{text[last.end :]}"
    at = container.start + 1
    if container is root and container.end == at + 1:
        item = _spread(key, value, "  ", "  ", newline)
        return f"{text[:at]}{newline}  {item}{newline}{text[at:]}"
    return f"{text[:at]}{_compact(key, value)}{text[at:]}"


def _unit(text: str, root: Node) -> str:
    """By how much one level stands in from the one above."""
    blank = text[root.start + 1 : root.items[0].start] if root.items else ""
    return blank.rpartition("\n")[2] if "\n" in blank and not blank.strip() else "  "


def _spread(key: str, value: Any, indent: str, unit: str, newline: str) -> str:
    body = json.dumps(value, indent=unit or " ", ensure_ascii=False).replace("\n", newline + indent)
    return f"{json.dumps(key)}: {body}" if key else body


def _compact(key: str, value: Any) -> str:
    """On one line. A container that we make begins with a space."""
    if not key:
        return json.dumps(value, ensure_ascii=False)
    match value:
        case dict():
            inner = ", ".join(_compact(name, each) for name, each in value.items())
            return f"{json.dumps(key)}: {{ {inner} }}"
        case _:
            return f"{json.dumps(key)}: [ {', '.join(json.dumps(each, ensure_ascii=False) for each in value)} ]"

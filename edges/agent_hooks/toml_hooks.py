"""TOML hooks: our entries as one marked block at the end of a file that has its hooks in an array of tables."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from .agents import is_ours
from .json_text import Malformed

_BEGINS: Final = "# >>> tocsin hooks: written by `tocsin hooks install`, taken out by `tocsin hooks uninstall`"
_ENDS: Final = "# <<< tocsin hooks"
_BLOCK: Final = re.compile(rf"\n?^{re.escape(_BEGINS)}$.*?^{re.escape(_ENDS)}$\n?", re.MULTILINE | re.DOTALL)


class CantAdd(ValueError):
    """The file is good as it is, and our block can't stand in it."""

    def __init__(self, reason: str, block: str) -> None:
        super().__init__(reason)
        self.block = block


def merged(text: str, wanted: Mapping[str, Any]) -> str:
    """The settings with our entries, each once. Raises ``Malformed``, or ``CantAdd`` if they have hooks in another form."""
    bare = without(text)
    block = _block(wanted)
    if _ours(bare):
        raise CantAdd("it has an entry for `tocsin hook` that this command did not write; take that out first", block)
    made = f"{bare}\n{block}"
    try:
        tomllib.loads(made)
    except tomllib.TOMLDecodeError as error:
        raise CantAdd(f"its hooks are not written as [[hooks]] ({error})", block) from error
    return text if found(text) == found(made) else made


def without(text: str) -> str:
    """The settings without our block: before ``merged`` they were the same, to the byte. Raises ``Malformed``."""
    _loaded(text)
    return _BLOCK.sub("", text)


def found(text: str) -> dict[str, list[Any]]:
    """Event → our entries, as they stand there. Raises ``Malformed``."""
    ours: dict[str, list[Any]] = {}
    for hook in _ours(text):
        ours.setdefault(str(hook.get("event", "")), []).append({name: hook[name] for name in hook if name != "event"})
    return ours


def _ours(text: str) -> list[dict[str, Any]]:
    hooks = _loaded(text).get("hooks")
    entries = hooks if isinstance(hooks, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and is_ours(entry.get("command"))]


def _loaded(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"\(at line (\d+)", str(error))
        at = len(text) if line is None else sum(len(one) + 1 for one in text.split("\n")[: int(line[1]) - 1])
        raise Malformed(text, at, str(error).partition(" (at")[0] + ": a value or key") from error


def _block(wanted: Mapping[str, Any]) -> str:
    tables = [
        "\n".join(["[[hooks]]", f"event = {_toml(event)}", *(f"{name} = {_toml(value)}" for name, value in entry.items())])
        for event, entry in wanted.items()
    ]
    return "\n".join([_BEGINS, *tables, _ENDS, ""])


def _toml(value: str | int) -> str:
    """A basic string of TOML may hold what a string of JSON holds."""
    return json.dumps(value, ensure_ascii=False)

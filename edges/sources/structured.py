"""Structured: a log line that is one JSON object is read by its fields, whichever of the usual loggers wrote it."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from .prefix import LEVELS, Prefixed

_LEVEL: Final = ("level", "severity", "lvl", "levelname", "log.level", "@l", "level_name", "loglevel")
_MESSAGE: Final = ("msg", "message", "event", "@m", "@mt", "log", "text")
_ERROR: Final = (
    "err",
    "error",
    "exception",
    "exc_info",
    "stack",
    "stacktrace",
    "stack_trace",
    "error.stack_trace",
    "@x",
    "traceback",
)
_STACK: Final = ("stack", "stacktrace", "stack_trace", "traceback")
# mongod says "s", for severity, beside "ctx": a name too short to mean a level anywhere. pino and bunyan count in tens.
_NUMBERS: Final = ((60, "critical"), (50, "error"), (40, "warning"), (30, "info"), (0, "debug"))


def parse(line: str) -> Prefixed | None:
    """The message and level of a JSON log line with what belongs to it; None if it is no such line."""
    if not (line.startswith("{") and line.rstrip().endswith("}")):
        return None
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    fields = record.get("fields")
    if isinstance(fields, dict):
        record = fields | record
    level = _level(next((record[name] for name in _LEVEL if name in record), record.get("s") if "ctx" in record else None))
    message = next((record[name] for name in _MESSAGE if isinstance(record.get(name), str) and record[name]), "")
    if not level or not (message or any(name in record for name in _ERROR)):
        return None
    stack = _stack(record)
    first = message.split("\n", 1)[0].strip() or stack.split("\n", 1)[0].strip() or line
    return Prefixed(line=line, starts=(first,), level=level, timed=True, stack=stack)


def _level(value: object) -> str:
    if isinstance(value, str):
        return LEVELS.get(value.lower(), "")
    if isinstance(value, int) and not isinstance(value, bool):
        return next(level for least, level in _NUMBERS if value >= least) if value >= 0 else ""
    return ""


def _stack(record: Mapping[str, Any]) -> str:
    """The longest thing that is said of the error: its stack rather than its message."""
    said: list[str] = []
    for name in _ERROR:
        value = record.get(name)
        if isinstance(value, str):
            said.append(value)
        elif isinstance(value, dict):
            said += [value[part] for part in _STACK if isinstance(value.get(part), str)]
            if isinstance(value.get("message"), str):
                kind = value.get("type") or value.get("name") or "Error"
                said.append(f"{kind}: {value['message']}")
    return max(said, key=len, default="").strip()

"""Words: how things are said to people — tables, times, inert text — and to programs, as JSON."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import click
import msgspec

from ..contracts.base import Instant
from ..pipeline.inert import inert

SCHEMA_VERSION: Final = 1
"""In every JSON object that a command prints."""

_MOMENTS: Final = ("at", "until", "since")


def complain(text: str) -> None:
    """One line to the person, on stderr."""
    click.echo(f"tocsin: {one_line(text)}", err=True)


def say(text: str) -> None:
    """Data for a person, on stdout; line feeds stay."""
    click.echo(inert(text))


def print_json(value: Any) -> None:
    """One JSON object on one line of stdout, its moments as ISO 8601 in UTC; on a terminal in ASCII, which is inert."""
    content = for_programs(value)
    click.echo(json.dumps({"schema_version": SCHEMA_VERSION, **content}, ensure_ascii=not _utf8() or sys.stdout.isatty()))


def for_programs(value: Any) -> Any:
    """A contract as plain values, with moments as texts."""
    return _with_texts(msgspec.to_builtins(value))


def one_line(text: str) -> str:
    """Text from outside on one line, made harmless."""
    return " ".join(inert(text).split())


def iso(at: Instant) -> str:
    """``2026-11-30T12:01:03.120Z``."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock(at: Instant) -> str:
    """``12:01:03.120``, on this machine's clock."""
    return datetime.fromtimestamp(at / 1000).astimezone().strftime("%H:%M:%S.") + f"{at % 1000:03d}"


def wait_until(until: Instant | None, now: Instant) -> str:
    """How long from now, in words; empty if nothing is set."""
    if until is None:
        return ""
    left = max(0, until - now) / 1000
    return f"{left:.1f} s" if left < 60 else f"{left / 60:.0f} min"


def plural(number: int, word: str) -> str:
    """``1 finding``, ``2 findings``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def spoken(reason: str) -> str:
    """A reason's name as words."""
    return reason.replace("_", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as they need to be; the last one is not padded. Every cell is made harmless."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max((_width(row[nth]) for row in (list(head), *cells)), default=0) for nth in range(len(head))]
    lines = [_row([strong(_padded(cell, width)) for cell, width in zip(head, widths, strict=True)])]
    lines += [_row([_padded(cell, width) for cell, width in zip(row, widths, strict=True)]) for row in cells]
    return "\n".join(lines)


def strong(text: str) -> str:
    """Bold where colours are wanted."""
    return click.style(text, bold=True) if colours() else text


def colours(environ: Callable[[str], str | None] = os.environ.get) -> bool:
    """True if stdout is a terminal that should be coloured: ``NO_COLOR`` and ``FORCE_COLOR`` decide first."""
    if environ("NO_COLOR"):
        return False
    return bool(environ("FORCE_COLOR")) or (sys.stdout.isatty() and environ("TERM") != "dumb")


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option ``--json``; failures are then told as JSON, too."""
    return click.option("--json", "as_json", is_flag=True, callback=_speak_json, help="Print one JSON object.")(command)


def _speak_json(ctx: click.Context, _: click.Parameter, wanted: bool) -> bool:
    if ctx.find_root().obj is not None:
        ctx.find_root().obj.json = wanted
    return wanted


def _with_texts(value: Any, key: str = "") -> Any:
    match value:
        case dict():
            return {name: _with_texts(inner, name) for name, inner in value.items()}
        case list() | tuple():
            return [_with_texts(inner) for inner in value]
        case int() if key in _MOMENTS or key.endswith("_at"):
            return iso(Instant(value))
        case _:
            return value


def _row(cells: Sequence[str]) -> str:
    return "  ".join(cells).rstrip()


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # takes its time to load

    return max(wcswidth(text), 0)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"

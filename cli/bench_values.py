"""Values: what people write for lengths of time, shares, spans and settings to compare."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from ..contracts.base import Millis, Record
from ..contracts.errors import BadInput
from ..contracts.severity import NAMES, SeverityName

_UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_WEIGHTS: Final = 10_000
"""Shares become whole numbers of this fineness."""


class _Duration(click.ParamType):  # type: ignore[type-arg]  # generic in later releases of click only
    name = "length"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Millis:
        found = _DURATION.fullmatch(str(value).strip())
        if not found:
            self.fail(f"{value!r} is no length of time; write 500ms, 10s, 5m, 24h or 1d", param, ctx)
        return Millis(round(float(found[1]) * _UNITS[found[2]]))


class _Shares(click.ParamType):  # type: ignore[type-arg]  # generic in later releases of click only
    name = "name=share,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[SeverityName, int]:
        if isinstance(value, dict):
            return value
        shares: dict[SeverityName, int] = {}
        for part in str(value).split(","):
            name, _, share = part.strip().partition("=")
            if name not in NAMES or not re.fullmatch(r"\d+(\.\d+)?", share):
                self.fail(f"{part!r} is no share of a severity; write warning=0.9,error=0.1", param, ctx)
            shares[name] = round(float(share) * _WEIGHTS)
        if not any(shares.values()):
            self.fail("some share has to be above 0", param, ctx)
        return shares


class _Span(click.ParamType):  # type: ignore[type-arg]  # generic in later releases of click only
    name = "from-to"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Millis, Millis]:
        if isinstance(value, tuple):
            return value
        began, _, ended = str(value).partition("-")
        span = DURATION.convert(began, param, ctx), DURATION.convert(ended, param, ctx)
        if span[1] <= span[0]:
            self.fail(f"{value!r} ends before it begins", param, ctx)
        return span


DURATION: Final = _Duration()
"""``10s`` → 10,000 milliseconds."""
SHARES: Final = _Shares()
"""``warning=0.9,error=0.1`` → weights."""
SPAN: Final = _Span()
"""``2s-4s`` → the two ends in milliseconds."""


class Compared(Record, frozen=True, kw_only=True):
    """One setting and the values to try."""

    key: str
    values: tuple[str, ...]


def compared(given: str) -> Compared:
    """``throttle.max_pending=20,50``: the key and its values; commas within brackets part nothing. Raises ``BadInput``."""
    key, equals, values = given.partition("=")
    parts = re.findall(r"(?:\[[^\]]*\]|[^,\[])+", values)
    if not equals or len(parts) < 2:
        raise BadInput(f"--compare {given}: write KEY=A,B with two values or more")
    return Compared(key=key.strip(), values=tuple(part.strip() for part in parts))


def flags_of(config: Path | None) -> dict[str, str]:
    """A TOML file's settings as ``--set`` would give them. Raises ``BadInput`` with the file's name if it is no TOML."""
    if config is None:
        return {}
    try:
        content = tomllib.loads(config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{config}: {error}") from error
    return dict(_flat(content))


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    from ..edges.settings import keys
    from .config import toml

    for name, value in table.items():
        key = f"{before}{name}"
        if isinstance(value, dict) and key not in keys():
            yield from _flat(value, f"{key}.")
        else:
            yield key, value if isinstance(value, str) else toml(value)

"""The option ``--set KEY=VALUE``: one setting for one run."""

from collections.abc import Callable
from typing import Any

import click


def set_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add it; the command gets ``flags``."""
    return click.option(
        "--set",
        "flags",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_pairs,
        help="A setting for this run, as in dedup.window=1000.",
    )(command)


def _pairs(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals:
            raise click.BadParameter(f"{one!r} is no KEY=VALUE")
        pairs[key.strip()] = value.strip()
    return pairs

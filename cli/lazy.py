"""Lazy: a group of commands each of which is imported when it is called, or one of its name was nearly called."""

import importlib
from collections.abc import Mapping
from typing import Any

import click

Table = Mapping[str, tuple[str, str]]
"""Name → where the command is (``module:attribute``), and what it is for."""


class LazyGroup(click.Group):
    """The commands of a table, in its order."""

    def __init__(self, *args: Any, table: Table, package: str, **kwargs: Any) -> None:
        """``package`` is where the table's modules are."""
        super().__init__(*args, **kwargs)
        self._table, self._package = table, package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one."""
        if cmd_name not in self._table:
            return None
        module, _, attribute = self._table[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(f"{self._package}.{module}"), attribute)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was called; who mistyped its name is told what is like it."""
        name = args[0]
        if name not in self._table and not name.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = " or ".join(get_close_matches(name, self._table))
            ctx.fail(f"there is no command {name!r}" + (f"; did you mean {near}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List them without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self._table.items()])

"""``tocsin config`` and ``tocsin completion``: which settings are in force, where each comes from, and what is wrong."""

import json
from typing import Any

import click
from click.shell_completion import get_completion_class

from ..edges.settings import Loaded, Setting, load, project_file, user_file
from .settings_option import set_option
from .words import json_option, plural, print_json, say, table


@click.group()
def config() -> None:
    """Show and check the settings.

    Flags win over TOCSIN_SECTION__KEY in the environment, that over .tocsin.toml here or above, that over the user's own file.
    """


@config.command()
@click.option("--origin", is_flag=True, help="Say where each value comes from.")
@click.option("--changed", is_flag=True, help="Only what differs from the defaults.")
@set_option
@json_option
def show(origin: bool, changed: bool, flags: dict[str, str], as_json: bool) -> None:
    """Show the settings in force here, as TOML."""
    loaded = load(flags=flags)
    settings = [one for one in loaded.all() if not changed or one.key in loaded.origins]
    if as_json:
        print_json(_for_json(settings))
    elif origin:
        say(table(("SETTING", "VALUE", "FROM"), [(one.key, toml(one.value), one.origin) for one in settings]))
    else:
        say("\n".join(_toml_lines(settings)))


@config.command()
@json_option
def check(as_json: bool) -> None:
    """Check the settings in force here; exit 2 with file and line if something is wrong."""
    loaded = load()
    if as_json:
        print_json({"ok": True, "files": [str(path) for path in loaded.files], "set": len(loaded.origins)})
    else:
        say(_checked(loaded))


def _checked(loaded: Loaded) -> str:
    if not loaded.files:
        from pathlib import Path

        looked = project_file(Path.cwd()) or ".tocsin.toml here or above"
        return f"no configuration file ({looked}, {user_file()}); {_set(loaded)}"
    return f"{', '.join(map(str, loaded.files))}: good; {_set(loaded)}"


def _set(loaded: Loaded) -> str:
    return f"{plural(len(loaded.origins), 'setting')} set, the others have their defaults"


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL; let your shell read it at its start."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "tocsin", "_TOCSIN_COMPLETE").source())


def toml(value: Any) -> str:
    """A value as TOML writes it; what has no value there is told as a comment would."""
    if value is None:
        return "(none)"
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return f"[{', '.join(_inline(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False)


def _inline(table: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key} = {toml(value)}" for key, value in table.items()) + "}"


def _toml_lines(settings: list[Setting]) -> list[str]:
    lines: list[str] = []
    section = ""
    for one in settings:
        head, _, name = one.key.rpartition(".")
        if head != section:
            lines += ["", f"[{head}]"] if lines else [f"[{head}]"]
            section = head
        lines.append(f"# {name} has no value" if one.value is None else f"{name} = {toml(one.value)}")
    return lines


def _for_json(settings: list[Setting]) -> dict[str, Any]:
    return {"settings": {one.key: {"value": one.value, "origin": one.origin} for one in settings}}

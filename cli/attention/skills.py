"""``tocsin attention skill``: the page that tells an agent how to ask, put where that agent reads such pages."""

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Final

import click
from msgspec.structs import replace

from ...contracts.base import Record
from ...contracts.errors import BadInput
from ..words import json_option, print_json, say, table
from .answers import nothing

NAME: Final = "tocsin-attention"
FILE: Final = f"{NAME}/SKILL.md"
OURS: Final = f"name: {NAME}\n"


class Reader(Record, frozen=True, kw_only=True):
    """One kind of agent, and where it looks for skills."""

    name: str
    title: str
    homes: tuple[str, ...]
    """In the user's directory, if it is used here; the first that is there is meant, else the first of all."""
    skills: str = "skills"
    """Within the home."""
    elsewhere: str = ""
    """Within the user's directory, if its own skills are not in its home."""
    variable: str = ""
    """The variable that moves the home."""
    project: str
    """Within a project."""


READERS: Final[Mapping[str, Reader]] = {
    reader.name: reader
    for reader in (
        Reader(name="claude", title="Claude Code", homes=(".claude",), variable="CLAUDE_CONFIG_DIR", project=".claude/skills"),
        Reader(name="codex", title="Codex", homes=(".codex",), elsewhere=".agents/skills", project=".agents/skills"),
        Reader(name="gemini", title="Gemini CLI", homes=(".gemini",), project=".gemini/skills"),
        Reader(name="qwen", title="Qwen Code", homes=(".qwen",), project=".qwen/skills"),
        Reader(
            name="kimi", title="Kimi Code", homes=(".kimi-code", ".kimi"), variable="KIMI_CODE_HOME", project=".agents/skills"
        ),
    )
}


class Place(Record, frozen=True, kw_only=True):
    """Where the skill is, or would be."""

    agent: str
    scope: str
    """``user`` or ``project``."""
    file: str
    state: str
    """``installed``, ``missing``, ``outdated`` (ours, of another version), or ``another`` (not ours)."""


@click.group()
def skill() -> None:
    """Tell agents how to ask: install the skill, show where it is, or take it away."""


@skill.command()
@click.argument("agent", type=click.Choice(list(READERS)), required=False)
@click.option("--project", "in_project", is_flag=True, help="For this directory's project, not for you everywhere.")
@click.option("--print", "only_print", is_flag=True, help="Print the skill, and write nothing.")
@json_option
def install(agent: str | None, in_project: bool, only_print: bool, as_json: bool) -> None:
    """Put the skill where AGENT reads skills; without AGENT, for each one that is used here. Twice is as good as once."""
    if only_print:
        _print(as_json=as_json)
        return
    chosen = [READERS[agent]] if agent else [one for one in READERS.values() if _is_used(one)]
    if not chosen:
        raise BadInput(f"no agent is known to be used here: name one of {', '.join(READERS)}")
    written = [_installed(reader, in_project=in_project) for reader in chosen]
    if as_json:
        print_json({"skills": written})
        return
    for reader, place in zip(chosen, written, strict=True):
        say(f"the skill for {reader.title} is in {place.file}; sessions that run already may have to be started again")


@skill.command()
@json_option
def show(as_json: bool) -> None:
    """Show for each agent where its skill is, in your directory and in this one."""
    found = [_place(reader, in_project=in_project) for reader in READERS.values() for in_project in (False, True)]
    if as_json:
        print_json({"skills": found})
    else:
        rows = [(place.agent, _SCOPES[place.scope], place.state, place.file) for place in found]
        say(table(("AGENT", "FOR", "SKILL", "FILE"), rows))


@skill.command()
@click.argument("agent", type=click.Choice(list(READERS)), required=False)
@click.option("--project", "in_project", is_flag=True, help="That of this directory's project, not yours.")
@json_option
def uninstall(agent: str | None, in_project: bool, as_json: bool) -> None:
    """Take the skill away from where AGENT reads it; without AGENT, from every agent. What is not ours is left."""
    chosen = [READERS[agent]] if agent else list(READERS.values())
    places = [_place(reader, in_project=in_project) for reader in chosen]
    if agent and places[0].state == "another":
        raise BadInput(f"{places[0].file} is not ours: it was left as it is")
    removed = _removed([place for place in places if place.state in ("installed", "outdated")])
    if as_json:
        print_json({"skills": removed})
    elif removed:
        say("\n".join(f"the skill is gone from {place.file}" for place in removed))
    else:
        nothing("skill of ours is there")


def text() -> str:
    """The skill itself."""
    return (files(__package__.rpartition(".")[0]) / "attention_skill" / "SKILL.md").read_text(encoding="utf-8")


def _print(*, as_json: bool) -> None:
    if as_json:
        print_json({"name": NAME, "text": text()})
    else:
        click.echo(text(), nl=False)


def _home(reader: Reader, environ: Mapping[str, str] = os.environ) -> Path:
    if reader.variable and (chosen := environ.get(reader.variable)):
        return Path(chosen)
    homes = [Path.home() / home for home in reader.homes]
    return next((home for home in homes if home.is_dir()), homes[0])


def _is_used(reader: Reader) -> bool:
    return _home(reader).is_dir()


def _file(reader: Reader, *, in_project: bool) -> Path:
    if in_project:
        return Path.cwd() / reader.project / FILE
    own = Path.home() / reader.elsewhere if reader.elsewhere else _home(reader) / reader.skills
    return own / FILE


def _place(reader: Reader, *, in_project: bool) -> Place:
    path = _file(reader, in_project=in_project)
    return Place(agent=reader.name, scope="project" if in_project else "user", file=str(path), state=_state(path))


_SCOPES: Final = {"user": "you", "project": "this project"}


def _state(path: Path) -> str:
    try:
        there = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror}") from error
    if there == text():
        return "installed"
    return "outdated" if OURS in there else "another"


def _installed(reader: Reader, *, in_project: bool) -> Place:
    place = _place(reader, in_project=in_project)
    if place.state == "another":
        raise BadInput(f"{place.file} is there and not ours: it was left as it is")
    if place.state != "installed":
        _write(Path(place.file))
    return replace(place, state="installed")


def _removed(places: list[Place]) -> list[Place]:
    """The files go, and the folder that was made for each; agents that share one lose it together."""
    for place in places:
        path = Path(place.file)
        try:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # something of somebody else's is in it, or it went with another agent's
                path.parent.rmdir()
        except OSError as error:
            raise BadInput(f"{path} can't be removed: {error.strerror}") from error
    return [replace(place, state="missing") for place in places]


def _write(path: Path) -> None:
    """Whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".SKILL.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadInput(f"{path} can't be written: {error.strerror}") from error

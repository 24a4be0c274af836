"""What the documentation shows works: Python runs, commands and options exist, settings are settings."""

import re
import tomllib
from pathlib import Path

import click
import msgspec
import pytest

from tocsin import Settings
from tocsin.cli.main import tocsin
from tocsin.edges.sources.rules import Catalogue

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks" / "README.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[pytest.param]:
    return [
        pytest.param(match[2], id=f"{page.name}-{nth}")
        for page in PAGES
        if page.exists()
        for nth, match in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")))
        if match[1] == language
    ]


def commands() -> list[pytest.param]:
    lines = [line for block in blocks("console") for line in block.values[0].splitlines()]
    found = [
        part for line in lines if line.startswith("$ ") for part in re.split(r"\s\|\s", line[2:]) if part.startswith("tocsin")
    ]
    return [pytest.param(command, id=command) for command in dict.fromkeys(found)]


@pytest.mark.parametrize("code", blocks("python"))
def test_python_in_the_documentation_runs(code: str) -> None:
    exec(compile(code, "documentation", "exec"), {"__name__": "documentation"})


@pytest.mark.parametrize("command", commands())
def test_a_command_in_the_documentation_exists_with_its_options(command: str) -> None:
    words = re.findall(r'"[^"]*"|\S+', command.split(" -- ", maxsplit=1)[0])[1:]
    where: click.Command = tocsin
    context = click.Context(tocsin)
    while isinstance(where, click.Group):
        found = where.get_command(context, words.pop(0))
        assert found, command
        where = found
    known = {name for parameter in where.params for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
    assert {word.split("=", 1)[0] for word in words if word.startswith("-")} <= known


@pytest.mark.parametrize("text", blocks("toml"))
def test_settings_and_rules_in_the_documentation_are_such(text: str, tmp_path: Path) -> None:
    said = tomllib.loads(text)
    if "rule" in said:
        (tmp_path / "rules.toml").write_text(text, encoding="utf-8")
        known = {rule.id for rule in Catalogue.load([tmp_path / "rules.toml"]).rules}
        assert {rule["id"] for rule in said["rule"] if rule.get("enabled", True)} <= known
    else:
        assert msgspec.convert(said, Settings) != Settings()


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in PAGES
        if page.exists()
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_change_fragments_are_well_formed() -> None:
    names = [path.name for path in (ROOT / "changes").glob("*.md") if path.name != "README.md"]
    assert [name for name in names if not re.fullmatch(r"[\w-]+\.(added|changed|fixed|removed)\.md", name)] == []

"""``tocsin hooks``: our entries in an agent's own settings, put in, taken out, and shown."""

from pathlib import Path

import click

from ..contracts.base import Record
from ..contracts.errors import BadInput
from ..edges.agent_hooks.agents import AGENTS, Agent, command_for, settings_file
from ..edges.agent_hooks.settings import Change, Refused, commands, installed, uninstalled, write
from .words import json_option, plural, print_json, say, table

agent_argument = click.argument("agent", type=click.Choice(list(AGENTS)))
print_option = click.option("--print", "only_print", is_flag=True, help="Print what the file would hold, and write nothing.")
project_option = click.option("--project", "in_project", is_flag=True, help="In this directory's settings, not in yours.")


class Place(Record, frozen=True, kw_only=True):
    """What is in one settings file; nothing is known of it if there is an ``error``."""

    agent: str
    file: str
    installed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    command: str = ""
    error: str = ""

    def in_words(self) -> str:
        """``all``, ``none``, or what is missing."""
        if self.error:
            return f"can't be read: {self.error}"
        if not self.installed:
            return "none"
        return f"all but {', '.join(self.missing)}" if self.missing else "all"


@click.group()
def hooks() -> None:
    """Put `tocsin hook` into an agent's own settings, take it out again, or show where it is.

    With it the line knows from the agent when it works and when a dialog may be open, and hands notices over as context
    instead of typing them. Only entries that call `tocsin hook` are ever touched.
    """


@hooks.command()
@agent_argument
@print_option
@project_option
@click.option("--as", "recipient", metavar="NAME", help="Whom to tell when `tocsin run` did not start the agent.")
def install(agent: str, only_print: bool, in_project: bool, recipient: str | None) -> None:
    """Put our hooks into AGENT's settings; twice is as good as once."""
    one = AGENTS[agent]
    try:
        change = installed(one, _file(one, in_project=in_project), command_for(one, recipient))
    except Refused as error:
        click.echo(error.addition, nl=False)
        raise
    if _print_or_write(change, only_print=only_print):
        done = f"{plural(len(one.events), 'hook')} for {one.title}"
        say(f"wrote {done} into {change.path}; {one.then}" if change.changes else f"{done} are in {change.path} already")


@hooks.command()
@agent_argument
@print_option
@project_option
def uninstall(agent: str, only_print: bool, in_project: bool) -> None:
    """Take our hooks out of AGENT's settings; all else stays as it is."""
    one = AGENTS[agent]
    change = uninstalled(one, _file(one, in_project=in_project))
    if _print_or_write(change, only_print=only_print):
        say(f"took our hooks out of {change.path}" if change.changes else f"there are no hooks of ours in {change.path}")


@hooks.command()
@json_option
def show(as_json: bool) -> None:
    """Show for each agent where our hooks are, and which are missing."""
    places = [
        (agent, in_project) for agent in AGENTS.values() for in_project in (False, True) if agent.project or not in_project
    ]
    found = [place_of(agent, in_project) for agent, in_project in places]
    if as_json:
        print_json({"hooks": found})
        return
    say(table(("AGENT", "HOOKS", "FILE"), [(place.agent, place.in_words(), place.file) for place in found]))


def _file(agent: Agent, *, in_project: bool) -> Path:
    return settings_file(agent, project=Path.cwd() if in_project else None)


def _print_or_write(change: Change, *, only_print: bool) -> bool:
    """True if it was written or need not be; false if it was only shown."""
    if only_print:
        click.echo(change.after, nl=False)
    elif change.changes:
        write(change)
    return not only_print


def place_of(agent: Agent, in_project: bool) -> Place:
    path = _file(agent, in_project=in_project)
    try:
        there = commands(agent, path)
    except BadInput as error:
        return Place(agent=agent.name, file=str(path), error=str(error))
    return Place(
        agent=agent.name,
        file=str(path),
        installed=tuple(sorted(there)),
        missing=tuple(event for event in agent.events if event not in there),
        command=next(iter(there.values()), ""),
    )

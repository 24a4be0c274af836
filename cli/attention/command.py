"""``tocsin attention``: agents ask, nothing interrupts, and the person takes one thing at a time."""

import os
from typing import Any, Final

import click

from ...contracts.errors import BadInput
from ..lazy import LazyGroup
from .launcher import LAUNCHED

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "next": ("taking:next_", "Take the next item, or show the one that is yours already."),
    "resolve": ("deciding:resolve", "Answer the active item; the answer goes back to who asked."),
    "defer": ("deciding:defer", "Put an item off until later."),
    "cancel": ("deciding:cancel", "Give an item up; nobody is told to do anything."),
    "requeue": ("deciding:requeue", "Let a deferred item wait in the line again."),
    "queue": ("looking:queue", "List what is active, queued and deferred."),
    "show": ("looking:show", "Show one item whole."),
    "history": ("looking:history", "Show what happened to an item."),
    "add": ("taking:add", "Queue work of your own."),
    "start": ("taking:start", "Record work of your own that you have begun."),
    "retry-command": ("repairing:retry_command", "Send a command of yours again, to the letter, to learn what became of it."),
    "retry-return": ("repairing:retry_return", "Send an answer again that did not arrive."),
    "reroute-return": ("repairing:reroute_return", "Send an answer another way."),
    "doctor": ("health:doctor", "Show whether all is well."),
    "source": ("sources:source", "List, show and revoke who may ask."),
    "skill": ("skills:skill", "Tell agents how to ask."),
    "bind": ("seats:bind", "For agents: enrol a piece of work, once."),
    "summon": ("seats:summon", "For agents: ask the person."),
    "amend": ("seats:amend", "For agents: change what was asked; its place stays."),
    "withdraw": ("seats:withdraw", "For agents: take back what was asked."),
}
"""Every command: where it is, and what it is for; it is imported when it is called."""


class Group(LazyGroup):
    """The commands, the person's first; with ``--json`` a mistake in the options is told as JSON, too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note what was asked for, before anything can be wrong with it."""
        ctx.meta[__name__] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run one."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            if not ctx.meta[__name__] or ctx.find_root().obj is None:
                raise
            ctx.find_root().obj.json = True
            raise BadInput(error.format_message()) from error


@click.group(cls=Group, table=COMMANDS, package=__package__)
def attention() -> None:
    """The person's queue: agents ask, nothing interrupts, and you take one thing at a time.

    `tocsin attention next` shows what is yours; `tocsin attention resolve --response "Use C." --next` answers it and takes
    the next one. An item's number may be written 42 or ATN-42.
    """
    os.environ.pop(LAUNCHED, None)  # the launcher has arrived: what is started from here may use it again

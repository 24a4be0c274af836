"""``tocsin hook``: an agent's hook calls it at every turn and tool call; it is fast, silent, and never in the agent's way."""

import os
import sys
from pathlib import Path

import click
import msgspec

from ..contracts import wire
from ..contracts.errors import NotRunning, TocsinError
from ..contracts.hooks import HookEvent
from ..edges.server.client import Client

PATIENCE = 2.0
"""Seconds; an agent waits for its hooks."""
LONGEST = 1_048_576


@click.command()
def hook() -> None:
    """Pass on what an agent's own hook says: JSON on stdin, as Claude Code and others of that shape write it.

    Put it into the agent's settings for UserPromptSubmit, PreToolUse, PostToolUse, PermissionRequest, Notification and
    Stop. The line then knows from the agent itself when it works, when a dialog may be open and when it waits, and
    types at no other time. It always exits with 0 and prints nothing; TOCSIN_DEBUG=1 tells on stderr what went wrong.
    """
    said = sys.stdin.buffer.read(LONGEST)
    path = os.environ.get("TOCSIN_SOCKET")
    try:
        event = msgspec.json.decode(said, type=HookEvent)
        if not path:
            raise NotRunning("this agent was not started by `tocsin run`, so nobody is told")
        with Client(Path(path), name=os.environ.get("TOCSIN_RECIPIENT", ""), patience=PATIENCE) as client:
            client.ask(wire.Hook(event=event))
    except (msgspec.MsgspecError, TocsinError, UnicodeDecodeError) as error:
        if os.environ.get("TOCSIN_DEBUG"):
            click.echo(f"tocsin hook: {error}", err=True)

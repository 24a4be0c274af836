"""``tocsin hook``: an agent's hook calls it at every turn and tool call; it is fast, silent, and never in the agent's way."""

# Not even click is imported when an agent calls: see `entry`.
import os
import sys
from collections.abc import Sequence

OPTIONS = ("--agent", "--as")
PATIENCE = 0.8
"""Seconds that are waited for a locked database; then what was said is left to the next call."""


def plainly_asked(arguments: Sequence[str]) -> dict[str, str] | None:
    """The options, if ``arguments`` are those that `tocsin hooks install` writes and nothing else."""
    names, values = arguments[::2], arguments[1::2]
    if len(names) != len(values) or not set(names) <= set(OPTIONS) or any(value.startswith("-") for value in values):
        return None
    return dict(zip(names, values, strict=True))


def pass_on(agent: str = "", name: str = "") -> None:
    """Pass on what is on stdin, and print what the agent shall know; whatever happens, the agent is not bothered with it."""
    try:
        said = sys.stdin.buffer.read() if sys.stdin is not None else b""
        path = os.environ.get("TOCSIN_SOCKET") or _place_of(name)
        from ..edges.agent_hooks.call import call

        try:
            call(said, path, agent=agent)
        except (FileNotFoundError, ConnectionRefusedError):
            if not name:
                raise
            _attend(said, name, agent)
    except (OSError, ValueError, RecursionError) as error:
        if os.environ.get("TOCSIN_DEBUG"):
            os.write(2, f"tocsin hook: {error}\n".encode("utf-8", "replace"))


def _attend(said: bytes, name: str, agent: str) -> None:
    """No process runs this agent: if anything waits for it, or something is to be noted, it is done here."""
    from ..contracts.errors import TocsinError
    from ..edges.agent_hooks.quick import is_worth_it, keep, place

    try:
        store = place()
        if store is None or not is_worth_it(said, store, name):
            return
        keep(said, store, name, patience=PATIENCE)
        from ..edges.settings import load
        from .unattended import attend

        attend(said, name, store, load().settings, agent=agent, warn=_say)
    except TocsinError as error:
        raise OSError(str(error)) from error


def _say(text: str) -> None:
    if os.environ.get("TOCSIN_DEBUG"):
        os.write(2, f"tocsin hook: {text}\n".encode("utf-8", "replace"))


def _place_of(name: str) -> str:
    if not name:
        raise OSError("this agent was not started by `tocsin run`, so nobody is told")
    from ..contracts.errors import TocsinError
    from ..edges.server.runtime import runtime_directory, socket_path

    try:
        return str(socket_path(runtime_directory(), name))
    except TocsinError as error:
        raise OSError(str(error)) from error

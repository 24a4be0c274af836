"""What commands that ask a recipient share: whom, how long, and the connection."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from ..contracts import wire
from ..contracts.errors import NoRecipient, TocsinError
from ..edges.server.client import PATIENCE, Client
from ..edges.server.directory import Address, living, present, who_is_here
from ..edges.server.runtime import runtime_directory, socket_path
from .words import complain


def complete(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """The recipients that are here and begin so, for the shell."""
    return [holder.name for holder in living(runtime_directory()) if holder.name.startswith(begun)]


def to_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--to R``: without it the recipient we run inside, or the only one there is."""
    return click.option(
        "--to",
        "to",
        metavar="R",
        shell_complete=complete,
        help="The recipient; without it the one we run inside, or the only one there is.",
    )(command)


def timeout_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--timeout SECONDS``: exit 124 when it is over."""
    return click.option(
        "--timeout",
        "patience",
        type=click.FloatRange(min=0.01),
        default=PATIENCE,
        show_default=True,
        metavar="SECONDS",
        help="How long to wait for an answer; then exit 124.",
    )(command)


def everybody(to: str | None) -> list[Address]:
    """The recipient that is named, or all that are here. Raises ``NoRecipient`` if there is none."""
    directory = runtime_directory()
    if to:
        return [present(directory, to, os.environ)]
    here = living(directory)
    if not here:
        raise NoRecipient(who_is_here(here))
    return [Address(name=holder.name, path=socket_path(directory, holder.name)) for holder in here]


def ask_all(to: str | None, patience: float, request: wire.Request) -> list[wire.Answer]:
    """What the recipient that is named answers, or all that are here. One that does not is told of and passed over.

    Raises what went wrong if nobody answers.
    """
    answers: list[wire.Answer] = []
    failures: list[TocsinError] = []
    for address in everybody(to):
        try:
            with Client(address.path, name=address.name, patience=patience) as client:
                answers += client.ask_for(request)
        except TocsinError as error:
            failures.append(error)
    if not answers:
        raise failures[0]
    for failure in failures:
        complain(str(failure))
    return answers


@contextmanager
def asked(to: str | None, patience: float) -> Iterator[Client]:
    """A connection to the recipient that is meant. Raises ``NoRecipient``, or ``NotRunning`` if it ends just now."""
    address = present(runtime_directory(), to, os.environ)
    with Client(address.path, name=address.name, patience=patience) as client:
        yield client

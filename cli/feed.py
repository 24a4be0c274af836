"""``tocsin feed``: what a pipe, a growing file, JSON lines or a person has to say, to a recipient."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from ..contracts.errors import BadInput
from ..contracts.events import Event
from ..contracts.severity import NAMES, SeverityName
from ..edges.server.client import Client
from ..edges.server.directory import Address, answers, attends, meant, present
from ..edges.server.runtime import runtime_directory
from .asking import to_option
from .stored import store_option
from .words import complain

if TYPE_CHECKING:
    from .keeping import Keeping
    from .piped import Kind


@click.command()
@to_option
@click.option("--scope", metavar="NAME", default="", help="What it is about, such as the name of a dev server.")
@click.option("--source", metavar="TAG", default=None, help="The source tag of what is fed.")
@click.option("--severity", type=click.Choice(NAMES), default=None, help="How bad TEXT, or with --all every line, is.")
@click.option("--jsonl", is_flag=True, help="Standard input holds events and signals as JSON, one a line.")
@click.option("--all", "everything", is_flag=True, help="Feed every line, not only what the rules find.")
@click.option("--follow", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Read a file that grows.")
@click.option("--rules", type=click.Path(dir_okay=False, path_type=Path), multiple=True, metavar="FILE", help="More rules.")
@click.option("--user", is_flag=True, help="These are a person's words: never folded, never left out.")
@click.option("--quiet", is_flag=True, help="No summary at the end.")
@store_option
@click.argument("text", nargs=-1)
@click.pass_context
def feed(
    ctx: click.Context,
    to: str | None,
    scope: str,
    source: str | None,
    severity: SeverityName | None,
    jsonl: bool,
    everything: bool,
    follow: Path | None,
    rules: tuple[Path, ...],
    user: bool,
    quiet: bool,
    store: Path | None,
    text: tuple[str, ...],
) -> None:
    """Feed TEXT as one event, or what matters on standard input: `make 2>&1 | tocsin feed --to dev`.

    Ends when the input has ended and everything was accepted. What a person says (--user), and messages among --jsonl, are
    kept for a recipient that is registered and not here.
    """
    _check_together(
        jsonl=jsonl,
        everything=everything,
        follow=follow,
        user=user,
        text=text,
        severity=severity,
        source=source,
        scope=scope,
        rules=rules,
    )
    address = _addressed(to, store, keepable=user or jsonl)
    pattern = Event(
        text="",
        to=address.name,
        scope=scope,
        source=source or ("user_action" if user else "process_output"),
        severity=severity or ("info" if user else "warning"),
        traffic="user" if user else "event",
    )
    if text:
        _feed_text(address, msgspec.structs.replace(pattern, text=" ".join(text)), store)
        return
    # Only a stream needs an event loop and the rules: a text goes at once, as from a hook.
    from .feeding import kind_of

    kind = kind_of(pattern, rules, jsonl=jsonl, everything=everything or user)
    ctx.exit(_feed_stream(address, kind, follow, store, quiet=quiet))


def _addressed(to: str | None, store: Path | None, *, keepable: bool) -> Address:
    """Who is meant: it is here, or it is registered and what is fed can be kept for it. Raises ``NoRecipient``."""
    directory = runtime_directory()
    address = meant(directory, to, os.environ)
    if keepable and not attends(address.path):
        from .keeping import is_kept_for

        if is_kept_for(address.name, store):
            return address
    return present(directory, to, os.environ)


def _feed_stream(address: Address, kind: "Kind", follow: Path | None, store: Path | None, *, quiet: bool) -> int:
    from .feeding import STDIN, Feeding, summary

    if follow is None and os.isatty(STDIN):
        complain("reads what you type here; Ctrl-D ends it")
    is_here = answers(address.path)
    feeding = Feeding(address, kind, follow) if is_here else _keeping(address.name, kind, follow, store)
    try:
        feeding.run()
    finally:
        if not quiet:
            complain(summary(address.name, feeding.sent, feeding.bad))
    return 2 if feeding.bad or feeding.sent.refused else 0


def _keeping(name: str, kind: "Kind", follow: Path | None, store: Path | None) -> "Keeping":
    from .keeping import Keeping

    return Keeping(name, kind, follow, store)


def _check_together(**given: object) -> None:
    """Say which options do not go together, rather than pass one over in silence."""
    if given["text"]:
        _none_of(given, "TEXT, which is one event", "jsonl", "follow", "everything", "rules")
    elif given["jsonl"]:
        _none_of(given, "--jsonl, where each line says all", "everything", "user", "severity", "source", "scope", "rules")
    elif given["everything"] or given["user"]:
        _none_of(given, "--all and --user, which take every line", "rules")
    elif given["severity"]:
        raise click.UsageError("--severity needs TEXT or --all: what the rules find has its own")


def _none_of(given: dict[str, object], why: str, *names: str) -> None:
    for name in names:
        if given[name]:
            raise click.UsageError(f"{_CALLED[name]} does not go with {why}")


_CALLED: Final = {
    "text": "TEXT",
    "jsonl": "--jsonl",
    "follow": "--follow",
    "everything": "--all",
    "user": "--user",
    "severity": "--severity",
    "source": "--source",
    "scope": "--scope",
    "rules": "--rules",
}


def _feed_text(address: Address, event: Event, store: Path | None) -> None:
    if not (attends if event.traffic == "user" else answers)(address.path):
        from .keeping import keep_text

        keep_text(event, store)
        return
    with Client(address.path, name=address.name) as client:
        answer = client.feed([event])
    if answer.refused:
        raise BadInput(answer.refused[0].text)

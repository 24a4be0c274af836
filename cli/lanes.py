"""``tocsin letters``, ``retry``, ``pause`` and ``resume``: what a person does about a recipient's queue."""

import click

from ..contracts import wire
from .asking import asked, complete, timeout_option, to_option
from .words import clock, for_programs, json_option, print_json, say, spoken, table


@click.command()
@to_option
@timeout_option
@json_option
def letters(to: str | None, patience: float, as_json: bool) -> None:
    """List what could not be told to anybody, oldest first."""
    found: list[wire.Letter] = []
    with asked(to, patience) as client:
        for answer in client.ask_for(wire.AskLetters()):
            if isinstance(answer, wire.Letters):
                found += answer.letters
    if as_json:
        print_json({"letters": [for_programs(letter) for letter in found]})
    elif found:
        say(table(("ID", "WHEN", "FOR", "WHY", "WHAT"), map(_row, found)))
    else:
        click.echo("no dead letters", err=True)


@click.command()
@click.argument("notice_id", metavar="ID")
@to_option
@timeout_option
def retry(notice_id: str, to: str | None, patience: float) -> None:
    """Feed a dead letter's event again, through the whole line."""
    with asked(to, patience) as client:
        client.ask(wire.Retry(id=notice_id))


@click.command()
@click.argument("recipient", metavar="[R]", required=False, shell_complete=complete)
@to_option
@timeout_option
def pause(recipient: str | None, to: str | None, patience: float) -> None:
    """Keep notices back from R; what a person says still passes."""
    with asked(recipient or to, patience) as client:
        client.ask(wire.Pause())


@click.command()
@click.argument("recipient", metavar="[R]", required=False, shell_complete=complete)
@to_option
@timeout_option
def resume(recipient: str | None, to: str | None, patience: float) -> None:
    """Let notices through again."""
    with asked(recipient or to, patience) as client:
        client.ask(wire.Resume())


def _row(letter: wire.Letter) -> tuple[str, ...]:
    one = letter.decision
    why = f"{spoken(one.reason)}{f' ({one.note})' if one.note else ''}"
    return one.id, clock(one.at)[:8], one.lane, why, letter.event.text.strip().split("\n")[0][:120]

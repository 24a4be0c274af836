"""``tocsin letters``, ``retry``, ``pause`` and ``resume``: what a person does about a recipient's queue."""

import os
from pathlib import Path

import click

from ..contracts import wire
from ..contracts.errors import NoRecipient, NotFound, TocsinError
from ..edges.server.directory import answers, living, meant
from ..edges.server.runtime import runtime_directory
from .asking import asked, complete, timeout_option, to_option
from .remembered import feed_stored_letter, stored_letters
from .stored import moment, store_option
from .words import for_programs, json_option, print_json, say, spoken, table


@click.command()
@to_option
@timeout_option
@store_option
@json_option
def letters(to: str | None, patience: float, store: Path | None, as_json: bool) -> None:
    """List what could not be told to anybody, oldest first; also what the store keeps of processes that have ended."""
    kept = stored_letters(to, store)
    found = _of_the_living(to, patience) if _somebody_is_here(to) or kept is None else []
    known = {(letter.decision.lane, letter.decision.id) for letter in found}
    found += [letter for letter in kept or () if (letter.decision.lane, letter.decision.id) not in known]
    found.sort(key=lambda letter: letter.decision.at)
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
@store_option
def retry(notice_id: str, to: str | None, patience: float, store: Path | None) -> None:
    """Feed a dead letter's event again, through the whole line; if its process has ended, whoever delivers next is told it."""
    refused: TocsinError = NotFound(f"there is no dead letter with the id {notice_id!r}; `tocsin letters` lists them")
    if _somebody_is_here(to):
        try:
            with asked(to, patience) as client:
                client.ask(wire.Retry(id=notice_id))
        except (NoRecipient, NotFound) as error:
            refused = error
        else:
            return
    if not feed_stored_letter(notice_id, to, store):
        raise refused


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


def _somebody_is_here(to: str | None) -> bool:
    """True if there is a recipient that can be asked, or a choice of several."""
    try:
        return answers(meant(runtime_directory(), to, os.environ).path)
    except NoRecipient:
        return bool(living(runtime_directory()))


def _of_the_living(to: str | None, patience: float) -> list[wire.Letter]:
    found: list[wire.Letter] = []
    with asked(to, patience) as client:
        for answer in client.ask_for(wire.AskLetters()):
            if isinstance(answer, wire.Letters):
                found += answer.letters
    return found


def _row(letter: wire.Letter) -> tuple[str, ...]:
    one = letter.decision
    why = f"{spoken(one.reason)}{f' ({one.note})' if one.note else ''}"
    return one.id, moment(one.at), one.lane, why, letter.event.text.strip().split("\n")[0][:120]

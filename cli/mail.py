"""``tocsin mail``: one agent's words to another, kept until they are delivered, and unchanged."""

import os
from pathlib import Path
from typing import Final

import click

from ..contracts.durable import State, Stored
from .sending import send as send_it
from .sending import sound, text_of
from .stored import in_short, list_options, moment, of_whom, reading, show_list, store_option, to_whom
from .words import complain, json_option, spoken

AT_ONCE: Final = 100


@click.group()
def mail() -> None:
    """Send a message to a recipient, and see what became of messages.

    `tocsin mail send --to dev "the build is yours"` is kept until dev reads it, whether or not dev is here.
    """


@mail.command()
@to_whom
@click.option("--from", "sender", metavar="NAME", default=None, help="Who says it; without it the recipient we run inside.")
@click.option("--subject", metavar="S", default="", help="Stands as `Subject: S` and an empty line before the text.")
@click.option("--id", "mail_id", metavar="ID", default="", help="Your id: what is sent again with the same one comes once.")
@store_option
@json_option
@click.argument("words", metavar="[TEXT]...", nargs=-1)
def send(
    to: str,
    sender: str | None,
    subject: str,
    mail_id: str,
    store: Path | None,
    as_json: bool,
    words: tuple[str, ...],
) -> None:
    """Commit a message of TEXT (- for standard input) and print its id.

    `tocsin mail send --to dev --from lead - < review.md`: to the letter, but for the last line feed.
    """
    who = os.environ.get("TOCSIN_RECIPIENT", "") if sender is None else sender
    body = text_of(words)
    text = f"Subject: {' '.join(sound(subject).split())}\n\n{body}" if subject.strip() else body
    send_it(store, to, lambda line: line.send_mail(sound(to), text, id=sound(mail_id), scope=sound(who)), as_json=as_json)


@mail.command("list")
@of_whom
@click.option("--state", type=click.Choice([state.value for state in State]), help="Only messages that are so far.")
@click.option("--limit", type=click.IntRange(min=1), default=AT_ONCE, show_default=True, help="So many at most.")
@click.option("--after", metavar="SEQ", type=click.IntRange(min=0), default=0, help="Only what came after this one.")
@store_option
@list_options
def list_(to: str | None, state: str | None, limit: int, after: int, store: Path | None, as_json: bool, jsonl: bool) -> None:
    """List messages and how far each is, oldest first: `tocsin mail list --to dev --state pending`."""
    states = {State(state)} if state else None
    with reading(store) as records:
        found = records.messages(to=to, states=states, traffic="mail", limit=limit + 1, after=after)
    rows = found[:limit]
    head = ("SEQ", "ID", "FOR", "FROM", "SENT", "STATE", "WHY", "WHAT")
    show_list("mail", rows, _cells, head, as_json=as_json, jsonl=jsonl)
    if len(found) > limit:
        complain(f"there is more: --after {rows[-1].seq}")


def _cells(one: Stored) -> tuple[str, ...]:
    sent, what = moment(one.accepted_at), in_short(one.event.text)
    return str(one.seq), one.id, one.recipient, one.event.scope, sent, str(one.state), spoken(one.reason), what

"""``tocsin explain`` and ``tocsin decisions``: every yes and no, with its reason, in order."""

import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

import click

from ..contracts import wire
from ..contracts.errors import Lost, NotFound, TocsinError
from ..contracts.verdicts import Decision, Verdict
from ..edges.server.client import Client
from .asking import ask_all, asked, timeout_option, to_option
from .remembered import Remembered, as_plain, laddered, remembered, waits_there
from .stored import store_option
from .words import clock, complain, for_programs, json_option, print_json, say, spoken, table

LOOK_PERIOD: Final = 0.3
"""Seconds between two looks of ``--follow``."""

SPOKEN: Final[dict[str, str]] = {
    "pass": "goes on",
    "fold": "counted into the one before",
    "remind": "goes on as a reminder",
    "evict": "pushed out",
    "shed": "left out, too much came at once",
    "hold": "held",
    "release": "let go",
    "drop_cascade": "dropped as an echo of the outage",
    "clear": "dropped as out of date",
    "defer": "waits",
    "overdue": "goes on although the recipient is busy",
    "drop_dead": "dropped, the recipient is gone",
    "refuse": "refused",
    "deliver": "delivered",
    "retry": "not taken, tried again",
    "dead_letter": "given up",
    "spill": "cut, the whole is in a file",
}
"""Each verdict as a person says it."""


@click.command()
@click.argument("what", metavar="ID|FINGERPRINT")
@to_option
@timeout_option
@store_option
@json_option
def explain(what: str, to: str | None, patience: float, store: Path | None, as_json: bool) -> None:
    """Tell the whole story of a notice: when, where, what, why, until, and what is proved of its delivery.

    Recipients that are here are asked, and the store, which also knows of those that have ended.
    """
    kept = remembered(what, to, store)
    found = _in_order([*_from_the_living(what, to, patience, kept), *(kept.decisions if kept else ())])
    if not found and not (kept and (kept.messages or kept.blocks)):
        raise NotFound(f"nothing is remembered of {what!r}: give an id from a block, or 8 or more characters of a fingerprint")
    if as_json:
        print_json({"decisions": [for_programs(one) for one in found], **(as_plain(kept) if kept else {})})
        return
    parts = [_story(list(steps)) for _, steps in groupby(sorted(found, key=_notice), key=_notice)]
    if kept:
        parts += [*waits_there(kept), *(laddered(*one) for one in kept.blocks)]
    say("\n\n".join(parts))


def _from_the_living(what: str, to: str | None, patience: float, kept: Remembered | None) -> list[Decision]:
    """What running recipients know; that nobody answers is no failure where the store could be asked."""
    try:
        return list(_in(ask_all(to, patience, wire.Explain(what=what))))
    except TocsinError as error:
        if kept is None:
            raise
        if error.code != "no_recipient":
            complain(str(error))
        return []


def _in_order(decisions: Iterable[Decision]) -> list[Decision]:
    """Each once: what a living line knows is in the store as well. The sort is stable, so one line keeps its order."""
    return sorted(dict.fromkeys(decisions), key=lambda one: one.at)


@click.command()
@to_option
@timeout_option
@click.option("--follow", is_flag=True, help="Go on until interrupted.")
@click.option("--jsonl", is_flag=True, help="One JSON object a line.")
def decisions(to: str | None, patience: float, follow: bool, jsonl: bool) -> None:
    """List what the line decided, oldest first."""
    with asked(to, patience) as client:
        for one in _followed(client) if follow else _in(client.ask_for(wire.AskDecisions())):
            if jsonl:
                print_json(one)
            else:
                when, where, *what = _step(one)
                say("  ".join((when, where, one.lane, one.id, *what)).rstrip())


def _in(answers: Iterable[wire.Answer]) -> Iterator[Decision]:
    for answer in answers:
        if isinstance(answer, wire.Decisions):
            yield from answer.decisions


def _followed(client: Client) -> Iterator[Decision]:
    """What is decided, until the recipient ends."""
    after = 0
    try:
        while True:
            for answer in client.ask_for(wire.AskDecisions(after=after)):
                if isinstance(answer, wire.Decisions):
                    yield from answer.decisions
                    after = answer.next
            time.sleep(LOOK_PERIOD)
    except Lost as error:
        complain(str(error))


def _notice(decision: Decision) -> tuple[str, str]:
    return decision.lane, decision.id


def _story(steps: Iterable[Decision]) -> str:
    steps = list(steps)
    fingerprint = next((step.fingerprint for step in steps if step.fingerprint), "")
    head = f"{steps[0].id} for {steps[0].lane or 'nobody'}{f', fingerprint {fingerprint}' if fingerprint else ''}"
    told = table(("WHEN", "WHERE", "WHAT", "WHY", "UNTIL"), map(_step, steps))
    folded = fingerprint and steps[-1].verdict == Verdict.FOLD
    return f"{head}\n{told}" + (f"\nwhat it was counted into: tocsin explain {fingerprint[:8]}" if folded else "")


def _step(one: Decision) -> tuple[str, ...]:
    why = f"{spoken(one.reason)}{f' ({one.note})' if one.note else ''}"
    return (
        clock(one.at),
        str(one.stage),
        SPOKEN.get(str(one.verdict), spoken(str(one.verdict))),
        why,
        clock(one.until) if one.until else "",
    )

"""Faults: what a contract refuses, said in the words of the command line: which option is meant, and what it may be."""

import re
from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from ...contracts.attention_answers import Code, Refusal
from ...contracts.errors import BadInput


class Invalid(BadInput):
    """A field says what it may not: the same word as where it is found out on the way to the queue."""

    code = "invalid"


_SLUG: Final = "small letters, digits, dots and dashes, 80 at most"
FIELDS: Final[dict[str, tuple[str, str]]] = {
    "human_id": ("--human", f"{_SLUG}, as in --human anna"),
    "project_id": ("--project", f"{_SLUG}, as in --project birthday-film"),
    "work_id": ("--work", "one line of 200 characters at most, as in --work issue-12"),
    "intervention_key": ("--key", "one line of 160 characters at most, as in --key selection-1"),
    "source_id": ("--source", "a source's id, as `tocsin attention source list` shows it"),
    "kind": ("--kind", "review, decision, selection, unblock or human_work"),
    "title": ("--title", "1 to 160 characters, not blank"),
    "requested_action": ("--action", "1 to 1,500 characters, not blank"),
    "context": ("--context", "1 to 3,000 characters, not blank"),
    "unblocks": ("--unblocks", "1 to 800 characters, not blank"),
    "artifacts": (
        "--artifact",
        "at most 12, each LABEL=URI: a label of 120 characters, and https://…, tocsin:notice/…, or an absolute path, as in "
        '--artifact "contact sheet=https://example.com/sheet" or --artifact "log=/var/log/build.log"',
    ),
    "estimate_minutes": ("--minutes", "a whole number from 1 to 240"),
    "deadline_at": ("--deadline", "a day and a time with its offset, as in --deadline 2026-12-01T09:00:00+01:00"),
    "predecessor_item_id": ("--follows", "the number of the item of the round before, as in --follows 42"),
    "response": ("--response", "1 to 4,000 characters, not blank"),
    "reason": ("--reason", "1 to 1,000 characters, not blank"),
    "item_id": ("ID", "the number of an item, as in 42 or ATN-42"),
    "expected_revision": ("--expected-revision", "a whole number from 1 on, as `tocsin attention show ID` says it"),
    "return_generation": ("--return-generation", "a whole number from 1 on, as `tocsin attention show ID` says it"),
}
"""Field of the contract → the option that fills it, and what it may be."""

_PLACE: Final = re.compile(r" - at `\$(?:\.payload)?\.(\w+)[^`]*`$")


def in_words(fault: str, *, from_file: bool = False) -> str:
    """What is wrong and how it is written right. ``from_file``: the reader wrote fields, and no options."""
    found = _PLACE.search(fault)
    if found is None or found[1] not in FIELDS:
        return fault
    option, allowed = FIELDS[found[1]]
    if from_file:
        return f"{found[0].split('`$')[1].strip('.`')} has to be {allowed.partition(', as in --')[0]}"
    return f"{option} has to be {allowed}"


def in_options(refusal: Refusal) -> Refusal:
    """The same refusal; if it is about one field, naming the option."""
    if refusal.code is not Code.INVALID or (said := in_words(refusal.message)) == refusal.message:
        return refusal
    return replace(refusal, message=said)


def missing(fields: Iterable[str], given: Iterable[str]) -> list[str]:
    """The options of those fields that were not given, in their order."""
    there = set(given)
    return [FIELDS[name][0] for name in fields if name not in there]

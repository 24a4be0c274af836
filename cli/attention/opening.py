"""Opening: which queue a command is about, whose it is, and the desk behind it, opened when it is needed and not before."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from ...contracts.attention_answers import Receipt, Result
from ...contracts.attention_facts import Policy
from ...contracts.attention_items import TERMINAL, Item, State
from ...contracts.errors import BadInput, UnknownHuman
from ...edges.attention.desk import AttentionDesk
from ...edges.attention.desk import attention as opened
from ...edges.clock import SteadyClock
from ...edges.settings import load
from ...edges.store_place import state_directory
from ..sending import sound
from ..stored import place, store_option
from ..words import complain, json_option
from .drafts import Draft
from .faults import Invalid, in_words
from .seen import Seen, Way

SESSION: Final = "TOCSIN_DELIVERY_TOKEN"
"""Set in what ``tocsin run`` started: who looks there is an agent, not the person."""


def queue_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--human``, ``--store`` and ``--json``: what every command about a queue has."""
    return human_option(store_option(json_option(command)))


def human_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--human ID``: whose queue."""
    about = "Whose queue, of those that are in this database; by default attention.human_id."
    return click.option("--human", metavar="ID", help=about)(command)


def item_number(_: click.Context, __: click.Parameter, given: str | None) -> int | None:
    """``42`` or ``ATN-42``."""
    if given is None:
        return None
    digits = given.upper().removeprefix("ATN-")
    if not (digits.isascii() and digits.isdecimal() and 0 < int(digits) < 2**63):
        raise click.BadParameter(f"{given!r} is no item's number: write 42 or ATN-42")
    return int(digits)


def item_argument(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The item's number."""
    return click.argument("item_id", metavar="ID" if required else "[ID]", required=required, callback=item_number)


class Queue:
    """One person's queue in one database."""

    def __init__(self, store: Path | None, human: str | None, stack: ExitStack) -> None:
        loaded = load()
        self._stack = stack
        self.path = place(store)
        self.policy = _of_human(loaded.settings.attention, human)
        self.human = self.policy.human_id
        self._configured = loaded.settings.attention.human_id
        self.origin = loaded.origins.get("attention.enabled", "")
        self.state = state_directory()
        self.clock = SteadyClock()

    @cached_property
    def desk(self) -> AttentionDesk:
        """Opened now. Raises ``StoreUnusable`` and its kinds."""
        opening = opened(self.path, state=self.state, clock=self.clock, policy=self.policy, warn=complain)
        desk = self._stack.enter_context(opening)
        if self.human != self._configured and not desk.queue(states=tuple(State), limit=1).items:
            raise UnknownHuman(
                f"{self.human} has no queue here; {self._configured} has. One begins with the setting attention.human_id"
            )
        return desk

    @cached_property
    def broker_uuid(self) -> str:
        """Which database this is; empty as long as nothing was ever asked in it."""
        return self.desk.counts(self.human).broker_uuid

    @cached_property
    def seen(self) -> Seen:
        """What this person was shown of this queue."""
        return Seen(self.state, self.broker_uuid, _way())

    def draft(self, item_id: int) -> Draft:
        """The answer to an item that is being written."""
        return Draft(self.state, self.broker_uuid, item_id)

    def note_shown(self, item: Item) -> None:
        """The person has it before their eyes. What an agent looks at in its session, they have not seen."""
        if not os.environ.get(SESSION):
            self._note(self.seen, item.item_id, item.revision, active=item.state is State.ACTIVE)

    def note_ended(self, receipt: Receipt) -> None:
        """No draft is needed of an answer to what is over."""
        if receipt.item_id is not None and receipt.state in TERMINAL:
            Draft(self.state, receipt.broker_uuid, receipt.item_id).forget()

    def note_done(self, receipt: Receipt) -> None:
        """What the person did themself, they know; and the item that was given to them with it, they see: once it was told."""
        seen = Seen(self.state, receipt.broker_uuid, _way())
        if receipt.replayed:
            return  # that is how it was then, and nobody has read how it is now
        given = receipt.active.item_id if receipt.active else None
        # Then it says something else than they said, or something beside it that they may not have read.
        known = receipt.result not in (Result.EXISTING_AMENDED, Result.AMENDED, Result.UNCHANGED)
        if receipt.item_id not in (None, given) and receipt.revision is not None and known:
            self._note(seen, receipt.item_id, receipt.revision, active=False)
        if receipt.active is not None:
            self._note(seen, receipt.active.item_id, receipt.active.revision, active=True)

    @staticmethod
    def _note(seen: Seen, item_id: int, revision: int, *, active: bool) -> None:
        try:
            seen.note(item_id, revision, active=active)
        except OSError as error:  # the command is done: only the next one has to say the revision itself
            needs = "so the next command needs the number and --expected-revision"
            complain(f"{error.filename} can't be written ({error.strerror}), {needs}")


def _way() -> Way:
    """Where the words of the command in hand go."""
    manner = click.get_current_context().find_root().obj
    if getattr(manner, "json", False):
        return Way.PROGRAM
    return Way.TERMINAL if sys.stdout is not None and sys.stdout.isatty() else Way.ELSEWHERE


def _of_human(policy: Policy, human: str | None) -> Policy:
    """The policy of this person's queue. Raises ``BadInput`` for what can be nobody's name."""
    if human is None:
        return policy
    try:
        return msgspec.convert({"enabled": policy.enabled, "human_id": sound(human)}, Policy)
    except msgspec.ValidationError as error:
        raise Invalid(in_words(str(error))) from error


@contextmanager
def queue_at(store: Path | None, human: str | None = None) -> Iterator[Queue]:
    """The queue that is meant, until its command ends. Raises ``BadInput`` if the store is off."""
    with ExitStack() as stack:
        yield Queue(store, human, stack)


def must_be_there(store: Path | None) -> None:
    """For questions: a database that is named has to exist. Raises ``BadInput``."""
    if store is not None and not place(store).exists():
        raise BadInput(f"there is no database at {place(store)}; the first command with this --store makes one")

"""Unused: what a queue answers that nobody has ever used: there are no tables to ask."""

from ...contracts.attention_answers import Code, Refusal
from ...contracts.attention_pages import Counts
from ...contracts.attention_time import iso
from ...contracts.base import Instant


def nothing(human_id: str, now: Instant) -> Counts:
    """How a queue stands that was never used."""
    return Counts(
        as_of=iso(now),
        broker_uuid="",
        human_id=human_id,
        active_item_id=None,
        queued=0,
        deferred=0,
        due=0,
        oldest_ready_at=None,
        next_deferred_at=None,
        returns={},
        sources=0,
    )


def no_command(command_id: str, now: Instant) -> Refusal:
    """What a queue answers that was never used, when it is asked for a receipt."""
    text = f"no command {command_id} was carried out here: send it again with that id"
    return Refusal(code=Code.UNKNOWN_COMMAND, message=text, command_id=command_id, as_of=iso(now))

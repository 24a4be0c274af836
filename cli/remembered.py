"""Remembered: what the store knows of notices and dead letters, also when the process that decided has ended."""

from pathlib import Path
from typing import Any, Final

from ..contracts.base import Instant, Record
from ..contracts.deliveries import Proof
from ..contracts.durable import OPEN, Block, State, Stored
from ..contracts.errors import StoreUnusable
from ..contracts.verdicts import Decision, Stage, Verdict
from ..contracts.wire import Letter
from ..edges.records import Records
from .stored import if_stored, moment
from .words import complain, for_programs, table

MOST: Final = 1_000
"""Dead letters that are listed: as many as a line remembers."""
Ladder = tuple[tuple[Proof, Instant, str], ...]


class Remembered(Record, frozen=True, kw_only=True):
    """Everything that the store has on record of one notice, block or fingerprint."""

    decisions: tuple[Decision, ...]
    messages: tuple[Stored, ...]
    blocks: tuple[tuple[Block, Ladder], ...]
    """The deliveries that it belongs to, each with its proofs."""


def remembered(what: str, to: str | None, store: Path | None) -> Remembered | None:
    """What the store knows; none if there is none. Trouble with it is told, and is no failure of those that are here."""
    try:
        with if_stored(store) as records:
            return None if records is None else _found(records, what, to)
    except StoreUnusable as error:
        complain(str(error))
        return None


def _found(records: Records, what: str, to: str | None) -> Remembered:
    decisions = [one for one in records.story(what) if to in (None, one.lane)]
    ids = dict.fromkeys([what, *(one.id for one in decisions)])
    messages = [one for id in ids for one in records.message(id) if to in (None, one.recipient)]
    blocks = [records.block(id) for id in dict.fromkeys([what, *(one.delivery for one in messages if one.delivery)])]
    return Remembered(
        decisions=tuple(decisions),
        messages=tuple(messages),
        blocks=tuple((block, tuple(records.proofs(block.id))) for block in blocks if block and to in (None, block.recipient)),
    )


def stored_letters(to: str | None, store: Path | None) -> list[Letter] | None:
    """Dead letters that the store keeps, oldest first; none if there is no store."""
    try:
        with if_stored(store) as records:
            return None if records is None else [_letter(records, one) for one in _failed(records, to)]
    except StoreUnusable as error:
        complain(str(error))
        return None


def feed_stored_letter(notice_id: str, to: str | None, store: Path | None) -> bool:
    """Let a stored dead letter wait for its recipient again; False if there is none. Raises ``NameTaken`` if that is here."""
    with if_stored(store) as records:
        if records is None:
            return False
        lanes = [one.recipient for one in _failed(records, to) if one.id == notice_id]
        return sum(records.retry(notice_id, lane) for lane in lanes) > 0


def _failed(records: Records, to: str | None) -> list[Stored]:
    return records.messages(to=to, states={State.FAILED}, limit=MOST)


def _letter(records: Records, one: Stored) -> Letter:
    ends = [step for step in records.story(one.id) if step.verdict is Verdict.DEAD_LETTER and step.lane == one.recipient]
    unknown = Decision(
        at=one.changed_at,
        lane=one.recipient,
        id=one.id,
        fingerprint="",
        stage=Stage.FANOUT,
        verdict=Verdict.DEAD_LETTER,
        reason=one.reason,
    )
    return Letter(decision=ends[-1] if ends else unknown, event=one.event)


def as_plain(kept: Remembered) -> dict[str, Any]:
    """Messages and deliveries, for programs."""
    blocks = [plain_block(*one) for one in kept.blocks]
    return {"messages": [for_programs(one) for one in kept.messages], "deliveries": blocks}


def plain_block(block: Block, ladder: Ladder) -> dict[str, Any]:
    """A block with its proofs, for programs."""
    steps = [{"proof": str(proof), "at": at, "note": note} for proof, at, note in ladder]
    return {**for_programs(block), "proofs": for_programs(steps)}


def waits_there(kept: Remembered) -> list[str]:
    """What has not ended, in words."""
    return [
        f"{one.id} for {one.recipient} is {one.state} since {moment(one.changed_at)}: it is kept until it is delivered"
        for one in kept.messages
        if one.state in OPEN
    ]


def laddered(block: Block, ladder: Ladder) -> str:
    """A block's way, step by step, for people."""
    head = f"{block.id} for {block.recipient}, attempt {block.attempt}: {block.state}"
    rows = [(moment(block.at), "made", ""), *((moment(at), str(proof), note) for proof, at, note in ladder)]
    return f"{head}\n{table(('WHEN', 'PROVED', 'HOW'), rows)}"

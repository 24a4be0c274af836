"""Attention reads: the queue, an item, its history, a receipt, the counts. Nothing is claimed or changed by looking."""

from typing import Any, Final

from ..contracts.attention_answers import Code, Receipt, Refusal
from ..contracts.attention_facts import Nobody, Operator, Principal, issuer_of
from ..contracts.attention_items import PAGE, PAGE_MOST, Item, Phase, Route, State
from ..contracts.attention_pages import Counts, HistoryPage, ItemPage, Shown, SourcePage, Stuck
from ..contracts.attention_time import iso, iso_or_none
from ..contracts.base import Instant
from ..contracts.errors import BadInput
from . import attention_rows as rows
from .attention_facts import DEFERRED, NEXT_DEFERRED
from .attention_schema import broker_of
from .engine import View
from .rows import decode

OPEN_STATES: Final = (State.ACTIVE, State.QUEUED, State.DEFERRED)
"""What a queue shows unless it is asked for other states, in this order."""
COUNTED_TO: Final = 1_000

QUEUE: Final = (
    "SELECT item_id, state, revision, owner_principal, packet, ready_sequence, deferred_until, created_at FROM attention_items "
    "WHERE human_id = ? AND state = ? AND (ready_sequence, item_id) > (?, ?) ORDER BY ready_sequence, item_id LIMIT ?"
)
POSITION: Final = (
    "SELECT count(*) FROM (SELECT 1 FROM attention_items WHERE human_id = ? AND state = 'queued' "
    "AND (ready_sequence, item_id) < (?, ?) LIMIT ?)"
)
HISTORY: Final = f"SELECT {rows.EVENT} FROM attention_events WHERE item_id = ? AND event_id > ? ORDER BY event_id LIMIT ?"


def queue(
    view: View,
    human_id: str,
    now: Instant,
    *,
    states: tuple[State, ...] = OPEN_STATES,
    after: str | None = None,
    limit: int = PAGE,
) -> ItemPage:
    """Items in these states, one state after the other, each in the order of its line.

    ``after`` is what the page before of the same states said. ``limit`` is at most 100. Raises ``BadInput`` for any other.
    """
    wanted = min(max(1, limit), PAGE_MOST)
    begin, sequence, item_id = _place(after, states)
    found: list[rows.Row] = []
    for state in states[begin:]:
        found += view.rows(QUEUE, (human_id, state, sequence, item_id, wanted + 1 - len(found)))
        sequence = item_id = 0
        if len(found) > wanted:
            break
    listed = tuple(rows.listed_of(row) for row in found[:wanted])
    last = listed[-1] if len(found) > wanted else None
    place = last and f"{last.state}.{last.ready_sequence}.{last.item_id}"
    return ItemPage(as_of=iso(now), items=listed, after=place or None)


def _place(after: str | None, states: tuple[State, ...]) -> tuple[int, int, int]:
    """Where a page begins. A place names its state, so that in a list of other states it is none."""
    if not after:
        return 0, 0, 0
    try:
        state, sequence, item_id = after.split(".")
        return states.index(State(state)), int(sequence), int(item_id)
    except ValueError as error:
        listed = ", ".join(states)
        raise BadInput(
            f"{after!r} is no place in a list of {listed}: give what the page before said, and the same states"
        ) from error


def item(view: View, item_id: int, now: Instant) -> Shown | None:
    """One item whole, with its source."""
    known = rows.known(view, item_id)
    if known is None:
        return None
    found = known.item
    position = None
    if found.state is State.QUEUED:
        place = (found.packet.human_id, found.ready_sequence, item_id, COUNTED_TO)
        position = view.rows(POSITION, place)[0][0]
    return Shown(as_of=iso(now), item=found, source=rows.source(view, found.source_id), position=position)


def history(view: View, item_id: int, now: Instant, *, after: int = 0, limit: int = PAGE) -> HistoryPage:
    """What happened to an item, oldest first, behind the event ``after``."""
    wanted = min(max(1, limit), PAGE_MOST)
    found = [rows.happening_of(row) for row in view.rows(HISTORY, (item_id, after, wanted + 1))]
    more = len(found) > wanted
    return HistoryPage(as_of=iso(now), events=tuple(found[:wanted]), after=found[wanted - 1].event_id if more else None)


def command(view: View, command_id: str, principal: Principal, now: Instant) -> Receipt | Refusal:
    """The receipt of a command: for who sent it and for the person, also after the source was revoked."""
    sql = "SELECT issuer, receipt FROM attention_commands WHERE command_id = ?"
    for issuer, receipt in view.rows(sql, (command_id.lower(),)):
        if isinstance(principal, Operator) or (not isinstance(principal, Nobody) and issuer == issuer_of(principal)):
            return decode(Receipt, receipt)
    text = f"no command {command_id} of yours was carried out here: send it again with that id"
    return Refusal(code=Code.UNKNOWN_COMMAND, message=text, command_id=command_id, as_of=iso(now))


def counts(view: View, human_id: str, now: Instant) -> Counts:
    """How the queue stands. It counts what there is: for a look, not for every command."""
    active = rows.active(view, human_id)
    due = "SELECT count(*) FROM attention_items WHERE human_id = ? AND state = 'deferred' AND deferred_until <= ?"
    queued = "SELECT count(*) FROM attention_items WHERE human_id = ? AND state = 'queued'"
    return Counts(
        as_of=iso(now),
        broker_uuid=broker_of(view) or "",
        human_id=human_id,
        active_item_id=active.item_id if active else None,
        queued=_one(view, queued, human_id),
        deferred=_one(view, DEFERRED, human_id),
        due=_one(view, due, human_id, now),
        oldest_ready_at=iso_or_none(_oldest(view, human_id)),
        next_deferred_at=iso_or_none(_one(view, NEXT_DEFERRED, human_id, now)),
        returns={Phase(name): number for name, number in view.rows(PHASES, (human_id,))},
        sources=_one(view, "SELECT count(*) FROM attention_sources WHERE revoked_at IS NULL"),
    )


_OF_RETURNS: Final = "FROM attention_returns AS r CROSS JOIN attention_items AS i ON i.item_id = r.item_id"
"""From the returns to their items, never the other way: few are under way, and many items are over."""
PHASES: Final = (
    f"SELECT r.phase, count(*) {_OF_RETURNS} WHERE r.phase IN ('pending', 'blocked', 'minted', 'failed') AND i.human_id = ? "
    "GROUP BY r.phase"
)
_STANDING: Final = (
    "SELECT r.item_id, i.revision, i.packet, r.phase, r.reason, r.generation, r.source_id, r.route, r.updated_at, "
    f"r.delivery_id {_OF_RETURNS}"
)
STUCK: Final = f"{_STANDING} WHERE r.phase IN ('blocked', 'failed') AND i.human_id = ? ORDER BY r.return_id LIMIT ?"
UNDER_WAY: Final = f"{_STANDING} WHERE r.phase = 'minted' AND i.human_id = ? ORDER BY r.return_id LIMIT ?"


def stuck(view: View, human_id: str, *, limit: int = PAGE_MOST) -> tuple[Stuck, ...]:
    """Answers that are blocked or have failed, at most a hundred: each waits for somebody to do something."""
    return tuple(_stuck(row) for row in view.rows(STUCK, (human_id, min(limit, PAGE_MOST))))


def under_way(view: View, human_id: str, *, limit: int = PAGE_MOST) -> tuple[tuple[Stuck, str], ...]:
    """Answers that a delivery carries, the oldest first, a hundred at most, each with it. One may be stuck or not."""
    return tuple((_stuck(row), row[-1]) for row in view.rows(UNDER_WAY, (human_id, min(limit, PAGE_MOST))))


def _stuck(row: rows.Row) -> Stuck:
    item_id, revision, packet, phase, reason, generation, source_id, route, updated, _ = row
    asked = rows.packet_of(packet)
    return Stuck(
        item_id=item_id,
        revision=revision,
        title=asked.title,
        phase=Phase(phase),
        reason=reason,
        generation=generation,
        source_id=source_id,
        route=decode(Route, route),
        project_id=asked.project_id,
        work_id=asked.work_id,
        since=iso(updated),
    )


def active(view: View, human_id: str) -> Item | None:
    """What this person works on."""
    return rows.active(view, human_id)


def _one(view: View, sql: str, *values: Any) -> Any:
    found = view.rows(sql, values)
    return found[0][0] if found else None


def _oldest(view: View, human_id: str) -> Instant | None:
    """When the head of the line became ready: the moment of the event that its place is named after."""
    sql = (
        "SELECT at FROM attention_events WHERE event_id = (SELECT ready_sequence FROM attention_items "
        "WHERE human_id = ? AND state = 'queued' ORDER BY ready_sequence, item_id LIMIT 1)"
    )
    at: Instant | None = _one(view, sql, human_id)
    return at


def sources(view: View, now: Instant, *, after: str = "", limit: int = PAGE) -> SourcePage:
    """Sources by their ids, behind ``after``, also the revoked."""
    wanted = min(max(1, limit), PAGE_MOST)
    sql = f"SELECT {rows.SOURCE} FROM attention_sources WHERE source_id > ? ORDER BY source_id LIMIT ?"
    found = [rows.source_of(row) for row in view.rows(sql, (after, wanted + 1))]
    more = len(found) > wanted
    return SourcePage(as_of=iso(now), sources=tuple(found[:wanted]), after=found[wanted - 1].source_id if more else None)

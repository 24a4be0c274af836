"""Attention: which transitions are legal, and which item comes next: first in, first out, or the one that the person picked."""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from ..contracts.attention_facts import SelectionReason
from ..contracts.attention_items import State

Act = Literal[
    "amend", "withdraw", "claim", "resolve", "defer", "promote", "requeue", "cancel", "retry_return", "reroute_return"
]
"""What is done to an item that exists. ``claim`` is what ``next`` does, ``promote`` what time does before a selection."""

_QUEUED, _ACTIVE, _DEFERRED, _RESOLVED, _CANCELLED = State

TRANSITIONS: Final[dict[Act, dict[State, State]]] = {
    "amend": {_QUEUED: _QUEUED, _DEFERRED: _DEFERRED, _ACTIVE: _ACTIVE},
    "withdraw": {_QUEUED: _CANCELLED, _DEFERRED: _CANCELLED},
    "claim": {_QUEUED: _ACTIVE},
    "resolve": {_ACTIVE: _RESOLVED},
    "defer": {_QUEUED: _DEFERRED, _ACTIVE: _DEFERRED},
    "promote": {_DEFERRED: _QUEUED},
    "requeue": {_DEFERRED: _QUEUED},
    "cancel": {_QUEUED: _CANCELLED, _DEFERRED: _CANCELLED, _ACTIVE: _CANCELLED},
    "retry_return": {_RESOLVED: _RESOLVED},
    "reroute_return": {_RESOLVED: _RESOLVED},
}
"""What may be done in which state, and the state after it. What does not stand here is refused."""


def after(act: Act, state: State) -> State | None:
    """The state that an item has afterwards; none if that is not legal."""
    return TRANSITIONS[act].get(state)


class Candidate(NamedTuple):
    """An item that may be selected, in the order of its fields."""

    ready_sequence: int
    item_id: int


class Selected(NamedTuple):
    """Which one, and why."""

    item_id: int
    reason: SelectionReason


def select_next(eligible: Iterable[Candidate], pick: int | None = None) -> Selected | None:
    """FIFO-1: the one that has been ready longest, or the picked one; none if that is not among them."""
    if pick is not None:
        picked = any(candidate.item_id == pick for candidate in eligible)
        return Selected(pick, SelectionReason.EXPLICIT_PICK) if picked else None
    first = min(eligible, default=None)
    return first and Selected(first.item_id, SelectionReason.FIFO)


_INSTEAD: Final[dict[tuple[Act, State], str]] = {
    ("withdraw", _ACTIVE): "the person works on it; `tocsin attention amend {id}` tells them what has changed",
    ("resolve", _QUEUED): "`tocsin attention next {id}` takes it, then it can be answered",
    ("resolve", _DEFERRED): "`tocsin attention requeue {id} --reason WHY` and `tocsin attention next {id}` take it first",
    ("defer", _DEFERRED): "`tocsin attention requeue {id} --reason WHY` first, then it can be put off again",
    ("requeue", _QUEUED): "it waits in the line already",
    ("requeue", _ACTIVE): "it is what the person has: `tocsin attention defer {id} --until WHEN --reason WHY` puts it off",
}
_OF_RETURNS: Final = ("retry_return", "reroute_return")


def instead(act: Act, state: State, item_id: int) -> str:
    """What can be done where ``act`` is refused in this state."""
    if hint := _INSTEAD.get((act, state)):
        return hint.format(id=item_id)
    if act in _OF_RETURNS:
        return "only an item that was resolved has an answer to send"
    return "that is its end: a new round is a new item, with a key of its own"

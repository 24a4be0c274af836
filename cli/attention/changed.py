"""Changed: what an item says now that it did not say when its reader saw it, and where their own words are meanwhile."""

from collections.abc import Iterator
from typing import Any, Final

from ...contracts.attention import MUTABLE
from ...contracts.attention_answers import Code, Refusal
from ...contracts.attention_commands import Command, Resolve
from ...contracts.attention_items import EventKind, Happening
from ..words import one_line
from .opening import Queue

LONGEST: Final = 200
_STEPS: Final = frozenset(EventKind) - {kind for kind in EventKind if kind.startswith(("return_", "source_"))}
"""Each moves the item's revision by one."""


def after_refusal(queue: Queue, command: Command, refusal: Refusal) -> Iterator[str]:
    """What the person wants to know about a decision that was refused."""
    payload = command.payload
    if refusal.code is Code.STALE_REVISION and refusal.item_id is not None:
        yield from changes(queue, refusal.item_id, getattr(payload, "expected_revision", 0))
    if isinstance(command, Resolve) and queue.draft(command.payload.item_id).holds(command.payload.response):
        item_id = command.payload.item_id
        yield f"your text is kept; `tocsin attention resolve {item_id}` opens it again"


def changes(queue: Queue, item_id: int, seen: int) -> Iterator[str]:
    """What happened since that revision, and the fields that say something else now."""
    steps = [one for one in _history(queue, item_id) if one.kind in _STEPS]
    before: dict[str, Any] = {}
    for one in steps[:seen]:
        before = one.payload.get("packet", before)
    later = steps[seen:]
    if not later or not before:
        return
    yield f"since revision {seen}: {', '.join(str(one.kind) for one in later)}"
    now = next((one.payload["packet"] for one in reversed(later) if "packet" in one.payload), before)
    for name in MUTABLE:
        if now.get(name) != before.get(name):
            yield f"{name.replace('_', ' ')} is now: {_short(now.get(name))}"


def _history(queue: Queue, item_id: int) -> Iterator[Happening]:
    after: int | None = 0
    while after is not None:
        page = queue.desk.history(item_id, after=after, limit=100)
        yield from page.events
        after = page.after


def _short(value: Any) -> str:
    text = ", ".join(f"{one['label']}: {one['uri']}" for one in value) if isinstance(value, list) else str(value or "none")
    line = one_line(text)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"

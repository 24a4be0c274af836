"""Batches: items as they go over the wire, many in a line, and no line too long."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from ...contracts import wire
from ...contracts.events import Event

LONGEST_ITEM: Final = wire.LONGEST_LINE - 4_096
"""Bytes of one item: a line's, less what stands around it."""
_FULL: Final = wire.LONGEST_LINE // 4
"""Bytes after which a line takes no more: a short answer time matters more than long lines."""


class Packed(NamedTuple):
    """One item ready to be sent, with its place among those that were given."""

    place: int
    item: wire.Item
    raw: msgspec.Raw


def packed(items: Iterable[wire.Item], refused: list[wire.Unfit]) -> Iterator[Packed]:
    """Each item ready to be sent; those that no line can hold are added to ``refused``."""
    for place, item in enumerate(items):
        raw = wire.raw(item)
        size = len(bytes(raw))
        if size > LONGEST_ITEM:
            refused.append(wire.Unfit(index=place, text=f"an event has at most {LONGEST_ITEM} bytes, not {size}"))
        else:
            yield Packed(place, item, raw)


def batches(items: Iterable[Packed]) -> Iterator[list[Packed]]:
    """The items in as many lines as they need."""
    batch: list[Packed] = []
    size = 0
    for one in items:
        length = len(bytes(one.raw))
        if batch and size + length > _FULL:
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += length + 1
    if batch:
        yield batch


def protected(item: wire.Item) -> bool:
    """True for what is never left out: a person's, an agent's or the harness's words, and facts."""
    return not isinstance(item, Event) or item.traffic != "event"

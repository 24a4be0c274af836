"""Recipients: what agents of four kinds let the line know while a burst lasts. Same seed, same behaviour."""

from collections.abc import Iterator
from typing import Final, Literal, assert_never, get_args

from ..contracts.base import Instant, Millis
from ..contracts.signals import Output, Signal, TurnEnded, TurnStarted
from ..pipeline.simulate import Chance

RecipientKind = Literal["idle", "active", "turns", "chatty"]
KINDS: Final[tuple[RecipientKind, ...]] = get_args(RecipientKind)
"""``idle`` does nothing; ``active`` writes without a pause; ``turns`` tells of its turns; ``chatty`` writes in spells."""

_SPINNER: Final = 500
_LINE: Final = 200
_WRITTEN: Final = 40
"""Bytes at a time: enough to count as activity."""


def facts(kind: RecipientKind, lane: str, length: Millis, seed: int) -> Iterator[tuple[Instant, Signal]]:
    """What the recipient of a lane signals from 0 to ``length``; after that it is idle."""
    match kind:
        case "idle":
            return iter(())
        case "active":
            return _writes(lane, 0, length, _SPINNER)
        case "turns":
            return _turns(lane, length, Chance(seed))
        case "chatty":
            return _spells(lane, length, Chance(seed))
        case _:
            assert_never(kind)


def _writes(lane: str, begin: int, end: int, every: int) -> Iterator[tuple[Instant, Signal]]:
    for at in range(begin, end, every):
        yield Instant(at), Output(lane=lane, size=_WRITTEN)


def _turns(lane: str, length: Millis, chance: Chance) -> Iterator[tuple[Instant, Signal]]:
    """Turns of 2 to 20 seconds with 1 to 4 seconds between them."""
    at = 0
    while at < length:
        yield Instant(at), TurnStarted(lane=lane)
        at = min(length, at + chance.between(2_000, 20_000))
        yield Instant(at), TurnEnded(lane=lane)
        at += chance.between(1_000, 4_000)


def _spells(lane: str, length: Millis, chance: Chance) -> Iterator[tuple[Instant, Signal]]:
    """Half a second to six seconds of output, then as long a silence."""
    at = 0
    while at < length:
        end = min(length, at + chance.between(500, 6_000))
        yield from _writes(lane, at, end, _LINE)
        at = end + chance.between(500, 6_000)

"""Simulate: made-up traffic from a seed, single bursts and whole worlds. Same seed, same traffic, on every machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from ..contracts.base import Inbound, Instant, Millis, Traffic
from ..contracts.events import Event
from ..contracts.severity import LEVELS, SeverityName
from ..contracts.signals import (
    Cleared,
    DialogClosed,
    DialogOpened,
    DraftEnded,
    DraftStarted,
    GoodResponse,
    LaneFact,
    Output,
    Paused,
    ProcessExited,
    ProcessStarted,
    RebuildFinished,
    RebuildStarted,
    RecipientDied,
    RecipientRevived,
    RestartRequested,
    Resumed,
    ScreenReleased,
    ScreenTaken,
    Signal,
    TransportFailed,
    TurnEnded,
    TurnStarted,
    WaitEnded,
    WaitStarted,
)

T = TypeVar("T")
Happening = Event | Signal
Timed = tuple[Instant, Happening]

_MASK: Final = (1 << 64) - 1
_SYLLABLES: Final = tuple(consonant + vowel for consonant in "gklmnprstvz" for vowel in "aeiou")
_VERBS: Final = ("failed to load", "lost", "could not parse", "timed out on", "refused", "left out")
_USUAL: Final[dict[SeverityName, int]] = {"info": 20, "warning": 70, "error": 9, "critical": 1}


class Chance:
    """Pseudo-random numbers (splitmix64) that depend on the seed alone: not on the machine, nor on a library's version."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def bits(self) -> int:
        """64 of them."""
        self._state = mixed = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)

    def below(self, end: int) -> int:
        """A number from 0 up to, but not including, ``end``."""
        return (self.bits() * end) >> 64

    def between(self, least: int, most: int) -> int:
        """A number from ``least`` to ``most``, both possible."""
        return least + self.below(most - least + 1)

    def happens(self, share: float) -> bool:
        """True with this probability, 0 to 1."""
        return self.bits() < share * (1 << 64)

    def pick(self, choices: Sequence[T]) -> T:
        """One of them."""
        return choices[self.below(len(choices))]

    def weighted(self, weights: Mapping[T, int]) -> T:
        """One of the keys, as often as its weight says."""
        place = self.below(sum(weights.values()))
        for choice, weight in weights.items():
            if place < weight:
                return choice
            place -= weight
        raise ValueError("no weight is above 0")


def word(number: int) -> str:
    """A pronounceable word, another one for each number: texts made of words differ at every level of the fingerprint."""
    letters = ""
    while True:
        number, place = divmod(number, len(_SYLLABLES))
        letters = _SYLLABLES[place] + letters
        if not number:
            return letters.rjust(4, "x")
        number -= 1


class Burst(Inbound, frozen=True, kw_only=True):
    """One burst of events, all for one recipient."""

    rate: int = 10_000
    """Events a second."""
    length: Millis = Millis(10_000)
    duplicates: float = 0.95
    """The share of events, 0 to 1, whose text is one of ``texts``; every other text is new."""
    texts: int = 1_000
    """So many texts are repeated."""
    severities: dict[SeverityName, int] = msgspec.field(default_factory=lambda: dict(_USUAL))
    """Severity → weight, by which the texts are shared out; a text keeps its severity."""
    to: str | None = None
    source: str = "process_output"
    scope: str = "burst"
    traffic: Traffic = "event"

    def __post_init__(self) -> None:
        if self.rate < 1 or self.length < 0 or self.texts < 1:
            raise ValueError("a burst needs rate >= 1, length >= 0 and texts >= 1")
        if not 0 <= self.duplicates <= 1:
            raise ValueError(f"duplicates is a share from 0 to 1, not {self.duplicates}")
        if not self.severities.keys() <= LEVELS.keys() or min(self.severities.values(), default=0) < 0:
            raise ValueError(f"severities gives weights from 0 on to {', '.join(LEVELS)}")
        if not any(self.severities.values()):
            raise ValueError("severities needs a weight above 0")

    def count(self) -> int:
        """How many events it has."""
        return self.rate * self.length // 1000


def burst(plan: Burst, seed: int) -> list[tuple[Instant, Event]]:
    """The burst's events with their moments, evenly spread from 0 on."""
    return list(burst_events(plan, seed))


def burst_events(plan: Burst, seed: int) -> Iterator[tuple[Instant, Event]]:
    """The same one by one, for bursts that are better not held in memory."""
    chance = Chance(seed)
    known = [_burst_event(plan, chance, number) for number in range(plan.texts)]
    fresh = plan.texts
    for nth in range(plan.count()):
        at = Instant(nth * 1000 // plan.rate)
        if chance.happens(plan.duplicates):
            yield at, chance.pick(known)
        else:
            yield at, _burst_event(plan, chance, fresh)
            fresh += 1


def _burst_event(plan: Burst, chance: Chance, number: int) -> Event:
    return Event(
        text=f"{word(number)} {_VERBS[number % len(_VERBS)]} {word(number + 7)}",
        to=plan.to,
        source=plan.source,
        scope=plan.scope,
        severity=chance.weighted(plan.severities),
        traffic=plan.traffic,
    )


class World(Inbound, frozen=True, kw_only=True):
    """What a made-up world is made of: small stories at random moments, some of which overlap."""

    lanes: tuple[str, ...] = ("dev", "ops", "docs")
    """The recipients; open them before the world is played."""
    scopes: tuple[str, ...] = ("web", "api")
    length: Millis = Millis(600_000)
    """All stories begin within it; the last of them may end up to two minutes later."""
    stories: int = 60
    flood: int = 120
    """Events in the largest flood."""

    def __post_init__(self) -> None:
        if not self.lanes or not self.scopes or self.length < 1 or self.stories < 0 or self.flood < 1:
            raise ValueError("a world needs a lane, a scope, length >= 1, stories >= 0 and flood >= 1")


def world(plan: World, seed: int) -> list[Timed]:
    """Everything that happens in it, by time. What happens at one moment stands in its order."""
    chance = Chance(seed)
    happenings: list[Timed] = []
    for _ in range(plan.stories):
        start = chance.below(plan.length)
        tell = chance.weighted(_STORIES)
        happenings += [(Instant(start + after), what) for after, what in tell(plan, chance)]
    return sorted(happenings, key=lambda timed: timed[0])


Story = Iterator[tuple[int, Happening]]
"""What happens, and how many milliseconds after the story's begin."""


def _finding(plan: World, chance: Chance, scope: str | None = None, number: int | None = None) -> Event:
    number = chance.below(400) if number is None else number
    return Event(
        text=f"{word(number)} {chance.pick(_VERBS)} {word(number + 7)}",
        to=chance.pick(plan.lanes) if chance.happens(0.95) else None,
        source=chance.pick(("process_output", "browser_js", "http_5xx", "diagnostic")),
        scope=chance.pick(plan.scopes) if scope is None else scope,
        severity=chance.weighted(_USUAL),
        detail="\n".join(word(number + line) for line in range(chance.below(4))),
        frame=word(number) if chance.happens(0.2) else "",
        category="build" if chance.happens(0.2) else "",
    )


def _findings(plan: World, chance: Chance) -> Story:
    """A few findings, one of them again and again."""
    again = _finding(plan, chance)
    for nth in range(chance.between(1, 30)):
        yield nth * chance.between(1, 6_000), again if chance.happens(0.6) else _finding(plan, chance)


def _flood(plan: World, chance: Chance) -> Story:
    to, scope = chance.pick(plan.lanes), chance.pick(plan.scopes)
    for nth in range(chance.between(1, plan.flood)):
        event = _finding(plan, chance, scope, chance.below(100_000))
        yield nth * chance.below(20), msgspec.structs.replace(event, to=to)


def _words(plan: World, chance: Chance) -> Story:
    """A person, the harness and other agents speak; some mail comes twice."""
    for nth in range(chance.between(1, 6)):
        traffic: Traffic = chance.pick(("user", "notice", "mail", "return"))
        number = chance.below(30)
        said = Event(
            text=f"please look at {word(number)}",
            to=chance.pick(plan.lanes),
            source={"user": "user_action", "notice": "harness", "mail": "mail"}.get(traffic, "attention_return"),
            traffic=traffic,
            severity="info",
            id=f"mail-{number}" if traffic == "mail" else "",
            key=f"{traffic}:{number}" if traffic in ("notice", "return") else "",
            urgent=traffic == "notice" and chance.happens(0.3),
        )
        yield nth * chance.below(3_000), said
        if traffic == "notice" and chance.happens(0.4):
            yield nth * 3_000 + chance.below(3_000), Cleared(lane=said.to or "", key=said.key)


def _echoes(plan: World, chance: Chance, scope: str, length: int) -> Story:
    """What an outage makes others say, and now and then a real fault among it."""
    to = chance.pick(plan.lanes)
    for _ in range(chance.below(12)):
        text = chance.pick(("[vite] server connection lost", "TypeError: Failed to fetch", "connect ECONNREFUSED 127.0.0.1:80"))
        yield chance.below(length), Event(text=text, to=to, source="browser_js", scope=scope, severity="error")
    if chance.happens(0.5):
        yield chance.below(length), msgspec.structs.replace(_finding(plan, chance, scope), to=to)


def _restart(plan: World, chance: Chance) -> Story:
    scope, length = chance.pick(plan.scopes), chance.between(200, 6_000)
    yield 0, RestartRequested(scope=scope)
    yield 50, ProcessExited(scope=scope, code=143, died_of="SIGTERM")
    yield from _echoes(plan, chance, scope, length)
    yield length, ProcessStarted(scope=scope)


def _crash(plan: World, chance: Chance) -> Story:
    scope, length = chance.pick(plan.scopes), chance.between(200, 20_000)
    yield 0, ProcessExited(scope=scope, code=1)
    yield from _echoes(plan, chance, scope, length)
    yield length, ProcessStarted(scope=scope)


def _rebuild(plan: World, chance: Chance) -> Story:
    scope, length = chance.pick(plan.scopes), chance.between(100, 40_000)
    yield 0, RebuildStarted(scope=scope)
    yield from _echoes(plan, chance, scope, length)
    if chance.happens(0.9):
        yield length, RebuildFinished(scope=scope, ok=chance.happens(0.7))


def _transport(plan: World, chance: Chance) -> Story:
    scope, length = chance.pick(plan.scopes), chance.between(200, 10_000)
    for _ in range(chance.between(1, 4)):
        yield chance.below(length), TransportFailed(scope=scope)
    yield from _echoes(plan, chance, scope, length)
    if chance.happens(0.9):
        yield length, GoodResponse(scope=scope)


def _output(plan: World, chance: Chance) -> Story:
    """The recipient writes, or a spinner turns, for a while."""
    lane, at = chance.pick(plan.lanes), 0
    for _ in range(chance.between(1, 25)):
        at += chance.between(50, 1_500)
        yield at, Output(lane=lane, size=chance.between(1, 200))


def _between(plan: World, chance: Chance) -> Story:
    """Something about a recipient begins and, nearly always, ends."""
    lane, length = chance.pick(plan.lanes), chance.between(500, 60_000)
    begins, ends = chance.pick(_SPANS)
    yield 0, begins(lane=lane)
    if ends is not RecipientRevived or chance.happens(0.8):
        yield length, ends(lane=lane)


_SPANS: Final[tuple[tuple[Callable[..., LaneFact], Callable[..., LaneFact]], ...]] = (
    (TurnStarted, TurnEnded),
    (TurnStarted, TurnEnded),
    (Paused, Resumed),
    (DialogOpened, DialogClosed),
    (DraftStarted, DraftEnded),
    (ScreenTaken, ScreenReleased),
    (WaitStarted, WaitEnded),
    (RecipientDied, RecipientRevived),
)
_STORIES: Final[dict[Callable[[World, Chance], Story], int]] = {
    _findings: 25,
    _flood: 5,
    _words: 20,
    _restart: 6,
    _crash: 4,
    _rebuild: 8,
    _transport: 8,
    _output: 10,
    _between: 14,
}

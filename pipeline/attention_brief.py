"""Attention brief: one item as the person reads it, on one screen of 80 by 24 or whole; what others wrote is inert text."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ..contracts.attention import Artifact
from ..contracts.attention_items import Item, Route, State
from ..contracts.attention_time import instant
from ..contracts.base import Instant
from .attention_lines import one_line, wrapped
from .attention_ways import how_far, way

COLUMNS: Final = 80
LINES: Final = 23
"""Of the 24 on a screen; the last one is for the prompt."""
_LABEL: Final = 10
_SHARES: Final = {"Do": 5, "Context": 4, "Open": 4, "Unblocks": 2}
"""Lines that a part has for sure; what others leave goes to the first that needs more."""


class _Part(NamedTuple):
    label: str
    blocks: tuple[list[str], ...]
    """Lines that stay together: a paragraph may be cut between two lines, an artifact may not."""

    @property
    def lines(self) -> list[str]:
        return [line for block in self.blocks for line in block]


Moment = Callable[[str], str]


def utc(text: str) -> str:
    """A moment for who has no time zone: ``2026-12-01 09:00 UTC``."""
    return f"{text[:10]} {text[11:16]} UTC"


class _Around(NamedTuple):
    as_of: Instant
    position: int | None
    obstacle: str
    proof: str | None
    moment: Moment


def brief(item: Item, *, as_of: Instant, position: int | None = None, obstacle: str = "", moment: Moment = utc) -> str:
    """The item on one screen, whatever its length; what had to be left out is said, with the command that shows it.

    ``as_of``: the moment that the age is counted to. ``position``: how many wait before it, if that is known. ``obstacle``: why
    its answer could not go its way now. ``moment`` puts an ISO moment into the reader's words.
    """
    around = _Around(as_of, position, obstacle, None, moment)
    head, body, foot = _head(item), _body(item), _foot(item, around)
    if len(head) + sum(len(part.lines) for part in (*body, *foot)) <= LINES:
        return _joined(head, body, foot)
    head = _short(head, 2)
    foot = [_Part(part.label, (_short(part.lines, 1),)) for part in foot]
    foot.append(_part("More", f"it is longer: tocsin attention show {item.item_id}"))
    return _joined(head, list(_cut(body, LINES - len(head) - len(foot))), foot)


def whole(
    item: Item,
    *,
    as_of: Instant,
    position: int | None = None,
    obstacle: str = "",
    proof: str | None = None,
    moment: Moment = utc,
) -> str:
    """The item with nothing left out, and what became of it. ``proof``: how far its answer is proved to have come."""
    around = _Around(as_of, position, obstacle, proof, moment)
    return _joined(_head(item), [*_body(item), *_ends(item, around)], _foot(item, around))


def _head(item: Item) -> list[str]:
    packet = item.packet
    title = f"ATN-{item.item_id} · {one_line(packet.project_id)} · {one_line(packet.title)}"
    return wrapped(title, COLUMNS)


def _body(item: Item) -> list[_Part]:
    packet = item.packet
    parts = [_part("Do", packet.requested_action), _part("Context", packet.context)]
    if packet.artifacts:
        parts.append(_Part("Open", tuple(_lines(_artifact(artifact)) for artifact in packet.artifacts)))
    return [*parts, _part("Unblocks", packet.unblocks)]


def _foot(item: Item, around: _Around) -> list[_Part]:
    packet = item.packet
    time = []
    if packet.estimate_minutes is not None:
        time.append(f"about {_count(packet.estimate_minutes, 'minute')} of yours")
    if packet.deadline_at is not None:
        time.append(f"wanted by {around.moment(packet.deadline_at)}")
    since = f"asked {ago(instant(item.created_at), around.as_of)} by {one_line(item.owner.partition(':')[2])}"
    since += f", {item.state}, revision {item.revision}"
    parts = [_part("Work", f"{packet.kind.replace('_', ' ')} for {one_line(packet.work_id)}")]
    if time:
        parts.append(_part("Time", ", ".join(time)))
    parts += [_part("Return", _return(item.route, around.obstacle)), _part("Since", since)]
    if around.position is not None and item.state is State.QUEUED:
        parts.append(_part("Queue", f"{around.position or 'none'} before it now; that may change"))
    return parts


def _ends(item: Item, around: _Around) -> Iterator[_Part]:
    if item.deferred_until is not None or item.state is State.DEFERRED:
        yield _part("Until", around.moment(item.deferred_until) if item.deferred_until else "it is requeued")
    if item.reason is not None:
        yield _part("Reason", item.reason)
    if item.response is not None:
        yield _part("Answer", f"{item.outcome}: {item.response}")
    if item.returned is not None:
        yield _part("Sent", how_far(item.returned, item.route, around.proof))


def _return(route: Route | None, obstacle: str) -> str:
    waits = route is not None and route.return_mode != "none"
    return way(route, obstacle) if waits else "nobody waits for the answer"


def _artifact(artifact: Artifact) -> str:
    named = [f"{one_line(artifact.label)}: {one_line(artifact.uri)}"]
    if artifact.version is not None:
        named.append(f"version {one_line(artifact.version)}")
    if artifact.edge_id is not None:
        named.append(f"on {one_line(artifact.edge_id)}")
    return ", ".join(named)


def _part(label: str, text: str) -> _Part:
    return _Part(label, tuple([line] for line in _lines(text)))


def _short(lines: list[str], room: int) -> list[str]:
    """At most so many lines; where some are left out, the last one ends in ``…``."""
    if len(lines) <= room:
        return lines
    *kept, last = lines[:room]
    return [*kept, wrapped(last, COLUMNS - _LABEL - 2)[0] + " …"]


def _lines(text: str) -> list[str]:
    return wrapped(text, COLUMNS - _LABEL)


def _cut(body: list[_Part], room: int) -> Iterator[_Part]:
    """The parts with as many lines each as there is room for; at least their shares, which together fit."""
    spare = room - sum(min(len(part.lines), _SHARES[part.label]) for part in body)
    for part in body:
        share = min(len(part.lines), _SHARES[part.label])
        given = min(len(part.lines), share + max(0, spare))
        spare -= given - share
        yield part if given == len(part.lines) else _shortened(part, given)


def _shortened(part: _Part, room: int) -> _Part:
    if part.label != "Open":
        return _Part(part.label, (_short(part.lines, room),))
    kept: list[str] = []
    shown = 0
    for block in part.blocks:  # a reference that is cut would name something else
        if len(kept) + len(block) > room - 1:
            break
        kept += block
        shown += 1
    left = f"… {len(part.blocks) - shown} of {_count(len(part.blocks), 'artifact')} not shown"
    return _Part(part.label, ([*kept, left],))


def _joined(head: list[str], *groups: list[_Part]) -> str:
    lines = list(head)
    for part in (part for group in groups for part in group):
        for nth, line in enumerate(part.lines):
            # Only labels stand at the edge, so that no text can pass for one.
            lines.append(f"{f'{part.label}:' if nth == 0 else '':{_LABEL}}{line}".rstrip())
    return "\n".join(lines)


def ago(then: Instant, now: Instant) -> str:
    """``14 minutes ago``; never a time that is yet to come, even if the clock was set back."""
    seconds = max(0, now - then) // 1000
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length or (unit == "minute" and seconds >= length):
            return f"{_count(seconds // length, unit)} ago"
    return "just now"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

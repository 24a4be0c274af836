"""Notice kinds: the one table of what the harness says by itself — how each is named, and what makes it news again."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from hashlib import sha1
from typing import Final, Literal

import msgspec

from ..contracts.events import Event
from ..contracts.notices import Notice

Worker = Literal["preserved", "reclaimed", "reaped-token-cap", "reaped-idle", "released-mail"]
"""What became of a worker: its tree kept or reclaimed, itself ended at its cap or for idleness, its mail filed unread."""


def actionable_key(ids: Iterable[str]) -> str:
    """``actionable:`` and the first 16 hex digits of sha1 over the sorted ids, joined by newline."""
    lines = "\n".join(sorted(set(ids))).encode("utf-8", "surrogatepass")
    return f"actionable:{sha1(lines, usedforsecurity=False).hexdigest()[:16]}"


class Case(msgspec.Struct, frozen=True):
    """One thing that a kind can say. ``key`` is filled in with the facts of the case."""

    key: str
    urgent: bool = False
    """It goes to a recipient that waits on a human, where the sink is passive."""
    cleared_when: str = ""
    """The evidence on which it may be told again: ``read``, ``drained``, ``started``; empty: a re-arm says so, or never."""


class Kind(msgspec.Struct, frozen=True):
    """One kind of notice. A signature is ``kind:key``."""

    cases: Mapping[str, Case]
    latest_only: bool = False
    """A newer one replaces one that is still pending, whatever it says."""
    set_key: Callable[[Iterable[str]], str] | None = None
    """If its ctx is a set of ids of which only the new ones are news: how the key is built from them."""


KINDS: Final[Mapping[str, Kind]] = {
    "heartbeat": Kind(
        {"quiet": Case("quiet", cleared_when="drained"), "actionable": Case("{ids}", cleared_when="read")},
        latest_only=True,
        set_key=actionable_key,
    ),
    "breaker": Kind({"steer": Case("steer:{finding}"), "constrain": Case("constrain:{finding}", urgent=True)}),
    "worker": Kind(
        {
            "preserved": Case("preserved:{worker}", cleared_when="started"),
            "reclaimed": Case("reclaimed:{worker}", cleared_when="started"),
            "reaped-token-cap": Case("reaped-token-cap:{worker}", cleared_when="started"),
            "reaped-idle": Case("reaped-idle:{worker}", cleared_when="started"),
            "released-mail": Case("released-mail:{worker}", cleared_when="started"),
        }
    ),
    "spawn-rejected": Kind(
        {"unparseable": Case("{file}@{mtime_ms}:unparseable"), "refused": Case("{file}@{mtime_ms}:{reason}")}
    ),
    "condense": Kind({"abort": Case("{agent}:{reason}")}),
    "evaluation": Kind({"finding": Case("{labels}")}),
}
"""Kind → how it is told. A kind that is not here is told by its plain key, and nothing of it is known."""

_PLAIN: Final = Kind({})
_FIGURES: Final = frozenset(".,$\u066b\u066c\uff0c\uff0e\uff04")
"""What stands in and before figures: also the Arabic separators and the wide forms."""


def reason_class(prose: str) -> str:
    """The class of a reason given in prose: what stands before the first colon, without figures, in lower case.

    ``looping: 7x`` and ``looping: 9x`` are one class; ``unspecified`` if nothing is left.
    """
    before, _, _ = prose.partition(":")
    words = "".join(character for character in before if not _is_figure(character))
    return " ".join(words.lower().split()) or "unspecified"


def _is_figure(character: str) -> bool:
    return character in _FIGURES or character.isdecimal() or character.isdigit() or character.isnumeric()


# One notice of each row of the table


def heartbeat(*, to: str, text: str, unread: Sequence[str] = ()) -> Event:
    """Nothing happens (``quiet``), or mail waits that somebody has to act on: then with the ids that are ``unread``."""
    if unread:
        return _build("heartbeat", "actionable", {"ids": actionable_key(unread)}, to, text, tuple(dict.fromkeys(unread)))
    return _build("heartbeat", "quiet", {}, to, text)


def breaker(level: Literal["steer", "constrain"], *, to: str, text: str, finding: str = "", reason: str = "") -> Event:
    """An agent has gone astray. ``finding`` is the class of the reason; where it is not known it is taken from the prose."""
    return _build("breaker", level, {"finding": finding or reason_class(reason or text)}, to, text)


def worker(became: Worker, name: str, *, to: str, text: str) -> Event:
    """What became of a worker; news again when a worker of that name starts."""
    return _build("worker", became, {"worker": name}, to, text, (name,))


def spawn_rejected(file: str, mtime_ms: float, *, to: str, text: str, reason: str = "") -> Event:
    """A request file was refused for a ``reason``; without one it could not be read. A rewritten file is a new attempt."""
    facts = {"file": file.rpartition("/")[2], "mtime_ms": str(round(mtime_ms)), "reason": reason}
    return _build("spawn-rejected", "refused" if reason else "unparseable", facts, to, text)


def condense(agent: str, *, to: str, text: str, reason: str) -> Event:
    """An agent's memory could not be condensed."""
    return _build("condense", "abort", {"agent": agent, "reason": reason}, to, text)


def evaluation(labels: Iterable[str], *, to: str, text: str) -> Event:
    """An evaluation found these conditions."""
    return _build("evaluation", "finding", {"labels": ",".join(sorted(set(labels)))}, to, text)


def case_of(signature: str) -> Case:
    """What the table says of a notice by its signature; of one that is not in it: not urgent, and no evidence."""
    kind, _, key = signature.partition(":")
    return KINDS.get(kind, _PLAIN).cases.get(key.partition(":")[0], Case(key))


def plain(
    kind: str,
    key: str,
    *,
    to: str,
    text: str,
    ctx: Sequence[str] = (),
    urgent: bool | None = None,
    cleared_when: str | None = None,
) -> Event:
    """A notice of any kind by its plain key. What is not said of its urgency and of its evidence, the table says."""
    signature = f"{kind}:{key}"
    known = case_of(signature)
    return Event(
        text=text,
        to=to,
        source="harness",
        traffic="notice",
        key=signature,
        ctx=tuple(ctx),
        urgent=known.urgent if urgent is None else urgent,
        cleared_when=known.cleared_when if cleared_when is None else cleared_when,
    )


def _build(kind: str, case: str, facts: Mapping[str, str], to: str, text: str, ctx: tuple[str, ...] = ()) -> Event:
    row = KINDS[kind].cases[case]
    key = row.key.format_map(facts)
    return plain(kind, key, to=to, text=text, ctx=ctx, urgent=row.urgent, cleared_when=row.cleared_when)


# What the gate asks


def signature_of(notice: Notice) -> str:
    """What is told once until it is re-armed: ``kind:key``, or the fingerprint of a notice without a key."""
    return notice.event.key or notice.fingerprint


def kind_of(signature: str) -> str:
    """The kind in a signature; empty if it has none."""
    kind, colon, _ = signature.partition(":")
    return kind if colon else ""


def slot_of(notice: Notice) -> str:
    """What one pending notice at a time can stand for: its signature, or its kind where the newest replaces the others."""
    signature = signature_of(notice)
    kind = KINDS.get(kind_of(signature), _PLAIN)
    return f"{kind_of(signature)}:" if kind.latest_only or (kind.set_key and notice.event.ctx) else signature


def without(notice: Notice, told: Container[str]) -> Notice | None:
    """What of a notice is news to a recipient that was ``told`` of these ids: only a set of ids can be news in part."""
    event = notice.event
    kind = KINDS.get(kind_of(signature_of(notice)), _PLAIN)
    if kind.set_key is None or not event.ctx:
        return notice
    new = tuple(one for one in event.ctx if one not in told)
    if len(new) == len(event.ctx):
        return notice
    return _of_these(notice, new, f"{kind_of(event.key)}:{kind.set_key(new)}") if new else None


def rest_of(notice: Notice, older: Notice) -> Notice | None:
    """What of a notice is still news once its recipient was told an older one that it would have replaced."""
    return None if signature_of(notice) == signature_of(older) else without(notice, older.event.ctx)


def _of_these(notice: Notice, ids: tuple[str, ...], key: str) -> Notice:
    event = notice.event
    detail = _in_words(ids) if event.detail in ("", _in_words(event.ctx)) else event.detail
    left = msgspec.structs.replace(event, ctx=ids, key=key, detail=detail)
    from .identity import fingerprint  # loads all its rules

    return msgspec.structs.replace(notice, event=left, fingerprint=fingerprint(event.source, event.scope, "", key=key))


def _in_words(ids: Sequence[str]) -> str:
    return "new: " + ", ".join(ids)

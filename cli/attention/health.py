"""``tocsin attention doctor``: whether all is well, and for each trouble the command that ends it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
import msgspec

from ...contracts.attention_answers import NUMBERS, Code
from ...contracts.attention_items import Phase
from ...contracts.attention_pages import Counts, Stuck
from ...edges.attention.addresses import Open, open_commands
from ...edges.attention.health import Bound, Health
from ...edges.attention.keys import FILE, Key
from ...pipeline.attention_ways import in_words, way
from ..words import one_line, print_json, say, spoken
from .answers import TURN_ON
from .carrying import reconciling
from .looking import summary
from .moments import locally
from .opening import must_be_there, queue_at, queue_options


@click.command()
@queue_options
@click.pass_context
def doctor(ctx: click.Context, human: str | None, store: Path | None, as_json: bool) -> None:
    """Show whether all is well: the database, who is here, who may ask, and answers that do not get through.

    Exit 3 if your key is not good, 5 if answers do not get through; each trouble comes with what to do.
    """
    must_be_there(store)
    with queue_at(store, human) as found:
        health = found.desk.doctor(found.human)
        counts = found.desk.counts(found.human)
        origin, key = found.origin, found.state / FILE
        lost = list(open_commands(found.state))
    if as_json:
        more = {"counts": counts, "troubles": list(_troubles(health, key)), "open_commands": lost}
        print_json({**msgspec.to_builtins(health), **more})
    else:
        say("\n".join([*_lines(health, counts, origin, key), *map(_of_lost, lost)]))
    ctx.exit(_exit(health))


def _of_lost(one: Open) -> str:
    return f"what became of a {spoken(one.action)} is not known: `{reconciling(one.command_id, one.path)}` says it"


def _exit(health: Health) -> int:
    if _key_is_bad(health):
        return NUMBERS[Code.NOT_YOURS].exit
    return NUMBERS[Code.NO_ROUTE].exit if health.stuck or health.held_up else 0


def _troubles(health: Health, key: Path) -> Iterator[dict[str, object]]:
    """Each with its code, in words, and with the command that ends it."""
    if _key_is_bad(health):
        yield {"code": "not_yours", "text": _of_key(health), "remedy": _KEY_REMEDIES[health.operator_key].format(path=key)}
    for one in (*health.stuck, *health.held_up):
        yield {
            "code": f"return_{one.phase}",
            "text": _of_stuck(one),
            "item_id": one.item_id,
            "remedy": _remedy(one, health),
        }


def _lines(health: Health, counts: Counts, origin: str, key: Path) -> Iterator[str]:
    yield f"database: {health.path}, {health.broker_uuid or 'no queue was ever used in it'}"
    yield f"queue of {counts.human_id} on {health.edge}: {'on' if health.enabled else 'off'}"
    if not health.enabled:
        yield TURN_ON.format(origin=f", by {origin}" if origin else "")
    yield f"your key: {_of_key(health)}"
    if _key_is_bad(health):
        yield f"  {_KEY_REMEDIES[health.operator_key].format(path=key)}"
    yield from summary(counts)
    for one in (*health.stuck, *health.held_up):
        yield f"{_of_stuck(one)}, since {locally(one.since)}"
        yield f"  {_remedy(one, health)}"
    if counts.oldest_ready_at:
        yield f"the head of the line waits since {locally(counts.oldest_ready_at)}"
    for here in health.here:
        yield f"here: {here.actor} (pid {here.pid}{f', session {here.session}' if here.session else ''})"
    for source in health.sources:
        yield _of_source(source)
    if health.more_sources:
        yield "more sources: `tocsin attention source list`"


def _of_source(source: Bound) -> str:
    state = "good" if source.valid else spoken(source.reason)
    return f"source {source.source_id}: {source.actor}, {source.project_id} · {source.work_id}, {source.return_mode}: {state}"


def _of_stuck(one: Stuck) -> str:
    said = f"{one.reason}: {in_words(one.reason, one.route.actor)}"
    return f"ATN-{one.item_id} {one.phase}: {said}; the answer to {one_line(one.title)!r} goes {way(one.route)}"


def _remedy(one: Stuck, health: Health) -> str:
    """The command that sends it on its way. What it names of item and answer is what is told here."""
    which = f"{one.item_id} --return-generation {one.generation} --expected-revision {one.revision}"
    if one.phase is Phase.FAILED and not _is_closed(one, health):
        return f"`tocsin attention retry-return {which}` sends it once more"
    others = (other.source_id for other in health.sources if _is_other_way(one, other))
    other = next(others, None)
    meanwhile = "if it does not come back within a minute, " if one.phase is Phase.MINTED else ""
    command = (
        f"{meanwhile}`tocsin attention reroute-return {which} --source {other or 'SOURCE'} --reason WHY` sends it another way"
    )
    if other is not None:
        return command
    bind = f"`tocsin attention bind --operator --actor {one.route.actor} --project {one.project_id} --work {one.work_id!r}"
    return f"{command}; no source of this work is good now: {bind} --return actor-context --out FILE` makes one"


def _is_closed(one: Stuck, health: Health) -> bool:
    """True if an answer would go the same way to nobody."""
    return any(source.source_id == one.source_id and not source.valid for source in health.sources)


def _is_other_way(one: Stuck, other: Bound) -> bool:
    same_work = (other.project_id, other.work_id) == (one.project_id, one.work_id)
    return same_work and other.valid and other.return_mode != "none" and other.source_id != one.source_id


_KEYS: Final[dict[Key, str]] = {
    "yours": "the one of this queue",
    "none": "none yet; your first command makes it",
    "not_trusted": "not trusted: others may read or write it",
    "damaged": "no key: the file holds something else",
    "another": "another than this queue knows, so you may only look",
}
_LOST: Final = "none, and this queue belongs to somebody who has one"
_PUT_BACK: Final = "put the right file back at {path}"
_KEY_REMEDIES: Final[dict[Key, str]] = {
    "none": _PUT_BACK,
    "not_trusted": "`chmod 600 {path}`, if nobody has changed it",
    "damaged": _PUT_BACK + ", or remove it if no queue knows it yet",
    "another": _PUT_BACK,
}


def _key_is_bad(health: Health) -> bool:
    return health.operator_key in ("not_trusted", "damaged", "another") or _is_lost(health)


def _is_lost(health: Health) -> bool:
    return health.operator_key == "none" and health.operator_recorded


def _of_key(health: Health) -> str:
    return _LOST if _is_lost(health) else _KEYS[health.operator_key]

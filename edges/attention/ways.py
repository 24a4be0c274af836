"""Ways: whether the answer to an item could reach who asked now, and how far it is proved to have come."""

from msgspec.structs import replace

from ...actors.returns import obstacle
from ...actors.tables import Alive
from ...contracts.attention_items import Item, Obstacle, Phase, Route, State
from ...contracts.attention_pages import Shown, Stuck
from ...contracts.durable import OPEN
from ...pipeline.attention_ways import in_words
from ...store import attention_reads, deliveries, intake
from ...store.engine import View

_STILL: frozenset[Phase] = frozenset({Phase.PENDING, Phase.BLOCKED, Phase.FAILED})


def looked_at(view: View, shown: Shown, alive: Alive) -> Shown:
    """The same, with what this machine sees of its way now."""
    item = shown.item
    if item.route is None:
        return shown
    sent = item.returned is not None and item.returned.phase is Phase.MINTED
    if sent and item.returned is not None:
        stands = waits_for(view, item.returned.delivery_id, item.route, alive)
    else:
        stands = obstacle(view, item.route, alive) if _matters(item) else ""
    return replace(shown, obstacle=str(stands), proof=_proof(view, item))


def closed(view: View, item: Item, alive: Alive) -> str:
    """In words, why the answer to an item can't go its way now, and what can be done; empty if it can."""
    route = item.route
    reason = obstacle(view, route, alive) if route is not None else ""
    if route is None or not reason:
        return ""
    waits = "it goes by itself once that session runs" if reason == Obstacle.NOT_RUNNING else "it does not go by itself"
    return (
        f"the answer stays where it is: {in_words(reason, route.actor)}. Nothing was sent; {waits}, and `tocsin attention "
        f"reroute-return {item.item_id}` sends it another way (`doctor` prints it in full)"
    )


def waits_for(view: View, delivery_id: str, route: Route, alive: Alive) -> str:
    """What keeps an answer that is on its way from being told now; empty if nothing does, or it has come to its end."""
    under_way = any(stored.state in OPEN for stored in intake.find(view, delivery_id) if stored.traffic == "return")
    return obstacle(view, route, alive) if under_way else ""


def held_up(view: View, human_id: str, alive: Alive) -> tuple[Stuck, ...]:
    """Answers of this queue that are on their way to a session that does not run, a hundred at most.

    Whoever sends answers notes after a minute that such a one has failed; but nobody may be there who does.
    """
    sent = attention_reads.under_way(view, human_id)
    found = ((one, waits_for(view, delivery, one.route, alive)) for one, delivery in sent)
    return tuple(replace(one, reason=str(reason)) for one, reason in found if reason)


def _matters(item: Item) -> bool:
    """True if an answer is still to go that way."""
    if item.state is State.CANCELLED or (item.route is not None and item.route.return_mode == "none"):
        return False
    return item.returned is None or item.returned.phase in _STILL


def _proof(view: View, item: Item) -> str | None:
    """By the delivery's own record, which may learn more than was known when it ended; while there is one."""
    known = item.returned.outcome.get("delivery") if item.returned else None
    block = deliveries.block(view, known) if known else None
    return str(block.proof) if block and block.proof else None

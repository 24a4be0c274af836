"""Attention returns: when an answer may be sent once more, or another way. What is under way is never sent a second time."""

from ..contracts.attention import ReturnReroute, ReturnRetry
from ..contracts.attention_answers import Code, Refusal, Result
from ..contracts.attention_facts import Decision, Facts, OpenReturn, Supersede
from ..contracts.attention_items import Phase, Return, Source
from .attention import Act
from .attention_items import named, out_of_scope


def retry(payload: ReturnRetry, facts: Facts) -> Decision | Refusal:
    """The same way again, as a new generation; nothing, while the last one is still under way."""
    last = _last(payload, "retry_return", facts)
    if isinstance(last, Refusal):
        return last
    if last.phase in (Phase.PENDING, Phase.MINTED):
        return Decision(result=Result.RETURN_ACTIVE, item_id=last.item_id)
    assert facts.route is not None  # every return has one
    return _replaced(last, facts.route, Result.RETURN_RETRIED, "retried by the person")


def reroute(payload: ReturnReroute, facts: Facts) -> Decision | Refusal:
    """Another way, before anything was sent or after it has failed."""
    last = _last(payload, "reroute_return", facts)
    if isinstance(last, Refusal):
        return last
    if last.phase is Phase.MINTED:
        text = "the answer is under way: it can't be called back. Wait until its delivery has ended"
        return Refusal(code=Code.RETURN_UNDER_WAY, message=text, return_generation=last.generation, item_id=last.item_id)
    route = _usable(payload, facts)
    if isinstance(route, Refusal):
        return route
    if facts.route is not None and _same(facts.route, route):
        text = f"the answer goes that way already: `tocsin attention retry-return {last.item_id}` sends it once more that way"
        return Refusal(code=Code.SAME_ROUTE, message=text, return_generation=last.generation, item_id=last.item_id)
    return _replaced(last, route, Result.RETURN_REROUTED, payload.reason)


def _same(one: Source, other: Source) -> bool:
    """True if an answer goes the same way by both: two bindings of one session are one way."""
    if one.source_id == other.source_id:
        return True
    pinned = one.return_mode == other.return_mode == "pinned_session"
    return pinned and (one.edge, one.actor, one.session_id) == (other.edge, other.actor, other.session_id)


def _last(payload: ReturnRetry, act: Act, facts: Facts) -> Return | Refusal:
    known = named(payload, act, facts)
    if isinstance(known, Refusal):
        return known
    last = facts.returned
    if last is None:
        return Refusal(code=Code.NO_RETURN, message=f"the answer to item {payload.item_id} goes nowhere: it had no source")
    if last.generation != payload.return_generation:
        text = f"the return is at generation {last.generation}, not {payload.return_generation}: read it again"
        return Refusal(code=Code.STALE_GENERATION, message=text, return_generation=last.generation, item_id=last.item_id)
    if last.phase is Phase.PROCESSED:
        text = "the answer has arrived: it is not sent a second time"
        return Refusal(code=Code.RETURN_PROCESSED, message=text, return_generation=last.generation, item_id=last.item_id)
    return last


def _usable(payload: ReturnReroute, facts: Facts) -> Source | Refusal:
    source, known = facts.source, facts.item
    if source is None or known is None:
        return Refusal(code=Code.UNKNOWN_SOURCE, message=f"there is no source {payload.source_id}")
    if source.revoked_at is not None:
        return Refusal(code=Code.SOURCE_REVOKED, message=f"source {source.source_id} was revoked")
    if source.return_mode == "none":
        return Refusal(code=Code.NO_ROUTE, message=f"source {source.source_id} takes no answers")
    packet = known.item.packet
    if (packet.project_id, packet.work_id) != (source.project_id, source.work_id):
        return out_of_scope(source, packet)
    return source


def _replaced(last: Return, route: Source, result: Result, reason: str) -> Decision:
    following = OpenReturn(
        item_id=last.item_id,
        resolution_command_id=last.resolution_command_id,
        generation=last.generation + 1,
        mode=route.return_mode,
        route=route,
    )
    steps = (Supersede(return_id=last.return_id, reason=reason), following)
    return Decision(result=result, item_id=last.item_id, steps=steps)

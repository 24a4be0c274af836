"""Attention items: how items come, change and go, each as steps of one transaction or a refusal that changes nothing."""

from msgspec import UNSET
from msgspec.structs import replace

from ..contracts.attention import MUTABLE, Addition, Amendment, Because, Cancellation, Deferral, OfItem, Packet, Taking
from ..contracts.attention_answers import Code, Refusal, Result
from ..contracts.attention_commands import Add, Resolve, Start, Summon
from ..contracts.attention_facts import (
    Create,
    Decision,
    Facts,
    Known,
    Move,
    OpenReturn,
    Principal,
    Rewrite,
    Seat,
    Selection,
    Step,
    owner_of,
)
from ..contracts.attention_items import EventKind, Item, Source, State
from ..contracts.attention_time import instant
from ..contracts.base import Instant
from .attention import Act, Candidate, after, instead, select_next
from .attention_requests import bare, content_of


def named(payload: OfItem, act: Act, facts: Facts, principal: Principal | None = None) -> Known | Refusal:
    """The item that is meant, if it is there, may be touched, is as its reader saw it, and may be treated so in its state."""
    known = facts.item
    if known is None:
        return Refusal(code=Code.UNKNOWN_ITEM, message=f"there is no item {payload.item_id}")
    item = known.item
    if isinstance(principal, Seat) and item.source_id != principal.source_id:
        return Refusal(code=Code.NOT_YOURS, message=f"item {item.item_id} was not asked for by this source")
    if item.revision != payload.expected_revision:
        text = f"item {item.item_id} is at revision {item.revision}, not {payload.expected_revision}: read it again"
        return _about(item, Code.STALE_REVISION, text)
    if after(act, item.state) is None:
        hint = instead(act, item.state, item.item_id)
        text = f"item {item.item_id} is {item.state}: {act.replace('_', ' ')} is not possible then; {hint}"
        return _about(item, Code.WRONG_STATE, text)
    return known


def _about(item: Item, code: Code, message: str) -> Refusal:
    return Refusal(code=code, message=message, item_id=item.item_id, revision=item.revision, state=item.state)


def enter(command: Summon | Add | Start, content: str, facts: Facts) -> Decision | Refusal:
    """A new item, or the one that the same round has already."""
    packet = command.payload
    if refusal := _misdirected(command, facts):
        return refusal
    if facts.twin is not None:
        return _again(facts.twin, content)
    if not facts.predecessor:
        return Refusal(code=Code.UNKNOWN_ITEM, message=f"there is no item {packet.predecessor_item_id} to follow")
    starts = isinstance(command, Start)
    if starts and facts.active is not None:
        text = f"item {facts.active.item_id} is active: resolve, defer or cancel it first"
        return _about(facts.active, Code.ANOTHER_ACTIVE, text)
    new = Create(
        packet=bare(packet),
        owner=owner_of(command, facts.source),
        source_id=facts.source.source_id if facts.source else None,
        state=State.ACTIVE if starts else State.QUEUED,
        content=content,
    )
    return Decision(result=Result.STARTED if starts else Result.CREATED, steps=(new,), shows_active=starts)


def _misdirected(command: Summon | Add | Start, facts: Facts) -> Refusal | None:
    packet, source = command.payload, facts.source
    if packet.human_id != facts.policy.human_id:
        return Refusal(code=Code.UNKNOWN_HUMAN, message=f"{packet.human_id} has no queue here; {facts.policy.human_id} has")
    if isinstance(packet, Addition) and packet.source_id is not None:
        if source is None:
            return Refusal(code=Code.UNKNOWN_SOURCE, message=f"there is no source {packet.source_id}")
        if source.revoked_at is not None:
            return Refusal(code=Code.SOURCE_REVOKED, message=f"source {source.source_id} was revoked")
    if source is not None and (packet.project_id, packet.work_id) != (source.project_id, source.work_id):
        return out_of_scope(source, packet)
    return None


def out_of_scope(source: Source, packet: Packet) -> Refusal:
    """The source belongs to other work."""
    bound, asked = f"{source.project_id} · {source.work_id}", f"{packet.project_id} · {packet.work_id}"
    return Refusal(code=Code.OUT_OF_SCOPE, message=f"source {source.source_id} is bound to {bound}, not to {asked}")


def _again(twin: Known, content: str) -> Decision | Refusal:
    if content == twin.standing:
        return Decision(result=Result.EXISTING, item_id=twin.item.item_id)
    if content == twin.submitted:
        return Decision(result=Result.EXISTING_AMENDED, item_id=twin.item.item_id)
    text = f"item {twin.item.item_id} has this key and says something else: amend it, or use a new key for a new round"
    return _about(twin.item, Code.ITEM_EXISTS, text)


def amend(payload: Amendment, principal: Principal, facts: Facts) -> Decision | Refusal:
    """Another wording; place, age and state stay."""
    known = named(payload, "amend", facts, principal)
    if isinstance(known, Refusal):
        return known
    item = known.item
    said = {name: getattr(payload, name) for name in MUTABLE}
    packet = replace(item.packet, **{name: value for name, value in said.items() if value is not UNSET})
    content = content_of(packet, item.source_id if item.owner.startswith("human:") else None)
    if content == known.standing:
        return Decision(result=Result.UNCHANGED, item_id=item.item_id)
    step = Rewrite(item_id=item.item_id, packet=packet, content=content)
    return Decision(result=Result.AMENDED, item_id=item.item_id, steps=(step,))


def withdraw(payload: Because, principal: Principal, facts: Facts) -> Decision | Refusal:
    """A seat takes back what it asked, unless the person has begun."""
    known = named(payload, "withdraw", facts, principal)
    if isinstance(known, Refusal):
        return known
    return _moved(known, "withdraw", EventKind.WITHDRAWN, Result.WITHDRAWN, payload.reason)


def requeue(payload: Because, facts: Facts) -> Decision | Refusal:
    """A deferred item waits again, behind all that wait."""
    known = named(payload, "requeue", facts)
    if isinstance(known, Refusal):
        return known
    return _moved(known, "requeue", EventKind.REQUEUED, Result.REQUEUED, payload.reason)


def cancel(payload: Cancellation, facts: Facts) -> Decision | Refusal:
    """An item is given up."""
    known = named(payload, "cancel", facts)
    if isinstance(known, Refusal):
        return known
    done = _moved(known, "cancel", EventKind.CANCELLED, Result.CANCELLED, payload.reason)
    return _and_next(done, facts) if payload.select_next else done


def defer(payload: Deferral, facts: Facts, now: Instant) -> Decision | Refusal:
    """An item is put off until a moment that is yet to come, or until it is requeued."""
    known = named(payload, "defer", facts)
    if isinstance(known, Refusal):
        return known
    until = None if payload.until is None else instant(payload.until)
    if until is not None and until <= now:
        return Refusal(code=Code.NOT_IN_FUTURE, message=f"{payload.until} is not in the future")
    done = _moved(known, "defer", EventKind.DEFERRED, Result.DEFERRED, payload.reason, until)
    return _and_next(done, facts) if payload.select_next else done


def _moved(known: Known, act: Act, event: EventKind, result: Result, reason: str, until: Instant | None = None) -> Decision:
    item = known.item
    to = after(act, item.state) or item.state
    step = Move(item_id=item.item_id, event=event, to=to, reason=reason, until=until)
    return Decision(result=result, item_id=item.item_id, steps=(step,))


def resolve(command: Resolve, facts: Facts) -> Decision | Refusal:
    """The answer is recorded, and with it that it has to go back."""
    payload = command.payload
    known = named(payload, "resolve", facts)
    if isinstance(known, Refusal):
        return known
    item_id = known.item.item_id
    move = Move(
        item_id=item_id, event=EventKind.RESOLVED, to=State.RESOLVED, outcome=payload.outcome, response=payload.response
    )
    steps: tuple[Step, ...] = (move,)
    route = facts.origin
    if route is not None and route.return_mode != "none":
        steps = (
            move,
            OpenReturn(
                item_id=item_id,
                resolution_command_id=command.command_id,
                generation=1,
                mode=route.return_mode,
                route=route,
            ),
        )
    done = Decision(result=Result.RESOLVED, item_id=item_id, steps=steps)
    return _and_next(done, facts) if payload.select_next else done


def take_next(payload: Taking, facts: Facts) -> Decision | Refusal:
    """The item that is active, or the next one becomes so."""
    if payload.human_id != facts.policy.human_id:
        return Refusal(code=Code.UNKNOWN_HUMAN, message=f"{payload.human_id} has no queue here; {facts.policy.human_id} has")
    if payload.item_id is not None and (refusal := _unpickable(payload.item_id, facts)):
        return refusal
    steps, selection = _selected(facts, facts.active, payload.item_id)
    return Decision(result=selection.result, steps=steps, item_id=selection.item_id, selection=selection, shows_active=True)


def _unpickable(item_id: int, facts: Facts) -> Refusal | None:
    known = facts.item
    if known is None or known.item.packet.human_id != facts.policy.human_id:
        return Refusal(code=Code.UNKNOWN_ITEM, message=f"there is no item {item_id} in this queue")
    if facts.active is not None or known.item.state is State.QUEUED or item_id in facts.due:
        return None  # what is active is shown, whichever was picked
    hint = f": `tocsin attention requeue {item_id} --reason WHY` first" if known.item.state is State.DEFERRED else ""
    return _about(known.item, Code.NOT_ELIGIBLE, f"item {item_id} is {known.item.state}{hint}")


def _and_next(done: Decision, facts: Facts) -> Decision:
    still_active = None if facts.active is None or facts.active.item_id == done.item_id else facts.active
    steps, selection = _selected(facts, still_active, None)
    return replace(done, steps=(*done.steps, *steps), selection=selection, shows_active=True)


def _selected(facts: Facts, active: Item | None, pick: int | None) -> tuple[tuple[Step, ...], Selection]:
    """What is due joins the line; then, if the person has nothing, the next one is theirs."""
    promoted = tuple(Move(item_id=item_id, event=EventKind.PROMOTED, to=State.QUEUED) for item_id in facts.due)
    if active is not None:
        return promoted, Selection(result=Result.ALREADY_ACTIVE, item_id=active.item_id)
    chosen = select_next(_eligible(facts, pick), pick)
    if chosen is None:
        return promoted, Selection(result=Result.EMPTY)
    claim = Move(item_id=chosen.item_id, event=EventKind.CLAIMED, to=State.ACTIVE)
    return (*promoted, claim), Selection(result=Result.CLAIMED, item_id=chosen.item_id, reason=chosen.reason)


def _eligible(facts: Facts, pick: int | None) -> list[Candidate]:
    """The head stands for all that wait: what is behind it can't be selected but by a pick."""
    line = [Candidate(*facts.head)] if facts.head else []
    if pick is not None and facts.item is not None and facts.item.item.state is State.QUEUED:
        line.append(Candidate(facts.item.item.ready_sequence, pick))
    return line + [Candidate(facts.last_event + nth, item_id) for nth, item_id in enumerate(facts.due, 1)]

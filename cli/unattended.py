"""Unattended: an agent that no process of ours runs calls in by its hooks. Each call fetches what waits, as from an inbox."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from ..app import Tocsin
from ..contracts.deliveries import Delivery
from ..contracts.errors import NameTaken
from ..contracts.hooks import HookEvent
from ..edges.agent_hooks.dialect import answer_of, carries, event_of
from ..edges.agent_hooks.unheard import Unheard
from ..edges.sinks.hook import LONGEST
from ..edges.sinks.inbox import StoredInbox
from ..pipeline.roster import Settings

STARTS = frozenset({"UserPromptSubmit", "SessionStart"})
"""What comes now is the beginning of a turn: until this moment the agent was free."""
PATIENCE = 3.0
"""Seconds; an agent waits for its hooks."""


def attend(
    said: bytes, name: str, store: Path, settings: Settings, *, agent: str = "", out: int = 1, warn: Callable[[str], None]
) -> None:
    """Take note of what the hook says, bring what waits through the line into the inbox, and hand over what fits.

    What is handed over counts as read once it is printed. Raises ``ValueError`` for what is no hook's payload.
    """
    payload = json.loads(said.decode("utf-8", "replace"))
    event = HookEvent(**event_of(payload))
    with Tocsin(settings, store=store, warn=warn) as line:
        if not line.remembers:
            return
        _bring(line, name, event, Unheard(store, name))
        if not carries(payload, agent):
            return
        pulled = line.records.pull(name)
        text, upto = _fitted(pulled)
        if text:
            _write(out, answer_of(payload, text, agent))
            line.records.acknowledge(name, upto)


def _bring(line: Tocsin, name: str, event: HookEvent, unheard: Unheard) -> None:
    """Into the inbox with what the agent may be told now. While another process delivers to it, that one does."""
    try:
        line.open_lane(name, StoredInbox(line.records))
    except NameTaken:
        return
    said, upto = unheard.read()
    events = [msgspec.convert(one, HookEvent) for one in said]
    for one in events if event in events else [*events, event]:
        if one == event and event.hook_event_name in STARTS:
            line.drain(PATIENCE)
        line.observe(name, one)
    line.drain(PATIENCE)
    line.close_lane(name)
    if not line.status().trouble:
        unheard.drop(upto)


def _fitted(pulled: list[tuple[int, Delivery]]) -> tuple[str, int]:
    """As many whole blocks as a hook carries, and the cursor of the last. One alone that is too long is cut."""
    text, upto = "", 0
    for cursor, delivery in pulled:
        longer = f"{text}\n\n{delivery.text}" if text else delivery.text
        if text and len(longer) > LONGEST:
            break
        text, upto = longer, cursor
    return text[:LONGEST], upto


def _write(out: int, data: bytes) -> None:
    while data:
        data = data[os.write(out, data) :]

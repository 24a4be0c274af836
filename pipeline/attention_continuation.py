"""Attention continuation: the person's answer as its asker reads it: the words exactly, what they answer, where the rest is."""

from typing import Final

from ..contracts.attention import Artifact
from ..contracts.attention_items import Item, Planned, Source
from .attention_lines import one_line

CHARACTERS: Final = 8_000
"""Of the whole text at most. The answer and every artifact that is named are in it whole."""


def coordinate(resolution_command_id: str, generation: int) -> str:
    """What stays the same in every attempt, so that an answer that comes twice is known to be the same."""
    return f"attention-return:{resolution_command_id}:{generation}"


def continuation(planned: Planned, broker_uuid: str) -> str:
    """The text of one return. Whoever gets it may have got it before, and is told how to see that."""
    item, route = planned.item, planned.route
    head = _head(planned, broker_uuid)
    tail = [
        *_restored(route),
        f"The packet whole: tocsin attention show {item.item_id} --json",
        f"The person's answer, to the end of this message:\n{item.response}",
    ]
    room = CHARACTERS - sum(len(line) + 1 for line in (*head, *tail, _NOT_SHOWN.format(12, 12)))
    return "\n".join((*head, *_artifacts(item, room), *tail))


_NOT_SHOWN: Final = "Artifact: {} of {} are not named here"


def _head(planned: Planned, broker_uuid: str) -> list[str]:
    item, row, route, packet = planned.item, planned.row, planned.route, planned.item.packet
    same = coordinate(row.resolution_command_id, row.generation)
    return [
        f"Attention item {item.item_id} is resolved: {item.outcome}",
        f"Coordinate: {same} (if you have had it before, it is the same answer)",
        f"Broker: {broker_uuid}; resolution {row.resolution_command_id}, generation {row.generation}",
        f"Work: {packet.project_id} · {one_line(packet.work_id)} · {one_line(packet.intervention_key)}",
        f"Asked: {one_line(packet.title)}",
        f"Return: {_mode(route)}",
    ]


def _mode(route: Source) -> str:
    if route.return_mode == "pinned_session":
        return f"pinned_session, for session {one_line(route.session_id or '')} of {one_line(route.actor)} and no other"
    return f"actor_context, for {one_line(route.actor)}"


def _restored(route: Source) -> list[str]:
    if route.return_mode == "pinned_session":
        return []
    return ["Context is restored here: this need not be the session that asked, and its checkout was not resumed"]


def _artifacts(item: Item, room: int) -> list[str]:
    named: list[str] = []
    for artifact in item.packet.artifacts:
        line = _artifact(artifact)
        if len(line) + 1 > room:  # whole or not at all: a reference that is cut names something else
            continue
        named.append(line)
        room -= len(line) + 1
    missing = len(item.packet.artifacts) - len(named)
    return [*named, _NOT_SHOWN.format(missing, len(item.packet.artifacts))] if missing else named


def _artifact(artifact: Artifact) -> str:
    version = f", version {one_line(artifact.version)}" if artifact.version else ""
    edge = f", on {one_line(artifact.edge_id)}" if artifact.edge_id else ""
    return f"Artifact: {one_line(artifact.label)}: {artifact.uri}{version}{edge}"

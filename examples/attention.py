#!/usr/bin/env python3
"""The person's queue from a program: an agent's work asks, the person takes it and answers, and the answer is delivered.

    python examples/attention.py

The line, the agent and the person are one process here. They may be three: all of it is in the database.
"""

import json
import tempfile
import threading
from pathlib import Path
from uuid import uuid4

from tocsin import Delivery, Tocsin
from tocsin.contracts.attention_answers import Receipt, Refusal
from tocsin.edges.attention.desk import ByHand

PACKET = {
    "human_id": "human",
    "project_id": "film",
    "work_id": "batch-7",
    "intervention_key": "selection-1",
    "kind": "selection",
    "title": "Choose a render",
    "requested_action": "Select A, B or C.",
    "context": "Round 2, same light.",
    "unblocks": "The next batch.",
}


def command(action: str, payload: dict[str, object]) -> bytes:
    """A command as a program sends it. Sent again with the same id, it has the same receipt and is not done twice."""
    said = {"schema_version": 1, "command_id": str(uuid4()), "action": action, "payload": payload}
    return json.dumps(said).encode()


def done(answer: Receipt | Refusal) -> Receipt:
    """An expected no is a value: it says why, and what to do."""
    if isinstance(answer, Refusal):
        raise SystemExit(f"{answer.code}: {answer.message}")
    return answer


def main() -> None:
    """Ask, take, answer; print what the agent is told."""
    told = threading.Event()

    def deliver(block: Delivery) -> None:
        print("\n".join(entry.text for entry in block.entries))
        told.set()

    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with Tocsin(store=place / "tocsin.db", state_dir=place / "state") as line:
            line.open_lane("dev", deliver)
            queue, handle = line.attention, place / "film.json"  # the file is the agent's secret, for its owner alone
            done(queue.bind("film", "batch-7", mode="actor_context", out=handle, evidence=ByHand(actor="dev")))
            done(queue.act(command("summon", dict(PACKET)), queue.seat(handle)))
            item = done(queue.act(command("next", {"human_id": "human"}), queue.operator())).active
            assert item is not None
            print(f"{item.packet.title}: {item.packet.requested_action}")
            answer = {"item_id": item.item_id, "expected_revision": item.revision, "outcome": "selected", "response": "Take C."}
            done(queue.act(command("resolve", answer), queue.operator()))
            told.wait(30)


if __name__ == "__main__":
    main()

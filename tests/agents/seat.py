"""Seat: an agent that binds its work and summons its person, with nothing but its environment. Usage: seat.py LOG MODE KEY

What came of it is logged, and then every message that is submitted to it. A message ``quit`` ends it.
"""

import os
import sys
from pathlib import Path

import msgspec
from composing import PASTE_ON, Composer, Log, raw, read, say

from tocsin.contracts.attention import Packet
from tocsin.contracts.attention_commands import Summon
from tocsin.contracts.attention_facts import Policy
from tocsin.edges.attention.desk import Dispatch, attention, default_source_file
from tocsin.edges.attention.names import uuid
from tocsin.edges.clock import SteadyClock
from tocsin.edges.store_place import state_directory

log, mode, key = Log(sys.argv[1]), sys.argv[2], sys.argv[3]
clock, state = SteadyClock(), state_directory()


def packet() -> Packet:
    return Packet(
        human_id="human",
        project_id="film",
        work_id="likeness-2",
        intervention_key=key,
        kind="selection",
        title=f"Choose the render {key}",
        requested_action="Select candidate A, B, C or D.",
        context="Round 2. Same lighting and composition.",
        unblocks="The next batch.",
    )


def ask() -> None:
    path = Path(os.environ["TOCSIN_STORE__PATH"])
    out = default_source_file(state, os.environ, "film", "likeness-2")
    with attention(path, state=state, clock=clock, policy=Policy(), warn=lambda _: None) as desk:
        bound = desk.bind("film", "likeness-2", mode=mode, out=out, evidence=Dispatch(environ=dict(os.environ)))
        log.write(bound=msgspec.to_builtins(bound), file=str(out), session=os.environ["TOCSIN_SESSION"])
        summon = Summon(schema_version=1, command_id=uuid(clock), payload=packet())
        log.write(summoned=msgspec.to_builtins(desk.act(summon, desk.seat(out))))


composer = Composer()
ask()
with raw():
    say(PASTE_ON + "> ")
    while True:
        for message in composer.feed(read()):
            log.write(submitted=message)
            say("\r\n> ")
            if message == "quit":
                sys.exit(0)

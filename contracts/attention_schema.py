"""Attention schema: the contract as JSON Schema, written by ``python -m tocsin.contracts.attention_schema > FILE``."""

import sys
from typing import Any, Final

import msgspec

from .attention import SCHEMA_VERSION, Packet
from .attention_answers import Receipt, Refusal
from .attention_commands import Command
from .attention_pages import Counts, HistoryPage, ItemPage, Shown, SourcePage

FILE: Final = "contracts/schema/attention-v1.schema.json"
"""Where it is kept in the package. A test fails while that file says something else than the Structs."""

_TYPES: Final = (Command, Packet, Receipt, Refusal, ItemPage, HistoryPage, SourcePage, Shown, Counts)


def schema() -> dict[str, Any]:
    """The whole contract; the document itself describes a command, and ``$defs`` everything else."""
    (command, *_), definitions = msgspec.json.schema_components(_TYPES, ref_template="#/$defs/{name}")
    # What a Struct checks in code is said here: a path is nothing without the machine that has it.
    definitions["Artifact"]["if"] = {"properties": {"uri": {"pattern": "^file:"}}}
    definitions["Artifact"]["then"] = {"properties": {"edge_id": {"type": "string"}}, "required": ["edge_id"]}
    definitions["Amendment"]["minProperties"] = 3
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tocsin:attention:{SCHEMA_VERSION}",
        "title": "One command of the attention queue; its answers are among the definitions",
        **command,
        "$defs": definitions,
    }


def text() -> str:
    """The schema as it is kept in its file."""
    return msgspec.json.format(msgspec.json.encode(schema(), order="sorted"), indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())

"""Call: one call of an agent's hook, passed on over its recipient's socket; what it is answered with is handed over."""

# An agent waits for its hooks, so the wire is spoken here by hand: decoders of all that it knows take long to make.
import json
import os
import socket
import zlib
from typing import Any

from .dialect import answer_of, carries, event_of

PATIENCE = 2.0
"""Seconds for each step; then the agent goes on without an answer."""
PROTOCOL = 1
"""The version of the wire that is spoken here."""


def call(said: bytes, path: str, *, agent: str = "", out: int = 1) -> None:
    """Tell the recipient at ``path`` what the hook said, and write to ``out`` what the agent shall know.

    Raises ``ValueError`` or ``RecursionError`` for what is no hook's payload or no answer, ``OSError`` if nobody is there.
    """
    payload = json.loads(said.decode("utf-8", "replace"))
    request = {
        "op": "hook",
        "v": PROTOCOL,
        "event": event_of(payload),
        "carries": carries(payload, agent),
        "digest": f"{len(said)}-{zlib.crc32(said):08x}-{zlib.adler32(said):08x}",
    }
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(PATIENCE)
        line.connect(path)
        answer = _ask(line, request)
        if answer.get("answer") != "hook":
            raise ValueError(f"the recipient answered {answer.get('text') or answer!r}")
        if context := answer.get("context"):
            _write(out, answer_of(payload, context, agent))
            # Only now it is true; that it has been heard need not be waited for.
            _send(line, {"op": "handed", "v": PROTOCOL, "delivery": answer.get("delivery", "")})


def _ask(line: socket.socket, request: dict[str, Any]) -> dict[str, Any]:
    _send(line, request)
    got = b""
    while not got.endswith(b"\n"):
        part = line.recv(262_144)
        if not part:
            raise OSError("the recipient ended before it answered")
        got += part
    answer = json.loads(got)
    return answer if isinstance(answer, dict) else {}


def _send(line: socket.socket, request: dict[str, Any]) -> None:
    line.sendall(json.dumps(request).encode() + b"\n")


def _write(out: int, data: bytes) -> None:
    while data:
        data = data[os.write(out, data) :]

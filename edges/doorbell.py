"""Doorbell: tells the process that owns a recipient that something was committed for it. Lost rings cost half a second."""

import os
import socket
from contextlib import suppress
from typing import Final

from ..contracts import wire

_PATIENCE: Final = 0.2
"""Seconds; nobody waits for a bell."""


def ring(path: str) -> None:
    """Ring at an owner's socket. That nobody answers is no error: the owner looks by itself, or its successor does."""
    if not path:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as bell:
        bell.settimeout(_PATIENCE)
        bell.connect(os.fspath(path))
        bell.sendall(wire.line_of(wire.Look()))

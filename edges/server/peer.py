"""Peer: which user is at the other end of a Unix socket, as the kernel says it."""

import os
import socket
import struct
import sys
from typing import Final

_UCRED: Final = struct.Struct("3i")
_XUCRED: Final = struct.Struct("2I")
_SOL_LOCAL: Final = 0
_LOCAL_PEERCRED: Final = 1


def peer_user(connection: socket.socket) -> int:
    """The user id of the process at the other end."""
    if sys.platform == "linux":
        _, user, _ = _UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
        return int(user)
    _, user = _XUCRED.unpack(connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76)[: _XUCRED.size])
    return int(user)


def is_ours(connection: socket.socket) -> bool:
    """True if it is this user, or root, who may read everything anyway."""
    return peer_user(connection) in (os.geteuid(), 0)

"""Inbox: a mailbox in memory that a recipient drains by pull, with a cursor."""

import threading
from collections import deque
from typing import Self

from ...contracts.deliveries import Delivery, Proof, Receipt
from ...contracts.errors import BadInput, SinkBusy


class InboxSink:
    """Keeps deliveries until they are acknowledged. Full, it refuses: nothing unread is ever pushed out."""

    def __init__(self, limit: int = 1_000) -> None:
        """``limit``: deliveries that may be unacknowledged."""
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: deque[tuple[int, Delivery]] = deque()
        self._count = 0

    @classmethod
    def open(cls, argument: str) -> Self:
        """``LIMIT``, or nothing for the usual one."""
        if not argument:
            return cls()
        if not argument.isdecimal() or not int(argument):
            raise BadInput(f"an inbox is opened with how many deliveries it may hold, not with {argument!r}")
        return cls(int(argument))

    def put(self, delivery: Delivery) -> Receipt:
        """Take one in. A repeat of an id that is still here changes nothing."""
        with self._lock:
            if any(kept.id == delivery.id for _, kept in self._kept):
                return Receipt(proof=Proof.RECORDED, note="had it already")
            if len(self._kept) >= self._limit:
                raise SinkBusy(f"the inbox holds {self._limit} deliveries that nobody has acknowledged")
            self._count += 1
            self._kept.append((self._count, delivery))
        return Receipt(proof=Proof.RECORDED)

    def pull(self, after: int = 0, most: int = 100) -> list[tuple[int, Delivery]]:
        """Deliveries behind the cursor, each with its own cursor, oldest first. Reading takes nothing away."""
        with self._lock:
            return [(cursor, delivery) for cursor, delivery in self._kept if cursor > after][:most]

    def ack(self, upto: int) -> int:
        """Take away everything up to this cursor; how many that were."""
        with self._lock:
            before = len(self._kept)
            while self._kept and self._kept[0][0] <= upto:
                self._kept.popleft()
            return before - len(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

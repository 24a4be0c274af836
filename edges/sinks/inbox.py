"""Inbox: a mailbox that a recipient drains by pull, with a cursor: in memory, or in a line's store."""

import threading
from collections import deque
from typing import Protocol, Self

from ...contracts.deliveries import Delivery, Proof, Receipt
from ...contracts.errors import BadInput, SinkBusy, StoreUnusable
from ..portal import in_thread


class Mailboxes(Protocol):
    """Where deliveries are laid down; the records of a line with a store are that."""

    def put_in_inbox(self, delivery: Delivery) -> int:
        """Keep it for its recipient; the cursor behind which the next one will be."""
        ...


class StoredInbox:
    """Keeps deliveries in the store, where they outlive this process and `tocsin inbox pull` finds them.

    ``StoredInbox(line.records)`` serves every lane of that line: each recipient has its own box. It proves ``RECORDED``;
    ``SEEN`` is proved by the acknowledgement. It can't be opened by name: a text could only name a second store, and what
    is kept there would be out of reach of the line's own acknowledgements.
    """

    def __init__(self, boxes: Mailboxes) -> None:
        """``boxes``: ``line.records``."""
        self._boxes = boxes

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Commit it. A repeat of an id keeps its place. Raises ``SinkBusy`` while the store can't be written."""
        try:
            cursor = await in_thread(self._boxes.put_in_inbox, delivery)
        except StoreUnusable as error:
            raise SinkBusy(str(error)) from error
        return Receipt(proof=Proof.RECORDED, note=f"in the inbox, cursor {cursor}")


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

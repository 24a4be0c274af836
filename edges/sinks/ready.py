"""Ready: a terminal's sink, held back while its program may not listen: before it is there, and as it takes a person's line."""

import math
from typing import Final

import anyio

from ...contracts.deliveries import Delivery, Receipt
from ...contracts.errors import NotNow
from ...contracts.ports import Sink
from ...contracts.signals import DraftEnded, LaneFact

SILENT_START: Final = 5.0
"""Seconds after which a program that has printed nothing is taken to be one that prints nothing."""
JUST_SENT: Final = 1.0
"""Seconds after a person's line within which its program shows, or its hook says, what comes of it: work, or a menu."""


class ReadySink:
    """Passes on to ``sink`` what comes at a good time. It is told the lane's facts in the event loop in which it runs."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._silent_until = math.inf
        self._sent_at = -math.inf
        self._there = False

    def hear(self, fact: LaneFact) -> None:
        """A fact about the program: the first one shows that it is there."""
        self._there = True
        if isinstance(fact, DraftEnded):
            self._sent_at = anyio.current_time()

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Pass it on, or raise ``NotNow``: what is typed too early is lost, or echoed, or answers what has just opened."""
        now = anyio.current_time()
        self._silent_until = min(self._silent_until, now + SILENT_START)
        if not self._there and now < self._silent_until:
            raise NotNow("the program has not printed anything yet")
        if now < self._sent_at + JUST_SENT:
            raise NotNow("a line was sent just now, and what comes of it is not known yet")
        return await self._sink.deliver(delivery)

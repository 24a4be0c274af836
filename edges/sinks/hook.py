"""Hook sink: a block is offered until a hook of the agent calls; the call that was answered with it proves that it was seen."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from typing import Final

import anyio

from ...contracts.deliveries import Delivery, Proof, Receipt
from ...contracts.errors import NotNow, SinkGone
from ...contracts.hooks import HookEvent

LONGEST: Final = 10_000
"""Characters of a context; agents put more than this aside."""
PATIENCE: Final = 10.0
"""Seconds for which a block is offered."""
HANDED_WITHIN: Final = 3.0
"""Seconds in which a call that was answered must say that it printed the answer: longer than any call waits."""
_AFTER_A_WAKE: Final = frozenset({"UserPromptSubmit", "SessionStart"})
_CUT: Final = "\n[cut here: a hook carries no more]"
_TICK: Final = 0.02


class _State(Enum):
    OFFERED = auto()
    TAKEN = auto()
    HANDED = auto()
    WITHDRAWN = auto()


class Offer:
    """One block that waits for a hook."""

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.state = _State.OFFERED
        self.taken_by = ""
        self.taken_at = 0.0


class HookSink:
    """Hands blocks over to the agent of one session. Hooks call from any thread, ``deliver`` runs in an event loop.

    A call that took a block and never said that it passed it on was cut off: the block is offered again, for it is better
    told twice, with one id, than never.
    """

    def __init__(self, patience: float = PATIENCE, handed_within: float = HANDED_WITHIN) -> None:
        """``patience``: seconds for which a block is offered; ``handed_within``: for a call to say that it is handed over."""
        self._patience = patience
        self._handed_within = handed_within
        self._lock = threading.Lock()
        self._offers: dict[str, Offer] = {}
        self._hears = self._doubted = self._closed = False

    @property
    def hears(self) -> bool:
        """True if hooks that can carry a block have called in this session, and did when last they should have."""
        return self._hears

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Offer it. Raises ``NotNow`` if no hook took it in time, and then none can any more; ``SinkGone`` once closed."""
        with self.offering(delivery) as offer:
            receipt = await self.seen(offer)
        if receipt is None:
            raise NotNow("no hook of the agent called that could have taken it")
        return receipt

    @contextmanager
    def offering(self, delivery: Delivery) -> Iterator[Offer]:
        """Within this, a hook that calls may take it."""
        offer = Offer(delivery)
        with self._lock:
            self._offers[delivery.id] = offer
        try:
            yield offer
        finally:
            with self._lock:
                del self._offers[delivery.id]

    async def seen(self, offer: Offer, within: float | None = None) -> Receipt | None:
        """Wait until a hook has handed it over; ``within``: seconds, by default the sink's patience.

        None if none did: it is withdrawn then. Raises ``SinkGone`` when the sink is closed.
        """
        until = time.monotonic() + (self._patience if within is None else within)
        while not self._is_over(offer, time.monotonic(), until):
            await anyio.sleep(_TICK)
        if offer.state is _State.HANDED:
            return Receipt(proof=Proof.SEEN, note=f"{offer.taken_by} hook")
        if self._closed:
            raise SinkGone("the program has ended")
        return None

    def _is_over(self, offer: Offer, now: float, until: float) -> bool:
        """True once it is handed over or, at the end of its time, withdrawn: in one step, so that no hook comes between."""
        with self._lock:
            if offer.state is _State.TAKEN and now - offer.taken_at >= self._handed_within:
                offer.state = _State.OFFERED
            if offer.state is _State.HANDED:
                return True
            over = self._closed or (offer.state is _State.OFFERED and now >= until)
            if over:
                offer.state = _State.WITHDRAWN
            return over

    # What the agent's hooks say

    def hear(self, event: HookEvent) -> None:
        """Every hook's call is told here; after the session's end no more are to be expected."""
        if event.hook_event_name == "SessionEnd":
            self._hears = False

    def take(self, event: HookEvent) -> tuple[str, str]:
        """The text of the oldest block offered and its delivery's id, for a call that can carry it; else two empty ones."""
        with self._lock:
            # Who has hooks for tools only is not woken by a message: a prompt's own hook must call before that is tried again.
            self._doubted = self._doubted and event.hook_event_name not in _AFTER_A_WAKE
            self._hears = not self._doubted
            offer = next((one for one in self._offers.values() if one.state is _State.OFFERED), None)
            if offer is None or self._closed:
                return "", ""
            offer.state, offer.taken_by, offer.taken_at = _State.TAKEN, event.hook_event_name, time.monotonic()
            return _fitted(offer.delivery.text), offer.delivery.id

    def handed(self, delivery: str) -> None:
        """The call that took it has printed it."""
        with self._lock:
            offer = self._offers.get(delivery)
            if offer is not None and offer.taken_by and offer.state is not _State.WITHDRAWN:
                offer.state = _State.HANDED

    def doubt(self) -> None:
        """A hook should have called by now and did not: none is expected until one does."""
        self._hears, self._doubted = False, True

    def close(self) -> None:
        """The program has ended: nothing is taken any more."""
        self._closed = True


def _fitted(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - len(_CUT)] + _CUT

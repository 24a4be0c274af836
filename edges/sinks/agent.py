"""Agent sink: an agent gets its blocks by its own hooks where it has them, and else typed; never both."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, Literal

from ...contracts.deliveries import Delivery, Receipt
from ...contracts.errors import NotNow, TocsinError
from ...contracts.ports import Sink
from ...contracts.severity import SeverityName
from .hook import HookSink

Via = Literal["auto", "terminal", "hook"]
"""How: by hooks as soon as one has called and typed until then; always typed; never typed."""

_COUNTED: Final[dict[SeverityName, str]] = {"critical": "critical error", "error": "error", "warning": "warning"}
"""Severities that are worth a word before the block itself is read."""


class AgentSink:
    """One sink of two: ``hook`` hands over, ``typing`` types, and ``wake`` types one short line that makes hooks call."""

    def __init__(self, typing: Sink, wake: Callable[[str], Awaitable[object]], hook: HookSink, via: Via = "auto") -> None:
        """``wake`` types a line and Enter; raises ``NotNow`` if nothing may be typed now."""
        self._typing = typing
        self._wake = wake
        self._hook = hook
        self._via = via
        self._in_vain = False

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Hand it over (``SEEN``) or type it.

        Raises ``NotNow`` if the agent may not be woken now, or was and no hook took the block: then none can any more, and
        the gates look again before it is typed, since the line that woke it may have set it to work.
        """
        if self._via == "terminal" or (self._via == "auto" and not self._hook.hears):
            return await self._typing.deliver(delivery)
        with self._hook.offering(delivery) as offer:
            refusal = await self._refusal_to_wake(delivery)
            receipt = await self._hook.seen(offer, 0.0 if refusal else None)
        self._in_vain = receipt is None and refusal is None
        if receipt is not None:
            return receipt
        if refusal is not None:
            raise refusal
        self._hook.doubt()
        raise NotNow("the agent was woken, and no hook of it called for the block")

    async def _refusal_to_wake(self, delivery: Delivery) -> TocsinError | None:
        """Wake the agent, or say why that may not be. One that was woken in vain is not woken again before a hook calls."""
        if self._in_vain and not self._hook.hears:
            return None
        try:
            await self._wake(wake_line(delivery))
        except TocsinError as error:
            return error
        return None


def wake_line(delivery: Delivery) -> str:
    """How much there is and how bad, and not a word of what it says: ``tocsin: 2 notices (1 error), 1 message``."""
    machines = [entry for entry in delivery.entries if entry.traffic in ("event", "notice")]
    words = len(delivery.entries) - len(machines)
    severities = Counter(entry.severity for entry in machines)
    grave = ", ".join(_plural(severities[name], word) for name, word in _COUNTED.items() if severities[name])
    parts = [f"{_plural(len(machines), 'notice')}{f' ({grave})' if grave else ''}"] if machines else []
    parts += [_plural(words, "message")] if words else []
    return f"tocsin: {', '.join(parts) or 'news'}"


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"

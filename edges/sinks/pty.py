"""PTY sink: types each delivery into a wrapped terminal as one submission."""

from ...contracts.deliveries import Delivery, Receipt
from ..terminal.wrapped import WrappedTerminal


class PtySink:
    """Writes what the line released into ``terminal``; it must be called in the event loop in which that runs."""

    def __init__(self, terminal: WrappedTerminal) -> None:
        self._terminal = terminal

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Type the text whole, then Enter.

        The receipt claims ``SUBMITTED`` only if the program's own output proved it, else ``OFFERED``. Raises ``NotNow``
        when typing now would answer a menu or join a person's draft, ``SinkGone`` when the program has ended.
        """
        return Receipt(proof=await self._terminal.submit(delivery.text), note="typed into the terminal")

"""PTY sink: types each delivery into a wrapped terminal as one submission."""

from functools import partial
from pathlib import Path

import msgspec

from ...contracts.deliveries import Delivery, Receipt
from ..terminal.wrapped import WrappedTerminal
from .spill import SpillSink


class PtySink:
    """Writes what the line released into ``terminal``; it must be called in the event loop in which that runs.

    A block that a program can only be given in part is kept whole in ``spill_dir``; without one the cut is only marked.
    """

    def __init__(self, terminal: WrappedTerminal, spill_dir: Path | None = None) -> None:
        self._terminal = terminal
        self._spill_dir = spill_dir

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Type the text whole, then Enter.

        The receipt claims ``SUBMITTED`` only if the program's own output proved it, else ``OFFERED``; its note says if the
        text had to be cut. Raises ``NotNow`` when typing now would answer a menu or join a person's draft, ``SinkGone``
        when the program has ended, ``SinkBusy`` if the whole of what is to be cut can't be kept.
        """
        keep = partial(_keep, self._spill_dir, delivery) if self._spill_dir else None
        typed = await self._terminal.submit_or_keep(delivery.text, keep)
        cut = f", cut to one line{f'; the whole text is in {typed.whole_in}' if typed.whole_in else ''}" if typed.cut else ""
        return Receipt(proof=typed.proof, note=f"typed into the terminal{cut}")


async def _keep(directory: Path, delivery: Delivery) -> str:
    """Keep the whole of a block, and say where."""
    # If the block itself had been cut before, its whole is wanted.
    await SpillSink(directory).deliver(msgspec.structs.replace(delivery, spill=delivery.spill or delivery.text))
    return str(directory / f"{delivery.id}.txt")

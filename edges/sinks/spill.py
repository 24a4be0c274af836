"""Spill: the whole of a block that had to be cut, in a file that only its owner can read."""

import os
from pathlib import Path

from ...contracts.deliveries import Delivery, Proof, Receipt
from ...contracts.errors import SinkBusy
from ..portal import in_thread

KEPT = 200
"""Files kept; older ones are removed when a new one is written."""


class SpillSink:
    """Writes ``<delivery id>.txt`` into a directory, whole or not at all."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Write the file before anybody is told where it is."""
        await in_thread(self._write, delivery)
        return Receipt(proof=Proof.RECORDED)

    def _write(self, delivery: Delivery) -> None:
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            sibling = self._directory / f".{delivery.id}.part"
            with open(os.open(sibling, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 - a descriptor
                file.write(delivery.spill)
            sibling.replace(self._directory / f"{delivery.id}.txt")
            self._prune()
        except OSError as error:
            raise SinkBusy(f"{self._directory}: {error}") from error

    def _prune(self) -> None:
        files = sorted(self._directory.glob("*.txt"), key=lambda path: path.stat().st_mtime_ns)
        for old in files[:-KEPT]:
            old.unlink(missing_ok=True)

"""Command: each delivery starts a program, with the block on its standard input."""

import os
import shlex
from collections.abc import Sequence
from typing import Self

import anyio
from anyio.abc import Process

from ...contracts.deliveries import Delivery, Proof, Receipt
from ...contracts.errors import BadInput, SinkBusy, SinkGone


class CommandSink:
    """Runs ``argv``; exit 0 accepts. ``TOCSIN_DELIVERY`` and ``TOCSIN_LANE`` tell the program what it has before it."""

    def __init__(self, argv: Sequence[str], timeout: float = 60.0) -> None:
        """``timeout``: seconds that the program may take; then it is ended, and the delivery tried again."""
        self._argv = list(argv)
        self._timeout = timeout

    @classmethod
    def open(cls, argument: str) -> Self:
        """``PROGRAM ARGUMENTS``, in words as a shell takes them apart."""
        try:
            argv = shlex.split(argument)
        except ValueError as error:
            raise BadInput(f"{argument!r} is no command: {error}") from error
        if not argv:
            raise BadInput("which command? as in command:notify-send tocsin")
        return cls(argv)

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Start it, feed it, wait for it."""
        environment = {**os.environ, "TOCSIN_DELIVERY": delivery.id, "TOCSIN_LANE": delivery.lane}
        try:
            with anyio.CancelScope(shield=True):  # half a start can't be undone; the process below can be ended
                process = await anyio.open_process(self._argv, stdout=None, stderr=None, env=environment)
        except FileNotFoundError as error:
            raise SinkGone(f"there is no program {self._argv[0]!r}") from error
        except OSError as error:
            raise SinkBusy(f"{self._argv[0]!r} could not be started: {error}") from error
        async with process:
            with anyio.move_on_after(self._timeout):
                await self._feed(process, delivery.text)
                code = await process.wait()
                if code != 0:
                    raise SinkBusy(f"{self._argv[0]!r} ended with {code}")
                return Receipt(proof=Proof.OFFERED)
            process.kill()
            raise SinkBusy(f"{self._argv[0]!r} did not end within {self._timeout:g} s")

    async def _feed(self, process: Process, text: str) -> None:
        if process.stdin is None:
            return
        try:
            await process.stdin.send(text.encode() + b"\n")
            await process.stdin.aclose()
        except (BrokenPipeError, anyio.BrokenResourceError):
            return  # it did not want to read all of it; its exit code says what it thinks

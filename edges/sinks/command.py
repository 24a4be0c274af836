"""Command: each delivery starts a program, with the block on its standard input."""

import os
import shlex
import shutil
from collections.abc import Sequence
from subprocess import DEVNULL
from tempfile import TemporaryFile
from typing import IO, Final, Self

import anyio
from anyio.abc import Process

from ...contracts.deliveries import Delivery, Proof, Receipt
from ...contracts.errors import BadInput, SinkBusy, SinkGone

_TAIL: Final = 2_000
"""Bytes of the end of what it printed that are looked at."""


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
        if shutil.which(argv[0]) is None:
            raise BadInput(f"there is no program {argv[0]!r}; nothing could be handed to it")
        return cls(argv)

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Start it, feed it, wait for it. What it prints is shown to nobody, for the screen is another program's."""
        with TemporaryFile() as complaints:
            return await self._run(delivery, complaints)

    async def _run(self, delivery: Delivery, complaints: IO[bytes]) -> Receipt:
        environment = {**os.environ, "TOCSIN_DELIVERY": delivery.id, "TOCSIN_LANE": delivery.lane}
        try:
            with anyio.CancelScope(shield=True):  # half a start can't be undone; the process below can be ended
                process = await anyio.open_process(self._argv, stdout=DEVNULL, stderr=complaints, env=environment)
        except FileNotFoundError as error:
            raise SinkGone(f"there is no program {self._argv[0]!r}") from error
        except OSError as error:
            raise SinkBusy(f"{self._argv[0]!r} could not be started: {error}") from error
        async with process:
            with anyio.move_on_after(self._timeout):
                await self._feed(process, delivery.text)
                code = await process.wait()
                if code != 0:
                    raise SinkBusy(f"{self._argv[0]!r} ended with {code}{_last_words(complaints)}")
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


def _last_words(complaints: IO[bytes]) -> str:
    """The last line that it printed on stderr, if any."""
    complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, complaints.tell() - _TAIL))
    lines = complaints.read().decode(errors="replace").strip().splitlines()
    return f": {lines[-1].strip()}" if lines else ""

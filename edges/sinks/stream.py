"""Stream: deliveries as JSON lines, on a file or on standard output."""

import os
import sys
import threading
from typing import BinaryIO, Self

import msgspec

from ...contracts.deliveries import Delivery, Proof, Receipt
from ...contracts.errors import BadInput, SinkBusy, SinkGone
from ..portal import in_thread


class StreamSink:
    """One line a delivery, written whole and flushed before it is acknowledged."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._encoder = msgspec.json.Encoder()
        self._turn = threading.Lock()

    @classmethod
    def open(cls, argument: str) -> Self:
        """``PATH`` is appended to, made for its owner only if it is new; ``-`` is standard output."""
        if argument in ("", "-"):
            return cls(sys.stdout.buffer)
        try:
            descriptor = os.open(argument, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise BadInput(f"{argument} can't be written: {error.strerror}") from error
        return cls(os.fdopen(descriptor, "ab"))

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Write it; a reader that went away is gone for good."""
        await in_thread(self._write, self._encoder.encode(delivery) + b"\n")
        return Receipt(proof=Proof.OFFERED)

    def close(self) -> None:
        """Close what it writes to."""
        self._out.close()

    def _write(self, line: bytes) -> None:
        """Several lanes may share a stream, and one that is not buffered may take a line in parts."""
        try:
            with self._turn:
                while line:
                    line = line[self._out.write(line) or len(line) :]
                self._out.flush()
        except BrokenPipeError as error:
            raise SinkGone("nobody reads the stream any more") from error
        except (OSError, ValueError) as error:
            raise SinkBusy(f"the stream can't be written: {error}") from error

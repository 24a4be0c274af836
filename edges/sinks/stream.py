"""Stream: deliveries as JSON lines, on a file or on standard output."""

from collections.abc import Callable
from typing import BinaryIO

import anyio.to_thread
import msgspec

from ...contracts.deliveries import Delivery, Proof, Receipt
from ...contracts.errors import SinkBusy, SinkGone


class StreamSink:
    """One line a delivery, written whole and flushed before it is acknowledged."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._encoder = msgspec.json.Encoder()

    async def deliver(self, delivery: Delivery) -> Receipt:
        """Write it; a reader that went away is gone for good."""
        await _in_thread(self._write, self._encoder.encode(delivery) + b"\n")
        return Receipt(proof=Proof.OFFERED)

    def _write(self, line: bytes) -> None:
        try:
            self._out.write(line)
            self._out.flush()
        except BrokenPipeError as error:
            raise SinkGone("nobody reads the stream any more") from error
        except (OSError, ValueError) as error:
            raise SinkBusy(f"the stream can't be written: {error}") from error


async def _in_thread(call: Callable[[bytes], None], line: bytes) -> None:
    await anyio.to_thread.run_sync(call, line)

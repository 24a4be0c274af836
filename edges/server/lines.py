"""Lines: bounded lines over a stream, each to be there whole within its time."""

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from ...contracts.errors import TooLong


class Lines:
    """Reads lines of at most ``limit`` bytes."""

    def __init__(self, stream: ByteReceiveStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._kept = bytearray()

    async def next(self, *, idle: float, whole_within: float) -> bytes:
        """The next line without its line feed; empty at the end. Half a line before the end is no line.

        Raises ``TooLong``, or ``TimeoutError`` if nothing comes for ``idle`` seconds, or half a line does not go on to its
        end within ``whole_within`` seconds.
        """
        if not self._kept:
            with anyio.fail_after(idle):
                await self._more()
        with anyio.fail_after(whole_within):
            return await self._whole()

    async def _whole(self) -> bytes:
        searched = 0
        while self._kept:
            end = self._kept.find(b"\n", searched)
            if max(end, len(self._kept) - 1 if end < 0 else 0) >= self._limit:
                raise TooLong(f"a line has at most {self._limit} bytes; send fewer items at once")
            if end < 0:
                searched = len(self._kept)
                await self._more()
                continue
            line = bytes(self._kept[:end])
            del self._kept[: end + 1]
            searched = 0
            if line.strip():
                return line
            if not self._kept:
                await self._more()
        return b""

    async def _more(self) -> None:
        try:
            self._kept += await self._stream.receive(65_536)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._kept.clear()


async def write(stream: ByteSendStream, line: bytes, *, within: float) -> None:
    """Write a line whole. Raises ``TimeoutError`` if the other side does not read it in time."""
    with anyio.fail_after(within):
        await stream.send(line)

"""Server: one socket for one recipient, in the loop it is called in; no client can hold it up, or learn more than an answer."""

from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Final

import anyio
import anyio.abc
import anyio.to_thread
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskGroup, TaskStatus

from ...contracts import wire
from ...contracts.errors import Busy, TocsinError, TooLong
from .answers import Answers, Hooks, Identity, Line
from .lines import Lines, write
from .peer import is_ours
from .runtime import Seat

IDLE: Final = 300.0
"""Seconds that a connection may be silent; a client that has more to say connects again."""
WHOLE_WITHIN: Final = 10.0
"""Seconds for the rest of a line that has begun, and for reading an answer."""
MOST: Final = 128
"""Connections at a time; one more is told to come again."""
_BREATH: Final = 0.2


async def serve(
    line: Line,
    seat: Seat,
    *,
    version: str,
    token: str = "",
    hooks: Hooks | None = None,
    task_status: TaskStatus[Path] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Answer for ``line`` under the name that ``seat`` holds, until cancelled; then the name is given back.

    Started (``TaskGroup.start``) when it can be reached, with the socket's path. ``token`` is what the recipient's own
    program was given to show, ``hooks`` hands over to the agent when its hooks call. What a client does, or a fault while
    it is answered, ends at most its own connection.
    """
    server = _Server(line, seat, version, token, hooks)
    try:
        # The seat's lock is ours: a socket that is there is a dead one's.
        async with await anyio.create_unix_listener(seat.path, mode=0o600) as listener, anyio.create_task_group() as tasks:
            task_status.started(seat.path)
            await server.accept(listener, tasks)
    finally:
        seat.close()


class _Server:
    def __init__(self, line: Line, seat: Seat, version: str, token: str, hooks: Hooks | None) -> None:
        holder = seat.holder
        self._answers = Answers(
            line,
            Identity(recipient=holder.name, pid=holder.pid, session=holder.session, version=version, token=token),
            hooks,
        )
        # Feeds may wait for room in the line; a question must not wait behind them.
        self._feeds = anyio.CapacityLimiter(4)
        self._questions = anyio.CapacityLimiter(4)
        self._open = 0
        self._under_way: dict[str, anyio.Event] = {}

    async def accept(self, listener: SocketListener, tasks: TaskGroup) -> None:
        while True:
            try:
                stream = await listener.accept()
            except (OSError, anyio.BrokenResourceError):
                # Out of descriptors, or the client is gone again: not the end of everybody else.
                await anyio.sleep(_BREATH)
                continue
            tasks.start_soon(self._attend, stream)

    async def _attend(self, stream: SocketStream) -> None:
        self._open += 1
        try:
            # Silent, too slow, gone, or a fault of ours: it ends here.
            with _Contained():
                async with stream:
                    await self._talk(stream)
        finally:
            self._open -= 1

    async def _talk(self, stream: SocketStream) -> None:
        if not is_ours(stream.extra(SocketAttribute.raw_socket)):
            return
        if self._open > MOST:
            await _say(stream, _failed(Busy(f"{MOST} clients are connected already; try again")))
            return
        lines = Lines(stream, wire.LONGEST_LINE)
        try:
            while line := await lines.next(idle=IDLE, whole_within=WHOLE_WITHIN):
                for answer in await self._answers_to(line):
                    await _say(stream, answer)
        except TooLong as error:
            await _say(stream, _failed(error))

    async def _answers_to(self, line: bytes) -> list[wire.Answer]:
        answers: list[wire.Answer] = []
        with _Contained() as contained:
            answers += await self._ask(wire.read_request(line))
        if contained.error is not None:
            answers.append(_failed(contained.error))
        return answers

    async def _ask(self, request: wire.Request) -> list[wire.Answer]:
        if not isinstance(request, wire.Feed):
            return await self._in_thread(request, self._questions)
        # A batch that is sent again while the first sending is still being taken gets the first one's answer.
        while twin := self._under_way.get(request.batch):
            await twin.wait()
        if not request.batch:
            return await self._in_thread(request, self._feeds)
        taken = self._under_way[request.batch] = anyio.Event()
        try:
            return await self._in_thread(request, self._feeds)
        finally:
            del self._under_way[request.batch]
            taken.set()

    async def _in_thread(self, request: wire.Request, limiter: anyio.CapacityLimiter) -> list[wire.Answer]:
        return await anyio.to_thread.run_sync(lambda: list(self._answers.to(request)), limiter=limiter)


class _Contained(AbstractContextManager["_Contained"]):
    """Keeps what goes wrong with one client from everybody else: the server stands in the loop of an agent's terminal."""

    error: Exception | None = None

    def __enter__(self) -> "_Contained":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        self.error = error if isinstance(error, Exception) else None
        return self.error is not None


async def _say(stream: SocketStream, answer: wire.Answer) -> None:
    await write(stream, wire.line_of(answer), within=WHOLE_WITHIN)


def _failed(error: Exception) -> wire.Failed:
    if isinstance(error, TocsinError):
        return wire.Failed(code=error.code, text=str(error), retryable=error.retryable)
    return wire.Failed(code="internal", text=f"that failed here: {type(error).__name__}: {error}")

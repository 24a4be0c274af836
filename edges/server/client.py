"""Client: a question over a recipient's socket and its answer, for commands that wait for it."""

import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from ...contracts import wire
from ...contracts.errors import Lost, NotRunning, Stopped, TimeLimit, TocsinError
from ..clock import SteadyClock
from ..ids import RandomIds
from ..liveness import is_stopped
from .batches import batches, packed
from .runtime import holder_of

PATIENCE: Final = 15.0
"""Seconds for an answer, if nothing else is said: more than a line takes to answer by itself."""


class Client:
    """One connection, used by one thread. A context manager."""

    def __init__(self, path: Path, *, name: str = "", patience: float = PATIENCE) -> None:
        """Connect. ``patience``: seconds for each answer.

        Raises ``NotRunning`` if nobody listens there, ``Stopped`` if whoever does was stopped and would never answer.
        """
        self._name = name or path.stem
        self._patience = patience
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(patience)
        self._kept = b""
        self._ids = RandomIds(SteadyClock())
        try:
            self._socket.connect(os.fspath(path))
        except OSError as error:
            self._socket.close()
            raise NotRunning(f"{self._name!r} does not run, or no longer: {error.strerror or error}") from error
        holder = holder_of(path.with_suffix(".lock"))
        if holder is not None and is_stopped(holder.pid):
            self._socket.close()
            raise Stopped(
                f"{self._name!r} is stopped (Ctrl-Z): `fg` in its terminal brings it back, `kill -CONT {holder.pid}` anywhere"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def ask(self, request: wire.Request) -> wire.Answer:
        """One request, one answer.

        Raises the ``TocsinError`` that the other side answers with, ``TimeLimit``, or ``NotRunning`` if it has ended.
        """
        self._send(wire.line_of(request))
        return self._answer()

    def ask_for(self, request: wire.Request) -> Iterator[wire.Answer]:
        """One request, and every line of its answer."""
        self._send(wire.line_of(request))
        while True:
            answer = self._answer()
            yield answer
            if not getattr(answer, "more", False):
                return

    def feed(self, items: Sequence[wire.Item]) -> wire.Accepted:
        """Feed them, in as many lines as they need. The answer counts all; indexes are those of ``items``."""
        count = 0
        refused: list[wire.Unfit] = []
        for batch in batches(packed(items, refused)):
            answer = self.ask(wire.Feed(items=tuple(one.raw for one in batch), batch=self._ids.new()))
            if not isinstance(answer, wire.Accepted):
                raise Lost(f"{self._name!r} answered something else than what was asked")
            count += answer.count
            refused += [wire.Unfit(index=batch[unfit.index].place, text=unfit.text) for unfit in answer.refused]
        return wire.Accepted(count=count, refused=tuple(refused))

    def _send(self, line: bytes) -> None:
        try:
            self._socket.sendall(line)
        except TimeoutError as error:
            raise self._late() from error
        except OSError as error:
            raise Lost(f"{self._name!r} has ended: {error.strerror or error}") from error

    def _answer(self) -> wire.Answer:
        answer = wire.read_answer(self._line())
        if isinstance(answer, wire.Failed):
            raise error_of(answer)
        return answer

    def _line(self) -> bytes:
        parts = [self._kept]
        while b"\n" not in parts[-1]:
            try:
                parts.append(self._socket.recv(262_144))
            except TimeoutError as error:
                raise self._late() from error
            except OSError as error:
                raise Lost(f"{self._name!r} has ended: {error.strerror or error}") from error
            if not parts[-1]:
                raise Lost(f"{self._name!r} ended before it answered")
        line, _, self._kept = b"".join(parts).partition(b"\n")
        return line

    def _late(self) -> TimeLimit:
        return TimeLimit(f"{self._name!r} did not answer within {self._patience:g} s; is it stopped?")


def error_of(failed: wire.Failed) -> TocsinError:
    """The error that the other side answered with, as if it had been raised here."""
    known = next((kind for kind in _kinds(TocsinError) if kind.code == failed.code), None)
    if known is not None:
        return known(failed.text)
    error = TocsinError(failed.text)
    error.code, error.retryable = failed.code, failed.retryable  # type: ignore[misc]  # as the other side says
    return error


def _kinds(base: type[TocsinError]) -> Iterator[type[TocsinError]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)

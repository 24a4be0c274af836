"""Ending: who ends ``tocsin run`` ends its program first, and how a program ended is told in one notice."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..contracts.base import Instant
from ..contracts.deliveries import Delivery, Entry
from ..contracts.errors import TocsinError
from ..contracts.ports import Shelf, Sink
from ..edges.clock import SteadyClock
from ..edges.ids import RandomIds
from ..edges.terminal.child import Exit
from .words import one_line

_DEADLY: Final = ("SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGXCPU", "SIGIO", "SIGPWR", "SIGSTKFLT")
"""What ends a process that takes no heed of it, and is no fault of its own; the usual ones are the session's."""
_NOT_SAID: Final = ("SIGINT", "SIGQUIT", "SIGPIPE")
"""A person's keys, and the end of a reader: as shells do, nothing is said of these."""


@contextmanager
def after_our_program() -> Iterator[None]:
    """A deadly signal ends our program as SIGTERM to us does, then the block, and then us."""
    struck: list[int] = []

    def obey(number: int, _: object) -> None:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            _die_of(number)  # there is no program yet, or none any more
        if not struck:
            os.kill(os.getpid(), signal.SIGTERM)
        struck.append(number)

    # Where SIGTERM is ignored nobody would hear it.
    heeded = [] if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN else _deadly()
    for number in heeded:
        signal.signal(number, obey)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)
    if struck:
        _die_of(struck[0])


def last_words(program: str, ended: Exit, *, asked: bool) -> str:
    """What a shell would say of its end: nothing but of a signal, and of none that a person or we have sent."""
    if not ended.died_of or asked or ended.died_of in _NOT_SAID:
        return ""
    return f"{_called(program)}: {signal.strsignal(ended.code - 128) or 'killed'} ({ended.died_of})"


def end_of(name: str, program: str, ended: Exit, at: Instant, *, asked: bool) -> Delivery:
    """The one notice of how the program ended. It is no part of the line, which ended with its recipient."""
    how = f"was killed by {ended.died_of}" if ended.died_of else f"exited with code {ended.code}"
    mark = RandomIds(SteadyClock()).new()
    entry = Entry(
        id=mark,
        fingerprint="",
        traffic="event",
        severity="error" if ended.code and not asked else "info",
        source="process_alert",
        scope=name,
        text=f"{_called(program)} {how}",
        count=1,
        first_at=at,
        last_at=at,
        category="process",
    )
    return Delivery(id=mark, lane=name, at=at, text=f"[tocsin {mark}] {name} has ended: {entry.text}", entries=(entry,))


async def tell(observers: Mapping[str, Sink | Shelf], end: Delivery, warn: Callable[[str], None]) -> None:
    """Show it to each observer, once."""
    for name, observer in observers.items():
        try:
            if isinstance(observer, Shelf):
                observer.put(end)
            else:
                await observer.deliver(end)
        except TocsinError as error:
            warn(f"{name} was not told of the end: {error}")


def _called(program: str) -> str:
    return one_line(Path(program).name) or "the program"


def _deadly() -> list[int]:
    """Those of them that are not ignored, or somebody else's."""
    named = [int(getattr(signal, name)) for name in _DEADLY if hasattr(signal, name)]
    first, last = (getattr(signal, f"SIGRT{end}", 0) for end in ("MIN", "MAX"))
    found = [*named, *range(first, last + 1)]
    return [number for number in found if number and signal.getsignal(number) is signal.SIG_DFL]


def _die_of(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)

"""Stopping: a signal that would end a command in silence ends it with a word about what is known."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

import click

from ..words import complain

KILLED: Final = 128
"""And the number of the signal, as a shell says it."""
ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal came while something was awaited."""

    number: int = signal.SIGINT


@contextmanager
def signals(*, interrupt: bool = True) -> Iterator[None]:
    """Within it a signal that would end the process is a ``Stopped``. Those that were ignored before stay so.

    Without ``interrupt``, Ctrl-C is for a program that has the terminal, and goes past this one.
    """

    def stop(number: int, _: FrameType | None) -> None:
        stopped = Stopped()
        stopped.number = number
        raise stopped

    def pass_over(number: int, _: FrameType | None) -> None:
        """A handler, since what is ignored would be ignored by the program as well."""

    wanted: dict[int, Callable[[int, FrameType | None], None]] = dict.fromkeys(ENDING, stop)
    wanted[signal.SIGINT] = stop if interrupt else pass_over
    before: dict[int, Any] = {number: signal.getsignal(number) for number in wanted}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, wanted[number])
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


@contextmanager
def ends_with(say: Callable[[], None]) -> Iterator[None]:
    """A ``Stopped`` within it ends the command as a shell expects it, after ``say``, if anybody can still be told."""
    try:
        yield
    except Stopped as stopped:
        with suppress(OSError):  # the terminal may be what went away
            say()
        raise click.exceptions.Exit(KILLED + stopped.number) from stopped


@contextmanager
def not_in_silence(words: str) -> Iterator[None]:
    """While an answer is awaited, a signal is answered with these words."""
    with ends_with(lambda: complain(words)), signals():
        yield

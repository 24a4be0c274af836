"""Whereabouts: asks our terminal in which row the cursor stands, and takes its answer out of what the person types."""

import re
from collections.abc import Callable
from typing import Final

import anyio

_QUESTION: Final = b"\x1b[6n"
_ANSWER: Final = re.compile(rb"\x1b\[(\d{1,5});\d{1,5}R")
_BEGUN: Final = re.compile(rb"\x1b(?:\[(?:\d{1,5}(?:;\d{0,5})?)?)?\Z")
ANSWERS_WITHIN: Final = 0.25
"""Seconds after which nobody waits for an answer any more."""
WHOLE_WITHIN: Final = 0.05
"""Seconds in which the rest of an answer follows its beginning. A key that begins like one is passed on after that."""


class Whereabouts:
    """One question at a time, and none while the program waits for the answer to one of its own.

    A terminal answers in the order in which it is asked. So the first answer after our question is ours, and every other one
    is the program's, and goes there. A terminal that knows no such question answers nobody, and nothing is taken out.
    """

    def __init__(self, told: Callable[[int], None]) -> None:
        """``told`` gets the row of an answer, counted from 0."""
        self._told = told
        self._theirs = 0
        self._begun = b""
        self._passing = b""
        """The beginning of an answer that was passed on, since the rest may complete it."""
        self._answered = anyio.Event()
        self._answered.set()

    @property
    def begun(self) -> bool:
        """True if what was read last ended with what may be the beginning of our answer; it is kept back."""
        return bool(self._begun)

    @property
    def awaited(self) -> bool:
        """True while our question is not answered."""
        return not self._answered.is_set()

    def ask(self) -> bytes:
        """The question to write, or nothing if one is under way."""
        if self.awaited or self._theirs:
            return b""
        self._answered = anyio.Event()
        return _QUESTION

    def overheard(self, count: int) -> None:
        """The program has asked so many times."""
        self._theirs += count

    def take(self, read: bytes) -> bytes:
        """What of it the person typed, or the program is to know."""
        keys, self._begun = self._begun + read, b""
        found = _ANSWER.search(keys) if self.awaited else None
        if found:
            self._answered.set()
            self._told(int(found[1]) - 1)
            keys = keys[: found.start()] + keys[found.end() :]
        elif self.awaited and (begun := _BEGUN.search(keys)):
            keys, self._begun = keys[: begun.start()], begun.group()
        if self._theirs:
            self._count(keys)
        return keys

    def rest(self) -> bytes:
        """What was kept back, and is no answer after all."""
        rest, self._begun = self._begun, b""
        return rest

    async def heard_out(self) -> None:
        """Wait for the answer, for a moment: whoever has the terminal after us is not to find it among the keys."""
        with anyio.move_on_after(ANSWERS_WITHIN):
            await self._answered.wait()
        self._answered.set()

    def _count(self, keys: bytes) -> None:
        text = self._passing + keys
        self._theirs = max(0, self._theirs - len(_ANSWER.findall(text)))
        begun = _BEGUN.search(text)
        self._passing = begun.group() if begun else b""

"""Typist: types one block as one submission and says what is proved of it."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import anyio

from ...contracts.deliveries import Proof
from .child import Child, waiting_bytes
from .proof import Look, submitted
from .text import ENTER, PASTE_ENDS, one_line, pasted
from .watch import Flow, Watch

SETTLE: Final = 1.0
"""Seconds after an Enter in which an answer proves that it was taken. If nothing at all was printed, one more Enter."""
STALL: Final = 5.0
"""Seconds without a byte read by the program, after which Enter follows all the same: body and Enter are one."""
_PIECE: Final = 256
"""So many bytes at once are typing, not a paste, to programs that guess by the size of a read."""
_LINE: Final = 4_000 if sys.platform == "linux" else 1_000
"""The longest line, in bytes, that the kernel keeps for a program that reads lines."""
_TICK: Final = 0.01
_REST: Final = 0.03
_LONGEST_DRAWING: Final = 0.3


class Typist:
    """Types into one child. The caller sees to it that nobody else writes while ``type`` runs."""

    def __init__(self, child: Child, watch: Watch, unsafe: Callable[[], str]) -> None:
        self._child = child
        self._watch = watch
        self._flow = watch.flow
        self._unsafe = unsafe

    async def type(self, text: str) -> "Submission":
        """Write the body, wait until the program has read it, then write Enter on its own.

        If a menu opened meanwhile, Enter would answer it: then the text is left unsent. Raises ``OSError`` if the
        program is gone.
        """
        lines = self._child.reads_lines()
        # Keys that come from here on wait behind us; what they bring about must not be taken for an answer.
        keyed = self._flow.keyed
        terminal = self._child.open_terminal()
        try:
            await self._body(text, terminal, lines)
            if not lines:
                await self._drawn()
            before = self._watch.look()
            flow = Flow(self._flow.printed, keyed)
            pressed = not self._unsafe()
            if pressed:
                await self._child.write(ENTER)
            return Submission(text, before, flow, lines, pressed)
        finally:
            if terminal is not None:
                os.close(terminal)

    async def proof(self, submission: "Submission") -> Proof:
        """Wait at most ``SETTLE`` seconds for a proof that the submission was taken."""
        taken = False
        if not submission.pressed:
            return Proof.OFFERED
        with anyio.move_on_after(SETTLE):
            taken = await (self._line_read() if submission.lines else self._answered(submission))
        return Proof.SUBMITTED if taken else Proof.OFFERED

    def unheard(self, submission: "Submission") -> bool:
        """True if one more Enter can do no harm: the first left no trace at all, and no key was pressed since."""
        return submission.pressed and not submission.lines and self._flow == submission.flow and not self._unsafe()

    async def _body(self, text: str, terminal: int | None, lines: bool) -> None:
        if self._watch.modes.paste:
            await self._paste(pasted(text))
            await self._read(terminal)
        elif lines:
            await self._child.write(one_line(text, _LINE))
            await anyio.sleep(_REST)
        else:
            for piece in _pieces(one_line(text)):
                await self._child.write(piece)
                await self._read(terminal)

    async def _paste(self, body: bytes) -> None:
        try:
            await self._child.write(body)
        except anyio.get_cancelled_exc_class():
            # A paste that is never closed would swallow the person's own keys.
            self._child.owe(PASTE_ENDS)
            raise

    async def _read(self, terminal: int | None) -> None:
        """Wait until the program has read what was written; the kernel may take a moment to show that it is there."""
        left, calm, stalled = sys.maxsize, 0, 0.0
        while calm < 3 and stalled < STALL:
            await anyio.sleep(_TICK)
            waiting = 0 if terminal is None else waiting_bytes(terminal)
            calm = 0 if waiting else calm + 1
            stalled = 0.0 if waiting < left else stalled + _TICK
            left = waiting

    async def _drawn(self) -> None:
        """Wait until the program has drawn what it read, as far as it ever rests."""
        with anyio.move_on_after(_LONGEST_DRAWING):
            printed = -1
            while printed != self._flow.printed:
                printed = self._flow.printed
                await anyio.sleep(_REST)

    async def _line_read(self) -> bool:
        """True once the program has taken the line out of the kernel's hands."""
        terminal = self._child.open_terminal()
        if terminal is None:
            return False
        try:
            calm = 0
            while calm < 3:
                await anyio.sleep(_TICK)
                calm = 0 if waiting_bytes(terminal) else calm + 1
        finally:
            os.close(terminal)
        return True

    async def _answered(self, submission: "Submission") -> bool:
        """True once the screen proves it; false when a person goes on typing, since any output may then be the echo."""
        printed = submission.flow.printed
        while self._flow.keyed == submission.flow.keyed:
            if printed != self._flow.printed:
                printed = self._flow.printed
                if submitted(submission.text, submission.before, self._watch.look()):
                    return True
            await anyio.sleep(2 * _TICK)
        return False


@dataclass(frozen=True)
class Submission:
    """What was typed, and how things stood just before its Enter."""

    text: str
    before: Look
    flow: Flow
    lines: bool
    pressed: bool


def _pieces(body: bytes) -> list[bytes]:
    """Cut at character boundaries, at most ``_PIECE`` bytes each."""
    pieces, start = [], 0
    while start < len(body):
        end = min(start + _PIECE, len(body))
        while end < len(body) and body[end] & 0xC0 == 0x80:
            end -= 1
        pieces.append(body[start:end])
        start = end
    return pieces

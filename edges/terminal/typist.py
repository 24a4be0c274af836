"""Typist: types one block as one submission and says what is proved of it."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import anyio

from ...contracts.deliveries import Proof
from .child import Child, waiting_bytes
from .proof import Look, began_a_line, submitted
from .text import ENTER, PASTE_ENDS, cut_line, one_line, pasted
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
_SETTLED: Final = 5
"""Looks without any change after which a drawing is taken to be complete."""
_REST: Final = 0.03
_LONGEST_DRAWING: Final = 0.3


class Typist:
    """Types into one child. The caller sees to it that nobody else writes while ``type`` runs."""

    def __init__(self, child: Child, watch: Watch, unsafe: Callable[[], str]) -> None:
        self._child = child
        self._watch = watch
        self._flow = watch.flow
        self._unsafe = unsafe

    def must_cut(self, text: str) -> bool:
        """True if the program, as things stand, can't be given all of ``text``: it reads lines, and the kernel bounds them."""
        return not self._watch.modes.paste and self._child.reads_lines() and len(one_line(text)) > _LINE

    async def type(self, text: str, whole_in: str = "") -> "Submission":
        """Write the body, wait until the program has read it, then write Enter on its own.

        Text that must be cut ends with the name of the file that holds the whole of it. If a menu opened meanwhile, Enter would
        answer it: then the text is left unsent. Raises ``OSError`` if the program is gone.
        """
        lines = self._child.reads_lines()
        # Keys that come from here on wait behind us; what they bring about must not be taken for an answer.
        keyed, stops = self._flow.keyed, self._flow.stops
        cut = self.must_cut(text)
        terminal = self._child.open_terminal()
        try:
            await self._body(text, terminal, lines, whole_in)
            if not lines:
                await self._drawn()
            before = self._watch.look()
            flow = Flow(self._flow.printed, keyed, stops)
            pressed = not self._unsafe()
            if pressed:
                self._child.entered()
                await self._child.write(ENTER)
            return Submission(text, before, flow, lines, pressed, cut, whole_in if cut else "")
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
        # Who is stopped and brought back may find its terminal emptied, and draws it anew.
        taken = taken and self._flow.stops == submission.flow.stops
        return Proof.SUBMITTED if taken else Proof.OFFERED

    def may_repeat(self, submission: "Submission") -> bool:
        """True if one more Enter can do no harm, because the text still waits for it, and no key was pressed since.

        The first left no trace at all, or it only began one more line of the same input.
        """
        now, then = self._flow, submission.flow
        if not submission.pressed or submission.lines or (now.keyed, now.stops) != (then.keyed, then.stops) or self._unsafe():
            return False
        return now.printed == then.printed or self.stands(submission)

    def stands(self, submission: "Submission") -> bool:
        """True if the screen shows that the text is still being written, in spite of its Enter."""
        return began_a_line(submission.text, submission.before, self._watch.look())

    async def _body(self, text: str, terminal: int | None, lines: bool, whole_in: str) -> None:
        if self._watch.modes.paste:
            await self._paste(pasted(text))
            await self._read(terminal)
        elif lines:
            await self._child.write(cut_line(one_line(text), _LINE, whole_in))
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
        printed, rests = submission.flow.printed, 0
        while self._flow.keyed == submission.flow.keyed:
            rests += 1
            if printed != self._flow.printed:
                printed, rests = self._flow.printed, 0
                if submitted(submission.text, submission.before, self._watch.look()):
                    return True
            elif rests == _SETTLED and self.stands(submission):
                # The sooner it is sent, the less can a person type into it.
                return False
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
    cut: bool
    whole_in: str


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

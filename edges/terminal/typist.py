"""Typist: types one block as one submission and says what is proved of it."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import anyio

from ...contracts.deliveries import Proof
from ...contracts.errors import NotNow, SinkBusy
from .body import CALM, TICK, Body, Unread
from .child import Child, waiting_bytes
from .keyboard import Keyboard
from .proof import Look, began_a_line, submitted
from .text import ENTER, PASTE_ENDS, cut_line, one_line, pasted
from .watch import Flow, Watch

SETTLE: Final = 1.0
"""Seconds after an Enter in which an answer proves that it was taken. If nothing at all was printed, one more Enter."""
_PIECE: Final = 256
"""So many bytes at once are typing, not a paste, to programs that guess by the size of a read."""
_LINE: Final = 4_000 if sys.platform == "linux" else 1_000
"""The longest line, in bytes, that the kernel keeps for a program that reads lines."""
_LONGEST_TICK: Final = 0.1
_SETTLED: Final = 5
"""Looks without any change after which a drawing is taken to be complete."""
_REST: Final = 0.03
_LONGEST_DRAWING: Final = 0.3


class Typist:
    """Types into one child. The caller sees to it that nobody else writes while ``type`` runs."""

    def __init__(self, child: Child, keyboard: Keyboard, watch: Watch, unsafe: Callable[[], str]) -> None:
        self._child = child
        self._keyboard = keyboard
        self._watch = watch
        self._flow = watch.flow
        self._unsafe = unsafe
        self._left = False

    def must_cut(self, text: str) -> bool:
        """True if the program, as things stand, can't be given all of ``text``: it reads lines, and the kernel bounds them."""
        return not self._watch.modes.paste and self._child.reads_lines() and len(one_line(text)) > _LINE

    def unread(self) -> str:
        """Why nothing is typed behind what the program has not read; empty if it has read all."""
        return "" if self._child.has_read_all() else "the program has not read what it was given before"

    async def type(self, text: str, whole_in: str = "") -> "Submission":
        """Write the body, wait until the program has read it, then write Enter on its own.

        Text that must be cut ends with the name of the file that holds the whole of it. If a menu opened meanwhile, Enter would
        answer it: then the text is left unsent. Raises ``OSError`` if the program is gone, and ``failure()`` if it does not
        read, or when cancelled: no Enter follows then, and what was not read is taken back.
        """
        terminal = self._child.open_terminal()
        body = Body(self._child, terminal)
        # A text of ours that ends with a question mark asks nothing.
        self._watch.writing = True
        try:
            return await self._type(body, text, whole_in)
        except Unread:
            await self._give_up(body, text)
            raise self.failure("the program does not read its input") from None
        except anyio.get_cancelled_exc_class():
            await self._give_up(body, text)
            raise
        finally:
            self._watch.writing = False
            if terminal is not None:
                os.close(terminal)

    def failure(self, why: str) -> SinkBusy:
        """What to raise for a text that was given up: ``NotNow`` if nothing of it was read."""
        return SinkBusy(f"typed in part and not sent: {why}") if self._left else NotNow(f"not typed: {why}")

    async def proof(self, submission: "Submission") -> Proof:
        """Wait at most ``SETTLE`` seconds for a proof that the submission was taken.

        A line that the kernel holds until the program reads it is waited for as long as that takes: until then nobody can say
        that it was told. Raises ``NotNow`` if it was thrown away unread.
        """
        taken = False
        if not submission.pressed:
            return Proof.OFFERED
        if submission.lines:
            taken = await self._line_read(submission)
        else:
            with anyio.move_on_after(SETTLE):
                taken = await self._answered(submission)
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

    async def _type(self, body: Body, text: str, whole_in: str) -> "Submission":
        lines, cut = self._child.reads_lines(), self.must_cut(text)
        # Keys that come from here on wait behind us; what they bring about must not be taken for an answer.
        keyed, stops = self._flow.keyed, self._flow.stops
        await self._write(body, text, lines, whole_in)
        if not lines:
            await self._drawn()
        before = self._watch.look()
        flow, thrown_away = Flow(self._flow.printed, keyed, stops), self._keyboard.thrown_away
        pressed = not self._unsafe()
        if pressed:
            self._child.entered()
            await self._child.write(ENTER)
        else:
            self._watch.left_unsent(text)
        return Submission(text, before, flow, thrown_away, lines, pressed, cut, whole_in if cut else "")

    async def _write(self, body: Body, text: str, lines: bool, whole_in: str) -> None:
        if self._watch.modes.paste:
            await body.write(pasted(text))
        elif lines:
            await self._child.write(cut_line(one_line(text), _LINE, whole_in))
            await anyio.sleep(_REST)
        else:
            for piece in _pieces(one_line(text)):
                await body.write(piece)

    async def _give_up(self, body: Body, text: str) -> None:
        """Leave nothing behind that could be read later; what was read stands in the composer, and counts as a draft."""
        pasting = self._watch.modes.paste
        with anyio.CancelScope(shield=True):
            await body.take_back()
        self._left = body.written > 0 or self._child.reads_lines()
        if self._left:
            if pasting and body.cut_short:
                # A paste that is never closed would swallow the person's own keys.
                self._child.owe(PASTE_ENDS)
            self._watch.left_unsent(text)

    async def _drawn(self) -> None:
        """Wait until the program has drawn what it read, as far as it ever rests."""
        with anyio.move_on_after(_LONGEST_DRAWING):
            printed = -1
            while printed != self._flow.printed:
                printed = self._flow.printed
                await anyio.sleep(_REST)

    async def _line_read(self, submission: "Submission") -> bool:
        """True once the program has taken the line out of the kernel's hands, however long that takes.

        Raises ``NotNow`` if a key such as Ctrl-C had the kernel throw it away unread.
        """
        terminal = self._child.open_terminal()
        if terminal is None:
            return False
        try:
            calm, left, tick = 0, 0, TICK
            while calm < CALM:
                await anyio.sleep(tick)
                waiting = waiting_bytes(terminal)
                if self._keyboard.thrown_away != submission.thrown_away:
                    raise NotNow("not typed: it was thrown away unread by Ctrl-C or another such key")
                if waiting < left:
                    # Lines are read in their order, and ours is the first.
                    return True
                calm, left, tick = 0 if waiting else calm + 1, waiting, min(tick * 1.1, _LONGEST_TICK) if waiting else TICK
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
            await anyio.sleep(2 * TICK)
        return False


@dataclass(frozen=True)
class Submission:
    """What was typed, and how things stood just before its Enter."""

    text: str
    before: Look
    flow: Flow
    thrown_away: int
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

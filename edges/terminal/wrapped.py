"""Wrapped terminal: a program behind a pseudo-terminal, every byte passed through both ways, and text typed into it."""

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

import anyio

from ...contracts.deliveries import Proof
from ...contracts.errors import BadInput, NotNow, SinkGone
from ...contracts.ports import Clock
from ...contracts.signals import LaneFact, RecipientDied
from .child import CATCH_UP, Child, Exit
from .keyboard import Keyboard
from .outer import Outer
from .session import Session
from .spawn import spawn
from .status import StatusRow
from .text import ENTER, clean
from .typist import Submission, Typist
from .watch import Watch

__all__ = ["Exit", "Typed", "WrappedTerminal"]


class Typed(NamedTuple):
    """What became of a text: what is proved of it, whether it had to be cut, and where it then is whole."""

    proof: Proof
    cut: bool = False
    whole_in: str = ""


class WrappedTerminal:
    """Runs ``argv`` in a pseudo-terminal of its own between our stdin and stdout, with exactly ``env``.

    ``signal`` is called in the event loop with facts about ``lane``: output that is work, a person's draft, a menu, a
    full-screen program, the end. ``status`` takes one row at the bottom. With ``type_into_screen`` a full-screen
    program is typed into as any other. Raises ``BadInput`` where there are no pseudo-terminals.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        lane: str,
        env: Mapping[str, str],
        signal: Callable[[LaneFact], None],
        clock: Clock,
        status: StatusRow | None = None,
        type_into_screen: bool = False,
    ) -> None:
        if sys.platform == "win32":
            raise BadInput("a wrapped terminal needs Linux or macOS; on Windows run it inside WSL")
        self._argv = list(argv)
        self._lane = lane
        self._env = dict(env)
        self._signal = signal
        self._clock = clock
        self._status = status
        self._type_into_screen = type_into_screen
        self._turn = anyio.Lock()
        self._submitting: set[anyio.CancelScope] = set()
        self._child: Child | None = None
        self._keyboard: Keyboard | None = None
        self._watch: Watch | None = None
        self._over = False

    async def run(self) -> Exit:
        """Run the program to its end and say how it ended. Call it once, in the main thread if signals are to be obeyed.

        SIGINT, SIGTERM, SIGHUP and SIGQUIT to us are passed on and end the program, within 5 seconds at the latest by
        SIGKILL. When cancelled, the program is hung up, then killed. Our terminal is restored on every way out: when we are
        killed, the kernel hangs the program up, and its keeper restores the terminal. Started in the background of a shell
        we are stopped until somebody brings us to the front. Raises ``BadInput`` if there is no such program.
        """
        outer = Outer()
        size = outer.size()
        try:
            child = Child(spawn(self._argv, self._env, size, outer.attributes_within, outer.will.descriptors))
            self._watch = Watch(self._lane, self._signal, self._clock, size)
            self._watch.modes.reads_lines = self._type_into_screen
            self._child, self._keyboard = child, Keyboard(child)
            try:
                await Session(outer, child, self._watch, self._keyboard, self._status).carry()
            finally:
                await self._finish(self._keyboard)
        finally:
            outer.close()
            self._over = True
            self._signal(RecipientDied(lane=self._lane, at=self._clock.now()))
        return child.exit or Exit(code=137, died_of="SIGKILL")

    @property
    def asked_to_end(self) -> bool:
        """True if the program was ended by us: for a signal to us, a terminal that went away, or a cancelled run."""
        return self._child is not None and self._child.asked_to_end

    async def submit(self, text: str) -> Proof:
        """``submit_or_keep``, where nothing is kept: what has to be cut is cut, and marked."""
        return (await self.submit_or_keep(text, None)).proof

    async def submit_or_keep(self, text: str, keep: Callable[[], Awaitable[str]] | None) -> Typed:
        """Type ``text`` as one submission and answer what is proved: ``OFFERED``, or ``SUBMITTED`` if it was taken.

        Control characters and escape sequences are removed. A program that asked for bracketed paste gets the lines as
        they are; any other gets them as one line, newlines as spaces, because a newline would submit the first line
        alone. Where the kernel bounds that line and it has to be cut, ``keep`` is asked first to keep the whole; what is
        typed ends with the place that it answers. A person's keys come before or after, never between; Ctrl-C and its like
        end the typing. What a program that reads lines does not read yet is waited for, however long that takes. Raises
        ``NotNow`` if nothing may be typed now, or nothing of what was typed was read and it was taken back; ``SinkBusy`` if
        a part was read, is not sent, and stands as a draft; ``SinkGone`` when the program has ended, ``BadInput`` if no text
        is left.
        """
        body = clean(text).strip("\n")
        if not body.strip():
            raise BadInput("there is no text to type")
        with anyio.CancelScope() as scope:
            self._submitting.add(scope)
            try:
                async with self._turn:
                    return await self._submit(body, keep)
            except OSError:
                pass
            finally:
                self._submitting.discard(scope)
        raise SinkGone(f"{self._argv[0]} has ended")

    async def _submit(self, body: str, keep: Callable[[], Awaitable[str]] | None) -> Typed:
        child, keyboard, watch = self._living()
        typist = Typist(child, keyboard, watch, lambda: self._unsafe(watch))
        whole_in = await keep() if keep and typist.must_cut(body) else ""
        submission = await self._type(typist, body, whole_in, cuts=keep is None or bool(whole_in))
        proof = await typist.proof(submission)
        if proof is Proof.OFFERED and typist.may_repeat(submission):
            proof = await self._repeat(typist, submission)
        if proof is Proof.OFFERED and submission.pressed and typist.stands(submission):
            # What comes next must not be joined to it.
            watch.left_unsent(body)
        return Typed(proof, submission.cut, submission.whole_in)

    async def _repeat(self, typist: Typist, submission: Submission) -> Proof:
        child, keyboard, _ = self._living()

        async def enter() -> bool:
            if may := typist.may_repeat(submission):
                await child.write(ENTER)
            return may

        return await typist.proof(submission) if await keyboard.alone(enter) else Proof.OFFERED

    async def _type(self, typist: Typist, body: str, whole_in: str, *, cuts: bool) -> Submission:
        until = anyio.current_time() + CATCH_UP
        child, keyboard, _ = self._living()

        async def attempt() -> Submission | bool:
            # From here to the first byte there is no pause in which anything could change. What it is about to print
            # nobody can know: a program that ends its bracketed paste in this very moment sees the markers, as it would
            # of a person's paste. One that prints without a rest is taken as it was a moment ago.
            said_more = child.has_said_more and anyio.current_time() <= until
            return False if said_more else await self._type_now(typist, body, whole_in, cuts=cuts)

        submission: Submission | bool | None = False
        while submission is False:
            # What the program has printed may be the end of its bracketed paste, or a menu.
            self._living()
            await child.caught_up()
            submission = await keyboard.alone(attempt)
        if not isinstance(submission, Submission):
            raise typist.failure("a key such as Ctrl-C came first")
        return submission

    async def _type_now(self, typist: Typist, body: str, whole_in: str, *, cuts: bool) -> Submission:
        child, _, watch = self._living()
        watch.look()
        reason = self._unsafe(watch) or watch.drafting(child.reader()) or watch.settling() or child.refusal() or typist.unread()
        if not reason and not cuts and typist.must_cut(body):
            reason = "the program began to read lines, and this is too long for one"
        if reason:
            raise NotNow(f"not typed: {reason}")
        return await typist.type(body, whole_in)

    def _unsafe(self, watch: Watch) -> str:
        return watch.taken(type_into_screen=self._type_into_screen)

    def _living(self) -> tuple[Child, Keyboard, Watch]:
        if self._over or (self._child is not None and not self._child.alive):
            raise SinkGone(f"{self._argv[0]} has ended")
        if self._child is None or self._keyboard is None or self._watch is None:
            raise NotNow(f"{self._argv[0]} has not been started yet")
        return self._child, self._keyboard, self._watch

    async def _finish(self, keyboard: Keyboard) -> None:
        """Let those who are still typing know, then close the terminal."""
        with anyio.CancelScope(shield=True):
            for scope in list(self._submitting):
                scope.cancel()
            await keyboard.close()

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
        self._typing = anyio.Lock(fast_acquire=True)
        self._turn = anyio.Lock()
        self._submitting: set[anyio.CancelScope] = set()
        self._child: Child | None = None
        self._watch: Watch | None = None
        self._over = False

    async def run(self) -> Exit:
        """Run the program to its end and say how it ended. Call it once, in the main thread if signals are to be obeyed.

        SIGINT, SIGTERM, SIGHUP and SIGQUIT to us are passed on and end the program, within 5 seconds at the latest by
        SIGKILL. When cancelled, the program is hung up, then killed. Our terminal is restored on every way out, except
        when we are killed by SIGKILL: then the kernel hangs the program up, and ``reset`` mends the terminal. Raises
        ``BadInput`` if there is no such program.
        """
        outer = Outer()
        size = outer.size()
        try:
            child = Child(spawn(self._argv, self._env, size, outer.attributes))
            self._watch = Watch(self._lane, self._signal, self._clock, size)
            self._child = child
            try:
                await Session(outer, child, self._watch, self._typing, self._status).carry()
            finally:
                await self._finish(child)
        finally:
            outer.restore()
            self._over = True
            self._signal(RecipientDied(lane=self._lane, at=self._clock.now()))
        return child.exit or Exit(code=137, died_of="SIGKILL")

    async def submit(self, text: str) -> Proof:
        """``submit_or_keep``, where nothing is kept: what has to be cut is cut, and marked."""
        return (await self.submit_or_keep(text, None)).proof

    async def submit_or_keep(self, text: str, keep: Callable[[], Awaitable[str]] | None) -> Typed:
        """Type ``text`` as one submission and answer what is proved: ``OFFERED``, or ``SUBMITTED`` if it was taken.

        Control characters and escape sequences are removed. A program that asked for bracketed paste gets the lines as
        they are; any other gets them as one line, newlines as spaces, because a newline would submit the first line
        alone. Where the kernel bounds that line and it has to be cut, ``keep`` is asked first to keep the whole; what is
        typed ends with the place that it answers. A person's keys come before or after, never between. Raises ``NotNow``
        when nothing may be typed now (nothing has been written then), ``SinkGone`` when the program has ended, ``BadInput``
        if no text is left.
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
        child, watch = self._living()
        typist = Typist(child, watch, lambda: self._unsafe(watch))
        whole_in = await keep() if keep and typist.must_cut(body) else ""
        submission = await self._type(typist, watch, body, whole_in, cuts=keep is None or bool(whole_in))
        proof = await typist.proof(submission)
        if proof is Proof.OFFERED and typist.may_repeat(submission):
            proof = await self._repeat(typist, child, submission)
        if proof is Proof.OFFERED and submission.pressed and typist.stands(submission):
            # What comes next must not be joined to it.
            watch.left_unsent(body)
        return Typed(proof, submission.cut, submission.whole_in)

    async def _repeat(self, typist: Typist, child: Child, submission: Submission) -> Proof:
        async with self._typing:
            if not typist.may_repeat(submission):
                return Proof.OFFERED
            await child.write(ENTER)
        return await typist.proof(submission)

    async def _type(self, typist: Typist, watch: Watch, body: str, whole_in: str, *, cuts: bool) -> Submission:
        until = anyio.current_time() + CATCH_UP
        while True:
            # What the program has printed may be the end of its bracketed paste, or a menu.
            child, _ = self._living()
            await child.caught_up()
            async with self._typing:
                # From here to the first byte there is no pause in which anything could change. What it is about to print
                # nobody can know: a program that ends its bracketed paste in this very moment sees the markers, as it would
                # of a person's paste. One that prints without a rest is taken as it was a moment ago.
                if not child.has_said_more or anyio.current_time() > until:
                    return await self._type_now(typist, watch, body, whole_in, cuts=cuts)

    async def _type_now(self, typist: Typist, watch: Watch, body: str, whole_in: str, *, cuts: bool) -> Submission:
        child, _ = self._living()
        watch.look()
        reason = self._unsafe(watch) or watch.drafting() or watch.settling() or child.refusal()
        if not reason and not cuts and typist.must_cut(body):
            reason = "the program began to read lines, and this is too long for one"
        if reason:
            raise NotNow(f"not typed: {reason}")
        try:
            submission = await typist.type(body, whole_in)
        except anyio.get_cancelled_exc_class():
            watch.left_unsent(body)
            raise
        if not submission.pressed:
            watch.left_unsent(body)
        return submission

    def _unsafe(self, watch: Watch) -> str:
        return watch.taken(type_into_screen=self._type_into_screen)

    def _living(self) -> tuple[Child, Watch]:
        if self._over or (self._child is not None and not self._child.alive):
            raise SinkGone(f"{self._argv[0]} has ended")
        if self._child is None or self._watch is None:
            raise NotNow(f"{self._argv[0]} has not been started yet")
        return self._child, self._watch

    async def _finish(self, child: Child) -> None:
        """Let those who are still typing know, then close the terminal."""
        with anyio.CancelScope(shield=True):
            for scope in list(self._submitting):
                scope.cancel()
            async with self._typing:
                child.close()

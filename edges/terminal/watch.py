"""Watch: turns what passes through the terminal into facts about the lane, each told once when it becomes so."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ...contracts.ports import Clock
from ...contracts.signals import (
    DialogClosed,
    DialogOpened,
    DraftEnded,
    DraftStarted,
    LaneFact,
    Output,
    ScreenReleased,
    ScreenTaken,
)
from .activity import Activity
from .blank import Blank, Reader
from .draft import Draft
from .modes import Modes
from .prompt import goes_on
from .proof import Look
from .spawn import Size
from .view import View


@dataclass
class Flow:
    """How many bytes went which way so far, and how often the program was stopped and brought back."""

    printed: int = 0
    keyed: int = 0
    stops: int = 0


_INTERRUPT: Final = b"\x03"
_ANSWER: Final = 80
"""Bytes, a row of text, that stand for what comes after a line was sent or cleared, until some of it has come."""
_BACK_REST: Final = 0.5
"""Seconds that a program has to set up its terminal once it goes on after a stop; what is typed before that may be lost."""
_ECHO_REST: Final = 1.5
"""Seconds after which a program that reads has shown what it read."""
_KEY_REST: Final = 0.05
"""Seconds after which half a key sequence is no longer expected to go on."""


class Watch:
    """Sees both directions. ``printed`` and ``keyed`` are on the data path and cheap; ``look`` is called off it."""

    def __init__(self, lane: str, signal: Callable[[LaneFact], None], clock: Clock, size: Size) -> None:
        self._lane = lane
        self._signal = signal
        self._clock = clock
        self.modes = Modes()
        self.draft = Draft()
        self.flow = Flow()
        self._activity = Activity(self._report_output)
        self._view = View(size.rows, size.columns)
        self._blank = Blank()
        self._keyed_at = 0.0
        self._keyed_in = -1
        """The row in which the last key was pressed, if it was an empty line behind a prompt."""
        self._interrupted = False
        """True if Ctrl-C was the last key: what then is shown is the line that was given up, empty."""
        self._drafting = self._asking = self._taken = False
        self.writing = False
        """True while we write a text whose Enter is to come."""
        self._taken_after = 0
        self._back_at = -_BACK_REST

    def printed(self, chunk: bytes) -> None:
        """The program wrote ``chunk``."""
        self.flow.printed += len(chunk)
        self._view.show(chunk)
        if self.modes.feed(chunk):
            self._tell_screen(self.flow.printed - len(chunk))
        self._activity.output(chunk, time.monotonic())

    def keyed(self, keys: bytes, *, newline_sends: bool) -> None:
        """A person (or a pipe) gave ``keys``; they are passed on after this."""
        if self._view.fresh:
            # They are for what is shown now: the first prompt, a menu that has come or gone.
            self.look()
        self.flow.keyed += len(keys)
        self._keyed_at = time.monotonic()
        self._interrupted = keys.endswith(_INTERRUPT)
        self._keyed_in = self._row() if self._blank.is_prompt(self._view.place) else -1
        # What answers a menu or steers a full-screen program is no line that somebody is writing.
        counts = not (self.modes.full_screen or self._asking)
        self.draft.feed(keys, at=self._keyed_at, newline_sends=newline_sends, counts=counts)
        self._tell_draft()

    def left_unsent(self, text: str) -> None:
        """``text`` was typed by us and its Enter was not: for all that follows it is a draft."""
        self.draft.assume(text)
        self._tell_draft()

    def brought_back(self) -> None:
        """The program goes on after a stop: it is at work, and what it was given before is no longer certain to be there."""
        self.flow.stops += 1
        self._back_at = time.monotonic()
        self._report_output(_ANSWER)

    def look(self) -> Look:
        """Bring the screen up to date, tell what it shows, and return it."""
        if self._view.fresh:
            changed = self._view.look(typed=self.draft.open or self.writing)
            self._activity.looked(changed, time.monotonic())
            self._tell_dialog()
            self._tell_blank()
        screen = self._view.screen
        return Look(screen.text(), screen.scrolled, tuple(screen.gone), screen.row)

    def settle(self) -> None:
        """Report output that was kept back since the last report, if its time has come."""
        self._activity.settle(time.monotonic())

    def was_answered(self) -> bool:
        """True if what was pressed had another reader, as a question has that takes a single key.

        Then a prompt has come since the last key, exactly as it was before, and for a while nothing came into its line.
        """
        return (
            self.draft.open
            and not (self._view.fresh or self._asking or self.modes.full_screen)
            and time.monotonic() - self._keyed_at > _ECHO_REST
            and self._row() != self._keyed_in
            and self._blank.is_prompt(self._view.place)
        )

    def give_up_draft(self) -> None:
        """There is no draft, whatever the keys were."""
        self.draft.give_up()
        self._tell_draft()

    def resize(self, size: Size) -> None:
        """The program's terminal has a new size."""
        self._view.resize(size.rows, size.columns)

    def taken(self, *, type_into_screen: bool) -> str:
        """Who would take what is typed now as an answer or a command; empty if nobody would."""
        if self._asking:
            return "a menu or question is open"
        if self.modes.full_screen and not type_into_screen:
            return "a full-screen program owns the terminal"
        return ""

    def settling(self) -> str:
        """Why the program may lose what is typed now; empty if it does not."""
        return "the program was only just brought back" if time.monotonic() - self._back_at < _BACK_REST else ""

    def drafting(self, reader: Reader) -> str:
        """What a person is in the middle of typing; empty if nothing. Call ``look`` first."""
        if self.draft.open:
            return "a line is typed and not sent"
        if goes_on(self._view.screen.text()[self._view.screen.row]):
            return "what was entered is to be gone on with"
        unfinished = self.draft.unfinished
        if unfinished > 2 or (unfinished and time.monotonic() - self._keyed_at < _KEY_REST):
            return "a key is just being pressed"
        # Where an agent that owns the whole screen has its line, and whether that has a prompt, nobody knows.
        return "" if reader.lines or self.modes.alternate else self._editing(reader)

    def _editing(self, reader: Reader) -> str:
        """What the screen says against a line that is empty as far as the keys can tell."""
        place, group = self._view.place, reader.group
        if reader.foreign and not self.modes.paste and not self._blank.looks_like_a_prompt(group, place):
            return "a command is running in the shell"
        if not self._blank.knows(group):
            # A program that was started since is shown as it begins, for what started it was the last line sent.
            self._blank.learn(group, place) if reader.foreign else self._blank.first_is_of(group)
        if self._interrupted:
            self._blank.learn(group, place)
        if not self._blank.looks_empty(group, place):
            return "something stands in the line that is no prompt"
        if self.draft.unfinished and self._blank.shell(group):
            return "what Escape began in the shell's line has not ended"
        return ""

    def _row(self) -> int:
        """The row with the cursor, counted from the first that was ever shown."""
        return self._view.screen.scrolled + self._view.screen.row

    def _tell_blank(self) -> None:
        """Learn how the first prompt looks."""
        if not (self.flow.keyed or self._asking or self.modes.full_screen):
            self._blank.untouched(self._view.place)

    def _report_output(self, size: int) -> None:
        self._signal(Output(lane=self._lane, size=size, at=self._clock.now()))

    def _tell_screen(self, printed: int) -> None:
        """``printed`` bytes came before those that may have changed it."""
        if self.modes.full_screen == self._taken:
            return
        self._taken = self.modes.full_screen
        if self._taken:
            self._taken_after = printed
            self._tell(ScreenTaken)
        else:
            # Who has the terminal back sets it up first, and what is typed before that may be lost: it has just worked.
            self._report_output(self.flow.printed - self._taken_after)
            self._tell(ScreenReleased)

    def _tell_draft(self) -> None:
        if self.draft.open != self._drafting:
            self._drafting = self.draft.open
            if not self._drafting:
                # What was sent is about to be worked on, perhaps by a program that takes keys as commands.
                self._report_output(_ANSWER)
            self._tell(DraftStarted if self._drafting else DraftEnded)

    def _tell_dialog(self) -> None:
        if self._view.dialog != self._asking:
            self._asking = self._view.dialog
            self._tell(DialogOpened if self._asking else DialogClosed)

    def _tell(self, fact: type[DraftStarted | DraftEnded | DialogOpened | DialogClosed | ScreenTaken | ScreenReleased]) -> None:
        self._signal(fact(lane=self._lane, at=self._clock.now()))

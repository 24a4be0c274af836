"""Drafts: an answer as it is written in an editor, in a file of its own, so that none is lost and none is written twice."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from ...contracts.errors import BadInput
from ..words import complain
from .stopping import ends_with, signals

FOLDER: Final = "attention/drafts"
SCISSORS: Final = "---- write your answer above this line; nothing from here on is sent ----"
_BEFORE: Final = 10**9
"""Nanoseconds that a file is dated back, so that a save within the same tick is seen."""


class Draft:
    """What the person writes about one item."""

    def __init__(self, state: Path, broker_uuid: str, item_id: int) -> None:
        """``state`` is the user's own directory."""
        self.path = state / FOLDER / broker_uuid / f"{item_id}.md"

    def write(self, about: str) -> str:
        """The answer that the person writes, with the item below it. Raises ``BadInput`` if they write nothing.

        The editor works on the draft itself: whatever ends it or this command, what was saved is there the next time.
        """
        begun = self._begun()
        text = self._edited(f"{begun}\n\n{SCISSORS}\n\n{about}\n", begun)
        # The line may have been deleted with what is below it, or without.
        answer = (text or "").partition(SCISSORS)[0].partition(about)[0].strip()
        self._keep(begun if text is None else answer)
        if not answer:
            raise BadInput("nothing was written, so nothing was sent; the item is yours as before")
        return answer

    def holds(self, answer: str) -> bool:
        """True if this is the answer that is kept here."""
        return bool(answer) and self._begun() == answer

    def forget(self) -> None:
        """It has been sent."""
        with suppress(OSError):
            self.path.unlink()

    def _edited(self, text: str, begun: str) -> str | None:
        """What the editor leaves in the draft; none if it saved nothing."""
        try:
            self._put(text)
            before = self._dated_back()
            with ends_with(self._remind), signals(interrupt=False):
                click.edit(filename=str(self.path))
            return None if _facts(self.path) == before else self.path.read_text(encoding="utf-8", errors="replace")
        except click.ClickException as error:
            self._keep(begun if _facts(self.path) == before else self._begun())
            raise BadInput(f"{error.format_message()}; nothing was sent, and what was saved is in {self.path}") from error
        except OSError as error:
            raise BadInput(f"{self.path} can't be written ({error.strerror}): say the answer with --response") from error

    def _remind(self) -> None:
        complain(f"nothing was sent; what the editor saves is in {self.path}, and `tocsin attention resolve` opens it again")

    def _begun(self) -> str:
        """What was written earlier: also by an editor whose command was ended, with what stood below the line."""
        try:
            return self.path.read_text(encoding="utf-8").partition(SCISSORS)[0].strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def _keep(self, answer: str) -> None:
        if not answer:
            self.forget()
            return
        with suppress(OSError):  # it is sent at once: a draft that can't be kept keeps no answer back
            self._put(answer)

    def _put(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path.touch(mode=0o600)
        self.path.write_text(text, encoding="utf-8")

    def _dated_back(self) -> tuple[int, int, int]:
        at = self.path.stat().st_mtime_ns - _BEFORE
        os.utime(self.path, ns=(at, at))
        return _facts(self.path)


def _facts(path: Path) -> tuple[int, int, int]:
    """What changes whenever an editor saves, in place or by another file of that name; nothing is there: all zero."""
    try:
        facts = path.stat()
    except OSError:
        return 0, 0, 0
    return facts.st_ino, facts.st_mtime_ns, facts.st_size

"""Drafts: an answer as it is written in an editor, kept until it is sent, so that none is written twice."""

from contextlib import suppress
from pathlib import Path
from typing import Final

import click

from ...contracts.errors import BadInput

FOLDER: Final = "attention/drafts"
SCISSORS: Final = "---- write your answer above this line; nothing from here on is sent ----"


class Draft:
    """What the person writes about one item."""

    def __init__(self, state: Path, broker_uuid: str, item_id: int) -> None:
        """``state`` is the user's own directory."""
        self.path = state / FOLDER / broker_uuid / f"{item_id}.md"

    def write(self, about: str) -> str:
        """The answer that the person writes, with the item below it. Raises ``BadInput`` if they write nothing."""
        text = click.edit(f"{self._begun()}\n\n{SCISSORS}\n\n{about}\n", extension=".md")
        # The line may have been deleted with what is below it, or without.
        answer = (text or "").partition(SCISSORS)[0].partition(about)[0].strip()
        if not answer:
            raise BadInput("nothing was written, so nothing was sent; the item is yours as before")
        self._keep(answer)
        return answer

    def forget(self) -> None:
        """It has been sent."""
        with suppress(OSError):
            self.path.unlink()

    def _begun(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def _keep(self, answer: str) -> None:
        with suppress(OSError):  # it is sent at once: a draft that can't be kept keeps no answer back
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.touch(mode=0o600)
            self.path.write_text(answer, encoding="utf-8")

"""Empty line: a line editor with bracketed paste in which input of several lines ends with an empty one, as in newer Pythons.

Usage: empty_line.py LOG [never]. With ``never`` an empty line ends nothing.
"""

import sys

from composing import PASTE_ON, Composer, Log, raw, read, say


class Editor(Composer):
    """Enter sends a line that is alone, or an empty last one; else it begins another."""

    def key(self, key: bytes) -> list[str]:
        if key == b"\r" and "\n" in self.text and (never or not self.text.endswith("\n")):
            self.text += "\n"
            return []
        return super().key(key)


log, never = Log(sys.argv[1]), sys.argv[2:] == ["never"]
editor, shown = Editor(), 0
with raw():
    say(PASTE_ON + ">>> ")
    while True:
        sent = editor.feed(read())
        for message in sent:
            log.write(submitted=message)
            say(f"\r\nread {len(message)} characters\r\n>>> ")
        if not sent:
            up = f"\x1b[{shown}A" if shown else ""
            say(f"{up}\r\x1b[J>>> " + editor.text.replace("\n", "\r\n... "))
        shown = editor.text.count("\n")

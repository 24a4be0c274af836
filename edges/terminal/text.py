"""Text: the one boundary where words become keystrokes; nothing but text comes out of it."""

import re
from typing import Final

_SEQUENCE: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves, and the paste markers
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS and other strings, whole
    r"|\x1b[ -/]*[0-~]"  # what is left of the two- and three-byte ones
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BLANKS: Final = re.compile(r"[ \t]*\n[ \t\n]*|\t")

PASTE_BEGINS: Final = b"\x1b[200~"
PASTE_ENDS: Final = b"\x1b[201~"
ENTER: Final = b"\r"


def clean(text: str) -> str:
    """The text with whole escape sequences and every control character but newline and tab removed.

    Any end of line becomes ``\\n``, what is no Unicode becomes U+FFFD; cleaning twice changes nothing more.
    """
    text = _SEQUENCE.sub("", text.replace("\r\n", "\n"))
    text = _CONTROL.sub("", text.replace("\r", "\n"))
    # Two halves of a character outside the first plane are joined; a half alone is no character.
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def pasted(text: str) -> bytes:
    """The body for a program that asked for bracketed paste: newlines and tabs are content there."""
    return PASTE_BEGINS + text.encode() + PASTE_ENDS


def one_line(text: str) -> bytes:
    """The body for a program that did not: one line, because a newline would submit the first part alone.

    Newlines and the blanks around them become one space; so do tabs, which would ask a shell for completions.
    """
    return _BLANKS.sub(" ", text).encode()


def cut_line(line: bytes, limit: int, whole_in: str) -> bytes:
    """The line, in at most ``limit`` bytes; what was cut off is shown by a mark, which names the file with the whole of it."""
    if len(line) <= limit:
        return line
    mark = f" [... cut; the whole text is in {whole_in}]".encode() if whole_in else b" [...]"
    return line[: limit - len(mark)].decode(errors="ignore").encode() + mark

"""Lines: raw bytes of one stream become clean lines, the same lines whatever the cuts between reads.

A line feed ends a line and every escape sequence with it, so each line is cleaned alone: what a broken sequence swallows
ends at its own line. Only the raw bytes since the last line feed are kept between two calls, and their number is bounded.
"""

import codecs
import re
from typing import Final

LIMIT: Final = 65_536
"""Bytes of one line that are kept; what follows them is dropped, and a marker at the end of the line counts it."""

# What brings the cursor back to the start of the line: carriage return, erase line, column 1, home, clear, reset.
# All but the carriage return also wipe what stands there, even where nothing is printed after them.
_WIPES: Final = rb"\x1b\[2K|\x1b\[[01]?G|\x1b\[(?:1;1|1|;)?H|\x1b\[[23]J|\x1bc"
_BACK: Final = re.compile(rb"\r|" + _WIPES)
_WIPES_TEXT: Final = re.compile(_WIPES.decode())
_SCREEN: Final = re.compile(rb"\x1b\[\?(?:[0-9;]*;)?(?:1049|1047|47)(?:;[0-9;]*)?([hl])")
# A string sequence (OSC, DCS, PM, APC, SOS) ends with BEL, ST in 7 or 8 bits or a raw 0x9C byte; without an end, 4,096
# characters of it are dropped, so that a program that never ends one loses no more than that.
_ESCAPES: Final = re.compile(
    "(?:\x1b[\\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\udc9c\n]{0,4096}(?:\x07|\x1b\\\\|\x9c|\udc9c)?"
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|\x1b[ -/]+[0-~]?"
    "|\x1b[0-~]"
)
_COLOURS: Final = re.compile("\x1b\\[[0-9;]*m")
_FORWARD: Final = re.compile("\x1b\\[[0-9]*C")
_CONTROLS: Final = bytes(code for code in (*range(32), 127) if code not in (9, 10))
_CONTROL_TEXT: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]+")
_OVERWRITTEN: Final = re.compile("^[^\n]*\r", re.MULTILINE)
_ENDING_RETURNS: Final = re.compile("\r+(?=\n)")
# The longest mark above is shorter than this: enough of dropped bytes to know a mark that two reads share.
_MARK: Final = 24


_RAW_END: Final = "\udc9c"
_KEPT_END: Final = "tocsin.raw_string_terminator"


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """A raw 0x9C byte may end a string sequence, so it stays itself; each other broken piece is one replacement character."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return (_RAW_END if error.object[error.start] == 0x9C else "\ufffd"), error.end


codecs.register_error(_KEPT_END, _replaced)


class Lines:
    """The lines of one stream. Each stream has its own: half a character on one never meets the other's."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._pending = b""
        self._head = b""
        self._lost = 0
        self._full_screen = False

    def feed(self, data: bytes) -> list[str]:
        """The lines that ``data`` completes, without their line feeds."""
        text = self.take(data)
        return text[:-1].split("\n") if text else []

    def take(self, data: bytes) -> str:
        """The lines that ``data`` completes as one text, each ended by a line feed: for whoever scans them all at once."""
        cut = data.rfind(b"\n") + 1
        if not cut:
            self._keep(self._pending + data)
            return ""
        raw = self._pending + data[:cut] if self._pending or self._head else data[:cut]
        self._pending = b""
        raw = self._bounded(raw)
        if cut < len(data):
            self._keep(data[cut:])
        if self._full_screen or _SCREEN.search(raw):
            raw = self._outside_full_screen(raw)
        return clean(raw)

    def close(self) -> list[str]:
        """The last line, if the stream ended without a line feed."""
        if not self._pending and not self._head:
            return []
        text = self.take(b"\n")
        return [line for line in text[:-1].split("\n") if line]

    def _bounded(self, raw: bytes) -> bytes:
        """Whole lines, none longer than the limit and its marker."""
        if not self._head and self._all_within(raw):
            return raw
        first, feed, rest = raw.partition(b"\n")
        lines = [self._first(first), *(self._cut(line, 0) for line in rest[:-1].split(b"\n"))] if rest else [self._first(first)]
        self._head, self._lost = b"", 0
        return b"\n".join(lines) + feed

    def _all_within(self, raw: bytes) -> bool:
        """True if no line is longer than the limit, found out by steps of its length."""
        place = 0
        while len(raw) - place > self._limit + 1:
            feed = raw.rfind(b"\n", place, place + self._limit + 1)
            if feed < 0:
                return False
            place = feed + 1
        return True

    def _first(self, line: bytes) -> bytes:
        if not self._head:
            return self._cut(line, 0)
        line = line.rstrip(b"\r")
        back = _last_mark(line)
        return self._cut(line[back:], 0) if back is not None else self._cut(self._head, self._lost + len(line))

    def _cut(self, line: bytes, lost: int) -> bytes:
        if not lost and len(line) <= self._limit:
            return line
        line = line.rstrip(b"\r")
        back = _last_mark(line) if not lost else None
        line = line[back:] if back is not None else line
        lost += max(len(line) - self._limit, 0)
        return line[: self._limit] + f" … [{lost} more bytes]".encode() if lost else line

    def _keep(self, raw: bytes) -> None:
        """Hold the beginning of a line: all of it up to twice the limit, then only what can still be its final state."""
        if len(raw) <= 2 * self._limit:
            self._pending = raw
            return
        line = raw.rstrip(b"\r")
        ending = b"\r" if len(line) < len(raw) else b""
        back = _last_mark(line)
        if back is not None:
            self._forget(line[:back])
            self._head, self._lost, line = b"", 0, line[back:]
        if not self._head and len(line) > 2 * self._limit:
            self._head, line = line[: self._limit], line[self._limit :]
        if self._head:
            self._forget(line[:-_MARK])
            self._lost += max(len(line) - _MARK, 0)
            line = line[-_MARK:]
        self._pending = line + ending

    def _forget(self, raw: bytes) -> None:
        """A program may take or leave the screen within what is dropped."""
        for switch in _SCREEN.finditer(raw):
            self._full_screen = switch[1] == b"h"

    def _outside_full_screen(self, raw: bytes) -> bytes:
        """Redraws of a program that owns the whole screen are no lines."""
        kept, start = [], 0
        for switch in _SCREEN.finditer(raw):
            if not self._full_screen:
                kept.append(raw[start : switch.start()])
            self._full_screen, start = switch[1] == b"h", switch.end()
        if not self._full_screen:
            kept.append(raw[start:])
        return b"".join(piece if piece.endswith(b"\n") else piece + b"\n" for piece in kept if piece)


def clean(raw: bytes) -> str:
    """Whole lines of raw bytes as text: decoded, final state of overwritten lines, no escape sequence and no control."""
    try:
        text, broken = raw.decode(), False
    except UnicodeDecodeError:
        text, broken = raw.decode("utf-8", _KEPT_END), True
    if not broken and b"\xc2" not in raw and len(raw.translate(None, _CONTROLS)) == len(raw):
        return text
    # Colours are nearly all there is; without them, the slower search below has seldom anything to do.
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    if "\x1b" in text or "\x9b" in text or "\x9d" in text or "\x90" in text:
        text = _ESCAPES.sub("", _FORWARD.sub(" ", _WIPES_TEXT.sub("\r\0", text)))
    if "\r" in text:
        text = _OVERWRITTEN.sub("", _ENDING_RETURNS.sub("", text))
    if "\b" in text:
        text = "\n".join(map(_backspaced, text.split("\n")))
    text = _CONTROL_TEXT.sub("", text)
    return text.replace(_RAW_END, "\ufffd") if broken else text


def _backspaced(line: str) -> str:
    shown: list[str] = []
    for character in line:
        if character != "\b":
            shown.append(character)
        elif shown:
            shown.pop()
    return "".join(shown)


def _last_mark(line: bytes) -> int | None:
    """Where the last return to the start of the line begins."""
    last = None
    for mark in _BACK.finditer(line):
        last = mark.start()
    return last

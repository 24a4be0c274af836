"""Draft: whether a person has typed a line and not sent it, as far as the keys alone can tell."""

import re
from typing import Final

_KEY: Final = re.compile(
    rb"(?P<pasted>\x1b\[200~)"
    rb"|(?P<csi>\x1b\[(?:M[\x00-\xff]{3}|(?!M)(?P<params>[0-?]*)[ -/]*(?P<final>[@-~])))"
    rb"|(?P<string>\x1b[\]P_^X][^\x07\x1b]*(?:\x07|\x1b\\))"
    rb"|(?P<shift3>\x1bO[ -~])"
    rb"|(?P<alt>\x1b[^\x1b\[\]OP_^X])"
    rb"|(?P<escape>\x1b(?=\x1b))"
    # What begins a sequence and goes on as none: Alt with that key, or a report that was cut off.
    rb"|(?P<broken>\x1b(?:O(?=[^ -~])|\[(?!M)[0-?]*+[ -/]*+(?=[^@-~])|[\]P_^X][^\x07\x1b]*+(?=\x1b[^\\])))"
    rb"|(?P<text>[\x20-\x7e\x80-\xff]+)"
    rb"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])",
    re.DOTALL,
)
_PASTE_ENDS: Final = b"\x1b[201~"
_PATIENCE: Final = 0.5
"""Seconds in which a report that came in part must be complete."""
_LONGEST_HALF: Final = 4096
_LONGEST_LINE: Final = 65_536

_ENTER, _NEWLINE, _TAB = 0x0D, 0x0A, 0x09
_CLEARS: Final = frozenset({0x03})
_RUBS_OUT: Final = frozenset({0x7F, 0x08})
_CTRL_A, _CTRL_B, _CTRL_E, _CTRL_K, _CTRL_U, _CTRL_V, _CTRL_W, _CTRL_Y = 0x01, 0x02, 0x05, 0x0B, 0x15, 0x16, 0x17, 0x19
_UNSURE: Final = frozenset({_TAB, _CTRL_B, 0x0E, 0x13, 0x14})
"""Completion, cursor back, transpose: with a draft, its text is no longer known."""
_RECALLS: Final = frozenset({0x10, 0x12, 0x1F})
"""Ctrl-P and Ctrl-R bring back an earlier line, as the Up key does; Ctrl-_ undoes what cleared it."""
_ALT_RECALLS: Final = frozenset(b".p<")
"""With Alt: the last word of the line before, and older lines."""
_HOME: Final = frozenset({b"1", b"7"})
_END: Final = frozenset({b"4", b"8"})
_CONTROL_KEY: Final = 4
"""The bit of Ctrl in a reported modifier, less one."""
_KEYPAD: Final = {57414: _ENTER} | {57399 + digit: 0x30 + digit for digit in range(10)}
"""Keys of the number block, as the kitty protocol reports them."""


class Draft:
    """A model of the line being typed, fed with a person's keys in the order they are passed on.

    Mouse and focus reports and the terminal's answers to queries are no keys. Where it can't be known whether the line
    is empty again (the cursor was moved, a completion came), the draft lasts until it is sent or cleared.
    """

    def __init__(self) -> None:
        self._line = ""
        self._sure = True
        self._at_start = False
        self._moved = False
        """True if the cursor may stand within the line, so that Ctrl-U leaves what is behind it."""
        self._half = b""
        self._half_at = 0.0
        self._pasting = False

    @property
    def open(self) -> bool:
        """True while a line is typed and not sent."""
        return bool(self._line) or self._pasting

    @property
    def unfinished(self) -> int:
        """How many bytes of a key or report arrived that is not complete yet; 1 is an Escape, which may be just that."""
        return len(self._half)

    def feed(self, keys: bytes, *, at: float = 0.0, newline_sends: bool = False, counts: bool = True) -> None:
        """Take the next keys, read at ``at`` seconds.

        ``newline_sends``: the program reads whole lines, so ``\\n`` sends as Enter does. With ``counts`` false (a menu or
        a full-screen program takes them) they can't begin or change a draft.
        """
        data = self._resume(keys, at)
        before = (self._line, self._sure, self._at_start, self._moved)
        at = 0
        while at < len(data):
            at = self._paste(data, at) if self._pasting else self._key(data, at, newline_sends)
        if not counts:
            self._line, self._sure, self._at_start, self._moved = before

    def assume(self, text: str) -> None:
        """``text`` stands in the line though nobody typed it: it was written, and its Enter was not."""
        self._type(text)
        self._sure = False

    def give_up(self) -> None:
        """The line is certainly empty, whatever the keys were."""
        self._clear()
        self._pasting = False

    def _resume(self, keys: bytes, at: float) -> bytes:
        half, self._half = self._half, b""
        # An Escape that was alone in its read was the key itself, unless a sequence goes on here.
        if not half or (half == b"\x1b" and keys[:1] not in (b"[", b"O", b"]", b"P", b"_")):
            self._half_at = at
            return keys
        if not self._pasting and at - self._half_at > _PATIENCE:
            # Nothing completed it: it was Alt with a key that also begins reports, and then plain keys.
            self._half_at = at
            return half[2:] + keys
        return half + keys

    def _key(self, data: bytes, at: int, newline_sends: bool) -> int:
        match = _KEY.match(data, at)
        if match is None:
            self._half = data[at:] if len(data) - at <= _LONGEST_HALF else b""
            return len(data)
        self._take(match, newline_sends)
        return match.end()

    def _paste(self, data: bytes, at: int) -> int:
        end = data.find(_PASTE_ENDS, at)
        self._pasting = end < 0
        stop = end if end >= 0 else len(data) - _overlap(data, _PASTE_ENDS)
        self._type(data[at:stop].decode(errors="replace"))
        self._half = data[stop:] if self._pasting else b""
        return len(data) if self._pasting else end + len(_PASTE_ENDS)

    def _take(self, match: re.Match[bytes], newline_sends: bool) -> None:
        match match.lastgroup:
            case "pasted":
                self._pasting = True
            case "text":
                self._type(match.group().decode(errors="replace"))
            case "control":
                self._control(match.group()[0], newline_sends)
            case "alt":
                self._alt(match.group()[1])
            case "csi":
                self._sequence(match["params"] or b"", match["final"] or b"")
            case "shift3":
                self._sequence(b"", match.group()[2:])
            case "broken":
                self._lose_track()
            case _:
                pass

    def _type(self, text: str) -> None:
        self._line += text
        self._at_start = False
        if len(self._line) > _LONGEST_LINE:
            # What is longer is a draft for certain; how long does not matter.
            self._line = self._line[-_LONGEST_LINE:]
            self._sure = False

    def _control(self, key: int, newline_sends: bool) -> None:
        if key == _ENTER or (key == _NEWLINE and newline_sends):
            self._enter()
        elif key == _NEWLINE:
            self._type("\n")
        elif key in _CLEARS or (key == _CTRL_K and self._at_start):
            self._clear()
        elif key in _RUBS_OUT:
            self._rub_out(1)
        elif key == _CTRL_U:
            self._clear_line()
        elif key == _CTRL_W:
            self._rub_out(len(self._line) - len(self._line.rstrip().rpartition(" ")[0]))
        elif key in (_CTRL_V, _CTRL_Y):
            self._type("\ufffd")
            self._sure = False
        else:
            self._move(key)

    def _move(self, key: int) -> None:
        if key == _CTRL_E:
            self._at_start = self._moved = False
        elif key == _CTRL_A:
            self._wander()
            self._at_start = True
        elif key == _CTRL_B:
            self._wander()
        elif key in _RECALLS:
            self._recall()
        elif key in _UNSURE:
            self._lose_track()

    def _alt(self, key: int) -> None:
        """Alt-Enter begins a new line in the composer, Alt-. fetches an earlier word; other letters move or delete."""
        if key in (_ENTER, _NEWLINE):
            self._type("\n")
        elif key in _ALT_RECALLS:
            self._recall()
        else:
            self._wander()

    def _recall(self) -> None:
        """Something from the history may stand in the line now: a command that nobody has pressed Enter for."""
        self._line = self._line or "\ufffd"
        self._sure = False

    def _sequence(self, params: bytes, final: bytes) -> None:
        if final == b"u":
            self._reported(params.split(b";"))
        elif final == b"~" and params.startswith(b"27;"):
            fields = params.split(b";")
            self._reported([fields[2], fields[1]] if len(fields) > 2 else [])
        elif final == b"A":
            self._recall()
        elif final in (b"D", b"H") or (final == b"~" and params in _HOME):
            self._wander()
        elif final == b"F" or (final == b"~" and params in _END):
            self._moved = False
        elif final in (b"B", b"C", b"~"):
            self._lose_track()

    def _reported(self, fields: list[bytes]) -> None:
        """A key in the kitty or ``modifyOtherKeys`` form: its code, its modifiers, press or release."""
        code = _number(fields[0] if fields else b"")
        modifiers, _, kind = (fields[1] if len(fields) > 1 else b"").partition(b":")
        # Caps Lock and Num Lock change nothing.
        held = max(0, _number(modifiers) - 1) & 0x3F
        code = _KEYPAD.get(code, code)
        if kind == b"3" or not code:
            return
        if held & _CONTROL_KEY:
            self._control(code & 0x1F, newline_sends=False)
        elif code in (_ENTER, 0x7F, _TAB, 0x1B):
            self._type("\n") if code == _ENTER and held else self._control(code, newline_sends=False)
        elif code < 0xE000 or code > 0xF8FF:
            self._type(chr(min(code, 0x10FFFF)))

    def _enter(self) -> None:
        # A backslash before Enter goes on with the line, in shells and in composers.
        self._type("\n") if self._line.endswith("\\") else self._clear()

    def _rub_out(self, count: int) -> None:
        if self._sure and count:
            self._line = self._line[:-count]

    def _clear_line(self) -> None:
        # A composer clears line by line; a second press takes the end of the line before.
        line = self._line[:-1] if self._line.endswith("\n") else self._line[: self._line.rfind("\n") + 1]
        if self._moved:
            # What stood behind the cursor is still there.
            self._line, self._sure = self._line or "\ufffd", False
            return
        self._line = line
        self._sure = self._sure or not line

    def _wander(self) -> None:
        """The cursor goes back into the line."""
        self._lose_track()
        self._moved = bool(self._line)

    def _lose_track(self) -> None:
        self._sure = self._sure and not self._line
        self._at_start = False

    def _clear(self) -> None:
        self._line, self._sure, self._at_start, self._moved = "", True, False, False


def _overlap(data: bytes, mark: bytes) -> int:
    """How many bytes at the end of ``data`` may be the beginning of ``mark``."""
    return next((size for size in range(len(mark) - 1, 0, -1) if data.endswith(mark[:size])), 0)


def _number(digits: bytes) -> int:
    digits = digits.split(b":")[0]
    return int(digits) if digits.isdigit() and len(digits) < 8 else 0

"""Modes: which terminal modes a program has switched on, read from its output at almost no cost."""

import re
from collections.abc import Callable, Container
from typing import Final

_ESC: Final = b"\x1b"
_LONGEST: Final = 64
"""A sequence longer than this is none of ours; a half of one that is as long is not waited for."""

_SWITCH: Final = re.compile(rb"\x1b(?:\[(?:\?([0-9;]{1,60})([hl])|([<>=])([0-9;]{0,20})u|>4(?:;([0-9]))?m|(!p))|(c)|([=>]))")
_HALF: Final = re.compile(rb"\x1b(?:\[(?:\?[0-9;]*|[<>=][0-9;]*|!)?)?\Z")

PASTE: Final = 2004
CURSOR: Final = 25
CURSOR_KEYS: Final = 1
ALTERNATE: Final = frozenset({47, 1047, 1049})
KEPT: Final = frozenset({1, 9, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, PASTE}) | ALTERNATE
"""Modes that change what the terminal sends or shows; those still on at the end are switched off for the next program."""
_KEYPAD: Final = 66
_KEYPAD_NAMES: Final = (b"\x1b>", b"\x1b=")
"""Off and on, by the only names that every terminal knows."""


class Modes:
    """The modes that the output so far left behind; a sequence split over reads at any byte is still one sequence."""

    __slots__ = ("_half", "_keyboards", "_modified_keys", "changed", "cursor_shown", "on", "reads_lines")

    def __init__(self) -> None:
        self.on: set[int] = set()
        self.cursor_shown = True
        self.changed: Callable[[], None] = lambda: None
        """Called whenever a mode may have changed, before the sequence that changes it is shown."""
        self.reads_lines = False
        """True if somebody has said that the program, whatever it does to the terminal, reads lines."""
        # What was asked for by the kitty keyboard protocol, apart for the main and the alternate screen.
        self._keyboards: dict[bool, list[bytes]] = {False: [], True: []}
        self._modified_keys = b""
        self._half = b""
        """Hears all that is fed: somebody who has to know more of the terminal than its modes."""

    @property
    def paste(self) -> bool:
        """True if the program last asked for bracketed paste."""
        return PASTE in self.on

    @property
    def alternate(self) -> bool:
        """True if the program draws on the alternate screen."""
        return not ALTERNATE.isdisjoint(self.on)

    @property
    def full_screen(self) -> bool:
        """True if the program takes keys as commands: on the alternate screen or, as ``top`` and ``less -X``, without it.

        What takes the cursor keys of applications and no paste reads no lines.
        """
        return not self.reads_lines and (self.alternate or (CURSOR_KEYS in self.on and not self.paste))

    @property
    def half(self) -> bool:
        """True if the output stopped inside a sequence that may be one of ours."""
        return bool(self._half)

    def feed(self, chunk: bytes) -> bool:
        """Read the next bytes; True if a mode may have changed."""
        # One search for a byte is all that ordinary output costs.
        if not self._half and chunk.find(_ESC) < 0:
            return False
        data = self._half + chunk
        found = False
        for match in _SWITCH.finditer(data):
            found = True
            self._apply(match)
        half = _HALF.search(data, max(0, len(data) - _LONGEST))
        self._half = half.group() if half else b""
        if found:
            self.changed()
        return found

    def undo(self, *, but: Container[int] = ()) -> bytes:
        """What to write so that the next program finds the terminal as it is usual; modes in ``but`` are left alone."""
        parts = [_pop(self._keyboards[True])] if self.alternate else []
        parts += [_switch(mode, on=False) for mode in sorted(self.on & KEPT, reverse=True) if mode not in but]
        parts += [_pop(self._keyboards[False])]
        parts += [b"\x1b[>4m"] if self._modified_keys else []
        parts += [] if self.cursor_shown else [b"\x1b[?25h"]
        return b"".join(parts)

    def redo(self) -> bytes:
        """What to write after ``undo`` so that the program finds the terminal as it had it."""
        parts = [_push(self._keyboards[False])]
        parts += [_switch(mode, on=True) for mode in sorted(self.on & ALTERNATE)]
        parts += [_push(self._keyboards[True])] if self.alternate else []
        return b"".join(parts) + self.again()

    def again(self) -> bytes:
        """What to write if somebody else may have changed modes meanwhile: all that may be said twice."""
        parts = [_switch(mode, on=True) for mode in sorted((self.on & KEPT) - ALTERNATE)]
        parts += [b"\x1b[>4;%sm" % self._modified_keys] if self._modified_keys else []
        parts += [] if self.cursor_shown else [b"\x1b[?25l"]
        return b"".join(parts)

    def _apply(self, match: re.Match[bytes]) -> None:
        numbers, verb, keyboard, argument, modified, soft, hard, keypad = match.groups()
        if numbers:
            for number in numbers.split(b";"):
                self._set(int(number or b"0"), verb == b"h")
        elif keyboard:
            self._keyboard(keyboard, argument)
        elif keypad:
            self._set(_KEYPAD, keypad == b"=")
        elif hard:
            self.on.clear()
            self.cursor_shown = True
            self._keyboards = {False: [], True: []}
            self._modified_keys = b""
        elif soft:
            self.cursor_shown = True
        else:
            self._modified_keys = (modified or b"").strip(b"0")

    def _set(self, number: int, value: bool) -> None:
        if number == CURSOR:
            self.cursor_shown = value
        elif value:
            self.on.add(number)
        elif number in ALTERNATE:
            # 47, 1047 and 1049 are three ways in and out of one screen.
            self.on -= ALTERNATE
        else:
            self.on.discard(number)

    def _keyboard(self, verb: bytes, argument: bytes) -> None:
        # ">" pushes a way of reporting keys, "<" takes some away again, "=" changes the last.
        asked, first = self._keyboards[self.alternate], argument.split(b";")[0]
        if verb == b">":
            asked.append(first)
        elif verb == b"<":
            del asked[max(0, len(asked) - int(first or b"1")) :]
        elif asked:
            asked[-1] = first


def _switch(mode: int, *, on: bool) -> bytes:
    return _KEYPAD_NAMES[on] if mode == _KEYPAD else b"\x1b[?%d%c" % (mode, b"lh"[on])


def _push(keyboards: list[bytes]) -> bytes:
    return b"".join(b"\x1b[>%su" % flags for flags in keyboards)


def _pop(keyboards: list[bytes]) -> bytes:
    return b"\x1b[<%du" % len(keyboards) if keyboards else b""

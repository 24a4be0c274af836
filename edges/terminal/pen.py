"""Pen: how a program's next character would be drawn — colours, fonts and character sets — and how to say that again."""

from collections.abc import Iterable, Iterator
from typing import Final

_DEFAULT_SET: Final = "B"
_SHIFTS: Final = (b"\x0f", b"\x0e", b"\x1bn", b"\x1bo")
"""What invokes G0 to G3."""
_COLOURS: Final = ("38", "48", "58")
_ENDS: Final = {
    "22": ("1", "2"), "23": ("3",), "24": ("4",), "25": ("5",), "27": ("7",), "28": ("8",), "29": ("9",), "39": ("38",),
    "49": ("48",), "54": ("51",), "55": ("53",), "59": ("58",), "10": ("11",), "65": ("60",), "75": ("73",), "50": ("26",),
}  # fmt: skip
"""What switches something off → the properties that are off then."""
_SAME: Final = {"6": "5", "21": "4", "52": "51", "74": "73", "61": "60", "62": "60", "63": "60", "64": "60"}
"""Values of one property → the name that it has here."""


class Pen:
    """Attributes (SGR), the four character sets, which of them is in use, and whether rows count from the region's top."""

    __slots__ = ("_properties", "origin", "sets", "shift")

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}
        self.sets: dict[str, str] = {}
        """``(``, ``)``, ``*``, ``+`` … → what was designated there."""
        self.shift = 0
        self.origin = False

    @property
    def dim(self) -> bool:
        """True while it writes with less light."""
        return "2" in self._properties

    @property
    def colour(self) -> str:
        """The parameters that chose the colour of what it writes; empty for the terminal's own."""
        return self._properties.get("38", "")

    def copy(self) -> "Pen":
        """Another one that draws alike."""
        other = Pen()
        other._properties, other.sets = dict(self._properties), dict(self.sets)
        other.shift, other.origin = self.shift, self.origin
        return other

    def style(self, params: str) -> None:
        """Take in the parameters of an SGR sequence."""
        for param in _whole(params):
            number = param.replace(":", ";").split(";")[0]
            if number in ("", "0"):
                self._properties.clear()
            elif number in _ENDS or param == "4:0":
                for name in _ENDS.get(number, ("4",)):
                    self._properties.pop(name, None)
            else:
                self._properties[_property(number)] = param

    def plain(self) -> bytes:
        """What makes the terminal draw ASCII as ASCII, and count rows from the top of the screen."""
        origin = b"\x1b[?6l" if self.origin else b""
        shift = _SHIFTS[0] if self.shift else b""
        return origin + shift + (b"" if self.sets.get("(", _DEFAULT_SET) == _DEFAULT_SET else b"\x1b(B")

    def again(self, known: Iterable[str] = ()) -> bytes:
        """What makes the terminal draw like this. Sets in ``known`` are said although they were never designated here."""
        style = ";".join(("0", *self._properties.values()))
        sets = "".join(f"\x1b{name}{self.sets.get(name, _DEFAULT_SET)}" for name in sorted({*self.sets, *known}))
        return f"\x1b[{style}m{sets}".encode() + _SHIFTS[self.shift]


def _property(number: str) -> str:
    value = int(number) if number.isdigit() else 0
    if 30 <= value <= 38 or 90 <= value <= 97:
        return "38"
    if 40 <= value <= 48 or 100 <= value <= 107:
        return "48"
    if 11 <= value <= 20:
        return "11"
    return _SAME.get(number, number)


def _whole(params: str) -> Iterator[str]:
    """Each parameter; a colour with what belongs to it, ``38;5;1`` or ``38;2;1;2;3``."""
    parts = iter(params.split(";"))
    for part in parts:
        if part not in _COLOURS:
            yield part.lstrip("0")
            continue
        kind = next(parts, "5")
        yield ";".join((part, kind, *(next(parts, "0") or "0" for _ in range({"5": 1, "2": 3}.get(kind, 0)))))

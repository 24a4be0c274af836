"""Rules as data: what a rule looks for, what it leaves, and the cheap sign that it may be needed at all."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

Leave = str | Callable[[re.Match[str]], str]
"""What stands in the place of a match: a template, or a function where the match has to be looked at."""
Substitute = Callable[[Leave, str], str]


class Rule(NamedTuple):
    """One kind of noise. A text that shows none of its ``signs`` is never searched."""

    name: str
    pattern: re.Pattern[str]
    leave: Leave
    signs: frozenset[str]


def rule(name: str, pattern: str, leave: Leave, *signs: str) -> Rule:
    """A rule from its pattern. Signs are words of letters (``"pid ms"``) or one of the marks of ``Signs``."""
    return Rule(name, re.compile(pattern), leave, frozenset(word for sign in signs for word in sign.split()))


def alternatives(words: str) -> str:
    """The words as a group of a pattern, longest first, so that no word hides a longer one."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words.split(), key=lambda word: (-len(word), word))) + ")"


_LETTERS: Final = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256))
_SHAPE: Final = bytes(48 if chr(code) in "0123456789abcdef" else code for code in range(256))
_SYMBOLS: Final = "%$#?<[>@×"
"""Characters that are signs by themselves: rare in text, and one look for each costs next to nothing."""
_SHAPES: Final = ((b"0000000", "hex"), (b"-00-00", "date"), (b":0", "colon"), (b"0x0", "address"), (b"/0", "slash"), (b"(0", "paren"), (b":00:00:", "octets"))
"""Shapes of a text whose hexadecimal digits have all become ``0``."""


class Rules:
    """A table of rules in the order in which they apply."""

    def __init__(self, table: Sequence[Rule]) -> None:
        self.table: Final = tuple(table)
        self._bits: Final[dict[str, int]] = {}
        for place, each in enumerate(self.table):
            for sign in each.signs:
                self._bits[sign] = self._bits.get(sign, 0) | 1 << place
        self._always: Final = self._bits.pop("always", 0)
        self._symbols: Final = tuple((symbol, self._bits.pop(symbol)) for symbol in _SYMBOLS if symbol in self._bits)
        self._shapes: Final = tuple((shape, self._bits.pop(f"~{name}")) for shape, name in _SHAPES if f"~{name}" in self._bits)
        self._words: Final = frozenset(word.encode() for word in self._bits)
        self._by_word: Final = {word.encode(): bits for word, bits in self._bits.items()}
        self._plan: Final = lru_cache(maxsize=1024)(self._choose)

    def needed(self, text: str) -> tuple[Rule, ...]:
        """The rules whose sign the text shows, in order."""
        return tuple(each for place, each in enumerate(self.table) if self._signs(text) >> place & 1)

    def apply(self, text: str) -> str:
        """The text after all rules."""
        for substitute, leave in self._plan(self._signs(text)):
            text = substitute(leave, text)
        return text

    def _choose(self, bits: int) -> tuple[tuple[Substitute, Leave], ...]:
        return tuple((each.pattern.sub, each.leave) for place, each in enumerate(self.table) if bits >> place & 1)

    def _signs(self, text: str) -> int:
        found = self._always
        octets = text.encode("utf-8", "surrogatepass")
        for word in self._words.intersection(octets.translate(_LETTERS).split()):
            found |= self._by_word[word]
        for symbol, bits in self._symbols:
            if symbol in text:
                found |= bits
        shaped = octets.translate(_SHAPE)
        for shape, bits in self._shapes:
            if shape in shaped:
                found |= bits
        return found

"""Rules as data: what a rule looks for, what it leaves, and the cheap sign without which it is never tried.

A pattern must begin with a letter, a character or a class of digits (a boundary to the left is looked at afterwards, with a
lookbehind), because only then does the search skip at the speed of C what cannot match. It must not look twice at the same
stretch of text: every repeat is bounded or ends where the next attempt begins.
"""

import re
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Final, TypedDict, Unpack

Leave = str | Callable[[re.Match[str]], str]
"""What stands in the place of a match: a template, or a function where the match has to be looked at."""


class Rule:
    """One kind of noise. A text that shows none of its signs is never searched for it."""

    def __init__(self, name: str, expression: str, leave: Leave, signs: str, **only: Unpack["_Only"]) -> None:
        self.name: Final = name
        self.leave: Final = leave
        self.signs: Final = frozenset(signs.split())
        self.digits: Final = only.get("digits", True)
        self.start: Final = only.get("start", False)
        self.also: Final = only.get("also", "")
        self._expression: Final = expression

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when the first text shows a sign of it: most programs never need most of the rules.

        Words and digits are those of ASCII, because Unicode's differ from one Python to the next.
        """
        return re.compile(self._expression, re.ASCII)


class _Only(TypedDict, total=False):
    """When a rule is tried at all, besides its signs."""

    digits: bool
    """Only in a text with a digit; so if nothing else is said."""
    start: bool
    """Only at the beginning of the text."""
    also: str
    """Only in a text of this shape."""


def rule(name: str, expression: str, leave: Leave, signs: str, **only: Unpack[_Only]) -> Rule:
    """A rule from its pattern.

    ``signs`` is a list with spaces of words of the text (letters only: ``"pid"``), of words right after a number (``"0ms"``,
    with or without a space in the text), of the characters in ``SYMBOLS``, of the names in ``SHAPES`` after a ``~``, or
    ``always``.
    """
    if isinstance(leave, str) and "\\" in leave:  # a template with a group would be looked up at every call, match or not
        head, tail = leave.split("\\1")
        leave = partial(_filled, head, tail)
    return Rule(name, expression, leave, signs, **only)


def _filled(head: str, tail: str, found: re.Match[str]) -> str:
    return f"{head}{found[1] or ''}{tail}"


def counted(words: str) -> str:
    """The words as signs that only count right after a number."""
    return " ".join(f"0{word}" for word in words.split())


def after(name: str, words: str, rest: str, leave: Leave, *, left: str = r"\w", **only: Unpack[_Only]) -> tuple[Rule, ...]:
    """One rule for each of the words: the word, not preceded by ``left``, then ``rest``. In ``leave``, ``{}`` is the word."""

    def one(word: str) -> Rule:
        left_ = leave.format(word) if isinstance(leave, str) else leave
        return rule(name, f"{word}(?<!{left}{word}){rest}", left_, word, **only)

    return tuple(one(word) for word in words.split())


def any_of(words: str) -> str:
    """The words as a group of a pattern that reads each letter once, longest word first."""
    heads: dict[str, list[str]] = {}
    for word in words.split():
        heads.setdefault(word[:1], []).append(word[1:])
    return _branches(heads)


def _branches(heads: dict[str, list[str]]) -> str:
    optional = "?" if heads.pop("", None) else ""
    branches = []
    for letter, tails in heads.items():
        inner: dict[str, list[str]] = {}
        for tail in tails:
            inner.setdefault(tail[:1], []).append(tail[1:])
        branches.append(re.escape(letter) + (_branches(inner) if any(tails) else ""))
    return f"(?:{'|'.join(branches)}){optional}" if len(branches) > 1 or optional else branches[0]


SYMBOLS: Final = "?<>@%$#'\"`/\\=.-("
WIDE_SYMBOLS: Final = "×─━═µμ"
"""Characters that are signs by themselves."""
SHAPES: Final = (
    "colon pair clock octets date slash fraction paren bracket dashes number-first rule-first hex long-number address long"
)
"""Looks of a text, most of them of one whose digits have all become ``0`` (see ``Rules._shape``)."""
_WORDS: Final = bytes(code if 97 <= code <= 122 else 48 if 48 <= code <= 57 else 32 for code in range(256))
_DIGIT: Final = bytes(48 if 48 <= code <= 57 else code for code in range(256))
_HEX: Final = bytes(48 if chr(code) in "0123456789abcdef" else code for code in range(256))
_ALNUM: Final = bytes(48 if code < 128 and chr(code).isalnum() else 32 for code in range(256))
_Substitute = Callable[[Leave, str], str]


def _spellings(sign: str) -> Iterable[str]:
    """The tokens of a text that show a sign.

    In a token every digit is ``0``. The last digit before a space has moved to the word behind the space, so that ``12 errors``
    is ``0`` and ``0errors``, and ``(x3) a`` is ``x`` and ``0`` and ``a``.
    """
    first, *more = sign.split("0")
    if more and not first:
        first, *more = more
        yield from (f"{'0' * digits}{first}{tail}" for digits in range(1, 8) for tail in _tails(more))
    else:
        yield from (f"{'0' * digits}{first}" for digits in range(8))
        yield from (f"{first}{'0' * digits}" for digits in range(1, 8))


def _tails(words: list[str]) -> list[str]:
    return ["".join(part) for part in product(*([f"0{word}", f"00{word}"] for word in words))]


def _at_start(pattern: re.Pattern[str]) -> _Substitute:
    def substitute(leave: Leave, text: str) -> str:
        found = pattern.match(text)
        if not found:
            return text
        return (leave(found) if callable(leave) else leave) + text[found.end() :]

    return substitute


class Rules:
    """A table of rules in the order in which they apply. Its patterns see lower case and single spaces."""

    def __init__(self, table: Iterable[Rule]) -> None:
        self.table: Final = tuple(table)
        bits: dict[str, int] = {}
        for place, each in enumerate(self.table):
            for sign in each.signs:
                bits[sign] = bits.get(sign, 0) | 1 << place
        self._digitless: Final = sum(1 << place for place, each in enumerate(self.table) if not each.digits)
        self._always: Final = bits.pop("always", 0)
        self._symbols: Final = tuple((symbol, bits.pop(symbol)) for symbol in SYMBOLS if symbol in bits)
        self._wide: Final = tuple((symbol, bits.pop(symbol)) for symbol in WIDE_SYMBOLS if symbol in bits)
        # Above the bits of the rules stands one for each shape, for the rules that need a shape as well as a sign.
        self._flags: Final = {name: 1 << len(self.table) + place for place, name in enumerate(SHAPES.split())}
        self._shapes: Final = {name: bits.pop(f"~{name}", 0) | flag for name, flag in self._flags.items()}
        self._tokens: Final[dict[bytes, int]] = {}
        for sign, bit in bits.items():
            if not re.fullmatch(r"0?[a-z]+(?:0[a-z]+)*", sign):
                raise ValueError(f"no such sign: {sign}")
            for token in _spellings(sign):
                self._tokens[token.encode()] = self._tokens.get(token.encode(), 0) | bit
        self._known: Final = frozenset(self._tokens)
        self._plan: Final = lru_cache(maxsize=1024)(self._choose)
        self._rules: Final = lru_cache(maxsize=64)(self._list)

    def needed(self, text: str) -> tuple[Rule, ...]:
        """The rules of which the text shows a sign, in order."""
        return self._rules(self._signs(text))

    def apply(self, text: str) -> str:
        """The text after all rules, with single spaces, if it came with single spaces."""
        plan = self._plan(self._signs(text))
        if not plan:
            return text
        for substitute, leave in plan:
            text = substitute(leave, text)
        return " ".join(text.split()) if "  " in text or text.strip() != text else text

    def _list(self, bits: int) -> tuple[Rule, ...]:
        signed = [each for place, each in enumerate(self.table) if bits >> place & 1]
        return tuple(each for each in signed if not each.also or bits & self._flags[each.also])

    def _choose(self, bits: int) -> tuple[tuple[_Substitute, Leave], ...]:
        return tuple((_at_start(each.pattern) if each.start else each.pattern.sub, each.leave) for each in self._list(bits))

    def _signs(self, text: str) -> int:
        octets = text.encode("utf-8", "surrogatepass")
        found = self._always
        shaped = octets.translate(_DIGIT)
        digits = shaped.decode("latin-1")
        words = octets.translate(_WORDS)
        numbers = "0" in digits
        if numbers:
            found |= self._shape(text, digits, shaped)
            words = words.replace(b"0 ", b" 0")
        tokens = self._tokens
        for token in self._known.intersection(words.split()):
            found |= tokens[token]
        for symbol, bits in self._symbols:
            if symbol in text:
                found |= bits
        if len(octets) != len(text):
            for symbol, bits in self._wide:
                if symbol in text:
                    found |= bits
        return found if numbers else found & self._digitless

    def _shape(self, text: str, digits: str, octets: bytes) -> int:
        """The signs that lie in how digits and punctuation stand together, each behind the rarest of its characters."""
        shapes = self._shapes
        found = 0
        if ":" in text and ":0" in digits:
            found = shapes["colon"]
            if "0:0" in digits:
                found |= shapes["pair"] | (shapes["clock"] if "0:00:0" in digits else 0)
            if text.count(":") >= 5:
                found |= shapes["octets"]
        if "/" in text and "/0" in digits:
            found |= shapes["slash"] | (shapes["fraction"] if "0/0" in digits else 0)
        if "(" in text and "(0" in digits:
            found |= shapes["paren"]
        if "[" in text:
            found |= (shapes["bracket"] if "[0" in digits else 0) | (shapes["dashes"] if "--- [" in text else 0)
        if "-" in text and "-00-00" in digits:
            found |= shapes["date"]
        if "0x" in text:
            found |= shapes["address"]
        if digits[0] == "0":
            found |= shapes["number-first"]
        elif digits[0] == "=":
            found |= shapes["rule-first"]
        octets = octets.translate(_HEX)
        hexadecimal = octets.decode("latin-1")
        if "0000000" in hexadecimal:
            found |= shapes["hex"] | (shapes["long-number"] if "000000000" in digits else 0)
        if "0000000000000000" in octets.translate(_ALNUM).decode("latin-1"):
            found |= shapes["long"]
        return found

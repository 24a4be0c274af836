"""Effort: no pattern and no rule looks at a stretch of text again and again. Steps are counted, not timed."""

import re
import sys
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from tocsin.pipeline import canonical_strict, volatile
from tocsin.pipeline.canonical_loose import LOOSE
from tocsin.pipeline.volatile import STANDARD

PIECES = [
    "a", "1", "a ", "1 ", "a.", "1.", "-", "/", "/1", "\\", "'", "'a", '"', "(", "(1", "[1", "[1:", "{a", ":", ":1", "1:1 ",
    "10:10:10 ", "\x1b", "\x1b[1", "\x1b]8;;a", "]0;a", "x1", "0x1 ", "id=", "id: a/", "http://a/1", "a.py:1", "a.py(1,",
    "get /",
    "at a (node:", "assert '", "expected 1 to ", "data:a/a;", "1m1", "1,000", "1 of ", "<a>", "thread '",
    "goroutine 1 [a", "1 error ",
    "failed a - assert ", "a.b.", "com.a.", "a={", "/tmp/a", "aa:", "0a", "~\n1 a\n", "1mA", "jan 1 ", "users\\a\\appdata\\",
]  # fmt: skip
CATEGORIES = {
    op.CATEGORY_DIGIT: str.isdigit,
    op.CATEGORY_NOT_DIGIT: lambda c: not c.isdigit(),
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    op.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    op.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}


def _word(text, place):
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")


class Walk:
    """A backtracking matcher that does what the one of the standard library does, and counts its steps."""

    def __init__(self, pattern, text):
        self.tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
        self.text = text
        self.steps = 0
        self.groups = {}

    def search_all(self, start_only=False):
        place = 0
        while place <= len(self.text):
            ends = []
            if self.run(self.tree, 0, place, lambda end, ends=ends: bool(ends.append(end)) or True) and ends[0] > place:
                place = ends[0]
            else:
                place += 1
            if start_only:
                break
        return self.steps

    def one(self, kind, value, place):
        """Whether the character at ``place`` is the one, for nodes that are one character wide."""
        if place >= len(self.text):
            return False
        char = self.text[place]
        match kind:
            case op.LITERAL:
                return ord(char) == value
            case op.NOT_LITERAL:
                return ord(char) != value
            case op.ANY:
                return char != "\n"
            case op.IN:
                items = list(value)
                negate = items[0][0] is op.NEGATE
                return negate != any(self._among(item, char) for item in items[negate:])
        raise NotImplementedError(kind)

    @staticmethod
    def _among(item, char):
        match item:
            case (op.LITERAL, code):
                return ord(char) == code
            case (op.RANGE, (low, high)):
                return low <= ord(char) <= high
            case (op.CATEGORY, category):
                return CATEGORIES[category](char)
        raise NotImplementedError(item)

    def run(self, nodes, index, place, then):  # noqa: PLR0911
        if index == len(nodes):
            return then(place)
        self.steps += 1
        kind, value = nodes[index]

        def rest(end):
            return self.run(nodes, index + 1, end, then)

        match kind:
            case op.LITERAL | op.NOT_LITERAL | op.ANY | op.IN:
                return self.one(kind, value, place) and rest(place + 1)
            case op.BRANCH:
                return any(self.run(branch, 0, place, rest) for branch in value[1])
            case op.SUBPATTERN:
                return self.run(value[3], 0, place, lambda end: self._grouped(value[0], place, end, rest))
            case op.GROUPREF:
                start, end = self.groups[value]
                same = self.text[start:end]
                return self.text.startswith(same, place) and rest(place + len(same))
            case op.ASSERT | op.ASSERT_NOT:
                return self._looked(value, place) == (kind is op.ASSERT) and rest(place)
            case op.AT:
                return self._at(value, place) and rest(place)
            case op.MAX_REPEAT | op.MIN_REPEAT:
                return self._repeated(kind, value, place, rest)
        raise NotImplementedError(kind)

    def _grouped(self, number, start, end, rest):
        self.groups[number] = (start, end)
        return rest(end)

    def _looked(self, value, place):
        direction, nodes = value
        start = place if direction > 0 else place - nodes.getwidth()[0]
        return start >= 0 and self.run(nodes, 0, start, lambda _: True)

    def _at(self, where, place):
        match where:
            case op.AT_BEGINNING | op.AT_BEGINNING_STRING:
                return place == 0 or (where is op.AT_BEGINNING and self.text[place - 1] == "\n")
            case op.AT_END | op.AT_END_STRING:
                return place == len(self.text)
        boundary = _word(self.text, place - 1) != _word(self.text, place)
        return boundary == (where is op.AT_BOUNDARY)

    def _repeated(self, kind, value, place, rest):
        least, most, nodes = value
        most = len(self.text) if most is op.MAXREPEAT else int(most)
        if len(nodes) == 1 and nodes[0][0] in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            found = 0
            while found < most and self.one(*nodes[0], place + found):
                self.steps += 1
                found += 1
            counts = range(found, least - 1, -1) if kind is op.MAX_REPEAT else range(least, found + 1)
            return any(rest(place + count) for count in counts)
        return self._several(kind, nodes, (least, most), place, rest)

    def _several(self, kind, nodes, bounds, place, rest):
        least, most = bounds

        def once():
            return most > 0 and self.run(nodes, 0, place, again)

        def again(end):
            return end > place and self._several(kind, nodes, (max(0, least - 1), most - 1), end, rest)

        if least > 0:
            return once()
        return (once() or rest(place)) if kind is op.MAX_REPEAT else (rest(place) or once())


RULES = [*STANDARD.table, *LOOSE.table]
CODES = "COLOUR FORWARD ESCAPES BARE_OSC INVISIBLE SPELT_COLOUR BARE_COLOUR GLUED_COLOUR"


def searched():
    """Every pattern that a text is searched for; of rules that differ in their word only, one."""
    alike = {re.sub(r"^[a-z]+\(\?<![^)]*\)", "", each.pattern.pattern): (each.pattern, each.start) for each in RULES}
    yield from alike.values()
    yield from ((getattr(canonical_strict, name), False) for name in CODES.split())
    yield from ((volatile.GUTTER, False), (volatile.BUNDLED, False))
    yield from ((volatile.SUBSCRIPT, False), (volatile.SUBTEST, False))


@pytest.fixture(autouse=True)
def deep():
    """A matcher written in Python needs a frame for each character of some repeats."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    yield
    sys.setrecursionlimit(limit)


def steps(pattern, start, piece, length):
    text = (piece * length)[:length]
    return Walk(pattern, text).search_all(start)


@pytest.mark.parametrize("piece", PIECES)
def test_the_steps_of_every_pattern_grow_with_the_length_of_the_text(piece):
    worst = {}
    for pattern, start in searched():
        if steps(pattern, start, piece, 64) > 16 * 64:  # else it is far from any square
            short, long = steps(pattern, start, piece, 500), steps(pattern, start, piece, 1_000)
            if long > 2.5 * short:
                worst[pattern.pattern] = (short, long)
    assert worst == {}


def test_the_counting_matcher_sees_a_square_where_there_is_one():
    square = re.compile("a+b")
    assert steps(square, False, "a", 400) > 3.5 * steps(square, False, "a", 200)
    assert Walk(re.compile("(a|b)+c"), "xababcx").search_all() > 0


class Counted(str):
    """A text that counts the characters which a function makes it look at."""

    looked = 0

    def __getitem__(self, key):
        part = super().__getitem__(key)
        Counted.looked += len(part)
        return part

    def __contains__(self, part):
        Counted.looked += len(self)
        return super().__contains__(part)

    def partition(self, mark):
        Counted.looked += len(self)
        return super().partition(mark)

    def rpartition(self, mark):
        Counted.looked += len(self)
        return super().rpartition(mark)


@pytest.mark.parametrize("piece", PIECES)
def test_the_functions_of_the_rules_look_only_near_their_match(piece):
    def looked(each, length):
        Counted.looked = 0
        each.pattern.sub(each.leave, Counted((piece * length)[:length]))
        return Counted.looked

    for each in RULES:
        if callable(each.leave):
            assert looked(each, 4_000) <= 2.2 * looked(each, 2_000) + 400, each.pattern.pattern

"""Volatile: what is certain to change from one occurrence of a message to the next, and nothing that tells two messages apart.

Ports, exit codes, status codes, error codes, signals, versions, names of encodings and plain numbers stay: they are meaning.
"""

import re
from typing import Final

from .canonical_addresses import ADDRESS_RULES
from .canonical_clocks import SPAN_RULES, TIME_RULES
from .canonical_counts import ASSERTION_RULES, COUNT_RULES
from .canonical_ids import ID_RULES, PROCESS_RULES
from .canonical_places import PLACE_RULES
from .canonical_rules import Rules
from .canonical_strict import collapse

STANDARD: Final = Rules((
    *ADDRESS_RULES, *TIME_RULES, *ID_RULES, *SPAN_RULES, *PLACE_RULES, *PROCESS_RULES, *COUNT_RULES, *ASSERTION_RULES
))  # fmt: skip
"""The order matters: an address is looked at while it is whole, a clock before its colons could be lines and columns."""

GUTTER: Final = re.compile(
    r"^(?:[ \t>]{0,40}[0-9]{1,7}[ \t]{0,8}[|│]|[ \t]{1,40}[0-9]{1,7}:(?=[ \t])|[0-9]{1,7} (?=[^\n]*\n[ \t]*~))", re.MULTILINE
)
"""Line numbers beside quoted source."""
BUNDLED: Final = re.compile(r"[-.](?P<hash>[A-Za-z0-9_-]{8})(?=\.(?:js|css|mjs)\b)", re.ASCII)
"""A bundler's hash of eight letters and digits in a file's name, or a word of that length."""
_WORD: Final = re.compile(r"[A-Za-z_-]+[0-9]*|[^A-Z]+")


SUBSCRIPT: Final = re.compile(r"\[(?<=\w\[)[^\[\]\n]{0,300}(?:\[[^\[\]\n]{0,100}\][^\[\]\n]{0,100}){0,3}\]", re.ASCII)
SUBTEST: Final = re.compile(r"--- (?:FAIL|PASS|SKIP): \S+")
_TEST: Final = re.compile(r"(?:::\w{1,200}|\btest\w{0,200})$", re.ASCII | re.IGNORECASE)
_RANGE: Final = re.compile(r"\[(?:[0-9]+(?:ms|[smhdwy]))+(?::[0-9a-z]*)?\]")
_SHELF: Final = 0x100000
"""Where letters are out of the sight of every rule: a plane of Unicode that is nobody's."""
_AWAY: Final = {code: code + _SHELF for code in range(0x20, 0x7F)}
_BACK: Final = {code + _SHELF: code for code in range(0x20, 0x7F)}
_SHELVED: Final = re.compile("[\U00100020-\U0010007e]")


def _put_away(found: re.Match[str]) -> str:
    return collapse(found[0]).translate(_AWAY)


def _put_parameter_away(found: re.Match[str]) -> str:
    start = found.start()
    named = _RANGE.fullmatch(found[0]) or _TEST.search(found.string, max(0, start - 210), start)
    return _put_away(found) if named else found[0]


def put_away(text: str) -> str:
    """The text with what is a name whatever it looks like out of sight: parameters of tests, names of subtests, ``x[5m]``."""
    if ("[" not in text and "--- " not in text) or (not text.isascii() and _SHELVED.search(text)):
        return text
    return SUBTEST.sub(_put_away, SUBSCRIPT.sub(_put_parameter_away, text))


def put_back(text: str) -> str:
    """The text with what ``put_away`` took out of sight."""
    return text if text.isascii() else text.translate(_BACK)


def leave_bundled(found: re.Match[str]) -> str:
    """Tells a hash from a word by its case, and by the directory that bundlers write to."""
    name = found["hash"]
    if _WORD.fullmatch(name):
        letters = name.isalpha() and not name.islower() and not name.isupper()
        if not (letters and "assets/" in found.string[max(0, found.start() - 80) : found.start()]):
            return found[0]
    return f"{found[0][0]}<id>"


def unlined(text: str) -> str:
    """What can only be seen before lines are joined and case is gone: line numbers of source, hashes in mixed case."""
    if "\n" in text:
        text = GUTTER.sub("|", text)
    return BUNDLED.sub(leave_bundled, text) if ".js" in text or ".css" in text else text


def mask_standard(text: str) -> str:
    """The standard form of a core (see ``canonical_strict.core``)."""
    seen = put_away(text)
    lines = unlined(seen) if "\n" in seen or ".js" in seen or ".css" in seen else seen
    form = STANDARD.apply(collapse(lines))
    return (form if seen == text else put_back(form)) or collapse(text)  # where all is noise, none of it is

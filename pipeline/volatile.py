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
    r"^(?:[ \t>]{0,40}\d{1,7}[ \t]{0,8}[|│]|[ \t]{1,40}\d{1,7}:(?=[ \t])|\d{1,7} (?=[^\n]*\n[ \t]*~))", re.MULTILINE
)
"""Line numbers beside quoted source."""
BUNDLED: Final = re.compile(r"[-.](?P<hash>[A-Za-z0-9_-]{8})(?=\.(?:js|css|mjs)\b)")
"""A bundler's hash of eight letters and digits in a file's name, or a word of that length."""
_WORD: Final = re.compile(r"[A-Za-z_-]+[0-9]*|[^A-Z]+")


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
    lines = unlined(text) if "\n" in text or ".js" in text or ".css" in text else text
    return STANDARD.apply(collapse(lines)) or collapse(text)  # where all is noise, none of it is

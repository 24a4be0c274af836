"""Strict canonical form: what is true of any line of text, whoever wrote it. No control codes, one case, one space, no clock.

The order is: control codes off, then the time stamp in front and the ``:line:column`` at the end, both on the raw text, then
lower case and single spaces. What lies between the two steps is the *core*: texts with one core have one canonical form.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import Final

ESCAPES: Final = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\r\n]*(?:\x07|\x1b\\|\x9c)"  # OSC: titles, links
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)"  # DCS, SOS, PM, APC
    r"|(?:\x1b\]|\x9d)(?:[0-9]+;[^\x07\x1b\x9c\r\n]*)?"  # an OSC that never ends: gone up to the end of its line
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colour, cursor
    r"|\x1b[ -/]*[0-~]?"  # charset switches, two-character codes, a lone ESC
)
COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
"""The escape sequence that most are, taken off first because it is quick to find."""
FORWARD: Final = re.compile(r"(?:\x1b\[|\x9b)[0-9]*C")
"""Cursor forward: a terminal's way of writing spaces."""
BARE_OSC: Final = re.compile("\\][0-9]{1,4};[^\x07\x9c\r\n\\]]*[\x07\x9c]")
"""What is left of a title or link when something took the ESC away and left the end mark."""
INVISIBLE: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")
SPELT_COLOUR: Final = re.compile(r"(?:\^\[|\\x1b|\\u001b|\\033|\\e)\[[0-9;]{0,40}m", re.ASCII | re.IGNORECASE)
"""A colour code whose ESC is spelt out."""
_ON: Final = r"(?:0?[0-47-9]|2[1-9]|[34][0-9]|9[0-7]|10[0-7]|[0-9]{1,3}(?:;[0-9]{1,3}){1,8})"
_OFF: Final = r"(?:0?0|2[2-9]|[34]9)?"
BARE_COLOUR: Final = re.compile(
    rf"\[(?:(?<![A-Za-z0-9_\])]\[){_ON}m|{_OFF}m(?<=[0-9]m)|m(?![A-Za-z0-9_-]))(?![^\[\]\n]{{0,20}}\])"
)
"""A colour code without its ESC. Behind a word only one that ends a colour, and none where a ``]`` follows, because
``errors[5m]`` is five minutes and ``test_wait[30m]`` the parameter of a test."""
GLUED_COLOUR: Final = re.compile(
    r"[0-9](?<![A-Za-z0-9_.;][0-9])[0-9]{0,2}(?:;[0-9]{1,3}){0,8}m(?=[A-Z\[(])(\S{0,200}?)(?:0|39|49)m(?![A-Za-z0-9_])"
)
"""A colour code that has lost its bracket as well: only in pairs, because "2m" alone is two minutes or two metres, and only in
a text that begins with one."""
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
RARE_SPACE: Final = re.compile("[\x0b\x0c\x1c-\x1f]")
"""White space that nobody prints; the rest of ASCII's is looked for one by one."""

_END: Final = "(?![A-Za-z0-9_])"
"""The end of a word. What Unicode calls a letter differs from one Python to the next, so no pattern asks it."""
_HALF: Final = rf"(?:\s?[AaPp]\.?[Mm]{_END}\.?)"
_CLOCK: Final = rf"[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}})?(?:[.,][0-9]{{1,9}})?{_HALF}?"
_ZONE: Final = rf"(?:\s?(?:Z{_END}|UTC{_END}|GMT{_END}|[ECMP][SD]T{_END}|CES?T{_END}|[+-][0-9]{{2}}:?[0-9]{{2}}{_END})){{0,2}}"
_WEEKDAYS: Final = "Mon Tue Wed Thu Fri Sat Sun"
_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
_DAY: Final = rf"(?:(?:{_WEEKDAYS.replace(' ', '|')}),?\s)?"
_MONTH: Final = rf"(?:{_MONTHS.replace(' ', '|')})"
_NAMES: Final = frozenset(f"{_WEEKDAYS} {_MONTHS}".split())
_STAMP: Final = (
    rf"(?:[0-9]{{4}}[-/.][0-9]{{2}}[-/.][0-9]{{2}}(?:[Tt ]|\s-\s|,\s){_CLOCK}{_ZONE}"  # 2031-05-01 10:00:00,123
    rf"|[0-9]{{1,2}}[-/.][0-9]{{1,2}}(?:[-/.][0-9]{{2,4}})?,?\s{_CLOCK}{_ZONE}"  # 5/1/2031, 9:41:07 AM
    rf"|{_DAY}{_MONTH}\s{{1,2}}[0-9]{{1,2}}(?:,?\s[0-9]{{4}},?)?\s{_CLOCK}{_ZONE}(?:\s[0-9]{{4}}{_END})?"  # syslog, ctime
    rf"|{_DAY}[0-9]{{1,2}}[-/ ]{_MONTH}[-/ ][0-9]{{2,4}}[: ]{_CLOCK}{_ZONE}"  # mail, web server logs
    rf"|[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]{{1,9}})?{_HALF}?|{_HALF})"  # 9:41:07 AM
    rf"{_ZONE}|(?:1[5-9]|2[01])[0-9]{{8}}(?:\.[0-9]{{1,9}}|[0-9]{{3}})?(?=[\s\]]))"  # seconds or milliseconds since 1970
)
_PREFIX: Final = re.compile(
    rf"(?:[\[(<]\s?{_STAMP}\s?[\])>]|{_STAMP}(?![A-Za-z0-9_:])|\[\s{{0,5}}[0-9]{{1,6}}\.[0-9]{{6}}\])(?:\s?[-–—|:]{{1,2}}(?=\s))?\s*"
)
_GLOG: Final = re.compile(rf"([IWEFD])[0-9]{{4}} {_CLOCK}\s+(?:[0-9]+ )?")
"""A severity, month and day in one word, the time, the thread."""
_FIRST_OF_STAMP: Final = frozenset("0123456789[(<IWEFDMTSJFAON")
_TAIL: Final = re.compile(
    r":(?:(?<=[^0-9\s:]:)[0-9]{1,9}:[0-9]{1,9}|(?:(?<=\.[A-Za-z]{2}:)|(?<=\.[A-Za-z]{3}:))[0-9]{1,9})(?=\)?\Z)"
)
"""``:12:7``, or ``:12`` after what looks like the ending of a file."""
_PORT: Final = re.compile(r"\.(?:com|org|net|dev|app|lan|edu|gov|int):[0-9]+\)?\Z", re.ASCII | re.IGNORECASE)
_LAST_OF_TAIL: Final = frozenset("0123456789)")
DIGITS: Final = frozenset("0123456789")

_CASED_BLOCKS: Final = (
    range(0x41, 0x250),  # Latin
    range(0x370, 0x530),  # Greek, Cyrillic
    range(0x531, 0x557),  # Armenian
    range(0x10A0, 0x10C6),  # Georgian
    range(0x1E00, 0x2000),  # Latin and Greek with marks
    range(0x2126, 0x2130),  # letters as units
    range(0x2160, 0x2170),  # Roman numerals
    range(0x24B6, 0x24D0),  # circled letters
    range(0xFF21, 0xFF3B),  # full width
)


def _case_table(blocks: Iterable[range]) -> dict[int, str]:
    table = {code: chr(code).lower() for block in blocks for code in block if chr(code).lower() != chr(code)}
    return table | {ord("ς"): "σ"}


CASE_TABLE: Final = _case_table(_CASED_BLOCKS)
"""Upper case to lower case, one character at a time, in blocks that Unicode has filled.

``str.lower`` learns letters with every release of Python and treats a final sigma by its neighbours. A fingerprint must do
neither.
"""


def _clean(text: str) -> str:
    """The text without control and escape sequences, invisible characters and left-over colour codes, in NFC."""
    if not text.isascii():
        text = composed(_without_codes(text))
    elif not text.isprintable() and _CONTROL.search(text):
        text = _without_codes(text)
    if "[" in text:
        text = BARE_COLOUR.sub("", SPELT_COLOUR.sub("", text) if "\\" in text or "^[" in text else text)
    if text[:1] in DIGITS and ("9m" in text or "0m" in text):
        text = GLUED_COLOUR.sub(r"\1", text)
    return text


@lru_cache(maxsize=4096)
def _settled(letter: str) -> bool:
    return unicodedata.ucd_3_2_0.category(letter) != "Cn"


def composed(text: str) -> str:
    """The text in NFC, as far as its letters have been in Unicode since 3.2.

    A Python knows the marks of its own Unicode. Those of 3.2 are in every Python, and how they compose can not change any more;
    a younger letter stays as it came, and so do its neighbours on either side of it.
    """
    if unicodedata.is_normalized("NFC", text):
        return text
    runs = (("".join(run), settled) for settled, run in groupby(text, _settled))
    return "".join(unicodedata.normalize("NFC", run) if settled else run for run, settled in runs)


def _without_codes(text: str) -> str:
    if "\x1b[" in text:
        text = COLOUR.sub("", text)
        if text.isascii() and not _CONTROL.search(text):
            return text
    text = INVISIBLE.sub("", BARE_OSC.sub("", ESCAPES.sub("", FORWARD.sub(" ", text))))
    return RARE_SPACE.sub(" ", text)


def core(text: str) -> str:
    """The cleaned text without the time stamp in front and the ``:line:column`` at its end. Never empty unless the text is."""
    text = _clean(text).strip()
    if not text:
        return text
    shorter = drop_tail(text) if text[-1] in _LAST_OF_TAIL else text
    if text[0] in _FIRST_OF_STAMP:
        shorter = drop_prefix(shorter)
    return shorter or text


def drop_tail(text: str) -> str:
    """The text without ``:line:column`` at its end; a port stays."""
    return text if _PORT.search(text, max(0, len(text) - 40)) else _TAIL.sub("", text)


def drop_prefix(text: str) -> str:
    """The text without the time stamp at its beginning."""
    if text[:1].isalpha() and text[1:2].isalpha() and text[:3] not in _NAMES:
        return text
    if found := _PREFIX.match(text):
        return text[found.end() :]
    glog = _GLOG.match(text)
    return f"{glog[1]} {text[glog.end() :]}" if glog else text


def collapse(text: str) -> str:
    """The cleaned text in lower case with single spaces."""
    if not text.isascii():
        return " ".join(text.translate(CASE_TABLE).split())
    if "  " in text or "\n" in text or "\t" in text or "\r" in text:
        return " ".join(text.lower().split())
    return text.lower().strip()

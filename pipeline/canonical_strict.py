"""Strict canonical form: what is true of any line of text, whoever wrote it. No control codes, one case, one space, no clock."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_ST: Final = "(?:\x07|\x1b\\\\|\x9c)"
_ESCAPES: Final = re.compile(
    rf"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\r\n]*{_ST}"  # OSC: titles, links
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)"  # DCS, SOS, PM, APC
    r"|(?:\x1b\]|\x9d)(?:\d+;[^\x07\x1b\x9c\r\n]*)?"  # an OSC that never ends: gone up to the end of its line
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colour, cursor
    r"|\x1b[ -/]*[0-~]?"  # charset switches, two-character codes, a lone ESC
)
_FORWARD: Final = re.compile(r"(?:\x1b\[|\x9b)[0-9]*C")
"""Cursor forward: a terminal's way of writing spaces."""
_INVISIBLE: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f]")
_BARE_OSC: Final = re.compile("\\]\\d{1,4};[^\x07\x9c\r\n\\]]*[\x07\x9c]")
"""What is left of a title or link when something took the ESC away and left the end mark."""
_BARE_SGR: Final = re.compile(r"(?:\^\[|\\(?:x1b|u001b|033|e))?\[(?:\d{1,3}(?:;\d{1,3}){0,8}m|m(?![\w-]))")
"""A colour code without its ESC, or with an ESC spelt out."""
_GLUED_SGR: Final = re.compile(r"(?<![\w.;])(?:\d{1,3};)*\d{1,3}m(?=[A-Z\[(])(?P<in>[^\s\x00]{0,200}?)(?:0|22|39|49)m(?!\w)")
"""The same with the bracket lost as well: only in pairs, because "2m" alone is two minutes or two metres."""

_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_ZONE: Final = r"(?:\s?(?:Z\b|UTC\b|GMT\b|[A-Z]{3,4}T\b|CET\b|[+-]\d\d:?\d\d\b))*"
_DAY: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_STAMP: Final = (
    rf"(?:\d{{4}}[-/.]\d\d[-/.]\d\d(?:[Tt ]|\s-\s|,\s){_CLOCK}{_ZONE}"  # 2031-05-01 10:00:00,123
    rf"|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}},?\s{_CLOCK}{_ZONE}"  # 5/1/2031, 9:41:07 AM
    rf"|(?:{_DAY},?\s)?{_MONTH}\s{{1,2}}\d{{1,2}}(?:,?\s\d{{4}},?)?\s{_CLOCK}{_ZONE}(?:\s\d{{4}}\b)?"  # syslog, ctime
    rf"|(?:{_DAY},?\s)?\d{{1,2}}[-/ ]{_MONTH}[-/ ]\d{{2,4}}[: ]{_CLOCK}{_ZONE}"  # mail, web server logs
    rf"|\d{{1,2}}:\d\d(?::\d\d(?:[.,]\d{{1,9}})?(?:\s?[AaPp]\.?[Mm]\b\.?)?|\s?[AaPp]\.?[Mm]\b\.?){_ZONE}"  # 9:41:07 AM
    r"|(?:1[5-9]|2[01])\d{8}(?:\.\d{1,9}|\d{3})?(?=[\s\]]))"  # seconds or milliseconds since 1970
)
_PREFIX: Final = re.compile(
    rf"\s*(?:[\[(<]\s*{_STAMP}\s*[\])>]|{_STAMP}(?![\w:])|\[\s*\d{{1,6}}\.\d{{6}}\])(?:\s*[-–—|:]+(?=\s))?\s*"
)
_GLOG: Final = re.compile(rf"\s*([IWEFD])\d{{4}} {_CLOCK}\s+(?:\d+ )?")
_TAIL: Final = re.compile(r"(?:(?<=[^\d\s:]):\d{1,9}:\d{1,9}|(?<=\.[A-Za-z]{2}):\d{1,9}|(?<=\.[A-Za-z]{3}):\d{1,9})(?=\)?$)")
_PORTS: Final = re.compile(r"\.(?:com|org|net|dev|app|lan|edu|gov|int|[0-9]+):\d+$", re.IGNORECASE)

_CASED_BLOCKS: Final = (
    range(0x41, 0x250),
    range(0x370, 0x530),
    range(0x531, 0x557),
    range(0x10A0, 0x10C6),
    range(0x1E00, 0x2000),
    range(0x2126, 0x2130),
    range(0x2160, 0x2170),
    range(0x24B6, 0x24D0),
    range(0xFF21, 0xFF3B),
)


def _case_table(blocks: Iterable[range]) -> dict[int, str]:
    table = {code: chr(code).lower() for block in blocks for code in block if chr(code).lower() != chr(code)}
    return table | {ord("ς"): "σ"}


CASE_TABLE: Final = _case_table(_CASED_BLOCKS)
"""Upper case to lower case, one character at a time, in blocks that Unicode has filled.

``str.lower`` knows more with every release of Python and treats a final sigma by its neighbours; a fingerprint must not.
"""


def clean(text: str) -> str:
    """The text without control and escape sequences, invisible characters and left-over colour codes, in NFC."""
    if not text.isascii():
        return _clean_unicode(text)
    if _CONTROL.search(text):
        text = _unescape(text)
    return _drop_leftovers(text) if "[" in text or "0m" in text else text


def _clean_unicode(text: str) -> str:
    text = _drop_leftovers(_unescape(text))
    return unicodedata.normalize("NFC", text)


def _unescape(text: str) -> str:
    text = _ESCAPES.sub("", _FORWARD.sub(" ", text))
    return _INVISIBLE.sub("", _BARE_OSC.sub("", text))


def _drop_leftovers(text: str) -> str:
    return _GLUED_SGR.sub(r"\g<in>", _BARE_SGR.sub("", text))


def core(text: str) -> str:
    """The cleaned text without the time stamp in front and the ``:line:column`` at its end. Never empty unless the text is."""
    text = clean(text).strip()
    shorter = _drop_prefix(_drop_tail(text))
    return shorter or text


def _drop_tail(text: str) -> str:
    if not text.rstrip(")")[-1:].isdigit() or _PORTS.search(text):
        return text
    return _TAIL.sub("", text)


def _drop_prefix(text: str) -> str:
    head = text[:16].lstrip("[(<ADEFIJMNOSTW")
    if not head or not text[:16].strip("[(< ")[:1].isalnum():
        return text
    found = _PREFIX.match(text)
    if found:
        return text[found.end() :]
    glog = _GLOG.match(text)
    return f"{glog[1]} {text[glog.end() :]}" if glog else text


def collapse(text: str) -> str:
    """The text in lower case with single spaces."""
    lowered = text.lower() if text.isascii() else text.translate(CASE_TABLE)
    return " ".join(lowered.split())

"""Inert: text from outside, made harmless to show: no control characters, no escape sequences, no hidden direction marks."""

import re

_SEQUENCES = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)?"  # OSC: titles, links; one without an end ends its line
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]{0,4096}(?:\x1b\\|\x9c)?"  # DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor
    r"|\x1b[ -/]*[0-~]?"  # the rest: charsets, keypad
)
_UNWANTED = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1, but for tab and line feed
    r"\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"  # invisible and direction marks
)
_CONTROLS = re.compile(f"[{_UNWANTED}]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_HARMLESS = re.compile(rf"[^{_UNWANTED}\ud800-\udfff]*")


def inert(text: str) -> str:
    """The text without what a terminal or a reader could be misled by; only line feeds and tabs are left. Idempotent."""
    if _HARMLESS.fullmatch(text):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SEQUENCES.sub("", text)
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def whole(text: str) -> str:
    """The text itself, but for half characters, which no file and no terminal takes: they become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text

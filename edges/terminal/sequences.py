"""Sequences: cuts a program's output into text and whole control sequences, wherever the reads were cut."""

import codecs
import re
from collections.abc import Iterator
from typing import Final

_TOKEN: Final = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<params>[0-?]*)(?P<middle>[ -/]*)(?P<final>[@-~])"
    r"|\x1b(?P<string>[\]PX^_])(?P<content>[^\x07\x1b\x9c]*)(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b(?P<short>[0-Z\\`-~])"
    r"|\x1b(?P<set>[ -/]+)(?P<member>[0-~])"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])"
)
_HALF: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c]*\x1b?|[ -/]*)?\Z")
_STRING_ENDS: Final = re.compile(r"\x07|\x1b\\|\x9c")
_LONGEST_HALF: Final = 4096


class Sequences:
    """What was fed, as matches whose ``lastgroup`` says what they are.

    ``text``, ``final`` (a control sequence: ``params``, ``middle``, ``final``), ``content`` (a string: ``string``,
    ``content``), ``short`` (a two-byte escape), ``member`` (a longer one: ``set``, ``member``) or ``control``.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._half = ""
        self._in_string = False

    @property
    def half(self) -> bool:
        """True if the output stopped inside a sequence, or inside a character."""
        return bool(self._half or self._in_string or self._decoder.getstate()[0])

    def feed(self, chunk: bytes) -> Iterator[re.Match[str]]:
        """What is whole with these bytes."""
        text = self._half + self._decoder.decode(chunk)
        self._half = ""
        if self._in_string:
            text = self._after_string(text)
        # The escape that ends a string is no beginning of another sequence.
        half = _HALF.search(text, max(0, text.rfind("\x1b", 0, max(0, len(text) - 1))))
        if half:
            text, self._half = text[: half.start()], half.group()
        if len(self._half) > _LONGEST_HALF:
            # A picture or a clipboard: only its kind and its end matter.
            text += self._half[:_LONGEST_HALF]
            self._half, self._in_string = "", True
        return _TOKEN.finditer(text)

    def _after_string(self, text: str) -> str:
        end = _STRING_ENDS.search(text)
        self._in_string = end is None
        return text[end.end() :] if end else ""

"""Question: whether a row waits for an answer, a key or a secret rather than for whatever somebody wants to say."""

import re
from typing import Final

from . import ready

_CHOICES: Final = re.compile(
    # [Y/n]  (yes/no/[fingerprint])?  [y,n,q,a,d,e,?]?  (yes/no) [yes]:  (y/N) ‣ false
    r"[\[(]\s*y(?:es)?\s*[/|,]\s*n(?:o)?\b[^\])]{0,40}\]?[\])](?:\s*[\[(‣›].{0,20})?[\s:?>.]*\S?$"
    r"|[\[(]\[?y(?:es)?\]? or \[?n(?:o)?\]?[\])]\s*\S?$"
    r"|\by(?:es)?\s*/\s*n(?:o)?\s*[:?]\s*\S?$"
    r"|[\[(]y(?:es)?[\])]\s*[:?]?\s*$"
    r"|[\[(]y[\])]es\b.{0,80}[:?\])]\s*\S?$",
    re.IGNORECASE,
)
_KEY: Final = re.compile(
    r"\b(?:press|hit|strike|push)\W{1,3}(?:any key|a key|enter|return|space)\b(?!.{0,5} to (?:send|run))[^\n]{0,50}$"
    r"|^\W{0,3}--+ ?more ?--|^lines \d+-\d+\b|\(END\)$|^--type <ret> for more|\bpress h for help|\bpress q to quit\b.{0,5}$",
    re.IGNORECASE,
)
_SECRET: Final = re.compile(
    r"\b(?:pass(?:word|phrase|code)|pin|otp|verification code|username|login)\b[^:]{0,60}:$",
    re.IGNORECASE,
)
_HINT: Final = re.compile(
    r"(?:enter|return|⏎|↵|<enter>|<return>)\s*(?:to (?:select|confirm|choose|submit answer)|: ?confirm|select|submit\b)"
    r"|(?:use|↑/?↓|arrows?\b).{0,12}?(?:arrow[ -]keys|arrows|to navigate|to move|navigate\b)"
    r"|tab to (?:amend|toggle)|(?:space|<space>) to (?:select|toggle)|space:? select"
    r"|return to submit|enter/return: complete",
    re.IGNORECASE,
)
_DEFAULT: Final = re.compile(r"[:?]\s*(?:\([^()]*\)|\[[^\[\]]*\])\s*[:?]?$")
_ASKED_OF: Final = re.compile(r"\?\s+(?!for\b)\S")
_TALKS: Final = re.compile(
    r"(?:\b(?:you|me|user|human|prompt|query|message|command|ask|chat|input)\W{0,3}|\bin \[\d+\]):$",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(r"\b(?:enter|type|choose|select|which|choice|selection|number|option)\b.*:$", re.IGNORECASE)
_ENDS: Final = ("?", "？")
_BEING_ANSWERED: Final = re.compile(r"\S[?？]\s(?:\S\s?){1,12}$")
_VALUES: Final = (":", "：")
_TAIL: Final = 240
"""Characters at the end of a row that are looked at; a question stands at its end."""


def needs_answer(text: str) -> bool:
    """True if ``text`` is a question by its form alone, wherever the cursor is: choices, a wait for a key, a secret."""
    tail = text[-_TAIL:]
    return bool(_CHOICES.search(tail) or _KEY.search(tail) or _SECRET.search(tail))


def asks(text: str, *, here: bool) -> bool:
    """True if ``text`` is a question. ``here`` says that the cursor is known to be in its row.

    Then a colon asks for a value as well, unless the word before it is one of those with which programs let people talk.
    """
    tail = text[-_TAIL:]
    if needs_answer(tail) or tail.endswith(_ENDS) or _DEFAULT.search(tail):
        return True
    if tail.endswith(_VALUES):
        # A colon alone is the command line of a program that has the whole screen.
        return len(tail) > 1 and (here or bool(_VALUE.search(tail))) and not _TALKS.search(tail)
    return here and bool(_ASKED_OF.match(text) or _BEING_ANSWERED.search(tail) or ready.asks_for_answer(tail))


def heads_list(text: str) -> bool:
    """True if ``text``, right above rows of which one is marked, says that one of them is to be chosen."""
    return text.endswith((*_ENDS, ":", "…", "›")) or bool(_ASKED_OF.match(text)) or hints(text)


def hints(text: str) -> bool:
    """True if ``text`` says with which keys to choose."""
    return bool(_HINT.search(text))

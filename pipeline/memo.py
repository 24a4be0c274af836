"""Memo: the fingerprint of a text seen before costs one look-up, and is never another one than without."""

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

from ..contracts.base import Level
from .canonical import canonical, core, finisher
from .identity import digest

Mode = Literal["raw", "core", "off"]
"""What texts are remembered by: the whole text, the text without time stamp and tail, or not at all."""

GENERATION: Final = 8_000
"""Entries in one generation. Two are kept: what was not used during a whole generation is forgotten."""
CHARACTERS: Final = 4_000_000
"""Characters that one generation may hold, so that long texts cannot fill the memory."""
LONGEST: Final = 16_384
"""A longer text is not remembered at all."""
WINDOW: Final = 4_096
"""Texts after which the mode is judged by its hits."""
REST: Final = 65_536
"""Texts after which a mode other than ``raw`` gives way to another try of ``raw``."""

_ENOUGH: Final = 0.4
_BELOW: Final[dict[Mode, Mode]] = {"raw": "core", "core": "off", "off": "off"}


class Statistics(NamedTuple):
    """What a memo has done so far."""

    hits: int
    """Texts answered from memory."""
    misses: int
    """Texts looked for in vain."""
    skipped: int
    """Texts that were not looked for, because looking did not pay."""
    mode: Mode
    entries: int
    """Texts remembered at present."""


_Known = dict[str, str]
_Owner = tuple[str, str]


class _Generations:
    """Prints by owner and text; the older half is dropped when the younger one is full."""

    def __init__(self) -> None:
        self.young: dict[_Owner, _Known] = {}
        self.old: dict[_Owner, _Known] = {}
        self._entries = 0
        self._characters = 0
        self._older = 0

    def __len__(self) -> int:
        return self._entries + self._older

    def store(self, owner: _Owner, text: str, print_: str) -> None:
        if len(text) > LONGEST:
            return
        if self._entries >= GENERATION or self._characters + len(text) > CHARACTERS:
            self.old, self.young = self.young, {}
            self._older, self._entries, self._characters = self._entries, 0, 0
        self.young.setdefault(owner, {})[text] = print_
        self._entries += 1
        self._characters += len(text)


class Memo:
    """Fingerprints at one level, of texts without frame and key. It holds no clock and no chance: same calls, same answers.

    It keeps itself out of the way: where fewer than 40 % of the texts are known it goes on by their cores, then without
    memory, and tries again after ``REST`` texts.
    """

    def __init__(self, level: Level = "standard") -> None:
        self._finish: Final = finisher(level)
        self._level: Final[Level] = level
        self._known = _Generations()
        self._mode: Mode = "raw"
        self._hits = self._misses = self._skipped = 0
        self._looked = self._missed = self._rested = 0

    @property
    def statistics(self) -> Statistics:
        """Hits, misses and the present mode."""
        return Statistics(self._hits, self._misses, self._skipped, self._mode, len(self._known))

    def prints(self, source: str, scope: str, texts: Sequence[str]) -> list[str]:
        """The fingerprints of texts that share a source and a scope, in their order."""
        if self._mode == "raw":
            answers = self._recall((source, scope), texts, self._of_text)
        elif self._mode == "core":
            answers = self._recall((source, scope), [core(text) for text in texts], self._of_core)
        else:
            finish = self._finish
            answers = [digest(source, scope, finish(core(text))) for text in texts]
            self._skipped += len(texts)
        self._judge(len(texts))
        return answers

    def _of_text(self, owner: _Owner, text: str) -> str:
        return digest(*owner, canonical(text, self._level))

    def _of_core(self, owner: _Owner, text: str) -> str:
        return digest(*owner, self._finish(text))

    def _recall(self, owner: _Owner, keys: Sequence[str], make: Callable[[_Owner, str], str]) -> list[str]:
        get = self._known.young.get(owner, {}).get
        answers = [get(key, "") for key in keys]
        missed = 0
        if not all(answers):
            for place, answer in enumerate(answers):
                if not answer:
                    answers[place], new = self._find(owner, keys[place], make)
                    missed += new
        self._misses += missed
        self._hits += len(keys) - missed
        self._missed += missed
        self._looked += len(keys)
        return answers

    def _find(self, owner: _Owner, key: str, make: Callable[[_Owner, str], str]) -> tuple[str, bool]:
        known = self._known
        young = known.young.get(owner)
        if young is not None and key in young:  # an equal text stood earlier in this batch
            return young[key], False
        old = known.old.get(owner)
        print_ = old.get(key) if old is not None else None
        answer = make(owner, key) if print_ is None else print_
        known.store(owner, key, answer)
        return answer, print_ is None

    def _judge(self, count: int) -> None:
        if self._mode != "raw":
            self._rested += count
            if self._rested >= REST:
                self._enter("raw")
                return
        if self._looked >= WINDOW:
            if self._missed > self._looked * (1 - _ENOUGH):
                self._enter(_BELOW[self._mode])
            self._looked = self._missed = 0

    def _enter(self, mode: Mode) -> None:
        if mode == "raw":
            self._rested = 0
        self._mode = mode
        self._known = _Generations()
        self._looked = self._missed = 0

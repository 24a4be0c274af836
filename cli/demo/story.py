"""Story: what the three programs of the demo do, as a person reads it: one line a happening, floods folded into one."""

from collections import Counter, defaultdict
from collections.abc import Iterable

import click

from ...contracts.verdicts import Decision, Stage, Verdict
from ...pipeline.inert import inert

WIDTH = 110
VOICES = {"server": "yellow", "line": "cyan", "agent": "green", "person": "magenta"}
SHOWN = {"server": 2, "agent": 9}
"""Lines of a burst that are shown before the rest is only counted."""

TOGETHER = 0.7
"""Seconds of decisions that are told as one, unless a delivery ends them."""

WORDS = {
    Verdict.FOLD: "folded {n} repeat{s} into what is known already",
    Verdict.REMIND: "reminds: it still goes on",
    Verdict.EVICT: "suppressed {n}: more than anybody should have to read; they are counted",
    Verdict.HOLD: "holds {n}: the server is restarting",
    Verdict.RELEASE: "lets {n} go on: {reason}",
    Verdict.DROP_CASCADE: "dropped {n}: they only said that the server was away, and it is back",
    Verdict.CLEAR: "cleared {n}: a good build made them stale",
    Verdict.DEFER: "defers {n}: {reason}",
    Verdict.OVERDUE: "lets {n} go on: waited long enough",
    Verdict.DELIVER: "delivered {n}",
    Verdict.RETRY: "tries again: {note}",
    Verdict.DEAD_LETTER: "puts {n} aside: {note}",
}
"""Those of the verdicts that a watcher wants to see; to pass is the rule and not told."""


class Story:
    """Prints what happens. ``now`` is in seconds since the beginning."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour
        self._burst: Counter[str] = Counter()
        self._unfinished: defaultdict[str, str] = defaultdict(str)
        self._blocks: set[str] = set()
        self._alike: Counter[tuple[Verdict, str, str]] = Counter()
        self._since: float | None = None
        self.counts: Counter[str] = Counter()

    def tell(self, now: float, voice: str, text: str) -> None:
        """One line of one voice."""
        line = f"{now:5.1f}s  {voice:<7}│ {inert(text)[:WIDTH]}"
        click.echo(click.style(line, fg=VOICES[voice]) if self._colour else line)

    def printed(self, now: float, voice: str, text: str) -> None:
        """Output of a program: the first lines of a burst, then only how many there were."""
        whole, _, self._unfinished[voice] = (self._unfinished[voice] + text.replace("\r", "")).rpartition("\n")
        for line in filter(str.strip, whole.split("\n")):
            self._burst[voice] += 1
            if self._burst[voice] <= SHOWN[voice]:
                self.tell(now, voice, line)

    def pause(self, now: float, voice: str) -> None:
        """The program has stopped printing for a moment: say how much it was."""
        more = self._burst.pop(voice, 0) - SHOWN[voice]
        if more > 0:
            self.tell(now, voice, f"… {more} more line{'s' * (more != 1)}")

    def decided(self, now: float, decisions: Iterable[Decision]) -> bool:
        """What the line decided, alike decisions of a moment together. True if there was anything worth a word."""
        fresh = False
        for decision in decisions:
            self.counts[decision.verdict] += 1
            if decision.stage is Stage.CLASSIFY:
                self.counts["fed"] += 1
            if decision.verdict in WORDS:
                fresh = True
                self._alike[decision.verdict, decision.reason, decision.note] += 1
        if fresh and self._since is None:
            self._since = now
        if self._since is not None and (now - self._since > TOGETHER or any(v is Verdict.DELIVER for v, _, _ in self._alike)):
            self._since = None
            self._tell_alike(now)
        return fresh

    def _tell_alike(self, now: float) -> None:
        for (verdict, reason, note), number in self._alike.items():
            words = WORDS[verdict].format(n=number, s="s" * (number != 1), reason=reason.replace("_", " "), note=note)
            if verdict is Verdict.DELIVER:
                block, proof, *_ = note.split()
                self._blocks.add(block)
                words += f" in one block, {block} ({proof.rstrip(':')})"
            self.tell(now, "line", words)
        self._alike.clear()

    def summary(self, lines: int) -> str:
        """How much was printed, how much of it was told."""
        counts = self.counts
        dropped = counts[Verdict.DROP_CASCADE] + counts[Verdict.CLEAR]
        return (
            f"The server printed {lines} lines. {counts['fed']} findings and messages went into the line: "
            f"{counts[Verdict.FOLD]} were folded, {counts[Verdict.EVICT]} suppressed, {dropped} dropped with the outage "
            f"they told of, and {counts[Verdict.DELIVER]} delivered, in {len(self._blocks)} blocks, none of them while "
            f"the agent was busy."
        )

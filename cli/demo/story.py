"""Story: what the three programs of the demo do, as a person reads it: one line a happening, floods folded into one."""

from collections import Counter
from collections.abc import Iterable

import click

from ...contracts.verdicts import Decision, Stage, Verdict
from ...pipeline.inert import inert

WIDTH = 110
VOICES = {"server": "yellow", "line": "cyan", "agent": "green"}
SHOWN = 2
"""Lines of a burst that are shown before the rest is only counted."""

WORDS = {
    Verdict.FOLD: "folded {n} repeat{s} into what is known already",
    Verdict.REMIND: "reminds: it still goes on",
    Verdict.EVICT: "suppressed {n}: more than the recipient should have to read (counted, least important first)",
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
        self.counts: Counter[str] = Counter()

    def tell(self, now: float, voice: str, text: str) -> None:
        """One line of one voice."""
        line = f"{now:5.1f}s  {voice:<7}│ {inert(text)[:WIDTH]}"
        click.echo(click.style(line, fg=VOICES[voice]) if self._colour else line)

    def printed(self, now: float, voice: str, text: str) -> None:
        """Output of a program: the first lines of a burst, then only how many there were."""
        for line in filter(str.strip, inert(text).splitlines()):
            self._burst[voice] += 1
            if self._burst[voice] <= SHOWN:
                self.tell(now, voice, line)

    def pause(self, now: float, voice: str) -> None:
        """The program has stopped printing for a moment: say how much it was."""
        more = self._burst.pop(voice, 0) - SHOWN
        if more > 0:
            self.tell(now, voice, f"… {more} more line{'s' * (more != 1)}")

    def decided(self, now: float, decisions: Iterable[Decision]) -> None:
        """What the line decided, alike decisions together."""
        alike: Counter[tuple[Verdict, str, str]] = Counter()
        for decision in decisions:
            self.counts[decision.verdict] += 1
            if decision.stage is Stage.CLASSIFY:
                self.counts["fed"] += 1
            if decision.verdict in WORDS:
                alike[decision.verdict, decision.reason, decision.note] += 1
        for (verdict, reason, note), number in alike.items():
            words = WORDS[verdict].format(n=number, s="s" * (number != 1), reason=reason.replace("_", " "), note=note)
            self.tell(now, "line", words + (f" as {note.split()[0]}, {note.split()[1]}" if verdict is Verdict.DELIVER else ""))

    def summary(self, lines: int, blocks: int) -> str:
        """How much was printed, how much of it was told."""
        counts = self.counts
        dropped = counts[Verdict.DROP_CASCADE] + counts[Verdict.CLEAR]
        return (
            f"The server printed {lines} lines; {counts['fed']} findings were fed to the line. {counts[Verdict.FOLD]} were folded, "
            f"{counts[Verdict.EVICT]} suppressed, {dropped} dropped with the outage they told of, and {counts[Verdict.DELIVER]} "
            f"delivered, in {blocks} blocks, none of them while the agent was busy."
        )

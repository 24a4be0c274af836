"""``tocsin rules``: which rules find news in output, and what a log would give, line by line, and why."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from ..contracts.base import Instant
from ..contracts.errors import BadInput
from ..contracts.events import Event
from ..contracts.signals import Signal
from ..edges.sources.kinds import KINDS
from ..edges.sources.lines import Lines
from ..edges.sources.reader import Reader
from ..edges.sources.rule import Rule
from ..edges.sources.rules import Catalogue, Explanation, Match
from .words import json_option, one_line, plural, print_json, say, table

_CHUNK: Final = 65_536
_NOW: Final = Instant(0)

rules_option = click.option(
    "--rules", "extra", type=click.Path(dir_okay=False, path_type=Path), multiple=True, metavar="FILE", help="More rules."
)


@click.group()
def rules() -> None:
    """Show the rules that find news in output, and try them on a log."""


@rules.command("list")
@click.option("--family", metavar="NAME", help="Only the rules of one family, such as python.")
@rules_option
@json_option
def list_rules(family: str | None, extra: tuple[Path, ...], as_json: bool) -> None:
    """List the rules in the order in which they are tried."""
    known = Catalogue.load(extra).rules
    chosen = [rule for rule in known if family is None or rule.family == family]
    if family is not None and not chosen:
        raise BadInput(f"no family is called {family}; there are {', '.join(sorted({rule.family for rule in known}))}")
    if as_json:
        print_json({"rules": [_brief(rule) for rule in chosen]})
        return
    head = ("RULE", "FAMILY", "TELLS", "CATEGORY", "WHAT A LINE MEANS")
    say(table(head, [(rule.id, rule.family, _tells(rule), rule.category, rule.title) for rule in chosen]))


@rules.command()
@click.argument("rule_id", metavar="ID")
@rules_option
@json_option
def show(rule_id: str, extra: tuple[Path, ...], as_json: bool) -> None:
    """Show one rule with its patterns and the lines that it must and must not match."""
    rule = Catalogue.load(extra).rule(rule_id)
    if rule is None:
        raise BadInput(f"no rule is called {rule_id}; tocsin rules list names them all")
    if as_json:
        print_json(msgspec.to_builtins(rule))
        return
    say(f"{rule.id}: {rule.title}")
    for name in rule.__struct_fields__:
        if name not in ("id", "title") and (value := getattr(rule, name)) not in ("", ()):
            say(f"  {name}: {_shown(value)}")


@rules.command()
@click.argument("file", type=click.File("rb"))
@rules_option
@json_option
def test(file: Any, extra: tuple[Path, ...], as_json: bool) -> None:
    """Say of each line of FILE (or of standard input: -) what it would be, and why.

    \b
    tocsin rules test build.log
    tocsin rules test --rules mine.toml - < build.log
    """
    trial = Trial(Catalogue.load(extra))
    for text in _lines(file):
        trial.read(text)
    trial.end()
    if as_json:
        lines = [line.as_values() for line in trial.lines]
        print_json({"lines": lines, "events": msgspec.to_builtins(trial.events), "elsewhere": trial.elsewhere})
        return
    for line in trial.lines:
        say(line.in_words())
    for number, event in trial.events.items():
        say(f"\n#{number} {event.severity} {event.category}: {event.text}" + (f"  ({event.frame})" if event.frame else ""))
    for number, other in trial.elsewhere.items():
        say(f"\n#{number} " + (f"is told as #{other}" if other else "is no news"))
    sys.stdout.flush()


class Line:
    """One line of a trial and what became of it."""

    def __init__(self, number: int, why: Explanation) -> None:
        self.number = number
        self.why = why
        self.blocks: list[int] = []
        self.opens = False
        self.waits = False
        self.rule = ""
        self.signal: Signal | None = None

    def in_words(self) -> str:
        """``12  begins #1 by python-traceback  Traceback …``, and below it what the decision rests on."""
        line = self.why.line
        reasons = [f"taken off: {line.taken_off.strip()!r}"] if line.taken_off.strip() else []
        reasons += [f"says {line.level}"] if line.level else []
        reasons += [f"from {line.service}"] if line.service else []
        reasons += [] if self.rule or self.blocks else self._not()
        below = f"\n      {one_line('; '.join(reasons))}" if reasons else ""
        indent = " " * min(len(line.line) - len(line.line.lstrip()), 8)
        return f"{self.number:>4}  {self._became():<40}  {indent}{one_line(line.line)}{below}"

    def as_values(self) -> dict[str, Any]:
        """The same for programs."""
        line = self.why.line
        return {
            "number": self.number,
            "line": line.line,
            "rule": self.rule,
            "begins": self.opens,
            "part_of": self.blocks,
            "signal": msgspec.to_builtins(self.signal) if self.signal is not None else None,
            "taken_off": line.taken_off,
            "level": line.level,
            "service": line.service,
            "literals": list(self.why.literals),
            "passed_over": [{"rule": rule, "why": why} for rule, why in self.why.passed_over],
        }

    def _became(self) -> str:
        if self.blocks:
            numbers = ", ".join(f"#{number}" for number in self.blocks)
            return f"begins {numbers} by {self.rule}" if self.opens else f"part of {numbers}"
        if self.signal is not None:
            return f"signal {type(self.signal).__name__} by {self.rule}"
        return f"told elsewhere, by {self.rule}" if self.rule else "–"

    def _not(self) -> list[str]:
        """Nothing needs saying of a line that has no word of trouble in it."""
        passed = self.why.passed_over
        if self.why.line.level in ("debug", "info") and any(why.startswith("the line says") for _, why in passed):
            return ["so no rule for errors counts"]
        vetoed = [f"{rule}: {why}" for rule, why in passed if why != "no pattern fits"]
        return vetoed[:2] or ([f"{plural(len(passed), 'rule')} tried, no pattern fits"] if passed else [])


class Trial:
    """Reads a log line by line and keeps what a reader does with each; it is the reader's ``Trace``."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._reader = Reader(catalogue, scope="", to=None, trace=self)
        self._waiting: list[Line] = []
        self._returned: list[Line] = []
        self._again: Line | None = None
        self._withheld: list[tuple[int, str]] = []
        self.lines: list[Line] = []
        self.events: dict[str, Event] = {}
        """The events by the number of their block; the second of a block ends with ``.2``."""
        self.elsewhere: dict[str, str] = {}
        """Blocks without an event, and what is told instead: the number of an event, or nothing."""

    def read(self, line: str) -> None:
        """The next line."""
        self.lines.append(Line(len(self.lines) + 1, self._catalogue.explain(line)))
        self._reader.read("log", f"{line}\n".encode(), _NOW)

    def end(self) -> None:
        """No more lines come."""
        for late in self._reader.close(_NOW):
            if isinstance(late, Event) and late not in self.events.values():
                self.told(next((block for block, key in self._withheld if key == late.key), 0), late)
        for block in sorted({number for line in self.lines if line.opens for number in line.blocks[:1]}):
            if str(block) not in self.events:
                self.elsewhere[str(block)] = self._instead_of(block)

    def _instead_of(self, block: int) -> str:
        keys = {key for number, key in self._withheld if number == block}
        return next((name for name, event in self.events.items() if event.key in keys), "")

    def opened(self, block: int, match: Match) -> None:
        """The present line began a block."""
        self._present.opens, self._present.rule = True, match.rule.id
        self._belongs(block)

    def joined(self, block: int) -> None:
        """So the lines that waited before it belong, too."""
        for line in self._waiting:
            line.blocks.append(block)
        self._waiting.clear()
        self._belongs(block)

    def waits(self, block: int) -> None:
        """Whether it belongs is said later."""
        del block
        self._waiting.append(self._present)

    def returned(self, block: int, lines: int) -> None:
        """They do not belong, and are read again."""
        del block, lines
        self._returned += self._waiting
        self._waiting.clear()

    def again(self, more: bool) -> None:
        """Which line is meant."""
        self._again = self._returned.pop(0) if more else None

    def signalled(self, match: Match, signal: Signal | None) -> None:
        """A signal, or a line that repeats what others say."""
        self._present.rule, self._present.signal = match.rule.id, signal

    def told(self, block: int, event: Event) -> None:
        """Blocks are numbered as they begin; one may give several events."""
        several = sum(name.split(".")[0] == str(block) for name in self.events)
        self.events[f"{block}.{several + 1}" if several else str(block)] = event

    def withheld(self, block: int, key: str) -> None:
        """Whether it is told by another block, or at the end, is known at the end."""
        self._withheld.append((block, key))

    def _belongs(self, block: int) -> None:
        self._present.blocks.append(block)

    @property
    def _present(self) -> Line:
        return self._again or self.lines[-1]


def _lines(file: Any) -> Iterable[str]:
    lines = Lines()
    while data := file.read(_CHUNK):
        yield from lines.feed(data)
    yield from lines.close()


def _tells(rule: Rule) -> str:
    if not rule.enabled:
        return "off"
    if rule.severity != "info":
        return rule.severity if KINDS[rule.opens].is_news else "nothing"
    return f"signal {rule.signal}" if rule.signal else "nothing"


def _brief(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "family": rule.family,
        "title": rule.title,
        "severity": rule.severity,
        "category": rule.category,
        "priority": rule.priority,
        "signal": rule.signal,
        "enabled": rule.enabled,
    }


def _shown(value: object) -> str:
    """A field as a rule file has it, but for lists: a line each is easier to read."""
    if isinstance(value, tuple):
        return "".join(f"\n    {item}" for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)

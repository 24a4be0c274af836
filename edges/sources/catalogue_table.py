"""Catalogue table: ``python -m tocsin.edges.sources.catalogue_table`` prints docs/catalogue.md from the rules."""

import sys
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from msgspec import structs

from .kinds import KINDS
from .rule import Rule
from .rules import Catalogue

_HEAD = """\
# The catalogue of process output

{count} rules in {families} families, generated from `edges/sources/catalogue/*.toml` by
`python -m tocsin.edges.sources.catalogue_table > docs/catalogue.md`. The first rule by priority that matches a line wins.

`tocsin rules list` and `tocsin rules show ID` tell the same with every pattern and example; `tocsin rules test FILE` shows what
a log would give, line by line, and why.

## Rules of your own

`--rules FILE` of `watch`, `feed` and `rules` reads a TOML file with tables `[[rule]]`. A new `id` adds a rule; a known one
changes only the fields that the table names, so two lines disable a rule:

```toml
[[rule]]
id = "sold-out"
family = "shop"
title = "Something is sold out"
patterns = ['^SOLD OUT: .+']
literals = ["sold out"]
severity = "warning"
matches = ["10:00:00 SOLD OUT: mugs"]
ignores = ["nothing is sold out"]

[[rule]]
id = "auth-failure"
enabled = false
```

**Literals** make the search fast: a line that holds none of the texts of any rule is never looked at closer, so a rule finds
only lines that hold one of *its* literals. Name for each pattern a piece of plain text that every line has which it matches:
for `^job \\d+ (?:died|stalled)` that is `literals = ["job "]`, or better, because rarer, `["died", "stalled"]`. Patterns that
are plain text (`^SOLD OUT$`) need none. Whoever gives a known rule new `patterns` gives it new literals, too: what the table
does not name of {of_patterns} is forgotten then, since it was said of the old patterns.

The lines of `matches` and `ignores` are tried when the file is read, as are the patterns: one that could take very long on
some line (`(a+)+$`) is refused, and one with several open repetitions (`.*a.*b`) sees only the beginning of a long line. What
is wrong is told with file and line.

| field | what it says | without it |
|---|---|---|
{fields}
The kinds for `opens`: {kinds}.
"""
_OF_PATTERNS = "`literals`, `common`, `matches` and `ignores`"
FIELDS: Final = {
    "id": "the name of the rule; a word",
    "family": "the tool or language that prints such lines",
    "title": "what a matching line means, in a few words",
    "patterns": "regular expressions (Python's), any of which may match; `^` also stands behind each part of a log prefix "
    "(time, level, service), which is taken off first",
    "literals": "texts of at least three bytes, in any letter case, of which every matching line holds one",
    "unless": "regular expressions that take a match back",
    "severity": "`info`, `warning`, `error` or `critical`; with `info` no event is told, only the signal",
    "category": "what kind of news it is: `build`, `test`, `database`, …",
    "priority": "rules are tried in this order, the lowest first; equal ones by id",
    "opens": "how the lines below are gathered into one event; without it, what is indented belongs",
    "signal": "what the line says about the life of the process: `rebuild_started`, `rebuild_ok`, `rebuild_failed`, "
    "`restart_requested`, `started`, `crashed` or `transport_failed`",
    "states": "`warning`, `error` or `critical`: only lines that state this level or a worse one can match",
    "refines": "true: where the text of a gathered block matches, its severity and category are those of this rule",
    "common": "true: every matching line also holds an everyday word of trouble (`error`, `failed`, …), so the literals need "
    "not be searched for; an error if a literal holds no such word",
    "announces": "true: a stack that begins in the next line belongs to it",
    "level_counts": "false: the rule also holds on a line that says it is only information",
    "enabled": "false: the rule is never tried",
    "matches": "lines that this rule matches and no other before it",
    "ignores": "lines that look alike and that it does not match",
}
"""Each field of a rule for the page: what it says."""
_DEFAULTS: Final[dict[object, str]] = {"": "–", (): "–", True: "true", False: "false"}
_COLUMNS = "| rule | what a line means | severity | category | priority | gathers |\n|---|---|---|---|---|---|\n"


def table(rules: Iterable[Rule]) -> str:
    """The rules as a Markdown page, family by family."""
    ordered = sorted(rules, key=lambda rule: (rule.family, rule.priority, rule.id))
    families = len({rule.family for rule in ordered})
    kinds = ", ".join(f"`{name}`" for name in KINDS if name)
    fields = "".join(map(_field, structs.fields(Rule)))
    parts = [_HEAD.format(count=len(ordered), families=families, fields=fields, kinds=kinds, of_patterns=_OF_PATTERNS)]
    for family, members in groupby(ordered, key=lambda rule: rule.family):
        parts.append(f"\n## {family}\n\n{_COLUMNS}")
        parts += [_row(rule) for rule in members]
    return "".join(parts)


def _field(field: structs.FieldInfo) -> str:
    default = "needed" if field.required else _DEFAULTS.get(field.default, f"`{field.default}`")
    return f"| `{field.name}` | {FIELDS[field.name]} | {default} |\n"


def _row(rule: Rule) -> str:
    is_told = rule.severity != "info" and KINDS[rule.opens].is_news
    tells = rule.severity if is_told else f"signal `{rule.signal}`" if rule.signal else "nothing"
    name = f"`{rule.id}`" + ("" if rule.enabled else " (off)")
    title = rule.title.replace("|", "\\|")
    return f"| {name} | {title} | {tells} | {rule.category} | {rule.priority} | {rule.opens or 'line'} |\n"


if __name__ == "__main__":
    sys.stdout.write(table(Catalogue.load().rules))

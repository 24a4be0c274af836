"""Catalogue table: ``python -m tocsin.edges.sources.catalogue_table`` prints docs/catalogue.md from the rules."""

import sys
from collections.abc import Iterable
from itertools import groupby

from .rule import Rule
from .rules import Catalogue

_HEAD = """\
# The catalogue of process output

{count} rules in {families} families, generated from `edges/sources/catalogue/*.toml` by
`python -m tocsin.edges.sources.catalogue_table > docs/catalogue.md`. The first rule by priority that matches a line wins.

`tocsin rules list` and `tocsin rules show ID` tell the same with every pattern and example; `tocsin rules test FILE` shows what
a log would give. A file of your own adds rules, overrides one by its id, or disables it (`enabled = false`).
"""
_COLUMNS = "| rule | what a line means | severity | category | priority | gathers |\n|---|---|---|---|---|---|\n"


def table(rules: Iterable[Rule]) -> str:
    """The rules as a Markdown page, family by family."""
    ordered = sorted(rules, key=lambda rule: (rule.family, rule.priority, rule.id))
    parts = [_HEAD.format(count=len(ordered), families=len({rule.family for rule in ordered}))]
    for family, members in groupby(ordered, key=lambda rule: rule.family):
        parts.append(f"\n## {family}\n\n{_COLUMNS}")
        parts += [_row(rule) for rule in members]
    return "".join(parts)


def _row(rule: Rule) -> str:
    tells = rule.severity if rule.severity != "info" else f"signal `{rule.signal}`" if rule.signal else "nothing"
    name = f"`{rule.id}`" + ("" if rule.enabled else " (off)")
    title = rule.title.replace("|", "\\|")
    return f"| {name} | {title} | {tells} | {rule.category} | {rule.priority} | {rule.opens or 'line'} |\n"


if __name__ == "__main__":
    sys.stdout.write(table(Catalogue.load().rules))

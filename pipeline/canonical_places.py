"""Places: line, column and offset move with every edit; the file and the function do not."""

import re
from typing import Final

from .canonical_addresses import after_source
from .canonical_rules import after, rule

_RUNTIME_FILE: Final = (
    r"(?:node:[^()\s]{0,200}|internal/[^()\s]{0,200}|_?(?:net|http|https|fs|events|stream|util|assert|timers|tls|dns|child_process|cluster|zlib|buffer"
    r"|module|vm|dgram|domain|readline|url|crypto|tty|worker_threads|async_hooks|(?:stream|http|tls)_\w{1,20})\.js[^()\s]{0,40})"
)


def _leave_pair(found: re.Match[str]) -> str:
    return "" if after_source(found) else "(<line>)" if ":" in found[0] else found[0]


def _leave_spaced_pair(found: re.Match[str]) -> str:
    return "" if after_source(found) else " (<line>)" if ":" in found[0] else found[0]


def _leave_spaced(found: re.Match[str]) -> str:
    return "" if after_source(found) else " <line>" if found[1] else found[0]


def _leave_line(found: re.Match[str]) -> str:
    return "" if after_source(found) else found[0]


PLACE_RULES: Final = (
    rule(
        "line-column",
        # Not after a digit or a colon, which would be a time or an IPv6 address. One digit may end a name: "v2:12:7".
        r":(?:(?<=[^\s0-9:]:)|(?<=[a-z_][0-9]:))[0-9]+:[0-9]+(?:-[0-9]+(?::[0-9]+)?)?(?![0-9])(?: -(?= )|:(?!\w))?",
        "",
        "~colon",
    ),
    rule("line-column", r":\[[0-9]+,[0-9]+\]", "", "~bracket"),
    rule("line-column", r" \([0-9]+[:,][0-9]+\)", _leave_spaced_pair, "~paren"),
    rule("line-column", r"\((?<! \()[0-9]+(?:[,:][0-9]+){0,3}\)(?: ?:)?", _leave_pair, "~paren"),
    rule("line-column", r"\[[0-9]+(?:, ?[0-9]+)?\](?: ?:)?", _leave_line, "~bracket"),
    rule("line-column", r" [0-9]+:[0-9]+(?:-[0-9]+(?::[0-9]+)?)?(?= (error|warning|info|note)\b| |$)", _leave_spaced, "~pair"),
    rule("line", r":(?<=[a-z]:)(?<!localhost:)(?:line )?[0-9]+(?:-[0-9]+)?(?![\w.]):?", _leave_line, "~colon line"),
    *after("line", "makefile dockerfile gemfile rakefile procfile", r":[0-9]+(?::(?= )|\b)", "{}"),
    rule("line", r":(?<=\w:)[0-9]+(?= expected\b|->\w)", "", "expected", also="colon"),
    *after(
        "position",
        "line lines ln col column char character position pos offset byte index",
        r"\"?(?: is|[:=#])? ?[0-9]+(?:-[0-9]+)?(?![\w.])",
        "{} <n>",
    ),
    *after("position", "range", r" \[[0-9]+(?::[0-9]+)?\]", "{} [<n>]"),
    rule("position", r"len(?:gth)?(?: is| of|:|=)? ?[0-9]+\b", "length <n>", "index"),
    rule("position", r"size(?: is| of|:|=)? ?[0-9]+\b", "size <n>", "index"),
    rule(
        "runtime-frame",
        rf"at (?<!\wat )(?:[\w.$<>]{{1,80}} ){{1,4}}(?:\[as [\w.]{{1,80}}\] )?\({_RUNTIME_FILE}\)",
        "",
        "node js internal",
        digits=False,
    ),
    rule("runtime-frame", r"at (?<!\wat )(?:async )?(?:node:|internal/)[\w/.]{1,120}", "", "node internal", digits=False),
)

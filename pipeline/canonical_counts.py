"""Counts: how often, how many, how much, and the values that a failed assertion happened to see."""

import re
from typing import Final

from .canonical_addresses import METHODS
from .canonical_clocks import SPAN_SIGNS
from .canonical_ids import names_code
from .canonical_rules import after, any_of, counted, rule

_THINGS: Final = (
    "error warning problem test module package file token event line item row record message suite vulnerability occurrence"
    " notice edit alert finding connection client user attempt retry restart failure change commit agent issue hint suggestion"
    " deprecation dependency chunk asset component route page entry object instance worker thread job assertion spec example"
    " scenario snapshot exception sub-exception query call hit duplicate lock listener subscriber handler cycle turn update"
    " request response"
)


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


_FORMS: Final = " ".join(f"{word} {_plural(word)}" for word in _THINGS.split())
_SINGULAR: Final = {_plural(word): word for word in _THINGS.split()}
_KINDS: Final = (
    "previous source test new more other unique distinct open active pending failed failing similar identical exit unread held"
)
_TALLIES: Final = (
    "passed failed skipped ignored measured pending total todo xfailed xpassed deselected error errors failures"
    " low moderate high critical"
)
_TURNS: Final = (
    "retry retries attempt attempts try iteration iter turn round depth backlog allocations seq sequence restart restarts"
)
_SIZE_SIGNS: Final = counted("kb mb gb tb kib mib gib tib bytes byte")
_LITERAL: Final = r"(?:-?[0-9][0-9.,]*(?<![.,])|undefined|null|nil|none|true|false|nan)"
_NO_STATUS: Final = r"(?![1-5][0-9]{2}\b)"
_QUOTED: Final = r"""(?:'[^']{0,200}'|"[^"]{0,200}"|`[^`]{0,200}`)"""
_NO_ARGUMENT: Final = r"(?! (?:type |positional )?(?:argument|parameter|element|field|column|value|byte|character))"
_VALUE: Final = rf"(?:{_LITERAL}|{_QUOTED}|\[[^\[\]]{{0,200}}\]|\{{[^{{}}]{{0,200}}\}})"


_NUMBERED: Final = (
    "code status error errno signal exit port http version level step phase stage part python node java php ruby type class"
    " rule tier device gpu cpu core shard task pr"
)
_NAMES: Final = frozenset(_NUMBERED.split())
"""What is numbered for good: such a number is a name."""


def _leave_thing(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 20) : found.start()].rstrip(" :=#(")
    if before.rpartition(" ")[2].lstrip("([") in _NAMES:
        return found[0]
    thing = found["thing"]
    return f"<n> {found['kind'] or ''}{_SINGULAR.get(thing, thing)}"


def _leave_rate(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 80) : found.start()].rpartition(" ")[2]
    return found[0] if "/" in before or names_code(found) else ": <n> in "


def _leave_after_span(found: re.Match[str]) -> str:
    return "<span> - <n>" if "-" in found[0] else "<span>"


def _leave_asserted(found: re.Match[str]) -> str:
    """A compared status is what the failure is about; any other compared value is not."""
    around = found.string[max(0, found.start() - 80) : found.end() + 40]
    return found[0] if "status" in around else f"{found[1]} <value>"


COUNT_RULES: Final = (
    rule("repeat", r"\(x(?!(?:32|64|86)\))[0-9]+\)", "", "x"),
    rule("repeat", r"[0-9](?<![\w@.][0-9])[0-9]*x(?![\w.])", "<n>x", "0x"),
    rule("repeat", r" x(?!(?:32|64|86)$)[0-9]+$", "", "x"),
    rule("repeat", r"×[0-9]+", "", "×"),
    rule("repeat", r"[0-9](?<!\w[0-9])[0-9]* times\b", "<n> times", "0times"),
    *after(
        "attempt",
        _TURNS,
        r"(?: count| number| no\.?|[ -]after| in)?[ :=#(]{0,3}[0-9]+(?:(?: ?/ ?| of )[0-9]+)?(?![\w.])",
        "{} <n>",
    ),
    rule("progress", r"[0-9](?<=[\[(][0-9])[0-9]* ?/ ?[0-9]+(?=[\])])", "<n>", "~fraction"),
    rule("progress", rf"[0-9](?<![\w./-][0-9])[0-9]*/[0-9]+(?= {any_of(_FORMS)}\b)", "<n>", "~fraction"),
    rule("progress", r"[0-9]+/[0-9]+ ", "", "~fraction", start=True),
    rule("progress", r"[0-9](?<![\w.][0-9])[0-9]* of [0-9]+\b(?!\.[0-9])", "<n> of <n>", "0of"),
    rule("percentage", r"[0-9](?<![\w.][0-9])[0-9]*(?:\.[0-9]+)? ?%(?![0-9a-f]{2})", "<n>%", "%"),
    rule("money", r"\$[0-9]+(?:,[0-9]{3})*\.[0-9]+", "<money>", "$"),
    rule(
        "size",
        r"[0-9](?<![\w.][0-9])[0-9]*(?:,[0-9]{3})*(?:\.[0-9]+)? ?(?:[kmgt]i?b|bytes?)\b",
        "<size>",
        _SIZE_SIGNS,
    ),
    rule("progress", "<size> of <size>", "<size>", _SIZE_SIGNS),
    rule("progress", "<money> of <money>", "<money>", "$"),
    rule(
        "count",
        # Three digits up to 599 before "errors" or "responses" are a status.
        r"[1-9](?<![\w.:/#-][1-9])(?!(?<=[1-5])[0-9]{2} (?:errors?|responses?|requests?|messages?|pages?)\b)"
        rf"[0-9]*(?:,[0-9]{{3}})* (?P<kind>{any_of(_KINDS)} )?(?P<thing>{any_of(_FORMS)})\b",
        _leave_thing,
        counted(f"{_FORMS} {_KINDS}".replace("sub-exceptions", "").replace("sub-exception", "sub")),
    ),
    rule("count", r"[0-9](?<!\w[0-9])[0-9]*(?= -> <n> )", "<n>", ">"),
    rule(
        "count",
        r"[1-9](?:(?<=[,;:|(=.] [1-9])|(?<=[(=][1-9])|(?<=tests [1-9])|(?<=files [1-9])|(?<=suites [1-9])|(?<!.[1-9]))[0-9]*"
        rf" ({any_of(_TALLIES)})(?=[,;|)]| in | \||$)",
        r"<n> \1",
        counted(_TALLIES),
    ),
    rule("count", r"[0-9](?<!\w[0-9])[0-9]* (passing|failing|pending)\b", r"<n> \1", "0passing"),
    *after(
        "count",
        "tests run assertions failures errors skipped incomplete risky passed failed",
        r"(?:: |=)[1-9][0-9]*(?=[,.;)]? |[,.;)]{0,2}$)",
        "{} <n>",
    ),
    rule("rate", r": [0-9]+ in (?=<span>)", _leave_rate, "0in"),
    rule("limit", r"[0-9](?<=\([0-9])[0-9]*(?= [<>]=? [0-9])", "<n>", "> <"),
    rule("response-size", r"\" (?<=http/[0-9]\.[0-9]\" )([0-9]{3}) (?:[0-9]+|-)", r'" \1 <n>', METHODS),
    rule("response-size", r"<span> (?:of <span>|- [0-9]+)", _leave_after_span, SPAN_SIGNS),
    *after(
        "measure",
        "responsetime elapsed duration latency took uptime bytes length",
        r"\"?(?: ?[=:] ?| )[0-9]+(?:\.[0-9]+)?(?![\w.])",
        "{} <n>",
    ),
    rule("measure", r"running for [0-9]+(?:\.[0-9]+)?(?![\w.])", "running for <n>", "running"),
    rule("measure", r"[0-9](?<!\w[0-9])[0-9]*\.[0-9]+ \([0-9]+\.[0-9]+\)", "<n>", "gcs scavenge mark"),
    rule("ruler", "====+", "===", "failed passed failures errors warnings", digits=False),
    rule("ruler", "────+", "───", "─", digits=False),
    rule("ruler", "════+", "═══", "═", digits=False),
    rule("ruler", "━━━━+", "━━━", "━", digits=False),
    rule("ordinal", r"[0-9]+\) ", "", "~number-first", start=True),
)

ASSERTION_RULES: Final = (
    rule(
        "asserted",
        r"((?:failed|error|rerun) .*? - )(?:assertionerror: )?assert .*$",
        r"\1assert <values>",
        "assert",
        digits=False,
        start=True,
    ),
    *after(
        "asserted",
        "assert",
        rf" {_NO_STATUS}{_VALUE} (==|!=|<=?|>=?|is|in|not in) {_VALUE}",
        r"{} <value> \1 <value>",
        digits=False,
    ),
    *after("asserted", "assertionerror", rf": {_NO_STATUS}{_VALUE} (!=|==) {_VALUE}", r"{}: <value> \1 <value>", digits=False),
    *after(
        "asserted",
        "expected",
        rf" {_VALUE} to ((?:[a-z]{{2,12}} ){{1,3}}?){_VALUE}",
        r"{} <value> to \1<value>",
        digits=False,
    ),
    *after("asserted", "expected", rf": {_VALUE} received: {_VALUE}", "{} <value> received <value>", digits=False),
    rule("asserted", rf"asserting that {_VALUE} ", "asserting that <value> ", "asserting", digits=False),
    *(
        rule(
            "asserted",
            rf"({words}(?<!\w{words}))(?:: ?| ){_NO_STATUS}(?:{_LITERAL}(?!\w){_NO_ARGUMENT}|<[^<>]{{0,200}}>)",
            _leave_asserted,
            words.split()[0],
            digits=False,
        )
        for words in ("expected", "received", "got", "want", "actual", "left", "right", "but was", "which is")
    ),
    *after("asserted", "equal", rf": {_VALUE} (!==|===|!=|==) {_VALUE}", r"{}: <value> \1 <value>", digits=False),
    *after("asserted", "calls", ": [0-9]+", "{}: <n>"),
    rule("asserted", r"[0-9](?<=[ ([][0-9])[0-9]* (?=\[(?:chromium|firefox|webkit)\])", "", "chromium firefox webkit"),
    rule("asserted", r"not ok [0-9]+", "not ok", "ok"),
)

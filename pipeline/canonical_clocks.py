"""Clocks: moments and lengths of time, in the spellings that tools print."""

from typing import Final

from .canonical_rules import after, any_of, counted, rule

_MONTHS: Final = (
    "jan feb mar apr may jun jul aug sep oct nov dec"
    " january february march april june july august september october november december"
)
_WEEKDAYS: Final = "mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday"
_MINUTES: Final = r"[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?(?: ?[ap]\.?m\b\.?)?"
_CLOCK: Final = rf"[0-9]{{1,2}}:{_MINUTES}"
_ZONE: Final = r"(?: ?(?:z|utc|gmt|[ecmp][sd]t|cest|cet|[+-][0-9]{2}:?[0-9]{2})\b){0,2}"

UNITS: Final = (
    "ns us µs μs ms msec msecs milli millis millisecond milliseconds microsecond microseconds nanosecond nanoseconds"
    " s sec secs second seconds min mins minute minutes hr hrs hour hours day days"
)
_PLAIN_UNITS: Final = " ".join(word for word in f"{UNITS} m h d".split() if word.isascii())
SPAN_SIGNS: Final = counted(_PLAIN_UNITS) + " 0m0s 0h0m 0h0m0s 0d0h µ μ"
"""What a text with a length of time shows."""
_AMOUNT: Final = r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"
# "404s" are several responses, not 404 seconds.
_UNIT: Final = rf"(?: ?{any_of(UNITS)}(?<!40[0-9]s)(?<!50[0-4]s)|[mh]|d(?<![^0-9][23]d))(?![a-z_])"

TIME_RULES: Final = (
    rule("time", r"[0-9]{4}-[0-9]{2}-[0-9]{2}[t_-][0-9]{2}[-_.]?[0-9]{2}[-_.]?[0-9]{2}(?:[-_.][0-9]+)?z?", "<time>", "~date"),
    rule(
        "time",
        r"[0-9](?<=[-_.][0-9])[0-9]{3}-[0-9]{2}-[0-9]{2}(?=\.(?:log|txt|json|gz|dump|hprof|csv|zip)\b)",
        "<time>",
        "~date",
    ),
    rule("time", rf"[0-9]{{4}}[-/][0-9]{{2}}[-/][0-9]{{2}}(?:t|,? (?:- )?){_CLOCK}{_ZONE}", "<time>", "~date ~fraction"),
    rule("time", rf"[0-9]{{1,2}}[-/ ]{any_of(_MONTHS)}[-/ ][0-9]{{2,4}}[: ]{_CLOCK}{_ZONE}", "<time>", _MONTHS),
    *after("time", _MONTHS, rf" [0-9]{{1,2}},?(?: [0-9]{{4}},?)? {_CLOCK}{_ZONE}(?: [0-9]{{4}}\b)?", "<time>"),
    *after("time", _WEEKDAYS, ",? <time>", "<time>"),
    rule("time", rf"[0-9]{{1,2}}[-/.][0-9]{{1,2}}(?:[-/.][0-9]{{2,4}})?,? {_CLOCK}{_ZONE}", "<time>", "~clock"),
    rule("time", rf"[0-9](?<![\w:.][0-9])[0-9]?:{_MINUTES}{_ZONE}(?![:\w])", "<time>", "~clock"),
    rule("time", r"[0-9](?<![\w:.][0-9])[0-9]?:[0-9]{2} ?[ap]m\b", "<time>", "0am 0pm"),
    *after("time", "at since until", r" [0-9]{1,2}:[0-9]{2}(?![0-9:])", "{} <time>", also="pair"),
)
SPAN_RULES: Final = (
    rule(
        "time-span",
        rf"[0-9](?<![\w.][0-9])(?:[0-9]*(?:,[0-9]{{3}})*(?:\.[0-9]+)?{_UNIT}|[0-9]?:[0-9]{{2}} min\b)"
        rf"(?: ?{_AMOUNT}{_UNIT})*(?!-\w)",
        "<span>",
        SPAN_SIGNS,
    ),
    rule("time-span", r"\(<span>\)", "", SPAN_SIGNS, also="paren"),
)

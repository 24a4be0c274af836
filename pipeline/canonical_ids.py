"""Ids: what was drawn, counted up or allocated for one run, one request or one object only."""

import re
from typing import Final

from .canonical_rules import after, any_of, rule

_BEFORE_CODE: Final = re.compile(
    r"(?:(?:code|status|hresult|exception|error|errno|signal|exit|exited|exits|terminated|port)\b(?: with| of| is)?"
    r"|\b(?:failed with|return(?:s|ed)|result|reason))[^a-z]{0,24}$",
    re.ASCII,
)
_JUST_BEFORE_ADDRESS: Final = re.compile(
    r"(?:\b(?:at|by|addr(?:ess)?|pc|[re]?[bis]p|lr|ptr|pointer|thread|handle|object|this|self|frame|block|page|heap|base)"
    r"[ :=(]{1,2}|\+)$",
    re.ASCII,
)
"""Words and marks before what is a place in memory: the longest has nine characters."""
_BEFORE_ADDRESS: Final = re.compile(
    r"(?:codec can't decode byte |#<[\w:]{1,50}:|<[\w.]{1,50}:? |\[[0-9]{1,9}:|\.[\w.()*]{1,30}\([0-9a-fx?, .{}]{0,40})$",
    re.ASCII,
)
"""More of them; the byte at which decoding stopped is as much a matter of chance. Each has one of the signs that follow."""
_ADDRESS_SIGNS: Final = ("'", "<", "[", "(")
_SYSTEM_CODES: Final = (
    range(0x80000000, 0x80010000),  # HRESULT
    range(0x80070000, 0x80080000),  # HRESULT that holds an error of Windows
    range(0xC0000000, 0xC0010000),  # NTSTATUS
    range(0xFFFF0000, 0x100000000),  # a small negative number
)
"""Codes of Windows that are printed as decimal numbers."""
_CODE_ID: Final = re.compile(r"\b(?:error|rule|check|alarm|advisory|diagnostic|fault|event)[ _-]$", re.ASCII)
_SHORT_NAME: Final = re.compile(r"[a-z]{0,8}[-_]?[0-9]{1,6}")
_KEYED: Final = (
    "id requestid traceid spanid sessionid jobid messageid correlationid transactionid buildid runid connectionid clientid"
    " eventid hostid reqid tid jid"
)
_SECRETS: Final = "digest etag nonce token commit ray"
_LEVELS: Final = any_of("trace debug info notice warn warning error critical fatal panic log")
_POD: Final = "[bcdfghjklmnpqrstvwxz2456789]"
_THREADS: Final = (
    "thread exec executor dispatcher forkpoolworker spawnpoolworker threadpoolexecutor spawnprocess forkprocess eventloopgroup"
    " nioeventloopgroup"
)
_NUMBERED: Final = "stream connection conn session job build run fd socket transaction"


def names_code(found: re.Match[str]) -> bool:
    """Whether the words before the match call it a code, a status, an error, a signal or a port: then it is meaning."""
    start = found.start()
    return _BEFORE_CODE.search(found.string, max(0, start - 40), start) is not None


def _leave_hex(found: re.Match[str]) -> str:
    if found.lastindex:
        return "<id>"
    digits = found[0]
    return digits if digits.isdigit() or digits.isalpha() or names_code(found) else "<id>"


def _leave_address(found: re.Match[str]) -> str:
    """More than 32 bits, or said to be a place in memory; any other number in hexadecimal digits may be a code or a value."""
    start = found.start()
    long = len(found[0]) > len("0x") + 8
    placed = long or _is_place(found.string, start)
    return "<hex>" if placed and not names_code(found) else found[0]


def _is_place(text: str, start: int) -> bool:
    """A text full of numbers is looked at before each of them, so what is rare is only sought where a sign of it is."""
    if _JUST_BEFORE_ADDRESS.search(text, max(0, start - 10), start):
        return True
    before = text[max(0, start - 64) : start]
    return any(sign in before for sign in _ADDRESS_SIGNS) and _BEFORE_ADDRESS.search(before) is not None


def _leave_number(found: re.Match[str]) -> str:
    number = found[0]
    system = len(number) == 10 and number.isdigit() and any(int(number) in codes for codes in _SYSTEM_CODES)
    return number if system or names_code(found) else "<id>"


def _leave_keyed(found: re.Match[str]) -> str:
    """An id by which people know a kind of error, such as ``E1001``, is a name; any other was drawn for one occurrence."""
    start, mark = found.start(), found.end(1)
    named = _SHORT_NAME.fullmatch(found.string, mark, found.end())
    if named and _CODE_ID.search(found.string, max(0, start - 20), start):
        return found[0]
    return f"{found[0][: mark - start]}<id>"


ID_RULES: Final = (
    *after(
        "keyed-id",
        _KEYED,
        r"(\"?(?: ?[=:] ?| #?)[\"']?)[\w.+/-]{0,200}?[0-9][\w.+/-]*(?::\w+)*=*",
        _leave_keyed,
        left="[a-z]",
    ),
    *after("keyed-id", _SECRETS, r"(\"? ?[=:] ?[\"']?)[\w.+/-]{0,200}?[0-9][\w.+/-]*=*", r"{}\1<id>", left="[a-z]"),
    rule("keyed-id", r"key \(([^()]{1,80})\)=\([^()]{0,400}\)", r"key (\1)=(<id>)", "key"),
    rule("keyed-id", r"key=[0-9]+\b", "key=<id>", "key"),
    *after("keyed-id", "seed", r"[:= ]{1,2}[0-9]+\b", "{} <id>"),
    rule("keyed-id", r"w/\"(?<!\ww/\")[^\"]{1,80}\"", "<id>", "w"),
    rule("keyed-id", r"pin: [0-9]{3}-[0-9]{3}-[0-9]{3}\b", "pin: <id>", "pin"),
    rule(
        "pod",
        rf"-(?=[a-z]{{0,9}}[0-9]){_POD}{{6,10}}-{_POD}{{5}}(?![a-z0-9])",
        "-<pod>",
        "pod pods container deployment replicaset",
    ),
    rule(
        "hardware-address",
        r"[0-9a-f](?<![0-9a-f:-][0-9a-f])[0-9a-f]([:-])(?:[0-9a-f]{2}\1){4,10}[0-9a-f]{2}(?![0-9a-f:-])",
        "<mac>",
        "~octets",
    ),
    rule("frame-offset", r" \+0x[0-9a-f]+\b", "", "~address"),
    rule("address", r"0x(?<!\w0x)[0-9a-f]+\b", _leave_address, "~address"),
    rule(
        "hex",
        r"[0-9a-f](?<![a-z0-9#][0-9a-f])[0-9a-f]{6}"
        r"(?:([0-9a-f]-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|[0-9a-f]*(?![a-z0-9]))",
        _leave_hex,
        "~hex",
    ),
    rule("epoch", r"1(?<![\w.-]1)[0-9]{9}(?:[0-9]{3}|[0-9]{6}|[0-9]{9}|\.[0-9]{1,9})?(?![\w.])", _leave_number, "~long-number"),
    rule("long-number", r"[0-9](?<![\w.-][0-9])[0-9]{8,}(?!\.?\w)", _leave_number, "~long-number"),
    rule("random", r"0[0-7](?<![a-z0-9][0-9]{2})[0-9a-hjkmnp-tv-z]{24}(?![a-z0-9])", "<id>", "~long"),
    rule("random", r"eyj(?<![\w-]eyj)[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?", "<id>", "~long"),
    rule("random", r"[a-z0-9](?<![a-z0-9]{2})(?=[a-z]*[0-9]+[a-z]+[0-9]+[a-z])[a-z0-9]{15,}", "<id>", "~long"),
    rule(
        "prefixed-id",
        r"_(?=[a-z]*[0-9]+[a-z]+[0-9])[a-z0-9]{12,}(?![a-z0-9_])",
        "_<id>",
        "req request cus pi evt sess sub ch tok ord msg run thread call job",
    ),
)

PROCESS_RULES: Final = (
    *after(
        "pid",
        "pid ppid lwp process child processid threadid",
        r"\"?[ :=#(\[]{0,3}[0-9]+\b\]?(?![.:/][0-9])",
        "{} <n>",
    ),
    *after("pid", "node deno bun", r":[0-9]+(?=\))", "{}"),
    rule("pid", r"((?:\S{1,80} )?[\w./-]{1,80})\[[0-9]+\]:", r"\1:", "~bracket", start=True),
    rule("pid", rf"\[(?![1-5][0-9]{{2}}\] -)[0-9]+\] (?=[\[!]|- |{_LEVELS}\b)", "", "~bracket", start=True),
    rule("pid", r" [0-9]+ --- \[", " --- [", "~dashes"),
    rule("pid", r"[0-9](?<!\w[0-9])[0-9]*#[0-9]+: \*[0-9]+", "", "#"),
    rule("pid", r"\[(<time>|) ?#[0-9]+\]", r"[\1]", "#"),
    rule("pid", r"[0-9]+:[mscx] ", "", "0m 0s 0c 0x", start=True, also="number-first"),
    rule("pid", r"==[0-9]+== ?", "", "~rule-first", start=True),
    rule("pid", r"([\w./-]{1,80})\[[0-9]+:[0-9]+\] ", r"\1 ", "~bracket", start=True),
    rule("pid", r"([vdiwef]/[\w.-]{1,80})\( ?[0-9]+\):", r"\1:", "v d i w e f", start=True),
    rule("pid", r"[0-9]+ [0-9]+ (?=[vdiwef] )", "", "~number-first", start=True),
    rule("pid", r"\[nest\] [0-9]+ - ", "[nest] ", "nest", start=True),
    rule("pid", r"\[[0-9]+:<hex>\]", "", "~bracket"),
    rule("pid", r"<[0-9]+\.[0-9]+\.[0-9]+>", "<pid>", "<"),
    rule(
        "goroutine",
        r"goroutine [0-9]+(?: \[([a-z .()]{1,60})(?:, <span>)?(?:, locked to thread)?\])?",
        r"goroutine <n> [\1]",
        "goroutine",
    ),
    *after("thread", _THREADS, r"[-_ #]{0,2}[0-9]+(?:[-_][0-9]+)*\b(?!\.\w)", "{} <n>", left=r"\d"),
    # A name such as "worker-1" is somebody's; "tokio-runtime-worker-1" and "worker 1" are counted.
    rule("thread", r"worker(?:(?<=-worker)[-_]| #?)[0-9]+\b(?!\.\w)", "worker <n>", "worker"),
    rule("pid", r"laddr=\('[^']{0,80}', [0-9]+\)", "laddr", "laddr"),
    rule("thread", r"pool-[0-9]+-", "pool-<n>-", "pool"),
    rule("thread", r"(thread '[^']{0,80}') \([0-9]+\)", r"\1", "thread"),
    rule("thread", r"name='task-[0-9]+'", "name='task'", "task"),
    rule("thread", r"\[gw[0-9]+\]", "", "gw"),
    rule("object-hash", r"@(?<=[a-z$\]]@)(?=[a-f]{0,8}[0-9])[0-9a-f]{5,8}\b(?!\.)", "@<hex>", "@"),
    rule("object-hash", r"\$\$lambda[$/\w<>]*", "$$lambda", "lambda"),
    *after("numbered", _NUMBERED, r"(?: number)?[ #:=]{1,2}#?[0-9]+(?![\w.])", "{} <n>"),
    *after("numbered", "client request", r"[ #:=]{1,2}#?(?![1-5][0-9]{2}\b)[0-9]+(?![\w.])", "{} <n>"),
)

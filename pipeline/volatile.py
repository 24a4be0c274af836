"""Volatile: what changes from one occurrence of a message to the next for certain, and never what tells two messages apart."""

import re
from typing import Final

from .canonical_paths import leave_asset, leave_path, leave_request_path, leave_temporary, leave_url
from .canonical_rules import Rules, alternatives, rule
from .canonical_strict import collapse

_METHODS: Final = "get post put patch delete head options"
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec january february march april june july august september october november december"
_MONTH: Final = alternatives(_MONTHS)
_DAY: Final = "(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?"
_CLOCK: Final = r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?[ap]\.?m\b\.?)?"
_ZONE: Final = r"(?: ?(?:z|utc|gmt|[ecmp][sd]t|cest|cet|[+-]\d\d:?\d\d)\b)*"
_SOURCES: Final = alternatives(
    "py pyi pyx js jsx ts tsx mjs cjs mts cts vue svelte astro go rs java kt kts scala rb php c cc cpp cxx h hpp hh cs fs swift m mm"
    " ex exs erl hs ml lua pl pm sh bash zsh sql html css scss sass less json jsonc yaml yml toml xml md mdx proto tf zig nim dart r jl"
    " clj groovy gradle txt cfg ini conf lock graphql gql prisma tpl ejs hbs pug tmpl sol wat asm log env csv"
)
_ASSETS: Final = alternatives("js mjs cjs css map woff woff2 ttf png jpg jpeg svg gif webp avif ico wasm json html")
_PORT_ABOVE: Final = r"(?:3[3-9]|[4-6]\d)\d{3}\b"
"""Ports that a system hands out to clients; what a server listens on lies below."""
_TIMES: Final = "ns us µs μs ms msec msecs millis millisecond milliseconds s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days"
_NUMBER: Final = r"\d[\d,]*(?:\.\d+)?"
_SPAN: Final = (
    rf"{_NUMBER}(?: ?(?:ns|[uµμ]s|ms|msecs?|millis(?:econds?)?|microseconds?|nanoseconds?|s|secs?|seconds?|mins?|minutes?|hrs?|hours?|days?)|[mhd])(?![a-z_])"
)
_CODE: Final = r"(?<!code )(?<!code: )(?<!code=)(?<!status )(?<!status: )(?<!error )(?<!exception )(?<!errno )(?<!signal )(?<!exit )(?<!port )"
_LITERAL: Final = r"(?:-?\d[\d.,]*(?<![.,])|undefined|null|nil|none|true|false|nan)"
_QUOTED: Final = r"""(?:'[^']{0,200}'|"[^"]{0,200}"|`[^`]{0,200}`)"""
_VALUE: Final = rf"(?:{_LITERAL}|{_QUOTED})"
_NODE_FILES: Final = (
    "(?:node:[^)]*|internal/[^)]*|(?:_?(?:net|http|https|fs|events|stream|util|assert|timers|tls|dns|child_process|cluster|zlib|buffer|module|vm|dgram"
    r"|domain|readline|url|crypto|tty|worker_threads|async_hooks)|_(?:stream|http|tls)_\w{1,20})\.js[^)]*)"
)

_BEFORE_CODE: Final = re.compile(r"(?:code|status|hresult|exception|error|errno|signal)\b[^a-z]{0,24}$")


def _leave_address(found: re.Match[str]) -> str:
    return found[0] if _BEFORE_CODE.search(found.string, max(0, found.start() - 40), found.start()) else "<hex>"


_ADDRESSES: Final = (
    rule("data-url", r"\bdata:([a-z]{1,20}/[a-z0-9.+-]{1,80})?(?:;[a-z0-9=-]{1,40}){0,8},[^\s\"'<>)]*", r"data:\1,<data>", "data"),
    rule("blob-url", r"\bblob:[^\s\"'<>)]+", "<blob>", "blob"),
    rule("url", r"(?P<scheme>\b(?:https?|wss?)://)(?P<rest>[^\s\"'<>)\]|]+)", leave_url, "http https ws wss"),
    rule("client-port", rf"((?:\d{{1,3}}\.){{3}}\d{{1,3}}|localhost|\]):\d+(?= - \"?{alternatives(_METHODS)})", r"\1", _METHODS),
    rule("client-port", r"(?<=[\d\]]):\d+(?=->)", "", ">"),
    rule(
        "client-port",
        rf"\b(from|client|peer|remote)((?: addr(?:ess)?)?[ :=]{{1,2}}(?:(?:\d{{1,3}}\.){{3}}\d{{1,3}}|\[::1?\]|localhost)):{_PORT_ABOVE}",
        r"\1\2",
        "from client peer remote",
    ),
    rule("request", rf"(?P<method>\b{alternatives(_METHODS)} \"?)(?P<path>/[^\s\"'|)]*)", leave_request_path, _METHODS),
    rule("temporary-path", r"(?<![\w.])(?:/private)?(?:/var/folders/[^/\s]+/[^/\s]+/[a-z0-9]|/var/tmp|/tmp|/dev/shm|[a-z]:\\users\\[^\\\s]+\\appdata\\local\\temp)[/\\](?P<rest>[^\s'\"()<>:;,]+)", leave_temporary, "tmp temp folders shm"),
    rule("route", r"(?<![^\s\"'(=\[:])(?P<path>/[a-z_-][^\s\"'?)\]:,;]*)(?:\?[^\s\"')\]]*)?", leave_path, "~slash"),
    rule("query", rf"(\.{_SOURCES})\?[^\s'\"<>)\]:]*", r"\1", "?"),
    rule("asset-hash", rf"(?P<mark>[-._])(?P<hash>[0-9a-f]{{6,40}}|[a-z0-9_-]{{8}})(?=\.(?:(?:chunk|min|module|bundle|async)\.)?{_ASSETS}\b)", leave_asset, "js mjs cjs css map woff png jpg jpeg svg gif webp avif ico wasm json html"),
)

_CLOCKS: Final = (
    rule("file-stamp", r"\d{4}-\d\d-\d\d[t_-]\d\d[-_.]?\d\d[-_.]?\d\d(?:[-_.]\d+)?z?", "<time>", "~date"),
    rule("file-stamp", r"(?<=[-_.])\d{4}-\d\d-\d\d(?=\.(?:log|txt|json|gz|dump|hprof|csv|zip)\b)", "<time>", "~date"),
    rule("time", rf"\d{{4}}[-/]\d\d[-/]\d\d(?:t|,? (?:- )?){_CLOCK}{_ZONE}", "<time>", "~date", "~slash"),
    rule("time", rf"{_DAY}\b{_MONTH} \d{{1,2}},?(?: \d{{4}},?)? {_CLOCK}{_ZONE}(?: \d{{4}}\b)?", "<time>", _MONTHS),
    rule("time", rf"{_DAY}\b\d{{1,2}}[-/ ]{_MONTH}[-/ ]\d{{2,4}}[: ]{_CLOCK}{_ZONE}", "<time>", _MONTHS),
    rule("time", rf"(?<![\w:.]){_CLOCK}{_ZONE}(?![:\w])", "<time>", "~colon"),
    rule("time", r"(?<![\w:.])\d{1,2}:\d\d ?[ap]m\b", "<time>", "am pm"),
    rule("time", r"\b(at|since|until) \d{1,2}:\d\d(?![\d:])", r"\1 <time>", "since until at"),
)

_NUMBERS: Final = (
    rule("pod", r"-(?=[a-z]*\d)[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])", "-<pod>", "pod pods container deployment replicaset"),
    rule("hardware-address", r"(?<![0-9a-f:-])[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4,10}[0-9a-f]{2}(?![0-9a-f:-])", "<mac>", "~octets"),
    rule("uuid", r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>", "~hex"),
    rule("frame-offset", r" \+0x[0-9a-f]+\b", "", "~address"),
    rule("address", r"\b0x[0-9a-f]+\b", _leave_address, "~address"),
    rule("hex", rf"{_CODE}(?<![a-z0-9])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,}}(?![a-z0-9])", "<hex>", "~hex"),
    rule("epoch", rf"{_CODE}(?<![\w.-])1\d{{9}}(?:\d{{3}}|\d{{6}}|\d{{9}}|\.\d{{1,9}})?(?![\w.])", "<epoch>", "~hex"),
    rule("long-number", rf"{_CODE}(?<![\w.-])\d{{9,}}(?!\.?\w)", "<n>", "~hex"),
    rule("random", r"(?<![a-z0-9])(?=[a-z]*\d+[a-z]+\d+[a-z])[a-z0-9]{16,}(?![a-z0-9])", "<id>", "~long"),
    rule("prefixed-id", r"_(?=[a-z]*\d+[a-z]+\d)[a-z0-9]{12,}(?![a-z0-9_])", "_<id>", "req request cus pi evt sess sub ch tok ord msg run thread call job"),
    rule("duration", rf"(?<![\w.])(?![45]\d\ds\b){_SPAN}(?: ?{_SPAN})*(?!-\w)", "<time span>", _TIMES, "m h d"),
    rule("size", rf"(?<![\w.]){_NUMBER} ?(?:[kmgt]i?b|bytes?)\b", "<size>", "kb mb gb tb kib mib gib tib bytes byte"),
    rule("percentage", r"\d+(?:\.\d+)? ?%(?![0-9a-f]{2})", "<n>%", "%"),
    rule("money", r"\$\d[\d,]*\.\d+", "<money>", "$"),
)

_PLACES: Final = (
    rule("line-column", r"(?:(?<=[^\s\d:])|(?<=[a-z_]\d)):\d+:\d+(?:-\d+(?::\d+)?)?(?!\d)(?: -(?= )|:(?!\w))?", "", "~colon"),
    rule("line", rf"(\.{_SOURCES}):(?:line )?\d+(?:-\d+)?(?![\w.]):?", r"\1", "~colon", "line"),
    rule("line", r"\b(makefile|dockerfile|gemfile|rakefile|procfile):\d+(?::(?= )|\b)", r"\1", "makefile dockerfile gemfile rakefile procfile"),
    rule("line-column", rf"(\.{_SOURCES})(?: ?\(\d+(?:[,:]\d+){{0,3}}\)|\[\d+(?:, ?\d+)?\])(?: ?:)?", r"\1", "~paren"),
    rule("line-column", rf"(\.{_SOURCES}) \d+:\d+(?:-\d+(?::\d+)?)?(?= |$)", r"\1", "~colon"),
    rule("line-column", r"(?<= )\d+:\d+(?= (?:error|warning|info|note)\b)", "<line>", "error warning"),
    rule("position", r"\b(lines?|ln|col|column|char|character|position|pos|offset|byte|index)(\"?(?: is|[:=#])? ?)\d+(?:-\d+)?(?![\w.])", r"\1 <n>", "line lines ln col column char character position pos offset byte index"),
    rule("length", r"\b(length|len|size)((?: is| of|:|=)? ?)\d+\b", r"\1 <n>", "index"),
    rule("runtime-frame", rf"(?: ?async)? ?\bat (?:[\w.$<>]{{1,80}} ){{1,4}}(?:\[as [\w.]{{1,80}}\] )?\({_NODE_FILES}\)", "", "node js internal"),
    rule("runtime-frame", r" ?\bat (?:async )?(?:node:|internal/)[\w/.]{1,120}", "", "node internal"),
)

_IDS: Final = (
    rule("pid", r"\b(pid|ppid|tid|lwp|process|child|processid|threadid)(\"?[ :=#(\[]{0,3})\d+\b\]?(?![.:/]\d)", r"\1 <n>", "pid ppid tid lwp process child processid threadid"),
    rule("pid", r"\((node|deno|bun):\d+\)", r"(\1)", "node deno bun"),
    rule("pid", r"^((?:\S{1,80} )?[\w./-]{1,80})\[\d+\]:", r"\1:", "["),
    rule("pid", r"^\[\d+\] (?=\[|(?:error|warning|critical|fatal|info|debug|log|notice|panic)\b)", "", "["),
    rule("pid", r"\b(trace|debug|info|warn|error|fatal) \d+ (?=--- \[)", r"\1 ", "trace debug info warn error fatal"),
    rule("pid", r"\b\d+#\d+: \*\d+ ?", "", "#"),
    rule("pid", r"\[(<time>|) ?#\d+\]", r"[\1]", "#"),
    rule("pid", r"^\d+:[mscx] ", "", "m s c x"),
    rule("pid", r"\[\d+:<hex>\] ", "", "["),
    rule("pid", r"<\d+\.\d+\.\d+>", "<pid>", "<"),
    rule("goroutine", r"\bgoroutine \d+(?: \[([a-z .()]{1,60})(?:, <time span>)?(?:, locked to thread)?\])?", r"goroutine <n> [\1]", "goroutine"),
    rule("thread", r"(thread|exec|poolworker|executor|(?<=-)worker|worker(?= #?\d)|dispatcher|spawnprocess|forkprocess|eventloopgroup)([-_ #]{0,2})\d+(?:[-_]\d+)*\b(?!\.\w)", r"\1 <n>", "thread exec worker forkpoolworker spawnpoolworker threadpoolexecutor executor dispatcher spawnprocess forkprocess nioeventloopgroup eventloopgroup"),
    rule("thread", r"\bpool-\d+-", "pool-<n>-", "pool"),
    rule("thread", r"(thread '[^']{0,80}') \(\d+\)", r"\1", "thread"),
    rule("thread", r"name='task-\d+'", "name='task'", "task"),
    rule("thread", r"\[gw\d+\] ?", "", "gw"),
    rule("object-hash", r"(?<=[a-z$\]])@(?=[a-f]*\d)[0-9a-f]{5,8}\b(?!\.)", "@<hex>", "@"),
    rule("keyed-id", r"(?<![a-z])(id|requestid|traceid|spanid|sessionid|jobid|messageid|correlationid|transactionid|buildid|runid|connectionid|clientid|eventid|digest|etag|nonce|token|commit)(\"?(?: ?[=:] ?| #?)[\"']?)[\w.-]*\d[\w.-]*", r"\1\2<id>", "id requestid traceid spanid sessionid jobid messageid correlationid transactionid buildid runid connectionid clientid eventid digest etag nonce token commit"),
    rule("numbered", r"\b(stream|connection|conn|session|job|build|run|fd|socket)(?: number)?([ #:=]{1,2})#?\d+(?![\w.])", r"\1 <n>", "stream connection conn session job build run fd socket"),
    rule("numbered", r"\b(client|request)([ #:=]{1,2})#?(?![1-5]\d\d\b)\d+(?![\w.])", r"\1 <n>", "client request"),
)

_COUNTED: Final = alternatives("errors error warnings warning problems problem tests test modules module packages package files tokens events lines items rows records messages suites vulnerabilities occurrences")
_TALLIED: Final = "failed passed skipped ignored measured pending total todo xfailed xpassed deselected errors error failures"
_COUNTS: Final = (
    rule("repeat", r" ?\(x\d+\)", "", "x"),
    rule("repeat", r"(?<![\w@.])\d+x(?![\w.])", "<n>x", "x"),
    rule("repeat", r" x\d+$", "", "x"),
    rule("repeat", r" ?×\d+", "", "×"),
    rule("repeat", r"\b\d+ times\b", "<n> times", "times"),
    rule("attempt", r"\b(retry|retries|attempt|attempts|try|iteration|iter|turn|round|depth|backlog|allocations|seq|sequence)((?: count| number| no\.?)?[ :=#(]{0,3})\d+(?:(?: ?/ ?| of )\d+)?(?![\w.])", r"\1 <n>", "retry retries attempt attempts try iteration iter turn round depth backlog allocations seq sequence"),
    rule("progress", r"([\[(])\d+ ?/ ?\d+(?=[\])])", r"\1<n>", "~paren", "["),
    rule("progress", r"(?<![\w.])\d+ of \d+\b(?!\.\d)", "<n> of <n>", "of"),
    rule("progress", r"(?<![\w.])(<\w+>) of <\w+>", r"\1 of", "of"),
    rule("count", rf"{_CODE}(?<!http )(?<![\w.:/#-])(?![1-5]\d\d (?:errors?|problems?|messages?|tests?)\b)[1-9][\d,]*( (?:previous )?){_COUNTED}\b", r"<n>\1<things>", "errors error warnings warning problems problem tests test modules module packages package files tokens events lines items rows records messages suites vulnerabilities occurrences"),
    rule("tally", rf"(?:(?<=[,;:|(=.] )|(?<=[(=])|(?<=tests )|(?<=files )|(?<=suites )|^)[1-9]\d* ({alternatives(_TALLIED)})(?=[,;|)]| in | \||$)", r"<n> \1", "passed skipped ignored total failed"),
    rule("rate", r"(: ?)(?![1-5]\d\d )\d+ in (?=<time span>)", r"\1<n> in ", _TIMES, "m h d"),
    rule("rate", r" ?\(<time span>\)", "", _TIMES, "m h d"),
    rule("response-size", r"(http/[\d.]{1,5}\" \d{3}) (?:\d+|-)", r"\1 <n>", "http"),
    rule("response-size", r"(\d{3} <time span> - )\d+", r"\1<n>", "ms"),
    rule("measure", r"\b(responsetime|elapsed|duration|latency|took|uptime|bytes|content-length)(\"?(?: ?[=:] ?| ))\d+(?:\.\d+)?(?![\w.])", r"\1\2<n>", "responsetime elapsed duration latency took uptime bytes length"),
    rule("measure", r"\d+\.\d+ \(\d+\.\d+\)", "<n>", "gcs scavenge mark"),
)


def _leave_compared(found: re.Match[str]) -> str:
    return found[0] if "status" in found.string else f"{found[1]} <value>"


_ASSERTED: Final = (
    rule("asserted", r"^((?:\[gw\d+\] )?(?:failed|error|rerun) .*? - )(?:assertionerror: )?assert .*$", r"\1assert <values>", "assert"),
    rule("asserted", rf"\bassert {_VALUE} (==|!=|<=?|>=?|is|in|not in) {_VALUE}", r"assert <value> \1 <value>", "assert"),
    rule("asserted", rf"\b(assertionerror: ){_VALUE} (!=|==) {_VALUE}", r"\1<value> \2 <value>", "assertionerror"),
    rule("asserted", rf"\bexpected {_VALUE} to ([a-z ]{{2,30}}?) {_VALUE}", r"expected <value> to \1 <value>", "expected"),
    rule("asserted", rf"\b(expected|received|got|want|actual|left|right|but was)(?:: ?| )(?:{_LITERAL}(?!\w)|<[^<>]{{0,200}}>)", _leave_compared, "expected received got want actual left right was"),
    rule("line", r"(?<=\w):\d+(?= expected\b|->\w)", "", "expected"),
    rule("ruler", r"([=━─_-])\1{3,}", r"\1\1\1", "failed passed failures errors warnings"),
    rule("asserted", r"\bnot ok \d+", "not ok", "ok"),
    rule("asserted", r"^\d+\) ", "", "failure error"),
)

STANDARD: Final = Rules((*_ADDRESSES, *_CLOCKS, *_NUMBERS, *_PLACES, *_IDS, *_COUNTS, *_ASSERTED))

_GUTTER: Final = re.compile(r"^[ \t>]{0,40}\d{1,7}[ \t]{0,8}[|│]", re.MULTILINE)
_MIXED_HASH: Final = re.compile(r"(?<=[-.])(?=[A-Za-z_-]*[a-z])(?=[a-z_-]*[A-Z])[A-Za-z0-9_-]{8}(?=\.(?:js|css|mjs)\b)")


def mask_standard(text: str) -> str:
    """The standard form of a core (see ``core``): lower case, single spaces, placeholders for what is volatile."""
    if "\n" in text and "|" in text:
        text = _GUTTER.sub("|", text)
    if "assets/" in text:
        text = _MIXED_HASH.sub("<hash>", text)
    return STANDARD.apply(collapse(text))

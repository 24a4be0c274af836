"""Prefix: takes time, level, logger and service name off the front of a log line, so that anchors work behind them.

Parsing is greedy but loses nothing: a pattern anchored with ``^`` is tried at the start of the line and behind each part that
was taken off, so a message that only looks like a prefix (``ERROR in ./src/a.ts``) still matches as printed.
"""

import re
from typing import Final

import msgspec

Level = str
"""``debug``, ``info``, ``warning``, ``error`` or ``critical``; empty if the line states none."""

LEVELS: Final[dict[str, Level]] = {
    word: level
    for level, words in {
        "debug": "trace trac debug debu verbose silly fine finer finest trce dbug dbg trc verb v d",
        "info": "info notice information log inf i n success config ready hint http status note",
        "warning": "warn warning wrn w",
        "error": "error err erro severe fail failed eror e failure",
        "critical": "critical crit fatal alert emerg emergency panic ftl fata pani f c crt dpanic",
    }.items()
    for word in words.split()
}
"""Words and letters that loggers use, in lower case, and the level that each means."""

_TIME: Final = r"""
    (?P<time>
      [\[(]?\d{4}[-/.]\d\d[-/.]\d\d(?:T|[ ]{1,2}|[ ]-[ ])\d\d:\d\d(?::\d\d)?(?:[.,:]\d{1,9})?[ ]?
      (?:Z|UTC|GMT|[A-Z]{3,4}(?=\s\[)|[+-]\d\d:?\d\d)?
    | [\[(]?\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?(?:[ \u202f]?[AaPp]\.?[Mm]\.?)?(?![\d:])
    | \d{1,2}:\d\d[AP]M(?=\s)
    | \[?(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?[ ])?MONTH[ ]{1,2}\d{1,2}[ ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[ ]\d{4})?
    | \[?\d{1,2}[ /-]MONTH[ /-]\d{4}[ :]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:[ ][+-]\d{4})?
    | \[?\d{1,2}/\d{1,2}/\d{2,4},?[ ]\d{1,2}:\d\d(?::\d\d)?(?:[ \u202f]?[AP]M)?
    | \[?1[5-9]\d{8}(?:\.\d{1,9}|\d{3})?(?=[\]\s])
    )(?P<close>[\])]?)
""".replace("MONTH", "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)")
_ANY_LEVEL: Final = (
    r"TRACE|DEBUG|VERBOSE|FINEST|FINER|FINE|INFO|NOTICE|LOG|WARNING|WARN|ERROR|ERRO|ERR|SEVERE|CRITICAL|CRIT|FATAL|FATA|ALERT"
    r"|EMERGENCY|EMERG|DPANIC|PANIC|TRC|DBG|INF|WRN|FTL"
)
_WORD: Final = r"[A-Za-z_][\w.$:/@-]*"

# Each piece is tried at the present place, in this order, until none fits.
_PIECES: Final = tuple(
    re.compile(pattern, re.VERBOSE)
    for pattern in (
        _TIME,
        # klog: I0501 10:00:00.000000   1 file.go:12]
        r"(?P<level>[IWEF])\d{4}[ ]\d\d:\d\d:\d\d\.\d+[ ]+\d+[ ][\w.-]+:\d+\]",
        # Tornado, Jupyter: [E 10:00:00.000 ServerApp]
        r"\[(?P<level>[DIWEFC])[ ](?:(?:\d{6}|\d{4}-\d\d-\d\d)[ ])?\d\d:\d\d:\d\d(?:\.\d+)?[ ][\w.:-]+\]",
        # logrus: ERRO[0000]
        r"(?P<level>TRAC|DEBU|INFO|WARN|ERRO|FATA|PANI)\[\d{4,}\]",
        # Monolog: app.ERROR:
        r"[a-z][\w-]*\.(?P<level>DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL|ALERT|EMERGENCY):(?=[ ])",
        # Rails: E, [2031-05-01T10:00:00.000000 #123] ERROR -- name:
        r"[DIWEFA],[ ]\[[^\]]{1,60}\][ ]+(?P<level>[A-Z]+)[ ]--[ ][^:]{0,40}:",
        # .NET: fail: Microsoft.AspNetCore.Server[13]
        r"(?P<level>trce|dbug|info|warn|fail|crit):(?=[ ])",
        # Brackets, angle brackets or a word in capitals; a colon may follow.
        rf"[\[<(][ ]?(?P<level>(?:{_ANY_LEVEL})|(?i:{_ANY_LEVEL}))[ ]{{0,8}}[\]>)]:?",
        # A bracket that closes here was opened before the time: [10:00:00 ERR]
        rf"(?P<level>{_ANY_LEVEL})(?::(?=\s|$)|\]:?|(?P<bare>(?=\s|$|\[|\|)))",
        r"(?P<level>debug|info|warn|warning|verbose|notice|trace):(?=\s)",
        r"(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]+:",
        r"(?:lvl|level|severity)=\"?(?P<level>[A-Za-z]+)\"?",
        r"(?P<time>(?:time|ts|timestamp|t)=(?:\"[^\"]*\"|\S+))",
        # pid, thread, request: [main], [1234], 12#12:
        r"(?P<bracket>\[[^\[\]]{1,60}\]):?",
        r"\d+\#\d+:|\#\d+(?=[\s\]])",
    )
)
_AFTER_TIME: Final = re.compile(
    r"(?P<level>error|err|warn|warning|wrn|info|inf|debug|dbg|fatal|ftl|critical|trace)(?:\]|(?=\s|:\s|$):?)"
    r"|\d{1,7}(?=\s(?:---|\[))|---|-(?=\s)|\|(?=\s)|[:–](?=\s)"
    r"|\*\d+(?=\s)|(?:msg|message)=\"?|(?:caller|logger|component|source|name)=\S+"
)
# A letter in brackets means a level behind a time only; elsewhere it may mean anything.
_LETTER: Final = re.compile(r"\[(?P<level>[DIWEF])\]")
_LOGGER: Final = re.compile(rf"(?P<logger>{_WORD}(?:\[\d+\])?(?:\(\d+\))?)(?:\s?[-–]\s|\s?:\s+|\s\|\s|\]\s)")
_NO_LOGGER: Final = re.compile(
    r"(?i)(?:.*(?:error|exception|warning|exit|interrupt|failure|fault)|fatal|panic|exception|uncaught|unhandled\w*|cause|caused|failed)$"
)
_SYSLOG: Final = re.compile(r"(?P<host>[\w.-]+)[ ](?P<program>[\w./-]+)(?:\[\d+\])?:[ ]")
_SERVICE: Final = re.compile(
    r"(?P<pipe>[A-Za-z@][\w./@-]*)[ ]*\|(?:[ ]|$)"
    r"|(?P<task>(?:@[\w.-]+/)?[\w.-]+:(?:dev|start|serve|watch|build|test|lint|check)[\w-]*):[ ]"
    r"|(?P<index>\[(?:\d{1,2}|[a-z@][\w./:@-]{0,40})\])(?:[ ]|$)"
    r"|(?P<pod>\[pod/[\w./-]+\])[ ]"
)
_THREAD: Final = re.compile(r"\[(?:main|.*-\d+|.*thread.*|.*/.*:.*)\]")
_SPACE: Final = re.compile(r"[ \t]*")


class Prefixed(msgspec.Struct, frozen=True, kw_only=True):
    """One line with what stands before its message."""

    line: str
    """The line as it is, without white space at its end."""
    starts: tuple[str, ...]
    """The rest of the line from each place where the message may begin; the first is the line itself, the last the shortest."""
    level: Level = ""
    service: str = ""
    """What names one of several programs in one stream: ``web-1``, ``[vite]``, ``api:dev``."""
    timed: bool = False
    """True if a time was taken off."""
    stated: str = ""
    """The message with its level, where the level is a bare word at the beginning: ``ERROR IN CONTACTING RM.``"""
    stack: str = ""
    """The stack of an error that a structured line carries in a field of its own."""

    @property
    def body(self) -> str:
        """The message, everything before it taken off."""
        return self.starts[-1]

    @property
    def taken_off(self) -> str:
        """What was taken off."""
        return self.line[: len(self.line) - len(self.starts[-1])]


def service_of(line: str) -> tuple[str, str]:
    """The name of the program within a shared stream, and the line without it; an empty name if it says none."""
    found = _SERVICE.match(line)
    if found is None:
        return "", line
    name = found["pipe"] or found["task"] or found["index"] or found["pod"]
    if name.strip("[]").lower() in LEVELS or _THREAD.fullmatch(name):
        return "", line
    return name, line[found.end() :]


def parse(line: str) -> Prefixed:
    """Take service, time, level, thread and logger off the front, whatever their order."""
    line = line.rstrip()
    service, rest = service_of(line)
    starts = [line] if not service else [line, rest]
    level, stated, timed, at = "", "", False, len(line) - len(rest)
    for _ in range(8):
        at = _SPACE.match(line, at).end()  # type: ignore[union-attr]  # it matches everywhere
        found = _piece(line, at, timed or bool(level))
        if found is None:
            break
        groups = found.groupdict()
        said = groups.get("level")
        if said:
            if level:
                break
            stated = line[at:] if groups.get("bare") is not None and not timed else ""
            level = LEVELS.get(said.lower(), "")
        timed = timed or bool(groups.get("time"))
        at = found.end()
        if groups.get("time") and not service:
            service, rest = service_of(line[at:].lstrip())
            at = len(line) - len(rest) if service else at
        starts.append(line[at:].lstrip())
    starts = [start for start in dict.fromkeys(starts) if start]
    return Prefixed(line=line, starts=tuple(starts) or (line,), level=level, service=service, timed=timed, stated=stated)


def without_time(line: str) -> str:
    """The line behind a time at its start, for continuation lines of a stream that stamps each line."""
    found = _PIECES[0].match(line)
    return line[found.end() :].removeprefix(" ") if found else line


def _piece(line: str, at: int, begun: bool) -> re.Match[str] | None:
    if begun and (letter := _LETTER.match(line, at)):
        return letter
    for piece in _PIECES:
        found = piece.match(line, at)
        if found is not None:
            return found
    if not begun:
        return None
    found = _AFTER_TIME.match(line, at) or _SYSLOG.match(line, at)
    if found is not None:
        return found
    found = _LOGGER.match(line, at)
    return found if found is not None and not _NO_LOGGER.match(found["logger"]) else None

"""Stacks of the JVM, .NET, Ruby, PHP, Elixir and the sanitizers: each with its causes is one finding."""

import re
from collections.abc import Sequence
from typing import Final

from .blocks import Block, Step, Told
from .frames import is_own, is_own_class, named

_JVM_FRAME: Final = re.compile(
    r"^\s+at (?:[\w.@-]+/{1,2})?(?P<class>[\w.$]+?)\.(?P<method>[\w$<>-]+)\((?:(?P<file>[^():]+)(?::\d+)?)?\)"
)
_JVM_CAUSE: Final = re.compile(r"^(?:Caused by|\s+Suppressed): (?P<text>.+)$")
_JVM_MORE: Final = re.compile(r"^\s+(?:\.{3} \d+ |\.{3}\s*$|\|? ?at |\[CIRCULAR|- locked |- waiting )")
_JVM_TYPE: Final = re.compile(r"(?P<text>(?:[a-z_][\w]*\.)+[A-Z][\w$.]*(?:: .*)?)$")

_NET_FRAME: Final = re.compile(r"^\s+at (?P<method>[\w.<>`+|\[\],$]+)\(.*?\)(?: in (?P<file>.+?):line \d+)?$")
_NET_CAUSE: Final = re.compile(r"^\s*-+> (?P<text>[\w.`]+(?:: .*)?)$")
_NET_MORE: Final = re.compile(r"^\s*-{3} End of ")
_NET_TYPE: Final = re.compile(r"(?P<text>(?:[A-Z]\w*\.)+\w*Exception(?: \(0x[0-9A-Fa-f]+\))?(?:: .*)?)$")

_RUBY_HEAD: Final = re.compile(
    r"^(?P<file><internal:[^>]+>|[^\s:]+):\d+:in [`'](?P<function>[^']+)': (?P<message>.*?)(?: \((?P<type>[A-Z][\w:]*)\))?$"
)
_RUBY_FRAME: Final = re.compile(r"^\s+(?:\d+: )?from (?P<file><internal:[^>]+>|[^:]+):\d+(?::in [`'](?P<function>[^']+)')?")
_RAILS_HEAD: Final = re.compile(r"^(?P<type>[A-Z][\w:]*(?:Error|Exception|Invalid|NotFound)) \((?P<message>.*?)\)?:?$")
_RAILS_FRAME: Final = re.compile(r"^\s*(?P<file>[\w./-]+\.(?:rb|erb|haml|slim|rake)):\d+:in [`'](?P<function>[^']+)'")


_ELIXIR_HEAD: Final = re.compile(r"^\*\* \((?P<type>[\w.]+)\) ?(?P<text>.*)$")
_ELIXIR_FRAME: Final = re.compile(r"^\s+(?:\((?P<library>[\w.]+) [\w.+-]+\) )?(?P<file>[\w./-]+\.exs?):\d+: (?P<function>.+)$")

# fmt: off
_ELIXIR_LIBRARIES: Final = frozenset((
    "elixir", "stdlib", "kernel", "ex_unit", "mix", "iex", "logger", "eex", "phoenix", "phoenix_live_view",
    "phoenix_ecto", "plug", "plug_cowboy", "cowboy", "ranch", "bandit", "thousand_island", "ecto", "ecto_sql",
    "db_connection", "postgrex", "telemetry", "oban", "absinthe",
))
# fmt: on

_ASAN_FRAME: Final = re.compile(r"^\s+#\d+ 0x[0-9a-f]+ in (?P<function>.+?) (?P<file>/\S+?)(?::\d+){0,2}$")
_ASAN_MORE: Final = re.compile(
    r"^(?:[\s=]|READ |WRITE |0x|previously |freed |allocated |Shadow |Direct leak|Indirect leak|Thread T|HINT|Hint|Address "
    r"|This frame|Memory access|Register values|rax |The signal|\w+Sanitizer|NOTE|Uninitialized value|Location is"
    r"|\S+:\d+:\d+: note: )"
)
_ASAN_TEXT: Final = re.compile(r"(?P<text>(?:\w+Sanitizer: |runtime error: ).+?)(?: on (?:unknown )?address .*| \(pid=\d+\))?$")


class Jvm(Block):
    """A Java, Kotlin or Scala exception with its causes; the innermost cause names the fault."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The type and message stand in the first line."""
        del before
        found = _JVM_TYPE.search(line)
        self._text = found["text"] if found else line
        self._cause, self._own, self._any = "", "", ""

    def step(self, line: str) -> Step:
        """Frames, causes, and lines that say how many frames are left out; a message may have more lines before them."""
        if found := _JVM_FRAME.match(line):
            self._frame(found)
            return Step.OURS
        if found := _JVM_CAUSE.match(line):
            if not line[0].isspace():
                self._cause, self._own = found["text"], ""
            return Step.OURS
        if _JVM_MORE.match(line):
            return Step.OURS
        return Step.ASIDE if not self._any and line.strip() and len(self.aside) < 6 else Step.OVER

    def told(self) -> list[Told]:
        """Outer exception and root cause."""
        text = f"{self._text} (caused by {self._cause})" if self._cause else self._text
        return [Told(text=text, frame=self._own or self._any)]

    def _frame(self, found: re.Match[str]) -> None:
        simple = found["class"].rsplit(".", 1)[-1]
        name = named(found["file"] or simple, f"{simple}.{found['method']}")
        self._any = self._any or name
        if not self._own and is_own_class(found["class"]):
            self._own = name


class DotNet(Block):
    """A .NET exception with its inner ones."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The type and message stand in the first line; inner ones may stand there too."""
        del before
        found = _NET_TYPE.search(line)
        outer, *inner = (found["text"] if found else line).split(" ---> ")
        self._text, self._cause = outer, inner[-1] if inner else ""
        self._own, self._any = "", ""

    def step(self, line: str) -> Step:
        """Frames with or without a file, and inner exceptions."""
        if found := _NET_FRAME.match(line):
            self._frame(found)
            return Step.OURS
        if found := _NET_CAUSE.match(line):
            self._cause = found["text"]
            return Step.OURS
        return Step.OURS if _NET_MORE.match(line) else Step.OVER

    def told(self) -> list[Told]:
        """Outer exception and root cause."""
        text = f"{self._text} (caused by {self._cause})" if self._cause else self._text
        return [Told(text=text, frame=self._own or self._any)]

    def _frame(self, found: re.Match[str]) -> None:
        method = ".".join(found["method"].split(".")[-2:])
        self._any = self._any or method
        if found["file"] and not self._own:
            self._own = named(found["file"], method)


class Ruby(Block):
    """A Ruby exception with its ``from`` frames, or Rails' form with the frames below a blank line."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """Ruby prints the innermost frame first, with the message."""
        del before
        self._own, self._any, self._cause = "", "", ""
        self._in_frames = False
        self._text = line
        found = _RUBY_HEAD.match(line)
        if found is not None:
            self._text = f"{found['type']}: {found['message']}" if found["type"] else found["message"]
            self._frame(found["file"], found["function"])
        elif rails := _RAILS_HEAD.match(line):
            self._text = f"{rails['type']}: {rails['message']}"

    def step(self, line: str) -> Step:
        """Frames, the code and hints that newer versions print below the message, and the causes below the frames."""
        if self._in_frames and (cause := _RUBY_HEAD.match(line)):
            return self._next(cause)
        if found := _RUBY_FRAME.match(line) or _RAILS_FRAME.match(line):
            self._in_frames = True
            self._frame(found["file"], found["function"] or "")
            return Step.OURS
        if line[:1] in (" ", "\t") or line.startswith(("Did you mean?", "Caused by:")):
            return Step.OURS if line.strip() else Step.ASIDE
        # Newer versions print the source line below a blank one, at the margin.
        is_source = not line.strip() or (self.aside and not self.aside[0].strip() and not self._in_frames)
        return Step.ASIDE if is_source and len(self.aside) < 4 else Step.OVER

    def told(self) -> list[Told]:
        """Type, message, root cause and the first own frame."""
        text = f"{self._text} (caused by {self._cause})" if self._cause else self._text
        return [Told(text=text, frame=self._own or self._any)]

    def _next(self, cause: re.Match[str]) -> Step:
        """What was rescued when the error above it was raised, with frames of its own, nearer to the fault."""
        if self.aside or not cause["type"]:
            return Step.OVER if self.aside else Step.OURS
        self._cause = f"{cause['type']}: {cause['message']}"
        self._own = self._any = ""
        self._frame(cause["file"], cause["function"])
        return Step.OURS

    def _frame(self, file: str, function: str) -> None:
        name = named(file, function)
        self._any = self._any or name
        if not self._own and is_own(file):
            self._own = name


class Elixir(Block):
    """An Elixir error with its stack trace."""

    takes_lead = True

    def begin(self, line: str, before: Sequence[str]) -> None:
        """``** (RuntimeError) message``."""
        del before
        found = _ELIXIR_HEAD.match(line)
        text = f"{found['type']}: {found['text']}" if found else line
        self._text = re.sub(r"(\.exs?):\d+(?::\d+)?:", r"\1:", text)
        self._own = ""

    def step(self, line: str) -> Step:
        """Frames are indented; those of libraries name the library."""
        if found := _ELIXIR_FRAME.match(line):
            if not self._own and found["library"] not in _ELIXIR_LIBRARIES and not found["file"].startswith("deps/"):
                self._own = named(found["file"], found["function"])
            return Step.OURS
        return Step.OURS if line[:1] in (" ", "\t") and line.strip() else Step.OVER

    def told(self) -> list[Told]:
        """Type, message and the first own frame."""
        return [Told(text=self._text.rstrip(": "), frame=self._own)]


class Sanitizer(Block):
    """A report of AddressSanitizer and its like, to its summary."""

    quiet = Block.quiet

    def begin(self, line: str, before: Sequence[str]) -> None:
        """The kind of fault stands in the first line, with addresses that change from run to run."""
        del before
        found = _ASAN_TEXT.search(line)
        file = self.match.groups.get("file", "")
        self._text = (f"{file}: " if file else "") + (found["text"] if found else line)
        self._frame = ""

    def step(self, line: str) -> Step:
        """Everything to the summary; the first frame with a source file is where it happened."""
        found = _ASAN_FRAME.match(line)
        if found and not self._frame and is_own(found["file"]):
            self._frame = named(found["file"], found["function"])
        if line.startswith("SUMMARY: "):
            return Step.LAST
        if not line.strip():
            return Step.ASIDE if not self.aside else Step.OVER
        return Step.OURS if _ASAN_MORE.match(line) else Step.OVER

    def told(self) -> list[Told]:
        """The kind of fault and the first own frame."""
        return [Told(text=self._text, frame=self._frame)]

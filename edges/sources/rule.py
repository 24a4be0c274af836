"""Rule: one kind of line, as its TOML table says it."""

from typing import Final, Literal

from ...contracts.base import Inbound
from ...contracts.severity import SeverityName

SignalName = Literal[
    "", "rebuild_started", "rebuild_ok", "rebuild_failed", "restart_requested", "started", "crashed", "transport_failed"
]
"""What a matching line says about the life of the process, besides or instead of an event."""

BlockName = Literal[
    "", "python", "js", "thrown", "jvm", "dotnet", "ruby", "php", "go", "rust", "elixir", "sanitizer",
    "diagnostic", "javac", "rustc", "eslint", "webpack", "bundler", "proxy", "prisma",
    "pytest", "unittest", "gotest", "cargotest", "jest", "vitest", "tap", "numbered", "progress", "names",
    "run", "race", "gradle", "request", "error", "ruff", "diff",
]  # fmt: skip
"""The kinds of multi-line findings; ``blocks.KINDS`` has one entry for each."""

GROUPS: Final[dict[BlockName, tuple[str, ...]]] = {
    "progress": ("id",),
    "request": ("method", "path", "status"),
    "ruff": ("file",),
}
"""The named groups that every pattern of a rule must have which opens such a block."""


class Rule(Inbound, frozen=True, kw_only=True):
    """One kind of line. The first rule by ``priority`` that matches wins; equal priorities go by ``id``."""

    id: str
    family: str
    title: str
    """What a matching line means, in a few words."""
    patterns: tuple[str, ...]
    """Regular expressions, any of which may match. One that begins with ``^`` is tried behind each part of a log prefix."""
    literals: tuple[str, ...] = ()
    """Texts of at least three characters; every line that can match holds one of them, in any letter case.

    Patterns that are plain text need none. New patterns for a known rule need new ones.
    """
    unless: tuple[str, ...] = ()
    """Regular expressions that take a match back."""
    severity: SeverityName = "error"
    """``info`` with a ``signal``: only the signal is told."""
    category: str = "runtime"
    priority: int = 500
    opens: BlockName = ""
    """The kind of block that the line begins; empty: the line and what is indented below it."""
    signal: SignalName = ""
    states: Literal["", "warning", "error", "critical"] = ""
    """Only a line that states this level or a worse one can match."""
    refines: bool = False
    """True: where the text of a gathered block matches, its severity and category are those of this rule."""
    common: bool = False
    """True: every matching line also holds one of ``prefilter.COMMON``, so its own literals need not be searched for."""
    announces: bool = False
    """True: a stack that begins in the next line belongs to it; so it is for every line that states an error."""
    level_counts: bool = True
    """False: the rule also holds on a line that says it is only information."""
    enabled: bool = True
    matches: tuple[str, ...] = ()
    """Lines that this rule matches and no other before it."""
    ignores: tuple[str, ...] = ()
    """Lines that look alike and are no finding at all."""

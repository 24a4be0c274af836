"""Agents: which ones have hooks of this shape, where their settings are, and what is put into them."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from ...contracts.base import Record
from ...contracts.errors import BadInput

Format = Literal["json", "toml"]

OURS: Final = re.compile(r"\btocsin(?:\.exe)?['\"]?\s+hook(?![\w-])")
"""A command that holds this was written by us."""


class Agent(Record, frozen=True, kw_only=True):
    """One kind of agent. ``timeout`` is in its own unit; None leaves it the agent's usual one."""

    name: str
    title: str
    events: tuple[str, ...]
    file: str
    """Its settings within ``homes``."""
    homes: tuple[str, ...]
    """Directories in the user's home; the first that is there is meant, else the first of all."""
    home_variable: str = ""
    """The variable that moves this directory."""
    project: str = ""
    """Its settings within a project; empty if it reads none there."""
    format: Format = "json"
    timeout: int | None = None
    then: str = ""
    """What the user has to do so that it takes effect."""


_PROMPT_AND_TOOLS = ("UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse")
_SUBAGENTS = ("SubagentStart", "SubagentStop")
_SHARED = ("SessionStart", "SessionEnd", *_PROMPT_AND_TOOLS, *_SUBAGENTS, "PreCompact", "Stop")
_RESTART = "sessions that run already may have to be started again"

AGENTS: Final[Mapping[str, Agent]] = {
    agent.name: agent
    for agent in (
        Agent(
            name="claude",
            title="Claude Code",
            events=(
                *_SHARED,
                *("PostToolUseFailure", "PermissionDenied", "Elicitation", "ElicitationResult", "Notification", "StopFailure"),
            ),
            file="settings.json",
            homes=(".claude",),
            home_variable="CLAUDE_CONFIG_DIR",
            project=".claude/settings.json",
            timeout=10,
            then=_RESTART,
        ),
        Agent(
            name="codex",
            title="Codex",
            events=(*_SHARED, "Interrupt"),
            file="hooks.json",
            homes=(".codex",),
            home_variable="CODEX_HOME",
            project=".codex/hooks.json",
            timeout=10,
            then="Codex runs new hooks only once you have reviewed them: /hooks",
        ),
        Agent(
            name="gemini",
            title="Gemini CLI",
            events=(
                *("SessionStart", "SessionEnd", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"),
                *("Notification", "PreCompress"),
            ),
            file="settings.json",
            homes=(".gemini",),
            project=".gemini/settings.json",
            timeout=10_000,
            then=_RESTART,
        ),
        Agent(
            name="qwen",
            title="Qwen Code",
            events=(*_SHARED, "PostToolUseFailure", "PermissionDenied", "Notification"),
            file="settings.json",
            homes=(".qwen",),
            project=".qwen/settings.json",
            then=_RESTART,
        ),
        Agent(
            name="kimi",
            title="Kimi Code",
            # One name that it does not know would cost its user the whole file, and its notifications are of other things.
            events=(
                *("SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"),
                *(*_SUBAGENTS, "PreCompact", "Stop", "StopFailure"),
            ),
            file="config.toml",
            homes=(".kimi-code", ".kimi"),
            format="toml",
            timeout=10,
            then=_RESTART,
        ),
    )
}
"""Name → agent."""


def settings_file(agent: Agent, *, project: Path | None, environ: Mapping[str, str] = os.environ) -> Path:
    """Where its settings are, whether they are there or not: the user's, or those of a project."""
    if project is not None:
        if not agent.project:
            raise BadInput(f"{agent.title} reads no hooks from a project; leave out --project")
        return project / agent.project
    if agent.home_variable and (chosen := environ.get(agent.home_variable)):
        return Path(chosen) / agent.file
    homes = [Path.home() / home for home in agent.homes]
    return next((home for home in homes if home.is_dir()), homes[0]) / agent.file


def command_for(agent: Agent, recipient: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """The shell command that an agent's hook is: it ends well, and at once, where tocsin is not to be found."""
    words = ["hook", "--agent", agent.name, *(["--as", recipient] if recipient else [])]
    if shutil.which("tocsin", path=environ.get("PATH")):
        return f"command -v tocsin >/dev/null 2>&1 || exit 0; exec tocsin {shlex.join(words)}"
    script = Path(sys.executable).with_name("tocsin")
    if script.is_file():
        # Not shlex.join over all: the word before `hook` is how we know our own again.
        place = shlex.quote(str(script))
        return f"[ -x {place} ] || exit 0; exec {place} {shlex.join(words)}"
    python = shlex.quote(sys.executable)
    return f"[ -x {python} ] || exit 0; {python} -m tocsin {shlex.join(words)} 2>/dev/null || exit 0"


def entry_for(agent: Agent, command: str) -> dict[str, Any]:
    """What stands for one event in its settings."""
    if agent.format == "toml":
        return {"command": command} | ({} if agent.timeout is None else {"timeout": agent.timeout})
    hook: dict[str, Any] = {"type": "command", "command": command}
    if agent.timeout is not None:
        hook["timeout"] = agent.timeout
    return {"hooks": [hook]}


def is_ours(command: object) -> bool:
    """True for a command that `tocsin hooks install` wrote."""
    return isinstance(command, str) and OURS.search(command) is not None

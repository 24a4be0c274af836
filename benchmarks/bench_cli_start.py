"""What it costs to start: ``import tocsin``, ``tocsin --help``, ``tocsin hook``, against an interpreter that does nothing else.

Method: each is a process of its own, from the start to its end; all take turns, round by round, so that the machine's
moods meet all alike; the median of the rounds counts. Each has run once before, so that its byte code is on disk, as that
of an installed program. ``import tocsin`` is measured inside its process, after the interpreter's own start. The bare
interpreter imports click and nothing else, because every command line in Python that is built with click pays for that.
"""

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from figures import Row, as_installed, below, median, missing, parser, report, told

_IMPORT: Final = "import time; began = time.perf_counter(); {}; print(time.perf_counter() - began)"
_BARE: Final = (sys.executable, "-c", "import click")
_PROGRAM: Final = str(Path(sys.executable).with_name("tocsin"))
_HOOK: Final = b'{"hook_event_name": "PostToolUse", "session_id": "bench", "cwd": "/", "tool_name": "Read", "tool_input": {}}'
GOALS: Final = {"--help": 2.0, "hook": 1.6}


def seconds(command: tuple[str, ...], given: bytes = b"") -> float:
    """How long the process lives."""
    began = time.perf_counter()
    subprocess.run(command, input=given, capture_output=True, check=True, env=as_installed())
    return time.perf_counter() - began


def import_seconds(statement: str) -> float:
    """What an import takes in a fresh interpreter."""
    command = (sys.executable, "-c", _IMPORT.format(statement))
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=as_installed())
    return float(done.stdout)


def runs_here(command: tuple[str, ...], given: bytes) -> bool:
    """True if it is there and ends well."""
    try:
        return (
            subprocess.run(command, input=given, capture_output=True, timeout=30, check=False, env=as_installed()).returncode
            == 0
        )
    except OSError:
        return False


Command = tuple[tuple[str, ...], bytes]
"""What to run, and what to give it."""


def measure(commands: Mapping[str, Command], rounds: int) -> dict[str, float]:
    """Name → median of its seconds."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, (command, given) in commands.items():
            found[name].append(seconds(command, given))
    return {name: median(values) for name, values in found.items()}


def rows(rounds: int) -> list[Row]:
    """The goals."""
    commands: dict[str, Command] = {"bare": (_BARE, b"")}
    wanted: dict[str, Command] = {"--help": ((_PROGRAM, "--help"), b""), "hook": ((_PROGRAM, "hook"), _HOOK)}
    commands |= {name: command for name, command in wanted.items() if runs_here(*command)}
    found = measure(commands, rounds)
    package, whole = (
        median(import_seconds(statement) for _ in range(rounds)) * 1000
        for statement in ("import tocsin", "from tocsin import Tocsin")
    )
    method = f"median of {rounds} rounds"
    answer = [
        below("import tocsin", package, 100, "ms", f"inside a fresh interpreter; {method}"),
        told("from tocsin import Tocsin", whole, "ms", "the same, with everything a line needs"),
    ]
    for name, goal in GOALS.items():
        if name in found:
            answer.append(below(f"tocsin {name}", found[name] / found["bare"], goal, "× python -c 'import click'", method))
        else:
            answer.append(missing(f"tocsin {name}", f"< {goal:g} ×", f"`tocsin {name}` can't be run here"))
    return [*answer, told("python -c 'import click'", found["bare"] * 1000, "ms", method)]


def main() -> None:
    """Run it from the command line."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=15)
    given = options.parse_args()
    report(rows(given.rounds), as_json=given.json)


if __name__ == "__main__":
    main()

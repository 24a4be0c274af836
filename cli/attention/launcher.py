"""Launcher: ``tocsin-attention …`` becomes ``tocsin attention …``, the same process with the same arguments and streams."""

import os
import shutil
import sys
from pathlib import Path
from typing import Final, NoReturn

BINARY_VARIABLE: Final = "TOCSIN_BIN"
"""Which tocsin is meant, if not the one that this command was installed with."""
LAUNCHED: Final = "TOCSIN_LAUNCHED"
"""Set on the way from here to ``tocsin attention``, which takes it away: who finds it here was started by ourselves."""
MISSING: Final = 4
GOES_ROUND: Final = 5
NOT_STARTED: Final = 7


def main() -> NoReturn:
    """Become the command. Signals and the exit status need no forwarding: no other process is left to receive them."""
    chosen = os.environ.get(BINARY_VARIABLE, "")
    if os.environ.get(LAUNCHED):
        _end(GOES_ROUND, f"{chosen or 'tocsin'} starts tocsin-attention again: set {BINARY_VARIABLE} to tocsin itself")
    program = _program(chosen)
    os.environ[LAUNCHED] = "1"
    try:
        os.execv(program, [program, "attention", *sys.argv[1:]])
    except OSError as error:
        _end(NOT_STARTED, f"{program} can't be started: {error.strerror}")


def _program(chosen: str) -> str:
    """Where tocsin is: as chosen, else beside this command, else in the PATH."""
    if chosen:
        found = shutil.which(chosen)
        if found is None:
            _end(MISSING, f"{BINARY_VARIABLE} is {chosen!r}, and there is no such program")
    else:
        beside = Path(sys.argv[0]).absolute().with_name("tocsin")
        found = str(beside) if beside.is_file() and os.access(beside, os.X_OK) else shutil.which("tocsin")
        if found is None:
            _end(MISSING, f"there is no tocsin beside this command or in the PATH: install it, or set {BINARY_VARIABLE}")
    if Path(found).resolve() == Path(sys.argv[0]).resolve():
        _end(GOES_ROUND, f"{found} is tocsin-attention itself: set {BINARY_VARIABLE} to tocsin itself")
    return found


def _end(code: int, text: str) -> NoReturn:
    print(f"tocsin-attention: {text}", file=sys.stderr)
    sys.exit(code)

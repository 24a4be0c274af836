"""Entry: where every process that is called ``tocsin`` begins; a hook's call takes a way of its own, since an agent waits."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command and end the process with its exit code."""
    if sys.argv[1:2] == ["hook"]:
        from .hook import pass_on, plainly_asked

        if (options := plainly_asked(sys.argv[2:])) is not None:
            pass_on(options.get("--agent", ""), options.get("--as", ""))
            sys.exit(0)
    from .main import main as command

    command()

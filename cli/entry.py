"""Entry: where every process that is called ``tocsin`` begins; a hook's call takes a way of its own, since an agent waits."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command and end the process with its exit code."""
    if sys.argv[1:2] == ["hook"] and not {"--help", "-h"} & set(sys.argv[2:]):
        from .hook import pass_on, plainly_asked

        # An agent may take another exit code for a "no", so what is spelt in another way is passed over.
        options = plainly_asked(sys.argv[2:]) or {}
        pass_on(options.get("--agent", ""), options.get("--as", ""))
        sys.exit(0)
    from .main import main as command

    command()

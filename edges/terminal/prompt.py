"""Prompt: whether a program waits for more of what was begun, as an interpreter does after ``def f():``."""

import re
from typing import Final

_GOES_ON: Final = re.compile(
    r"\.\.\.[>:]?"  # Python, Node, SQLite, IPython
    r"|->"  # MySQL
    r"|\w+[-'\"(*$]#"  # PostgreSQL
    r"|(?:(?:[bd]?quote|heredocd?|cmd(?:subst|and|or)|pipe|if|then|else|elif|elif-then|for|foreach|while|until|repeat|select"
    r"|case|function|subsh|cursh|braceparam|array|math|always|cond) ?)+>"  # zsh
)


def goes_on(row: str) -> bool:
    """True if ``row``, the one with the cursor, holds nothing but the mark of a line that goes on with the line before.

    Only marks that are no program's first prompt count; bash's ``>`` is one of others.
    """
    return bool(_GOES_ON.fullmatch(row.strip()))

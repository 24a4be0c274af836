"""Prompt: the marks of a line that goes on are known, and no first prompt is taken for one."""

import pytest

from tocsin.edges.terminal.prompt import goes_on

GOES_ON = ["...", "... ", "   ...> ", "    -> ", "mydb-# ", "mydb'# ", "quote> ", "while> ", "for while> ", "cmdsubst dquote> "]
BEGINS = [
    "",
    ">>> ",
    "> ",
    "$ ",
    "# ",
    "mydb=# ",
    "mysql> ",
    "sqlite> ",
    "ftp>",
    "me@host:~$ ",
    "... half",
    "> ...",
    "root# ",
    "42",
]


@pytest.mark.parametrize("row", GOES_ON)
def test_a_line_that_goes_on_is_known_by_its_mark(row: str) -> None:
    assert goes_on(row)


@pytest.mark.parametrize("row", BEGINS)
def test_a_first_prompt_or_a_text_is_none(row: str) -> None:
    assert not goes_on(row)

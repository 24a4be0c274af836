"""Dialog: menus and questions are known from composers, prompts and printed text."""

import os
import pty
import runpy
import select
import signal
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.edges.terminal.dialog import dialog_in
from tocsin.edges.terminal.screen import Screen

SCREENS = tomllib.loads(Path(__file__).with_name("dialog_screens.toml").read_text())["screen"]
DIALOGS = {screen["name"]: screen for screen in SCREENS if screen["dialog"]}
NONE = {screen["name"]: screen for screen in SCREENS if not screen["dialog"]}
OuterTerminal = runpy.run_path(str(Path(__file__).parents[1] / "agents" / "outer_terminal.py"))["OuterTerminal"]
SHELL = "me@host:~/app$"

SIGNS = st.sampled_from(
    ["❯", "›", ">", "●", "○", "◆", "└", "│", "─", "[", "]", "(", ")", "y", "n", "/", "1.", "?", ":", "$", "%", "  ", " "]
)
ROWS = st.lists(st.one_of(st.text(max_size=60), st.lists(SIGNS, max_size=12).map("".join)), max_size=50)


def seen(screen: dict) -> bool:
    return dialog_in(screen["rows"].split("\n"), screen.get("cursor"))


@pytest.mark.parametrize("screen", DIALOGS.values(), ids=DIALOGS)
def test_what_a_key_would_answer_is_a_dialog(screen: dict) -> None:
    assert seen(screen)


@pytest.mark.parametrize("screen", NONE.values(), ids=NONE)
def test_what_takes_text_is_none(screen: dict) -> None:
    assert not seen(screen)


def test_the_table_holds_enough_of_both() -> None:
    assert min(len(DIALOGS), len(NONE)) >= 45


@pytest.mark.parametrize("screen", DIALOGS.values(), ids=DIALOGS)
def test_a_prompt_at_the_cursor_closes_what_stands_above(screen: dict) -> None:
    rows = [*screen["rows"].split("\n"), SHELL]
    assert not dialog_in(rows, len(rows) - 1)


@pytest.mark.parametrize("screen", NONE.values(), ids=NONE)
def test_a_question_under_anything_is_a_dialog(screen: dict) -> None:
    rows = [*screen["rows"].split("\n"), "", "Overwrite notes.txt? [y/N]"]
    assert dialog_in(rows, len(rows) - 1)


@pytest.mark.parametrize("mark", "❯›▸▶➤")
@pytest.mark.parametrize("at", range(4))
def test_one_marked_row_among_others_is_a_menu_whatever_the_words(mark: str, at: int) -> None:
    rows = ["Wähle:", *(f"{mark if row == at else ' '} {word}" for row, word in enumerate(("alt", "neu", "fremd", "eigen")))]
    assert dialog_in(rows)
    assert dialog_in([*rows, ""], len(rows))


def test_two_marked_rows_are_no_menu() -> None:
    assert not dialog_in(["They wrote:", "> first", "> second", "  third"])


def test_a_question_is_judged_by_the_row_with_the_cursor() -> None:
    rows = ["Really delete?", "12 files are gone.", ""]
    assert not dialog_in(rows, 2)
    assert dialog_in(rows, 0)


def test_a_line_that_is_being_written_is_no_question_even_without_a_prompt() -> None:
    rows = ["ready", "is the server up?"]
    assert dialog_in(rows, 1)
    assert not dialog_in(rows, 1, typed=True)


def test_a_menu_stays_one_while_something_is_typed() -> None:
    rows = ["Do you want to proceed?", "❯ 1. Yes", "  2. No", "", "typed ahead"]
    assert dialog_in(rows, 4, typed=True)


def test_what_scrolled_up_is_over() -> None:
    menu = DIALOGS["Codex asks to run a command"]["rows"].split("\n")
    assert not dialog_in([*menu, *[f"output line {n}" for n in range(45)]])
    assert not dialog_in([*menu, *[f"output line {n}" for n in range(12)]])


@settings(max_examples=300)
@given(ROWS, st.one_of(st.none(), st.integers(-3, 60)), st.booleans())
def test_any_rows_are_judged(rows: list[str], cursor: int | None, typed: bool) -> None:
    assert dialog_in(rows, cursor, typed=typed) in (True, False)


@contextmanager
def running(*argv: str) -> Iterator[tuple[int, Screen]]:
    """A program in a terminal of its own, and a screen for what it prints."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", LC_ALL="C", PS1="$ ")
        os.execvp(argv[0], argv)
    try:
        yield terminal, Screen(24, 80)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.close(terminal)
        os.waitpid(pid, 0)


def shows(terminal: int, screen: Screen, dialog: bool, until: str) -> bool:
    """True once ``until`` ends the row with the cursor and the screen is what ``dialog`` says."""
    ends = time.monotonic() + 20
    while time.monotonic() < ends:
        if select.select([terminal], [], [], 0.1)[0]:
            screen.feed(os.read(terminal, 65536))
        if screen.text()[screen.row].endswith(until):
            return dialog_in(screen.text(), screen.row) is dialog
    return False


@pytest.mark.parametrize(
    ("script", "question"),
    [
        ('read -n1 -p "Overwrite all files? "', "files?"),
        ('read -s -p "Password: "', "Password:"),
        ('read -p "Do you want to continue? [Y/n] "', "[Y/n]"),
        ("select x in staging production; do break; done", "#?"),
        ("touch kept; rm -i kept", "'kept'?"),
        ("ssh-keygen -q -f key", "passphrase):"),
        ("""python3 -c 'input("Delete everything? ")'""", "everything?"),
        ("seq 50 | more", "--More--"),
    ],
)
def test_real_programs_that_ask_are_seen_to_ask(
    script: str, question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with running("bash", "--norc", "-c", script) as (terminal, screen):
        assert shows(terminal, screen, True, question)


@pytest.mark.parametrize(
    ("program", "prompt", "line"),
    [
        (("bash", "--norc", "-i"), "$", "printf '* 1. one\\n  2. two\\n'"),
        (("bash", "--norc", "-i"), "$", "printf '> yes\\n  no\\n'"),
        (("python3", "-q", "-i"), ">>>", "print('1. Yes', '2. No', 'Sure? [y/N]', sep=chr(10))"),
    ],
)
def test_real_prompts_close_the_lists_that_were_printed_above(program: tuple[str, ...], prompt: str, line: str) -> None:
    with running(*program) as (terminal, screen):
        assert shows(terminal, screen, False, prompt)
        os.write(terminal, line.encode())
        assert shows(terminal, screen, False, line[-12:])
        os.write(terminal, b"\r")
        assert shows(terminal, screen, False, prompt)


@pytest.mark.parametrize("kind", ["clack", "inquirer", "prompts", "aider"])
def test_nothing_is_typed_into_the_menus_of_prompt_libraries(tmp_path: Path, kind: str) -> None:
    with OuterTerminal(tmp_path, agent=["permission", kind]) as outer:
        outer.sees(b"> ")
        outer.keys(b"ask\r")
        outer.fact("dialog_opened")
        assert outer.submit("build failed") == "not_now"
        outer.keys(b"1")
        outer.fact("dialog_closed")
        assert outer.submit_when_free("build failed") == "submitted"
        assert outer.logged("answered") == ["1"]

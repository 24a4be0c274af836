"""Dialog: menus and questions are known from composers and printed text."""

import pytest

from tocsin.edges.terminal.dialog import dialog_in

DIALOGS = {
    "numbered menu": """
        Do you want to proceed?
        ❯ 1. Yes
          2. Yes, and don't ask again for npm test commands in /home/me/project
          3. No, and tell the agent what to do differently (esc)
    """,
    "menu in a frame": """
        ╭──────────────────────────────────╮
        │ Edit file                        │
        │ Do you want to make this edit?   │
        │   1. Yes                         │
        │ ❯ 2. Yes, allow all edits        │
        │   3. No                          │
        ╰──────────────────────────────────╯
    """,
    "words": """
        Allow command?
          rm -rf build
        › Yes, proceed
          No, and say what to do instead
    """,
    "many options": "Pick one\n"
    + "\n".join(f"{'❯' if n == 9 else ' '} {n}. option number {n}\n      what it means" for n in range(1, 11)),
    "trust": "Do you trust the files in this folder?\n\n❯ Yes, proceed\n  No, exit\n\nEnter to confirm · Esc to cancel",
    "hint": "Which database?\n  ◯ sqlite\n  ◉ postgres\n\nEnter to select · ↑/↓ to navigate · Esc to cancel",
    "yes or no": "Overwrite notes.txt? [y/N] ",
    "yes or no in words": "Are you sure you want to continue connecting (yes/no)? ",
    "three answers": "Apply this hunk? (y/n/q/?)",
    "password": "[sudo] password for me: ",
    "any key": "Press any key to continue . . .",
    "enter": "Login successful. Press Enter to continue…",
    "pager": "line\nline\n--More--",
    "pager end": "line\nline\n(END)",
    "arrows": "? Pick a template (Use arrow keys)\n❯ react\n  vue",
}

NONE = {
    "nothing": "",
    "composer": "\n╭────────────╮\n│ >          │\n╰────────────╯\n  ? for shortcuts",
    "composer with a hint": '❯ Try "refactor utils.py"\n  ? for shortcuts        esc to interrupt',
    "shell": "total 8\n-rw-r--r-- 1 me me 12 notes.txt\nme@host:~$ ",
    "list in an answer": "There are two ways:\n1. Rewrite it\n2. Leave it\n\n> ",
    "quoted list": "> 1. Yes\n> 2. No\n\nThat was your plan.\n\n>",
    "list alone": "There are two ways:\n1. Rewrite it\n2. Leave it",
    "quoted list alone": "They wrote:\n> 1. Yes\n> 2. No\nThat was the plan.",
    "bullets alone": "* yes, that works\n* no, that does not",
    "bullets": "* yes, that works\n* no, that does not\n\n> ",
    "answered menu": "Do you want to proceed?\n❯ 1. Yes\n  2. No\n\n● Running tests\n\n> ",
    "talk of a question": "The script asks 'Overwrite? [y/N]' and waits.\nI made it answer by itself.\n\n> ",
    "password in the text": "I changed the password: it was too short.\n> ",
    "code": "  1: import os\n  2: import sys\n> ",
}


@pytest.mark.parametrize("screen", DIALOGS.values(), ids=DIALOGS)
def test_what_a_key_would_answer_is_a_dialog(screen: str) -> None:
    assert dialog_in(screen.splitlines())


@pytest.mark.parametrize("screen", NONE.values(), ids=NONE)
def test_what_takes_text_is_none(screen: str) -> None:
    assert not dialog_in(screen.splitlines())


def test_what_scrolled_up_is_over() -> None:
    menu = DIALOGS["numbered menu"].splitlines()
    assert not dialog_in([*menu, *[f"output line {n}" for n in range(30)]])

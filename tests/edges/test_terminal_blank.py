"""The line of a program counts as empty only if it looks so: what keys can't tell, the screen does."""

import runpy
import sys
from pathlib import Path

import pytest

from tocsin.edges.terminal.blank import AtCursor, Blank
from tocsin.edges.terminal.screen import Screen

_tmux = runpy.run_path(str(Path(__file__).parent / "tmux.py"))
tmux, need, until = (_tmux[name] for name in ("tmux", "need", "until"))

BASH = ("bash", "--norc", "--noprofile")
ZSH = ("zsh", "-f")
WAITS = ("sink_not_now", "draft_half_typed", "dialog_open")
MENUS_OF_ZSH = "setopt menu_complete; autoload -U compinit; compinit -u -D; zstyle ':completion:*' menu select=1"


@pytest.fixture
def server():
    with tmux() as one:
        yield one


def held(server, screen, before, ends=("C-c",)):
    """A message waits while the screen shows ``before``, is not in it, and is told once the line was cleared."""
    screen.sees(before)
    server.feed("--user", "hello you")
    until(lambda: server.lane()["waits_for"] in WAITS, lambda: f"a reason to wait: {server.lane()}\n{screen.text()}")
    assert "hello" not in screen.all_text()
    screen.keys(*ends)
    (block,) = server.typed(1)
    assert "hello you" in block


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        (["echo keepme", "C-u", "C-_"], "ready$ echo keepme"),
        (["echo one", "Enter", "C-p", "C-u", "C-_"], "one\nready$ echo one"),
        (["bind '\"\\e[5~\": history-search-backward'", "Enter", "clear", "Enter", "PageUp"], "ready$ clear"),
        (["set -o vi", "Enter", "Escape", "k"], "ready$ set -o vi\nready$ set -o vi"),
    ],
    ids=["undo", "undo of a recalled line", "a key bound to the history", "a mode with commands"],
)  # fmt: skip
def test_what_came_back_into_a_shells_line_is_not_typed_over(server, keys: list[str], shown: str) -> None:
    need("bash")
    screen = server.wrapped(*BASH)
    screen.sees("ready$")
    for key in keys:
        screen.keys(key)
    held(server, screen, shown)


def test_what_stands_behind_the_cursor_is_not_typed_into(server) -> None:
    need("bash")
    screen = server.wrapped(*BASH)
    screen.sees("ready$")
    screen.keys("echo build")
    screen.sees("echo build")
    screen.keys("Left", "Left", "Left", "Left", "Left", "C-u")
    screen.sees("ready$ build")
    server.feed("--user", "hello you")
    server.kept("draft", "draft_half_typed")
    screen.keys("C-e", "C-u")
    server.typed(1)
    assert "hellobuild" not in screen.all_text()


def test_an_enter_that_only_takes_a_completion_sends_nothing(server) -> None:
    need("zsh")
    screen = server.wrapped(*ZSH, files={"alpha.txt": "", "alpine.txt": ""})
    screen.sees("ready$")
    screen.keys(f"{MENUS_OF_ZSH}; zmodload zsh/complist; clear", "Enter")
    screen.sees("ready$")
    screen.keys("echo alp", "Tab", "Tab")
    screen.sees("alpha.txt")
    screen.keys("Enter")
    held(server, screen, "ready$ echo al")


def test_a_line_that_was_put_aside_and_came_back_is_not_typed_over(server) -> None:
    need("zsh")
    screen = server.wrapped(*ZSH)
    screen.sees("ready$")
    screen.keys("echo later")
    screen.sees("echo later")
    screen.keys("Escape", "q")
    screen.keys("true", "Enter")
    held(server, screen, "ready$ true\nready$ echo later")


@pytest.mark.parametrize(
    ("begun", "shown"),
    [("for i in 1 2; do", "\n>"), ("cat > told <<'EOF'", "\n>"), ("echo 'open", "\n>"), ("echo one \\", "\n>")],
    ids=["a loop", "a document", "a quotation", "a line that goes on"],
)
def test_what_a_shell_has_begun_is_not_gone_on_with(server, begun: str, shown: str) -> None:
    need("bash")
    screen = server.wrapped(*BASH)
    screen.sees("ready$")
    screen.keys(begun, "Enter")
    held(server, screen, shown)


@pytest.mark.parametrize("program", [BASH, ZSH], ids=["bash", "zsh"])
def test_a_question_that_one_key_answers_is_left_to_the_person(server, program: tuple[str, ...]) -> None:
    need(program[0])
    screen = server.wrapped(*program)
    screen.sees("ready$")
    ask = 'read -n1 -p "Overwrite all files " x' if program == BASH else 'read -q "?Overwrite all files "'
    screen.keys(f"{ask}; echo; echo answered $x$REPLY", "Enter")
    held(server, screen, "\nOverwrite all files", ends=("n",))
    assert "answered n" in screen.all_text()


def test_a_job_that_reads_single_keys_takes_none_of_it(server) -> None:
    need("bash")
    screen = server.wrapped(*BASH)
    screen.sees("ready$")
    code = "import sys, time, tty; tty.setraw(0); print('ra' 'w', end='\\r\\n', flush=True); sys.stdin.read(1)"
    screen.keys(f'{sys.executable} -c "{code}"; stty sane', "Enter")
    held(server, screen, "\nraw", ends=("x",))


def test_a_list_that_is_taken_for_a_menu_hides_no_half_typed_line(server) -> None:
    need("bash")
    screen = server.wrapped(*BASH)
    screen.sees("ready$")
    screen.keys("printf '❯ 1. one\\n  2. two\\n  Esc to cancel'; read -t 1; clear", "Enter")
    screen.sees("Esc to cancel")
    screen.keys("echo half ")
    held(server, screen, "ready$ echo half")


def test_a_prompt_that_changes_its_directory_is_still_one(server) -> None:
    need("bash")
    screen = server.wrapped(*BASH)
    screen.sees("ready$")
    screen.keys("PS1='\\w \\$ '; cd /usr", "Enter")
    screen.sees("/usr #" if _is_root() else "/usr $")
    server.feed("--user", "hello you")
    server.typed(1)


def test_another_interpreter_in_the_shell_has_prompts_of_its_own(server) -> None:
    need("bash", "node")
    screen = server.wrapped(*BASH)
    screen.sees("ready$")
    screen.keys("node", "Enter")
    screen.sees("\n>")
    server.feed("--user", "hello you")
    server.typed(1)
    screen.keys(".exit", "Enter")
    screen.sees("> .exit\nready$")
    server.feed("--user", "and again")
    server.typed(2)


def _is_root() -> bool:
    import os

    return os.geteuid() == 0


def place(output: str) -> AtCursor:
    screen = Screen(10, 40)
    screen.feed(output.encode())
    before, at = screen.at_cursor()
    return AtCursor(before, bool(at), screen.cursor_shown)


@pytest.mark.parametrize(
    ("output", "is_empty"),
    [
        ("~/shop $ ", True),
        ("~/elsewhere (main) $ ", True),
        ("~/shop $ ls", False),
        ("~/shop $ ls\x1b[2D", False),
        ("~/shop $ \x1b[90mgit push\x1b[8D", True),
        ("~/shop $ \x1b[2mTry it\x1b[6D", True),
        ("~/shop $ \x1b[38;5;240mgit push\x1b[8D", True),
        ("~/shop $ \x1b[38;2;120;121;119mgit push\x1b[8D", True),
        ("~/shop $ \x1b[32mgit push\x1b[8D", False),
        ("~/shop $ \x1b[38;5;196mgit push\x1b[8D", False),
        ("> ", False),
        ("", False),
        ("Overwrite? ", False),
        ("❯ ", True),
        ("> ls\x1b[?25l", True),
    ],
)
def test_a_line_is_empty_if_a_prompt_stands_before_the_cursor_and_nothing_but_a_hint_at_it(output: str, is_empty: bool) -> None:
    blank = Blank()
    blank.untouched(place("~ $ "))
    blank.first_is_of(1)
    assert blank.looks_empty(1, place(output)) == is_empty
    assert Blank().looks_empty(1, place(output))


def test_a_mark_of_a_line_that_goes_on_is_a_prompt_where_no_shell_is() -> None:
    blank = Blank()
    blank.learn(1, place("you: "))
    assert blank.looks_empty(1, place("> "))
    assert not blank.looks_empty(1, place("> half"))
    blank.learn(1, place("# "))
    assert not blank.looks_empty(1, place("> "))

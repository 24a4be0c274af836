"""``tocsin hook --as NAME`` for an agent that no process of ours runs: what waits for it is handed over by its own hooks."""

import json
import os
import runpy
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
World, argv = processes["World"], processes["argv"]
database = runpy.run_path(str(Path(__file__).parent / "stored.py"))["database"]


@pytest.fixture
def here(tmp_path: Path):
    world = World(tmp_path)
    assert world.tocsin("recipients", "register", "builder")[0] == 0
    return world


def call(here, event: str, **more: str) -> str:
    """One call of the hook: the context that it answers with."""
    said = json.dumps({"hook_event_name": event, "session_id": "s1", **more})
    code, out, err = here.tocsin("hook", "--agent", "claude", "--as", "builder", stdin=said)
    assert (code, err) == (0, "")
    return json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else ""


def test_mail_comes_with_the_next_tool_call_and_is_then_seen(here) -> None:
    here.tocsin("mail", "send", "--to", "builder", "--id", "m1", "the schema has changed")
    assert call(here, "PreToolUse", tool_name="Bash") == ""
    assert "the schema has changed" in call(here, "PostToolUse", tool_name="Bash")
    assert call(here, "PostToolUse", tool_name="Bash") == ""
    (delivery,) = json.loads(here.tocsin("deliveries", "list", "--json")[1])["deliveries"]
    assert (delivery["proof"], delivery["notices"]) == ("seen", ["m1"])


def test_a_notice_waits_for_the_beginning_of_the_next_turn(here) -> None:
    here.tocsin("notice", "send", "--to", "builder", "--kind", "breaker", "--key", "steer:looping", "--text", "you loop")
    assert call(here, "PostToolUse", tool_name="Bash") == ""
    assert "you loop" in call(here, "UserPromptSubmit")
    here.tocsin("notice", "send", "--to", "builder", "--kind", "breaker", "--key", "steer:looping", "--text", "you loop")
    assert call(here, "UserPromptSubmit") == ""


def test_while_it_waits_on_a_human_notices_are_held_from_one_call_to_the_next(here) -> None:
    call(here, "PreToolUse", tool_name="AskUserQuestion")
    assert json.loads(here.tocsin("recipients", "show", "builder", "--json")[1])["waits"]
    here.tocsin("notice", "send", "--to", "builder", "--kind", "breaker", "--key", "steer:looping", "--text", "you loop")
    assert call(here, "PostToolUse", tool_name="Read") == ""
    call(here, "PostToolUse", tool_name="AskUserQuestion")
    assert "you loop" in call(here, "UserPromptSubmit")


def test_one_who_is_not_registered_is_told_nothing_and_nothing_is_made(here) -> None:
    said = json.dumps({"hook_event_name": "UserPromptSubmit"})
    assert here.tocsin("hook", "--as", "nobody", stdin=said) == (0, "", "")
    assert here.tocsin("hook", "--as", "nobody", stdin=said, env={"XDG_STATE_HOME": str(here.place / "new")}) == (0, "", "")
    assert not (here.place / "new").exists()


def test_calls_at_the_same_moment_hand_everything_over_and_nothing_is_lost(here) -> None:
    for nth in range(6):
        here.tocsin("mail", "send", "--to", "builder", "--id", f"m{nth}", f"mail {nth}.")
    with ThreadPoolExecutor(4) as pool:
        told = "".join(pool.map(lambda _: call(here, "PostToolUse", tool_name="Bash"), range(4)))
    told += call(here, "UserPromptSubmit")
    assert all(f"mail {nth}." in told for nth in range(6))


def test_what_was_not_printed_is_not_taken_as_read(here) -> None:
    here.tocsin("mail", "send", "--to", "builder", "--id", "m1", "do not lose me")
    reader, writer = os.pipe()
    os.close(reader)
    said = json.dumps({"hook_event_name": "PostToolUse", "tool_name": "Bash"}).encode()
    subprocess.run(
        argv("hook", "--agent", "claude", "--as", "builder"),
        input=said, stdout=writer, stderr=subprocess.DEVNULL, env=here.environ, check=False, timeout=60,
    )  # fmt: skip
    os.close(writer)
    assert "do not lose me" in call(here, "PostToolUse", tool_name="Bash")


def test_more_than_a_hook_carries_comes_in_several_calls(here) -> None:
    for nth in range(3):
        here.tocsin("mail", "send", "--to", "builder", "--id", f"m{nth}", f"mail {nth} " + "x" * 4_000)
    contexts = [call(here, "PostToolUse", tool_name="Bash") for _ in range(2)]
    assert max(map(len, contexts)) <= 10_000
    assert [[f"mail {nth} " in text for nth in range(3)] for text in contexts] == [[True, True, False], [False, False, True]]


@contextmanager
def locked(here):
    """Another process keeps the database locked."""
    connection = sqlite3.connect(database(here), isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.close()


def kept(here):
    """What hooks said and nobody has taken note of."""
    return [file for file in database(here).parent.iterdir() if ".hooks-" in file.name]


def test_what_it_says_while_the_database_is_locked_is_noted_by_the_next_call(here) -> None:
    with locked(here):
        call(here, "PermissionRequest", tool_name="Bash")
        call(here, "PreToolUse", tool_name="AskUserQuestion", tool_use_id="q1")
    assert len(kept(here)) == 1
    call(here, "PreToolUse", tool_name="Read", tool_use_id="r1")
    assert kept(here) == []
    waits = json.loads(here.tocsin("recipients", "show", "builder", "--json")[1])["waits"]
    assert (waits["permission"], waits["question"]) == (False, "AskUserQuestion")
    here.tocsin("notice", "send", "--to", "builder", "--kind", "breaker", "--key", "steer:looping", "--text", "you loop")
    assert call(here, "PostToolUse", tool_name="Read", tool_use_id="r1") == ""
    call(here, "PostToolUse", tool_name="AskUserQuestion", tool_use_id="q1")
    assert "you loop" in call(here, "UserPromptSubmit")


def test_a_locked_database_is_waited_for_once_and_not_long(here) -> None:
    said = json.dumps({"hook_event_name": "PermissionRequest", "tool_name": "Bash"})
    with locked(here):
        code, out, err = here.tocsin("hook", "--as", "builder", stdin=said, env={"TOCSIN_DEBUG": "1"})
    assert (code, out) == (0, "")
    assert err.count("\n") == 1
    assert f"is locked by another process; what the hook said is kept in {kept(here)[0]} for the next call" in err

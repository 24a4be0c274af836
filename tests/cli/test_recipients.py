"""``tocsin recipients``: names are made known, archived, brought back, and looked at, whether or not a process is there."""

import os
import runpy
from pathlib import Path

import pytest

from tocsin import Tocsin
from tocsin.contracts.hooks import HookEvent
from tocsin.contracts.recipients import Session

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, python = (_processes[name] for name in ("world", "until", "python"))
_stored = runpy.run_path(str(Path(__file__).parent / "stored.py"))
asked, lines, database, delivering = (_stored[name] for name in ("asked", "lines", "database", "delivering"))


@pytest.fixture
def here():
    with world() as one:
        yield one


def test_a_name_is_registered_changed_archived_and_brought_back(here) -> None:
    assert here.tocsin("recipients", "register", "w", "--kind", "inbox") == (0, "w is registered, as inbox\n", "")
    first = asked(here, "recipients", "register", "w", "--provider", "claude")["recipient"]
    assert (first["name"], first["kind"], first["provider"], first["life"]) == ("w", "inbox", "claude", "live")
    here.tocsin("mail", "send", "--to", "w", "hello")
    assert here.tocsin("recipients", "archive", "w") == (0, "w is archived\n", "")
    assert asked(here, "recipients", "archive", "w") == {"recipient": "w", "life": "archived", "waiting": 0}
    assert lines(here, "recipients", "list") == []
    (gone,) = lines(here, "recipients", "list", "--all")
    assert (gone["name"], gone["life"], gone["here"], gone["registered_at"]) == ("w", "archived", False, first["registered_at"])
    again = asked(here, "recipients", "register", "w")["recipient"]
    assert (again["kind"], again["life"], again["registered_at"]) == ("inbox", "live", first["registered_at"])


def test_one_is_the_coordinator(here) -> None:
    assert here.tocsin("recipients", "register", "a", "--coordinator")[1] == "a is registered, as agent, the coordinator\n"
    here.tocsin("recipients", "register", "b", "--coordinator")
    assert [(one["name"], one["coordinator"]) for one in lines(here, "recipients")] == [("a", False), ("b", True)]
    here.tocsin("recipients", "register", "b", "--kind", "worker")
    assert lines(here, "recipients")[1]["coordinator"] is True


def test_the_list_joins_those_who_are_here_with_those_who_are_registered(here) -> None:
    here.tocsin("recipients", "register", "absent")
    here.tocsin("mail", "send", "--to", "absent", "hello")
    with here.agent("composer") as terminal, here.agent("composer", name="b"):
        terminal.sees("> ")
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient")
        until(lambda: here.tocsin("status", "--to", "b")[0] == 0, "the other recipient")
        code, out, err = here.tocsin("recipients", "list")
        assert (code, err) == (0, "")
        head, *rows = out.splitlines()
        assert head.split() == ["NAME", "PID", "SINCE", "KIND", "WAITING", "COMMAND"]
        assert [row.split()[0] for row in rows] == ["absent", "b", "dev"]
        assert rows[0].split() == ["absent", "agent", "1"]
        assert str(terminal.process.pid) in rows[2]
        entries = {one["name"]: one for one in asked(here, "recipients")["recipients"]}
        assert [(one["here"], one["answers"]) for one in entries.values()] == [(False, False), (True, True), (True, True)]
        assert entries["absent"]["waiting"] == 1


def test_a_process_without_a_socket_is_listed_by_its_number(here) -> None:
    with delivering(here, python) as process:
        (one,) = lines(here, "recipients", "list")
        assert (one["name"], one["here"], one["pid"], one["answers"]) == ("dev", True, process.pid, False)
    (one,) = lines(here, "recipients", "list")
    assert (one["name"], one["here"], one["pid"]) == ("dev", False, None)


def test_show_tells_who_delivers_what_waits_and_whether_it_waits_itself(here) -> None:
    here.tocsin("recipients", "register", "dev", "--provider", "claude")
    here.tocsin("mail", "send", "--to", "dev", "hello")
    code, out, _ = here.tocsin("recipients", "show", "dev")
    assert code == 0
    assert [line.partition(";")[0] for line in out.splitlines()] == [
        "dev: agent, claude",
        "process: none, so messages wait",
        "messages: 1 waiting, 0 unread in its inbox",
        "waits on a human: not observable, no hook of it was ever heard",
    ]
    with Tocsin(store=database(here)) as line:
        line.open_lane("dev", print, provider="claude")
        line.records.begin_session(Session(id="s1", recipient="dev", pid=7, command=("claude", "\x1b[31m-c"), started_at=1))
        line.observe("dev", HookEvent(hook_event_name="PreToolUse", tool_name="AskUserQuestion", tool_use_id="1"))
        until(lambda: asked(here, "recipients", "show", "dev")["observable"], "that it is on record")
        shown = asked(here, "recipients", "show", "dev")
        assert (shown["here"], shown["owner"]["pid"]) == (True, os.getpid())
        assert (shown["waits_on_human"], shown["waits"]["permission"]) == (True, False)
        assert shown["waits"]["question"] == "AskUserQuestion"
        assert [(one["id"], one["pid"], one["command"]) for one in shown["sessions"]] == [("s1", 7, ["claude", "\x1b[31m-c"])]
        out = here.tocsin("recipients", "show", "dev")[1]
        assert "waits on a human: yes, for an answer to AskUserQuestion\n" in out
        assert out.splitlines()[-1].endswith("claude -c")
        line.observe("dev", HookEvent(hook_event_name="Stop"))
        line.observe("dev", HookEvent(hook_event_name="PermissionRequest", tool_name="Bash"))
        until(lambda: "yes, for a permission\n" in here.tocsin("recipients", "show", "dev")[1], "the next wait")
        line.observe("dev", HookEvent(hook_event_name="Stop"))
        until(lambda: asked(here, "recipients", "show", "dev")["waits_on_human"] is False, "the end of the wait")
    assert "waits on a human: no\n" in here.tocsin("recipients", "show", "dev")[1]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["show", "ghost"], 4, "nobody called 'ghost' is registered; recipients: dev. `tocsin recipients register ghost`"),
        (["archive", "ghost"], 4, "nobody called 'ghost' is registered"),
        (["register", " x"], 2, "can't be a recipient's name"),
        (["register", "a\x1bb"], 2, "can't be a recipient's name"),
        (["register", ""], 2, "can't be a recipient's name"),
        (["register", "x", "--kind", "god"], 2, "'god' is not one of"),
        (["unregister"], 2, "No such command"),
    ],
)
def test_what_is_wrong_is_said(here, arguments: list[str], code: int, said: str) -> None:
    here.tocsin("recipients", "register", "dev")
    found, out, err = here.tocsin("recipients", *arguments)
    assert (found, out) == (code, "")
    assert said in err
    assert "\x1b" not in err


def test_without_a_store_those_who_are_here_are_listed_all_the_same(here) -> None:
    assert here.tocsin("recipients") == (0, "", "no recipient is here: start one with `tocsin run --as NAME -- CMD`\n")
    assert not database(here).exists()
    off = {"TOCSIN_STORE__PATH": "off"}
    assert here.tocsin("recipients", env=off)[0] == 0
    code, out, err = here.tocsin("recipients", "register", "x", env=off)
    assert (code, out) == (2, "")
    assert err == (
        "tocsin: the setting store.path is off, so nothing is stored: change it, or name a database with --store PATH\n"
    )


def test_a_named_database_is_used_and_one_that_is_not_there_is_not_made_by_looking(here) -> None:
    other = here.place / "other.db"
    code, _, err = here.tocsin("recipients", "list", "--store", other)
    assert (code, err.startswith(f"tocsin: there is no database at {other}")) == (2, True)
    assert not other.exists()
    here.tocsin("recipients", "register", "x", "--store", other)
    assert [one["name"] for one in lines(here, "recipients", "list", "--store", other)] == ["x"]
    assert lines(here, "recipients", "list") == []


def test_a_database_that_can_t_be_used_is_6_and_a_damaged_one_is_set_aside_with_a_word(here) -> None:
    other = here.place / "other.db"
    (here.place / "file").write_text("")
    code, out, err = here.tocsin("recipients", "register", "x", "--store", here.place / "file" / "x.db")
    assert (code, out) == (6, "")
    assert "can't be made" in err
    code, out, err = here.tocsin("mail", "send", "--to", "x", "--store", here.place / "file" / "x.db", "hello")
    assert (code, out, err.count("\n")) == (6, "", 1)
    assert "can't be made" in err
    other.write_bytes(b"no database " * 100)
    code, out, err = here.tocsin("recipients", "register", "x", "--store", other)
    assert (code, out) == (2, "")
    assert err == f"tocsin: {other}: is a file of another kind, and is left alone; name another one\n"
    assert other.read_bytes() == b"no database " * 100
    other.write_bytes(b"SQLite format 3\0no database " * 100)
    code, out, err = here.tocsin("recipients", "register", "x", "--store", other)
    assert (code, out) == (0, "x is registered, as agent\n")
    assert "was set aside as" in err
    assert [path.read_bytes()[:27] for path in here.place.glob("other.db.damaged-*")] == [b"SQLite format 3\0no database"]

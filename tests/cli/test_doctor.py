"""``tocsin doctor``: each trouble is named once, with what ends it and its exit code; and looking changes nothing."""

import json
import os
import runpy
import signal
import sqlite3
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until = _processes["world"], _processes["until"]


@pytest.fixture
def here():
    with world() as here:
        # Agents' settings are looked for there.
        here.environ["HOME"] = str(here.place)
        yield here


def checks(here, *words, code=0):
    """What was looked at, by name; how it stands, and what is said of it."""
    ended, out, _ = here.tocsin("doctor", "--json", *words)
    said = json.loads(out)
    assert (ended, said["healthy"]) == (code, code == 0), said
    return [(check["name"], check["state"], check["text"]) for check in said["checks"]]


def of(found, name):
    return [(state, text) for one, state, text in found if one == name]


def database(here, name="a.db"):
    """One with a message for somebody who is not here."""
    path = here.place / name
    assert here.tocsin("recipients", "register", "late", "--store", str(path))[0] == 0
    assert here.tocsin("mail", "send", "--to", "late", "--store", str(path), "the build is green")[0] == 0
    return path


def test_where_nothing_was_ever_done_all_is_well_and_nothing_is_made(here) -> None:
    found = checks(here)
    assert {state for _, state, _ in found} <= {"ok", "note"}
    assert "there is no file of settings" in of(found, "settings")[0][1]
    assert "tocsin run --as NAME" in of(found, "recipients")[0][1]
    (path,) = (text.split()[0] for _, text in of(found, "database"))
    assert not Path(path).exists()
    code, out, _ = here.tocsin("doctor")
    assert code == 0
    assert "WHAT" in out


def test_it_says_for_whom_something_waits_and_leaves_the_database_as_it_is(here) -> None:
    path = database(here)
    before = path.read_bytes()
    found = checks(here, "--store", str(path))
    assert of(found, "database") == [("ok", found[3][2])]
    assert found[3][2].startswith(str(path))
    assert of(found, "waiting") == [("note", "1 message for late, who is not here: `tocsin run --as late -- CMD` brings it")]
    assert path.read_bytes() == before


def test_a_database_that_others_may_read_is_named(here) -> None:
    path = database(here)
    path.chmod(0o644)
    assert ("note", f"others may read it: `chmod 600 {path}` ends that") in of(checks(here, "--store", str(path)), "database")


def cut_off(path):
    """Half of it is missing, and no log would tell."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    os.truncate(path, path.stat().st_size // 2)


def of_another_program(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()


def newer(path):
    with sqlite3.connect(path) as connection:
        sql = "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('tocsin', 'm9999_later', '')"
        connection.execute(sql)
    connection.close()


@pytest.mark.parametrize(
    ("harm", "code", "word"),
    [
        (cut_off, 7, "Set it aside"),
        (of_another_program, 6, "Name another file"),
        (newer, 4, "Update this one"),
        (lambda path: path.unlink(), 2, "there is no database at"),
    ],
)
def test_what_is_wrong_with_the_database_is_said_once_and_decides_the_exit(here, harm, code, word) -> None:
    path = database(here)
    harm(path)
    (bad,) = [text for name, state, text in checks(here, "--store", str(path), code=code) if state == "bad"]
    assert str(path) in bad
    assert word in bad


def test_h04_a_log_that_a_reader_keeps_long_is_named(here) -> None:
    path = database(here)
    reader, writer = (sqlite3.connect(path, isolation_level=None) for _ in "ab")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM notices").fetchall()
    writer.execute("CREATE TABLE more (x BLOB)")
    for _ in range(70):
        writer.execute("INSERT INTO more VALUES (randomblob(1048576))")
    ((state, text),) = of(checks(here, "--store", str(path), code=6), "log")
    assert (state, f"{path}-wal" in text, "fuser" in text) == ("bad", True, True)
    reader.close()
    writer.close()


def test_a_mistake_in_the_settings_is_said_with_its_line_and_hides_nothing_else(here) -> None:
    file = here.place / ".tocsin.toml"
    file.write_text("[dedup]\nwindow = 60000\nreminder = 3\n")
    found = checks(here, code=2)
    (bad,) = [text for _, state, text in found if state == "bad"]
    assert f"{file}:3" in bad
    assert {"program", "sockets", "recipients"} <= {name for name, _, _ in found}


def test_who_is_here_and_who_is_stopped_is_told(here) -> None:
    with here.agent("composer") as terminal:
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient")
        assert [state for state, _ in of(checks(here), "recipients")] == ["ok"]
        os.kill(terminal.process.pid, signal.SIGSTOP)
        try:
            ((state, text),) = of(checks(here), "recipients")
            assert (state, "`fg`" in text) == ("note", True)
        finally:
            os.kill(terminal.process.pid, signal.SIGCONT)


def test_hooks_that_are_there_in_part_are_named_with_what_completes_them(here) -> None:
    assert here.tocsin("hooks", "install", "claude")[0] == 0
    ((state, text),) = of(checks(here), "hooks")
    assert state == "ok"
    file = Path(text.partition(": ")[2])
    settings = json.loads(file.read_text())
    settings["hooks"].popitem()
    file.write_text(json.dumps(settings))
    ((state, text),) = of(checks(here), "hooks")
    assert (state, "`tocsin hooks install claude`" in text) == ("note", True)
    file.write_text("{")
    ((state, text),) = of(checks(here, code=2), "hooks")
    assert state == "bad"

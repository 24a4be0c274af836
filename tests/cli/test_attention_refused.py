"""``tocsin attention`` says no: with a code, a reason and what to do, for people and for programs, and nothing has changed."""

import runpy
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world = _processes["world"]
_attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
did, no, told, lines, source, summoned, standing = (
    _attending[name] for name in ("did", "no", "told", "lines", "source", "summoned", "standing")
)


@pytest.fixture
def here():
    with world() as one:
        yield one


def test_nothing_is_a_bad_answer(here) -> None:
    summoned(here, source(here))
    did(here, "next")
    assert no(here, "resolve", "--response", "  ") == (2, "invalid")
    assert no(here, "resolve", "--response", "x" * 4_001) == (2, "invalid")
    assert no(here, "resolve") == (2, "bad_input")
    assert lines(here, "resolve", stdin="")[2] == (
        "tocsin: say the answer with --response TEXT, or --response - for what is on standard input\n"
    )
    assert no(here, "resolve", "--response", b"\xff") == (2, "bad_input")
    assert no(here, "resolve", "--response", "-", stdin=b"\xff") == (2, "bad_input")
    assert standing(here) == {1: "active"}


@pytest.mark.parametrize(
    ("command", "code", "reason"),
    [
        (["next", "99"], 4, "unknown_item"),
        (["next", "--human", "somebody"], 4, "unknown_human"),
        (["next", "4"], 5, "not_eligible"),
        (["resolve", "1", "--response", "x", "--expected-revision", "1"], 5, "wrong_state"),
        (["resolve", "1", "--response", "x", "--expected-revision", "7"], 5, "stale_revision"),
        (["resolve", "99", "--response", "x", "--expected-revision", "1"], 4, "unknown_item"),
        (["defer", "1", "--until", "2020-01-01T00:00:00Z", "--reason", "r", "--expected-revision", "1"], 2, "not_in_future"),
        (["defer", "1", "--until", "someday", "--reason", "r", "--expected-revision", "1"], 2, "bad_input"),
        (["defer", "1", "--until", "2h", "--reason", " ", "--expected-revision", "1"], 2, "invalid"),
        (["defer", "1", "--until", "2h"], 2, "bad_input"),
        (["requeue", "1", "--reason", "r", "--expected-revision", "1"], 5, "wrong_state"),
        (["cancel", "2", "--reason", "r", "--expected-revision", "2"], 5, "wrong_state"),
        (["cancel", "0", "--reason", "r"], 2, "bad_input"),
        (["cancel", "x1", "--reason", "r"], 2, "bad_input"),
        (["retry-return", "1", "--return-generation", "1", "--expected-revision", "1"], 5, "wrong_state"),
        (["retry-return", "3", "--return-generation", "1", "--expected-revision", "3"], 4, "no_return"),
        (["reroute-return", "3", "--return-generation", "1", "--source", "s", "--reason", "r"], 2, "bad_input"),
        (["source", "show", "nobody"], 4, "unknown_source"),
        (["source", "revoke", "nobody", "--reason", "r"], 4, "unknown_source"),
        (["show", "99"], 4, "unknown_item"),
        (["history", "99"], 4, "unknown_item"),
        (["retry-command", "8ba99410-c894-4632-aea6-b33a06a6b015"], 4, "unknown_command"),
        (["retry-command", "../../etc/passwd"], 2, "bad_input"),
        (["queue", "--after", "made.up"], 2, "bad_input"),
        (["queue", "--limit", "101"], 2, "bad_input"),
        (["queue", "--store", "nothing.db"], 2, "bad_input"),
        (["amend", "1", "--operator", "--expected-revision", "1"], 2, "invalid"),
        (["amend", "1", "--operator", "--title", "x"], 2, "bad_input"),
        (["add", "--project", "Not A Slug", "--title", "x"], 2, "invalid"),
        (["add", "--project", "p", "--title", "x", "--artifact", "no uri"], 2, "bad_input"),
        (["add", "--project", "p", "--title", "x", "--artifact", "l=javascript:alert(1)"], 2, "invalid"),
        (["add", "--project", "p", "--title", "x", "--follows", "99"], 4, "unknown_item"),
        (["add", "--project", "p", "--title", "x", "--return-to", "nobody"], 4, "unknown_source"),
        (["add", "--project", "p", "--title", "x", "--human", "somebody"], 4, "unknown_human"),
        (["sumon"], 2, "bad_input"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_every_no_has_its_code_its_reason_and_changes_nothing(prepared, command, code, reason) -> None:
    before = standing(prepared)
    assert no(prepared, *command) == (code, reason)
    assert standing(prepared) == before
    done = lines(prepared, *command)
    assert (done[0], done[1]) == (code, "")
    assert done[2]
    assert "Traceback" not in done[2]


@pytest.fixture(scope="module")
def prepared():
    """1 queued, 2 cancelled, 3 resolved (nobody waits), 4 deferred; nothing is active."""
    with world() as one:
        for title in ("One", "Two", "Three", "Four"):
            did(one, "add", "--project", "p", "--title", title)
        did(one, "cancel", 2, "--reason", "r")
        did(one, "next", 3)
        did(one, "resolve", "--response", "ok")
        did(one, "defer", 4, "--until", "indefinitely", "--reason", "r")
        (one.place / "state" / "tocsin" / "attention" / "seen").rename(one.place / "forgotten")
        yield one


def test_switched_off_nothing_is_taken_everything_is_shown_and_how_to_turn_it_on_is_said(here) -> None:
    film = source(here)
    summoned(here, film)
    (here.place / ".tocsin.toml").write_text("[attention]\nenabled = false\n")
    code, answer = told(here, "next")
    refusal = answer["error"]
    assert (code, refusal["code"]) == (4, "disabled")
    how = (
        f"the attention queue is switched off (attention.enabled, by {here.place}/.tocsin.toml:2): it can be read and takes no "
        "command. Turn it on with\n[attention]\nenabled = true\nin .tocsin.toml or your own configuration, or for one command "
        "with TOCSIN_ATTENTION__ENABLED=true"
    )
    assert refusal["text"] == how
    assert lines(here, "next") == (4, "", "".join(f"tocsin: {line}\n" for line in how.split("\n")))
    assert no(here, "withdraw", 1, "--expected-revision", 1, "--reason", "r", "--source-file", film) == (4, "disabled")
    assert [(one["item_id"], one["title"]) for one in did(here, "queue")["items"]] == [(1, "Review the parser")]
    assert lines(here, "show", 1)[0] == lines(here, "history", 1)[0] == lines(here, "source", "list")[0] == 0
    assert "queue of human on " in (out := lines(here, "doctor")[1])
    assert ": off\n" in out
    assert "TOCSIN_ATTENTION__ENABLED=true" in out
    assert did(here, "next", env={"TOCSIN_ATTENTION__ENABLED": "true"})["result"] == "claimed"

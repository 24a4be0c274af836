"""``tocsin attention`` for the person: one item at a time, taken when they say so, and decided about as they saw it."""

import json
import runpy
import sqlite3
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, argv = (_processes[name] for name in ("world", "argv"))
_attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
did, no, told, lines, source, source_id, summoned, shown, standing, packet, database, kept, locked = (
    _attending[name]
    for name in (
        *("did", "no", "told", "lines", "source", "source_id", "summoned", "shown", "standing", "packet", "database", "kept"),
        "locked",
    )
)


@pytest.fixture
def here():
    with world() as one:
        yield one


def titles(here, *arguments):
    return [(one["item_id"], one["title"]) for one in did(here, "queue", *arguments)["items"]]


def when_due(here, item_id):
    """The moment of a deferred item comes: its date is moved, since nothing here waits for a clock."""
    connection = sqlite3.connect(database(here))
    with connection:
        connection.execute("UPDATE attention_items SET deferred_until = 1000 WHERE item_id = ?", (item_id,))
    connection.close()


def test_A02_the_one_who_asked_first_is_first_and_an_amendment_changes_no_place(here) -> None:
    film = source(here)
    one, two = summoned(here, film, key="a", title="First"), summoned(here, film, key="b", title="Second")
    did(here, "amend", one, "--expected-revision", 1, "--title", "First, amended", "--source-file", film)
    assert titles(here) == [(one, "First, amended"), (two, "Second")]
    taken = did(here, "next")
    assert (taken["result"], taken["item_id"], taken["selection_reason"]) == ("claimed", one, "fifo")
    did(here, "amend", two, "--expected-revision", 1, "--title", "Second, amended", "--source-file", film)
    assert did(here, "resolve", "--response", "yes", "--next")["active"]["item_id"] == two


def test_A03_the_person_may_pick_and_the_order_of_the_others_stays(here) -> None:
    film = source(here)
    one, two, three = (summoned(here, film, key=key) for key in "abc")
    taken = did(here, "next", f"ATN-{three}")
    assert (taken["selection"], taken["selection_reason"], taken["active"]["item_id"]) == ("claimed", "explicit_pick", three)
    assert [item for item, _ in titles(here, "--state", "queued")] == [one, two]
    again = did(here, "next", str(two))
    assert (again["result"], again["active"]["item_id"]) == ("already_active", three)
    code, out, err = lines(here, "next", str(two))
    assert code == 0
    note, brief, *_ = out.split("\n")
    assert note == f"ATN-{two} was not taken: ATN-{three} is active, resolve, defer or cancel it first"
    assert (brief, err) == (f"ATN-{three} · film · Review the parser", "")
    assert no(here, "next", "99") == (4, "unknown_item")
    for plain in (["next"], ["next", str(three)]):
        code, out, err = lines(here, *plain)
        assert (code, out.split("\n")[0], err) == (0, f"ATN-{three} · film · Review the parser", "")


def test_A06_an_answer_and_the_next_item_are_one_step_and_asked_again_they_are_the_same(here) -> None:
    film = source(here)
    one, two, three = (summoned(here, film, key=key) for key in "abc")
    did(here, "next")
    first = did(here, "resolve", "--outcome", "approved", "--response", "Go.", "--next")
    assert (first["result"], first["item_id"], first["active"]["item_id"]) == ("resolved", one, two)
    assert first["return_effect"] == {"return_id": 1, "generation": 1, "phase": "pending"}
    did(here, "resolve", "--response", "Go too.", "--next")
    again = did(here, "retry-command", first["command_id"])
    assert again == {**first, "replayed": True}
    assert standing(here) == {one: "resolved", two: "resolved", three: "active"}
    assert shown(here, one).returned.generation == 1


def test_A07_an_answer_to_older_words_does_nothing_and_says_what_is_there_now(here) -> None:
    film = source(here)
    one, two = (summoned(here, film, key=key) for key in "ab")
    did(here, "next")
    lines(here, "next")
    did(here, "amend", one, "--expected-revision", 2, "--context", "Three files now.", "--source-file", film)
    code, answer = told(here, "resolve", "--response", "Go.", "--next")
    refusal = answer["error"]
    assert (code, refusal["code"], refusal["item_id"], refusal["revision"]) == (5, "stale_revision", one, 3)
    assert standing(here) == {one: "active", two: "queued"}
    assert shown(here, one).returned is None
    code, out, err = lines(here, "resolve", "--response", "Go.", "--next")
    assert (code, out) == (5, "")
    assert err == (
        f"tocsin: item {one} is at revision 3, not 2: read it again\n"
        f"tocsin: `tocsin attention show {one}` shows it as it is now\n"
        "tocsin: since revision 2: amended\n"
        "tocsin: context is now: Three files now.\n"
    )
    assert "Three files now." in lines(here, "show", one)[1]
    assert did(here, "resolve", "--response", "Go.", "--next")["active"]["item_id"] == two


def test_what_was_not_shown_is_not_decided_about(here) -> None:
    film = source(here)
    one = summoned(here, film)
    for command in (["defer", "--until", "2h", "--reason", "r"], ["cancel", "--reason", "r"]):
        code, out, err = lines(here, command[0], str(one), *command[1:])
        assert (code, out) == (2, "")
        how = f"`tocsin attention show {one}` does, or say --expected-revision"
        assert err == f"tocsin: this terminal has not shown ATN-{one} (as JSON or through a pipe does not count): {how}\n"
    did(here, "queue")
    assert no(here, "cancel", one, "--reason", "r") == (2, "bad_input")
    assert did(here, "cancel", one, "--reason", "r", "--expected-revision", 1)["result"] == "cancelled"
    two = summoned(here, film, key="b")
    did(here, "show", two)
    assert did(here, "cancel", two, "--reason", "r")["result"] == "cancelled"


def test_what_an_agent_looks_at_in_its_session_the_person_has_not_seen(here) -> None:
    one = summoned(here, source(here))
    assert did(here, "show", one, env={"TOCSIN_DELIVERY_TOKEN": "t"})["item"]["item_id"] == one
    assert no(here, "cancel", one, "--reason", "r") == (2, "bad_input")


def test_A08_a_deferred_item_comes_back_at_the_end_of_the_line_when_its_moment_has_come(here) -> None:
    film = source(here)
    one, two, three = (summoned(here, film, key=key) for key in "abc")
    did(here, "next")
    deferred = did(here, "defer", "--until", "tomorrow 9:00", "--reason", "needs the input", "--next")
    assert (deferred["result"], deferred["state"], deferred["active"]["item_id"]) == ("deferred", "deferred", two)
    did(here, "show", three)
    did(here, "defer", three, "--until", "indefinitely", "--reason", "no idea when")
    ended = did(here, "resolve", "--response", "ok", "--next")
    assert (ended["selection"], ended["active"], ended["deferred"]) == ("empty", None, 2)
    assert ended["next_deferred_at"] == shown(here, one).deferred_until
    four = summoned(here, film, key="d")
    when_due(here, one)
    assert did(here, "next")["active"]["item_id"] == four
    assert did(here, "resolve", "--response", "ok", "--next")["active"]["item_id"] == one
    assert did(here, "resolve", "--response", "ok", "--next")["selection"] == "empty"
    requeued = did(here, "requeue", three, "--reason", "now I know")
    assert (requeued["result"], requeued["state"]) == ("requeued", "queued")
    assert did(here, "next")["active"]["item_id"] == three


def test_A09_work_of_ones_own_needs_no_agent(here) -> None:
    added = did(here, "add", "--project", "grants", "--title", "Write the abstract", "--minutes", 30)
    started = did(here, "start", "--project", "site", "--title", "Design block")
    assert (added["result"], started["result"], started["active"]["owner"]) == ("created", "started", "human:human")
    item = shown(here, 1)
    assert (item.packet.kind, item.packet.work_id, item.packet.estimate_minutes) == ("human_work", "Write the abstract", 30)
    assert no(here, "start", "--project", "site", "--title", "More") == (5, "another_active")
    done = did(here, "resolve", "--response", "drawn", "--next")
    assert (done["return_effect"], done["active"]["item_id"]) == (None, 1)
    lines(here, "next")
    assert lines(here, "resolve", "--response", "written")[1] == "ATN-1 resolved; nobody waits for the answer\n"
    again = did(here, "add", "--project", "grants", "--title", "Write the abstract")
    assert (again["result"], again["item_id"]) == ("created", 3)


def test_a_packet_may_come_from_a_file_or_standard_input_and_its_answer_go_to_a_source(here) -> None:
    file = here.place / "own.json"
    file.write_text(json.dumps(packet("batch-1", "own", kind="human_work")))
    film = source(here)
    added = did(here, "add", "--file", file, "--return-to", source_id(film))
    assert (added["result"], added["source_id"]) == ("created", source_id(film))
    assert did(here, "add", "--file", file, "--return-to", source_id(film))["result"] == "existing"
    assert did(here, "start", "--file", "-", stdin=json.dumps(packet("w", "other")))["result"] == "started"
    assert no(here, "add", "--file", file, "--title", "x") == (2, "bad_input")
    assert no(here, "add", "--file", here.place / "nothing.json") == (2, "bad_input")
    assert no(here, "add", "--file", "-", stdin="{") == (2, "bad_input")
    assert no(here, "add", "--file", "-", stdin="[]") == (2, "bad_input")
    assert no(here, "add", "--file", "-", stdin=json.dumps(packet(surprise=1))) == (2, "invalid")
    assert no(here, "add", "--file", "-", stdin=json.dumps(packet()) + " " * 65_536) == (2, "bad_input")
    assert no(here, "add", "--title", "no project") == (2, "bad_input")


def test_A10_an_empty_queue_is_said_and_nothing_is_made_up(here) -> None:
    empty = did(here, "next")
    assert (empty["result"], empty["active"], empty["deferred"], empty["next_deferred_at"]) == ("empty", None, 0, None)
    assert lines(here, "next") == (0, "nothing is queued\n", "")
    code, out, err = lines(here, "queue")
    assert (code, out, err) == (0, "nothing is active; 0 queued, 0 deferred\n", "")
    did(here, "add", "--project", "p", "--title", "Later")
    did(here, "defer", 1, "--until", "2099-01-01T10:00:00+02:00", "--reason", "far away")
    code, out, _ = lines(here, "next", env={"TZ": "UTC"})
    assert (code, out) == (0, "nothing is queued; 1 deferred, the next one due Thu 2099-01-01 08:00 UTC\n")
    did(here, "cancel", 1, "--reason", "r")
    did(here, "add", "--project", "p", "--title", "Some day")
    did(here, "defer", 2, "--until", "indefinitely", "--reason", "r")
    assert lines(here, "next")[1] == "nothing is queued; 1 deferred, none with a date\n"


def test_A14_a_new_round_is_a_new_item_that_names_the_one_before(here) -> None:
    film = source(here)
    words = [
        "--project",
        "film",
        "--work",
        "batch-1",
        "--kind",
        "review",
        "--title",
        "Again",
        "--action",
        "a",
        "--context",
        "c",
    ]
    words += ["--unblocks", "u", "--source-file", film]
    one = did(here, "summon", *words, "--key", "round-1")
    two = did(here, "summon", *words, "--key", "round-2", "--follows", one["item_id"])
    assert (two["result"], two["item_id"]) == ("created", 2)
    assert shown(here, 2).packet.predecessor_item_id == 1
    assert no(here, "summon", *words, "--key", "round-3", "--follows", 99) == (4, "unknown_item")


def test_without_a_number_the_active_item_is_meant(here) -> None:
    film = source(here)
    for key in "abc":
        summoned(here, film, key=key)
    did(here, "next")
    assert did(here, "cancel", "--reason", "no longer", "--next")["active"]["item_id"] == 2
    assert did(here, "defer", "--until", "2h", "--reason", "later")["item_id"] == 2
    for command in (
        ["resolve", "--response", "x"],
        ["defer", "--until", "2h", "--reason", "r"],
        ["cancel", "--reason", "r"],
    ):
        assert no(here, *command) == (4, "unknown_item")
    assert lines(here, "cancel", "--reason", "r") == (
        4,
        "",
        "tocsin: no item is active: `tocsin attention next` takes one, or say which item is meant\n",
    )


def test_an_answer_comes_from_standard_input_to_the_letter(here) -> None:
    summoned(here, source(here))
    did(here, "next")
    did(
        here,
        "resolve",
        "--response",
        "-",
        "--outcome",
        "changes_requested",
        stdin="  Two things:\n\n- ünïcode ✓\n- tabs\t.\n\n",
    )
    item = shown(here, 1)
    assert (item.outcome, item.response) == ("changes_requested", "  Two things:\n\n- ünïcode ✓\n- tabs\t.\n")


def test_whose_queue_it_is_is_a_setting(here) -> None:
    (here.place / ".tocsin.toml").write_text('[attention]\nhuman_id = "hakon"\n')
    did(here, "add", "--project", "p", "--title", "Mine")
    assert shown(here, 1).packet.human_id == "hakon"
    assert [one["item_id"] for one in did(here, "queue")["items"]] == [1]
    for command in ("queue", "next", "doctor"):
        assert no(here, command, "--human", "other") == (4, "unknown_human")
    assert did(here, "next", "--human", "hakon")["active"]["item_id"] == 1
    assert did(here, "doctor")["human_id"] == "hakon"


def test_another_database_has_another_queue(here) -> None:
    did(here, "add", "--project", "p", "--title", "Here", "--store", here.place / "other.db")
    assert titles(here) == []
    assert titles(here, "--store", here.place / "other.db") == [(1, "Here")]
    (here.place / ".tocsin.toml").write_text('[store]\npath = "off"\n')
    assert no(here, "queue") == (2, "bad_input")


def test_a_person_corrects_what_was_asked(here) -> None:
    one = summoned(here, source(here), estimate_minutes=8, artifacts=[{"label": "a", "uri": "https://example.com/a"}])
    did(here, "show", one)
    done = did(here, "amend", one, "--operator", "--title", "Better", "--clear", "artifacts", "--clear", "minutes")
    assert (done["result"], done["revision"]) == ("amended", 2)
    packet = shown(here, one).packet
    assert (packet.title, packet.artifacts, packet.estimate_minutes) == ("Better", (), None)
    assert no(here, "amend", one, "--operator", "--title", "Better") == (5, "stale_revision")
    did(here, "show", one)
    assert did(here, "amend", one, "--operator", "--title", "Better")["result"] == "unchanged"
    assert no(here, "amend", one, "--operator", "--clear", "minutes", "--minutes", 3) == (2, "bad_input")
    assert did(here, "cancel", one, "--reason", "r")["result"] == "cancelled"


def test_a_list_goes_on_where_it_says(here) -> None:
    for title in "abc":
        did(here, "add", "--project", "p", "--title", title)
    code, out, err = lines(here, "queue", "--limit", 2)
    assert (code, [line.split()[0] for line in out.splitlines()]) == (0, ["ID", "ATN-1", "ATN-2", "nothing"])
    assert err.startswith("tocsin: there is more: tocsin attention queue --limit 2 --after queued.")
    rest = lines(here, "queue", "--limit", 2, "--after", err.split()[-1])
    assert [line.split()[0] for line in rest[1].splitlines()] == ["ID", "ATN-3", "nothing"]
    assert rest[2] == ""
    did(here, "cancel", 1, "--reason", "r")
    code, out, err = lines(here, "history", 1, "--limit", 1)
    assert ("added" in out, "cancelled" in out) == (True, False)
    assert "cancelled" in lines(here, "history", 1, "--after", err.split()[-1])[1]
    for work in "xyz":
        source(here, work)
    code, out, err = lines(here, "source", "list", "--limit", 2)
    assert len(out.splitlines()) == 3
    assert len(lines(here, "source", "list", "--after", err.split()[-1])[1].splitlines()) == 2


def test_a_request_is_kept_for_its_owner_alone_and_holds_no_secret(here) -> None:
    did(here, "next")
    with locked(here):
        _, lost = told(here, "add", "--project", "p", "--title", "Mine")
    (file,) = kept(here)
    assert file.name == f"{lost['error']['command_id']}.json"
    assert file.stat().st_mode & 0o777 == 0o600
    key = (here.place / "state" / "tocsin" / "operator.key").read_text().strip()
    assert len(key) > 20
    assert key not in file.read_text()
    said = json.loads(file.read_text())
    assert (said["action"], said["command_id"], said["payload"]["title"]) == ("add", file.stem, "Mine")
    assert file.with_suffix(".queue").stat().st_mode & 0o777 == 0o600

"""A mistake in a command of the queue is told by its option and by what would be right; whose queue it is is not guessed."""

import json
import runpy
from pathlib import Path

import pytest

from tocsin.cli.attention.faults import FIELDS
from tocsin.contracts.attention import Amendment, Packet, Resolution, ReturnReroute

_here = Path(__file__).parent
_processes = runpy.run_path(str(_here / "processes.py"))
world = _processes["world"]
_attending = runpy.run_path(str(_here / "attending.py"))
did, no, lines, source, source_id, summoned, shown, standing, packet, register = (
    _attending[name]
    for name in (*("did", "no", "lines", "source", "source_id", "summoned", "shown", "standing", "packet", "register"),)
)

SUMMON = {
    "--project": "film", "--work": "batch-1", "--key": "k", "--kind": "decision", "--title": "t", "--action": "a",
    "--context": "c", "--unblocks": "u",
}  # fmt: skip


@pytest.fixture
def here():
    with world() as one:
        yield one


def summon(**changed):
    said = SUMMON | {f"--{name}": value for name, value in changed.items()}
    return ["summon", *(word for pair in said.items() for word in pair)]


def complaint(here, *arguments, **more):
    """What is said of a command that is not well-formed: no JSON path, no pattern."""
    code, out, err = lines(here, *arguments, **more)
    assert (code, out) == (2, ""), err
    assert "$." not in err
    assert "regex" not in err
    assert "`str`" not in err
    return err


def test_every_field_that_an_option_fills_is_known_by_its_option() -> None:
    fields = {name for kind in (Packet, Amendment, Resolution, ReturnReroute) for name in kind.__struct_fields__}
    assert fields - set(FIELDS) == {"schema_version", "outcome", "select_next"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"project": "Parser"}, "--project has to be small letters, digits, dots and dashes, 80 at most"),
        ({"project": "p" * 81}, "--project has to be"),
        ({"work": " w"}, "--work has to be one line"),
        ({"key": "a\tb"}, "--key has to be one line"),
        ({"title": " "}, "--title has to be 1 to 160 characters"),
        ({"title": "t" * 161}, "--title has to be 1 to 160 characters"),
        ({"action": "a" * 1_501}, "--action has to be 1 to 1,500 characters"),
        ({"context": ""}, "--context has to be 1 to 3,000 characters"),
        ({"unblocks": "u" * 801}, "--unblocks has to be 1 to 800 characters"),
        ({"deadline": "tomorrow"}, "--deadline 2026-12-01T09:00:00+01:00"),
        ({"artifact": "sheet=./x"}, '--artifact "log=/var/log/build.log"'),
        ({"artifact": "sheet"}, "--artifact"),
        ({"minutes": "9999"}, "--minutes"),
        ({"follows": "0"}, "--follows"),
        ({"human": "B OB"}, "--human has to be small letters"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_can_not_be_taken_names_its_option_and_what_would_be_right(here, changed, said) -> None:
    film = source(here)
    assert said in complaint(here, *summon(**changed), "--source-file", film)
    assert standing(here) == {}


def test_all_that_is_missing_is_said_at_once(here) -> None:
    film = source(here)
    err = complaint(here, "summon", "--source-file", film)
    assert all(option in err for option in SUMMON)
    assert "--file" in err
    err = complaint(here, "summon", "--kind", "review", "--title", "t", "--source-file", film)
    assert "say --project, --work, --key, --action, --context, --unblocks as well" in err
    err = complaint(here, "summon", "--file", "-", "--source-file", film, stdin=json.dumps({"title": "t"}))
    assert "--context" in err


def test_a_person_is_told_in_the_same_words(here) -> None:
    did(here, "start", "--project", "p", "--title", "Mine")
    assert "--response has to be 1 to 4,000 characters, not blank" in complaint(
        here, "resolve", 1, "--response", " ", "--expected-revision", 1
    )
    later = ["defer", 1, "--expected-revision", 1, "--until", "2h"]
    assert "--reason has to be" in complaint(here, *later, "--reason", "")
    assert "--project has to be" in complaint(here, "add", "--project", "No Slug", "--title", "x")
    assert standing(here) == {1: "active"}


def test_a_field_of_a_file_is_called_by_its_own_name(here) -> None:
    film = source(here)
    err = complaint(here, "summon", "--file", "-", "--source-file", film, stdin=json.dumps(packet(title="")))
    assert "title has to be 1 to 160 characters" in err
    assert "--title" not in err
    artifacts = [{"label": "l", "uri": "ftp://x"}]
    err = complaint(here, "summon", "--file", "-", "--source-file", film, stdin=json.dumps(packet(artifacts=artifacts)))
    assert "artifacts[0].uri has to be" in err


def test_a_title_of_ones_own_may_have_a_tab_or_two_lines(here) -> None:
    done = did(here, "add", "--project", "p", "--title", "Write\tthe\nabstract ")
    item = shown(here, done["item_id"]).packet
    assert (item.title, item.work_id) == ("Write\tthe\nabstract ", "Write the abstract")


def test_outside_of_a_session_the_option_for_the_file_is_named(here) -> None:
    film = ["--project", "film", "--work", "batch-1"]
    assert "as in --out film.json" in complaint(here, "bind", *film, "--return", "none", "--operator", "--actor", "dev")
    assert "as in --source-file film.json" in complaint(here, *summon())
    register(here, "dev")
    by_hand = ["bind", *film, "--return", "pinned-session", "--operator", "--actor", "dev", "--out", here.place / "s.json"]
    code, _, err = lines(here, *by_hand)
    assert (code, "actor_context" in err, "--return actor-context" in err) == (3, False, True)


def test_the_list_of_sources_says_of_each_what_doctor_says(here) -> None:
    good, gone = source(here, "w1"), source(here, "w2", mode="pinned_session", session="over")
    bound = {one["source_id"]: one["reason"] for one in did(here, "doctor")["sources"]}
    assert did(here, "source", "list")["obstacles"] == bound
    assert (bound[source_id(good)], bool(bound[source_id(gone)])) == ("", True)
    rows = {line.split()[0]: line for line in lines(here, "source", "list")[1].splitlines()[1:]}
    assert rows[source_id(good)].endswith("  good")
    assert rows[source_id(gone)].endswith(bound[source_id(gone)].replace("_", " "))


# Whose queue


def test_another_queue_of_the_database_is_looked_at_and_answered_by_its_name(here) -> None:
    anna = {"TOCSIN_ATTENTION__HUMAN_ID": "anna"}
    did(here, "add", "--project", "p", "--title", "Hers", env=anna)
    did(here, "add", "--project", "p", "--title", "Mine")
    assert [one["title"] for one in did(here, "queue", "--human", "anna")["items"]] == ["Hers"]
    assert did(here, "next", "--human", "anna")["active"]["packet"]["title"] == "Hers"
    assert did(here, "next")["active"]["packet"]["title"] == "Mine"
    assert did(here, "add", "--project", "p", "--title", "More", "--human", "anna")["result"] == "created"
    assert did(here, "doctor", "--human", "anna")["counts"]["human_id"] == "anna"
    assert did(here, "resolve", "--human", "anna", "--response", "x", 1, "--expected-revision", 2)["result"] == "resolved"


@pytest.mark.parametrize(
    "command",
    [
        *[("next",), ("queue",), ("show", 1), ("doctor",), ("resolve", "--response", "x")],
        ("add", "--project", "p", "--title", "x"),
    ],
    ids=lambda command: command[0],
)
def test_a_name_that_has_no_queue_here_is_refused_and_begins_none(here, command) -> None:
    did(here, "add", "--project", "p", "--title", "Mine")
    assert no(here, *command, "--human", "nobody") == (4, "unknown_human")
    assert no(here, *command, "--human", "BAD ID!") == (2, "invalid")
    assert standing(here) == {1: "queued"}


def test_show_shows_no_item_of_another_queue(here) -> None:
    did(here, "add", "--project", "p", "--title", "Hers", env={"TOCSIN_ATTENTION__HUMAN_ID": "anna"})
    did(here, "add", "--project", "p", "--title", "Mine")
    assert did(here, "show", 1, "--human", "anna")["item"]["packet"]["title"] == "Hers"
    assert no(here, "show", 2, "--human", "anna") == (4, "unknown_item")
    assert did(here, "show", 1)["item"]["packet"]["human_id"] == "anna"

"""``tocsin ledger``: the record of harness notices goes out and in as the file that other programs keep, or not at all."""

import json
import runpy
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, python = (_processes[name] for name in ("world", "until", "python"))
_stored = runpy.run_path(str(Path(__file__).parent / "stored.py"))
asked, lines, delivering = (_stored[name] for name in ("asked", "lines", "delivering"))
FOREIGN = {
    "version": 1,
    "delivered": {"dev": {"breaker:steer:looping": {"at": "2026-11-30T12:00:00Z"}}},
    "deferred": [
        {
            "to": "dev",
            "sig": "worker:preserved:w1",
            "notice": {"kind": "worker", "key": "preserved:w1", "ctx": ["w1"]},
            "payload": {"to": "dev", "subject": "w1 is kept", "body": "its tree has changes"},
            "from": "harness",
            "at": "2026-11-30T12:00:00Z",
        }
    ],
}


@pytest.fixture
def here():
    with world() as one:
        assert one.tocsin("recipients", "register", "dev", "--kind", "inbox")[0] == 0
        yield one


def texts(here):
    pulled = asked(here, "inbox", "pull", "--as", "dev")["deliveries"]
    return [entry["text"] for one in pulled for entry in one["entries"]]


def test_what_another_program_told_is_not_told_again_and_what_it_held_is(here) -> None:
    (here.place / "in.json").write_text(json.dumps(FOREIGN))
    assert here.tocsin("ledger", "import", "in.json") == (0, "1 notice told and 1 held taken in\n", "")
    assert asked(here, "ledger", "import", "in.json") == {"delivered": 0, "held": 0, "here": []}
    (held,) = lines(here, "notice", "held")
    assert (held["signature"], held["recipient"], held["reason"]) == ("worker:preserved:w1", "dev", "imported")
    here.tocsin("notice", "send", "--to", "dev", "--kind", "breaker", "--key", "steer:looping", "you loop")
    assert texts(here) == ["w1 is kept"]
    assert here.tocsin("notice", "held") == (0, "", "no held\n")
    told = {one["signature"] for one in lines(here, "notice", "delivered")}
    assert told == {"breaker:steer:looping", "worker:preserved:w1"}
    here.tocsin("ledger", "import", "in.json")
    assert (lines(here, "notice", "held"), texts(here)) == ([], ["w1 is kept"])


def test_what_is_exported_can_be_imported_elsewhere_and_is_the_same_then(here) -> None:
    (here.place / "in.json").write_text(json.dumps(FOREIGN))
    other = here.place / "other.db"
    here.tocsin("ledger", "import", "in.json")
    code, out, err = here.tocsin("ledger", "export")
    assert (code, err) == (0, "")
    assert (json.loads(out)["version"], list(json.loads(out)["delivered"])) == (1, ["dev"])
    code, shown, err = here.tocsin("ledger", "export", "out.json")
    assert (code, shown) == (0, "")
    assert err.endswith("out.json: 1 told and 1 held\n")
    assert (here.place / "out.json").read_text() == out
    assert asked(here, "ledger", "export", "again.json")["held"] == 1
    assert here.tocsin("ledger", "import", "-", "--store", other, stdin=out)[1] == "1 notice told and 1 held taken in\n"
    assert here.tocsin("ledger", "export", "--store", other)[1] == out
    assert sorted(path.name for path in here.place.glob("*.json*")) == ["again.json", "in.json", "out.json"]


def test_the_ledger_is_shown_for_one_or_for_all(here) -> None:
    assert here.tocsin("ledger", "show") == (0, "", "nothing on the ledger\n")
    (here.place / "in.json").write_text(json.dumps(FOREIGN))
    here.tocsin("ledger", "import", "in.json")
    shown = asked(here, "ledger", "show")
    assert [one["signature"] for one in shown["delivered"]] == ["breaker:steer:looping"]
    assert [one["event"]["detail"] for one in shown["held"]] == ["its tree has changes"]
    assert asked(here, "ledger", "show", "--to", "ghost") == {"delivered": [], "held": []}
    told, held = here.tocsin("ledger", "show")[1].split("\n\n")
    assert told.splitlines()[0].split() == ["FOR", "TOLD", "WHEN", "DEPENDS", "ON", "CLEARED", "WHEN"]
    assert held.splitlines()[1].endswith("imported  w1 is kept")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("", "this is no notice ledger"),
        ("{", "this is no notice ledger"),
        ("[]", "this is no notice ledger"),
        ('{"version": 2}', "says version 2, and only version 1 is understood"),
        ('{"version": 1, "delivered": []}', "delivered"),
        ('{"version": 1, "delivered": {"dev": {"a:b": {}}}, "deferred": [{"to": 7}]}', "deferred[0]"),
        ('{"version": 1, "delivered": {"": {"": {}}}}', "'' can't be a recipient's name"),
        ('{"version": 1, "deferred": [{"to": "dev", "sig": "a:b"}, {"to": "", "sig": "a:b"}]}', "deferred[1]"),
        ("[" * 10_000, "this is no notice ledger"),
    ],
)
def test_a_file_that_is_none_changes_nothing_and_is_told_what_is_wrong(here, data: str, said: str) -> None:
    (here.place / "in.json").write_text(data)
    code, out, err = here.tocsin("ledger", "import", "in.json")
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert here.tocsin("ledger", "show") == (0, "", "nothing on the ledger\n")


def test_files_that_can_t_be_read_or_written_are_said(here) -> None:
    code, _, err = here.tocsin("ledger", "import", "nowhere.json")
    assert (code, err) == (2, "tocsin: nowhere.json: No such file or directory\n")
    code, out, err = here.tocsin("ledger", "export", "no/such/place.json")
    assert (code, out) == (6, "")
    assert "can't be written" in err
    code, _, err = here.tocsin("ledger", "export", "--json")
    assert (code, "--json tells what was written into FILE" in err) == (2, True)


def test_one_who_is_here_learns_of_an_import_when_it_is_started_again(here) -> None:
    (here.place / "in.json").write_text(json.dumps(FOREIGN))
    with delivering(here, python) as process:
        code, _, err = here.tocsin("ledger", "import", "in.json")
        assert (code, err) == (0, "tocsin: dev was started before and learns what it was told when it is started again\n")
        assert "w1 is kept" in process.stdout.readline()

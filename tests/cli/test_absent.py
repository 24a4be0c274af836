"""What is for one who is not here is kept, counted, explained and retried from the store, whoever has died."""

import json
import runpy
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, python = (_processes[name] for name in ("world", "until", "python"))
_stored = runpy.run_path(str(Path(__file__).parent / "stored.py"))
asked, lines, database, delivering = (_stored[name] for name in ("asked", "lines", "database", "delivering"))


@pytest.fixture
def here():
    with world() as one:
        assert one.tocsin("recipients", "register", "dev", "--kind", "inbox")[0] == 0
        yield one


def texts(here):
    pulled = asked(here, "inbox", "pull", "--as", "dev")["deliveries"]
    return [entry["text"] for one in pulled for entry in one["entries"]]


# Feed


def test_a_persons_words_are_kept_for_one_who_is_not_here(here) -> None:
    assert here.tocsin("feed", "--to", "dev", "--user", "the cart", "first") == (
        0,
        "",
        "tocsin: kept for dev, who is not here\n",
    )
    kept = "tocsin: kept for dev, who is not here"
    code, out, err = here.tocsin("feed", "--to", "dev", "--user", stdin="one\n\ntwo\n")
    assert (code, out) == (0, "")
    assert err.splitlines() == [kept, "tocsin: 2 events accepted by dev"]
    assert texts(here) == ["the cart first", "one", "two"]


def test_events_and_facts_are_only_for_those_who_are_here(here) -> None:
    here.tocsin("recipients", "register", "other", "--kind", "inbox")
    items = [
        {"text": "an event"},
        {"text": "words", "traffic": "user"},
        {"signal": "process_exited", "scope": "web", "code": 1},
        {"text": "a letter", "traffic": "mail", "id": "m1"},
        {"text": "for another", "traffic": "mail", "to": "other"},
        {"text": "for nobody", "traffic": "user", "to": "nobody"},
    ]
    code, out, err = here.tocsin("feed", "--to", "dev", "--jsonl", stdin="\n".join(map(json.dumps, items)) + "\nno json\n")
    assert (code, out) == (2, "")
    bad, kept, summed = err.splitlines()
    assert bad.startswith("tocsin: line 7: that is no event")
    assert kept == "tocsin: kept for dev, who is not here"
    assert (
        summed == "tocsin: 3 events accepted by dev, 3 refused (nobody is called 'nobody'; recipients: dev, other), 1 bad line"
    )
    assert sorted(texts(here)) == ["a letter", "words"]
    for arguments in (["x"], ["--all"]):
        code, out, err = here.tocsin("feed", "--to", "dev", *arguments, stdin="x\n")
        assert (code, out) == (4, "")
        assert err.startswith("tocsin: nobody called 'dev' is here; ")


@pytest.mark.parametrize("name", ["ghost", "gone"])
def test_nobody_and_the_archived_are_refused(here, name: str) -> None:
    here.tocsin("recipients", "register", "gone")
    here.tocsin("recipients", "archive", "gone")
    code, out, err = here.tocsin("feed", "--to", name, "--user", "hello")
    assert (code, out) == (4, "")
    assert err.startswith(f"tocsin: nobody called '{name}' is here; ")


def test_a_process_without_a_socket_is_fed_through_the_store(here) -> None:
    with delivering(here, python) as process:
        assert here.tocsin("feed", "--to", "dev", "--user", "hello") == (0, "", "")
        assert "hello" in process.stdout.readline()


# Status


def test_status_counts_what_is_kept_for_those_who_are_not_here(here) -> None:
    assert here.tocsin("status")[0] == 4
    for number in range(2):
        here.tocsin("mail", "send", "--to", "dev", f"{number}")
    assert here.tocsin("status") == (0, "dev is not here; 2 messages kept for it\n", "")
    assert here.tocsin("status", "--to", "other")[0] == 4
    assert asked(here, "status", "--to", "dev") == {
        "recipients": [],
        "kept": [{"recipient": "dev", "waiting": 2}],
        "store_trouble": "",
    }
    with here.agent("composer", name="b") as terminal:
        terminal.sees("> ")
        until(lambda: here.tocsin("status", "--to", "b")[0] == 0, "the other recipient")
        found = asked(here, "status")
        assert ([one["recipient"] for one in found["recipients"]], found["kept"][0]["recipient"]) == (["b"], "dev")
        assert here.tocsin("status")[1].splitlines()[-1] == "dev is not here; 2 messages kept for it"
    here.tocsin("inbox", "pull", "--as", "dev")
    assert here.tocsin("status", "--to", "dev")[0] == 4


def test_what_waits_for_a_process_that_lives_is_not_counted_as_kept_for_the_absent(here) -> None:
    with delivering(here, python, "hang") as process:
        here.tocsin("mail", "send", "--to", "dev", "hello")
        process.stdout.readline()
        assert here.tocsin("status")[0] == 4
    assert here.tocsin("status")[1] == "dev is not here; 1 message kept for it\n"


def test_status_says_what_is_wrong_with_the_store(here) -> None:
    other = here.place / "foreign.db"
    with closing(sqlite3.connect(other)) as foreign:
        foreign.execute("CREATE TABLE t (x)")
    code, out, err = here.tocsin("status", env={"TOCSIN_STORE__PATH": str(other)})
    assert (code, err) == (0, "")
    assert out.startswith(f"store: {other}: is another program's database")
    assert "another program's" in asked(here, "status", "--store", other)["store_trouble"]
    code, out, err = here.tocsin("mail", "send", "--to", "dev", "--store", other, "x")
    assert (code, out, err.count("\n")) == (6, "", 1)


# Explain


def test_the_story_of_a_message_is_told_when_its_process_is_gone(here) -> None:
    here.tocsin("mail", "send", "--to", "dev", "--id", "m1", "hello")
    assert here.tocsin("explain", "m1")[1].startswith("m1 for dev is pending since ")
    with delivering(here, python) as process:
        process.stdout.readline()
        until(lambda: asked(here, "explain", "m1")["messages"][0]["state"] == "processed", "the end of it")
    story = asked(here, "explain", "m1")
    assert [step["stage"] for step in story["decisions"]] == ["classify", "fingerprint", "dedup", "hold", "defer", "fanout"]
    (delivery,) = story["deliveries"]
    assert [step["proof"] for step in delivery["proofs"]] == ["offered"]
    assert [(one["id"], one["state"]) for one in story["messages"]] == [("m1", "processed")]
    by_fingerprint = asked(here, "explain", story["decisions"][-1]["fingerprint"][:8])
    assert by_fingerprint["decisions"] == story["decisions"][1:]  # it had none when it was classified
    assert asked(here, "explain", delivery["id"]) == story
    steps, ladder = here.tocsin("explain", "m1")[1].split("\n\n")
    assert steps.startswith("m1 for dev, fingerprint ")
    assert ladder.startswith(f"{delivery['id']} for dev, attempt 1: processed\n")
    assert here.tocsin("explain", "m1", "--to", "other")[0] == 4
    assert here.tocsin("explain", "nothing") == (
        4,
        "",
        "tocsin: nothing is remembered of 'nothing': give an id from a block, or 8 or more characters of a fingerprint\n",
    )


def test_what_a_running_agent_and_the_store_both_know_is_told_once(here) -> None:
    with here.agent("composer") as terminal:
        terminal.sees("> ")
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient")
        here.tocsin("mail", "send", "--to", "dev", "--id", "m1", "hello")
        terminal.submitted(1)
        until(lambda: [one["state"] for one in asked(here, "mail", "list")["mail"]] == ["processed"])
        alive = asked(here, "explain", "m1")
        steps = [tuple(step.values()) for step in alive["decisions"]]
        assert len(steps) == len(set(steps)) >= 6
        assert [step["at"] for step in alive["decisions"]] == sorted(step["at"] for step in alive["decisions"])
        assert alive["deliveries"][0]["proof"] in ("submitted", "offered")
        terminal.send(signal.SIGKILL)
        terminal.ends()
    assert asked(here, "explain", "m1") == alive


# Dead letters


def test_a_dead_letter_outlives_its_process_and_is_told_by_whoever_delivers_next(here) -> None:
    with delivering(here, python, "refuse") as process:
        here.tocsin("mail", "send", "--to", "dev", "--id", "m1", "hello")
        until(lambda: [one["state"] for one in asked(here, "mail", "list")["mail"]] == ["failed"])
        code, _, err = here.tocsin("retry", "m1")
        assert (code, f"(pid {process.pid}) delivers to 'dev'" in err) == (5, True)
    (letter,) = asked(here, "letters")["letters"]
    assert (letter["decision"]["id"], letter["decision"]["lane"]) == ("m1", "dev")
    assert (letter["decision"]["verdict"], letter["decision"]["note"]) == ("dead_letter", "the door is shut")
    assert letter["event"]["text"] == "hello"
    assert here.tocsin("letters", "--to", "dev")[1].splitlines()[1].endswith("(the door is shut)  hello")
    assert asked(here, "letters", "--to", "other")["letters"] == []
    code, _, err = here.tocsin("retry", "m2")
    assert (code, err) == (4, "tocsin: there is no dead letter with the id 'm2'; `tocsin letters` lists them\n")
    assert here.tocsin("retry", "m1", "--to", "other")[0] == 4
    assert here.tocsin("retry", "m1") == (0, "", "")
    assert here.tocsin("letters") == (0, "", "no dead letters\n")
    assert texts(here) == ["hello"]


def test_without_a_store_there_is_nobody_to_ask(here) -> None:
    off = {"TOCSIN_STORE__PATH": "off"}
    for arguments in (["letters"], ["retry", "m1"], ["explain", "m1"], ["status"], ["feed", "--to", "dev", "--user", "x"]):
        code, out, err = here.tocsin(*arguments, env=off)
        assert (code, out) == (4, ""), arguments
        assert err, arguments

"""``tocsin deliveries``: what was handed over is on record to the letter, with its attempts and every step of its proof."""

import runpy
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, python = (_processes[name] for name in ("world", "until", "python"))
_stored = runpy.run_path(str(Path(__file__).parent / "stored.py"))
asked, lines, delivering = (_stored[name] for name in ("asked", "lines", "delivering"))


@pytest.fixture
def here():
    with world() as one:
        assert one.tocsin("recipients", "register", "dev", "--kind", "inbox")[0] == 0
        yield one


def test_deliveries_are_listed_the_last_one_first(here) -> None:
    here.tocsin("recipients", "register", "other", "--kind", "inbox")
    for to, one in (("dev", "a"), ("dev", "b"), ("other", "c")):
        here.tocsin("mail", "send", "--to", to, "--id", one, f"text of {one}")
        here.tocsin("inbox", "pull", "--as", to)
    assert [one["notices"] for one in lines(here, "deliveries", "list")] == [["c"], ["b"], ["a"]]
    assert [one["notices"] for one in asked(here, "deliveries", "list", "--to", "dev", "--limit", "1")["deliveries"]] == [["b"]]
    code, out, err = here.tocsin("deliveries", "list", "--to", "other")
    head, row = out.splitlines()
    assert (code, err, head.split()) == (0, "", ["ID", "FOR", "WHEN", "STATE", "ATTEMPT", "PROVED", "WHAT"])
    assert row.split()[1] == "other"
    assert row.split()[4:7] == ["processed", "1", "recorded"]
    assert here.tocsin("deliveries", "list", "--to", "ghost") == (0, "", "no deliveries\n")


def test_a_delivery_is_shown_with_its_text_its_messages_and_its_ladder(here) -> None:
    here.tocsin("mail", "send", "--to", "dev", "--id", "m1", "--from", "lead", "hello")
    here.tocsin("inbox", "pull", "--as", "dev", "--ack")
    shown = asked(here, "deliveries", "show", "m1")
    assert shown["text"] == f"[tocsin {shown['id']}] lead: 1 mail\n- mail (id m1)\n  hello"
    assert (shown["recipient"], shown["notices"], shown["attempt"], shown["state"]) == ("dev", ["m1"], 1, "processed")
    assert [(one["id"], one["state"], one["attempts"]) for one in shown["messages"]] == [("m1", "processed", 1)]
    assert [(one["proof"], one["note"]) for one in shown["proofs"]] == [("recorded", "in the inbox, cursor 1"), ("seen", "")]
    assert all(one["at"].endswith("Z") for one in shown["proofs"])
    assert asked(here, "deliveries", "show", shown["id"]) == shown
    code, out, _ = here.tocsin("deliveries", "show", shown["id"])
    text, messages, ladder = out.removesuffix("\n").split("\n\n")
    assert (code, text) == (0, shown["text"])
    assert messages.splitlines()[1].split() == ["m1", "mail", "processed", "1", "sink", "accepted"]
    assert ladder.splitlines()[0] == f"{shown['id']} for dev, attempt 1: processed"
    assert [line.split()[2] for line in ladder.splitlines()[2:]] == ["made", "recorded", "seen"]


def test_a_delivery_by_a_process_that_was_killed_is_still_on_record(here) -> None:
    with delivering(here, python) as process:
        here.tocsin("mail", "send", "--to", "dev", "--id", "m1", "hello")
        assert "hello" in process.stdout.readline()
        until(lambda: [one["proof"] for one in lines(here, "deliveries", "list")] == ["offered"], "the proof")
    assert asked(here, "deliveries", "show", "m1")["messages"][0]["state"] == "processed"


def test_what_is_not_on_record_is_4(here) -> None:
    here.tocsin("mail", "send", "--to", "dev", "--id", "waits", "hello")
    for what in ("d-0", "waits", "\x1b[31m"):
        code, out, err = here.tocsin("deliveries", "show", what)
        assert (code, out) == (4, "")
        assert err.startswith("tocsin: no delivery '")
        assert err.endswith("see `tocsin deliveries list`\n")
        assert "\x1b" not in err

"""``tocsin mail``: committed before the command ends, delivered unchanged and once, to whoever delivers when it is time."""

import json
import runpy
import stat
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, python = (_processes[name] for name in ("world", "until", "python"))
_stored = runpy.run_path(str(Path(__file__).parent / "stored.py"))
asked, lines, database, delivering = (_stored[name] for name in ("asked", "lines", "database", "delivering"))


@pytest.fixture
def here():
    with world() as one:
        assert one.tocsin("recipients", "register", "dev")[0] == 0
        yield one


def test_a_message_is_committed_under_the_id_that_is_printed_and_kept_for_one_who_is_not_here(here) -> None:
    code, out, err = here.tocsin("mail", "send", "--to", "dev", "--from", "lead", "the", "build", "is", "yours")
    assert (code, err) == (0, "tocsin: kept for dev, who is not here\n")
    (mail,) = asked(here, "mail", "list")["mail"]
    assert (mail["id"], mail["recipient"], mail["state"]) == (out.strip(), "dev", "pending")
    assert (mail["event"]["text"], mail["event"]["scope"]) == ("the build is yours", "lead")
    assert mail["accepted_at"].endswith("Z")
    assert stat.S_IMODE(database(here).stat().st_mode) == 0o600


def test_the_same_id_is_delivered_once(here) -> None:
    assert asked(here, "mail", "send", "--to", "dev", "--id", "m1", "hello")["replayed"] is False
    again = asked(here, "mail", "send", "--to", "dev", "--id", "m1", "hello again")
    assert (again["id"], again["seq"], again["replayed"], again["here"]) == ("m1", 1, True, False)
    code, out, err = here.tocsin("mail", "send", "--to", "dev", "--id", "m1", "x")
    assert (code, out, err) == (0, "m1\n", "tocsin: that was accepted before under this id; nothing was added\n")
    (mail,) = asked(here, "mail", "list")["mail"]
    assert mail["event"]["text"] == "hello"


def test_standard_input_is_taken_to_the_letter_but_for_its_last_line_feed(here) -> None:
    body = "\ufeff  two spaces\r\n\ttabs and \x1b[31mcolours\x1b[0m \x00 日本 e\u0301 🛒\n\n"
    here.tocsin("mail", "send", "--to", "dev", "-", stdin=body + "\n")
    here.tocsin("mail", "send", "--to", "dev", "--subject", "a  review\n", "-", stdin=body)
    here.tocsin("mail", "send", "--to", "dev", "--", "-n", "$HOME `id` %s \\n")
    texts = [mail["event"]["text"] for mail in asked(here, "mail", "list")["mail"]]
    assert texts == [body, f"Subject: a review\n\n{body[:-1]}", "-n $HOME `id` %s \\n"]


def test_text_arrives_as_it_was_sent(here) -> None:
    body = "  two spaces\n\n\ttabs, 日本 e\u0301 🛒, $HOME `id` %s \\n and a very long line: " + "€" * 3_000
    here.tocsin("mail", "send", "--to", "dev", "-", stdin=body + "\n")
    (delivery,) = asked(here, "inbox", "pull", "--as", "dev")["deliveries"]
    assert [entry["text"] for entry in delivery["entries"]] == [body]


def test_what_is_no_text_is_refused_rather_than_changed(here) -> None:
    code, out, err = here.tocsin("mail", "send", "--to", "dev", "-", stdin=b"caf\xe9")
    assert (code, out) == (2, "")
    assert err == "tocsin: standard input is no text in UTF-8 (byte 3): it can't be delivered unchanged\n"
    code, _, err = here.tocsin("mail", "send", "--to", "dev", b"caf\xe9")
    assert (code, err) == (2, "tocsin: an argument is no text in UTF-8, so it could not be delivered unchanged\n")
    code, _, err = here.tocsin("mail", "send", "--to", "dev", "-", stdin="\n")
    assert (code, err.startswith("tocsin: the event has no message")) == (2, True)
    code, _, err = here.tocsin("mail", "send", "--to", "dev")
    assert (code, "nothing is said" in err) == (2, True)
    code, _, err = here.tocsin("mail", "send", "hello")
    assert (code, "Missing option '--to'" in err) == (2, True)
    assert asked(here, "mail", "list")["mail"] == []


def test_who_sends_it_is_by_default_the_recipient_we_run_inside(here) -> None:
    here.tocsin("mail", "send", "--to", "dev", "a", env={"TOCSIN_RECIPIENT": "lead"})
    here.tocsin("mail", "send", "--to", "dev", "--from", "", "b", env={"TOCSIN_RECIPIENT": "lead"})
    assert [mail["event"]["scope"] for mail in asked(here, "mail", "list")["mail"]] == ["lead", ""]


def test_mail_to_nobody_goes_to_the_coordinator_and_says_so(here) -> None:
    here.tocsin("recipients", "register", "lead", "--coordinator")
    code, _, err = here.tocsin("mail", "send", "--to", "ghost", "boo")
    assert code == 0
    assert err.splitlines() == [
        "tocsin: 'ghost' is unknown or archived, so that goes to the coordinator, 'lead'",
        "tocsin: kept for lead, who is not here",
    ]
    assert [(one["recipient"], one["state"], one["reason"]) for one in asked(here, "mail", "list")["mail"]] == [
        ("ghost", "undeliverable", "recipient_dead"),
        ("lead", "pending", ""),
    ]


def test_the_list_is_by_recipient_state_and_place(here) -> None:
    here.tocsin("recipients", "register", "other")
    for number in range(3):
        here.tocsin("mail", "send", "--to", "dev", "--id", f"m{number}", f"text {number}")
    here.tocsin("mail", "send", "--to", "other", "--id", "o", "\x1b]0;gotcha\x07\u202etext")
    here.tocsin("notice", "send", "--to", "dev", "--kind", "k", "--key", "1", "no mail")
    assert [one["id"] for one in lines(here, "mail", "list", "--to", "dev")] == ["m0", "m1", "m2"]
    code, out, err = here.tocsin("mail", "list", "--limit", "2")
    assert (code, err) == (0, "tocsin: there is more: --after 2\n")
    head, *rows = out.splitlines()
    assert head.split() == ["SEQ", "ID", "FOR", "FROM", "SENT", "STATE", "WHY", "WHAT"]
    assert [row.split()[:3] for row in rows] == [["1", "m0", "dev"], ["2", "m1", "dev"]]
    code, out, _ = here.tocsin("mail", "list", "--after", "3")
    assert out.splitlines()[1].endswith(" text")
    assert not set(out) & {"\x1b", "\x07", "\u202e"}
    here.tocsin("inbox", "pull", "--as", "other")
    assert [one["id"] for one in lines(here, "mail", "list", "--state", "processed")] == ["o"]
    assert here.tocsin("mail", "list", "--state", "failed") == (0, "", "no mail\n")
    code, _, err = here.tocsin("mail", "list", "--json", "--jsonl")
    assert (code, "do not go together" in err) == (2, True)


def test_a_process_that_delivers_gets_it_at_once_and_the_sender_learns_that_it_is_here(here) -> None:
    with delivering(here, python) as process:
        assert here.tocsin("mail", "send", "--to", "dev", "--id", "m1", "hello") == (0, "m1\n", "")
        assert process.stdout.readline().endswith(" 1 mail / - mail (id m1) /   hello\n")
        until(lambda: [one["state"] for one in asked(here, "mail", "list")["mail"]] == ["processed"])
        assert asked(here, "mail", "send", "--to", "dev", "--id", "m2", "more")["here"] is True


def test_an_agent_in_a_terminal_is_typed_what_another_process_sent(here) -> None:
    here.tocsin("mail", "send", "--to", "dev", "--id", "early", "kept for you")
    with here.agent("composer") as terminal:
        terminal.sees("> ")
        (first,) = terminal.submitted(1)
        assert first.split("\n")[1:] == ["- mail (id early)", "  kept for you"]
        code, _, err = here.tocsin("mail", "send", "--to", "dev", "--from", "lead", "--id", "late", "-", stdin="two\n  lines\n")
        assert (code, err) == (0, "")
        assert terminal.submitted(2)[1].split("\n")[1:] == ["- mail (id late)", "  two", "    lines"]
        until(lambda: {one["state"] for one in asked(here, "mail", "list")["mail"]} == {"processed"})
        terminal.keys("quit\r")
        assert terminal.ends() == 0


def test_two_senders_at_once_lose_nothing(here) -> None:
    senders = [here.start("mail", "send", "--to", "dev", "--id", f"m{nth}", "-", "--json") for nth in range(6)]
    answers = [json.loads(sender.communicate(b"hello")[0]) for sender in senders]
    assert {sender.returncode for sender in senders} == {0}
    assert sorted(answer["id"] for answer in answers) == [f"m{nth}" for nth in range(6)]
    assert sorted(one["seq"] for one in asked(here, "mail", "list")["mail"]) == sorted(answer["seq"] for answer in answers)

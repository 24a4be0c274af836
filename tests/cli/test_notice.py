"""``tocsin notice``: told once for each kind and key until re-armed, by whatever process, and every no says why."""

import runpy
import subprocess
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, python = (_processes[name] for name in ("world", "until", "python"))
_stored = runpy.run_path(str(Path(__file__).parent / "stored.py"))
asked, lines, delivering = (_stored[name] for name in ("asked", "lines", "delivering"))
LOOPS = ("notice", "send", "--to", "dev", "--kind", "breaker", "--key", "steer:looping")


@pytest.fixture
def here():
    with world() as one:
        assert one.tocsin("recipients", "register", "dev", "--kind", "inbox")[0] == 0
        yield one


def told(here):
    """What ``dev`` fetches now, by text; it is acknowledged."""
    deliveries = asked(here, "inbox", "pull", "--as", "dev", "--ack")["deliveries"]
    return [entry["text"] for one in deliveries for entry in one["entries"]]


def test_a_notice_is_told_once_until_it_is_re_armed(here) -> None:
    code, out, err = here.tocsin(*LOOPS, "you", "loop")
    assert (code, out.count("\n"), err) == (0, 1, "tocsin: kept for dev, who is not here\n")
    assert told(here) == ["you loop"]
    here.tocsin(*LOOPS, "you loop again")
    assert told(here) == []
    (one,) = asked(here, "notice", "delivered", "--to", "dev")["delivered"]
    assert (one["signature"], one["recipient"]) == ("breaker:steer:looping", "dev")
    assert asked(here, "notice", "rearm", "--to", "dev", "--kind", "other") == {"recipient": "dev", "delivered": 0, "held": 0}
    assert asked(here, "notice", "rearm", "--to", "dev", "--kind", "breaker") == {"recipient": "dev", "delivered": 1, "held": 0}
    here.tocsin(*LOOPS, "you loop once more")
    assert told(here) == ["you loop once more"]


def test_everything_that_is_said_is_on_record(here) -> None:
    answer = asked(
        here, "notice", "send", "--to", "dev", "--kind", "worker", "--key", "preserved:w1", "--ctx", "w1", "--ctx", "w2",
        "--urgent", "--severity", "error", "--id", "n1", "--detail", "more\nlines", "--cleared-when", "drained",
        "--text", "kept",
    )  # fmt: skip
    assert (answer["id"], answer["recipient"], answer["durable"], answer["here"]) == ("n1", "dev", True, False)
    event = asked(here, "explain", "n1")["messages"][0]["event"]
    del event["at"]
    assert event == {
        "text": "kept", "to": "dev", "source": "harness", "scope": "", "session": "", "severity": "error", "traffic": "notice",
        "detail": "more\nlines", "frame": "", "category": "", "key": "worker:preserved:w1", "id": "n1", "urgent": True,
        "ctx": ["w1", "w2"], "cleared_when": "drained",
    }  # fmt: skip


def test_the_table_of_kinds_says_what_the_sender_did_not(here) -> None:
    here.tocsin(
        "notice", "send", "--to", "dev", "--kind", "breaker", "--key", "constrain:cost", "--id", "a", "-", stdin="stop\n"
    )
    here.tocsin("notice", "send", "--to", "dev", "--kind", "worker", "--key", "reclaimed:w1", "--id", "b", "gone")
    here.tocsin("notice", "send", "--to", "dev", "--kind", "mine", "--key", "1", "--id", "c", "anything")
    found = [asked(here, "explain", one)["messages"][0]["event"] for one in "abc"]
    assert [(one["text"], one["urgent"], one["cleared_when"]) for one in found] == [
        ("stop", True, ""),
        ("gone", False, "started"),
        ("anything", False, ""),
    ]


def test_a_re_arm_by_ctx_or_signature_leaves_the_others(here) -> None:
    for worker in ("w1", "w2"):
        here.tocsin(
            "notice", "send", "--to", "dev", "--kind", "worker", "--key", f"preserved:{worker}", "--ctx", worker, "kept"
        )
    here.tocsin(*LOOPS, "you loop")
    assert len(told(here)) == 3
    assert asked(here, "notice", "rearm", "--to", "dev", "--ctx", "w1")["delivered"] == 1
    assert asked(here, "notice", "rearm", "--to", "dev", "--signature", "breaker:steer:looping")["delivered"] == 1
    assert [one["signature"] for one in lines(here, "notice", "delivered")] == ["worker:preserved:w2"]
    code, out, err = here.tocsin("notice", "rearm", "--to", "dev")
    assert (code, out, err) == (0, "1 notice may be told again; 0 notices that waited will not be told\n", "")
    assert here.tocsin("notice", "delivered") == (0, "", "no delivered\n")


def test_what_waits_and_is_over_is_never_told(here) -> None:
    here.tocsin(*LOOPS, "you loop")
    assert asked(here, "notice", "rearm", "--to", "dev", "--kind", "breaker") == {"recipient": "dev", "delivered": 0, "held": 1}
    assert told(here) == []


def test_a_re_arm_of_a_running_agent_is_done_by_its_own_process(here) -> None:
    with here.agent("composer") as terminal:
        terminal.sees("> ")
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient")
        here.tocsin(*LOOPS, "you loop")
        terminal.submitted(1)
        until(lambda: lines(here, "notice", "delivered"), "the ledger")
        assert asked(here, "notice", "rearm", "--to", "dev", "--kind", "breaker")["delivered"] == 1
        here.tocsin(*LOOPS, "you loop again")
        assert "you loop again" in terminal.submitted(2)[1]


def test_a_re_arm_while_a_process_without_a_socket_delivers_is_a_conflict(here) -> None:
    with delivering(here, python) as process:
        code, _, err = here.tocsin("notice", "rearm", "--to", "dev")
        assert code == 5
        assert f"a program (pid {process.pid}) delivers to 'dev', and can't be asked from outside" in err
        assert "let it call its own Tocsin.rearm, or end it and try again" in err
    assert here.tocsin("notice", "rearm", "--to", "dev")[0] == 0


def test_a_re_arm_in_a_store_leaves_whoever_has_that_name_in_another_one(here) -> None:
    other = here.place / "other.db"
    for store in ((), ("--store", other)):
        here.tocsin("recipients", "register", "dev", "--kind", "inbox", *store)
        here.tocsin(*LOOPS, "you loop", *store)
        here.tocsin("inbox", "pull", "--as", "dev", *store)
    with here.agent("composer") as terminal:
        terminal.sees("> ")
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient")
        there = ("notice", "delivered", "--store", other)
        assert len(lines(here, *there)) == 1
        assert asked(here, "notice", "rearm", "--to", "dev", "--store", other)["delivered"] == 1
        assert (lines(here, *there), len(lines(here, "notice", "delivered"))) == ([], 1)
        code, out, err = here.tocsin("notice", "rearm", "--to", "dev", env={"TOCSIN_STORE__PATH": str(other)})
        assert (code, out) == (0, "1 notice may be told again; 0 notices that waited will not be told\n")
        assert f"the process of 'dev' does not work with {other}" in err
        assert lines(here, "notice", "delivered") == []


def test_a_re_arm_in_a_store_that_is_not_there_makes_none(here) -> None:
    code, _, err = here.tocsin("notice", "rearm", "--to", "dev", "--store", "nowhere.db")
    assert code == 2
    assert "there is no database at" in err
    assert not (here.place / "nowhere.db").exists()


def test_when_the_disk_is_full_it_is_said_once_that_nothing_was_changed(here) -> None:
    limited = ["bash", "-c", 'ulimit -f 40; exec "$@"', "bash", *_processes["argv"]("mail", "send", "--to", "dev", "-")]
    done = subprocess.run(limited, input=b"x" * 100_000, capture_output=True, env=here.environ, cwd=here.place, check=False)
    assert (done.returncode, done.stdout) == (6, b"")
    assert done.stderr.decode() == (
        f"tocsin: {here.place}/state/tocsin/tocsin.db: can't be written or read (disk I/O error). Nothing was changed; "
        "free some space or make it writable, and it works again.\n"
    )
    assert asked(here, "mail", "list") == {"mail": []}


def test_a_notice_to_nobody_is_dropped_on_record_and_a_re_arm_for_nobody_is_an_error(here) -> None:
    code, out, err = here.tocsin("notice", "send", "--to", "ghost", "--kind", "k", "--key", "1", "boo")
    assert (code, err) == (0, "tocsin: 'ghost' is unknown or archived, so that was dropped, on record\n")
    assert "dropped, the recipient is gone" in here.tocsin("explain", out.strip())[1]
    code, _, err = here.tocsin("notice", "rearm", "--to", "ghost")
    assert (code, err) == (4, "tocsin: nobody called 'ghost' is registered, and nothing was ever told to that name\n")


def test_an_id_with_another_notice_is_a_conflict(here) -> None:
    assert here.tocsin(*LOOPS, "--id", "n", "one")[0] == 0
    assert asked(here, *LOOPS, "--id", "n", "one")["replayed"] is True
    code, out, err = here.tocsin(*LOOPS, "--id", "n", "another")
    assert (code, out) == (5, "")
    assert "with another message" in err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--kind", "a:b", "--key", "k", "x"], "without a colon"),
        (["--kind", "a", "--key", "", "x"], "without a colon, and a key"),
        (["--kind", "a", "x"], "Missing option '--key'"),
        (["--kind", "a", "--key", "k"], "nothing is said"),
        (["--kind", "a", "--key", "k", "--text", "x", "y"], "does not go with --text"),
        (["--kind", "a", "--key", "k", "--severity", "dire", "x"], "'dire' is not one of"),
        (["--kind", "a", "--key", "k", "--cleared-when", "soon", "x"], "'soon' is not one of"),
        (["--kind", "a", "--key", "k", "--id", "a\nb", "x"], "can't be an id"),
    ],
)
def test_what_is_wrong_with_a_notice_is_said_and_nothing_is_sent(here, wrong: list[str], said: str) -> None:
    code, out, err = here.tocsin("notice", "send", "--to", "dev", *wrong)
    assert (code, out) == (2, "")
    assert said in err
    assert asked(here, "recipients", "show", "dev")["waiting"] == 0


def test_kinds_and_recipients_are_completed_by_the_shell(here) -> None:
    words = {"_TOCSIN_COMPLETE": "bash_complete", "COMP_WORDS": "tocsin notice send --kind b", "COMP_CWORD": "4"}
    assert here.tocsin(env=words)[1] == "plain,breaker\n"
    words = {"_TOCSIN_COMPLETE": "bash_complete", "COMP_WORDS": "tocsin mail send --to d", "COMP_CWORD": "4"}
    assert here.tocsin(env=words)[1] == "plain,dev\n"
    assert here.tocsin(env={**words, "TOCSIN_STORE__PATH": "off"})[1].strip() == ""

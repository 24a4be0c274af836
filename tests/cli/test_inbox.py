"""``tocsin inbox``: what waits is brought in by the rules of the line, read as often as wanted, and acknowledged once."""

import json
import os
import runpy
import signal
import subprocess
from pathlib import Path

import pytest

_processes = runpy.run_path(str(Path(__file__).parent / "processes.py"))
world, until, python, argv = (_processes[name] for name in ("world", "until", "python", "argv"))
_stored = runpy.run_path(str(Path(__file__).parent / "stored.py"))
asked, lines, delivering = (_stored[name] for name in ("asked", "lines", "delivering"))


@pytest.fixture
def here():
    with world() as one:
        assert one.tocsin("recipients", "register", "dev", "--kind", "inbox", "--provider", "cron")[0] == 0
        yield one


def mail(here, *ids):
    for one in ids:
        assert here.tocsin("mail", "send", "--to", "dev", "--id", one, f"text of {one}")[0] == 0


def ids(deliveries):
    return [entry["id"] for one in deliveries for entry in one["entries"]]


def test_what_waits_is_fetched_in_order_again_and_again_until_it_is_acknowledged(here) -> None:
    mail(here, "a", "b", "c")
    code, out, err = here.tocsin("inbox", "pull", "--as", "dev")
    assert (code, err) == (0, "tocsin: that is up to cursor 3\n")
    assert [line for line in out.splitlines() if line.startswith("  ")] == ["  text of a", "  text of b", "  text of c"]
    pulled = asked(here, "inbox", "pull", "--as", "dev")
    assert pulled["recipient"] == "dev"
    assert [(one["cursor"], one["lane"], one["attempt"]) for one in pulled["deliveries"]] == [
        (1, "dev", 1),
        (2, "dev", 1),
        (3, "dev", 1),
    ]
    assert ids(pulled["deliveries"]) == ["a", "b", "c"]
    assert here.tocsin("inbox", "ack", "--as", "dev", "2") == (0, "2 deliveries read\n", "")
    assert asked(here, "inbox", "ack", "--as", "dev", "1") == {"recipient": "dev", "cursor": 1, "read": 0}
    assert ids(lines(here, "inbox", "pull", "--as", "dev")) == ["c"]
    assert here.tocsin("inbox", "ack", "--as", "dev", "3")[1] == "1 delivery read\n"
    assert here.tocsin("inbox", "pull", "--as", "dev") == (0, "", "nothing new\n")
    assert ids(lines(here, "inbox", "pull", "--as", "dev", "--after", "0", "--limit", "2")) == ["a", "b"]


def test_an_acknowledgement_is_the_proof_that_it_was_seen(here) -> None:
    mail(here, "a")
    (one,) = asked(here, "inbox", "pull", "--as", "dev")["deliveries"]
    assert [step["proof"] for step in asked(here, "deliveries", "show", "a")["proofs"]] == ["recorded"]
    here.tocsin("inbox", "ack", "--as", "dev", one["cursor"])
    shown = asked(here, "deliveries", "show", one["id"])
    assert [step["proof"] for step in shown["proofs"]] == ["recorded", "seen"]
    assert (shown["state"], shown["proof"]) == ("processed", "seen")


def test_what_was_printed_can_be_acknowledged_at_once_and_nothing_more(here) -> None:
    mail(here, "a", "b")
    assert ids(asked(here, "inbox", "pull", "--as", "dev", "--limit", "1", "--ack")["deliveries"]) == ["a"]
    assert ids(asked(here, "inbox", "pull", "--as", "dev", "--ack")["deliveries"]) == ["b"]
    assert asked(here, "inbox", "pull", "--as", "dev", "--ack")["deliveries"] == []


def test_what_nobody_could_read_is_not_acknowledged(here) -> None:
    mail(here, "a")
    read, write = os.pipe()
    os.close(read)
    command = argv("inbox", "pull", "--as", "dev", "--ack")
    process = subprocess.Popen(command, env=here.environ, cwd=here.place, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert process.communicate() == (None, b"")
    assert process.returncode == 128 + signal.SIGPIPE
    assert ids(asked(here, "inbox", "pull", "--as", "dev")["deliveries"]) == ["a"]


def test_a_pull_keeps_what_is_registered_and_leaves_the_name_free(here) -> None:
    mail(here, "a")
    here.tocsin("inbox", "pull", env={"TOCSIN_RECIPIENT": "dev"})
    (one,) = lines(here, "recipients")
    assert (one["kind"], one["provider"], one["here"], one["waiting"]) == ("inbox", "cron", False, 0)


def test_more_than_the_line_holds_at_a_time_is_brought_in_by_one_pull(here) -> None:
    messages = "".join(json.dumps({"text": f"t{nth}", "traffic": "user", "id": f"u{nth:04}"}) + "\n" for nth in range(1_500))
    assert here.tocsin("feed", "--to", "dev", "--jsonl", stdin=messages)[0] == 0
    pulled = asked(here, "inbox", "pull", "--as", "dev", "--limit", "2000")["deliveries"]
    assert sorted(ids(pulled)) == [f"u{nth:04}" for nth in range(1_500)]
    assert lines(here, "inbox", "list") == [
        {"schema_version": 1, "recipient": "dev", "unread": len(pulled), "acknowledged": 0, "waiting": 0}
    ]


def test_a_wait_ends_with_what_comes_or_with_124(here) -> None:
    code, out, err = here.tocsin("inbox", "pull", "--as", "dev", "--wait", "0.3")
    assert (code, out, err) == (124, "", "tocsin: nothing came for 'dev' within 0.3 s\n")
    waiting = here.start("inbox", "pull", "--as", "dev", "--wait", "60", "--json")
    mail(here, "late")
    out, err = waiting.communicate()
    assert (waiting.returncode, err) == (0, b"")
    assert ids(json.loads(out)["deliveries"]) == ["late"]
    code, out, _ = here.tocsin("inbox", "pull", "--as", "dev", "--after", "1", "--wait", "0", "--json")
    assert (code, json.loads(out)["error"]["code"]) == (124, "time_limit")


def test_an_interrupted_wait_is_130(here) -> None:
    waiting = here.start("inbox", "pull", "--as", "dev", "--wait", "60")
    until(lambda: b"python" in Path(f"/proc/{waiting.pid}/cmdline").read_bytes() if Path("/proc").exists() else True)
    until(lambda: _waits(waiting.pid), "that it waits")
    waiting.send_signal(signal.SIGINT)
    waiting.communicate()
    assert waiting.returncode == 130


def _waits(pid: int) -> bool:
    """True once it has the database open, as far as that can be seen."""
    folder = Path(f"/proc/{pid}/fd")
    return not folder.exists() or any("tocsin.db" in str(link.readlink()) for link in folder.iterdir() if link.is_symlink())


def test_while_another_process_delivers_a_pull_only_reads(here) -> None:
    mail(here, "a")
    assert ids(asked(here, "inbox", "pull", "--as", "dev")["deliveries"]) == ["a"]
    with delivering(here, python, "hang") as process:
        mail(here, "b")
        assert "text of b" in process.stdout.readline()
        assert asked(here, "recipients", "show", "dev")["waiting"] == 1
        assert ids(asked(here, "inbox", "pull", "--as", "dev")["deliveries"]) == ["a"]


def test_two_pulls_at_once_bring_in_each_message_once(here) -> None:
    mail(here, "a", "b", "c")
    pulls = [here.start("inbox", "pull", "--as", "dev", "--wait", "30", "--json") for _ in range(3)]
    for pull in pulls:
        out, err = pull.communicate()
        assert (pull.returncode, err) == (0, b"")
        assert set(ids(json.loads(out)["deliveries"])) <= {"a", "b", "c"}
    assert sorted(ids(asked(here, "inbox", "pull", "--as", "dev")["deliveries"])) == ["a", "b", "c"]


def test_a_pull_of_a_killed_process_is_made_up_by_the_next_one(here) -> None:
    mail(here, "a", "b")
    killed = here.start("inbox", "pull", "--as", "dev", "--wait", "60")
    killed.kill()
    killed.communicate()
    assert sorted(ids(asked(here, "inbox", "pull", "--as", "dev")["deliveries"])) == ["a", "b"]


def test_text_from_outside_is_printed_inert(here) -> None:
    here.tocsin("mail", "send", "--to", "dev", "--from", "\x1b[31mred", "\x1b]0;gotcha\x07\u202etext")
    _, out, _ = here.tocsin("inbox", "pull", "--as", "dev")
    assert "text" in out
    assert not set(out) & {"\x1b", "\x07", "\u202e"}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ["pull", "--as", "ghost"],
            4,
            "registered; recipients: dev. `tocsin recipients register ghost`",
        ),
        (["ack", "--as", "ghost", "1"], 4, "nobody called 'ghost' is registered"),
        (["pull"], 2, "say with --as whose inbox is meant"),
        (["ack", "--as", "dev", "1"], 2, "ends at cursor 0: 1 can't have been read"),
        (["ack", "--as", "dev", "x"], 2, "'x' is not a valid integer"),
        (["pull", "--as", "dev", "--limit", "0"], 2, "0 is not in the range"),
        (["pull", "--as", "dev", "--json", "--jsonl"], 2, "do not go together"),
    ],
)
def test_what_is_wrong_is_said(here, arguments: list[str], code: int, said: str) -> None:
    found, out, err = here.tocsin("inbox", *arguments)
    assert (found, out) == (code, "")
    assert said in err
    assert [one["name"] for one in lines(here, "recipients", "list", "--all")] == ["dev"]


def test_the_archived_read_nothing(here) -> None:
    here.tocsin("recipients", "archive", "dev")
    code, _, err = here.tocsin("inbox", "pull", "--as", "dev")
    assert (code, err) == (4, "tocsin: 'dev' is archived; `tocsin recipients register dev` brings it back\n")

"""``tocsin attention``: what nobody has read is not taken for read, and what does not arrive is not said to be on its way."""

import json
import runpy
import shlex
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from tocsin.contracts.recipients import Owner, Session
from tocsin.edges.liveness import this_owner
from tocsin.edges.opened import open_sound
from tocsin.store import owners, recipients

_here = Path(__file__).parent
_processes = runpy.run_path(str(_here / "processes.py"))
world, argv = (_processes[name] for name in ("world", "argv"))
_attending = runpy.run_path(str(_here / "attending.py"))
did, no, told, lines, source, source_id, summoned, shown, standing, typed, database, desk, CLOCK = (
    _attending[name]
    for name in (
        *("did", "no", "told", "lines", "source", "source_id", "summoned", "shown", "standing", "typed", "database", "desk"),
        "CLOCK",
    )
)


@pytest.fixture
def here():
    with world() as one:
        yield one


def command(*words):
    """One command for a shell."""
    return shlex.join(argv("attention", *map(str, words)))


def in_one_terminal(here, *commands):
    """Run these in one terminal, one after the other; everything that was shown."""
    return typed(here, ["sh", "-c", "; ".join(commands)])[1]


RESOLVE = ("resolve", "--response", "for what I read")


@pytest.mark.parametrize(
    "look",
    [
        f"{command('show', 1, '--json')} > /dev/null",
        f"{command('show', 1)} > /dev/null",
        f"{command('show', 1)} > file",
        f"{command('show', 1)} | cat > /dev/null",
        f"{command('next', '--json')} > /dev/null",
        f"{command('next')} > /dev/null",
    ],
)
def test_what_went_anywhere_but_to_the_terminal_is_not_taken_for_read_there(here, look) -> None:
    film = source(here)
    summoned(here, film)
    amend = command("amend", 1, "--expected-revision", 2, "--title", "Something else", "--source-file", film)
    text = in_one_terminal(here, command("next"), amend, look, command(*RESOLVE))
    assert "item 1 is at revision 3, not 2" in text
    assert standing(here) == {1: "active"}
    text = in_one_terminal(here, command("next"), command(*RESOLVE))
    assert "ATN-1 resolved" in text
    assert shown(here, 1).response == "for what I read"


def test_where_only_a_program_looked_the_person_is_told_to_look_themself(here) -> None:
    summoned(here, source(here))
    text = in_one_terminal(here, f"{command('next', '--json')} > /dev/null", command("resolve", 1, "--response", "x"))
    assert "this terminal has not shown ATN-1 (as JSON or through a pipe does not count): " in text
    assert standing(here) == {1: "active"}


def test_a_program_may_decide_by_what_it_was_told_itself_and_by_what_its_person_read(here) -> None:
    film = source(here)
    for key in "ab":
        summoned(here, film, key=key)
    by_itself = [f"{command('next', '--json')} > one.json", f"{command(*RESOLVE, '--json')} > two.json"]
    by_person = [command("next"), f"{command(*RESOLVE)} > words"]
    in_one_terminal(here, *by_itself, *by_person)
    assert json.loads((here.place / "two.json").read_text())["result"] == "resolved"
    assert standing(here) == {1: "resolved", 2: "resolved"}


@contextmanager
def running(here, session):
    """A session of ``dev``, whose process is this one; and afterwards one that is no more, as if it had been killed."""
    store = open_sound(database(here), CLOCK, print)
    try:
        with store.write() as tx:
            recipients.begin_session(tx, Session(id=session, recipient="dev", started_at=CLOCK.now()))
            owners.take(tx, "dev", this_owner("t"), CLOCK.now(), alive=lambda *_: False)
        yield
        with store.write() as tx:
            gone = Owner(token="t", pid=2**22 + 1, started="never", host=this_owner("t").host)
            owners.give_back(tx, "t")
            owners.take(tx, "dev", gone, CLOCK.now(), alive=lambda *_: False)
    finally:
        store.close()


def died_before_it_was_told(here):
    """ATN-1 is answered, the answer on its way to a session, and then that session's process is no more."""
    film = source(here, mode="pinned_session", session="s1")
    summoned(here, film)
    with running(here, "s1"):
        did(here, "next")
        answer = did(here, "resolve", "--response", "x")
        assert "held_up" not in answer
        assert told(here, "doctor")[0] == 0
        assert did(here, "queue")["held_up"] == []
        assert did(here, "show", 1)["obstacle"] == ""
    return film


def test_an_answer_on_its_way_to_a_session_that_died_is_not_just_minted(here) -> None:
    died_before_it_was_told(here)
    before = did(here, "history", 1)["events"]
    code, out, _ = lines(here, "show", 1)
    assert (code, "but that session does not run now" in " ".join(out.split())) == (0, True)
    assert did(here, "show", 1)["obstacle"] == "session_does_not_run"
    out = lines(here, "queue")[1]
    assert "ATN-1 minted: that session does not run now\n" in out
    assert "`tocsin attention doctor` says which answers do not get through" in out
    assert [one["item_id"] for one in did(here, "queue")["held_up"]] == [1]
    code, health = told(here, "doctor")
    (trouble,) = health["troubles"]
    assert (code, trouble["code"], trouble["item_id"]) == (5, "return_minted", 1)
    assert trouble["remedy"].startswith("if it does not come back within a minute, `tocsin attention reroute-return 1 ")
    assert "ATN-1 minted: session_does_not_run: that session does not run now" in lines(here, "doctor")[1]
    assert did(here, "history", 1)["events"] == before, "looking changes nothing"


def test_who_sends_it_again_meanwhile_is_told_why_it_does_not_arrive(here) -> None:
    died_before_it_was_told(here)
    retry = ["retry-return", 1, "--return-generation", 1, "--expected-revision", 3]
    code, out, err = lines(here, *retry)
    assert (code, "but that session does not run now" in out) == (0, True)
    assert "`tocsin attention doctor` says how ATN-1 is sent another way\n" in err


def test_an_answer_to_a_lost_session_is_not_said_to_be_sent_again_and_no_try_is_counted(here) -> None:
    summoned(here, source(here, mode="pinned_session", session="gone"))
    did(here, "next")
    did(here, "resolve", "--response", "x")
    retry = ["retry-return", 1, "--return-generation", 1, "--expected-revision", 3]
    before = did(here, "history", 1)["events"]
    for _ in range(2):
        code, answer = told(here, *retry)
        assert (code, answer["error"]["code"], answer["error"]["item_id"]) == (5, "no_route", 1)
        assert answer["error"]["action"] == "retry_return"
    code, out, err = lines(here, *retry)
    assert (code, out) == (5, "")
    assert "the answer stays where it is: another session of dev runs now, and that one does not. Nothing was sent; " in err
    assert shown(here, 1).returned.generation == 1
    assert did(here, "history", 1)["events"] == before
    assert not did(here, "queue")["counts"]["returns"].get("pending")


def test_the_place_that_a_list_says_goes_on_with_the_same_list(here) -> None:
    for title in "abcde":
        did(here, "add", "--project", "p", "--title", title)
    for item in (1, 2, 3):
        did(here, "cancel", item, "--reason", "r")
    wanted = ["queue", "--state", "cancelled", "--limit", 2, "--store", database(here), "--human", "human"]
    code, out, err = lines(here, *wanted)
    assert (code, [line.split()[0] for line in out.splitlines()[1:3]]) == (0, ["ATN-1", "ATN-2"])
    assert err.startswith("tocsin: there is more: tocsin attention queue --state cancelled --limit 2 --human human --store ")
    following = shlex.split(err.partition("more: ")[2])[2:]
    assert [line.split()[0] for line in lines(here, *following)[1].splitlines()[1:-1]] == ["ATN-3"]
    assert no(here, "queue", "--after", following[-1]) == (2, "bad_input")


def test_with_a_key_other_words_of_ones_own_are_the_same_item(here) -> None:
    first = did(here, "add", "--project", "p", "--title", "Typo titel", "--key", "mail-1")
    assert first["result"] == "created"
    assert no(here, "add", "--project", "p", "--title", "Typo title", "--key", "mail-1") == (5, "item_exists_use_amend")
    assert did(here, "add", "--project", "p", "--title", "Typo titel", "--key", "mail-1")["result"] == "existing"
    assert standing(here) == {1: "queued"}
    for _ in range(2):
        did(here, "add", "--project", "p", "--title", "Typo titel")
    assert standing(here) == {1: "queued", 2: "queued", 3: "queued"}


@pytest.mark.parametrize("words", [["next"], ["queue"], ["show", 1], ["doctor"], ["source", "list"]], ids=str)
def test_a_database_without_a_name_is_a_mistake_in_the_command(here, words) -> None:
    assert no(here, *words, "--store", "") == (2, "bad_input")
    code, out, err = lines(here, *words, "--store", "")
    assert (code, out, "it names no file: leave it out, or name the database" in err) == (2, "", True)


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no full device here")
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["words", "json"])
def test_what_was_done_is_said_although_the_output_can_not_be_written(here, more) -> None:
    film = source(here)
    for key in "ab":
        summoned(here, film, key=key)

    def full(*words):
        with FULL.open("wb") as nowhere:
            done = subprocess.run(
                argv("attention", *words, *more),
                env=here.environ,
                cwd=here.place,
                stdout=nowhere,
                stderr=subprocess.PIPE,
                timeout=60,
                check=False,
            )
        return done.returncode, done.stderr.decode()

    code, err = full("next")
    assert (code, standing(here)) == (6, {1: "active", 2: "queued"})
    assert "ATN-1 is active now; `tocsin attention show 1` shows it\n" in err
    assert "what is printed can't be written" in err
    assert "is not known" not in err
    assert full("resolve", "--response", "unread")[0] == 2, "what could not be shown was not read"
    code, err = full("resolve", "1", "--expected-revision", "2", "--response", "yes", "--next")
    assert code == 6
    assert "ATN-1 resolved" in err
    assert "ATN-2 is active now" in err
    assert did(here, "doctor")["open_commands"] == []

"""``tocsin attention`` as it is read: by programs one JSON object and nothing else, by people inert text on one screen."""

import json
import runpy
from pathlib import Path

import pytest

_here = Path(__file__).parent
_processes = runpy.run_path(str(_here / "processes.py"))
world, argv = (_processes[name] for name in ("world", "argv"))
_attending = runpy.run_path(str(_here / "attending.py"))
did, no, told, lines, source, source_id, summoned, shown, standing, packet, typed, state, kept = (
    _attending[name]
    for name in (
        *("did", "no", "told", "lines", "source", "source_id", "summoned", "shown", "standing", "packet", "typed", "state"),
        "kept",
    )
)

EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b5n\u202e\x07\x08\x7f"
"""A title, a cleared screen, a colour, a question to the terminal, reversed writing, a bell."""


@pytest.fixture
def here():
    with world() as one:
        yield one


def evil_packet(key):
    """Control sequences in every field that may hold them."""
    words = {name: f"{name} {EVIL}\n{EVIL} end" for name in ("title", "requested_action", "context", "unblocks")}
    artifact = {"label": f"label {EVIL}", "uri": "https://example.com/a", "version": f"v {EVIL}", "edge_id": "edge\u202e\x9b5n"}
    return packet("work\u202e\x9b5n", f"{key}\u202e\x9b5n", **words, artifacts=[artifact], estimate_minutes=3)


def harmless(text):
    return not [
        sign for sign in text if (sign < " " and sign not in "\n\t") or "\x7f" <= sign <= "\x9f" or sign in "\u202e\u2066"
    ]


def test_A31_whatever_is_in_a_packet_standard_output_is_one_json_object_with_the_very_words(here) -> None:
    film = source(here, "work\u202e\x9b5n")
    evil = evil_packet("k")
    asked = did(here, "summon", "--file", "-", "--source-file", film, stdin=json.dumps(evil))
    wanted = {**evil, "artifacts": [{"version": None, "edge_id": None, **evil["artifacts"][0]}]}
    wanted |= {"deadline_at": None, "predecessor_item_id": None, "schema_version": 1}
    assert did(here, "next")["active"]["packet"] == wanted
    assert did(here, "show", 1)["item"]["packet"] == wanted
    did(here, "queue"), did(here, "history", 1), did(here, "source", "list"), did(here, "doctor")
    did(here, "source", "show", asked["source_id"])
    ended = did(here, "resolve", "--response", f"Use {EVIL}", "--next")
    assert did(here, "retry-command", ended["command_id"]) == {**ended, "replayed": True}
    assert did(here, "show", 1)["item"]["response"] == f"Use {EVIL}"
    assert no(here, "defer", "99", "--until", EVIL, "--reason", EVIL, "--expected-revision", 1) == (2, "bad_input")
    assert no(here, "next", EVIL) == (2, "bad_input")
    assert no(here, EVIL) == (2, "bad_input")


def test_A31_to_people_nothing_of_it_is_more_than_text(here) -> None:
    film = source(here, "work\u202e\x9b5n")
    for key in "ab":
        did(here, "summon", "--file", "-", "--source-file", film, stdin=json.dumps(evil_packet(key)))
    commands = [
        *(["queue"], ["next"], ["show", 1], ["doctor"], ["source", "list"], ["source", "show", source_id(film)]),
        *(["resolve", "--response", f"Use {EVIL}", "--next"], ["show", 1], ["history", 1]),
        *(["defer", "--until", "2h", "--reason", EVIL, "--next"], ["show", 2], ["queue", "--state", "deferred"]),
        *(["defer", "2", "--until", EVIL, "--reason", "r"], [EVIL], ["requeue", "2", "--reason", EVIL]),
        *(["retry-command", EVIL], ["source", "show", EVIL], ["add", "--file", EVIL], ["queue", "--after", EVIL]),
    ]
    for command in commands:
        code, out, err = lines(here, *command)
        assert harmless(out), (command, out)
        assert harmless(err), (command, err)
        assert out or err, (command, code)


def test_A31_in_a_terminal_the_json_is_plain_letters(here) -> None:
    film = source(here, "work\u202e\x9b5n")
    did(here, "summon", "--file", "-", "--source-file", film, stdin=json.dumps(evil_packet("k")))
    code, text = typed(here, argv("attention", "show", "1", "--json"))
    assert code == 0
    assert text.count("\n") == 1
    assert {sign for sign in text if not " " <= sign <= "\x7f"} == {"\n"}
    assert json.loads(text)["item"]["packet"]["title"] == f"title {EVIL}\n{EVIL} end"


@pytest.mark.parametrize("command", [["next"], ["show", "1"], ["queue"], ["doctor"], ["history", "1"]], ids=" ".join)
def test_an_ordinary_item_fits_one_screen_and_no_line_is_wider(here, command) -> None:
    film = source(here)
    words = {
        "title": "Choose the next birthday-film render",
        "requested_action": "Select A, B, C or D for the next video batch.",
    }
    words["context"] = "Round 2. Same lighting and composition; compare likeness and expression. " * 3
    words["artifacts"] = [{"label": f"candidate {letter}", "uri": f"https://example.com/{letter}"} for letter in "ABCD"]
    summoned(here, film, estimate_minutes=8, deadline_at="2026-12-01T10:00:00Z", **words)
    code, text = typed(here, argv("attention", *command), env={"TZ": "UTC"})
    rows = text.split("\n")[:-1]
    assert code == 0
    assert len(rows) <= 23, text
    wide = [row for row in rows if len(row) > 80 and command[0] not in ("doctor", "history")]
    assert not wide
    if command[0] in ("next", "show"):
        for part in (
            "ATN-1 · film · Choose the next",
            "Do: ",
            "Context: ",
            "Open: ",
            "Unblocks: ",
            "about 8 minutes",
            "Return: ",
        ):
            assert part in text
        assert "wanted by Tue 2026-12-01 10:00 UTC" in text
        assert "asked just now by dev" in text


def test_a_queued_items_place_is_advice(here) -> None:
    film = source(here)
    for key in "ab":
        summoned(here, film, key=key)
    assert "Queue:    1 before it now; that may change\n" in lines(here, "show", 2)[1]
    assert "Queue:" not in lines(here, "next")[1]


def test_a_long_item_is_cut_on_the_screen_and_whole_in_show(here) -> None:
    film = source(here)
    context = " ".join(f"word{number}" for number in range(340))
    summoned(here, film, context=context)
    out = lines(here, "next")[1]
    assert len(out.splitlines()) <= 23
    assert "More:     it is longer: tocsin attention show 1\n" in out
    assert "word339" not in out
    assert "word339" in lines(here, "show", "1")[1]


def test_a_queue_is_a_table_of_what_is_open_with_ages_and_days(here) -> None:
    film = source(here)
    for number in range(3):
        summoned(here, film, key=f"k{number}", title=f"Item {number} " + "with a long title " * 6, estimate_minutes=5)
    did(here, "next")
    did(here, "show", 3)
    did(here, "defer", 3, "--until", "2099-01-01T10:00:00Z", "--reason", "r")
    code, out, err = lines(here, "queue", env={"TZ": "UTC"})
    head, *rows, count = out.splitlines()
    assert (code, err) == (0, "")
    assert head.split() == ["ID", "STATE", "ASKED", "MIN", "PROJECT", "TITLE"]
    assert [row.split("  ")[0] for row in rows] == ["ATN-1", "ATN-2", "ATN-3"]
    assert "until 2099-01-01 10:00 UTC" in rows[2]
    assert all(len(row) <= 80 and row.endswith("…") and "just now" in row for row in rows)
    assert count == "ATN-1 is active; 1 queued, 1 deferred, the next one due Thu 2099-01-01 10:00 UTC"
    did(here, "resolve", "--response", "x")
    assert lines(here, "queue")[1].splitlines()[-1] == "answers: 1 minted"
    assert lines(here, "queue", "--state", "resolved")[1].splitlines()[1].startswith("ATN-1  resolved")


def test_history_says_who_did_what(here) -> None:
    film = source(here)
    summoned(here, film)
    did(here, "amend", 1, "--expected-revision", 1, "--title", "Other", "--source-file", film)
    did(here, "next")
    did(here, "defer", "--until", "2h", "--reason", "lunch")
    did(here, "requeue", 1, "--reason", "back")
    did(here, "next")
    did(here, "resolve", "--response", "go")
    events = did(here, "history", 1)["events"]
    kinds = ["added", "amended", "claimed", "deferred", "requeued", "claimed", "resolved", "return_recorded", "return_minted"]
    assert [one["kind"] for one in events] == kinds
    assert {one["principal"] for one in events} == {f"source:{source_id(film)}", "operator", "returns"}
    code, out, err = lines(here, "history", 1)
    assert (code, err) == (0, "")
    assert [line.split("  ")[0] for line in out.splitlines()] == ["EVENT", *(str(one["event_id"]) for one in events)]
    assert "reason lunch" in out
    assert "outcome answered, response go" in out


def test_doctor_says_how_all_stands(here) -> None:
    before = did(here, "doctor")
    assert (before["broker_uuid"], before["operator_key"], before["counts"]["queued"]) == (None, "none", 0)
    assert "no queue was ever used in it\n" in (text := lines(here, "doctor")[1])
    assert "your key: none yet; your first command makes it\n" in text
    film = source(here, session="gone", mode="pinned_session")
    summoned(here, film)
    did(here, "next")
    did(here, "resolve", "--response", "ok")
    summoned(here, film, key="b")
    code, health = told(here, "doctor")
    assert (code, health["operator_key"], health["counts"]["queued"], health["returns"]) == (5, "yours", 1, {"blocked": 1})
    (found,) = health["sources"]
    assert (found["source_id"], found["valid"]) == (source_id(film), False)
    text = lines(here, "doctor")[1]
    assert "your key: the one of this queue\n" in text
    assert "answers: 1 blocked\n" in text
    assert "the head of the line waits since " in text
    assert f"source {source_id(film)}: dev, film · batch-1, pinned_session: " in text
    key = state(here) / "operator.key"
    key.rename(here.place / "away")
    assert "your key: none, and this queue belongs to somebody who has one\n" in lines(here, "doctor")[1]
    key.write_text("another key that somebody else has made and put there\n")
    key.chmod(0o600)
    assert "your key: another than this queue knows, so you may only look\n" in lines(here, "doctor")[1]
    assert no(here, "next") == (3, "not_yours")
    key.chmod(0o644)
    code, text, _ = lines(here, "doctor")
    assert (code, "your key: not trusted: others may read or write it\n" in text) == (3, True)
    assert f"`chmod 600 {key}`" in text
    key.chmod(0o600)
    key.write_text("nonsense\n")
    code, text, _ = lines(here, "doctor")
    assert (code, "your key: no key: the file holds something else\n" in text, f"at {key}" in text) == (3, True, True)
    assert did(here, "queue")["items"] != []


def editor(here, script):
    """A program that stands for the person's editor; it is given the file to edit."""
    path = here.place / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"EDITOR": str(path), "VISUAL": ""}


def test_without_an_answer_the_editor_opens_with_the_item_and_what_is_above_the_line_is_sent(here) -> None:
    summoned(here, source(here), title="Which one?")
    did(here, "next")
    script = 'cp "$1" seen.md; { echo; echo "Use C."; echo "# and keep the light"; cat "$1"; } > new.md; cat new.md > "$1"'
    code, text = typed(here, argv("attention", "resolve", "--outcome", "selected", "--next"), env=editor(here, script))
    assert (code, text) == (0, "ATN-1 resolved; return pending, generation 1\nnothing is queued\n")
    assert "ATN-1 · film · Which one?" in (here.place / "seen.md").read_text()
    item = shown(here, 1)
    assert (item.outcome, item.response) == ("selected", "Use C.\n# and keep the light")
    assert not list((state(here) / "attention" / "drafts").rglob("*.md"))


@pytest.mark.parametrize("script", ["true", ': > "$1"', "exit 0"], ids=["unchanged", "emptied", "nothing"])
def test_an_editor_that_is_left_without_a_word_answers_nothing(here, script) -> None:
    summoned(here, source(here))
    did(here, "next")
    code, text = typed(here, argv("attention", "resolve"), env=editor(here, script))
    assert (code, text) == (2, "tocsin: nothing was written, so nothing was sent; the item is yours as before\n")
    assert standing(here) == {1: "active"}


def test_an_answer_that_is_refused_need_not_be_written_again(here) -> None:
    film = source(here)
    summoned(here, film)
    did(here, "next")
    words = f"{' '.join(argv('attention', 'amend', '1', '--expected-revision', '2', '--title', 'New', '--source-file', film))}"
    script = f'{{ echo "A long answer."; cat "$1"; }} > new.md; cat new.md > "$1"; {words} > /dev/null'
    code, text = typed(here, argv("attention", "resolve"), env=editor(here, script))
    assert code == 5
    assert "item 1 is at revision 3, not 2" in text
    code, text = typed(here, argv("attention", "resolve"), env=editor(here, 'cp "$1" seen.md; echo >> "$1"'))
    assert code == 0, text
    seen = (here.place / "seen.md").read_text()
    assert seen.startswith("A long answer.\n")
    assert "ATN-1 · film · New" in seen
    assert shown(here, 1).response == "A long answer."


def test_a_line_that_was_deleted_sends_no_more_than_the_answer(here) -> None:
    summoned(here, source(here))
    did(here, "next")
    script = '{ echo "Yes."; grep -v "above this line" "$1"; } > new.md; cat new.md > "$1"'
    assert typed(here, argv("attention", "resolve"), env=editor(here, script))[0] == 0
    assert shown(here, 1).response == "Yes."

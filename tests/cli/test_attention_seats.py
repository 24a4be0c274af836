"""``tocsin attention`` for agents: enrolled by what can be checked, asking in silence, and never more than their own."""

import json
import runpy
import socket
import stat
import sys
from pathlib import Path

import pytest

_here = Path(__file__).parent
_processes = runpy.run_path(str(_here / "processes.py"))
world, until, AGENTS = (_processes[name] for name in ("world", "until", "AGENTS"))
_attending = runpy.run_path(str(_here / "attending.py"))
did, no, told, lines, source, source_id, summoned, shown, standing, packet, register, locked, database, state = (
    _attending[name]
    for name in (
        *("did", "no", "told", "lines", "source", "source_id", "summoned", "shown", "standing", "packet", "register"),
        *("locked", "database", "state"),
    )
)

ASK = ["--kind", "decision", "--title", "Which port?", "--action", "Say 80 or 8080.", "--context", "c", "--unblocks", "u"]
FILM = ["--project", "film", "--work", "batch-1"]


@pytest.fixture
def here():
    with world() as one:
        yield one


def run(here, name, *more):
    """An asking agent under `tocsin run`, and what its commands said once it has asked."""
    log = here.place / f"{name}.jsonl"
    terminal = here.agent(sys.executable, str(AGENTS / "asker.py"), str(log), *more, name=name)
    terminal.log = log
    return terminal


def answers(terminal, count):
    """What the agent's own commands answered: (command, code, answer)."""

    def got():
        found = [json.loads(line) for line in terminal.log.read_text().splitlines()] if terminal.log.exists() else []
        return [(one["ran"], one["code"], json.loads(one["out"])) for one in found if "ran" in one]

    return until(lambda: found if len(found := got()) >= count else None, lambda: bytes(terminal.shown[-500:]))


def test_an_agent_binds_and_asks_with_nothing_but_its_environment(here) -> None:
    with run(here, "dev", "pinned-session", "batch-1", "pick", "Choose a render") as terminal:
        (_, bound, binding), (_, asked, receipt) = answers(terminal, 2)
        assert (bound, binding["result"], asked, receipt["result"]) == (0, "bound", 0, "created")
        item = shown(here, receipt["item_id"])
        session = did(here, "source", "show", binding["source_id"])["source"]
        assert (session["actor"], session["provenance"], session["return_mode"]) == ("dev", "dispatch", "pinned_session")
        assert (item.owner, item.route.session_id) == ("seat:dev", session["session_id"])
        assert (item.packet.project_id, item.packet.work_id, item.packet.estimate_minutes) == ("film", "batch-1", 8)
        did(here, "next")
        did(here, "resolve", "--outcome", "selected", "--response", "Use C; keep the light.")
        (block,) = terminal.submitted(1)
    assert f"Attention item {item.item_id} is resolved: selected" in block
    assert "Use C; keep the light." in block


def test_a_session_that_runs_is_bound_by_both_its_names(here) -> None:
    out = here.place / "source.json"
    with here.agent("composer") as terminal:
        terminal.sees("> ")
        session = until(lambda: did_recipients(here), "the session")
        live = [*FILM, "--return", "pinned-session", "--out", out, "--actor", "dev"]
        assert no(here, "bind", *live) == (2, "bad_input")
        assert no(here, "bind", *live, "--session", "another") == (3, "unverified_session")
        assert not out.exists()
        bound = did(here, "bind", *live, "--session", session)
        assert did(here, "bind", *live, "--session", session) == {**bound, "replayed": True}
        asked = did(here, "summon", *FILM, "--key", "k", *ASK, "--source-file", out)
        found = did(here, "source", "show", bound["source_id"])["source"]
        assert (found["provenance"], found["session_id"], found["actor"]) == ("live_registration", session, "dev")
        did(here, "next", asked["item_id"])
        did(here, "resolve", "--response", "8080")
        (block,) = terminal.submitted(1)
        assert block.endswith("8080")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def did_recipients(here):
    code, out, _ = here.tocsin("recipients", "list", "--json")
    found = json.loads(out)["recipients"] if code == 0 else []
    return found[0]["session"] if found and found[0]["answers"] else None


def test_the_persons_word_binds_a_recipient_and_pins_no_session_that_is_not_seen(here) -> None:
    out = here.place / "source.json"
    by_hand = ["bind", *FILM, "--out", out, "--operator"]
    assert no(here, *by_hand, "--return", "actor-context") == (2, "bad_input")
    assert no(here, *by_hand, "--return", "actor-context", "--actor", "dev") == (4, "no_recipient")
    register(here, "dev")
    assert no(here, *by_hand, "--return", "pinned-session", "--actor", "dev", "--session", "s1") == (3, "unverified_session")
    refused = no(here, *by_hand[:-2], here.place / "two.json", "--operator", "--return", "pinned-session", "--actor", "dev")
    assert refused == (3, "unverified_session")
    code, text, err = lines(here, *by_hand, "--return", "actor-context", "--actor", "dev")
    assert code == 0
    assert text == f"source {source_id(out)} is bound\n"
    assert err == f"tocsin: its secret is in {out}, for you alone\n"
    found = did(here, "source", "show", source_id(out))["source"]
    assert (found["provenance"], found["session_id"], found["return_mode"]) == ("operator_binding", None, "actor_context")
    assert did(here, "summon", *FILM, "--key", "k", *ASK, "--source-file", out)["result"] == "created"


def test_where_nothing_says_who_asks_nobody_is_guessed(here) -> None:
    code, out, err = lines(here, "bind", *FILM, "--return", "none", "--out", here.place / "s.json")
    assert (code, out) == (2, "")
    assert "nothing here says who asks" in err
    assert not (here.place / "s.json").exists()
    forged = {"TOCSIN_SOCKET": str(here.runtime / "no.sock"), "TOCSIN_DELIVERY_TOKEN": "t", "TOCSIN_SESSION": "s"}
    assert no(here, "bind", *FILM, "--return", "none", env=forged) == (6, "not_running")
    assert no(here, "bind", *FILM, "--return", "none") == (2, "bad_input")
    assert no(here, "bind", *FILM, "--return", "somehow") == (2, "bad_input")
    assert no(here, "summon", *FILM, "--key", "k", *ASK) == (2, "bad_input")
    assert no(here, "summon", *FILM, "--key", "k", *ASK, "--source-file", here.place / "s.json") == (4, "unknown_source")


def test_a_recipient_that_does_not_answer_is_no_proof_of_anything(here) -> None:
    here.runtime.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(here.runtime / "silent.sock"))
        silent.listen()
        inside = {"TOCSIN_SOCKET": str(here.runtime / "silent.sock"), "TOCSIN_DELIVERY_TOKEN": "t", "TOCSIN_SESSION": "s"}
        assert no(here, "bind", *FILM, "--return", "none", env=inside) == (6, "not_running")
    assert not list(state(here).rglob("sources/**/*.json"))


def test_inside_a_session_the_person_is_not_to_be_had(here) -> None:
    summoned(here, source(here))
    inside = {"TOCSIN_DELIVERY_TOKEN": "t", "TOCSIN_RECIPIENT": "dev"}
    for command in (["next"], ["add", "--project", "p", "--title", "x"], ["source", "revoke", "s", "--reason", "r"]):
        assert no(here, *command, env=inside) == (3, "not_yours")
    assert standing(here) == {1: "queued"}


def test_the_same_key_and_words_are_the_same_item_and_other_words_need_an_amendment(here) -> None:
    film = source(here)
    ask = ["summon", *FILM, "--key", "k", *ASK, "--source-file", film]
    first = did(here, *ask)
    again = did(here, *ask)
    assert (again["result"], again["item_id"], again["command_id"] == first["command_id"]) == ("existing", 1, False)
    assert lines(here, *ask)[1] == "ATN-1 is there already (queued, revision 1); nothing was added\n"
    assert no(here, *ask[:-2], "--minutes", 3, "--source-file", film) == (5, "item_exists_use_amend")
    did(here, "amend", 1, "--expected-revision", 1, "--minutes", 3, "--source-file", film)
    assert did(here, *ask)["result"] == "existing_amended"
    did(here, "next")
    did(here, "resolve", "--response", "80")
    assert did(here, *ask)["state"] == "resolved"


def test_a_packet_or_a_whole_command_comes_from_a_file(here) -> None:
    film = source(here)
    (here.place / "packet.json").write_text(json.dumps(packet(key="a", title="From a packet")))
    assert did(here, "summon", "--file", "packet.json", "--source-file", film)["item_id"] == 1
    bare = {name: value for name, value in packet(key="b").items() if name != "human_id"}
    assert did(here, "summon", "--file", "-", "--source-file", film, stdin=json.dumps(bare))["item_id"] == 2
    command_id = "8ba99410-c894-4632-aea6-b33a06a6b015"
    envelope = {"schema_version": 1, "command_id": command_id, "action": "summon", "payload": packet(key="c")}
    first = did(here, "summon", "--file", "-", "--source-file", film, stdin=json.dumps(envelope))
    again = did(here, "summon", "--file", "-", "--source-file", film, stdin=json.dumps(envelope, indent=2))
    assert (first["command_id"], first["item_id"]) == (command_id, 3)
    assert again == {**first, "replayed": True}
    other = json.dumps({**envelope, "payload": packet(key="c", title="Other")})
    assert no(here, "summon", "--file", "-", "--source-file", film, stdin=other) == (5, "command_id_conflict")


def test_a_file_that_is_no_packet_is_refused(here) -> None:
    film = source(here)
    envelope = {"schema_version": 1, "command_id": "8ba99410-c894-4632-aea6-b33a06a6b015", "action": "summon"}
    for text, answer in (
        (json.dumps(packet(surprise=1)), (2, "invalid")),
        (json.dumps({**envelope, "payload": packet(surprise=1)}), (2, "invalid")),
        (json.dumps({**envelope, "actor": "somebody", "payload": packet()}), (2, "invalid")),
        (json.dumps({**envelope, "payload": packet(context="x" * 3_001)}), (2, "invalid")),
        (json.dumps({**envelope, "action": "next", "payload": {"human_id": "human"}}), (2, "bad_input")),
        (json.dumps({**envelope, "payload": packet()}) + " " * 65_536, (2, "bad_input")),
        ("[" * 5_000, (2, "bad_input")),
        ("", (2, "bad_input")),
        ("nonsense", (2, "bad_input")),
    ):
        assert no(here, "summon", "--file", "-", "--source-file", film, stdin=text) == answer, text[:80]
    assert no(here, "summon", "--file", "-", "--title", "x", "--source-file", film, stdin="{}") == (2, "bad_input")
    assert no(here, "summon", *FILM, "--source-file", film) == (2, "bad_input")
    assert standing(here) == {}


def test_artifacts_name_the_machine_that_has_a_file(here) -> None:
    film = source(here)
    artifacts = ["--artifact", "sheet=https://example.com/a=b", "--artifact", "log=/var/log/x y.log"]
    did(here, "summon", *FILM, "--key", "k", *ASK, *artifacts, "--source-file", film)
    sheet, log = shown(here, 1).packet.artifacts
    assert (sheet.label, sheet.uri, sheet.edge_id) == ("sheet", "https://example.com/a=b", None)
    assert (log.uri, log.edge_id) == ("file:///var/log/x%20y.log", did(here, "doctor")["edge"])


def test_A15_a_source_touches_its_own_items_only(here) -> None:
    mine, theirs = source(here, "batch-1", actor="dev"), source(here, "batch-2", actor="ops")
    one = summoned(here, mine)
    change = ["--expected-revision", 1, "--source-file", theirs]
    assert no(here, "amend", one, "--title", "x", *change) == (3, "not_yours")
    assert no(here, "withdraw", one, "--reason", "r", *change) == (3, "not_yours")
    assert no(here, "summon", *FILM, "--key", "k", *ASK, "--source-file", theirs) == (3, "out_of_scope")
    assert standing(here) == {one: "queued"}


def test_A16_what_the_person_has_begun_is_not_taken_from_under_them(here) -> None:
    film = source(here)
    one, two = summoned(here, film, key="a"), summoned(here, film, key="b")
    did(here, "next")
    withdraw = ["withdraw", "--reason", "not needed", "--source-file", film]
    assert no(here, *withdraw, one, "--expected-revision", 2) == (5, "wrong_state")
    assert no(here, *withdraw, two, "--expected-revision", 2) == (5, "stale_revision")
    assert did(here, *withdraw, two, "--expected-revision", 1)["result"] == "withdrawn"
    assert no(here, *withdraw, one) == (2, "bad_input")
    assert no(here, *withdraw, 99, "--expected-revision", 1) == (4, "unknown_item")
    assert standing(here) == {one: "active", two: "cancelled"}


def test_an_amendment_says_what_changes_and_the_rest_stays(here) -> None:
    film = source(here)
    summoned(here, film, estimate_minutes=8)
    amend = ["amend", 1, "--source-file", film]
    assert no(here, *amend, "--title", "x") == (2, "bad_input")
    assert no(here, *amend, "--expected-revision", 1) == (2, "invalid")
    told = did(here, *amend, "--expected-revision", 1, "--title", "New", "--action", "a", "--context", "c", "--unblocks", "u")
    assert (told["result"], told["revision"]) == ("amended", 2)
    did(here, *amend, "--expected-revision", 2, "--deadline", "2026-12-01T10:00:00+02:00", "--artifact", "l=https://e.x/")
    item = shown(here, 1).packet
    assert (item.title, item.requested_action, item.context, item.unblocks) == ("New", "a", "c", "u")
    assert (item.estimate_minutes, item.deadline_at, item.artifacts[0].label) == (8, "2026-12-01T08:00:00.000Z", "l")
    whole = {"item_id": 1, "expected_revision": 3, "estimate_minutes": None}
    assert did(here, "amend", "--file", "-", "--source-file", film, stdin=json.dumps(whole))["revision"] == 4
    some = json.dumps({"context": "other"})
    assert did(here, *amend, "--expected-revision", 4, "--file", "-", stdin=some)["revision"] == 5
    envelope = {"schema_version": 1, "command_id": "8ba99410-c894-4632-aea6-b33a06a6b015", "action": "amend"}
    command = json.dumps({**envelope, "payload": {"item_id": 1, "expected_revision": 5, "title": "Once"}})
    first = did(here, "amend", "--file", "-", "--source-file", film, stdin=command)
    assert did(here, "amend", "--file", "-", "--source-file", film, stdin=command) == {**first, "replayed": True}
    assert (shown(here, 1).packet.title, shown(here, 1).packet.context) == ("Once", "other")


def test_A11_what_a_revoked_source_did_is_still_told_and_nothing_more_is_taken(here) -> None:
    film = source(here)
    envelope = {"schema_version": 1, "command_id": "8ba99410-c894-4632-aea6-b33a06a6b015", "action": "summon"}
    text = json.dumps({**envelope, "payload": packet()})
    first = did(here, "summon", "--file", "-", "--source-file", film, stdin=text)
    name = source_id(film)
    assert did(here, "source", "revoke", name, "--reason", "the work is over")["result"] == "revoked"
    assert did(here, "source", "revoke", name, "--reason", "again")["result"] == "already_revoked"
    assert did(here, "summon", "--file", "-", "--source-file", film, stdin=text) == {**first, "replayed": True}
    assert no(here, "summon", *FILM, "--key", "new", *ASK, "--source-file", film) == (3, "source_revoked")
    code, out, _ = lines(here, "source", "list")
    assert (code, name in out, "revoked" in out) == (0, True, True)
    assert "revoked reason: the work is over\n" in lines(here, "source", "show", name)[1]
    assert did(here, "next")["active"]["item_id"] == 1


def test_a_handle_that_others_could_read_or_that_is_from_elsewhere_is_refused(here) -> None:
    film = source(here)
    ask = ["summon", *FILM, "--key", "k", *ASK, "--source-file", film]
    film.chmod(0o644)
    assert no(here, *ask) == (3, "not_yours")
    film.chmod(0o600)
    handle = json.loads(film.read_text())
    film.write_text(json.dumps({**handle, "handle": "guessed"}))
    assert no(here, *ask) == (3, "unauthenticated")
    film.write_text(json.dumps({**handle, "broker_uuid": "8ba99410-c894-4632-aea6-b33a06a6b015"}))
    assert no(here, *ask) == (3, "wrong_broker")
    film.write_text("{}")
    assert no(here, *ask) == (2, "bad_input")


def test_while_the_database_is_locked_it_is_not_said_that_nothing_was_stored(here) -> None:
    film = source(here)
    ask = ["summon", *FILM, "--key", "k", *ASK, "--source-file", film]
    with locked(here):
        code, answer = told(here, *ask)
    assert (code, answer["error"]["code"], answer["error"]["outcome"]) == (6, "store_busy", "unknown")
    assert "Nothing was changed" not in answer["error"]["text"]
    assert answer["error"]["reconcile"] == "send the same again"
    assert did(here, *ask)["result"] == "created"


def test_no_secret_is_in_any_output_or_in_the_database(here) -> None:
    film = source(here)
    summoned(here, film)
    did(here, "next")
    secrets = [json.loads(film.read_text())["handle"], (database(here).parent / "operator.key").read_text().strip()]
    did(here, "resolve", "--response", "ok")
    said = [
        "".join(map(str, lines(here, *command)))
        for command in (
            *(["doctor"], ["doctor", "--json"], ["queue", "--json"], ["show", 1, "--json"], ["history", 1, "--json"]),
            *(["source", "list", "--json"], ["source", "show", source_id(film), "--json"], ["source", "show", source_id(film)]),
        )
    ]
    said += [path.read_bytes().decode(errors="replace") for path in database(here).parent.glob("tocsin.db*")]
    said += [path.read_text() for path in (database(here).parent / "requests").iterdir()]
    assert len(secrets) == 2
    for secret in secrets:
        assert len(secret) > 30
        assert not [text for text in said if secret in text]

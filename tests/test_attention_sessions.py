"""Sessions: agents that run in real terminals bind their work, summon their person silently, and are told the answer there."""

import json
import runpy
import stat
import sys
from pathlib import Path

import pytest

from tocsin.contracts.attention_answers import Code, Receipt, Refusal, Result
from tocsin.contracts.attention_facts import Policy
from tocsin.contracts.attention_items import Phase
from tocsin.contracts.errors import NoRecipient, NotYours
from tocsin.contracts.recipients import Recipient
from tocsin.edges.attention.desk import ByHand, Dispatch, Live, attention
from tocsin.edges.attention.names import uuid
from tocsin.edges.clock import SteadyClock
from tocsin.edges.opened import opened

_processes = runpy.run_path(str(Path(__file__).parent / "cli" / "processes.py"))
world, until, AGENTS = (_processes[name] for name in ("world", "until", "AGENTS"))
CLOCK = SteadyClock()


@pytest.fixture
def here():
    with world() as one:
        yield one


def database(here):
    return here.place / "state" / "tocsin" / "tocsin.db"


def state(here):
    return here.place / "state" / "tocsin"


def desk(here, policy=None):
    return attention(database(here), state=state(here), clock=CLOCK, policy=policy or Policy(), warn=print)


def seat(here, name, mode="pinned_session", key="k1"):
    """An agent in a terminal of its own that asks for its person."""
    log = here.place / f"{name}.jsonl"
    return here.agent(sys.executable, str(AGENTS / "seat.py"), str(log), mode, key, name=name)


def said(terminal, what):
    """What the agent logged under that word."""

    def found():
        text = terminal.log.read_text() if terminal.log.exists() else ""
        return [line[what] for line in map(json.loads, text.splitlines()) if what in line]

    return until(found, lambda: f"{what}; shown {bytes(terminal.shown[-2000:])!r}")[0]


def packet(key):
    return {
        "human_id": "human",
        "project_id": "film",
        "work_id": "likeness-2",
        "intervention_key": key,
        "kind": "selection",
        "title": f"Choose the render {key}",
        "requested_action": "Select candidate A, B, C or D.",
        "context": "Round 2.",
        "unblocks": "The next batch.",
    }


def command(kind, payload):
    return json.dumps({"schema_version": 1, "command_id": uuid(CLOCK), "action": kind, "payload": payload}).encode()


def take(one):
    answer = one.act(command("next", {"human_id": "human"}), one.operator())
    assert isinstance(answer, Receipt)
    return answer.active


def resolve(one, item, response="Use candidate C.", **more):
    payload = {
        "item_id": item.item_id,
        "expected_revision": item.revision,
        "outcome": "selected",
        "response": response,
        **more,
    }
    answer = one.act(command("resolve", payload), one.operator())
    assert isinstance(answer, Receipt), answer
    return answer


def returned(here, item_id):
    with desk(here) as one:
        row = one.returns(item_id)[-1]
        return row.phase, row.reason


def test_A17_a_dispatched_agent_binds_and_summons_by_its_environment_and_the_answer_is_typed_into_its_session(here) -> None:
    with seat(here, "dev") as agent:
        bound, summoned = said(agent, "bound"), said(agent, "summoned")
        assert (bound["result"], summoned["result"]) == ("bound", "created")
        with desk(here) as one:
            item = take(one)
            assert (item.packet.title, item.owner, item.route.session_id) == (
                "Choose the render k1",
                "seat:dev",
                said(agent, "session"),
            )
            source = one.source(bound["source_id"])
            assert (source.actor, source.provenance, source.session_id, source.cwd, source.return_mode) == (
                "dev",
                "dispatch",
                said(agent, "session"),
                str(here.place),
                "pinned_session",
            )
            resolve(one, item)
        (block,) = agent.submitted(1)
        assert "The person's answer, to the end of this message:" in block
        assert "Use candidate C." in block
        assert "attention-return:" in block
        until(lambda: returned(here, item.item_id)[0] is Phase.PROCESSED, "that the answer is noted as told")


def test_A17_a_binding_outlives_its_session_and_an_answer_for_it_is_given_to_no_other(here) -> None:
    with seat(here, "dev") as agent:
        file, first = Path(said(agent, "file")), said(agent, "summoned")["item_id"]
        agent.sees("> ")
        agent.keys("quit\r")
        assert agent.ends() == 0
    agent.log.unlink()
    with desk(here) as one:
        later = one.act(command("summon", packet("later")), one.seat(file))
        assert (later.result, later.item_id) == (Result.CREATED, first + 1)
        resolve(one, take(one))
    assert returned(here, first) == (Phase.BLOCKED, "session_has_ended")
    with seat(here, "dev", mode="actor_context", key="k2") as other:
        source_id = said(other, "bound")["source_id"]
        with desk(here) as one:
            payload = {"item_id": first, "expected_revision": 3, "return_generation": 1}
            reroute = {**payload, "source_id": source_id, "reason": "its session has ended"}
            answer = one.act(command("reroute_return", reroute), one.operator())
            assert answer.result is Result.RETURN_REROUTED
        (block,) = other.submitted(1)
        assert "Use candidate C." in block
        assert "Context is restored here: this need not be the session that asked" in block
        until(lambda: returned(here, first)[0] is Phase.PROCESSED, "that it is noted")


def test_A25_A29_a_session_that_was_killed_is_followed_by_one_that_is_told_nothing(here) -> None:
    with seat(here, "dev") as agent:
        first = said(agent, "summoned")["item_id"]
        agent.process.kill()
        agent.process.wait()
    agent.log.unlink()
    with seat(here, "dev", key="k2") as other:
        second = said(other, "summoned")["item_id"]
        with desk(here) as one:
            resolve(one, take(one), "For the one that was killed.", select_next=True)
            resolve(one, one.item(second).item, "For this one.")
        (block,) = other.submitted(1)
        assert "For this one." in block
        assert "killed" not in block
        until(lambda: returned(here, second)[0] is Phase.PROCESSED, "that it is noted")
        assert returned(here, first) == (Phase.BLOCKED, "another_session_runs")
        assert len(other.submitted()) == 1


def test_A28_an_answer_for_the_actor_reaches_its_next_session_which_is_told_so(here) -> None:
    with seat(here, "dev", mode="actor_context") as agent:
        first = said(agent, "summoned")["item_id"]
        agent.process.kill()
        agent.process.wait()
    agent.log.unlink()
    with desk(here) as one:
        resolve(one, take(one))
    assert returned(here, first) == (Phase.MINTED, "")
    with seat(here, "dev", mode="actor_context", key="k2") as other:
        (block,) = other.submitted(1)
        assert "Use candidate C." in block
        assert "Context is restored here: this need not be the session that asked" in block
        until(lambda: returned(here, first)[0] is Phase.PROCESSED, "that it is noted")


@pytest.fixture
def running(here):
    """An agent that asks for nothing itself, with the session that its recipient announces."""
    with here.agent("composer") as terminal:
        terminal.sees("> ")
        until(lambda: here.tocsin("status", "--to", "dev")[0] == 0, "the recipient")
        with opened(database(here), CLOCK, print) as records:
            terminal.session = records.sessions("dev")[0].id
        yield terminal


def bound(here, evidence, mode="pinned_session"):
    with desk(here) as one:
        one.operator()
        return one.bind("film", "likeness-2", mode=mode, out=here.place / "live.json", evidence=evidence)


def answered(here):
    """The item that this source has asked for, answered."""
    with desk(here) as one:
        made = one.act(command("summon", packet("k1")), one.seat(here.place / "live.json"))
        assert isinstance(made, Receipt), made
        resolve(one, take(one))
    return made.item_id


def test_A18_a_running_session_is_bound_by_its_exact_names_and_gets_the_answer(here, running) -> None:
    answer = bound(here, Live(actor="dev", session=running.session, environ=here.environ))
    with desk(here) as one:
        source = one.source(answer.source_id)
    assert (source.provenance, source.session_id, source.cwd) == ("live_registration", running.session, str(here.place))
    item_id = answered(here)
    (block,) = running.submitted(1)
    assert "Use candidate C." in block
    until(lambda: returned(here, item_id)[0] is Phase.PROCESSED, "that it is noted")


def test_A18_names_that_are_not_exact_select_nobody(here, running) -> None:
    for names in ({"session": "another"}, {"actor": "another"}, {"session": ""}):
        answer = bound(here, Live(**{"actor": "dev", "session": running.session, "environ": here.environ, **names}))
        assert isinstance(answer, Refusal)
        assert answer.code is Code.UNVERIFIED_SESSION
    assert list(here.place.glob("live.json")) == []


def test_A18_names_that_anybody_can_look_up_are_no_proof(here, running) -> None:
    of_eve = {**here.environ, "TOCSIN_RECIPIENT": "eve", "TOCSIN_DELIVERY_TOKEN": "hers"}
    of_dev = {**here.environ, "TOCSIN_RECIPIENT": "dev", "TOCSIN_DELIVERY_TOKEN": "guessed"}
    for environ in (of_eve, of_dev):
        answer = bound(here, Live(actor="dev", session=running.session, environ=environ))
        assert isinstance(answer, Refusal)
        assert answer.code is Code.UNAUTHENTICATED
    evidence = Live(actor="dev", session=running.session, environ=here.environ)
    with desk(here) as one:
        one.operator()
    with (
        attention(database(here), state=here.place / "another's", clock=CLOCK, policy=Policy(), warn=print) as one,
        pytest.raises(NotYours),
    ):
        one.bind("film", "likeness-2", mode="pinned_session", out=here.place / "live.json", evidence=evidence)
    assert not (here.place / "live.json").exists()


def test_A19_the_person_pins_a_session_only_if_it_is_seen(here, running) -> None:
    unseen = bound(here, ByHand(actor="dev", session="another", environ=here.environ))
    assert isinstance(unseen, Refusal)
    assert unseen.code is Code.UNVERIFIED_SESSION
    answer = bound(here, ByHand(actor="dev", session=running.session, environ=here.environ))
    assert answer.result is Result.BOUND
    with desk(here) as one:
        assert one.source(answer.source_id).provenance == "operator_binding"
    answered(here)
    assert "Use candidate C." in running.submitted(1)[0]


def test_A20_a_token_that_the_recipient_did_not_give_out_proves_nothing(here, running) -> None:
    with opened(database(here), CLOCK, print) as records:
        socket = records.living_owner("dev").socket
    environ = {"TOCSIN_SOCKET": socket, "TOCSIN_RECIPIENT": "dev", "TOCSIN_DELIVERY_TOKEN": "guessed"}
    answer = bound(here, Dispatch(environ=environ))
    assert isinstance(answer, Refusal)
    assert answer.code is Code.UNAUTHENTICATED


def test_a_session_whose_messages_are_kept_elsewhere_is_not_bound_here(here, running) -> None:
    other = here.place / "other.db"
    with opened(other, CLOCK, print) as records:
        records.register(Recipient(name="dev"))
    evidence = Live(actor="dev", session=running.session, environ=here.environ)
    with (
        attention(other, state=state(here), clock=CLOCK, policy=Policy(), warn=print) as one,
        pytest.raises(NoRecipient, match="keeps its messages in another database"),
    ):
        one.bind("film", "likeness-2", mode="actor_context", out=here.place / "live.json", evidence=evidence)


def test_no_secret_is_shown_logged_sent_or_given_to_a_child(here) -> None:
    with desk(here) as one:
        one.operator()
    with seat(here, "dev") as agent:
        file, item = Path(said(agent, "file")), said(agent, "summoned")
        with desk(here) as one:
            resolve(one, take(one))
            shown = repr((one.doctor(), one.history(item["item_id"]), one.sources())).encode()
        agent.submitted(1)
        shown += agent.shown + _environments(agent.process.pid)
        agent.sees("> ")
        agent.keys("quit\r")
        assert agent.ends() == 0
    assert b"TOCSIN_DELIVERY_TOKEN" in shown or not Path("/proc/self/environ").exists()
    key = state(here) / "operator.key"
    handle = json.loads(file.read_bytes())["handle"].encode()
    for holder, secret in ((key, key.read_bytes()), (file, handle)):
        assert stat.S_IMODE(holder.stat().st_mode) == 0o600
        assert secret not in shown
        written = [one for one in here.place.rglob("*") if one.is_file() and secret in one.read_bytes()]
        assert written == [holder]


def _environments(pid):
    """Of that process and all that it has started, as far as this system shows them."""
    found, waiting = b"", [pid]
    while waiting:
        one = waiting.pop()
        for place in Path("/proc").glob(f"{one}/task/*/children"):
            waiting += [int(child) for child in place.read_text().split()]
        if (environ := Path(f"/proc/{one}/environ")).exists():
            found += environ.read_bytes()
    return found

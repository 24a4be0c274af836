"""A ledger that is taken over, and notices by the table of kinds: whole or not at all, and known to whoever is here at once."""

import json
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tocsin import Tocsin
from tocsin.contracts.durable import OPEN
from tocsin.contracts.errors import BadInput
from tocsin.contracts.hooks import HookEvent
from tocsin.contracts.recipients import Recipient
from tocsin.edges.clock import SteadyClock
from tocsin.edges.opened import opened
from tocsin.edges.sinks.inbox import StoredInbox

_durable = runpy.run_path(str(Path(__file__).parent / "test_durable.py"))
Reader, until = _durable["Reader"], _durable["until"]
NOW = "2026-11-30T12:00:00Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tocsin.db"


@pytest.fixture
def line(path: Path) -> Iterator[Tocsin]:
    with Tocsin(store=path) as line:
        yield line


def ledger_of(**parts: Any) -> bytes:
    return json.dumps({"version": 1, **parts}).encode()


# The table of kinds


def test_a_notice_of_a_program_is_as_urgent_as_its_kind_is_and_so_its_evidence(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev"))
    line.send_notice("dev", "breaker", "constrain:looping", "stop", id="a")
    line.send_notice("dev", "heartbeat", "quiet", "all is quiet", id="b")
    line.send_notice("dev", "worker", "preserved:w1", "kept", ctx=["w1"], id="c")
    line.send_notice("dev", "mine", "1", "of no kind that is known", id="d")
    line.send_notice("dev", "breaker", "constrain:cost", "not so urgent", urgent=False, id="e")
    line.send_notice("dev", "heartbeat", "actionable:1", "by hand", cleared_when="", id="f")
    found = [line.records.message(one)[0].event for one in "abcdef"]
    assert [(one.urgent, one.cleared_when) for one in found] == [
        (True, ""), (False, "drained"), (False, "started"), (False, ""), (False, ""), (False, ""),
    ]  # fmt: skip


def test_an_urgent_kind_is_told_while_its_recipient_waits_on_a_human(line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    line.observe("dev", HookEvent(hook_event_name="PermissionRequest"))
    line.send_notice("dev", "breaker", "steer:looping", "you loop")
    line.send_notice("dev", "breaker", "constrain:looping", "stop")
    reader.wait_for("stop")
    assert reader.texts() == ["stop"]


def test_what_a_ledger_does_not_say_of_its_notices_the_table_of_kinds_says(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev", kind="inbox"))
    told = {
        "heartbeat:quiet": {"at": NOW},
        "worker:preserved:w1": {"at": NOW, "ctx": ["w1"]},
        "breaker:steer:x": {"at": NOW},
        "worker:preserved:w2": {"at": NOW, "ctx": ["w2"], "cleared_when": "read"},
    }
    held = [
        {"to": "dev", "sig": "breaker:constrain:x", "at": NOW},
        {"to": "dev", "sig": "worker:reclaimed:w3", "notice": {"ctx": ["w3"]}, "at": NOW},
    ]
    assert line.records.import_ledger(ledger_of(delivered={"dev": told}, deferred=held)) == (4, 2)
    assert {one.signature: one.cleared_when for one in line.records.told("dev")} == {
        "heartbeat:quiet": "drained", "worker:preserved:w1": "started", "breaker:steer:x": "", "worker:preserved:w2": "read",
    }  # fmt: skip
    assert [(one.event.urgent, one.event.cleared_when) for one in line.records.held()] == [(True, ""), (False, "started")]


def test_a_heartbeat_that_another_program_told_is_told_again_once_nothing_of_it_is_unread(line: Tocsin) -> None:
    line.records.register(Recipient(name="dev", kind="inbox"))
    line.records.import_ledger(ledger_of(delivered={"dev": {"heartbeat:quiet": {"at": NOW}}}))
    for nth in range(3):
        line.send_notice("dev", "heartbeat", "quiet", f"beat {nth}")
        line.open_lane("dev", StoredInbox(line.records), kind="inbox")
        until(lambda: not line.records.messages(to="dev", states=OPEN))
        found = line.records.pull("dev")
        line.close_lane("dev")
        assert [entry.text for _, one in found for entry in one.entries] == [f"beat {nth}"]
        line.records.acknowledge("dev", found[-1][0])


# Whole or not at all


GOOD = {"to": "dev", "sig": "worker:preserved:w1", "at": NOW}


def ours(**changes: Any) -> dict[str, Any]:
    """A held notice as tocsin itself writes it, with something wrong in it."""
    event = {"text": "kept", "traffic": "notice", "to": "dev", "id": "n1", **changes.pop("event", {})}
    return {**GOOD, "tocsin": {"id": "n1", "reason": "waits_on_human", "event": event, **changes}}


WRONG = {
    "held for nobody": ({"deferred": [GOOD, {**GOOD, "to": ""}]}, r"deferred\[1\]"),
    "held for no name": ({"deferred": [GOOD, {**GOOD, "to": "a\nb"}]}, r"'a\\nb' can't be a recipient's name"),
    "held under nothing": ({"deferred": [GOOD, {**GOOD, "sig": ""}]}, "signature is empty"),
    "told to nobody": ({"delivered": {"dev": {"a:b": {}}, "": {}}}, "'' can't be a recipient's name"),
    "told of nothing": ({"delivered": {"dev": {"a:b": {}, "": {}}}}, r"delivered\['dev'\]"),
    "told to a space": ({"delivered": {" ": {"": {"": {}}}}}, "' ' can't be a recipient's name"),
    "mail": ({"deferred": [GOOD, ours(event={"traffic": "mail"})]}, "this is of class 'mail'"),
    "a finding": ({"deferred": [GOOD, ours(event={"traffic": "event"})]}, "this is of class 'event'"),
    "of another": ({"deferred": [GOOD, ours(event={"to": "other"})]}, "addressed to 'other'"),
    "without an id": ({"deferred": [GOOD, ours(id="")]}, "'' can't be its id"),
    "with two ids": ({"deferred": [GOOD, ours(id="n2")]}, "'n2' can't be its id"),
    "at no moment": ({"deferred": [GOOD, ours(event={"at": 10**25})]}, "no"),
}


@pytest.fixture(params=["a line", "the file"])
def records(request: pytest.FixtureRequest, path: Path) -> Iterator[Any]:
    """The store as a line's program has it, and as a command opens it."""
    if request.param == "a line":
        with Tocsin(store=path) as line:
            line.open_lane("dev", Reader())
            yield line.records
    else:
        with opened(path, SteadyClock(), lambda _: None) as found:
            yield found


@pytest.mark.parametrize(("parts", "said"), WRONG.values(), ids=WRONG)
def test_a_ledger_with_something_wrong_in_it_is_refused_and_nothing_of_it_is_taken(
    records: Any, parts: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        records.import_ledger(ledger_of(**parts))
    assert (records.on_the_ledger(), records.messages(to="dev")) == ([], [])
    assert records.import_ledger(ledger_of(deferred=[GOOD], delivered={"dev": {"a:b": {"at": NOW}}})) == (1, 1)
    assert records.import_ledger(records.export_ledger()) == (0, 0)


# To one who is here


def told_elsewhere(line: Tocsin) -> Callable[[str], None]:
    """A live line that has taken over a ledger: sends notices that were told elsewhere."""
    signatures = {f"breaker:steer:{nth}": {"at": NOW} for nth in range(3)}
    line.records.import_ledger(ledger_of(delivered={"dev": signatures}))
    return lambda nth: line.send_notice("dev", "breaker", f"steer:{nth}", f"you loop {nth}") and None


def test_what_a_live_line_takes_over_as_told_is_not_told_again(line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    send = told_elsewhere(line)
    for nth in range(4):
        send(str(nth))
    reader.wait_for("you loop 3")
    assert reader.texts() == ["you loop 3"]
    assert line.rearm("dev", "breaker", lambda signature, _: signature.endswith(":1")).delivered == 1
    send("1")
    reader.wait_for("you loop 1")


def test_what_a_live_line_takes_over_as_held_is_told_at_once(line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    line.records.import_ledger(ledger_of(deferred=[{**GOOD, "payload": {"subject": "w1 is kept"}}]))
    reader.wait_for("w1 is kept")
    until(lambda: [one.signature for one in line.records.told("dev")] == ["worker:preserved:w1"])


def test_of_what_a_live_line_takes_over_as_told_it_sees_the_evidence(line: Tocsin) -> None:
    reader = Reader()
    line.open_lane("dev", reader)
    line.records.import_ledger(ledger_of(delivered={"dev": {"heartbeat:quiet": {"at": NOW}}}))
    until(lambda: line.records.told("dev") == [])
    line.send_notice("dev", "heartbeat", "quiet", "all is quiet")
    reader.wait_for("all is quiet")

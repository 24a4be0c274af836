"""Ledger: what was told stays told until evidence or its time ends it, over restarts and in the file of version 1."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tocsin.contracts.base import Instant, Millis
from tocsin.contracts.deliveries import Delivery, Entry
from tocsin.contracts.durable import Announced, Held, State
from tocsin.contracts.errors import BadInput, StoreFull
from tocsin.contracts.events import Event
from tocsin.contracts.recipients import Owner, Session
from tocsin.store import decisions, inbox, intake, ledger, owners, recipients
from tocsin.store.engine import Store, Transaction

DAY = 86_400_000
NOW = Instant(1_796_055_300_000)  # 2026-11-30T16:15:00Z
TTL = ledger.NOTICE_LEDGER_TTL
TOLD = Announced(recipient="a", signature="breaker:steer:looping", at=NOW, ctx=("m1", "m2"), cleared_when="read")
EVENT = Event(text="You are looping", traffic="notice", source="harness", key="breaker:steer:looping", to="a")
KEPT = Held(recipient="a", signature="breaker:steer:looping", id="n1", event=EVENT, at=NOW, reason="waits_on_human")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tocsin.db"


@pytest.fixture
def tx(path: Path) -> Iterator[Transaction]:
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        yield tx
    store.close()


def after(days: float) -> Instant:
    return Instant(NOW + int(days * DAY))


def test_a06_what_was_told_is_told_after_a_restart(path: Path) -> None:
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        ledger.announce(tx, TOLD)
        ledger.hold(tx, KEPT)
    store.close()
    store = Store.open(path, now=after(29))
    with store.read() as view:
        assert ledger.announced(view, "a") == [TOLD]
        assert ledger.held(view) == [KEPT]
    store.close()


def test_what_was_told_is_kept_for_each_recipient_and_forgotten_by_name(tx: Transaction) -> None:
    others = [replace(TOLD, signature="heartbeat:quiet"), replace(TOLD, recipient="b")]
    for told in (TOLD, *others):
        ledger.announce(tx, told)
    assert ledger.announced(tx, "a") == [TOLD, others[0]]
    assert ledger.forget(tx, "a", ["breaker:steer:looping", "never:told"]) == 1
    assert ledger.forget(tx, "a", []) == 0
    assert (ledger.announced(tx, "a"), ledger.announced(tx, "b")) == (others[:1], others[1:])
    newer = replace(TOLD, recipient="b", at=after(1), ctx=(), cleared_when="")
    ledger.announce(tx, newer)
    assert ledger.announced(tx, "b") == [newer]


def test_what_is_held_is_kept_as_it_was_built_and_in_order(tx: Transaction) -> None:
    second = replace(KEPT, id="n2", event=replace(EVENT, text=" two\n\tlines é ", urgent=True, ctx=("x",)), at=Instant(NOW - 5))
    other = replace(KEPT, recipient="b", id="n1")
    for kept in (KEPT, second, other):
        ledger.hold(tx, kept)
    assert ledger.held(tx) == [KEPT, second, other]
    assert ledger.held(tx, "a") == [KEPT, second]
    moved = replace(KEPT, reason="paused")
    ledger.hold(tx, moved)
    assert ledger.held(tx, "a") == [moved, second]
    assert ledger.release(tx, "a", ["n1", "unknown"]) == 1
    assert ledger.held(tx) == [second, other]


@pytest.mark.parametrize(("age", "left"), [(30, 1), (30.001, 0)])
def test_an_entry_is_gone_after_thirty_days(tx: Transaction, age: float, left: int) -> None:
    ledger.announce(tx, TOLD)
    ledger.hold(tx, KEPT)
    assert ledger.prune(tx, after(age), TTL) == 2 * (1 - left)
    assert len(ledger.announced(tx, "a")) == len(ledger.held(tx)) == left


def test_each_write_prunes(tx: Transaction) -> None:
    ledger.announce(tx, TOLD)
    ledger.announce(tx, replace(TOLD, signature="x:y", at=after(31)))
    assert [told.signature for told in ledger.announced(tx, "a")] == ["x:y"]
    ledger.hold(tx, replace(KEPT, at=after(62)))
    assert ledger.announced(tx, "a") == []


def test_opening_prunes(path: Path) -> None:
    store = Store.open(path, now=NOW)
    with store.write() as tx:
        ledger.announce(tx, TOLD)
    store.close()
    store = Store.open(path, now=after(31))
    with store.read() as view:
        assert ledger.announced(view, "a") == []
    store.close()


@pytest.mark.parametrize(("ahead", "left"), [(1, [1]), (1.5, [0]), (4_000, [0])])
def test_an_entry_from_the_future_expires_one_day_too(tx: Transaction, ahead: float, left: list[float]) -> None:
    ledger.announce(tx, replace(TOLD, at=after(ahead)))
    ledger.prune(tx, NOW, TTL)
    assert [told.at for told in ledger.announced(tx, "a")] == [after(days) for days in left]
    assert ledger.prune(tx, after(32), TTL) == 1


def test_what_is_held_stays_while_it_is_known_that_its_condition_holds(tx: Transaction) -> None:
    about = replace(KEPT, event=replace(EVENT, ctx=("m1", "m2"), cleared_when="read"))
    entry = Entry(
        id="m2",
        fingerprint="",
        traffic="mail",
        severity="info",
        source="",
        scope="",
        text="",
        count=1,
        first_at=NOW,
        last_at=NOW,
    )
    cursor = inbox.put(tx, Delivery(id="d1", lane="a", at=NOW, text="", entries=(entry,)), NOW)
    ledger.hold(tx, about)
    ledger.hold(tx, replace(KEPT, id="n2", event=replace(EVENT, ctx=("m1", "m2"))))
    assert ledger.prune(tx, after(31), TTL) == 1
    assert ledger.held(tx) == [about]
    inbox.ack(tx, "a", cursor, after(31))
    assert ledger.prune(tx, after(31), TTL) == 1


def accepted(tx: Transaction, kept: Held, at: Instant) -> Held:
    """It was accepted then, and held only now."""
    intake.accept(tx, kept.event, recipient=kept.recipient, id=kept.id, at=at)
    ledger.hold(tx, kept)
    return kept


def test_what_is_held_counts_from_its_acceptance_and_ends_as_a_message(tx: Transaction) -> None:
    accepted(tx, replace(KEPT, at=after(20)), NOW)
    young = accepted(tx, replace(KEPT, id="n2", at=after(20)), after(20))
    assert ledger.prune(tx, after(30.001), TTL) == 1
    assert ledger.held(tx) == [young]
    [ended], [open_one] = intake.find(tx, "n1"), intake.find(tx, "n2")
    assert (ended.state, ended.verdict, ended.reason) == (State.UNDELIVERABLE, "evict", "expired")
    assert open_one.state is State.PENDING
    assert [one.reason for one in decisions.story(tx, "n1")] == ["expired"]


def test_what_a_process_holds_in_its_line_ends_by_that_process_only(tx: Transaction) -> None:
    accepted(tx, KEPT, NOW)
    owners.take(tx, "a", Owner(token="t", pid=1, started="s", host="h"), after(31), alive=lambda *_: True)
    assert ledger.prune(tx, after(31), TTL) == 0
    assert intake.find(tx, "n1")[0].state is State.PENDING
    assert ledger.expire(tx, "b", after(31), TTL) == []
    assert ledger.expire(tx, "a", after(31), TTL) == ["n1"]
    assert (ledger.held(tx), intake.find(tx, "n1")[0].reason) == ([], "expired")


def test_one_about_a_worker_that_has_not_started_again_stays(tx: Transaction) -> None:
    about = accepted(tx, replace(KEPT, event=replace(EVENT, ctx=("w9",), cleared_when="started")), NOW)
    assert ledger.prune(tx, after(31), TTL) == 0
    assert ledger.held(tx) == [about]
    recipients.begin_session(tx, Session(id="s1", recipient="w9", started_at=after(1)))
    assert ledger.prune(tx, after(31), TTL) == 1


def test_the_export_is_the_file_of_version_1(tx: Transaction) -> None:
    ledger.announce(tx, TOLD)
    ledger.announce(tx, replace(TOLD, recipient="b", ctx=(), cleared_when=""))
    ledger.hold(tx, replace(KEPT, event=replace(EVENT, urgent=True, detail="Stop it.")))
    exported: dict[str, Any] = json.loads(ledger.export(tx))
    exact = exported["deferred"][0].pop("tocsin")
    assert exported == {
        "version": 1,
        "delivered": {
            "a": {"breaker:steer:looping": {"at": "2026-11-30T16:15:00.000Z", "ctx": ["m1", "m2"], "cleared_when": "read"}},
            "b": {"breaker:steer:looping": {"at": "2026-11-30T16:15:00.000Z"}},
        },
        "deferred": [
            {
                "to": "a",
                "sig": "breaker:steer:looping",
                "notice": {"kind": "breaker", "key": "steer:looping", "urgent": True, "ctx": None},
                "payload": {"to": "a", "subject": "You are looping", "body": "Stop it."},
                "from": "harness",
                "at": "2026-11-30T16:15:00.000Z",
            }
        ],
    }
    assert (exact["id"], exact["reason"], exact["event"]["urgent"]) == ("n1", "waits_on_human", True)


SEED = {
    "version": 1,
    "delivered": {
        "agent-7": {
            "worker:preserved:w1": {"at": "2026-11-29T16:15:00.000Z", "ctx": ["w1"]},
            "heartbeat:quiet": {"at": "2026-11-30T18:15:00+02:00"},
            "spawn-rejected:x": {"at": "2026-10-01T00:00:00.000Z"},
            "breaker:steer:a": {"at": "yesterday"},
            "breaker:steer:b": {},
            "breaker:steer:c": {"at": 5},
            "breaker:steer:d": {"at": "2099-01-01T00:00:00Z"},
        }
    },
    "deferred": [
        {
            "to": "agent-7",
            "sig": "breaker:steer:looping",
            "notice": {"kind": "breaker", "key": "steer:looping", "ctx": ["s1"]},
            "payload": {"to": "agent-7", "subject": "Slow down", "body": "You repeat\nyourself.", "type": "message"},
            "from": "breaker",
            "at": "2026-11-30T16:00:00.000Z",
        },
        {"to": "agent-7", "sig": "x:y"},
    ],
}


def test_a_seed_ledger_is_taken_over_and_a_second_time_changes_nothing(tx: Transaction) -> None:
    data = json.dumps(SEED).encode()
    assert ledger.load(tx, data, NOW) == (6, 2)
    assert {told.signature: told.at for told in ledger.announced(tx, "agent-7")} == {
        "worker:preserved:w1": NOW - DAY,
        "heartbeat:quiet": NOW,
        **{f"breaker:steer:{name}": NOW for name in "abcd"},
    }
    first, second = ledger.held(tx)
    assert (first.at, first.signature, first.reason) == (NOW - 15 * 60_000, "breaker:steer:looping", "imported")
    assert first.event == Event(
        text="Slow down",
        detail="You repeat\nyourself.",
        to="agent-7",
        source="harness",
        scope="breaker",
        traffic="notice",
        key="breaker:steer:looping",
        ctx=("s1",),
    )
    assert (second.event.text, second.at) == ("x:y", NOW)
    before = (ledger.announced(tx, "agent-7"), ledger.held(tx))
    assert ledger.load(tx, data, NOW) == (0, 0)
    assert (ledger.announced(tx, "agent-7"), ledger.held(tx)) == before


def test_of_two_entries_the_newer_one_stays(tx: Transaction) -> None:
    newer = replace(TOLD, recipient="agent-7", signature="worker:preserved:w1")
    older = replace(TOLD, recipient="agent-7", signature="heartbeat:quiet", at=Instant(NOW - 1))
    for told in (newer, older):
        ledger.announce(tx, told)
    ledger.load(tx, json.dumps(SEED).encode(), NOW)
    found = ledger.announced(tx, "agent-7")
    assert newer in found
    assert replace(older, at=NOW, ctx=(), cleared_when="") in found


MALFORMED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "truncated"),
    "a brace": (b"{", "truncated"),
    "no json": (b"hello", "malformed"),
    "no text": (b'{"version": 1, "delivered": {"\xff": {}}}', "UTF-8"),
    "half a character": (b'{"version": 1, "delivered": {"\\ud800": {}}}', "hex escape"),
    "a list": (b"[]", "array"),
    "a number": (b"1", "int"),
    "null": (b"null", "null"),
    "no version": (b"{}", "version None"),
    "version 99": (b'{"version": 99, "delivered": []}', "version 99"),
    "version true": (b'{"version": true}', "version True"),
    "version text": (b'{"version": "1"}', "version '1'"),
    "delivered a list": (b'{"version": 1, "delivered": []}', r"\$.delivered"),
    "recipient a list": (b'{"version": 1, "delivered": {"a": []}}', r"\$.delivered\[...\]"),
    "entry a text": (b'{"version": 1, "delivered": {"a": {"s": "x"}}}', r"\$.delivered\[...\]"),
    "ctx a text": (b'{"version": 1, "delivered": {"a": {"s": {"ctx": "x"}}}}', "ctx"),
    "ctx of numbers": (b'{"version": 1, "delivered": {"a": {"s": {"ctx": [1]}}}}', "ctx"),
    "deferred an object": (b'{"version": 1, "deferred": {}}', r"\$.deferred"),
    "held without to": (b'{"version": 1, "deferred": [{"sig": "s"}]}', "`to`"),
    "held without sig": (b'{"version": 1, "deferred": [{"to": "a"}]}', "`sig`"),
    "held null": (b'{"version": 1, "deferred": [null]}', r"\$.deferred\[0\]"),
    "notice a list": (b'{"version": 1, "deferred": [{"to": "a", "sig": "s", "notice": []}]}', "notice"),
    "our part damaged": (b'{"version": 1, "deferred": [{"to": "a", "sig": "s", "tocsin": {"id": 1}}]}', "tocsin.id"),
    "too deep": (b'{"version": 1, "deferred": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "recursion"),
}


@pytest.mark.parametrize(("data", "said"), MALFORMED.values(), ids=MALFORMED)
def test_i08_a_malformed_ledger_is_refused_with_what_is_wrong_and_nothing_of_it_is_taken(
    tx: Transaction, data: bytes, said: str
) -> None:
    ledger.announce(tx, TOLD)
    with pytest.raises(BadInput, match=said):
        ledger.load(tx, data, NOW)
    assert (ledger.announced(tx, "a"), ledger.held(tx)) == ([TOLD], [])


def test_an_export_replaces_a_file_whole_and_leaves_nothing_beside_it(tx: Transaction, tmp_path: Path) -> None:
    target = tmp_path / "out" / "notice-ledger.json"
    with pytest.raises(StoreFull, match=r"notice-ledger\.json: can't be written"):
        ledger.write_export(tx, target)
    target.parent.mkdir()
    target.write_text("the old one")
    ledger.announce(tx, TOLD)
    ledger.write_export(tx, target)
    assert target.read_bytes() == ledger.export(tx)
    assert [file.name for file in target.parent.iterdir()] == ["notice-ledger.json"]
    target.unlink()
    target.mkdir()
    with pytest.raises(StoreFull):
        ledger.write_export(tx, target)
    assert [file.name for file in target.parent.iterdir()] == ["notice-ledger.json"]


def test_moments_beyond_every_calendar_can_be_exported(tx: Transaction) -> None:
    ledger.load(tx, b'{"version": 1}', NOW)
    tx.execute("INSERT INTO notice_delivered VALUES ('a', 'k:1', ?, '[]', '')", (2**62,))
    assert b"9999-12-31" in ledger.export(tx)
    assert ledger.load(tx, ledger.export(tx), NOW) == (0, 0)
    assert ledger.prune(tx, NOW, Millis(TTL)) == 0
    assert ledger.announced(tx, "a")[0].at == NOW

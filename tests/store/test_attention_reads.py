"""Attention reads: pages that join, receipts for whoever they belong to, counts that add up, and indexes for all of it."""

import re
import runpy
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tocsin.contracts.attention_facts import Edge, Nobody, Operator
from tocsin.contracts.attention_items import Phase, State
from tocsin.contracts.attention_time import iso
from tocsin.contracts.errors import BadInput, StoreTooNew
from tocsin.store import attention_reads as reads
from tocsin.store import attention_returns as returns
from tocsin.store import attention_sources as sources
from tocsin.store.attention_schema import VERSION, broker_of, prepare
from tocsin.store.engine import Store

attending = runpy.run_path(str(Path(__file__).parent / "attending.py"))
packet, handle, command_id, MINUTE, HUMAN, NOW, BROKER, desk = (
    attending[name] for name in ("packet", "handle", "command_id", "MINUTE", "HUMAN", "NOW", "BROKER", "desk")
)


def pages(desk: Any, limit: int, **more: Any) -> list[list[int]]:
    after, found = None, []
    with desk.store.read() as view:
        while True:
            page = reads.queue(view, HUMAN, desk.now, after=after, limit=limit, **more)
            found.append([item.item_id for item in page.items])
            if page.after is None:
                return found
            after = page.after


def test_a_queue_shows_what_is_active_then_what_waits_then_what_is_deferred(desk: Any) -> None:
    for key in "abcde":
        desk.do("add", **packet(key))
    desk.do("defer", item_id=1, expected_revision=1, reason="r", until=None)
    desk.next(item_id=4)
    desk.do("cancel", item_id=5, expected_revision=1, reason="r")
    assert pages(desk, 25) == [[4, 2, 3, 1]]
    assert pages(desk, 25, states=(State.CANCELLED, State.DEFERRED)) == [[5, 1]]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
def test_pages_join_to_the_whole_whatever_their_length(desk: Any, limit: int) -> None:
    for key in "abcd":
        desk.do("add", **packet(key))
    desk.do("defer", item_id=2, expected_revision=1, reason="r", until=None)
    desk.next()
    found = pages(desk, limit)
    assert [item_id for page in found for item_id in page] == [1, 3, 4, 2]
    assert all(len(page) <= limit for page in found)
    assert all(found), "no page is empty"


def test_a_page_has_a_hundred_rows_at_most(desk: Any) -> None:
    for nth in range(103):
        desk.do("add", **packet(f"k{nth}"))
    assert [len(page) for page in pages(desk, 1_000)] == [100, 3]
    assert [len(page) for page in pages(desk, 25)] == [25, 25, 25, 25, 3]
    assert len(pages(desk, 0)[0]) == 1
    with desk.store.read() as view:
        assert reads.item(view, 100, NOW).position == 99


@pytest.mark.parametrize("after", ["", "x", "1", "queued.1", "0.0.0", "resolved.0.0", "queued.x.0", "queued.0.0.0"])
def test_a_place_that_no_page_said_is_refused(desk: Any, after: str) -> None:
    desk.do("add", **packet())
    with desk.store.read() as view:
        if after == "":
            assert len(reads.queue(view, HUMAN, NOW, after=after).items) == 1
            return
        with pytest.raises(BadInput):
            reads.queue(view, HUMAN, NOW, after=after)


def test_looking_changes_nothing(desk: Any) -> None:
    desk.do("add", **packet())
    desk.do("defer", item_id=1, expected_revision=1, reason="r", until=iso(desk.now + 1))
    desk.later(MINUTE)
    before = desk.dump()
    with desk.store.read() as view:
        reads.queue(view, HUMAN, desk.now)
        reads.item(view, 1, desk.now)
        reads.history(view, 1, desk.now)
        assert reads.counts(view, HUMAN, desk.now).due == 1
        returns.due(view, desk.now)
        assert reads.item(view, 9, desk.now) is None
    assert desk.dump() == before


def test_a_history_is_read_in_parts_and_says_who_did_what(desk: Any) -> None:
    seat = desk.bind()
    desk.ask("summon", seat, id=command_id(0x51), **packet())
    desk.next()
    desk.do("defer", item_id=1, expected_revision=2, reason="later", until=iso(desk.now + MINUTE))
    desk.later(MINUTE)
    desk.next()
    with desk.store.read() as view:
        whole = reads.history(view, 1, desk.now)
        first = reads.history(view, 1, desk.now, limit=2)
        second = reads.history(view, 1, desk.now, after=first.after, limit=25)
    assert whole.events == (*first.events, *second.events)
    assert (whole.after, second.after) == (None, None)
    assert [(event.kind, event.principal, event.at) for event in whole.events] == [
        ("added", "source:s1", iso(NOW)),
        ("claimed", "operator", iso(NOW)),
        ("deferred", "operator", iso(NOW)),
        ("promoted", "operator", iso(NOW + MINUTE)),
        ("claimed", "operator", iso(NOW + MINUTE)),
    ]
    assert whole.events[0].command_id == command_id(0x51)
    assert whole.events[0].payload["packet"]["title"] == packet()["title"]
    assert whole.events[2].payload == {"reason": "later", "until": iso(NOW + MINUTE)}


def test_a_receipt_is_for_who_sent_the_command_and_for_the_person(desk: Any) -> None:
    seat, peer = desk.bind(), desk.bind("s2")
    told = desk.ask("summon", seat, id=command_id(0x52), **packet())
    with desk.store.read() as view:
        assert reads.command(view, command_id(0x52), seat, NOW) == told
        assert reads.command(view, command_id(0x52), Operator(), NOW) == told
        for other in (peer, Nobody(), Edge(edge_id="mac")):
            assert reads.command(view, command_id(0x52), other, NOW).code == "unknown_command"
        assert reads.command(view, command_id(0x53), Operator(), NOW).code == "unknown_command"


def test_counts_say_how_the_queue_stands(desk: Any) -> None:
    seat = desk.bind()
    for nth, key in enumerate("abcdef"):
        desk.now = NOW + nth * MINUTE
        desk.do("summon", seat, **packet(key))
    desk.do("defer", item_id=2, expected_revision=1, reason="r", until=iso(desk.now + MINUTE))
    desk.do("defer", item_id=3, expected_revision=1, reason="r", until=iso(desk.now + 2 * MINUTE))
    desk.do("defer", item_id=4, expected_revision=1, reason="r", until=None)
    desk.next()
    desk.do("resolve", item_id=1, expected_revision=2, outcome="approved", response="ok", select_next=True)
    desk.do("source_revoke", source_id=desk.bind("s2").source_id, reason="r")
    desk.later(MINUTE)
    with desk.store.read() as view:
        counts = reads.counts(view, HUMAN, desk.now)
    assert (counts.active_item_id, counts.queued, counts.deferred, counts.due) == (5, 1, 3, 1)
    assert (counts.oldest_ready_at, counts.next_deferred_at) == (iso(NOW + 5 * MINUTE), iso(desk.now + MINUTE))
    assert (counts.returns, counts.sources, counts.broker_uuid) == ({Phase.PENDING: 1}, 1, BROKER)
    with desk.store.read() as view:
        nobody = reads.counts(view, "other", desk.now)
    assert (nobody.active_item_id, nobody.queued, nobody.oldest_ready_at, nobody.next_deferred_at) == (None, 0, None, None)


def test_sources_are_listed_with_the_revoked_ones(desk: Any) -> None:
    for source_id in ("s1", "s2", "s3"):
        desk.bind(source_id, actor="bert" if source_id == "s2" else "ariadne")
    desk.do("source_revoke", source_id="s2", reason="over")
    with desk.store.read() as view:
        first = reads.sources(view, NOW, limit=2)
        rest = reads.sources(view, NOW, after=first.after)
        assert [source.source_id for source in (*first.sources, *rest.sources)] == ["s1", "s2", "s3"]
        assert (first.sources[1].revoked_at, first.sources[0].revoked_at, rest.after) == (iso(NOW), None, None)
        assert sources.source(view, "s2").revoked_reason == "over"
        assert sources.source(view, "s9") is None
        assert isinstance(sources.seat_of(view, handle("s9"), BROKER), Nobody)


def test_a_handle_itself_is_nowhere_in_the_database(desk: Any) -> None:
    desk.bind("s1")
    assert handle("s1") in str(desk.dump()["source_handles"])
    assert handle("s1") not in str({table: rows for table, rows in desk.dump().items() if table != "source_handles"})


# The tables


def test_a_database_that_never_saw_the_queue_has_none_of_its_tables(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "tocsin.db", now=NOW)
    with store.read() as view:
        assert broker_of(view) is None
        assert not view.rows("SELECT name FROM sqlite_master WHERE name LIKE 'attention%'")
    store.close()


def test_the_first_process_names_the_broker_and_the_second_keeps_its_name(tmp_path: Path) -> None:
    for mine, stands in (("first", "first"), ("second", "first")):
        store = Store.open(tmp_path / "tocsin.db", now=NOW)
        with store.write() as tx:
            assert prepare(tx, mine, NOW) == stands
        with store.read() as view:
            assert broker_of(view) == stands
        store.close()


def test_A33_the_queues_tables_leave_everything_else_as_it_was(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "tocsin.db", now=NOW)
    schema = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '%attention%' ORDER BY name"
    with store.write() as tx:
        before = tx.rows(schema)
        steps = tx.rows("SELECT name FROM _sqlite_migrations WHERE migration_set = 'tocsin'")
        prepare(tx, BROKER, NOW)
        assert tx.rows(schema) == before
        assert tx.rows("SELECT name FROM _sqlite_migrations WHERE migration_set = 'tocsin'") == steps
        assert tx.rows("SELECT version, broker_uuid FROM attention_schema") == [(1, BROKER)]
    store.close()
    Store.open(tmp_path / "tocsin.db", now=NOW).close()


def test_tables_that_are_half_made_are_not_kept(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "tocsin.db", now=NOW)
    with pytest.raises(SystemExit), store.write() as tx:
        prepare(tx, BROKER, NOW)
        raise SystemExit
    with store.read() as view:
        assert broker_of(view) is None
    with store.write() as tx:
        assert prepare(tx, "later", NOW) == "later"
    store.close()


def test_a_queue_of_a_newer_version_is_refused_and_left_alone(desk: Any) -> None:
    desk.do("add", **packet())
    with desk.store.write() as tx:
        tx.execute("UPDATE attention_schema SET version = ?", (VERSION + 1,))
    before = desk.dump()
    for attempt in (desk.next, lambda: desk.ask("add", **packet("b"))):
        with pytest.raises(StoreTooNew, match=r"version 2, this one knows 1"):
            attempt()
    with desk.store.read() as view, pytest.raises(StoreTooNew):
        broker_of(view)
    assert desk.dump() == before


def test_no_foreign_key_leads_out_of_the_queue_and_none_deletes_anything(desk: Any) -> None:
    desk.do("add", **packet())
    with desk.store.read() as view:
        found = view.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'attention_%'")
        tables = [name for (name,) in found]
        keys = [key for table in tables for key in view.rows(f"PRAGMA foreign_key_list({table})")]
    assert len(tables) == 7
    assert len(keys) == 4
    assert all(target.startswith("attention_") for _, _, target, *_ in keys)
    assert {(on_update, on_delete) for *_, on_update, on_delete, _ in keys} == {("NO ACTION", "NO ACTION")}


def test_the_indexes_that_guarantee_the_queue_are_there(desk: Any) -> None:
    desk.do("add", **packet())
    with desk.store.read() as view:
        found = dict(view.rows("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND name LIKE 'attention_%'"))
    plain = {name: re.sub(r"\s+", " ", sql) for name, sql in found.items()}
    assert plain["attention_one_active_per_human"] == (
        "CREATE UNIQUE INDEX attention_one_active_per_human ON attention_items (human_id) WHERE state = 'active'"
    )
    assert plain["attention_semantic_identity"] == (
        "CREATE UNIQUE INDEX attention_semantic_identity ON attention_items "
        "(human_id, owner_principal, project_id, work_id, intervention_key)"
    )
    assert plain["attention_ready_order"].endswith("(human_id, state, ready_sequence, item_id)")
    assert plain["attention_deferred_due"].endswith("(human_id, state, deferred_until, item_id)")


@pytest.mark.parametrize(
    "spoilt",
    [
        "state = 'paused'",
        "revision = 0",
        "deferred_until = 1",
        "state = 'resolved', claimed_at = 1, resolved_at = 1",
        "state = 'active'",
        "resolved_at = 1",
        "outcome = 'approved', response = 'ok'",
        "intervention_key = 'other'",
        "source_id = NULL",
    ],
)
def test_the_database_itself_refuses_a_row_that_makes_no_sense(desk: Any, spoilt: str) -> None:
    desk.do("add", **packet())
    connection = sqlite3.connect(desk.path)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(f"UPDATE attention_items SET {spoilt}")
    connection.close()


def statements(desk: Any, act: Any) -> list[str]:
    """Every statement that this runs, with its values filled in."""
    seen: list[str] = []
    connection = desk.store._connection
    connection.set_trace_callback(seen.append)
    act()
    connection.set_trace_callback(None)
    return [sql for sql in seen if sql.split()[0] in ("SELECT", "UPDATE", "INSERT", "DELETE")]


def test_no_command_and_no_look_at_a_page_ever_scans_a_table(desk: Any) -> None:
    seat = desk.bind()
    for key in "abcd":
        desk.do("summon", seat, **packet(key))
    desk.do("defer", item_id=4, expected_revision=1, reason="r", until=iso(desk.now + 1))
    desk.later(MINUTE)

    def everything() -> None:
        desk.do("summon", seat, **packet("e", predecessor_item_id=1))
        desk.next()
        desk.do("amend", seat, item_id=1, expected_revision=2, title="T")
        desk.do("resolve", item_id=1, expected_revision=3, outcome="approved", response="ok", select_next=True)
        desk.do("defer", item_id=2, expected_revision=2, reason="r", until=None, select_next=True)
        desk.do("requeue", item_id=2, expected_revision=3, reason="r")
        desk.do("cancel", item_id=3, expected_revision=2, reason="r", select_next=True)
        with desk.store.write() as tx:
            (planned,) = returns.due(tx, desk.now)
            returns.block(tx, planned.row.return_id, "r", desk.now)
            returns.minted(tx)
            returns.of_resolution(tx, planned.row.resolution_command_id, 1)
        desk.do("retry_return", item_id=1, expected_revision=4, return_generation=1)
        with desk.store.read() as view:
            reads.queue(view, HUMAN, desk.now)
            reads.item(view, 2, desk.now)
            reads.history(view, 1, desk.now)
            reads.command(view, command_id(1), Operator(), desk.now)
            reads.sources(view, desk.now)

    seen = statements(desk, everything)
    assert len(seen) > 100
    connection = sqlite3.connect(desk.path)
    for sql in seen:
        for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {sql}"):
            # The list of tables is as short as ever, the schema has one row, and what is counted to a thousand stops there.
            harmless = detail in ("SCAN sqlite_master", "SCAN attention_schema", "SCAN (subquery-1)")
            assert harmless or not detail.startswith("SCAN"), (detail, sql)
            assert "TEMP B-TREE" not in detail, (detail, sql)
    connection.close()


PLANS = {
    "the head of the line": ("HEAD", (HUMAN, 0), "SEARCH attention_items USING COVERING INDEX attention_ready_order"),
    "what is due": ("DUE", (HUMAN, 1, 0), "SEARCH attention_items USING COVERING INDEX attention_deferred_due"),
    "the next moment": ("NEXT_DEFERRED", (HUMAN, 1), "SEARCH attention_items USING COVERING INDEX attention_deferred_due"),
    "a page of the queue": ("QUEUE", (HUMAN, "queued", 0, 0, 25), "SEARCH attention_items USING INDEX attention_ready_order"),
    "the returns that are due": ("DUE", (1, 25), "SEARCH attention_returns USING INDEX attention_returns_due (retry_at<?)"),
    "returns that were planned far ahead": (
        "AHEAD",
        (1, 25),
        "SEARCH attention_returns USING INDEX attention_returns_due (retry_at>?)",
    ),
}


@pytest.mark.parametrize("what", PLANS)
def test_the_hot_paths_read_through_their_indexes_in_order(desk: Any, what: str) -> None:
    from tocsin.store import attention_facts as facts

    desk.do("add", **packet())
    name, values, plan = PLANS[what]
    room = reads if name == "QUEUE" else returns if "returns" in what else facts
    connection = sqlite3.connect(desk.path)
    details = [detail for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {getattr(room, name)}", values)]
    connection.close()
    assert len(details) == 1, details
    assert details[0].startswith(plan)

"""Attending laws: the invariants I01 to I12 of the queue, each looked up in the tables after every step."""

import runpy
from pathlib import Path
from typing import Any

from hypothesis.stateful import invariant

from tocsin.contracts.attention_items import READY, EventKind
from tocsin.contracts.durable import OPEN
from tocsin.pipeline.attention_continuation import coordinate

attending = runpy.run_path(str(Path(__file__).parent.parent / "store" / "attending.py"))
PERSON_ONLY = ("claimed", "started", "resolved", "deferred", "requeued", "cancelled")
OF_ITEM = {kind for kind in EventKind if not kind.startswith(("return_", "source_"))}
A_MINUTE = 60_000


class Laws:
    """A part of the machine."""

    @invariant()
    def the_table_is_what_the_model_says(self) -> None:
        """I05, and I07: neither days nor deliveries change an item, or take the one that the person works on."""
        if not self.tables():
            return
        stored = self.query("SELECT item_id, state, revision, deferred_until FROM attention_items ORDER BY item_id")
        assert stored == [(id, item["state"], item["revision"], item["until"]) for id, item in sorted(self.model.items.items())]
        line = self.query("SELECT item_id FROM attention_items WHERE state = 'queued' ORDER BY ready_sequence, item_id")
        places = sorted((item["place"], id) for id, item in self.model.items.items() if item["state"] == "queued")
        assert [id for (id,) in line] == [id for _, id in places]

    @invariant()
    def at_most_one_item_is_active_and_no_round_has_two_items(self) -> None:
        """I01, I04."""
        if self.tables():
            assert len(self.query("SELECT 1 FROM attention_items WHERE state = 'active'")) <= 1
            keys = self.query("SELECT owner_principal, intervention_key, count(*) FROM attention_items GROUP BY 1, 2")
            assert all(number == 1 for *_, number in keys)

    @invariant()
    def every_answer_is_on_record(self) -> None:
        """I03."""
        if self.tables():
            kept = dict(self.query("SELECT command_id, receipt FROM attention_commands"))
            assert kept == {id: told for id, (_, _, told, _) in self.answered.items()}

    @invariant()
    def the_history_only_grows_and_accounts_for_every_revision(self) -> None:
        """I05, I11."""
        if not self.tables():
            return
        events = self.query("SELECT * FROM attention_events ORDER BY event_id")
        assert events[: len(self.events)] == self.events
        self.events = events
        for item_id, revision, sequence in self.query("SELECT item_id, revision, ready_sequence FROM attention_items"):
            own = [event for event in events if event[1] == item_id and event[5] in OF_ITEM]
            assert len(own) == revision
            assert sequence == max(event[0] for event in own if event[5] in READY or event[5] == "started")

    @invariant()
    def only_the_person_moved_the_focus(self) -> None:
        """I02, I10: neither a seat nor the publisher has ever done what is the person's."""
        if self.tables():
            marks = ", ".join("?" * len(PERSON_ONLY))
            said = self.query(f"SELECT DISTINCT principal FROM attention_events WHERE kind IN ({marks})", *PERSON_ONLY)
            assert {principal for (principal,) in said} <= {"operator"}

    @invariant()
    def every_decision_has_its_return(self) -> None:
        """I06, and I11: also one whose source was revoked."""
        if not self.tables():
            return
        rows = self.returns()
        owed = {id for id, item in self.model.items.items() if item["state"] == "resolved" and self.model.is_owed(id)}
        assert {row["item_id"] for row in rows} == owed
        for item_id in owed:
            own = [row for row in rows if row["item_id"] == item_id]
            assert [row["generation"] for row in own] == list(range(1, len(own) + 1))
            assert all(row["phase"] == "superseded" for row in own[:-1])
            assert own[-1]["phase"] != "superseded"
            assert len({row["resolution_command_id"] for row in own}) == 1

    @invariant()
    def every_return_keeps_its_way_and_is_sent_once(self) -> None:
        """I08, I09."""
        if not self.tables():
            return
        rows, notices = self.returns(), {one.id: one for one in self.notices()}
        for row in rows:
            source = self.model.sources[row["source_id"]]
            assert (row["mode"], row["session"]) == (source["mode"], source["session"])
            assert bool(row["delivery_id"]) or row["phase"] not in ("minted", "processed")
        sent = {row["delivery_id"]: row for row in rows if row["delivery_id"]}
        assert set(sent) - self.gone == set(notices)
        for id, notice in notices.items():
            self.is_its_message(sent[id], notice)

    def is_its_message(self, row: dict[str, Any], notice: Any) -> None:
        """The message that carries an answer: its coordinate, its session, and what may be said of its end."""
        assert notice.event.key == coordinate(row["resolution_command_id"], row["generation"])
        assert notice.event.session == (row["session"] if row["mode"] == "pinned_session" else "")
        assert row["phase"] != "processed" or notice.state == "processed"
        assert row["phase"] == "minted" or notice.state not in OPEN

    @invariant()
    def a_look_is_never_far_ahead(self) -> None:
        """I07: a blocked answer waits for the next look for a minute at most, by a clock that went on."""
        if self.tables():
            blocked = self.query("SELECT retry_at - updated_at FROM attention_returns WHERE phase = 'blocked' AND retry_at > 0")
            assert all(wait == A_MINUTE for (wait,) in blocked)

    @invariant()
    def nothing_but_the_database_was_touched_in_a_transaction(self) -> None:
        """I12."""
        assert self.isolation.seen == []

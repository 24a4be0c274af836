"""Attention, simulated: any commands in any order, from two connections, with crashes, reopening and a clock that jumps,
keep every invariant of the queue and agree with a model of a few lines."""

import runpy
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tocsin.contracts.attention_answers import Code, Receipt, Refusal
from tocsin.contracts.attention_facts import Operator, Seat
from tocsin.contracts.attention_items import READY, EventKind
from tocsin.contracts.attention_time import iso
from tocsin.contracts.events import Event
from tocsin.pipeline.attention_continuation import continuation, coordinate
from tocsin.store import attention_returns as returns
from tocsin.store import intake

attending = runpy.run_path(str(Path(__file__).parent.parent / "store" / "attending.py"))
Desk, packet, MINUTE, HUMAN, BROKER, PERSON = (
    attending[name] for name in ("Desk", "packet", "MINUTE", "HUMAN", "BROKER", "PERSON")
)
Model = runpy.run_path(str(Path(__file__).parent / "attending_model.py"))["Model"]

OF_ITEM = {kind for kind in EventKind if not kind.startswith(("return_", "source_"))}
MODES = {"s1": "actor_context", "s2": "pinned_session", "s3": "none"}
KEYS = st.sampled_from("abcdefghijklmnop")
ITEMS = st.integers(0, 40)
"""Which item: one of those that there are, and rarely one that there is not."""
OFF = st.sampled_from([0, 0, 0, 0, 0, 1, -1])
"""How far the expected revision is from the true one: mostly not at all."""
MOMENTS = st.sampled_from([None, -1, 1, 1, 1, 30, 90])
"""Minutes until a deferred item is due."""


class Crash(BaseException):
    """The process ends here."""


def crash_if(here: bool) -> None:
    if here:
        raise Crash


class Attending(RuleBasedStateMachine):
    """The database under test, and beside it the model: item id → what must be true of it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "tocsin.db"
        self.desks = [Desk(path), Desk(path)]
        self.model = Model()
        self.model.now = self.desks[0].now
        self.answered: dict[str, tuple[Any, Any, bytes]] = {}
        self.events: list[Any] = []

    def teardown(self) -> None:
        for desk in self.desks:
            desk.store.close()
        self.folder.cleanup()

    @initialize()
    def enrol(self) -> None:
        for source_id, mode in MODES.items():
            self.desks[0].bind(source_id, mode, session_id="6f0e")
        for key, source in zip("abcde", ("s1", "s2", None, "s1", "s3"), strict=True):
            self.something_is_asked(0, False, key, source, False, "x")

    # What may happen

    def ask(self, principal: Any, which: int, crash: bool, action: str, **payload: Any) -> Receipt | Refusal | None:
        desk = self.desks[which]
        request = desk.request(action, payload)
        if isinstance(request, Refusal):
            return request
        before, active = desk.dump(), self.model.active()
        try:
            with desk.store.write() as tx:
                answer = desk.run(tx, request, principal)
                crash_if(crash)
        except Crash:
            assert desk.dump() == before, "what was not committed left no trace"
            return None
        if isinstance(answer, Refusal):
            assert desk.dump() == before, "a refusal changes nothing"
        else:
            assert not answer.replayed
            self.answered[answer.command_id] = (request, principal, msgspec.json.encode(answer))
        if not isinstance(principal, Operator):
            assert self.stored_active() == active, "I02: only the person changes what they work on"
        return answer

    which, crash = st.integers(0, 1), st.sampled_from([False] * 7 + [True])

    @rule(minutes=st.sampled_from([-200, -1, 1, 1, 31, 91, 1_000]))
    def time_passes(self, minutes: int) -> None:
        for desk in self.desks:
            desk.later(minutes * MINUTE)
        self.model.now = self.desks[0].now

    @rule(which=which)
    def the_process_starts_again(self, which: int) -> None:
        self.desks[which].reopen()

    @rule(
        which=which,
        crash=crash,
        key=KEYS,
        source=st.sampled_from([None, *MODES]),
        starts=st.booleans(),
        text=st.sampled_from("xy"),
    )
    def something_is_asked(self, which: int, crash: bool, key: str, source: str | None, starts: bool, text: str) -> None:
        principal = Seat(source_id=source, broker_uuid=BROKER) if source else PERSON
        action = "summon" if source else "start" if starts else "add"
        answer = self.ask(principal, which, crash, action, **packet(key, context=text))
        owner = "seat" if source else "human"
        twin = next((id for id, item in self.model.items.items() if (item["owner"], item["key"]) == (owner, key)), None)
        if answer is None:
            return
        if twin is not None:
            item = self.model.items[twin]
            same = {item["text"]: "existing", item["first"]: "existing_amended"} | {item["text"]: "existing"}
            assert self.model.word(answer) == same.get(text, "item_exists_use_amend")
            assert answer.item_id == twin
        elif action == "start" and self.model.active() is not None:
            assert self.model.word(answer) == "another_active"
        else:
            assert self.model.word(answer) == ("started" if action == "start" else "created")
            state = "active" if action == "start" else "queued"
            self.model.items[answer.item_id] = {"owner": owner, "key": key, "source": source, "text": text, "first": text}
            self.model.items[answer.item_id] |= {"state": state, "revision": 1, "until": None, "place": self.model.place()}

    @rule(
        which=which,
        crash=crash,
        item_id=ITEMS,
        off=OFF,
        source=st.sampled_from(["own", "own", "s1", None]),
        text=st.sampled_from("xyz"),
    )
    def something_is_amended(self, which: int, crash: bool, item_id: int, off: int, source: str | None, text: str) -> None:
        item_id = self.model.chosen(item_id, "queued", "active", "deferred")
        source = self.model.items.get(item_id, {}).get("source") if source == "own" else source
        principal = Seat(source_id=source, broker_uuid=BROKER) if source else PERSON
        said = {"item_id": item_id, "expected_revision": max(1, self.model.revision(item_id) + off), "context": text}
        answer = self.ask(principal, which, crash, "amend", **said)
        item = self.model.items.get(item_id)
        no = self.model.refused(said, ("queued", "active", "deferred"), source)
        if answer is None or no:
            assert answer is None or self.model.word(answer) == no
        elif item["text"] == text:
            assert self.model.word(answer) == "unchanged"
        else:
            assert (self.model.word(answer), answer.revision) == ("amended", item["revision"] + 1)
            item |= {"text": text, "revision": item["revision"] + 1}

    @rule(which=which, crash=crash, item_id=ITEMS, off=OFF, source=st.sampled_from(["own", "own", "s1"]))
    def something_is_withdrawn(self, which: int, crash: bool, item_id: int, off: int, source: str) -> None:
        item_id = self.model.chosen(item_id, "queued", "deferred")
        source = (self.model.items.get(item_id, {}).get("source") or "s1") if source == "own" else source
        said = {"item_id": item_id, "expected_revision": max(1, self.model.revision(item_id) + off), "reason": "r"}
        answer = self.ask(Seat(source_id=source, broker_uuid=BROKER), which, crash, "withdraw", **said)
        no = self.model.refused(said, ("queued", "deferred"), source)
        if answer is None or no:
            assert answer is None or self.model.word(answer) == no
        else:
            assert self.model.word(answer) == "withdrawn"
            self.model.change(item_id, "cancelled")

    @rule(which=which, crash=crash, pick=st.none() | ITEMS)
    def the_next_is_taken(self, which: int, crash: bool, pick: int | None) -> None:
        pick = None if pick is None else self.model.chosen(pick, "queued", "deferred")
        answer = self.ask(PERSON, which, crash, "next", human_id=HUMAN, **({"item_id": pick} if pick else {}))
        if answer is None:
            return
        item = self.model.items.get(pick)
        if pick is not None and not item:
            assert self.model.word(answer) == "unknown_item"
        elif item and self.model.active() is None and item["state"] != "queued" and not self.model.is_due(item):
            assert self.model.word(answer) == "not_eligible"
        else:
            self.model.selected(answer, pick)
            assert answer.result == answer.selection

    @rule(
        which=which,
        crash=crash,
        item_id=ITEMS,
        off=OFF,
        act=st.sampled_from(["resolve", "resolve", "resolve", "defer", "defer", "cancel", "requeue"]),
        minutes=MOMENTS,
        then=st.booleans(),
    )
    def the_person_decides(
        self, which: int, crash: bool, item_id: int, off: int, act: str, minutes: int | None, then: bool
    ) -> None:
        legal = {"resolve": ("active",), "defer": ("queued", "active"), "requeue": ("deferred",)}
        legal = legal.get(act, ("queued", "active", "deferred"))
        if act == "resolve" and self.model.active() is None:
            self.the_next_is_taken(which, False, None)
        item_id = self.model.chosen(item_id, *legal)
        said: dict[str, Any] = {"item_id": item_id, "expected_revision": max(1, self.model.revision(item_id) + off)}
        more: dict[str, Any] = {"outcome": "approved", "response": "ok"} if act == "resolve" else {"reason": "r"}
        until = None if minutes is None else self.desks[0].now + minutes * MINUTE
        if act == "defer":
            more["until"] = None if until is None else iso(until)
        if act != "requeue":
            more["select_next"] = then
        answer = self.ask(PERSON, which, crash, act, **said, **more)
        no = self.model.refused(said, legal, None)
        if not no and act == "defer" and minutes == -1:
            no = "not_in_future"
        if answer is None or no:
            assert answer is None or self.model.word(answer) == no
            return
        to = {"resolve": "resolved", "defer": "deferred", "requeue": "queued", "cancel": "cancelled"}[act]
        assert (self.model.word(answer), answer.state) == ("requeued" if act == "requeue" else to, to)
        self.model.change(item_id, to)
        if act == "defer":
            self.model.items[item_id]["until"] = until
        sent = act == "resolve" and MODES.get(self.model.items[item_id]["source"], "none") != "none"
        assert (answer.return_effect is not None) == sent, "I06: the answer and its way back are one"
        if act != "requeue" and then:
            self.model.selected(answer, None)

    @rule(which=which, action=st.sampled_from(["next", "add", "resolve", "cancel", "retry_return"]))
    def a_seat_tries_what_it_may_not(self, which: int, action: str) -> None:
        said: dict[str, dict[str, Any]] = {
            "next": {"human_id": HUMAN},
            "add": packet("z"),
            "resolve": {"item_id": 1, "expected_revision": 1, "outcome": "approved", "response": "ok"},
            "cancel": {"item_id": 1, "expected_revision": 1, "reason": "r"},
            "retry_return": {"item_id": 1, "expected_revision": 1, "return_generation": 1},
        }
        answer = self.ask(Seat(source_id="s1", broker_uuid=BROKER), which, False, action, **said[action])
        assert self.model.word(answer) == "forbidden", "I10: to ask is no authority"

    @rule(
        which=which, crash=crash, end=st.sampled_from(["mint", "sent", "sent", "process", "fail", "block", "block_for_person"])
    )
    def the_publisher_passes(self, which: int, crash: bool, end: str) -> None:
        desk = self.desks[which]
        before, active = desk.dump(), self.model.active()
        try:
            with desk.store.write() as tx:
                self.publish(tx, desk, end)
                crash_if(crash)
        except Crash:
            assert desk.dump() == before
        assert self.stored_active() == active, "I02: an answer on its way moves nobody's focus"

    def publish(self, tx: Any, desk: Any, end: str) -> None:
        if end == "sent":  # a pass that finds one to send, and the next, that finds how it went
            self.publish(tx, desk, "mint")
            end = "process"
        if end in ("process", "fail"):
            for row in returns.minted(tx)[:1]:
                assert returns.process(tx, row.return_id, {"state": end}, desk.now) if end == "process" else True
                assert end == "process" or returns.fail(tx, row.return_id, "gone", {"state": end}, desk.now)
            return
        for planned in returns.due(tx, desk.now)[:1]:
            row, key = planned.row, coordinate(planned.row.resolution_command_id, planned.row.generation)
            if end == "mint":
                assert returns.mint(tx, row.return_id, delivery_id=key, at=desk.now)
                event = Event(text=continuation(planned, BROKER), traffic="return", source="attention_return", key=key)
                assert not intake.accept(tx, event, recipient="ariadne", id=key, at=desk.now).replayed
            else:
                assert getattr(returns, end)(tx, row.return_id, "why", desk.now)

    @rule(which=which, crash=crash, item_id=ITEMS, off=st.sampled_from([0, 0, 0, 1]), to=st.sampled_from([None, "s1", "s2"]))
    def a_return_is_sent_again(self, which: int, crash: bool, item_id: int, off: int, to: str | None) -> None:
        item_id = self.model.chosen(item_id, "resolved")
        last = next(iter(self.query("SELECT phase, generation, source_id FROM attention_returns WHERE item_id = ? "
                                    "ORDER BY generation DESC LIMIT 1", item_id)), None)  # fmt: skip
        said = {
            "item_id": item_id,
            "expected_revision": self.model.revision(item_id),
            "return_generation": (last or (0, 1))[1] + off,
        }
        action, more = ("reroute_return", {"source_id": to, "reason": "r"}) if to else ("retry_return", {})
        answer = self.ask(PERSON, which, crash, action, **said, **more)
        if answer is None:
            return
        no = self.model.refused(said, ("resolved",), None)
        if not no and last is None:
            no = "no_return"
        elif not no and off:
            no = "stale_generation"
        elif not no and (last[0] == "processed" or (to and last[0] == "minted")):
            no = "return_processed" if last[0] == "processed" else "return_under_way"
        elif not no and to == last[2]:
            no = "same_route"
        if no:
            assert self.model.word(answer) == no
        elif not to and last[0] in ("pending", "minted"):
            assert (self.model.word(answer), answer.return_effect.generation) == ("return_active", last[1])
        else:
            assert self.model.word(answer) == ("return_rerouted" if to else "return_retried")
            assert answer.return_effect.generation == last[1] + 1

    @precondition(lambda self: self.answered)
    @rule(which=which, data=st.data())
    def an_answer_was_lost_and_is_asked_for_again(self, which: int, data: st.DataObject) -> None:
        request, principal, told = self.answered[data.draw(st.sampled_from(sorted(self.answered)))]
        desk = self.desks[which]
        before = desk.dump()
        with desk.store.write() as tx:
            again = desk.run(tx, request, principal)
            twice = desk.run(tx, request, principal)
            other = desk.run(tx, msgspec.structs.replace(request, digest="another"), principal)
        assert msgspec.json.encode(again) == told.replace(b'"replayed":false', b'"replayed":true')
        assert msgspec.json.encode(twice) == msgspec.json.encode(again)
        assert other.code is Code.COMMAND_ID_CONFLICT
        assert desk.dump() == before

    # The invariants

    def query(self, sql: str, *values: Any) -> list[Any]:
        with self.desks[0].store.read() as view:
            return view.rows(sql, values)

    def stored_active(self) -> int | None:
        found = self.query("SELECT item_id FROM attention_items WHERE state = 'active'")
        return found[0][0] if found else None

    @invariant()
    def the_table_is_what_the_model_says(self) -> None:
        if not self.tables():
            return
        stored = self.query("SELECT item_id, state, revision, deferred_until FROM attention_items ORDER BY item_id")
        assert stored == [(id, item["state"], item["revision"], item["until"]) for id, item in sorted(self.model.items.items())]
        line = self.query("SELECT item_id FROM attention_items WHERE state = 'queued' ORDER BY ready_sequence, item_id")
        places = sorted((item["place"], id) for id, item in self.model.items.items() if item["state"] == "queued")
        assert [id for (id,) in line] == [id for _, id in places]

    def tables(self) -> bool:
        return bool(self.query("SELECT 1 FROM sqlite_master WHERE name = 'attention_items'"))

    @invariant()
    def at_most_one_item_is_active_and_no_round_has_two_items(self) -> None:  # I01, I04
        if self.tables():
            assert len(self.query("SELECT 1 FROM attention_items WHERE state = 'active'")) <= 1
            keys = self.query("SELECT owner_principal, intervention_key, count(*) FROM attention_items GROUP BY 1, 2")
            assert all(number == 1 for *_, number in keys)

    @invariant()
    def the_history_only_grows_and_accounts_for_every_revision(self) -> None:  # I05, I11
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
    def every_answer_is_on_record(self) -> None:  # I03
        if self.tables():
            kept = dict(self.query("SELECT command_id, receipt FROM attention_commands WHERE action != 'source_bind'"))
            assert kept == {id: told for id, (_, _, told) in self.answered.items()}

    @invariant()
    def every_decision_has_its_return_and_every_sent_return_one_notice(self) -> None:  # I06, I08, I09
        if not self.tables():
            return
        rows = self.query(
            "SELECT item_id, resolution_command_id, generation, phase, delivery_id, mode, json_extract(route, '$.session_id'), "
            "source_id FROM attention_returns ORDER BY item_id, generation"
        )
        owed = {
            id
            for id, item in self.model.items.items()
            if item["state"] == "resolved" and MODES.get(item["source"], "none") != "none"
        }
        assert {row[0] for row in rows} == owed
        for item_id in owed:
            own = [row for row in rows if row[0] == item_id]
            assert [row[2] for row in own] == list(range(1, len(own) + 1))
            assert all(row[3] == "superseded" for row in own[:-1])
            assert own[-1][3] != "superseded"
            assert len({row[1] for row in own}) == 1
        assert all((mode, session) == (MODES[source], "6f0e") for *_, mode, session, source in rows)
        sent = {row[4] for row in rows if row[4]}
        assert sent == {id for (id,) in self.query("SELECT id FROM notices")}
        assert all(row[4] == f"attention-return:{row[1]}:{row[2]}" for row in rows if row[4])
        assert all(row[4] for row in rows if row[3] in ("minted", "processed"))


TestAttending = Attending.TestCase
TestAttending.settings = settings(
    max_examples=80, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
)

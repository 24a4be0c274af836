"""Attending questions: what agents ask and the person decides, any of it at any moment, against the model's word."""

import runpy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tocsin.contracts.attention_facts import Seat
from tocsin.contracts.attention_time import iso

attending = runpy.run_path(str(Path(__file__).parent.parent / "store" / "attending.py"))
packet, MINUTE, HUMAN, BROKER, PERSON = (attending[name] for name in ("packet", "MINUTE", "HUMAN", "BROKER", "PERSON"))

WHICH = st.integers(0, 1)
CRASH = st.sampled_from([False] * 7 + [True])
KEYS = st.sampled_from("abcdefghijklmnop")
ITEMS = st.integers(0, 40)
"""Which item: one of those that there are, and rarely one that there is not."""
OFF = st.sampled_from([0, 0, 0, 0, 0, 1, -1])
"""How far the expected revision is from the true one: mostly not at all."""
MOMENTS = st.sampled_from([None, -1, 1, 1, 1, 30, 90])
"""Minutes until a deferred item is due."""
SOURCES = st.integers(0, 8)
"""Which source: one of those that there are."""


class Questions:
    """A part of the machine."""

    def whose(self, source: Any, item_id: int) -> str | None:
        """The item's own source, one of those that there are, or none: then it is the person."""
        if source == "own":
            own: str | None = self.model.items.get(item_id, {}).get("source")
            return own
        return None if source is None else self.model.a_source(source)

    @rule(
        which=WHICH,
        crash=CRASH,
        key=KEYS,
        nth=st.none() | SOURCES,
        starts=st.booleans(),
        text=st.sampled_from("xy"),
    )
    def something_is_asked(self, which: int, crash: bool, key: str, nth: int | None, starts: bool, text: str) -> None:
        source = None if nth is None else self.model.a_source(nth)
        principal = Seat(source_id=source, broker_uuid=BROKER) if source else PERSON
        action = "summon" if source else "start" if starts else "add"
        answer = self.ask(principal, which, crash, action, **packet(key, context=text))
        owner = "seat" if source else "human"
        twin = next((id for id, item in self.model.items.items() if (item["owner"], item["key"]) == (owner, key)), None)
        if answer is None:
            return
        if barred := self.model.barred(source):
            assert self.model.word(answer) == barred
        elif twin is not None:  # I04
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
        which=WHICH,
        crash=CRASH,
        item_id=ITEMS,
        off=OFF,
        source=st.sampled_from(["own", "own", None]) | SOURCES,
        text=st.sampled_from("xyz"),
    )
    def something_is_amended(self, which: int, crash: bool, item_id: int, off: int, source: Any, text: str) -> None:
        item_id = self.model.chosen(item_id, "queued", "active", "deferred")
        source = self.whose(source, item_id)
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

    @rule(which=WHICH, crash=CRASH, item_id=ITEMS, off=OFF, source=st.just("own") | SOURCES)
    def something_is_withdrawn(self, which: int, crash: bool, item_id: int, off: int, source: Any) -> None:
        item_id = self.model.chosen(item_id, "queued", "deferred")
        source = self.whose(source, item_id) or "s1"
        said = {"item_id": item_id, "expected_revision": max(1, self.model.revision(item_id) + off), "reason": "r"}
        answer = self.ask(Seat(source_id=source, broker_uuid=BROKER), which, crash, "withdraw", **said)
        no = self.model.refused(said, ("queued", "deferred"), source)
        if answer is None or no:
            assert answer is None or self.model.word(answer) == no
        else:
            assert self.model.word(answer) == "withdrawn"
            self.model.change(item_id, "cancelled")

    @rule(which=WHICH, crash=CRASH, pick=st.none() | ITEMS)
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
        which=WHICH,
        crash=CRASH,
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
        sent = act == "resolve" and self.model.is_owed(item_id)
        assert (answer.return_effect is not None) == sent, "I06: the answer and its way back are one"
        if act != "requeue" and then:
            self.model.selected(answer, None)

    @rule(which=WHICH, action=st.sampled_from(["next", "add", "resolve", "cancel", "retry_return", "source_revoke"]))
    def a_seat_tries_what_it_may_not(self, which: int, action: str) -> None:
        said: dict[str, dict[str, Any]] = {
            "next": {"human_id": HUMAN},
            "add": packet("z"),
            "resolve": {"item_id": 1, "expected_revision": 1, "outcome": "approved", "response": "ok"},
            "cancel": {"item_id": 1, "expected_revision": 1, "reason": "r"},
            "retry_return": {"item_id": 1, "expected_revision": 1, "return_generation": 1},
            "source_revoke": {"source_id": "s2", "reason": "r"},
        }
        answer = self.ask(Seat(source_id="s1", broker_uuid=BROKER), which, False, action, **said[action])
        assert self.model.word(answer) == "forbidden", "I10: to ask is no authority"

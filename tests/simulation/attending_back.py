"""Attending, the way back: seats come and go, sessions run, end and die, and the real publisher carries answers to them."""

import runpy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tocsin.actors.publisher import Publisher
from tocsin.contracts.attention_facts import Enrolment
from tocsin.contracts.durable import OPEN, Outcome
from tocsin.contracts.recipients import Owner, Recipient, Session
from tocsin.contracts.verdicts import Stage, Verdict
from tocsin.store import deliveries, intake, owners, recipients

attending = runpy.run_path(str(Path(__file__).parent.parent / "store" / "attending.py"))
packet, PERSON, handle = (attending[name] for name in ("packet", "PERSON", "handle"))

WHICH = st.integers(0, 1)
CRASH = st.sampled_from([False] * 7 + [True])
SOURCES = st.integers(0, 8)
ACTOR = "ariadne"
A_MINUTE = 60_000
"""After so long a blocked return is looked at again, and a message for a dead session is given up."""
MOST_SOURCES = 6


class Tables:
    """The publisher's connection, of which a transaction may end before its commit."""

    def __init__(self, machine: Any, which: int, crash: bool) -> None:
        self._machine, self._which, self._crash = machine, which, crash
        self.path = str(machine.desks[which].path)

    def query(self, call: Any) -> Any:
        with self._machine.desks[self._which].store.read() as view:
            return call(view)

    def change(self, call: Any) -> Any:
        return self._machine.change(self._which, call, self._crash)


class Route:
    """What is true of the recipient: what the publisher has to find out from the tables."""

    def __init__(self) -> None:
        self.sessions = 0
        self.session = ""
        """The newest one."""
        self.ended = True
        self.lives = False
        """True while a process delivers to it."""
        self.archived = False

    def closed(self, mode: str, session: str) -> str:
        """Why an answer can't go now; empty if it can. I09: one for a session goes to no other."""
        if self.archived:
            return "recipient_archived"
        if mode != "pinned_session":
            return ""
        if session != self.session:
            return "another_session_runs"
        if self.ended:
            return "session_has_ended"
        return "" if self.lives else "session_does_not_run"


class WayBack:
    """A part of the machine."""

    def open_the_way(self) -> None:
        """Before anything else: a session runs, and three seats are enrolled from it."""
        self.route = Route()
        self.minted = 0
        self.gone: set[str] = set()
        """Messages that ended so long ago that the store has forgotten them."""
        self.a_session_begins(0)
        for mode in ("actor_context", "pinned_session", "none"):
            self.a_seat_is_enrolled(0, False, mode, True)

    # Seats

    @rule(
        which=WHICH,
        crash=CRASH,
        mode=st.sampled_from(["actor_context", "pinned_session", "none"]),
        verified=st.sampled_from([True, True, False]),
    )
    def a_seat_is_enrolled(self, which: int, crash: bool, mode: str, verified: bool) -> None:
        """Bound again, the same work is another source."""
        if len(self.model.sources) >= MOST_SOURCES:
            return
        id, session = f"s{len(self.model.sources) + 1}", (self.route.session or None) if verified else None
        answer = self.enrol(which, crash, id, mode, session)
        if answer is None:
            return
        if mode == "pinned_session" and session is None:
            assert self.model.word(answer) == "unverified_session"
            return
        assert (self.model.word(answer), answer.source_id) == ("bound", id)
        self.model.sources[id] = {"mode": mode, "session": session, "revoked": False}
        assert self.model.word(self.enrol(which, False, id, "none", None)) == "source_exists"

    def enrol(self, which: int, crash: bool, id: str, mode: str, session: str | None) -> Any:
        by_hand = {"actor": ACTOR, "edge": "mac", "provenance": "operator_binding"}
        enrolment = Enrolment(source_id=id, handle_hash=handle(id), session_id=session, **by_hand)
        work = {name: packet()[name] for name in ("project_id", "work_id")}
        return self.ask(PERSON, which, crash, "source_bind", enrolment, return_mode=mode, **work)

    @rule(which=WHICH, crash=CRASH, nth=SOURCES)
    def a_seat_is_revoked(self, which: int, crash: bool, nth: int) -> None:
        id = self.model.a_source(nth)
        returns, items = self.returns(), self.query("SELECT * FROM attention_items")
        answer = self.ask(PERSON, which, crash, "source_revoke", source_id=id, reason="r")
        if answer is None:
            return
        barred = self.model.barred(id)
        known = {"unauthenticated": "unknown_source", "source_revoked": "already_revoked"}
        assert self.model.word(answer) == known.get(barred or "", "revoked")
        assert (self.returns(), self.query("SELECT * FROM attention_items")) == (returns, items), "I11"
        if barred is None:
            self.model.sources[id]["revoked"] = True

    # The recipient

    @rule(which=WHICH)
    def the_process_starts_again(self, which: int) -> None:
        """What ended long ago is forgotten then, but nothing that is under way."""
        before = self.notices()
        self.desks[which].reopen()
        kept = {one.id for one in self.notices()}
        assert all(one.id in kept for one in before if one.state in OPEN)
        self.gone |= {one.id for one in before} - kept
        if not self.query("SELECT 1 FROM sessions WHERE id = ?", self.route.session):
            self.route.session = ""

    @rule(which=WHICH)
    def a_session_begins(self, which: int) -> None:
        self.route.sessions += 1
        session = Session(id=f"run-{self.route.sessions}", recipient=ACTOR, started_at=self.now)

        def begin(tx: Any) -> None:
            recipients.register(tx, Recipient(name=ACTOR, registered_at=self.now))
            recipients.begin_session(tx, session)
            owner = Owner(token=session.id, pid=1, started="1", host="mac")
            assert owners.take(tx, ACTOR, owner, self.now, alive=lambda *_: False) is None

        self.change(which, begin)
        self.route.session, self.route.ended, self.route.lives, self.route.archived = session.id, False, True, False

    @rule(which=WHICH)
    def the_session_ends(self, which: int) -> None:
        self.change(which, lambda tx: recipients.end_session(tx, self.route.session, self.now))
        self.change(which, lambda tx: owners.give_back(tx, self.route.session))
        self.route.ended, self.route.lives = True, False

    @rule(which=WHICH, minutes=st.integers(0, 2))
    def its_process_dies(self, which: int, minutes: int) -> None:
        """What is due was sent just before; after so many minutes in which nobody came back it is looked at again."""
        self.the_publisher_passes(which, False)
        self.route.lives = False
        self.time_passes(minutes)
        self.the_publisher_passes(which, False)

    @rule(which=WHICH)
    def the_recipient_is_archived(self, which: int) -> None:
        self.change(which, lambda tx: recipients.archive(tx, ACTOR, self.now))
        self.route.archived = True

    @rule(which=WHICH, end=st.sampled_from([Verdict.DELIVER, Verdict.DELIVER, Verdict.DEAD_LETTER, None]), looked=st.booleans())
    def the_recipient_is_told(self, which: int, end: Verdict | None, looked: bool) -> None:
        """Its line takes the first answer that waits; one for another session it refuses. None: it dies before the end."""
        found = [one for one in self.notices() if one.state in OPEN]
        if not found or not self.route.lives:
            return
        first = found[0]
        mine = first.event.session in ("", self.route.session)
        verdict, reason = (end, "told") if mine else (Verdict.REFUSE, "for_another_session")
        if verdict:
            ended = Outcome(id=first.id, recipient=ACTOR, at=self.now, stage=Stage.FANOUT, verdict=verdict, reason=reason)
            self.change(which, lambda tx: deliveries.settle(tx, [ended], self.now))
        else:
            self.change(which, lambda tx: intake.claim(tx, self.route.session, [first.seq], self.now))
        if looked:
            self.the_publisher_passes(which, False)

    # The publisher

    @rule(which=WHICH, crash=CRASH)
    def the_publisher_passes(self, which: int, crash: bool) -> None:
        self.passes(which, crash, self.new_id)

    @rule(which=WHICH, good=st.integers(0, 2))
    def the_publisher_is_broken(self, which: int, good: int) -> None:
        """I12: whatever becomes of an answer on its way, the next item can be taken."""
        ids = iter(range(good))

        def new_id() -> str:
            if next(ids, None) is None:
                raise OSError("no more names")
            return self.new_id()

        self.passes(which, False, new_id)
        self.the_next_is_taken(which, False, None)

    def new_id(self) -> str:
        self.minted += 1
        return f"answer-{self.minted}"

    def passes(self, which: int, crash: bool, new_id: Any) -> None:
        desk = self.desks[which]
        before, dump, active = self.returns(), desk.dump(), self.stored_active()
        told: set[str] = set()
        publisher = Publisher(desk_clock(desk), new_id, lambda *_: self.route.lives, told.update)
        due = [row for row in before if self.is_due(row)][:25]
        ends = {row["return_id"]: self.end_of(row) for row in before}
        try:
            publisher.once(Tables(self, which, crash))
        except BaseException as error:
            assert isinstance(error, OSError) or type(error).__name__ == "Crash", error
            assert desk.dump() == dump, "a pass that failed left no trace"
            return
        assert self.stored_active() == active, "I02: an answer on its way moves nobody's focus"
        after = {row["return_id"]: row for row in self.returns()}
        assert list(after) == [row["return_id"] for row in before]
        for row in before:
            self.is_right(row, after[row["return_id"]], row in due, ends[row["return_id"]])
        assert told == ({ACTOR} if any(after[row["return_id"]]["phase"] == "minted" for row in due) else set())

    def is_due(self, row: dict[str, Any]) -> bool:
        at = row["retry_at"]
        return at is not None and (at <= self.now or at > self.now + A_MINUTE)

    def is_right(self, before: dict[str, Any], after: dict[str, Any], due: bool, end: str) -> None:
        """What became of one return in a pass."""
        if due:
            closed = self.route.closed(before["mode"], before["session"])
            assert (after["phase"], after["reason"]) == (("blocked", closed) if closed else ("minted", ""))
            # I07: it is looked at again within a minute, however long the person takes; or waits for the person.
            assert after["retry_at"] == (self.now + A_MINUTE if closed and not self.route.archived else None)
        elif before["phase"] == "minted":
            assert after["phase"] == end
        else:
            assert after == before

    def end_of(self, row: dict[str, Any]) -> str:
        """I08: what its message has come to. I07: one that nobody will ever take ends within a minute."""
        message = next((one for one in self.notices() if one.id == row["delivery_id"]), None)
        if message is None:
            return "failed"
        if message.state not in OPEN:
            return "processed" if message.state == "processed" else "failed"
        over = self.route.closed("pinned_session" if message.event.session else "", message.event.session)
        patient = over == "session_does_not_run" and self.now - message.changed_at < A_MINUTE
        return "minted" if self.route.lives or not over or patient else "failed"

    # The person sends an answer again

    @rule(which=WHICH, crash=CRASH, item_id=st.integers(0, 40), off=st.sampled_from([0, 0, 0, 1]), nth=st.none() | SOURCES)
    def a_return_is_sent_again(self, which: int, crash: bool, item_id: int, off: int, nth: int | None) -> None:
        item_id = self.model.chosen(item_id, "resolved")
        last = next((row for row in reversed(self.returns()) if row["item_id"] == item_id), None)
        to = None if nth is None else self.model.a_source(nth)
        said = {
            "item_id": item_id,
            "expected_revision": self.model.revision(item_id),
            "return_generation": (last["generation"] if last else 1) + off,
        }
        action, more = ("reroute_return", {"source_id": to, "reason": "r"}) if to else ("retry_return", {})
        answer = self.ask(PERSON, which, crash, action, **said, **more)
        no = self.model.refused(said, ("resolved",), None) or self.not_again(last, off, to)
        if answer is None or no:
            assert answer is None or self.model.word(answer) == no
        elif not to and last["phase"] in ("pending", "minted"):
            assert (self.model.word(answer), answer.return_effect.generation) == ("return_active", last["generation"])
        else:
            assert self.model.word(answer) == ("return_rerouted" if to else "return_retried")
            assert answer.return_effect.generation == last["generation"] + 1

    def not_again(self, last: dict[str, Any] | None, off: int, to: str | None) -> str | None:
        """Why that return is not sent once more, or not that way."""
        if last is None:
            return "no_return"
        if off or last["phase"] == "processed":
            return "stale_generation" if off else "return_processed"
        if to is None or last["phase"] == "minted":
            return "return_under_way" if to else None
        barred = self.model.barred(to)
        return {"unauthenticated": "unknown_source"}.get(barred, barred) if barred else self.no_way(last, to)

    def no_way(self, last: dict[str, Any], to: str) -> str | None:
        """Why a source that may ask is no other way."""
        route = self.model.sources[to]
        pinned = last["mode"] == route["mode"] == "pinned_session" and last["session"] == route["session"]
        if route["mode"] == "none":
            return "no_route"
        return "same_route" if to == last["source_id"] or pinned else None

    # What is on record of it

    def returns(self) -> list[dict[str, Any]]:
        names = "return_id, item_id, resolution_command_id, generation, phase, reason, retry_at, delivery_id, mode, source_id"
        sql = f"SELECT {names}, json_extract(route, '$.session_id') FROM attention_returns ORDER BY return_id"
        return [dict(zip([*names.split(", "), "session"], row, strict=True)) for row in self.query(sql)]

    def notices(self) -> list[Any]:
        with self.desks[0].store.read() as view:
            return intake.listing(view, traffic="return", limit=1_000)


def desk_clock(desk: Any) -> Any:
    """The desk's own, as the publisher reads it."""
    return type("Clock", (), {"now": staticmethod(lambda: desk.now)})()

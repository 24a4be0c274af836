"""Attending comings and goings: seats are enrolled and revoked; sessions begin, end and die; a recipient is archived."""

import runpy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tocsin.contracts.attention_facts import Enrolment
from tocsin.contracts.durable import OPEN
from tocsin.contracts.recipients import Owner, Recipient, Session
from tocsin.store import owners, recipients

attending = runpy.run_path(str(Path(__file__).parent.parent / "store" / "attending.py"))
packet, PERSON, handle = (attending[name] for name in ("packet", "PERSON", "handle"))

WHICH = st.integers(0, 1)
CRASH = st.sampled_from([False] * 7 + [True])
SOURCES = st.integers(0, 8)
ACTOR = "ariadne"
MOST_SOURCES = 6


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


class Comings:
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

"""Attending, the way back: the real publisher carries answers to whoever is there, and the person sends them again."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tocsin.actors.publisher import Publisher
from tocsin.contracts.attention_facts import Operator
from tocsin.contracts.durable import OPEN, Outcome
from tocsin.contracts.verdicts import Stage, Verdict
from tocsin.store import deliveries, intake

WHICH = st.integers(0, 1)
CRASH = st.sampled_from([False] * 7 + [True])
SOURCES = st.integers(0, 8)
ACTOR = "ariadne"
A_MINUTE = 60_000
"""After so long a blocked return is looked at again, and a message for a dead session is given up."""


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


class WayBack:
    """A part of the machine."""

    # The line that tells the recipient

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
        answer = self.ask(Operator(), which, crash, action, **said, **more)
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

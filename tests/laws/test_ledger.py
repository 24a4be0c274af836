"""The ledger keeps its word: told once until it is over, never told when it is over, and never forgotten before it is told."""

import runpy
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tocsin.actors.messages import Look, Rearmer, Seed
from tocsin.contracts import signals as s
from tocsin.contracts.deliveries import Proof, Receipt
from tocsin.contracts.durable import Rearmed
from tocsin.contracts.errors import NotNow, SinkGone
from tocsin.contracts.events import Event
from tocsin.contracts.moves import Announce, Disarm
from tocsin.contracts.notices import Notice
from tocsin.contracts.severity import Severity
from tocsin.pipeline import notice_kinds as kinds
from tocsin.pipeline.ledger import Ledger
from tocsin.pipeline.roster import Settings
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

Line = runpy.run_path(str(Path(__file__).parents[1] / "simulation" / "stepping.py"))["Line"]

WHO = {"to": "dev", "text": "said"}
IDS = st.lists(st.sampled_from(["m1", "m2", "m3", "m4"]), max_size=4, unique=True)
HEARTBEATS = st.builds(lambda ids: kinds.heartbeat(unread=ids, **WHO), IDS)
OTHERS = st.one_of(
    st.builds(lambda finding: kinds.breaker("steer", finding=finding, **WHO), st.sampled_from(["looping", "error storm"])),
    st.builds(lambda name: kinds.worker("preserved", name, **WHO), st.sampled_from(["w1", "w2"])),
    st.builds(lambda now: kinds.plain("mine", "k", urgent=now, to="dev", text="now" if now else "said"), st.booleans()),
)
GONE = st.sets(st.sampled_from(["m1", "m2", "m3", "m4", "w1", "w2", "heartbeat:quiet", "breaker:steer:looping", "mine:k"]))
KINDS = st.sampled_from(["", "heartbeat", "breaker", "worker", "mine"])


def gone_by(gone: set[str]) -> Any:
    return lambda name, ctx: name in gone or (bool(ctx) and set(ctx) <= gone)


class Model:
    """The same rules, written a second time in the plainest words, for one recipient."""

    def __init__(self) -> None:
        self.told: dict[str, tuple[str, ...]] = {}
        self.pending: list[dict[str, Any]] = []

    def verdict(self, serial: int, event: Event) -> str:
        name, ids = event.key, event.ctx
        if name in self.told:
            return "told_and_not_rearmed"
        beat = name.startswith("heartbeat:")
        if beat and ids:
            ids = tuple(one for one in ids if one not in self.ids())
            if not ids:
                return "nothing_new"
            name = f"heartbeat:{kinds.actionable_key(ids)}"
        before = [one for one in self.pending if one["name"] == name or (beat and one["beat"])]
        answer = "not_told_yet" if ids == event.ctx else "only_new_ids"
        if before and before[-1]["name"] == name:
            if not before[-1]["gone"] and not (event.urgent and not before[-1]["urgent"]):
                return "already_pending"
            answer = "raised_again" if before[-1]["gone"] else "urgent_now"
            before[-1]["gone"] = False
        self.pending.append({"serial": serial, "name": name, "ids": ids, "beat": beat, "urgent": event.urgent, "gone": False})
        return answer

    def ids(self) -> set[str]:
        return {one for name, ids in self.told.items() if name.startswith("heartbeat:") for one in ids}

    def end(self, serial: int, *, told: bool) -> None:
        [one] = [one for one in self.pending if one["serial"] == serial]
        self.pending.remove(one)
        if not told:
            return
        for newer in list(self.pending):
            if newer["name"] == one["name"]:
                self.pending.remove(newer)
            elif newer["beat"] and one["beat"] and newer["ids"] and set(newer["ids"]) & set(one["ids"]):
                newer["ids"] = tuple(i for i in newer["ids"] if i not in one["ids"])
                newer["name"] = f"heartbeat:{kinds.actionable_key(newer['ids'])}"
                if not newer["ids"]:
                    self.pending.remove(newer)
        if not one["gone"]:
            self.told[one["name"]] = one["ids"]

    def rearm(self, kind: str, gone: set[str]) -> tuple[int, int]:
        over = gone_by(gone)
        told = [n for n, ids in self.told.items() if n.startswith(f"{kind}:" if kind else "") and over(n, ids)]
        held = [p for p in self.pending if p["name"].startswith(f"{kind}:" if kind else "") and over(p["name"], p["ids"])]
        held = [one for one in held if not one["gone"]]
        for one in held:
            one["gone"] = True
        for name in told:
            del self.told[name]
        return len(told), len(held)


class LedgerAndModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.ledger, self.model, self.serial = Ledger(0), Model(), 0
        self.stored: dict[str, tuple[str, ...]] = {}

    @rule(event=st.one_of(HEARTBEATS, HEARTBEATS, OTHERS))
    def raise_it(self, event: Event) -> None:
        self.serial += 1
        ruled = self.ledger.judge(Notice(self.serial, event, "dev", Severity.INFO, 0, event.key), 0)
        assert ruled.reason == self.model.verdict(self.serial, event)
        if ruled.verdict == "pass":
            assert (kinds.signature_of(ruled.notice), ruled.notice.event.ctx) == self.of_model(self.serial)

    def of_model(self, serial: int) -> tuple[str, tuple[str, ...]]:
        return next((one["name"], one["ids"]) for one in self.model.pending if one["serial"] == serial)

    @precondition(lambda self: self.model.pending)
    @rule(data=st.data(), told=st.booleans())
    def one_ends(self, data: st.DataObject, told: bool) -> None:
        serial = data.draw(st.sampled_from([one["serial"] for one in self.model.pending]))
        if told:
            self.ledger.told("dev", [serial], 0)
        else:
            self.ledger.lost("dev", [serial])
        self.model.end(serial, told=told)

    @rule(kind=KINDS, gone=GONE)
    def conditions_go(self, kind: str, gone: set[str]) -> None:
        found, serials = self.ledger.rearm("dev", kind, gone_by(gone))
        assert (found.delivered, found.held) == self.model.rearm(kind, gone)
        assert len(serials) == found.held

    @rule()
    def another_process_takes_over(self) -> None:
        """It knows what the store was told of, and nothing of what was pending."""
        told = self.ledger.told_of("dev")
        self.ledger = Ledger(0)
        self.ledger.seed("dev", told, 0)
        self.model.pending.clear()

    @invariant()
    def what_was_told_is_the_same(self) -> None:
        assert {one.signature: one.ctx for one in self.ledger.told_of("dev")} == self.model.told

    @invariant()
    def the_changes_add_up_to_what_was_told(self) -> None:
        for move in self.ledger.changes():
            match move:
                case Announce():
                    self.stored[move.announced.signature] = move.announced.ctx
                case Disarm():
                    for name in move.signatures:
                        self.stored.pop(name, None)
        assert self.stored == self.model.told


TestLedgerAndModel = LedgerAndModel.TestCase
TestLedgerAndModel.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


# On the whole line


class Slow:
    async def deliver(self, delivery: Any) -> Receipt:
        raise AssertionError("the courier of this world never calls it")


class Floor:
    """A line with one recipient whose sink takes its time; it checks what is told against what was told and what is so."""

    def __init__(self) -> None:
        self.line = Line(Settings(throttle=ThrottlePolicy(max_notices=4)))
        self.line.open("dev", sink=Slow())
        self.true: dict[str, Event] = {}
        """What was raised last and has not been cleared, by signature; of heartbeats only the last."""
        self.waiting = False
        self.offered: set[str] = set()
        self.heard: list[str] = []

    def play(self, what: Any) -> "Floor":
        match what:
            case Event():
                self.raise_it(what)
            case int():
                self.line.after(what)
            case Receipt() | Exception():
                self.answer(what)
            case (str() as kind, set() as gone):
                self.rearm(kind, gone)
            case _:
                self.observe(what)
        self.look_at_what_is_offered()
        return self

    def raise_it(self, event: Event) -> None:
        if event.key.startswith("heartbeat:"):
            self.true = {name: one for name, one in self.true.items() if not name.startswith("heartbeat:")}
        self.true[event.key] = event
        self.line.feed(event)

    def observe(self, fact: Any) -> None:
        self.waiting = isinstance(fact, s.WaitStarted) or (
            self.waiting and not isinstance(fact, s.WaitEnded | s.RecipientRevived)
        )
        self.line.feed(fact)

    def look_at_what_is_offered(self) -> None:
        """While it waits, only what is urgent; and of breakers and workers only what is so."""
        print_of = self.line.tree._fingerprint.stage.print_of
        prints = {print_of("harness", "", key): key for key in CERTAIN}
        for _, delivery, _ in self.line.courier.under_way:
            if delivery.id not in self.offered:
                self.offered.add(delivery.id)
                for entry in delivery.entries:
                    assert entry.text == "now" or not self.waiting, entry
                    assert prints.get(entry.fingerprint) in {None, *self.true}, entry

    def answer(self, outcome: Any) -> None:
        if not self.line.courier.under_way:
            return
        known, before = self.ids(), {one.signature for one in self.announced()}
        delivery = self.line.courier.answer(outcome)
        self.line.settle()
        if isinstance(outcome, Receipt):
            fresh = [one for one in self.announced() if one.signature not in before and one.signature[:9] == "heartbeat"]
            assert not known & {one for announced in fresh for one in announced.ctx}, "an id was told of twice"
            self.heard += [entry.id for entry in delivery.entries]
            assert len(set(self.heard)) == len(self.heard), "a notice was told twice"

    def announced(self) -> Any:
        return self.line.tree.ask(self.line.tree._dedup, Look("dev"))

    def ids(self) -> set[str]:
        return {one for announced in self.announced() if announced.signature[:9] == "heartbeat" for one in announced.ctx}

    def knows(self, event: Event) -> bool:
        """It was told, as a whole or in parts."""
        in_parts = event.key.startswith("heartbeat:") and bool(event.ctx) and set(event.ctx) <= self.ids()
        return in_parts or event.key in {one.signature for one in self.announced()}

    def rearm(self, kind: str, gone: set[str]) -> None:
        over = gone_by(gone)
        found = self.line.tree.ask(self.line.tree._dedup, Rearmer("dev", kind, over))
        assert isinstance(found, Rearmed)
        self.line.settle()
        is_over = {n for n, one in self.true.items() if over(n, one.ctx) and (not kind or n.startswith(f"{kind}:"))}
        self.true = {name: one for name, one in self.true.items() if name not in is_over}

    def everything_that_is_so_gets_told(self) -> None:
        """Once nothing is in the way, what was raised and lasts is told, or told already: at the latest raised once more."""
        for fact in (s.WaitEnded(lane="dev"), s.RecipientRevived(lane="dev"), s.TurnEnded(lane="dev")):
            self.play(fact)
        self.calm_down()
        for event in list(self.true.values()):
            self.play(event)
            self.calm_down()
            assert self.knows(event), event.key
        assert self.line.balanced(), self.line.balance()
        assert self.line.tree.status().pending == 0

    def calm_down(self) -> None:
        self.play(1_000)
        while self.line.courier.under_way:
            self.play(Receipt(proof=Proof.OFFERED)).play(1_000)


CERTAIN = ("breaker:steer:looping", "breaker:steer:error storm", "worker:preserved:w1", "worker:preserved:w2", "mine:k")
FACTS = st.builds(
    lambda kind: kind(lane="dev"),
    st.sampled_from([s.WaitStarted, s.WaitEnded, s.WaitEnded, s.TurnStarted, s.TurnEnded, s.RecipientDied, s.RecipientRevived]),
)
ANSWERS = st.sampled_from([Receipt(proof=Proof.OFFERED)] * 4 + [NotNow("a draft"), SinkGone("closed")])
MOVES = st.one_of(
    HEARTBEATS, HEARTBEATS, OTHERS, OTHERS, FACTS, ANSWERS, ANSWERS, st.tuples(KINDS, GONE),
    st.sampled_from([0, 100, 150, 1_000, 5_000]),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(MOVES, min_size=10, max_size=50))
def test_on_the_line_each_id_is_told_once_and_what_lasts_is_told(moves: list[Any]) -> None:
    floor = Floor()
    for move in moves:
        floor.play(move)
    assert floor.line.balanced(), floor.line.balance()
    floor.everything_that_is_so_gets_told()
    assert floor.line.tree.status().restarts == 0, floor.line.tree.supervisor.last_trace
    books = floor.line.tree._dedup.stage._ledger._books
    assert all(not book.waiting for book in books.values()), "the ledger takes for pending what has ended"


@settings(max_examples=50, deadline=None)
@given(st.lists(MOVES, min_size=10, max_size=40), st.one_of(HEARTBEATS, OTHERS))
def test_a_restart_forgets_nothing_that_was_told(moves: list[Any], event: Event) -> None:
    floor, again = Floor(), Floor()
    for move in moves:
        floor.play(move)
    again.line.tree.ask(again.line.tree._dedup, Seed("dev", floor.announced()))
    again.play(event).play(1_000)
    assert bool(again.line.courier.under_way) != floor.knows(event)

"""Throttle: batches gather for so long, the table stays within its cap, and a lane proposes one batch at a time."""

import pytest

from tocsin.contracts.events import Event
from tocsin.contracts.moves import ClearScope, Dropped, Kept, Lost, Rearm, Settled, Told
from tocsin.contracts.notices import Admission, Fold, Notice, Proposal
from tocsin.contracts.severity import LEVELS, Severity
from tocsin.contracts.verdicts import Stage, Verdict
from tocsin.pipeline.step import Step
from tocsin.pipeline.throttle import Policy, Throttle


class Table:
    """A throttle with a clock. ``admit`` and ``fold`` stand for dedup; ``flush_at`` runs the clock to the next proposal."""

    def __init__(self, **policy: object) -> None:
        self.stage = Throttle(Policy(**{"batches_per_minute": 0, **policy}))
        self.now, self.serial = 0, 0
        self.step: Step[object] = Step()

    def admit(self, *texts: str, at: int | None = None, lane: str = "dev", severity: str = "warning", **fields: object) -> None:
        self.now = self.now if at is None else at
        notices = []
        for text in texts:
            self.serial += 1
            event = Event(text=text, severity=severity, **fields)
            notices.append(Notice(self.serial, event, lane, LEVELS[severity], self.now, text))
        self.stage.offer([Admission(lane, notices, [], {})], self.now, self.step)

    def fold(
        self, text: str, count: int = 1, severity: Severity = Severity.WARNING, lane: str = "dev", serial: int = 0
    ) -> None:
        folds = [Fold(text, count, self.now, severity, (), serial)]
        self.stage.offer([Admission(lane, [], folds, {})], self.now, self.step)

    def run(self, until: int) -> None:
        """Let time pass, with a tick whenever one is due."""
        while (due := self.stage.due()) is not None and due <= until:
            self.now = max(self.now, due)
            self.stage.tick(self.now, self.step)
        self.now = until

    def proposal(self, until: int = 10_000_000) -> Proposal:
        """The next proposal, at the moment it is made."""
        while not any(isinstance(move, Proposal) for move in self.step.out):
            due = self.stage.due()
            assert due is not None and due <= until, f"nothing proposed until {until}"
            self.run(due)
        [made] = [move for move in self.step.out if isinstance(move, Proposal)]
        self.step = Step()
        return made

    def settle(self, made: Proposal) -> None:
        self.stage.settled(Settled(made.lane, made.number, [e.notice.serial for e in made.entries]), self.now, self.step)

    def keep(self, made: Proposal, *serials: int, stage: Stage = Stage.DEFER, until: int | None = None) -> None:
        kept = Kept(made.lane, made.number, serials or [e.notice.serial for e in made.entries], stage, "why", until)
        self.stage.kept(kept, self.now, self.step)

    def moves(self, kind: type) -> list[object]:
        return [move for move in self.step.out if isinstance(move, kind)]

    def depth(self, lane: str = "dev") -> int:
        view = self.stage.view()
        return view[lane].depth if lane in view else 0


def texts(made: Proposal) -> list[str]:
    return [entry.notice.event.text for entry in made.entries]


# Windows


@pytest.mark.parametrize(
    ("fields", "window"),
    [
        ({"severity": "info"}, 3_000),
        ({"severity": "warning"}, 3_000),
        ({"severity": "error"}, 250),
        ({"severity": "critical"}, 250),
        ({"traffic": "user"}, 150),
        ({"traffic": "notice"}, 150),
        ({"traffic": "mail"}, 0),
        ({"traffic": "return"}, 0),
    ],
    ids=str,
)
def test_each_class_gathers_for_its_window(fields: dict[str, str], window: int) -> None:
    table = Table()
    table.admit("boom", at=1_000, **fields)
    assert texts(table.proposal()) == ["boom"]
    assert table.now == 1_000 + window


def test_the_window_counts_from_the_first_entry() -> None:
    table = Table()
    table.admit("a", at=0)
    table.run(2_900)
    table.admit("b")
    assert (texts(table.proposal()), table.now) == (["a", "b"], 3_000)


def test_an_error_pulls_the_flush_in() -> None:
    table = Table()
    table.admit("warned", at=0)
    table.run(100)
    table.admit("boom", severity="error")
    assert (texts(table.proposal()), table.now) == (["warned", "boom"], 350)


def test_later_errors_never_push_the_flush_out() -> None:
    table = Table()
    for nth in range(5):
        table.run(nth * 50)
        table.admit(f"boom {nth}", severity="error")
    assert (len(table.proposal().entries), table.now) == (5, 250)


def test_a_person_pulls_the_flush_in() -> None:
    table = Table()
    table.admit("warned", at=0)
    table.admit("stop", traffic="user")
    assert (texts(table.proposal()), table.now) == (["warned", "stop"], 150)


def test_a_rise_on_a_pending_entry_pulls_the_flush_in() -> None:
    table = Table()
    table.admit("boom", at=0)
    table.run(1_000)
    table.fold("boom", severity=Severity.ERROR)
    made = table.proposal()
    assert (table.now, made.entries[0].severity, made.entries[0].count) == (1_250, Severity.ERROR, 2)


def test_mail_and_answers_are_never_merged() -> None:
    table = Table()
    table.admit("m1", "m2", traffic="mail", at=0)
    table.admit("r1", "r2", traffic="return")
    order = []
    for _ in range(4):
        made = table.proposal()
        order.append(texts(made))
        table.settle(made)
    assert order == [["m1"], ["r1"], ["r2"], ["m2"]]


def test_an_idle_table_wants_no_wake() -> None:
    table = Table()
    assert table.stage.due() is None
    table.admit("boom", at=0)
    assert table.stage.due() == 3_000
    table.settle(table.proposal())
    assert table.stage.due() is None
    assert table.stage.view() == {}


# One proposal at a time


def test_while_a_batch_is_under_way_no_other_is_proposed() -> None:
    table = Table()
    table.admit("a", at=0)
    made = table.proposal()
    table.admit("b", severity="error")
    assert table.stage.due() is None  # a wake could do nothing
    table.run(60_000)
    assert table.moves(Proposal) == []
    table.settle(made)
    assert texts(table.proposal()) == ["b"]


def test_lanes_do_not_wait_for_one_another() -> None:
    table = Table()
    table.admit("a", at=0, lane="dev")
    table.admit("b", lane="ops")
    table.run(3_000)
    assert [(move.lane, texts(move)) for move in table.moves(Proposal)] == [("dev", ["a"]), ("ops", ["b"])]


def test_repeats_while_it_is_under_way_belong_to_the_next_reminder() -> None:
    table = Table()
    table.admit("a", at=0)
    table.fold("a", 2)
    made = table.proposal()
    table.fold("a", 5)
    table.settle(made)
    assert made.entries[0].count == 3
    assert table.moves(Told) == [Told("dev", [("a", 5)])]


def test_what_grew_worse_under_way_is_news_at_its_next_occurrence() -> None:
    table = Table()
    table.admit("a", at=0)
    made = table.proposal()
    table.fold("a", severity=Severity.ERROR)
    table.settle(made)
    assert table.moves(Lost) == [Lost("dev", ["a"])]


def test_an_answer_to_another_proposal_changes_nothing() -> None:
    table = Table()
    table.admit("a", at=0)
    made = table.proposal()
    table.stage.settled(Settled("dev", made.number + 1, [1]), table.now, table.step)
    table.stage.dropped(Dropped("dev", made.number - 1, [1], Verdict.DROP_CASCADE), table.now, table.step)
    table.stage.settled(Settled("ghost", made.number, [1]), table.now, table.step)
    assert (table.step.out, table.depth()) == ([], 1)


def test_what_was_dropped_was_not_told() -> None:
    table = Table()
    table.admit("a", "b", at=0)
    made = table.proposal()
    table.stage.dropped(Dropped("dev", made.number, [1], Verdict.DROP_CASCADE), table.now, table.step)
    assert table.moves(Lost) == [Lost("dev", ["a"])]
    table.stage.settled(Settled("dev", made.number, [2]), table.now, table.step)
    assert table.moves(Told) == [Told("dev", [("b", 0)])]
    assert table.depth() == 0


# Kept entries


def test_kept_entries_are_proposed_again_at_the_moment_that_the_gate_named() -> None:
    table = Table()
    table.admit("a", at=0)
    table.keep(table.proposal(), until=9_000)
    assert table.depth() == 1
    made = table.proposal()
    assert (texts(made), table.now, made.entries[0].reason) == (["a"], 9_000, "why")


def test_entries_kept_without_a_moment_wait_for_a_wake() -> None:
    table = Table()
    table.admit("a", at=0)
    table.keep(table.proposal())
    assert table.stage.due() is None
    table.stage.wake_lane("dev", 50_000, table.step)
    assert texts(table.proposal()) == ["a"]


def test_a_newcomer_takes_the_kept_ones_along_in_their_old_order() -> None:
    table = Table()
    table.admit("a", "b", at=0)
    table.keep(table.proposal())
    table.admit("c")
    made = table.proposal()
    assert (texts(made), table.now) == (["a", "b", "c"], 6_000)


def test_a_kept_mail_keeps_those_behind_it() -> None:
    table = Table()
    table.admit("m1", "m2", traffic="mail", at=0)
    table.keep(table.proposal(), until=5_000)
    table.run(4_999)
    assert table.moves(Proposal) == []
    assert texts(table.proposal()) == ["m1"]


def test_a_wake_that_comes_while_the_answer_is_on_its_way_is_not_lost() -> None:
    table = Table()
    table.admit("a", at=0)
    made = table.proposal()
    table.stage.wake_lane("dev", table.now, table.step)
    table.keep(made)
    assert (texts(table.proposal()), table.now) == (["a"], 3_000)


def test_a_wake_lets_no_batch_go_that_still_gathers() -> None:
    table = Table()
    table.admit("a", at=0)
    table.stage.wake_lane("dev", 100, table.step)
    assert table.moves(Proposal) == []
    assert table.stage.due() == 3_000


def test_a_scope_wakes_what_it_held_in_every_lane_and_nothing_else() -> None:
    table = Table()
    for lane, scope in (("dev", "web"), ("ops", "web"), ("qa", "api")):
        table.admit("a", at=0, lane=lane, scope=scope)
    table.run(3_000)
    proposals, table.step = table.moves(Proposal), Step()
    for made in proposals:
        table.keep(made, stage=Stage.HOLD, until=90_000)
    table.stage.wake_scope("web", 4_000, table.step)
    assert [move.lane for move in table.moves(Proposal)] == ["dev", "ops"]


def test_how_long_an_outage_and_an_activity_have_kept_an_entry_is_told_to_the_gates() -> None:
    table = Table()
    table.admit("a", at=0)
    table.keep(table.proposal(), stage=Stage.HOLD, until=6_000)
    table.keep(table.proposal(), stage=Stage.DEFER, until=8_000)
    [entry] = table.proposal().entries
    assert (entry.held_at, entry.deferred_at) == (3_000, 6_000)


def test_the_bound_of_activity_counts_from_the_first_time_that_it_kept_an_entry() -> None:
    table = Table()
    table.admit("a", at=0)
    table.keep(table.proposal(), until=8_000)
    table.keep(table.proposal(), until=9_000)
    assert table.proposal().entries[0].deferred_at == 3_000


def test_time_spent_on_a_draft_does_not_count_against_the_bound_of_activity() -> None:
    table = Table()
    table.admit("a", at=0)
    table.keep(table.proposal(), stage=Stage.DEFER, until=8_000)
    table.keep(table.proposal(), stage=Stage.DEFER, until=None)
    table.stage.wake_lane("dev", 20_000, table.step)
    assert table.proposal().entries[0].deferred_at is None


# What is gone


def build(scope: str = "web", **fields: object) -> dict[str, object]:
    return {"severity": "error", "category": "build", "scope": scope, **fields}


def test_a_good_build_clears_the_build_errors_of_its_scope_that_came_before_it() -> None:
    table = Table()
    table.admit("ts1", at=0, **build())
    table.admit("ts2", **build("api"))
    table.admit("runtime", severity="error", scope="web")
    table.admit("panel", **build(traffic="user"))
    upto = table.stage.taken
    table.admit("ts3", **build())
    table.stage.clear(ClearScope("web", upto), 10, table.step)
    assert table.moves(Lost) == [Lost("dev", ["ts1"])]
    assert [(r.verdict, r.reason, [n.event.text for n in r.notices]) for r in table.step.rulings] == [
        ("clear", "good_build", ["ts1"])
    ]
    assert texts(table.proposal()) == ["ts2", "runtime", "panel", "ts3"]


def test_a_build_error_that_came_again_after_the_good_build_stays() -> None:
    table = Table()
    table.admit("ts1", at=0, **build())
    upto = table.stage.taken
    table.fold("ts1")
    table.stage.clear(ClearScope("web", upto), 10, table.step)
    assert texts(table.proposal()) == ["ts1"]


def test_a_build_error_that_is_under_way_is_not_taken_back() -> None:
    table = Table()
    table.admit("ts1", at=0, **build())
    made = table.proposal()
    table.stage.clear(ClearScope("web", table.stage.taken), 300, table.step)
    assert (table.depth(), table.moves(Lost)) == (1, [])
    table.settle(made)
    assert table.moves(Told) == [Told("dev", [("ts1", 0)])]


def test_an_event_with_a_producers_key_is_cleared_by_its_print() -> None:
    table = Table()
    table.admit("boom", "bang", at=0)
    table.stage.rearm(Rearm("dev", "boom"), 0, table.step)
    assert texts(table.proposal()) == ["bang"]


@pytest.mark.parametrize("traffic", ["mail", "return"])
def test_what_people_and_agents_wrote_is_not_cleared(traffic: str) -> None:
    table = Table()
    table.admit("word", traffic="user", at=0)
    made = table.proposal()
    table.admit("answer", traffic=traffic)
    table.stage.rearm(Rearm("dev", "answer"), 0, table.step)
    table.settle(made)
    assert texts(table.proposal()) == ["answer"]


def test_a_closed_lane_drops_what_is_pending_on_record() -> None:
    table = Table()
    table.admit("a", "b", at=0)
    table.admit("c", lane="ops")
    table.stage.close("dev", 10, table.step)
    assert [(r.verdict, r.reason, len(r.notices)) for r in table.step.rulings] == [("evict", "lane_closed", 2)]
    assert (table.depth("dev"), table.depth("ops")) == (0, 1)


def test_a_flush_waits_for_no_window() -> None:
    table = Table()
    table.admit("a", at=0)
    table.admit("b", lane="ops")
    table.stage.flush(10, table.step)
    assert [texts(made) for made in table.moves(Proposal)] == [["a"], ["b"]]

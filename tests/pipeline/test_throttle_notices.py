"""Throttle: harness notices give way to newer ones, and what is under way is not taken back."""

import pytest

from tocsin.contracts.events import Event
from tocsin.contracts.moves import Dropped, Kept, Lost, NoticesLost, NoticesTold, Rearm, Settled, Told
from tocsin.contracts.notices import Admission, Fold, Notice, Proposal
from tocsin.contracts.severity import Severity
from tocsin.contracts.verdicts import Stage, Verdict
from tocsin.pipeline import notice_kinds as kinds
from tocsin.pipeline.step import Step
from tocsin.pipeline.throttle import Policy, Throttle

WHO = {"to": "dev", "text": "said"}
QUIET, STEER = kinds.heartbeat(**WHO), kinds.breaker("steer", finding="looping", **WHO)


def mail(*ids: str) -> Event:
    return kinds.heartbeat(unread=ids, **WHO)


class Table:
    """A throttle with a clock; the test stands for dedup, the gates and the sink."""

    def __init__(self, **policy: object) -> None:
        self.stage = Throttle(Policy(**{"batches_per_minute": 0, **policy}))
        self.now, self.serial = 0, 0
        self.step: Step[object] = Step()

    def admit(self, *events: Event, replaces: int = 0, folds: tuple[Fold, ...] = ()) -> "Table":
        notices = [
            Notice(number, event, "dev", Severity.WARNING, self.now, event.key or event.text)
            for number, event in enumerate(events, start=self.serial + 1)
        ]
        self.serial += len(events)
        superseded = {replaces: self.serial} if replaces else {}
        self.stage.offer([Admission("dev", notices, list(folds), {}, superseded)], self.now, self.step)
        return self

    def until(self, until: int) -> "Table":
        while (due := self.stage.due()) is not None and due <= until:
            assert due >= self.now
            self.now = due
            self.stage.tick(self.now, self.step)
        self.now = until
        return self

    def proposal(self) -> Proposal:
        """What is proposed by the time at which everything has gathered."""
        self.until(self.now + 3_000)
        [made] = [move for move in self.step.out if isinstance(move, Proposal)]
        self.step = Step()
        return made

    def keep(self, made: Proposal, until: int | None = None, stage: Stage = Stage.DEFER) -> "Table":
        serials = [entry.notice.serial for entry in made.entries]
        self.stage.kept(Kept("dev", made.number, serials, stage, "waits", until), self.now, self.step)
        return self

    def settle(self, made: Proposal) -> "Table":
        self.stage.settled(Settled("dev", made.number, [e.notice.serial for e in made.entries]), self.now, self.step)
        return self

    def drop(self, made: Proposal) -> "Table":
        serials = [entry.notice.serial for entry in made.entries]
        self.stage.dropped(Dropped("dev", made.number, serials, Verdict.DROP_DEAD), self.now, self.step)
        return self

    def rearm(self, *serials: int) -> "Table":
        self.stage.rearm(Rearm("dev", "", "", serials), self.now, self.step)
        return self

    def wake(self) -> Proposal:
        self.stage.wake_lane("dev", self.now, self.step)
        [made] = [move for move in self.step.out if isinstance(move, Proposal)]
        self.step = Step()
        return made

    def ends(self) -> list[tuple[str, str, list[int]]]:
        """Verdict, reason and serials of what ended here."""
        return [(str(r.verdict), str(r.reason), [n.serial for n in r.notices]) for r in self.step.rulings]

    def moves(self, *kept: type) -> list[object]:
        return [move for move in self.step.out if isinstance(move, kept)]

    def standing(self) -> int:
        return sum(lane.depth for lane in self.stage.view().values())


def entries(made: Proposal) -> list[tuple[int, int, tuple[str, ...]]]:
    """Serial, count and ctx."""
    return [(entry.notice.serial, entry.count, entry.notice.event.ctx) for entry in made.entries]


# Giving way


def test_a_newer_heartbeat_replaces_the_one_that_gathers() -> None:
    table = Table().admit(QUIET).admit(mail("m1"), replaces=1)
    assert table.ends() == [("fold", "superseded", [1])]
    assert table.moves(NoticesLost, Lost) == [NoticesLost("dev", (1,))]
    assert entries(table.proposal()) == [(2, 1, ("m1",))]


def test_a_newer_heartbeat_replaces_the_one_that_waits() -> None:
    table = Table().admit(QUIET)
    table.keep(table.proposal()).admit(mail("m1"), replaces=1)
    assert table.ends() == [("fold", "superseded", [1])]
    table.keep(table.proposal()).admit(mail("m1", "m2"), replaces=2)
    assert table.standing() == 1
    assert entries(table.proposal()) == [(3, 1, ("m1", "m2"))]


def test_within_one_admission_too_only_the_last_heartbeat_is_left() -> None:
    table = Table()
    notices = [Notice(n, event, "dev", Severity.WARNING, 0, event.key) for n, event in enumerate((QUIET, mail("a"), QUIET), 1)]
    table.stage.offer([Admission("dev", notices, [Fold("", 4, 0, Severity.WARNING, (), 2)], {}, {1: 2, 2: 3})], 0, table.step)
    assert table.ends() == [("fold", "superseded", [1, 2])]
    assert entries(table.proposal()) == [(3, 1, ())]


def test_what_says_the_same_takes_over_the_count_of_what_it_replaces() -> None:
    table = Table().admit(STEER)
    table.rearm(1).until(100).admit(STEER, replaces=1)
    assert table.ends() == [("fold", "superseded", [1])]
    [entry] = table.until(150).moves(Proposal)[0].entries
    assert (entry.notice.serial, entry.count, entry.first_at, entry.last_at) == (2, 2, 0, 100)


def test_an_urgent_one_does_not_wait_behind_the_one_that_is_kept() -> None:
    slow, fast = (kinds.plain("mine", "k", urgent=urgent, **WHO) for urgent in (False, True))
    table = Table().admit(slow)
    table.keep(table.proposal()).admit(fast, replaces=1)
    assert entries(table.proposal()) == [(2, 2, ())]


def test_what_is_under_way_is_not_taken_back() -> None:
    table = Table().admit(QUIET)
    made = table.proposal()
    table.admit(mail("m1"), replaces=1)
    assert (table.ends(), table.standing()) == ([], 2)
    table.settle(made)
    assert table.moves(NoticesTold, Told) == [NoticesTold("dev", (1,))]
    assert entries(table.proposal()) == [(2, 1, ("m1",))]


def test_what_comes_back_gives_way_to_what_came_meanwhile() -> None:
    table = Table().admit(QUIET, STEER)
    made = table.proposal()
    table.admit(mail("m1"), replaces=1).keep(made)
    assert table.ends() == [("fold", "superseded", [1])]
    assert entries(table.proposal()) == [(2, 1, ()), (3, 1, ("m1",))]


def test_what_comes_back_stays_if_the_newer_one_has_gone() -> None:
    table = Table(max_notices=1).admit(QUIET)
    made = table.proposal()
    table.admit(mail("m1"), replaces=1).admit(STEER)
    assert table.ends() == [("evict", "notice_cap", [2])]
    table.step = Step()
    table.stage.policy = Policy(max_notices=5, batches_per_minute=0)
    table.keep(made)
    assert (table.ends(), table.standing()) == ([], 2)


def test_of_a_set_whose_first_part_was_told_the_rest_is_told() -> None:
    table = Table().admit(mail("m1", "m2"))
    made = table.proposal()
    table.admit(mail("m2", "m3", "m1"), replaces=1).until(10_000).settle(made)
    [other] = table.moves(Proposal)
    assert entries(other) == [(2, 1, ("m3",))]
    assert other.entries[0].notice.event.detail == "new: m3"
    assert other.entries[0].notice.event.key == mail("m3").key


@pytest.mark.parametrize("event", [mail("m1"), mail("m2", "m1")])
def test_nothing_is_left_of_a_set_that_was_told_meanwhile(event: Event) -> None:
    table = Table().admit(mail("m1", "m2"))
    made = table.proposal()
    table.admit(event, replaces=1).settle(made)
    assert table.ends() == [("fold", "told_meanwhile", [2])]
    assert table.moves(NoticesTold, NoticesLost) == [NoticesTold("dev", (1,)), NoticesLost("dev", (2,))]
    assert table.standing() == 0


def test_the_ids_of_another_kind_take_nothing_from_a_set() -> None:
    table = Table().admit(kinds.plain("mine", "k", ctx=["m1"], **WHO))
    made = table.proposal()
    table.admit(mail("m1", "m2")).settle(made)
    assert entries(table.proposal()) == [(2, 1, ("m1", "m2"))]


@pytest.mark.parametrize("urgent", [True, False])
def test_nothing_is_left_of_a_notice_that_was_told_word_for_word(urgent: bool) -> None:
    table = Table().admit(kinds.plain("mine", "k", **WHO))
    made = table.proposal()
    table.admit(kinds.plain("mine", "k", urgent=urgent, **WHO), replaces=1).settle(made)
    assert table.ends() == [("fold", "told_meanwhile", [2])]


def test_a_set_that_was_not_told_after_all_is_told_whole_by_the_newer_one() -> None:
    table = Table().admit(mail("m1", "m2"))
    made = table.proposal()
    table.admit(mail("m1", "m2", "m3"), replaces=1).drop(made)
    assert table.moves(NoticesLost) == [NoticesLost("dev", (1,))]
    assert entries(table.proposal()) == [(2, 1, ("m1", "m2", "m3"))]


def test_an_admission_that_was_on_its_way_when_the_sink_answered_is_narrowed_too() -> None:
    table = Table().admit(mail("m1", "m2"))
    table.settle(table.proposal()).admit(mail("m1", "m2", "m3"), replaces=1)
    assert entries(table.proposal()) == [(2, 1, ("m3",))]


def test_an_admission_on_its_way_that_says_the_same_ends() -> None:
    table = Table().admit(STEER)
    table.settle(table.proposal()).admit(STEER, replaces=1)
    assert table.ends() == [("fold", "told_meanwhile", [2])]


def test_what_was_told_earlier_and_is_news_again_is_told() -> None:
    table = Table().admit(STEER)
    table.settle(table.proposal()).admit(STEER)
    assert entries(table.proposal()) == [(2, 1, ())]


def test_a_notice_that_was_told_before_the_lane_was_closed_narrows_nothing() -> None:
    table = Table().admit(STEER)
    table.settle(table.proposal())
    table.stage.close("dev", table.now, table.step)
    table.admit(STEER, replaces=1)
    assert entries(table.proposal()) == [(2, 1, ())]


def test_a_newcomer_that_never_came_replaces_nothing() -> None:
    table = Table().admit(QUIET)
    table.stage.offer([Admission("dev", [], [Fold("", 1, 0, Severity.WARNING, (), 1)], {}, {1: 2})], 0, table.step)
    assert entries(table.proposal()) == [(1, 2, ())]


def test_a_repeat_finds_its_notice_under_way_and_after_its_end_nothing() -> None:
    table = Table().admit(STEER)
    made, repeat = table.proposal(), Fold(STEER.key, 1, 5, Severity.WARNING, (), 1)
    table.admit(folds=(repeat,)).keep(made)
    again = table.wake()
    assert entries(again) == [(1, 2, ())]
    table.settle(again)
    table.step = Step()
    table.admit(folds=(repeat,))
    assert (table.step.out, table.step.rulings) == ([], [])


def test_an_event_and_a_notice_with_the_same_print_are_two_entries() -> None:
    event = Event(text="said", key="mine:k", source="harness")
    table = Table().admit(event, kinds.plain("mine", "k", **WHO))
    folds = (Fold("mine:k", 1, 0, Severity.WARNING, ()), Fold("mine:k", 3, 0, Severity.WARNING, (), 2))
    made = table.admit(folds=folds).proposal()
    assert entries(made) == [(1, 2, ()), (2, 4, ())]
    table.settle(made)
    assert table.moves(Told, NoticesTold) == [Told("dev", [("mine:k", 0)]), NoticesTold("dev", (2,))]


def test_a_notice_that_grew_worse_under_way_was_told_all_the_same() -> None:
    table = Table().admit(STEER)
    made = table.proposal()
    table.admit(folds=(Fold("", 1, 0, Severity.CRITICAL, (), 1),)).settle(made)
    assert table.moves(NoticesTold, NoticesLost, Lost) == [NoticesTold("dev", (1,))]

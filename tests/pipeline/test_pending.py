"""Pending: one entry says what it stands for, groups are only ever pulled in, and a table keeps within its cap."""

import pytest

from tocsin.contracts.events import Event
from tocsin.contracts.moves import Kept, Lost, Settled
from tocsin.contracts.notices import TEXTS_KEPT, Admission, Fold, Notice, Proposal, Reminder
from tocsin.contracts.severity import LEVELS, Severity
from tocsin.contracts.verdicts import Stage
from tocsin.pipeline.pending import Bands, Group, Pending
from tocsin.pipeline.stage import NEVER
from tocsin.pipeline.step import Step
from tocsin.pipeline.throttle import Policy, Throttle


def entry(serial: int = 1, text: str = "boom", severity: str = "warning", at: int = 1_000, **fields: object) -> Pending:
    event = Event(text=text, severity=severity, **fields)
    return Pending.of(Notice(serial, event, "dev", LEVELS[severity], at, text), None, 1)


def fold(count: int = 1, at: int = 2_000, severity: Severity = Severity.WARNING, texts: tuple[str, ...] = ()) -> Fold:
    return Fold("boom", count, at, severity, texts)


def test_a_fresh_entry_stands_for_one_occurrence() -> None:
    one = entry()
    assert (one.count, one.first_at, one.last_at, one.severity, one.texts, one.all_texts, one.reminder) == (
        1, 1_000, 1_000, Severity.WARNING, ("boom",), True, False,
    )  # fmt: skip


def test_an_entry_tells_when_it_happened_not_when_it_was_taken_in() -> None:
    one = entry(at=1_000, text="boom")
    late = Pending.of(Notice(1, Event(text="boom", at=400), "dev", Severity.WARNING, 1_000, "boom"), None, 1)
    assert (one.first_at, late.first_at) == (1_000, 400)


def test_a_reminder_stands_for_its_past() -> None:
    notice = Notice(9, Event(text="boom"), "dev", Severity.WARNING, 60_000, "boom")
    one = Pending.of(notice, Reminder(37, 1_000), 1)
    assert (one.count, one.first_at, one.last_at, one.reminder) == (37, 1_000, 60_000, True)


def test_repeats_add_up_and_the_last_one_is_remembered() -> None:
    one = entry()
    one.fold(fold(3, 2_000), 2)
    one.fold(fold(2, 2_500), 3)
    assert (one.count, one.first_at, one.last_at, one.seen) == (6, 1_000, 2_500, 3)


def test_severity_rises_and_never_falls() -> None:
    one = entry()
    one.fold(fold(severity=Severity.ERROR), 2)
    one.fold(fold(severity=Severity.INFO), 3)
    assert one.severity is Severity.ERROR


def test_differing_texts_are_kept_once_each_beside_the_first() -> None:
    one = entry()
    one.fold(fold(texts=("boom 2", "boom 3")), 2)
    one.fold(fold(texts=("boom 3", "boom")), 3)
    assert (one.texts, one.all_texts) == (("boom", "boom 2", "boom 3"), True)


def test_beyond_so_many_texts_no_claim_is_made_about_all_of_them() -> None:
    one = entry()
    one.fold(fold(texts=tuple(f"boom {number}" for number in range(TEXTS_KEPT - 1))), 2)
    assert (len(one.texts), one.all_texts) == (TEXTS_KEPT, True)
    one.fold(fold(texts=("one more",)), 3)
    assert (len(one.texts), one.all_texts) == (TEXTS_KEPT, False)
    one.fold(fold(), 4)
    assert one.all_texts is False


def test_what_is_raised_again_is_not_gone() -> None:
    one = entry(traffic="notice")
    one.cleared = True
    one.fold(fold(), 2)
    assert one.cleared is False


def test_a_proposed_entry_is_the_entry_as_it_stands() -> None:
    one = entry()
    one.fold(fold(3, texts=("boom 2",)), 2)
    one.held_at, one.deferred_at, one.reason = 5, 7, "turn_running"
    proposed = one.proposed()
    one.fold(fold(10), 3)
    assert (proposed.notice, proposed.count, proposed.first_at, proposed.last_at) == (one.notice, 4, 1_000, 2_000)
    assert (proposed.texts, proposed.all_texts, proposed.reminder) == (("boom", "boom 2"), True, False)
    assert (proposed.held_at, proposed.deferred_at, proposed.reason) == (5, 7, "turn_running")


def test_a_group_is_ready_never_until_it_is_pulled_and_is_never_pushed_out() -> None:
    group = Group()
    assert group.ready_at == NEVER
    group.pull(3_000)
    group.pull(9_000)
    assert group.ready_at == 3_000
    group.pull(250)
    assert group.ready_at == 250


def evicted(bands: Bands) -> list[str]:
    """The order in which all would go."""
    order = []
    while one := bands.oldest_of_lowest():
        bands.take_out(one)
        order.append(one.notice.event.text)
    return order


def test_the_oldest_of_the_lowest_severity_goes_first() -> None:
    bands = Bands()
    rows = [("e1", "error"), ("w1", "warning"), ("i1", "info"), ("w2", "warning"), ("i2", "info")]
    for serial, (text, severity) in enumerate(rows):
        bands.add(entry(serial, text, severity))
    assert evicted(bands) == ["i1", "i2", "w1", "w2", "e1"]


def test_one_that_rose_goes_later_but_keeps_its_age() -> None:
    bands, first = Bands(), entry(1, "w1")
    for one in (first, entry(2, "w2"), entry(3, "e3", "error")):
        bands.add(one)
    first.severity = Severity.ERROR
    bands.rise(first, Severity.WARNING)
    assert evicted(bands) == ["w2", "w1", "e3"]


def test_one_that_comes_back_has_its_age() -> None:
    bands, first = Bands(), entry(1, "w1")
    for one in (first, entry(2, "w2"), entry(3, "w3")):
        bands.add(one)
    bands.take_out(first)
    bands.put_back([first])
    assert evicted(bands) == ["w1", "w2", "w3"]


def test_one_under_way_is_not_evicted_even_if_it_rises() -> None:
    bands, first = Bands(), entry(1, "w1")
    bands.add(first)
    bands.take_out(first)
    first.severity = Severity.ERROR
    bands.rise(first, Severity.WARNING)
    assert evicted(bands) == []


# The cap


class Table:
    """A throttle whose lane holds few entries. ``admit`` offers one chunk; ``evicted`` says what went, in order."""

    def __init__(self, most: int = 3, notices: int = 2) -> None:
        self.stage = Throttle(Policy(max_pending=most, max_notices=notices, batches_per_minute=0))
        self.serial = 0
        self.step: Step[object] = Step()

    def admit(self, *texts: str, severity: str = "warning", folds: tuple[Fold, ...] = (), **fields: object) -> "Table":
        reminders, notices = {}, []
        for text in texts:
            self.serial += 1
            event = Event(text=text, severity=severity, **fields)
            notices.append(Notice(self.serial, event, "dev", LEVELS[severity], 0, text))
            if text.startswith("again"):
                reminders[self.serial] = Reminder(10, 0)
        self.stage.offer([Admission("dev", notices, list(folds), reminders)], 0, self.step)
        return self

    def evicted(self) -> list[str]:
        return [n.event.text for ruling in self.step.rulings if ruling.verdict == "evict" for n in ruling.notices]

    def lost(self) -> list[str]:
        return [fingerprint for move in self.step.out if isinstance(move, Lost) for fingerprint in move.fingerprints]

    def proposal(self) -> Proposal:
        self.stage.flush(0, self.step)
        [made] = [move for move in self.step.out if isinstance(move, Proposal)]
        self.step = Step()
        return made

    def left(self) -> list[str]:
        return [one.notice.event.text for one in self.proposal().entries]


def test_on_overflow_the_oldest_of_the_lowest_severity_goes() -> None:
    table = Table().admit("e1", severity="error").admit("w1").admit("i1", severity="info").admit("w2").admit("w3")
    assert table.evicted() == ["i1", "w1"]
    assert table.left() == ["e1", "w2", "w3"]


def test_a_flood_in_one_chunk_leaves_what_eviction_one_by_one_would_leave() -> None:
    one_by_one, at_once = Table(5), Table(5)
    names = [f"w{number}" for number in range(40)]
    for name in names:
        one_by_one.admit(name)
    at_once.admit(*names)
    assert at_once.evicted() == one_by_one.evicted() == names[:35]
    assert at_once.left() == one_by_one.left() == names[35:]


def test_what_goes_is_reported_as_never_told() -> None:
    assert Table().admit("w1", "w2", "w3", "w4").admit("w5").lost() == ["w1", "w2"]


def test_an_error_behind_a_flood_survives_it() -> None:
    table = Table().admit("boom", severity="error").admit(*(f"w{number}" for number in range(500)))
    assert table.left() == ["boom", "w498", "w499"]


def test_one_of_a_flood_that_rose_to_an_error_survives_it() -> None:
    rose = Fold("w0", 1, 0, Severity.ERROR, ())
    table = Table().admit(*(f"w{number}" for number in range(500)), folds=(rose,))
    [first, *others] = table.proposal().entries
    assert (first.notice.event.text, first.count, first.severity) == ("w0", 2, Severity.ERROR)
    assert [one.notice.event.text for one in others] == ["w498", "w499"]


@pytest.mark.parametrize("traffic", ["user", "mail", "return"])
def test_protected_entries_are_never_evicted_even_beyond_the_cap(traffic: str) -> None:
    table = Table().admit(*(f"p{number}" for number in range(10)), traffic=traffic)
    assert (table.evicted(), table.stage.view()["dev"].depth) == ([], 10)
    table.admit("w1")
    assert table.evicted() == ["w1"]


def test_harness_notices_have_a_cap_of_their_own() -> None:
    table = Table(3, 2).admit("w1", "w2", "w3").admit("n1", "n2", "n3", traffic="notice")
    assert table.evicted() == ["n1"]
    assert [ruling.reason for ruling in table.step.rulings] == ["notice_cap"]
    assert table.left() == ["w1", "w2", "w3", "n2", "n3"]


def test_notices_under_way_take_no_room_from_events() -> None:
    table = Table(3, 2).admit("n1", "n2", traffic="notice")
    table.proposal()
    assert table.admit("w1", "w2", "w3").evicted() == []
    assert table.admit("w4").evicted() == ["w1"]


def test_what_is_under_way_counts_and_is_not_taken_back() -> None:
    table = Table().admit("w1", "w2")
    table.proposal()
    assert table.admit("w3").evicted() == []
    assert table.admit("w4").evicted() == ["w3"]


def test_an_error_is_not_evicted_for_less_severe_ones_that_are_under_way() -> None:
    table = Table().admit("w1", "w2", "w3")
    table.proposal()
    assert table.admit("boom", severity="error").evicted() == []
    assert table.admit("w4").evicted() == ["w4"]
    assert table.admit("e2", "e3", severity="error").evicted() == ["w4"]
    assert table.admit("e4", severity="error").evicted() == ["w4", "boom"]


def test_what_comes_back_to_a_full_table_is_as_evictable_as_before() -> None:
    table = Table().admit("w1", "w2", "w3")
    made = table.proposal()
    table.admit("boom", severity="error")
    table.stage.kept(Kept("dev", made.number, [1, 2, 3], Stage.DEFER, "why", None), 0, table.step)
    assert table.evicted() == ["w1"]


def test_suppressed_counts_by_severity_ride_on_the_next_batch() -> None:
    table = Table().admit("i1", severity="info").admit("w1", "w2", "w3").admit("w4", "w5")
    assert table.proposal().suppressed == (1, 2, 0, 0)


def test_suppressed_counts_are_of_occurrences() -> None:
    folds = (Fold("w1", 4, 0, Severity.WARNING, ()),)
    table = Table().admit("w1", folds=folds).admit("w2", "w3", "w4")
    assert table.proposal().suppressed == (0, 5, 0, 0)


def test_in_a_flood_too_suppressed_counts_are_of_occurrences() -> None:
    folds = (Fold("w0", 4, 0, Severity.WARNING, ()),)
    table = Table().admit("w0", "again", *(f"w{number}" for number in range(1, 4)), folds=folds)
    assert table.evicted() == ["w0", "again"]
    assert table.proposal().suppressed == (0, 15, 0, 0)


def test_suppressed_counts_are_told_once_and_only_if_the_block_was_taken() -> None:
    table = Table().admit("w1", "w2", "w3", "w4")
    made = table.proposal()
    table.stage.kept(Kept("dev", made.number, [2, 3, 4], Stage.DEFER, "why", None), 0, table.step)
    made = table.proposal()
    assert made.suppressed == (0, 1, 0, 0)
    table.admit("w5")  # the table is full of what is under way, so this one goes; it is told of next time
    table.stage.settled(Settled("dev", made.number, [2, 3, 4]), 0, table.step)
    table.admit("w6")
    assert table.proposal().suppressed == (0, 1, 0, 0)


def test_what_grew_worse_but_came_back_is_proposed_as_bad_as_it_is_and_then_told() -> None:
    table = Table().admit("w1")
    made = table.proposal()
    table.admit(folds=(Fold("w1", 1, 0, Severity.ERROR, ()),))
    table.stage.kept(Kept("dev", made.number, [1], Stage.DEFER, "why", None), 0, table.step)
    made = table.proposal()
    assert (made.entries[0].severity, made.entries[0].count) == (Severity.ERROR, 2)
    table.stage.settled(Settled("dev", made.number, [1]), 0, table.step)
    assert table.lost() == []


def test_a_person_sees_how_deep_a_lane_is_and_what_it_waits_for() -> None:
    table = Table().admit("w1", "w2")

    def seen() -> tuple[int, str, int | None]:
        view = table.stage.view()["dev"]
        return view.depth, view.waits_for, view.until

    assert seen() == (2, "batch_window", 3_000)
    made = table.proposal()
    assert seen() == (2, "sink", None)
    table.stage.kept(Kept("dev", made.number, [1, 2], Stage.DEFER, "turn_running", 9_000), 0, table.step)
    assert seen() == (2, "turn_running", 9_000)

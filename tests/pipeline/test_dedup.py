"""Dedup: within one window one notice per fingerprint passes; what is remembered is what was told, not what was seen."""

import pytest

from tocsin.contracts.events import Event
from tocsin.contracts.notices import TEXTS_KEPT, Admission, Notice, Reminder
from tocsin.contracts.severity import LEVELS, Severity
from tocsin.pipeline.dedup import Dedup, Policy
from tocsin.pipeline.step import Step

MINUTE = 60_000


class Desk:
    """Dedup with a clock that the test sets. Notices whose texts start with the same word share a fingerprint."""

    def __init__(self, **policy: object) -> None:
        self.stage = Dedup(Policy(**policy))
        self.serial = 0
        self.step: Step[Admission] = Step()

    def at(self, now: int, *texts: str, lane: str = "dev", severity: str = "warning", **fields: object) -> list[Admission]:
        """Offer one chunk; what was admitted of it."""
        notices = []
        for text in texts:
            self.serial += 1
            event = Event(text=text, severity=severity, **fields)
            notices.append(Notice(self.serial, event, lane, LEVELS[severity], now, text.split()[0]))
        self.step = Step()
        self.stage.offer(notices, now, self.step)
        return self.step.out

    def passes(self, now: int, text: str, **fields: object) -> bool:
        return any(admission.passed for admission in self.at(now, text, **fields))

    def told(self, now: int, *prints: str, lane: str = "dev", missed: int = 0) -> None:
        self.stage.told(lane, [(fingerprint, missed) for fingerprint in prints], now)

    def verdicts(self) -> list[tuple[str, str, int]]:
        return [(ruling.verdict, ruling.reason, len(ruling.notices)) for ruling in self.step.rulings]


def test_the_first_occurrence_passes() -> None:
    desk = Desk()
    [admission] = desk.at(0, "boom")
    assert (admission.lane, [notice.event.text for notice in admission.passed], admission.folds) == ("dev", ["boom"], [])
    assert desk.verdicts() == [("pass", "first_in_window", 1)]


def test_repeats_are_counted_onto_the_entry_that_is_still_pending() -> None:
    desk = Desk()
    desk.at(0, "boom")
    [admission] = desk.at(1_000, "boom", "boom", "boom")
    assert admission.passed == []
    [fold] = admission.folds
    assert (fold.fingerprint, fold.count, fold.last_at, fold.severity, fold.texts) == ("boom", 3, 1_000, Severity.WARNING, ())
    assert desk.verdicts() == [("fold", "repeat_in_window", 3)]


def test_repeats_within_one_chunk_are_counted_onto_its_first() -> None:
    [admission] = Desk().at(0, *["boom"] * 10)
    assert len(admission.passed) == 1
    assert [fold.count for fold in admission.folds] == [9]


def test_after_it_was_told_repeats_within_the_window_pass_nobody_on() -> None:
    desk = Desk()
    desk.at(0, "boom")
    desk.told(3_000, "boom")
    assert desk.at(4_000, "boom") == []
    assert desk.verdicts() == [("fold", "repeat_in_window", 1)]


def test_an_episode_ends_after_one_quiet_window() -> None:
    desk = Desk(reminders=())
    desk.at(0, "boom")
    desk.told(0, "boom")
    assert not desk.passes(59_999, "boom")
    assert not desk.passes(59_999 + 59_999, "boom")
    assert desk.passes(59_999 + 59_999 + 60_000, "boom")


def test_two_different_errors_both_pass_whatever_the_time_between_them() -> None:
    desk = Desk()
    assert desk.passes(0, "boom")
    assert desk.passes(0, "bang")
    assert desk.passes(1, "crash")


def test_lanes_do_not_share_episodes() -> None:
    desk = Desk()
    assert desk.passes(0, "boom", lane="dev")
    assert desk.passes(0, "boom", lane="ops")
    assert not desk.passes(1, "boom", lane="dev")


def test_a_chunk_over_several_lanes_admits_each_by_itself() -> None:
    desk = Desk()
    notices = [
        Notice(nth, Event(text="boom"), lane, Severity.WARNING, 0, "boom")
        for nth, lane in enumerate(["dev", "ops", "dev", "ops", "ops"], start=1)
    ]
    step: Step[Admission] = Step()
    desk.stage.offer(notices, 0, step)
    assert [(a.lane, [n.serial for n in a.passed], [f.count for f in a.folds]) for a in step.out] == [
        ("dev", [1], [1]),
        ("ops", [2], [2]),
    ]


# Reminders


def test_reminders_pass_after_1_then_5_then_30_and_30_minutes_with_the_count_since_the_last_one() -> None:
    desk = Desk()
    desk.at(0, "boom")
    desk.told(0, "boom")
    passed = []
    for second in range(10, 70 * 60, 10):
        for admission in desk.at(second * 1000, "boom"):
            passed += [(second, reminder) for reminder in admission.reminders.values()]
            desk.told(second * 1000, "boom")
    assert [second for second, _ in passed] == [60, 60 + 300, 60 + 300 + 1800, 60 + 300 + 1800 + 1800]
    assert [reminder for _, reminder in passed] == [Reminder(6, 0), Reminder(30, 0), Reminder(180, 0), Reminder(180, 0)]


def test_a_reminder_says_so() -> None:
    desk = Desk()
    desk.at(0, "boom")
    desk.told(0, "boom")
    desk.at(30_000, "boom", "boom")
    [admission] = desk.at(60_000, "boom")
    assert desk.verdicts() == [("remind", "still_going_on", 1)]
    assert admission.reminders == {4: Reminder(3, 0)}


def test_the_time_to_a_reminder_counts_from_when_it_was_told() -> None:
    desk = Desk()
    desk.at(0, "boom")
    desk.told(50_000, "boom")
    assert not desk.passes(59_000, "boom")
    assert not desk.passes(100_000, "boom")
    assert not desk.passes(109_999, "boom")
    assert desk.passes(110_000, "boom")


def test_occurrences_that_came_too_late_for_the_block_are_in_the_reminder() -> None:
    desk = Desk()
    desk.at(0, "boom")
    desk.told(1_000, "boom", missed=2)
    desk.stage.missed("dev", [("boom", 3)])
    desk.at(30_000, "boom")
    [admission] = desk.at(61_000, "boom")
    assert list(admission.reminders.values()) == [Reminder(2 + 3 + 1 + 1, 0)]


def test_reminders_may_be_switched_off() -> None:
    desk = Desk(reminders=())
    desk.at(0, "boom")
    desk.told(0, "boom")
    assert not any(desk.passes(second * 1000, "boom") for second in range(10, 7200, 50))


def test_a_new_episode_starts_the_reminders_anew() -> None:
    desk = Desk()
    for start in (0, 10 * MINUTE):
        assert desk.passes(start, "boom")
        desk.told(start, "boom")
        assert not desk.passes(start + 30_000, "boom")
        assert desk.passes(start + MINUTE, "boom")
        desk.told(start + MINUTE, "boom")


def test_a_reminder_that_is_pending_counts_repeats_like_any_other() -> None:
    desk = Desk()
    desk.at(0, "boom")
    desk.told(0, "boom")
    desk.at(30_000, "boom")
    desk.at(60_000, "boom")
    [admission] = desk.at(60_500, "boom", "boom")
    assert [(fold.count, fold.last_at) for fold in admission.folds] == [(2, 60_500)]


# Severity


def test_a_rise_in_severity_is_announced_again() -> None:
    desk = Desk()
    desk.at(0, "boom", severity="warning")
    desk.told(0, "boom")
    desk.at(1_000, "boom", severity="warning")
    [admission] = desk.at(2_000, "boom", severity="error")
    assert desk.verdicts() == [("pass", "severity_rose", 1)]
    assert list(admission.reminders.values()) == [Reminder(2, 0)]


def test_after_a_rise_neither_the_same_nor_a_lower_severity_is_news() -> None:
    desk = Desk()
    desk.at(0, "boom", severity="warning")
    desk.told(0, "boom")
    desk.at(1_000, "boom", severity="error")
    desk.told(1_000, "boom")
    assert not desk.passes(2_000, "boom", severity="error")
    assert not desk.passes(3_000, "boom", severity="warning")
    assert desk.passes(4_000, "boom", severity="critical")


def test_a_rise_on_a_pending_entry_rides_on_the_fold() -> None:
    desk = Desk()
    desk.at(0, "boom", severity="warning")
    [admission] = desk.at(100, "boom", severity="error")
    assert admission.passed == []
    assert [(fold.count, fold.severity) for fold in admission.folds] == [(1, Severity.ERROR)]


# Texts, for the outage gate


def test_texts_of_repeats_that_differ_are_kept_once_each() -> None:
    desk = Desk()
    [admission] = desk.at(0, "boom 1", "boom 2", "boom 1", "boom 3", "boom 2")
    assert [fold.texts for fold in admission.folds] == [("boom 2", "boom 3")]


def test_so_many_texts_are_kept_that_it_is_known_when_there_were_more() -> None:
    desk = Desk()
    [admission] = desk.at(0, *(f"boom {number}" for number in range(40)))
    assert [fold.texts for fold in admission.folds] == [tuple(f"boom {number}" for number in range(1, TEXTS_KEPT + 2))]


# What was never told


def test_what_was_lost_passes_at_its_next_occurrence() -> None:
    desk = Desk()
    desk.at(0, "boom")
    desk.stage.lost("dev", ["boom"])
    assert desk.passes(1, "boom")
    assert desk.verdicts() == [("pass", "first_in_window", 1)]


def test_what_was_lost_as_a_reminder_passes_at_its_next_occurrence() -> None:
    desk = Desk()
    desk.at(0, "boom")
    desk.told(0, "boom")
    desk.at(30_000, "boom")
    assert desk.passes(60_000, "boom")
    desk.stage.lost("dev", ["boom"])
    assert desk.passes(60_001, "boom")


def test_what_is_pending_is_not_forgotten_however_long_it_waits() -> None:
    desk = Desk()
    desk.at(0, "boom")
    [admission] = desk.at(90 * MINUTE, "boom")
    assert admission.passed == []
    assert [fold.count for fold in admission.folds] == [1]


# The other classes


def test_a_persons_words_are_never_folded() -> None:
    desk = Desk()
    for _ in range(3):
        assert desk.passes(0, "stop", traffic="user")
        assert desk.verdicts() == [("pass", "class_is_never_folded", 1)]
        desk.told(0, "stop")


def test_mail_with_the_same_id_passes_once_for_ever() -> None:
    desk = Desk()
    assert desk.passes(0, "m1 report", traffic="mail", id="m1")
    assert desk.at(1, "m1 report", traffic="mail", id="m1") == []  # sent twice is not written twice: nothing is counted
    desk.told(2, "m1")
    assert not desk.passes(24 * 60 * MINUTE, "m1 report", traffic="mail", id="m1")
    assert desk.verdicts() == [("fold", "same_id_again", 1)]


@pytest.mark.parametrize("key", ["", "topic"])
def test_mail_without_an_id_is_never_folded(key: str) -> None:
    desk = Desk()
    assert desk.passes(0, "report", traffic="mail", key=key)
    desk.told(0, "report")
    assert desk.passes(1, "report", traffic="mail", key=key)


def test_mail_that_was_lost_passes_again_with_the_same_id() -> None:
    desk = Desk()
    desk.at(0, "m1 report", traffic="mail", id="m1")
    desk.stage.lost("dev", ["m1"])
    assert desk.passes(1, "m1 report", traffic="mail", id="m1")


def test_an_answer_with_the_same_coordinate_passes_once_for_ever() -> None:
    desk = Desk()
    assert desk.passes(0, "q7 yes", traffic="return", key="q7")
    desk.told(0, "q7")
    assert not desk.passes(24 * 60 * MINUTE, "q7 yes", traffic="return", key="q7")


def test_an_answer_without_a_coordinate_is_never_folded() -> None:
    desk = Desk()
    assert desk.passes(0, "yes", traffic="return")
    assert desk.passes(0, "yes", traffic="return")


# Bounds and switches


def test_a_window_of_0_turns_dedup_off_for_events_only() -> None:
    desk = Desk(window=0)
    assert all(desk.passes(0, "boom") for _ in range(3))
    assert desk.passes(0, "quiet", traffic="notice")
    assert not desk.passes(0, "quiet", traffic="notice")


def test_beyond_the_bound_the_least_recently_seen_episode_is_forgotten() -> None:
    desk = Desk(max_episodes=3)
    for nth, text in enumerate(["a", "b", "c"]):
        desk.at(nth, text)
        desk.told(nth, text)
    desk.at(10, "a")  # seen again: now b is the oldest
    desk.at(11, "d")
    assert not desk.passes(12, "a")
    assert not desk.passes(13, "c")
    assert desk.passes(14, "b")


def test_a_closed_lane_is_forgotten() -> None:
    desk = Desk()
    desk.at(0, "boom")
    desk.told(0, "boom")
    desk.stage.close("dev")
    assert desk.passes(1, "boom")


def test_news_of_a_lane_that_is_gone_changes_nothing() -> None:
    desk = Desk(max_episodes=2)
    desk.told(0, "boom", lane="gone")
    desk.stage.missed("gone", [("boom", 1)])
    desk.stage.lost("gone", ["boom"])
    desk.stage.notices_lost("gone", [1])
    desk.stage.notices_told("gone", [1], 0, desk.step)
    assert desk.stage.rearm("gone", "boom", "", desk.step) is False
    desk.at(0, "a", "b")
    assert not desk.passes(1, "a")
    assert not desk.passes(1, "b")


def test_what_was_decided_before_a_fault_is_handed_over() -> None:
    def broken() -> object:
        yield Notice(1, Event(text="a"), "dev", Severity.WARNING, 0, "a")
        yield Notice(2, Event(text="a"), "dev", Severity.WARNING, 0, "a")
        raise ValueError("the batch broke")

    desk, step = Desk(), Step[Admission]()
    with pytest.raises(ValueError, match="the batch broke"):
        desk.stage.offer(broken(), 0, step)
    assert [([n.serial for n in a.passed], [f.count for f in a.folds]) for a in step.out] == [([1], [1])]

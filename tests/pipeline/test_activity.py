"""Activity: the best evidence there is says whether a recipient is in the middle of something."""

import pytest

from tocsin.contracts.signals import (
    DialogClosed,
    DialogOpened,
    DraftEnded,
    DraftStarted,
    LaneFact,
    Output,
    Paused,
    RecipientDied,
    RecipientRevived,
    Resumed,
    ScreenReleased,
    ScreenTaken,
    ToolClosed,
    ToolOpened,
    TurnEnded,
    TurnStarted,
    WaitEnded,
    WaitStarted,
)
from tocsin.pipeline.activity import Evidence, Recipient, Timing


def after(*facts: tuple[int, LaneFact]) -> Recipient:
    recipient = Recipient(Timing())
    for now, fact in facts:
        recipient.observe(fact, now)
    return recipient


def wrote(now: int, size: int) -> tuple[int, LaneFact]:
    return now, Output(lane="dev", size=size)


def test_a_recipient_that_nothing_is_known_of_is_idle() -> None:
    assert Recipient(Timing()).evidence(0) is Evidence.NONE
    assert Recipient(Timing()).word(0) == "idle"


@pytest.mark.parametrize(("size", "evidence"), [(9, Evidence.NONE), (10, Evidence.BYTES), (5_000, Evidence.BYTES)])
def test_ten_bytes_of_output_are_activity(size: int, evidence: Evidence) -> None:
    assert after(wrote(1_000, size)).evidence(1_000) is evidence


def test_bytes_add_up_while_it_is_not_idle() -> None:
    assert after(wrote(1_000, 5), wrote(2_000, 5)).evidence(2_000) is Evidence.BYTES


def test_bytes_before_an_idle_moment_do_not_count() -> None:
    assert after(wrote(1_000, 5), wrote(3_000, 5)).evidence(3_000) is Evidence.NONE
    assert after(wrote(1_000, 50), wrote(3_000, 5)).evidence(3_000) is Evidence.NONE


def test_two_seconds_of_silence_make_it_idle() -> None:
    recipient = after(wrote(1_000, 50))
    assert recipient.evidence(2_999) is Evidence.BYTES
    assert recipient.evidence(3_000) is Evidence.NONE
    assert recipient.idle_at() == 3_000


def test_every_output_begins_the_silence_anew() -> None:
    recipient = after(wrote(1_000, 50), wrote(2_500, 1))
    assert recipient.evidence(4_499) is Evidence.BYTES
    assert recipient.idle_at() == 4_500


def test_a_turn_is_activity_until_it_ends() -> None:
    recipient = after((0, TurnStarted(lane="dev")))
    assert recipient.evidence(10_000_000) is Evidence.TURN
    recipient.observe(TurnEnded(lane="dev"), 10_000_000)
    assert recipient.evidence(10_000_000) is Evidence.NONE


def test_once_a_session_sends_turns_bytes_prove_nothing() -> None:
    recipient = after((0, TurnStarted(lane="dev")), (10, TurnEnded(lane="dev")), wrote(20, 5_000))
    assert recipient.evidence(20) is Evidence.NONE


def test_the_end_of_a_turn_is_as_good_a_proof_that_a_session_sends_turns() -> None:
    assert after((0, TurnEnded(lane="dev")), wrote(20, 5_000)).evidence(20) is Evidence.NONE


def test_bytes_defer_for_five_idle_periods_and_turns_for_half_an_hour() -> None:
    recipient = Recipient(Timing())
    assert recipient.limit(Evidence.BYTES) == 10_000
    assert recipient.limit(Evidence.TURN) == 1_800_000


PAIRS = [
    (DraftStarted, DraftEnded, "draft"),
    (DialogOpened, DialogClosed, "dialog"),
    (ScreenTaken, ScreenReleased, "screen"),
    (ToolOpened, ToolClosed, "tool"),
    (WaitStarted, WaitEnded, "waiting"),
    (Paused, Resumed, "paused"),
]


@pytest.mark.parametrize(("begins", "ends", "word"), PAIRS, ids=[word for _, _, word in PAIRS])
def test_each_obstacle_begins_and_ends_by_its_own_signals(begins: type, ends: type, word: str) -> None:
    recipient = after((0, begins(lane="dev")))
    assert recipient.word(0) == word
    for other_begins, other_ends, other in PAIRS:
        if other != word:
            recipient.observe(other_begins(lane="dev"), 1)
            recipient.observe(other_ends(lane="dev"), 1)
    assert recipient.word(1) == word
    recipient.observe(ends(lane="dev"), 2)
    assert recipient.word(2) == "idle"


def test_the_hardest_obstacle_is_the_one_that_is_named() -> None:
    recipient = after((0, TurnStarted(lane="dev")))
    words = [recipient.word(0)]
    for fact in (Paused, WaitStarted, ToolOpened, ScreenTaken, DraftStarted, DialogOpened, RecipientDied):
        recipient.observe(fact(lane="dev"), 0)
        words.append(recipient.word(0))
    assert words == ["turn", "paused", "waiting", "tool", "screen", "draft", "dialog", "dead"]


def test_a_revived_recipient_has_left_behind_what_the_dead_one_was_in() -> None:
    begun = (TurnStarted, WaitStarted, ToolOpened, ScreenTaken, DraftStarted, DialogOpened)
    facts = (*begun, RecipientDied, RecipientRevived)
    assert after(*((0, fact(lane="dev")) for fact in facts)).word(0) == "idle"


def test_a_pause_is_the_persons_and_outlives_the_recipient() -> None:
    facts = (Paused, RecipientDied, RecipientRevived)
    assert after(*((0, fact(lane="dev")) for fact in facts)).word(0) == "paused"

"""Record: every decision is counted for ever and shown for a while; what nobody could be told of stays to be fed again."""

from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.events import Event
from tocsin.contracts.notices import Notice
from tocsin.contracts.severity import Severity
from tocsin.contracts.verdicts import DROPS, ENDS, Ruling, Stage, Verdict
from tocsin.pipeline.record import Balance, Policy, Record


def notices(count: int, lane: str = "dev", first: int = 1, fingerprint: str = "a" * 40, **fields: object) -> list[Notice]:
    return [
        Notice(serial, Event(text=f"boom {serial}", **fields), lane, Severity.ERROR, 1_000, fingerprint)
        for serial in range(first, first + count)
    ]


def ruling(stage: Stage, verdict: Verdict, over: list[Notice], reason: str = "why", at: int = 1_000, **more: object) -> Ruling:
    return Ruling(at, stage, verdict, reason, over, **more)


def record(*rulings: Ruling, decisions: int = 10_000, dead_letters: int = 1_000) -> Record:
    made = Record(Policy(decisions=decisions, dead_letters=dead_letters), "7f")
    made.take(rulings)
    return made


def test_a_decision_says_who_what_where_why_and_until_when() -> None:
    over = notices(1, first=12)
    [decision] = record(ruling(Stage.HOLD, Verdict.HOLD, over, "scope_in_outage", at=5_000, until=8_000, note="n")).decisions()
    assert (decision.at, decision.lane, decision.id, decision.fingerprint) == (5_000, "dev", "7f-12", "a" * 40)
    assert (decision.stage, decision.verdict, decision.reason, decision.until, decision.note) == (
        "hold", "hold", "scope_in_outage", 8_000, "n",
    )  # fmt: skip


def test_a_ruling_over_many_is_one_decision_for_each() -> None:
    made = record(ruling(Stage.DEDUP, Verdict.FOLD, notices(3)))
    assert [decision.id for decision in made.decisions()] == ["7f-1", "7f-2", "7f-3"]


def test_what_was_fed_is_what_was_classified_and_what_was_shed() -> None:
    made = record(
        ruling(Stage.CLASSIFY, Verdict.PASS, notices(5)),
        ruling(Stage.CLASSIFY, Verdict.REFUSE, notices(1, first=6)),
        ruling(Stage.INTAKE, Verdict.SHED, notices(2, first=0)),
        ruling(Stage.DEDUP, Verdict.FOLD, notices(2, first=2)),
        ruling(Stage.FANOUT, Verdict.DELIVER, notices(1)),
    )
    assert made.balance() == Balance(8, 1, 2, {"shed": 2, "refuse": 1})
    assert made.balance().pending == 8 - 1 - 2 - 3


def test_verdicts_on_the_way_end_nothing() -> None:
    over = notices(1)
    made = record(ruling(Stage.CLASSIFY, Verdict.PASS, over))
    for verdict in set(Verdict) - set(ENDS):
        made.take([ruling(Stage.THROTTLE, verdict, over)])
    assert made.balance() == Balance(1, 0, 0, {})


def test_every_drop_ends_a_notice_by_its_name() -> None:
    for verdict in DROPS:
        made = record(ruling(Stage.CLASSIFY, Verdict.PASS, notices(1)), ruling(Stage.THROTTLE, verdict, notices(1)))
        assert made.balance().dropped == {str(verdict): 1}
        # A notice that is shed never came to be classified, so it counts as fed where it is shed.
        assert made.balance().pending == (1 if verdict is Verdict.SHED else 0)


def test_every_kind_of_decision_is_counted() -> None:
    made = record(
        ruling(Stage.DEDUP, Verdict.FOLD, notices(3), "repeat"),
        ruling(Stage.DEDUP, Verdict.FOLD, notices(2), "repeat"),
        ruling(Stage.DEDUP, Verdict.FOLD, notices(1), "same_id"),
    )
    assert made.counts() == {("dedup", "fold", "repeat"): 5, ("dedup", "fold", "same_id"): 1}


def test_what_ended_untold_is_counted_by_its_source() -> None:
    made = record(
        ruling(Stage.THROTTLE, Verdict.EVICT, notices(2, source="browser_js")),
        ruling(Stage.HOLD, Verdict.DROP_CASCADE, notices(1, source="browser_js")),
        ruling(Stage.INTAKE, Verdict.SHED, notices(3, source="http_5xx")),
        ruling(Stage.DEDUP, Verdict.FOLD, notices(5, source="http_5xx")),
        ruling(Stage.FANOUT, Verdict.DELIVER, notices(1, source="hook")),
    )
    assert made.untold() == {"browser_js": 3, "http_5xx": 3}


def test_each_lane_knows_what_became_of_its_notices() -> None:
    made = record(
        ruling(Stage.FANOUT, Verdict.DELIVER, [*notices(2), *notices(1, "ops", 3)]),
        ruling(Stage.THROTTLE, Verdict.EVICT, notices(1, first=4)),
    )
    assert made.lanes() == {"dev": {"deliver": 2, "evict": 1}, "ops": {"deliver": 1}}


# What can be shown


def test_the_last_decisions_are_kept_and_the_counts_of_all() -> None:
    made = record(*(ruling(Stage.DEDUP, Verdict.PASS, notices(1, first=n)) for n in range(100)), decisions=10)
    assert [decision.id for decision in made.decisions()] == [f"7f-{n}" for n in range(90, 100)]
    assert made.counts() == {("dedup", "pass", "why"): 100}


def test_a_ruling_is_kept_whole_so_it_may_be_somewhat_more() -> None:
    made = record(ruling(Stage.DEDUP, Verdict.FOLD, notices(8)), ruling(Stage.DEDUP, Verdict.FOLD, notices(8)), decisions=10)
    assert len(list(made.decisions())) == 16
    made.take([ruling(Stage.DEDUP, Verdict.FOLD, notices(2))])
    assert len(list(made.decisions())) == 10


def test_a_cursor_shows_each_decision_once() -> None:
    made = record(ruling(Stage.DEDUP, Verdict.PASS, notices(2)))
    first, cursor = made.decisions_after(0)
    made.take([ruling(Stage.DEDUP, Verdict.PASS, notices(1, first=3))])
    second, cursor = made.decisions_after(cursor)
    assert [decision.id for decision in first] == ["7f-1", "7f-2"]
    assert [decision.id for decision in second] == ["7f-3"]
    assert made.decisions_after(cursor) == ([], cursor)


def test_a_cursor_behind_what_is_remembered_shows_all_that_is() -> None:
    made = record(*(ruling(Stage.DEDUP, Verdict.PASS, notices(1, first=n)) for n in range(100)), decisions=10)
    shown, cursor = made.decisions_after(3)
    assert ([decision.id for decision in shown], cursor) == ([f"7f-{n}" for n in range(90, 100)], 100)


def test_a_notice_tells_its_whole_story_by_its_id() -> None:
    over = notices(1, first=7)
    made = record(
        ruling(Stage.CLASSIFY, Verdict.PASS, [*notices(1), *over]),
        ruling(Stage.DEDUP, Verdict.PASS, over),
        ruling(Stage.FANOUT, Verdict.DELIVER, over),
    )
    assert [decision.verdict for decision in made.explain("7f-7")] == ["pass", "pass", "deliver"]
    assert made.explain("7f-8") == []


def test_a_producers_own_id_is_the_one_to_ask_for() -> None:
    made = record(ruling(Stage.FANOUT, Verdict.DELIVER, notices(1, traffic="mail", id="m1")))
    assert [decision.id for decision in made.explain("m1")] == ["m1"]


def test_a_fingerprint_tells_the_story_of_all_that_share_it() -> None:
    made = record(
        ruling(Stage.DEDUP, Verdict.PASS, notices(2, fingerprint="abcdef0123" + "0" * 30)),
        ruling(Stage.DEDUP, Verdict.PASS, notices(1, first=3, fingerprint="abcdef9999" + "0" * 30)),
    )
    assert [decision.id for decision in made.explain("abcdef0123")] == ["7f-1", "7f-2"]
    assert [decision.id for decision in made.explain("abcdef01")] == ["7f-1", "7f-2"]
    assert made.explain("abcdef0") == []


# Dead letters


def test_what_could_not_be_told_can_be_seen_and_fed_again() -> None:
    [over] = notices(1, traffic="user")
    made = record(ruling(Stage.FANOUT, Verdict.DEAD_LETTER, [over], "sink_gone", note="the lane was closed"))
    [letter] = made.dead_letters
    assert letter.notice is over
    assert (letter.decision.reason, letter.decision.note) == ("sink_gone", "the lane was closed")


def test_of_dead_letters_the_oldest_goes_first() -> None:
    made = record(ruling(Stage.FANOUT, Verdict.DEAD_LETTER, notices(5)), dead_letters=3)
    assert [letter.decision.id for letter in made.dead_letters] == ["7f-3", "7f-4", "7f-5"]


@given(st.lists(st.tuples(st.sampled_from(ENDS[:2] + DROPS), st.integers(1, 20)), max_size=30), st.integers(0, 50))
def test_the_balance_balances(ends: list[tuple[Verdict, int]], pending: int) -> None:
    made, fed = record(), pending
    for verdict, count in ends:
        made.take([ruling(Stage.THROTTLE, verdict, notices(count))])
        fed += 0 if verdict is Verdict.SHED else count
    made.take([ruling(Stage.CLASSIFY, Verdict.PASS, notices(fed))] if fed else [])
    balance = made.balance()
    assert balance.pending == pending
    assert balance.fed == balance.delivered + balance.folded + sum(balance.dropped.values()) + pending

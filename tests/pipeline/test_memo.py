"""The memo: it saves work, and no result ever shows that it is there."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.pipeline import memo as memo_module
from tocsin.pipeline.identity import fingerprint
from tocsin.pipeline.memo import CHARACTERS, GENERATION, LONGEST, REST, WINDOW, Memo, Statistics

LEVELS = ("strict", "standard", "loose")
TEXTS = st.lists(
    st.sampled_from(
        ["", " ", "a", "A", "a ", "\x1b[31ma", "10:00:01 a", "10:00:02 a", "10:00:01 10:00:02 a", "a:1:2", "a:3:4",
         "a:3:4:5", "\ud800",
         "a.py:12", "e\u0301", "é", "İ", "x" * 50, "(x3)", "took 12ms", "took 13ms", "[12:00:01]", "10:00:01", "\0",
         "\x01", "a\0b"]
    )
    | st.text(max_size=6),
    max_size=12,
)  # fmt: skip


def plain(source, scope, texts, level="standard"):
    return [fingerprint(source, scope, text, level) for text in texts]


@pytest.fixture
def small(monkeypatch):
    """The same memo, with sizes that a short test reaches."""
    for name, size in {"GENERATION": 6, "CHARACTERS": 60, "LONGEST": 40, "WINDOW": 8, "REST": 24}.items():
        monkeypatch.setattr(memo_module, name, size)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("level", LEVELS)
def test_a_memo_never_changes_a_result(level):
    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(["a", "b", "\0"]), st.sampled_from(["", "s"]), TEXTS), max_size=20))
    def holds(batches):
        memo = Memo(level)
        for source, scope, texts in batches:
            assert memo.prints(source, scope, texts) == plain(source, scope, texts, level)
            assert memo.statistics.entries <= 12

    holds()


def test_what_was_seen_is_looked_up():
    memo = Memo()
    memo.prints("a", "b", ["one", "two", "one"])
    assert memo.statistics == Statistics(hits=1, misses=2, skipped=0, mode="raw", entries=2)
    memo.prints("a", "b", ["two", "one"])
    assert memo.statistics == Statistics(hits=3, misses=2, skipped=0, mode="raw", entries=2)


def test_one_text_of_two_sources_or_scopes_is_two():
    memo = Memo()
    prints = [memo.prints(source, scope, ["m"])[0] for source, scope in (("a", "b"), ("a", "c"), ("b", "b"), ("ab", ""))]
    assert prints == [
        fingerprint("a", "b", "m"),
        fingerprint("a", "c", "m"),
        fingerprint("b", "b", "m"),
        fingerprint("ab", "", "m"),
    ]
    assert memo.statistics.hits == 0


def test_equal_texts_keep_it_looking_by_the_text():
    memo = Memo()
    for _ in range(20):
        memo.prints("a", "b", [f"line {number}" for number in range(1_000)])
    assert memo.statistics == Statistics(hits=19_000, misses=1_000, skipped=0, mode="raw", entries=1_000)


def test_a_changing_time_stamp_makes_it_look_by_the_core():
    memo = Memo()
    texts = [
        f"12:{number // 60 % 60:02}:{number % 60:02}.{number:06} db down at a.py:{number}:1" for number in range(2 * WINDOW)
    ]
    assert memo.prints("a", "b", texts[:WINDOW]) == plain("a", "b", texts[:WINDOW])
    assert memo.statistics.mode == "core"
    assert memo.prints("a", "b", texts[WINDOW:]) == plain("a", "b", texts[WINDOW:])
    assert memo.statistics == Statistics(hits=WINDOW - 1, misses=WINDOW + 1, skipped=0, mode="core", entries=1)


def test_distinct_texts_make_it_stop_looking_and_try_again_now_and_then():
    memo = Memo("strict")
    modes, seen = [], iter(range(10**9))
    for _ in range((WINDOW + REST) // 512):
        memo.prints("a", "b", [f"text {next(seen)} of many" for _ in range(512)])
        if modes[-1:] != [memo.statistics.mode]:
            modes.append(memo.statistics.mode)
    assert modes == ["raw", "core", "off", "raw"]
    assert memo.statistics.hits == 0
    assert memo.statistics.skipped == REST - WINDOW


@pytest.mark.parametrize(("known", "mode"), [(0.3, "core"), (0.5, "raw")])
def test_below_four_hits_in_ten_looking_does_not_pay(known, mode):
    memo = Memo("strict")
    for start in range(0, WINDOW, 512):
        memo.prints("a", "b", [f"known {number}" if number < known * 512 else f"new {start + number}" for number in range(512)])
    assert memo.statistics.mode == mode


def test_it_finds_back_when_texts_repeat_again():
    memo = Memo("strict")
    for start in range(0, 2 * WINDOW, 512):
        memo.prints("a", "b", [f"text {start + number}" for number in range(512)])
    assert memo.statistics.mode == "off"
    for _ in range(REST // 512):
        memo.prints("a", "b", ["again"] * 512)
    hits = memo.statistics.hits
    memo.prints("a", "b", ["again"] * 512)
    assert memo.statistics.mode == "raw"
    assert memo.statistics.hits == hits + 512


def test_it_forgets_by_generations_and_keeps_what_is_used():
    memo = Memo("strict")
    for number in range(GENERATION):
        memo.prints("a", "b", [f"old {number}", "used", "used"])
    before = memo.statistics
    assert before.mode == "raw"
    for number in range(GENERATION):
        memo.prints("a", "b", [f"new {number}", "used", "used"])
        assert memo.statistics.entries <= 2 * GENERATION
    after = memo.statistics
    assert after.hits - before.hits == 2 * GENERATION


def test_long_texts_are_not_kept():
    memo = Memo("strict")
    memo.prints("a", "b", ["x" * LONGEST, "y" * (LONGEST + 1)])
    assert memo.statistics.entries == 1


def test_characters_are_bounded_as_well_as_entries():
    memo = Memo("strict")
    for number in range(3 * CHARACTERS // 10_000):
        text = f"{number} ".ljust(10_000, "x")
        memo.prints("a", "b", [text, text])
    assert memo.statistics.entries <= 2 * CHARACTERS // 10_000


def test_the_same_calls_give_the_same_statistics():
    def run():
        memo = Memo()
        for turn in range(40):
            memo.prints("a", "b", [f"line {(turn * number) % 97} {number % (turn + 1)}" for number in range(300)])
        return memo.statistics

    assert run() == run()


def test_no_texts_are_no_prints():
    assert Memo().prints("a", "b", []) == []

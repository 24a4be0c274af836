"""Worlds: made-up traffic depends on its seed alone, and reaches every gate of the line."""

import os
import runpy
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.events import Event
from tocsin.contracts.severity import LEVELS
from tocsin.pipeline.identity import fingerprint
from tocsin.pipeline.record import Policy as RecordPolicy
from tocsin.pipeline.roster import Settings
from tocsin.pipeline.simulate import Burst, Chance, World, burst, burst_events, word, world

stepping = runpy.run_path(str(Path(__file__).parent / "stepping.py"))
Line = stepping["Line"]

SEEDS = range(int(os.environ.get("TOCSIN_SEEDS", "25")))


def test_chance_gives_the_published_numbers_of_its_recipe() -> None:
    chance = Chance(1234567)
    assert [chance.bits() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ], "the test vector that is published with splitmix64"


@given(st.integers(0, 2**64 - 1), st.integers(1, 1_000))
def test_chance_stays_within_what_it_was_asked_for(seed: int, end: int) -> None:
    chance = Chance(seed)
    assert 0 <= chance.below(end) < end
    assert end <= chance.between(end, end + 3) <= end + 3
    assert chance.pick("abc") in "abc"
    assert chance.weighted({"never": 0, "always": 3}) == "always"
    assert chance.happens(1.0)
    assert not chance.happens(0.0)


def test_chance_takes_each_choice_about_as_often_as_its_weight_says() -> None:
    chance = Chance(7)
    taken = Counter(chance.weighted({"a": 1, "b": 3}) for _ in range(40_000))
    assert 9_500 < taken["a"] < 10_500


def test_words_differ_at_every_level_of_the_fingerprint() -> None:
    for level in ("strict", "standard", "loose"):
        assert len({fingerprint("s", "p", word(number), level) for number in range(5_000)}) == 5_000


def test_a_burst_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    plan = Burst(rate=1_000, length=2_000)
    assert burst(plan, 3) == burst(plan, 3) == list(burst_events(plan, 3))
    assert burst(plan, 3) != burst(plan, 4)


def test_a_burst_has_its_rate_its_length_and_its_share_of_duplicates() -> None:
    plan = Burst(rate=5_000, length=4_000, duplicates=0.9, texts=50, to="dev", scope="web", source="browser_js")
    made = burst(plan, 1)
    assert len(made) == plan.count() == 20_000
    assert [at for at, _ in made] == [number * 1_000 // 5_000 for number in range(20_000)]
    counts = Counter(event.text for _, event in made)
    repeated = sum(count for _, count in counts.most_common(50))
    assert 0.89 < repeated / 20_000 < 0.91
    assert len(counts) == 50 + 20_000 - repeated, "every other text is new"
    assert {(event.to, event.scope, event.source, event.traffic) for _, event in made} == {
        ("dev", "web", "browser_js", "event")
    }


def test_a_text_of_a_burst_keeps_its_severity_and_the_mix_is_as_asked() -> None:
    made = burst(Burst(rate=20_000, length=1_000, duplicates=0.5, texts=10, severities={"info": 1, "error": 3}), 1)
    kinds = {(event.text, event.severity) for _, event in made}
    assert len(kinds) == len({text for text, _ in kinds})
    mix = Counter(severity for _, severity in kinds)
    assert set(mix) == {"info", "error"}
    assert 0.7 < mix["error"] / len(kinds) < 0.8


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"rate": 0}, "rate >= 1"),
        ({"length": -1}, "length >= 0"),
        ({"texts": 0}, "texts >= 1"),
        ({"duplicates": 1.5}, "share from 0 to 1, not 1.5"),
        ({"severities": {"awful": 1}}, "info, warning, error, critical"),
        ({"severities": {"info": -1}}, "weights from 0 on"),
        ({"severities": {"info": 0}}, "a weight above 0"),
        ({"severities": {}}, "a weight above 0"),
    ],
)
def test_a_burst_that_makes_no_sense_is_refused_in_words(fields: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Burst(**fields)


@pytest.mark.parametrize("fields", [{"lanes": ()}, {"scopes": ()}, {"length": 0}, {"stories": -1}, {"flood": 0}])
def test_a_world_that_makes_no_sense_is_refused_in_words(fields: dict) -> None:
    with pytest.raises(ValueError, match="a world needs a lane, a scope"):
        World(**fields)


def test_a_world_is_the_same_for_the_same_seed_and_in_order() -> None:
    plan = World()
    assert world(plan, 5) == world(plan, 5)
    assert world(plan, 5) != world(plan, 6)
    moments = [at for at, _ in world(plan, 5)]
    assert moments == sorted(moments)
    assert 0 <= moments[0] <= moments[-1] < plan.length + 200_000


def test_every_event_and_signal_of_a_world_is_as_strict_decoding_wants_it() -> None:
    for seed in SEEDS:
        for _, what in world(World(stories=30), seed):
            assert msgspec.json.decode(msgspec.json.encode(what), type=type(what)) == what
            if isinstance(what, Event):
                assert what.severity in LEVELS


def test_the_worlds_reach_every_gate_and_nearly_every_verdict() -> None:
    tallies: Counter[str] = Counter()
    for seed in range(25):
        with Line(Settings(record=RecordPolicy(decisions=1))) as line:
            line.open("dev", typing=True)
            line.open("ops", "docs")
            line.play(world(World(), seed))
            line.after(400_000)
            assert line.balanced(), line.balance()
            tallies.update({f"{t.stage} {t.verdict} {t.reason}": t.count for t in line.tree.status().tallies})
    expected = """
        classify pass recipient_named, classify refuse recipient_dead, classify refuse no_recipient_and_no_route,
        dedup fold repeat_in_window, dedup fold same_id_again, dedup fold told_and_not_rearmed, dedup remind still_going_on,
        throttle evict pending_cap, throttle clear good_build, throttle clear condition_gone, throttle defer over_budget,
        hold hold scope_in_outage, hold release outage_over, hold release hold_window_over,
        hold drop_cascade cascade_of_an_outage_that_recovered,
        defer defer turn_running, defer defer recipient_writes, defer defer dialog_open, defer defer draft_half_typed,
        defer defer full_screen_program, defer defer lane_paused, defer defer recipient_waits_on_a_human,
        defer overdue still_active_at_the_limit, defer drop_dead recipient_dead, fanout deliver sink_accepted
    """
    missing = [one for one in (part.strip() for part in expected.split(",")) if not tallies[one]]
    assert missing == []

"""`tocsin bench burst`: every event is accounted for, the same seed gives the same story, and it is told in several ways."""

import json
import os
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tocsin.cli.bench_clocks import real, simulated
from tocsin.cli.bench_recipients import KINDS, facts
from tocsin.cli.bench_trial import Box, Counts, Plan, depth, faults
from tocsin.cli.main import main
from tocsin.contracts.base import Millis
from tocsin.contracts.events import Event
from tocsin.contracts.signals import Output, TurnEnded, TurnStarted
from tocsin.contracts.status import LaneStatus, Status
from tocsin.pipeline.roster import IntakePolicy, Settings
from tocsin.pipeline.simulate import Burst
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

QUICK = ("--rate", "200", "--length", "3s", "--texts", "30")


@pytest.fixture(autouse=True)
def nobodys_settings(tmp_path, monkeypatch):
    """No configuration but the test's own."""
    for name in [name for name in os.environ if name.startswith("TOCSIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)


def silent(_):
    """Progress that nobody watches."""


def command(*arguments, code=0):
    with pytest.raises(SystemExit) as ended:
        main(["bench", "burst", *map(str, arguments)])
    assert ended.value.code == code


def told(capsys, *arguments, code=0):
    command(*arguments, code=code)
    return capsys.readouterr()


def data(capsys, *arguments):
    return json.loads(told(capsys, *arguments, "--json").out)


def ends(total):
    return sum(total[name] for name in ("told", "folded", "evicted", "shed", "dropped", "pending"))


# Accounts


plans = some.builds(
    Plan,
    burst=some.builds(
        Burst,
        rate=some.integers(1, 400),
        length=some.integers(0, 4_000),
        duplicates=some.floats(0, 1),
        texts=some.integers(1, 80),
    ),
    recipient=some.sampled_from(KINDS),
    lanes=some.integers(1, 4),
    outages=some.sampled_from([(), ((500, 1_500),), ((0, 100), (1_000, 9_000))]),
    settings=some.builds(Settings, throttle=some.builds(ThrottlePolicy, max_pending=some.integers(1, 20))),
    seed=some.integers(0, 2**64),
    tail=some.sampled_from([0, 1_000, 86_400_000]),
)


@settings(deadline=None, max_examples=60)
@given(plan=plans)
def test_every_event_is_accounted_for_whatever_is_tried(plan):
    outcome = simulated(plan, silent)
    total = outcome.total
    assert outcome.faults == ()
    assert total.offered == plan.burst.count()
    ended = total.told + total.folded + total.evicted + total.shed + total.dropped
    assert total.offered + outcome.own == ended + outcome.pending
    assert len(outcome.waits) == total.told == sum(notices for _, notices in outcome.blocks)
    assert len(outcome.blocks) == total.blocks


@settings(deadline=None, max_examples=20)
@given(plan=plans)
def test_the_steps_add_up_to_the_whole(plan):
    outcome = simulated(plan, silent)
    steps = [step for _, step in outcome.steps()]
    for name in Counts.__struct_fields__:
        assert sum(getattr(step, name) for step in steps) == getattr(outcome.total, name)
    moments = [sample.after for sample in outcome.samples]
    assert moments == sorted(set(moments))


def a_status(**changes):
    lanes = (LaneStatus(name="agent", depth=2),)
    whole = {
        "at": 0, "fed": 10, "delivered": 3, "folded": 4, "dropped": {"evict": 1}, "pending": 2, "at_the_door": 0,
        "lanes": lanes, "scopes": {}, "tallies": (), "untold": {}, "dead_letters": 0,
        "restarts": 0,
    }  # fmt: skip
    return Status(**{**whole, **changes})


def a_box(entries=3):
    box = Box()
    box.entries = entries
    return box


CAME = " that came in"
GOOD = Counts(offered=10, told=3, folded=4, evicted=1)


def test_counts_that_come_out_even_are_no_fault():
    assert faults(a_status(), GOOD, a_box(), ("agent",)) == ()


def test_what_still_waits_at_the_door_counts_as_pending():
    total = msgspec.structs.replace(GOOD, offered=13)
    assert depth(a_status(at_the_door=3)) == 5
    assert faults(a_status(at_the_door=3), total, a_box(), ("agent",)) == ()


@pytest.mark.parametrize(
    ("status", "total", "box", "text"),
    [
        (a_status(lanes=(LaneStatus(name="agent", depth=1),)), GOOD, a_box(), "8 ended and 1 pending are not the 10" + CAME),
        (a_status(), Counts(offered=10, told=3, folded=3, evicted=1), a_box(), "7 ended and 2 pending are not the 10" + CAME),
        (a_status(), GOOD, a_box(entries=2), "recipients have 2 entries, the line says that it told 3"),
        (a_status(), Counts(offered=11, told=3, folded=4, evicted=1), a_box(), "11 events were offered, and 10 came in"),
    ],
)  # fmt: skip
def test_counts_that_do_not_come_out_even_are_said(status, total, box, text):
    assert faults(status, total, box, ("agent",)) == (text,)


def test_a_burst_that_does_not_balance_ends_with_code_7(capsys, monkeypatch):
    monkeypatch.setattr("tocsin.cli.bench_clocks.faults", lambda *_: ("one is missing",))
    assert "DOES NOT BALANCE: one is missing" in told(capsys, *QUICK, code=7).out


def test_the_balance_is_said_in_the_words_of_the_table(capsys):
    out = told(capsys, "--rate", 10, "--length", "1s", "--duplicates", 0).out
    assert "10 offered = 10 told + 0 folded + 0 pending, exactly" in out


# Time


def test_the_same_seed_tells_the_same_story(capsys):
    one, two = (data(capsys, *QUICK, "--recipient", "chatty", "--seed", 5) for _ in range(2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_another_seed_gives_other_events_and_another_recipient():
    one, two = (Plan(burst=Burst(rate=50), recipient="chatty", seed=seed).items() for seed in (5, 6))
    one, two = list(one), list(two)
    for kind in (Event, Output):
        chosen, other = ([item for item in items if isinstance(item[1], kind)] for items in (one, two))
        assert chosen != other


def test_hours_pass_on_the_simulated_clock(capsys):
    whole = data(capsys, "--rate", 1, "--length", "1h", "--texts", 5)
    assert whole["total"]["offered"] == 3_600
    assert whole["series"][-1]["after"] >= 3_600_000
    assert whole["total"]["blocks"] > 60


def test_each_step_has_the_events_that_came_in_it(capsys):
    series = data(capsys, "--rate", 200, "--length", "10s")["series"]
    assert [step["after"] for step in series[:20]] == list(range(500, 10_001, 500))
    assert [step["offered"] for step in series[:20]] == [100] * 20
    assert sum(step["offered"] for step in series[20:]) == 0


def test_in_real_time_everything_is_told_and_accounted_for():
    quick = Settings(throttle=ThrottlePolicy(window=50, error_window=50))
    plan = Plan(burst=Burst(rate=300, length=300, texts=5, duplicates=1), settings=quick, lanes=2, tail=Millis(60_000))
    outcome = real(plan, silent)
    assert outcome.faults == ()
    assert outcome.total.offered == 90
    assert outcome.pending == 0
    assert outcome.total.told + outcome.total.folded == 90


def test_in_real_time_what_is_too_fast_is_shed_and_accounted_for():
    plan = Plan(burst=Burst(rate=50_000, length=100), settings=Settings(intake=IntakePolicy(limit=10)), tail=Millis(0))
    outcome = real(plan, silent)
    assert outcome.faults == ()
    assert outcome.total.offered == 5_000
    assert outcome.total.shed > 0


def test_when_the_tail_is_over_what_is_pending_is_counted_as_that(capsys):
    total = data(capsys, "--rate", 10, "--length", "1s", "--duplicates", 0, "--severities", "warning=1", "--tail", "0s")[
        "total"
    ]
    assert total["pending"] == 10
    assert total["told"] == 0
    assert ends(total) == 10


# Recipients


def test_an_idle_recipient_signals_nothing():
    assert list(facts("idle", "dev", Millis(10_000), seed=1)) == []


def test_an_active_recipient_writes_until_the_burst_is_over():
    signals = list(facts("active", "dev", Millis(2_000), seed=1))
    assert signals == [(at, Output(lane="dev", size=40)) for at in (0, 500, 1_000, 1_500)]


def test_turns_take_turns_with_pauses_and_the_last_one_ends_with_the_burst():
    signals = list(facts("turns", "dev", Millis(60_000), seed=1))
    assert {type(signal) for _, signal in signals[::2]} == {TurnStarted}
    assert {type(signal) for _, signal in signals[1::2]} == {TurnEnded}
    lengths = [end - begin for (begin, _), (end, _) in zip(signals[::2], signals[1::2], strict=True)]
    assert all(2_000 <= length <= 20_000 for length in lengths[:-1])
    assert signals[-1][0] <= 60_000


def test_a_chatty_recipient_is_silent_in_between():
    moments = [at for at, _ in facts("chatty", "dev", Millis(60_000), seed=1)]
    gaps = {later - earlier for earlier, later in pairwise(moments)}
    assert 200 in gaps
    assert max(gaps) > 500
    assert moments[-1] < 60_000


def test_nothing_is_told_while_a_recipient_is_active(capsys):
    series = data(capsys, *QUICK, "--recipient", "active")["series"]
    assert all(step["told"] == 0 for step in series if step["after"] <= 3_000)
    assert sum(step["told"] for step in series) > 0
    assert sum(step["deferred"] for step in series) > 0


def test_an_idle_recipient_defers_nothing(capsys):
    assert data(capsys, *QUICK)["total"]["deferred"] == 0


def test_an_outage_holds_what_comes_meanwhile(capsys):
    calm = data(capsys, *QUICK)["total"]
    outage = data(capsys, *QUICK, "--outage", "500ms-2s")["total"]
    assert (calm["held"], outage["held"] > 0) == (0, True)


def test_each_block_is_told_with_its_moment_and_its_size(capsys):
    whole = data(capsys, "--rate", 4, "--length", "1s", "--duplicates", 0, "--severities", "warning=1")
    assert whole["blocks"] == [{"after": 3_000, "notices": 4}]


def test_events_are_shared_out_among_recipients(capsys):
    whole = data(capsys, "--rate", 9, "--length", "1s", "--duplicates", 0, "--lanes", 3)
    assert whole["total"]["told"] == 9
    assert whole["total"]["blocks"] >= 3


# Settings


def test_a_setting_is_obeyed(capsys):
    series = data(capsys, *QUICK, "--set", "throttle.max_pending=5")["series"]
    assert max(step["pending"] for step in series) == 5


def test_settings_come_from_a_file_and_a_flag_wins(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[throttle]\nmax_pending = 7\n[fingerprint]\nlevel = "loose"\n[[classify.routes]]\nto = ["agent"]\n')
    whole = data(capsys, *QUICK, "--config", file, "--set", "throttle.max_pending=9")
    assert whole["settings"]["throttle"]["max_pending"] == 9
    assert whole["settings"]["fingerprint"]["level"] == "loose"
    assert whole["settings"]["classify"]["routes"] == [{"to": ["agent"], "source": "*", "scope": "*"}]


def test_the_settings_that_hold_here_are_the_start(capsys, tmp_path):
    (tmp_path / ".tocsin.toml").write_text("[throttle]\nmax_pending = 4\n")
    assert data(capsys, *QUICK)["settings"]["throttle"]["max_pending"] == 4

"""`tocsin bench burst`: every event is accounted for, the same seed gives the same story, and it is told in several ways."""

import json
import os
import pty
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import click
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tocsin.cli.bench_clocks import real, simulated
from tocsin.cli.bench_recipients import KINDS, facts
from tocsin.cli.bench_trial import Box, Counts, Plan, depth, faults
from tocsin.cli.bench_values import DURATION, SHARES, SPAN, compared, flags_of
from tocsin.cli.main import main
from tocsin.contracts.base import Millis
from tocsin.contracts.errors import BadInput
from tocsin.contracts.events import Event
from tocsin.contracts.signals import Output, TurnEnded, TurnStarted
from tocsin.contracts.status import LaneStatus, Status
from tocsin.pipeline.roster import IntakePolicy, Settings
from tocsin.pipeline.simulate import Burst
from tocsin.pipeline.throttle import Policy as ThrottlePolicy

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
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


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--set", "dedup.windw=1"), "did you mean dedup.window?"),
        (("--set", "dedup.window=soon"), "dedup.window: Expected `int`"),
        (("--set", "dedup.window"), "is no KEY=VALUE"),
        (("--length", "10"), "is no length of time"),
        (("--length", "soon"), "is no length of time"),
        (("--rate", "0"), "0 is not in the range"),
        (("--duplicates", "1.5"), "1.5 is not in the range"),
        (("--severities", "bad=1"), "'bad=1' is no share of a severity"),
        (("--severities", "error=0"), "some share has to be above 0"),
        (("--recipient", "asleep"), "'asleep' is not one of"),
        (("--outage", "4s-2s"), "ends before it begins"),
        (("--outage", "4s"), "is no length of time"),
        (("--compare", "dedup.window=1"), "write KEY=A,B with two values or more"),
        (("--compare", "dedup.windw=1,2"), "did you mean dedup.window?"),
        (("--picture", "burst.gif"), "a picture is a .png or an .svg file"),
        (("--config", "absent.toml"), "'absent.toml' does not exist"),
    ],
)
def test_what_is_wrong_is_said_and_ends_with_code_2(capsys, arguments, text):
    assert text in told(capsys, *QUICK, *arguments, code=2).err


def test_a_file_that_is_no_toml_is_named(tmp_path):
    (tmp_path / "bad.toml").write_text("[dedup\n")
    with pytest.raises(BadInput, match=r"bad\.toml: "):
        flags_of(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("text", "millis"),
    [("500ms", 500), ("10s", 10_000), ("1.5s", 1_500), ("2m", 120_000), ("1h", 3_600_000), ("1d", 86_400_000)],
)
def test_lengths_of_time_are_written_with_their_unit(text, millis):
    assert DURATION.convert(text, None, None) == millis


def test_shares_and_spans_are_read_as_written():
    assert SHARES.convert("warning=0.9, error=0.1", None, None) == {"warning": 9_000, "error": 1_000}
    assert SPAN.convert("2s-4.5s", None, None) == (2_000, 4_500)
    with pytest.raises(click.BadParameter):
        SPAN.convert("2s", None, None)


def test_severities_are_shared_out_as_asked(capsys):
    assert data(capsys, *QUICK, "--severities", "info=0.25,error=0.75")["burst"]["severities"] == {
        "info": 2_500,
        "error": 7_500,
    }


# Side by side


def test_a_comma_within_brackets_parts_no_values():
    found = compared("dedup.reminders=[1, 5],[],[2]")
    assert (found.key, found.values) == ("dedup.reminders", ("[1, 5]", "[]", "[2]"))


def test_values_are_compared_on_the_same_burst(capsys):
    whole = data(capsys, *QUICK, "--compare", "throttle.max_pending=2,20")
    assert whole["compared"] == "throttle.max_pending"
    few, many = whole["runs"]
    assert (few["value"], many["value"]) == ("2", "20")
    assert few["burst"] == many["burst"]
    assert few["total"]["told"] < many["total"]["told"]
    assert ends(few["total"]) == ends(many["total"]) == 600


def test_values_stand_side_by_side(capsys):
    lines = told(capsys, *QUICK, "--compare", "throttle.max_pending=2,20").out.splitlines()
    assert lines[2].split() == ["throttle.max_pending", "2", "20"]
    assert lines[3].split() == ["offered", "600", "600"]


# Ways of showing


def test_the_table_has_no_column_for_what_never_happened(capsys):
    head = told(capsys, *QUICK).out.splitlines()[2].split()
    assert head[:5] == ["after", "offered", "told", "blocks", "folded"]
    assert "shed" not in head
    assert "held" not in head


def test_no_plot_where_stdout_is_no_terminal(capsys):
    assert "█" not in told(capsys, *QUICK).out


def test_a_plot_when_it_is_asked_for(capsys):
    out = told(capsys, *QUICK, "--plot").out
    assert "█ told   ▒ folded   ░ suppressed" in out
    assert "pending" in out


@pytest.mark.parametrize(("wanted", "coloured"), [("", False), ("1", True)])
def test_a_plot_is_coloured_only_where_colours_are_wanted(capsys, monkeypatch, wanted, coloured):
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", wanted)
    plot = told(capsys, *QUICK, "--plot").out.partition("█ told")[2]
    assert ("\x1b[" in plot) == coloured


def test_compared_values_are_plotted_with_a_mark_each(capsys):
    assert "told so far:  • 2   + 20" in told(capsys, *QUICK, "--compare", "throttle.max_pending=2,20", "--plot").out


def test_json_is_one_object_and_nothing_else(capsys):
    shown = told(capsys, *QUICK, "--json", "--plot")
    assert shown.out.count("\n") == 1
    assert json.loads(shown.out)["balanced"] is True
    assert shown.err == ""


def test_a_terminal_gets_a_plot_and_progress():
    master, slave = pty.openpty()
    arguments = [sys.executable, "-m", "tocsin", "bench", "burst", "--rate", "10000", "--length", "2s"]
    process = subprocess.Popen(arguments, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 65_536):
            shown += chunk
    except OSError:  # Linux says so when the last program has closed its end
        pass
    os.close(master)
    assert process.wait() == 0
    assert "▒ folded".encode() in shown
    assert b"100%" in shown


@pytest.mark.parametrize(("name", "magic"), [("burst.png", b"\x89PNG\r\n"), ("burst.svg", b"<?xml")])
def test_a_picture_is_written(capsys, tmp_path, name, magic):
    pytest.importorskip("matplotlib", reason="pictures are an extra: pip install 'tocsin[plot]'")
    shown = told(capsys, *QUICK, "--picture", tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert f"wrote {tmp_path / name}" in shown.err


def test_the_same_trial_gives_the_same_picture(capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures are an extra: pip install 'tocsin[plot]'")
    for name in ("one.svg", "two.svg"):
        command(*QUICK, "--compare", "throttle.max_pending=2,20", "--picture", tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)


def test_without_matplotlib_it_says_what_to_install_before_anything_runs():
    hidden = "import sys; sys.modules['matplotlib'] = None; from tocsin.cli.main import main"
    done = python(f"{hidden}; main(['bench', 'burst', '--picture', 'x.png'])")
    assert done.returncode == 6
    assert done.stdout == ""
    assert "pip install 'tocsin[plot]'" in done.stderr


def test_nothing_that_draws_is_imported_unless_something_is_drawn():
    program = "import sys; from tocsin.cli import bench; print(sorted({'plotext', 'matplotlib', 'numpy'} & sys.modules.keys()))"
    assert python(program).stdout == "[]\n"


# The benchmarks in the repository answer in one way; what they measure is asserted nowhere.


@pytest.mark.parametrize(
    "arguments",
    [
        ("bench_actors_chain.py", "--events", "500", "--runs", "1"),
        ("bench_actors_lanes.py", "--events", "500", "--runs", "1", "--lanes", "20"),
        ("bench_actors_latency.py", "--events", "20"),
        ("bench_actors_midburst.py", "--events", "5000"),
        ("bench_cli_start.py", "--rounds", "1"),
        ("bench_pipeline_burst.py", "--events", "2000", "--runs", "1"),
        ("bench_pipeline_flat.py", "--events", "20000"),
        ("bench_pipeline_json.py", "--events", "2000", "--runs", "1"),
    ],
)
def test_a_benchmark_runs_and_answers_in_rows(arguments):
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / arguments[0]), *arguments[1:], "--json"],
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    rows = json.loads(done.stdout)["rows"]
    assert [{"name", "figure", "goal", "reached"} - row.keys() for row in rows] == [set()] * len(rows) != []

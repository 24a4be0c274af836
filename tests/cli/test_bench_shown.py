"""How `tocsin bench burst` is asked and how it answers: values and their mistakes, tables, JSON, plots, pictures."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tocsin.cli.bench_values import DURATION, SHARES, SPAN, compared, flags_of
from tocsin.cli.main import main
from tocsin.contracts.errors import BadInput

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


# What is asked


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

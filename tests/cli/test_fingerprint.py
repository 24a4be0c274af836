"""``tocsin fingerprint``: for people who ask why two messages are one, and for programs that group lines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tocsin.cli.fingerprint import fingerprint as command
from tocsin.pipeline.canonical import canonical
from tocsin.pipeline.identity import fingerprint

FIXTURE = Path(__file__).parent.parent / "fixtures" / "devnoise.jsonl"
PLAIN = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
PROGRAM = [sys.executable, "-c", "from tocsin.cli.fingerprint import fingerprint; fingerprint()"]


def run(*arguments, stdin=None):
    return CliRunner().invoke(command, list(arguments), input=stdin)


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_each_text_has_its_fingerprint_on_a_line():
    told = run("took 12ms", "took 9s", "other")
    same = fingerprint("process_output", "", "took 1ms")
    assert (told.exit_code, told.output.splitlines()) == (0, [same, same, fingerprint("process_output", "", "other")])


def test_source_scope_and_level_count():
    told = run("--source", "browser_js", "--scope", "web", "--level", "strict", "took 12ms")
    assert told.output.strip() == fingerprint("browser_js", "web", "took 12ms", "strict")


def test_explain_names_what_was_replaced_by_which_rule():
    told = run("--explain", "9:41:07 AM \x1b[31merror\x1b[0m in job 12 (x3)")
    assert told.output.splitlines()[1:] == [
        "  canonical: error in job <n>",
        r"  escape-sequence: '\x1b[31m' → ''",
        r"  escape-sequence: '\x1b[0m' → ''",
        "  time-stamp: '9:41:07 AM ' → ''",
        "  numbered: 'job 12' → 'job <n>'",
        "  repeat: '(x3)' → ''",
        "  white-space: ' ' → ''",
    ]


def test_json_says_it_to_programs():
    told = json.loads(run("--json", "--explain", "took 12ms").output)
    assert told == {
        "schema_version": 1,
        "fingerprint": fingerprint("process_output", "", "took 12ms"),
        "fp_version": 1,
        "level": "standard",
        "canonical": "took <span>",
        "replaced": [{"rule": "time-span", "before": "12ms", "after": "<span>"}],
    }
    assert "replaced" not in json.loads(run("--json", "took 12ms").output)


def test_compare_says_same_with_exit_0():
    told = run("--compare", "exit code 1 after 3s", "exit code 1 after 12m")
    print_ = fingerprint("process_output", "", "exit code 1 after 3s")
    assert told.exit_code == 0
    assert told.output.splitlines() == [
        "same",
        f"a: {print_}  exit code 1 after <span>",
        f"b: {print_}  exit code 1 after <span>",
    ]


def test_compare_says_different_with_exit_1_and_shows_where():
    told = run("--compare", "exit code 1 after 3s", "exit code 2 after 3s")
    assert told.exit_code == 1
    assert told.output.splitlines()[0] == "different"
    assert told.output.splitlines()[3] == "they differ at character 11: '1 after <span>' / '2 after <span>'"


def test_compare_explains_both():
    told = run("--compare", "a 3s", "a 4s", "--explain")
    assert told.output.splitlines()[2::2] == ["  time-span: '3s' → '<span>'", "  time-span: '4s' → '<span>'"]


def test_compare_speaks_json():
    told = run("--compare", "a b", "a c", "--json", "--level", "loose")
    content = json.loads(told.output)
    assert (told.exit_code, content["same"], content["first_difference"]) == (1, False, 2)
    assert (content["a"]["canonical"], content["b"]["canonical"]) == ("a b", "a c")
    assert json.loads(run("--compare", "a 1s", "a 2s", "--json").output)["first_difference"] is None


@pytest.mark.parametrize(
    "arguments",
    [(), ("--jsonl", "text"), ("--compare", "a", "b", "c"), ("--jsonl", "--compare", "a", "b"), ("--jsonl", "--explain")],
)
def test_what_does_not_go_together_is_refused(arguments):
    told = run(*arguments, stdin="")
    assert told.exit_code == 2
    assert "Error: " in told.output


def test_help_names_every_option():
    told = run("--help")
    assert told.exit_code == 0
    for option in ("--jsonl", "--level", "strict|standard|loose", "--source", "--scope", "--explain", "--compare", "--json"):
        assert option in told.output


def test_a_lone_surrogate_is_shown_spelt_out():
    told = run("--explain", "a \udcff b")
    assert told.output.splitlines() == [fingerprint("process_output", "", "a \udcff b"), "  canonical: a \\udcff b"]


# JSON lines


def test_json_lines_in_one_fingerprint_a_line_out():
    rows = [json.loads(line) for line in FIXTURE.read_text(encoding="utf-8").splitlines()]
    told = run("--jsonl", stdin=FIXTURE.read_text(encoding="utf-8"))
    assert told.output.splitlines() == [fingerprint(row["source_tag"], "", row["message"]) for row in rows]


def test_lines_without_tag_or_scope_take_those_of_the_options():
    told = run(
        "--jsonl",
        "--source",
        "hook",
        "--scope",
        "ci",
        stdin=lines({"message": "m"}, {"message": "m", "source_tag": "x", "scope": ""}),
    )
    assert told.output.splitlines() == [fingerprint("hook", "ci", "m"), fingerprint("x", "", "m")]


def test_the_level_counts_for_lines():
    told = run("--jsonl", "--level", "loose", stdin=lines({"message": "user 1"}, {"message": "user 2"}))
    assert len(set(told.output.splitlines())) == 1


def test_other_fields_and_empty_lines_are_passed_over():
    told = run("--jsonl", stdin='\n{"group": "g", "message": "m", "n": [1]}\n  \n')
    assert told.output.splitlines() == [fingerprint("process_output", "", "m")]


def test_the_last_line_needs_no_line_feed():
    assert run("--jsonl", stdin='{"message": "m"}').output.splitlines() == [fingerprint("process_output", "", "m")]


def test_an_empty_message_has_the_fingerprint_of_the_rest():
    told = run(
        "--jsonl", stdin=lines({"message": "", "scope": "a"}, {"message": "", "scope": "b"}, {"message": "boom", "scope": "a"})
    )
    assert len(set(told.output.splitlines())) == 3


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ('{"scope": "x"}', "missing required field `message`"),
        ('{"message": null}', "Expected `str`, got `null`"),
        ('{"message": 7}', "Expected `str`, got `int`"),
        ('{"message": "m", "scope": 1}', "got `int`"),
        ("[1]", "Expected `object`, got `array`"),
        ("{nope", "malformed"),
        ('{"message": "cut', "truncated"),
        ("[" * 100_000, "line 3"),
    ],
)
def test_a_bad_line_is_named_and_nothing_before_it_is_lost(bad, why):
    told = run("--jsonl", stdin=lines({"message": "one"}, {"message": "two"}) + bad + "\n" + lines({"message": "never"}))
    assert told.exit_code == 2
    assert told.stdout.splitlines() == [fingerprint("process_output", "", "one"), fingerprint("process_output", "", "two")]
    assert told.stderr.startswith("Error: standard input, line 3: ")
    assert why in told.stderr


def test_a_lone_surrogate_in_a_line_is_no_error():
    told = run("--jsonl", stdin='{"message": "a \\ud800 b"}\n')
    assert told.output.strip() == fingerprint("process_output", "", "a \ud800 b")


def test_lines_can_be_told_as_json():
    told = run("--jsonl", "--json", stdin=lines({"message": "took 1s"}))
    assert json.loads(told.output) == {
        "schema_version": 1,
        "fingerprint": fingerprint("process_output", "", "took 1s"),
        "canonical": canonical("took 1s"),
    }


def test_an_answer_comes_before_the_next_line_is_asked():
    with subprocess.Popen(
        [*PROGRAM, "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=PLAIN
    ) as process:
        for number in range(3):
            process.stdin.write(json.dumps({"message": f"message {number}"}) + "\n")
            process.stdin.flush()
            assert process.stdout.readline().strip() == fingerprint("process_output", "", f"message {number}")
        process.stdin.close()
        assert process.wait() == 0


def test_a_line_that_arrives_in_pieces_is_one_line():
    whole = json.dumps({"message": "é" * 200_000}, ensure_ascii=False) + "\n"
    with subprocess.Popen([*PROGRAM, "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        raw = whole.encode()
        for start in range(0, len(raw), 65_537):
            process.stdin.write(raw[start : start + 65_537])
            process.stdin.flush()
        assert process.stdout.readline().decode().strip() == fingerprint("process_output", "", "é" * 200_000)


def test_many_lines_come_out_in_order():
    rows = [{"message": f"text {number % 700}", "scope": f"s{number % 3}", "source_tag": "hook"} for number in range(30_000)]
    done = subprocess.run([*PROGRAM, "--jsonl"], input=lines(*rows), capture_output=True, text=True, check=True)
    expected = {(row["scope"], row["message"]): fingerprint("hook", row["scope"], row["message"]) for row in rows}
    assert done.stdout.splitlines() == [expected[row["scope"], row["message"]] for row in rows]


def test_a_bad_line_far_down_is_named_by_its_number():
    told = run("--jsonl", stdin=lines(*({"message": "m" * 100} for _ in range(9_000))) + "{}\n")
    assert (told.exit_code, len(told.stdout.splitlines())) == (2, 9_000)
    assert told.stderr.startswith("Error: standard input, line 9001: ")


def test_a_bad_line_ends_a_real_process_with_2():
    done = subprocess.run([*PROGRAM, "--jsonl"], input='{"message": "m"}\n{}\n', capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (2, 1)
    assert "line 2" in done.stderr

"""``tocsin rules``: what it lists, what it shows, and what it says of each line of a log."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tocsin.cli.rules import rules
from tocsin.contracts.errors import BadInput
from tocsin.edges.sources.rules import Catalogue

LOG = """\
2031-05-01 10:00:00,123 ERROR worker: job 17 failed
Traceback (most recent call last):
  File "/srv/app/cart.py", line 10, in total
KeyError: 'price'

GET /error-page 200
10:00:01 INFO app: Error: none of it
[nodemon] restarting due to changes...
"""


def run(*arguments: str, text: str | None = None) -> Result:
    return CliRunner().invoke(rules, arguments, input=text, catch_exceptions=False)


def test_the_list_names_every_rule_in_the_order_in_which_they_are_tried() -> None:
    lines = run("list").output.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [rule.id for rule in Catalogue.load().rules]


def test_a_family_can_be_listed_alone() -> None:
    listed = json.loads(run("list", "--family", "django", "--json").output)["rules"]
    assert {rule["family"] for rule in listed} == {"django"}
    assert {rule["id"] for rule in listed} == {"django-error", "django-unapplied"}


def test_a_family_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(BadInput, match="no family is called nosuch; there are .*python"):
        run("list", "--family", "nosuch")


def test_a_rule_is_shown_with_its_patterns_and_examples() -> None:
    shown = run("show", "port-in-use").output
    assert shown.startswith("port-in-use: A port is taken\n")
    assert "Something is already running on port 3000." in shown
    assert json.loads(run("show", "port-in-use", "--json").output)["category"] == "port"


def test_a_rule_that_is_not_there_is_told() -> None:
    with pytest.raises(BadInput, match="no rule is called nosuch"):
        run("show", "nosuch")


def test_a_log_is_explained_line_by_line() -> None:
    shown = run("test", "-", text=LOG).output
    assert "   1  begins #1 by stated-error" in shown
    assert "taken off: '2031-05-01 10:00:00,123 ERROR worker:'; says error" in shown
    assert "   2  part of #1" in shown
    assert "   4  part of #1" in shown
    assert "   6  –" in shown
    assert "taken off: '10:00:01 INFO app:'; says info; so no rule for errors counts" in shown
    assert "   8  signal RestartRequested by nodemon-restart" in shown
    assert shown.rstrip().endswith("#1 error runtime: KeyError: 'price'  (cart.py in total)")


def test_a_log_is_explained_as_json() -> None:
    told = json.loads(run("test", "-", "--json", text=LOG).output)
    assert [line["part_of"] for line in told["lines"]] == [[1], [1], [1], [1], [], [], [], []]
    assert [line["begins"] for line in told["lines"]] == [True] + [False] * 7
    assert told["lines"][7]["signal"] == {"signal": "restart_requested", "at": "1970-01-01T00:00:00.000Z", "scope": ""}
    assert told["events"]["1"]["frame"] == "cart.py in total"


def test_lines_that_waited_and_do_not_belong_are_explained_on_their_own() -> None:
    told = json.loads(run("test", "-", "--json", text="Error: first\nplain\npanic: second\nmore\n").output)
    assert [line["rule"] for line in told["lines"]] == ["js-error", "", "go-panic", ""]
    assert [line["part_of"] for line in told["lines"]] == [[1], [], [2], []]


def test_rules_of_ones_own_can_be_tried(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('[[rule]]\nid = "sold-out"\nfamily = "shop"\ntitle = "Sold out"\npatterns = ["^SOLD OUT"]\n')
    log = tmp_path / "shop.log"
    log.write_text("SOLD OUT: mugs\n")
    told = json.loads(run("test", str(log), "--rules", str(mine), "--json").output)
    assert told["lines"][0]["rule"] == "sold-out"
    assert "sold-out" in run("list", "--rules", str(mine), "--family", "shop").output


def test_a_bad_file_of_rules_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[[rule]]\nid = "a"\npatterns = 3\n')
    with pytest.raises(BadInput, match=r"mine\.toml:3: a: Expected `array`, got `int`|mine\.toml:1: a: "):
        run("list", "--rules", str(tmp_path / "mine.toml"))


def test_a_failing_test_that_only_the_progress_names_is_among_the_events() -> None:
    told = json.loads(run("test", "-", "--json", text="a.py::test_x FAILED   [ 50%]\n").output)
    assert [event["text"] for event in told["events"].values()] == ["FAILED a.py::test_x"]


DIFF = "@@ -1 +1 @@\n-x\n+y\n"
PROGRESS = f"{DIFF}test t::a ... FAILED\n        FAIL [   0.004s] shop tests::total\n---- t::a stdout ----\nError: bad\n"


def test_each_block_that_begins_is_said_to_be_an_event_or_where_it_is_told() -> None:
    shown = run("test", "-", text=PROGRESS).output
    assert "   5  begins #3 by cargotest-progress" in shown
    assert "\n#4 error test: FAILED t::a: Error: bad\n" in shown
    assert "\n#3 error test: FAILED tests::total\n" in shown
    assert "\n#2 is told as #4\n" in shown
    assert "\n#1 is no news\n" in shown
    told = json.loads(run("test", "-", "--json", text=PROGRESS).output)
    assert (list(told["events"]), told["elsewhere"]) == (["4", "3"], {"1": "", "2": "4"})


def test_a_rule_of_which_nothing_is_news_is_listed_so() -> None:
    [line] = [line for line in run("list").output.splitlines() if line.startswith("diff-hunk ")]
    assert line.split()[2] == "nothing"


def test_a_rule_is_shown_with_the_names_that_its_fields_have_in_a_file() -> None:
    shown = run("show", "good-verdict").output
    assert "\n  level_counts: false\n" in shown
    assert "\n  common: true\n" in shown


def test_a_file_of_rules_that_holds_no_tables_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('# mine\nrule = ["x", 3]\n')
    with pytest.raises(BadInput, match=r"mine\.toml:2: only tables \[\[rule\]\] are known here"):
        run("list", "--rules", str(tmp_path / "mine.toml"))

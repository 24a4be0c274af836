"""The catalogue: its examples are its tests, and files of one's own add to it, override it and disable parts of it."""

import re
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.contracts.errors import BadInput
from tocsin.edges.sources.catalogue_table import FIELDS, table
from tocsin.edges.sources.kinds import KINDS
from tocsin.edges.sources.prefilter import COMMON, Prefilter, lowered
from tocsin.edges.sources.prefix import parse
from tocsin.edges.sources.regex_cost import seen, too_costly
from tocsin.edges.sources.rule import BlockName, Rule
from tocsin.edges.sources.rules import Catalogue

DOCS = Path(__file__).parents[2] / "docs" / "catalogue.md"


@cache
def catalogue() -> Catalogue:
    return Catalogue.load()


RULES = [rule for rule in catalogue().rules if rule.enabled]
MATCHES = [(rule, line) for rule in RULES for line in rule.matches]
IGNORES = [(rule, line) for rule in RULES for line in rule.ignores]
LINES = [line for rule in RULES for line in (*rule.matches, *rule.ignores)]


def named(example: object) -> str:
    return example.id if isinstance(example, Rule) else ""


@pytest.mark.parametrize(("rule", "line"), MATCHES, ids=named)
def test_a_line_that_must_match_is_matched_by_its_rule(rule: Rule, line: str) -> None:
    match = catalogue().match(line)
    assert match is not None
    assert match.rule.id == rule.id


@pytest.mark.parametrize(("rule", "line"), IGNORES, ids=named)
def test_a_line_that_must_not_match_is_no_finding(rule: Rule, line: str) -> None:
    match = catalogue().match(line)
    assert match is None or match.rule.severity == "info"
    assert match is None or match.rule.id != rule.id


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.family != "generic"], ids=named)
def test_a_rule_holds_behind_a_log_prefix(rule: Rule) -> None:
    """But for lines with a prefix of their own, and those whose indentation says what they are."""
    for line in rule.matches:
        own = parse(line)
        if own.service or own.timed or line[0] in " [":
            continue
        for prefix in ("api-1  | ", "2031-05-01T10:00:00.123Z ", "10:00:00 ", "2031-05-01 10:00:00 api-1  | "):
            match = catalogue().match(prefix + line)
            assert match is not None, prefix
            assert match.rule.id == rule.id, prefix


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.family != "generic"], ids=named)
def test_a_line_that_says_it_is_information_is_no_error(rule: Rule) -> None:
    for line in rule.matches:
        match = catalogue().match(f"2031-05-01 10:00:00,123 INFO app: {line}")
        assert match is None or match.rule.severity == "info" or not match.rule.level_counts


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_a_rule_says_what_it_is_and_has_lines_of_both_kinds(rule: Rule) -> None:
    assert rule.title
    assert rule.matches
    assert rule.ignores
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id)


@pytest.mark.parametrize(("rule", "line"), MATCHES, ids=named)
def test_the_literals_of_a_rule_are_in_its_lines(rule: Rule, line: str) -> None:
    low = lowered(line)
    assert any(literal.lower() in low for literal in rule.literals)
    assert not rule.common or any(word in low for word in COMMON)


def test_the_catalogue_is_broad() -> None:
    assert len(RULES) >= 150
    assert len({rule.family for rule in RULES}) >= 30


def test_every_kind_of_block_that_a_rule_can_open_exists_and_is_opened() -> None:
    assert set(KINDS) == set(get_args(BlockName))
    assert {rule.opens for rule in RULES} == set(KINDS)


def test_ids_are_unique_and_priorities_decide() -> None:
    ids = [rule.id for rule in catalogue().rules]
    assert len(ids) == len(set(ids))
    assert [rule.priority for rule in catalogue().rules] == sorted(rule.priority for rule in catalogue().rules)


def test_the_page_of_the_catalogue_says_what_each_field_of_a_rule_means() -> None:
    assert list(FIELDS) == list(Rule.__struct_fields__)
    assert all(f"| `{name}` | {says} |" in table(RULES) for name, says in FIELDS.items())


def test_the_rule_on_the_page_of_the_catalogue_is_a_good_one(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    mine = rules_in(tmp_path, example)
    assert mine.match("SOLD OUT: mugs") is not None
    assert not any(rule.enabled for rule in mine.rules if rule.id == "auth-failure")


def test_what_is_no_news_is_not_said_to_be_an_error() -> None:
    assert "| `diff-hunk` | A part of a unified diff: nothing in it is news | nothing |" in table(RULES)


def test_the_page_of_the_catalogue_is_not_stale() -> None:
    assert DOCS.read_text() == table(catalogue().rules), "python -m tocsin.edges.sources.catalogue_table > docs/catalogue.md"


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=30))
@settings(deadline=None)
def test_the_search_over_a_text_misses_no_line_that_a_rule_matches(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    scan = catalogue().prefilter.scan(text)
    starts, place = set(), 0
    while (place := scan.next(place)) >= 0:
        starts.add(place)
        place = text.index("\n", place) + 1
        if place == len(text):
            break
    place = 0
    for line in lines:
        if catalogue().match(line) is not None:
            assert place in starts
        place += len(line) + 1


@given(st.lists(st.text("abcx \n", max_size=30), max_size=5).map("\n".join))
def test_the_search_finds_each_line_with_a_literal_and_says_where_it_begins(text: str) -> None:
    text = f"{text}\n"
    found, place = [], 0
    scan = Prefilter(["abc", "cabx"]).scan(text)
    while place < len(text) and (place := scan.next(place)) >= 0:
        end = text.index("\n", place)
        if any(literal in text[place:end] for literal in ("abc", "cabx", *COMMON)):
            found.append(place)
        assert place == 0 or text[place - 1] == "\n"
        place = end + 1
    wanted = [
        match.start() for match in re.finditer(r"(?m)^.*$", text) if any(literal in match[0] for literal in ("abc", "cabx"))
    ]
    assert found == wanted


def test_a_character_whose_lower_case_is_longer_moves_nothing() -> None:
    assert lowered("İ ERROR") == "İ error"
    scan = Prefilter([]).scan("İİİİ\nERROR\n")
    assert scan.next(0) == 5


def rules_in(tmp_path: Path, text: str) -> Catalogue:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return Catalogue.load([path])


def rule_table(**fields: str) -> str:
    """A table of a rule that is whole, but for what ``fields`` say otherwise, in TOML."""
    whole = {"id": '"mine"', "family": '"shop"', "title": '"A sold out cart"', "patterns": '["boom"]'} | fields
    return "[[rule]]\n" + "".join(f"{name} = {value}\n" for name, value in whole.items())


def test_a_file_of_ones_own_adds_a_rule(tmp_path: Path) -> None:
    mine = rules_in(tmp_path, rule_table(patterns='["^SOLD OUT"]', severity='"warning"', priority="1"))
    match = mine.match("10:00:00 SOLD OUT: mugs")
    assert match is not None
    assert (match.rule.id, match.severity, match.start) == ("mine", "warning", "SOLD OUT: mugs")
    assert catalogue().match("10:00:00 SOLD OUT: mugs") is None


def test_a_file_of_ones_own_overrides_only_what_it_names(tmp_path: Path) -> None:
    mine = rules_in(tmp_path, '[[rule]]\nid = "port-in-use"\nseverity = "critical"\n').rule("port-in-use")
    before = catalogue().rule("port-in-use")
    assert mine is not None
    assert before is not None
    assert mine.severity == "critical"
    assert mine.patterns == before.patterns


def test_a_file_of_ones_own_disables_a_rule(tmp_path: Path) -> None:
    line = "2031-05-01 10:00:00 ERROR worker: price is missing in job 7"
    mine = rules_in(tmp_path, '[[rule]]\nid = "stated-error"\nenabled = false\n')
    assert catalogue().match(line) is not None
    assert mine.match(line) is None
    assert mine.rule("stated-error") is not None


def test_a_file_of_ones_own_enables_a_rule(tmp_path: Path) -> None:
    line = "2031-05-01 10:00:00 WARN disk: nearly full"
    mine = rules_in(tmp_path, '[[rule]]\nid = "stated-warning"\nenabled = true\n').match(line)
    assert catalogue().match(line) is None
    assert mine is not None
    assert (mine.rule.id, mine.severity) == ("stated-warning", "warning")


def test_only_a_pattern_whose_every_alternative_is_anchored_is_bound_to_the_start(tmp_path: Path) -> None:
    patterns, literals = r"['^boom|crash \d', '^a(b|c)d|^[|(]x']", "['boom', 'crash', 'abd', '|xy']"
    mine = rules_in(tmp_path, rule_table(patterns=patterns, literals=literals))
    lines = ("boom", "a crash 3", "no boom", "abd", "an abd", "|xy", "a |xy")
    assert [line for line in lines if mine.match(line)] == ["boom", "a crash 3", "abd", "|xy"]


def test_plain_patterns_are_their_own_literals(tmp_path: Path) -> None:
    mine = rules_in(tmp_path, rule_table(patterns='["^Sold out$"]')).rule("mine")
    assert mine is not None
    assert mine.literals == ("sold out",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[rule]\n", ":1: "),
        ("x = 1\n", ":1: only tables [[rule]] are known here, not x"),
        ('\n[[rule]]\nfamily = "x"\n', ":2: a rule needs an id"),
        (rule_table(patterns='["x.y"]'), ":1: mine: name texts of which each matching line holds at least one"),
        (rule_table(severity='"bad"'), ":6: mine: Invalid enum value 'bad' - at `$.severity`"),
        (rule_table(patterns='["boom("]', literals='["boom"]'), ":5: mine: 'boom(' is no regular expression"),
        (rule_table(literals='["ab"]'), ":6: mine: 'ab' is shorter than 3 bytes"),
        (rule_table(opens='"nosuch"'), ":6: mine: Invalid enum value 'nosuch'"),
        (rule_table(id='""'), ":2: the id of a rule is a word such as sold-out, not ''"),
        (rule_table(id="3"), ":2: the id of a rule is a word such as sold-out, not 3"),
        (rule_table() + "\n" + rule_table(), ":8: mine: line 1 of this file has a rule of that id"),
        ('rule = ["x", 3]\n', ":1: only tables [[rule]] are known here, not rule = …"),
        ('\n[rule]\nid = "x"\n', ":2: only tables [[rule]] are known here, not rule = …"),
        ("\nrules = 3\n", ":2: only tables [[rule]] are known here, not rules"),
        (
            '[[rule]]\nid = "prot-in-use"\nenabled = false\n',
            ":1: prot-in-use: Object missing required field `family`; no rule is",
        ),
        (rule_table(matches='["a boom", "no bang"]'), ":6: mine: the line 'no bang' of matches is not matched"),
        (rule_table(matches='["panic: boom"]'), ":6: mine: the line 'panic: boom' of matches is matched by go-panic before it"),
        (rule_table(ignores='["a boom"]'), ":6: mine: the line 'a boom' of ignores is matched by it"),
        (rule_table(opens='"request"'), ":5: mine: 'boom' opens request, which needs the named group (?P<method>…)"),
        (rule_table(opens='"progress"'), ":5: mine: 'boom' opens progress, which needs the named group (?P<id>…)"),
        (rule_table(opens='"ruff"'), ":5: mine: 'boom' opens ruff, which needs the named group (?P<file>…)"),
        (rule_table(patterns='["(a+)+$"]', literals='["aaa"]'), ":5: mine: '(a+)+$' could take very long on some lines"),
        (rule_table(unless='["(a+)+$"]'), ":6: mine: '(a+)+$' could take very long on some lines"),
        (rule_table(common="true"), ":6: mine: 'boom' holds no everyday word of trouble"),
        (rule_table(colour='"red"'), ":1: mine: Object contains unknown field `colour`"),
        (rule_table() + "\n\n" + rule_table(id='"other"', family="3"), ":10: other: Expected `str`, got `int`"),
    ],
)
def test_a_bad_file_is_told_with_file_and_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(BadInput) as told:
        rules_in(tmp_path, text)
    assert str(told.value).startswith(f"{tmp_path / 'mine.toml'}{problem}")


def test_a_mistyped_id_is_told_with_the_one_that_is_near(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"did you mean port-in-use\?"):
        rules_in(tmp_path, '[[rule]]\nid = "prot-in-use"\nenabled = false\n')


def test_new_patterns_for_a_known_rule_are_searched_for_by_their_own_literals(tmp_path: Path) -> None:
    """``python-traceback`` has literals that such a line does not hold, and says that each line holds a common word."""
    mine = rules_in(tmp_path, '[[rule]]\nid = "python-traceback"\npatterns = ["^zork"]\n')
    match = mine.match("zork 3")
    assert match is not None
    assert (match.rule.id, match.rule.literals, match.rule.matches) == ("python-traceback", ("zork",), ())
    with pytest.raises(BadInput, match=r"mine\.toml:1: python-traceback: name texts of which each matching line holds"):
        rules_in(tmp_path, '[[rule]]\nid = "python-traceback"\npatterns = ["^zork\\\\d"]\n')


def test_the_examples_of_a_disabled_rule_are_not_tried(tmp_path: Path) -> None:
    assert rules_in(tmp_path, rule_table(enabled="false", matches='["bang"]')).match("boom") is None


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+$", r"(\w+\s?)*x", r"(a|b+)*c", r"(x+x+)+y", r"(.*)*", r"(a?b?)+c", r"(a{1,50}){1,50}x", r"(?=(a+)+$)",
     r"(?:foo|foobar)+x", r"(?i)(?:a+A)+$", r"(?>(a+)+$)", r"(x)?(?(1)(a+)+$|b)", r".*a.*b.*c.*d"],
)  # fmt: skip
def test_a_pattern_that_could_take_very_long_is_known(pattern: str) -> None:
    assert too_costly(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"(?:\w+\.)+Error", r"(?:\d{1,3}\.){3}\d+", r"(?:[a-z_]\w*\.)+", r"(ab)+", r"(?:foo|bar)+x", r"^SOLD OUT: ([^:]*): (.*)$",
     r"^foo .* bar (.+)$", r"(\s*,\s*\w+)*$", r"(?i)^(?:error|warning)\b.*"],
)  # fmt: skip
def test_a_pattern_that_ends_soon_is_known(pattern: str) -> None:
    assert not too_costly(pattern)


def test_a_pattern_of_ones_own_with_open_repetitions_sees_only_the_beginning_of_a_long_line(tmp_path: Path) -> None:
    mine = rules_in(tmp_path, rule_table(patterns="['boom.*a.*b.*c']", literals='["boom"]'))
    assert mine.match("boom a b c") is not None
    assert mine.match("boom" + "a b " * 2_000 + "c") is None
    assert seen("boom") > seen("^a.*b.*c") > seen("^a.*b.*c.*d")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=re.escape(f"{tmp_path / 'nosuch.toml'}: can't be read")):
        Catalogue.load([tmp_path / "nosuch.toml"])


def test_an_explanation_says_what_was_taken_off_and_which_rule_matched() -> None:
    why = catalogue().explain("2031-05-01 10:00:00,123 ERROR worker: KeyError: 'price' in job 7")
    assert why.match is not None
    assert why.match.rule.id == "python-builtin-error"
    assert why.line.taken_off == "2031-05-01 10:00:00,123 ERROR worker: "
    assert why.line.body == "KeyError: 'price' in job 7"
    assert why.line.level == "error"


def test_an_explanation_says_why_a_line_is_no_finding() -> None:
    why = catalogue().explain("10:00:00 INFO app: Error: none of it")
    assert why.match is None
    assert ("error-line", "the line says that it is info") in why.passed_over
    assert catalogue().explain("all is well").literals == ()


def test_a_warning_is_never_more_than_that() -> None:
    match = catalogue().match("WARNING: Error: listen EADDRINUSE: address already in use :::3000")
    assert match is not None
    assert (match.rule.id, match.severity) == ("port-in-use", "warning")

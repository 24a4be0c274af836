"""Canonical form: the same message is the same, two messages are two, and neither depends on who runs the code."""

import hashlib
import json
import re
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.contracts.base import Level
from tocsin.pipeline.canonical import canonical, core, explain, finisher
from tocsin.pipeline.canonical_strict import CASE_TABLE
from tocsin.pipeline.canonical_trace import Trace

FIXTURES = Path(__file__).parent.parent / "fixtures"
LEVELS = get_args(Level)

PIECES = st.sampled_from(
    [
        "\x1b[31m", "\x1b[0m", "\x1b]8;;http://a.test/\x1b\\", "\x1b]0;title\x07", "\x1b", "\x9b1m", "[31m", "2m",
        "\u202f", "\ufeff", "\x00",
        "9:41:07 AM ", "2031-05-01T10:00:00.123Z ", "May  1 10:00:00 ", "[12:00:01] ", "E0501 10:00:00.123456 77 ",
        "1700000000 ",
        ":12:7", ":12", "(12,7): ", ":3000", "src/a.py", "http://h:1/a/17?b=1", "/api/9", "/tmp/x1/y", "GET ", "(x3)",
        "x2", " 3 of 5 ",
        "12.4s", "3m2s", "40 kB", "83%", "7f3c2a10-9b1e-4c55-8a77-0c1d2e3f4a5b", "0xff", "deadbeef00", "1700000000123",
        "pid 7", "goroutine 4",
        "exit code ", "id=", "data:a/b;base64,QUJD", "blob:x", "FAILED a::b - assert 3 == 4", "expected 3 to be 4",
        "at f (node:net:1:2)",
        "İ", "ς", "é", "e\u0301", "ﬁ", "\ud800", "\n", "\r\n", "\t", " ", "'", '"', "<", ">", "=", "{", "}", "a", "Z",
        "0", "9", ".", ",", "-",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=14).map("".join)


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (FIXTURES / name).read_text(encoding="utf-8").splitlines() if line]


# Corpora


@pytest.mark.parametrize("name", ["devnoise.jsonl", "devnoise_more.jsonl"])
def test_standard_hides_no_message_behind_another(name):
    groups = defaultdict(set)
    for row in rows(name):
        groups[canonical(row["message"])].add(row["group"])
    assert [sorted(merged) for merged in groups.values() if len(merged) > 1] == []


@pytest.mark.parametrize("name", ["devnoise.jsonl", "devnoise_more.jsonl"])
def test_standard_gives_one_form_to_one_message(name):
    forms = defaultdict(set)
    for row in rows(name):
        forms[row["group"]].add(canonical(row["message"]))
    assert {group: sorted(split) for group, split in forms.items() if len(split) > 1} == {}


def test_strict_hides_no_message_behind_another():
    groups = defaultdict(set)
    for row in rows("devnoise.jsonl") + rows("devnoise_more.jsonl"):
        groups[canonical(row["message"], "strict")].add(row["group"])
    assert [sorted(merged) for merged in groups.values() if len(merged) > 1] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("exception code c0000005 raised", "exception code c0000409 raised"),
        ("exit status: expected 0, got 1", "exit status: expected 0, got 2"),
        ("GET /404", "GET /500"),
        ("cannot start /var/lib/postgresql/14/main", "cannot start /var/lib/postgresql/15/main"),
        ("cannot read report-202401.json", "cannot read report-202402.json"),
        ("listening on 3000", "listening on 3001"),
        ("step 3 error", "step 4 error"),
        ("version 2 module", "version 3 module"),
        ("color #ff0000ff", "color #00ff00ff"),
        ("no binary for linux x64", "no binary for linux x86"),
        ("got 404 from /a", "got 502 from /a"),
        ("/api/me: 404 in 3ms", "/api/me: 500 in 3ms"),
        ("getContext 2d failed", "getContext 3d failed"),
        ("shard 1/4 failed", "shard 2/4 failed"),
        ("lib/user-UserList.js", "lib/user-UserCard.js"),
        ("agent worker-1 is stuck", "agent worker-2 is stuck"),
        ("issue #12 reopened", "issue #13 reopened"),
        ("WebSocket closed: 1006", "WebSocket closed: 1011"),
        ("Found 0 errors", "Found 2 errors"),
        ("plugin@1.2.3 is broken", "plugin@1.2.4 is broken"),
        ("test_sum[1-2] failed", "test_sum[2-2] failed"),
        ("Cannot read properties of undefined (reading 'map')", "Cannot read properties of undefined (reading 'id')"),
    ],
)
def test_standard_keeps_apart_what_a_number_or_name_tells_apart(one, other):
    assert canonical(one) != canonical(other)


# Strict


@pytest.mark.parametrize(
    "stamp",
    [
        "2031-05-01T10:00:00.123Z ", "2031-05-01 10:00:00,123 ", "2031/05/01 10:00:00 ", "2031-05-01 10:00:00+02:00 ",
        "[2031-05-01 10:00:00] ",
        "May  1 10:00:00 ", "Thu May  1 10:00:00 2031 ", "[Thu May 01 10:00:00.123456 2031] ", "Thu, 01 May 2031 10:00:00 GMT ",
        "[01/May/2031:10:00:00 +0000] ", "9:41:07 AM ", "9:41:07\u202fPM ", "14:02:30 ", "14:02:30.123 - ",
        "[9:41:07 AM] ", "5/1/2031, 9:41:07 AM ",
        "01.05.2031 10:00:00 ", "1700000000 ", "1700000000123 ", "[1700000000.5] ", "[   12.345678] ",
        "05-01 10:00:00.123 ", "<10:00:00> ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("level", LEVELS)
def test_a_time_stamp_in_front_is_no_part_of_the_message(stamp, level):
    assert canonical(f"{stamp}db down", level) == "db down"


@pytest.mark.parametrize(
    "text", ["3 db down", "12:30 lunch", "2031 was a year", "1000 apples", "May I ask", "Sun rises", "12 monkeys"]
)
def test_what_only_looks_like_a_time_stamp_stays(text):
    assert canonical(text, "strict") == text.lower()


def test_the_severity_in_a_glog_stamp_stays():
    assert canonical("E0501 10:00:00.123456   12345 a.go:12] no", "strict") == "e a.go:12] no"
    assert canonical("W0502 11:10:10.000001 7 a.go:12] no", "strict") == "w a.go:12] no"


def test_a_message_that_is_only_a_time_stamp_keeps_it():
    assert canonical("10:00:01", "strict") == "10:00:01"
    assert canonical("10:00:01") == "<time>"


@pytest.mark.parametrize("level", LEVELS)
def test_line_and_column_at_the_end_are_no_part_of_the_message(level):
    assert canonical("failed at src/a.py:10:4", level) == canonical("failed at src/a.py:22:1", level)
    assert canonical("failed at (src/a.py:10:4)", level) == canonical("failed at (src/a.py:2:44)", level)
    assert canonical("failed at a.py:10", level) == canonical("failed at a.py:22", level)


@pytest.mark.parametrize("level", ["strict", "standard"])
@pytest.mark.parametrize(
    "text",
    [
        "listening on :3000",
        "bind 127.0.0.1:3000",
        "exit code: 1",
        "at db.test.com:5432",
        "connect ::1:3000",
        "error ts2322",
        "e0308",
    ],
)
def test_a_number_that_means_something_stays_at_the_end(text, level):
    assert canonical(text, level) == text


def test_strict_takes_nothing_else():
    text = "job 7 took 12ms (x3) at 0xff, see /tmp/a1 and http://h/1?b=2"
    assert canonical(text, "strict") == text


@pytest.mark.parametrize(
    "coded",
    [
        "\x1b[31mERROR\x1b[0m db down", "\x1b[1;38;5;196mERROR\x1b[m db down", "[31mERROR[0m db down", "31mERROR0m db down",
        "\\x1b[31mERROR\\u001b[0m db down", "^[[31mERROR^[[0m db down", "\x9b31mERROR\x9b0m db down",
        "\x1b[2K\x1b[1GERROR db down",
        "ERROR\x1b[1Cdb down", "\x1b]0;title\x07ERROR db down", "\x1b(BERROR\x0f db down", "\x1bPq#0\x1b\\ERROR db down",
        "\ufeffERROR db\u200b down",
        "\x1b]8;;https://e.test/(p)?a=[1]\x1b\\ERROR\x1b]8;;\x1b\\ db down",
        "\x1b]8;;https://e.test\x07ERROR\x1b]8;;\x07 db down",
        "\x1b]8;;https://e.test\x9cERROR\x1b]8;;\x9c db down", "]8;;https://e.test\x07ERROR]8;;\x07 db down",
        "E\x00RROR db down", "ERROR db down\x1b",
    ],
)  # fmt: skip
def test_codes_are_no_content(coded):
    assert {canonical(coded, level) for level in LEVELS} == {"error db down"}


def test_an_unterminated_title_takes_its_line_and_no_more():
    assert canonical("\x1b]0;never ends\nerror: no", "strict") == "error: no"


def test_brackets_that_are_words_stay():
    assert canonical("[vite] [main] [3/7] a[12] 2m", "strict") == "[vite] [main] [3/7] a[12] 2m"


# Letters


def test_composed_and_decomposed_letters_are_equal():
    for level in LEVELS:
        assert canonical("café.ts not found", level) == canonical(unicodedata.normalize("NFD", "café.ts not found"), level)


def test_a_ligature_is_not_taken_apart():
    assert canonical("ﬁle", "strict") == "ﬁle"


def test_lower_case_is_the_same_in_every_python_and_locale():
    pinned = "".join(f"{code:x}>{CASE_TABLE[code]}" for code in sorted(CASE_TABLE))
    assert (len(CASE_TABLE), hashlib.sha256(pinned.encode()).hexdigest()) == (
        799,
        "7805ceb11904c1e3fa130ec107601666bc3597ea81d4a9c2a7993ba08b927870",
    )
    assert canonical("İ I ß ΟΔΟΣ Å \u212a", "strict") == "i̇ i ß οδοσ å k"
    assert canonical("οδος ΟΔΟΣ", "strict") == "οδοσ οδοσ"


def test_white_space_of_any_kind_is_one_space():
    assert canonical(" a\t\u00a0b\r\n\u2003 c \u3000", "strict") == "a b c"


# Laws


@given(TEXTS, st.sampled_from(LEVELS))
def test_no_control_character_and_no_double_space_is_left(text, level):
    form = canonical(text, level)
    assert not re.search("[\x00-\x1f\x7f-\x84\x86-\x9f]|  ", form)
    assert form == form.strip()


@given(TEXTS, st.sampled_from(LEVELS))
def test_a_form_depends_on_the_core_alone(text, level):
    assert canonical(text, level) == finisher(level)(core(text))


@given(TEXTS, TEXTS)
def test_a_coarser_level_never_tells_apart_what_a_finer_one_joins(one, other):
    if canonical(one) == canonical(other):
        assert canonical(one, "loose") == canonical(other, "loose")


@given(TEXTS, st.sampled_from(LEVELS))
def test_a_text_with_something_to_show_has_a_form(text, level):
    shown = canonical(text, "strict")
    assert bool(canonical(text, level)) == bool(shown)


@given(TEXTS)
def test_the_explained_way_ends_at_the_same_form(text):
    trace = Trace(text)
    trace.to_core()
    assert trace.text == core(text)
    trace.to_standard()
    assert trace.text == canonical(text)
    trace.to_loose()
    assert trace.text == canonical(text, "loose")


@given(TEXTS, st.sampled_from(LEVELS))
def test_an_explanation_is_empty_only_where_nothing_was_replaced(text, level):
    replaced = explain(text, level)
    assert (not replaced) == (canonical(text, level) == text)
    assert all(each.before != each.after for each in replaced)


def test_an_explanation_names_rule_before_and_after():
    text = "\x1b[31m9:44:59 PM [vite]\x1b[0m proxy error: /api/orders/12 after 3.2s (x3) "
    assert [(each.rule, each.before, each.after) for each in explain(text)] == [
        ("escape-sequence", "\x1b[31m", ""),
        ("escape-sequence", "\x1b[0m", ""),
        ("white-space", " ", ""),
        ("time-stamp", "9:44:59 PM ", ""),
        ("route", "/api/orders/12", "/api/orders/:id"),
        ("time-span", "3.2s", "<span>"),
        ("repeat", "(x3)", ""),
        ("white-space", " ", ""),
    ]
    assert explain("db down") == ()


# Loose


def test_loose_keeps_the_words_alone():
    assert canonical("user 17 of 'shop' failed at /srv/a.py with http://h/x in 12ms", "loose") == canonical(
        "user 4 of 'cart' failed at /opt/b.py with http://g/y in 9s", "loose"
    )
    assert canonical("user 17 failed", "loose") != canonical("user 17 passed", "loose")


# Effort


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "piece",
    [
        "a", "1", "a ", "1 ", ".", "-", "_", "/", "/1", "\\", "'", '"', "(", "(1", "[1", "[1:", "{", ":", ":1", "1:1 ",
        "10:10:10 ", "\x1b", "\x1b[",
        "\x1b]8;;a", "\x9d1;", "]0;a", "[31", "x1", "(x1", "0x1 ", "id=1", "id: a/", "key (a)=(", "pid (", "http://a/1/",
        "a.py:1", "a.py(1,",
        "get /1", "at a (node:", "assert '", "expected 1 to ", "data:a/a;", "1m1", "1,000", "1 of ", "<1.", "thread '",
        "goroutine 1 [a", "1 error ",
        "failed a - assert ", "user ", "a.b.", "com.a.", "a={", "/tmp/a/", "e\u0301", "aa:", "0a0a", "1 |\n", "~\n1 a\n",
        "1mA", "1700000000 ",
    ],
)  # fmt: skip
def test_a_long_hostile_text_comes_to_an_end(piece, level):
    # Where effort grew with the square of the length, one of these would take minutes and meet the time limit of every test.
    text = (piece * 65_536)[:65_536]
    assert canonical(f"error at node 1 ms {text} of https id", level)
